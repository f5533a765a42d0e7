"""Raises and skills without bounds, and teams without a limit. Source: K-2.2, K-2.3, Y-5.5.

In the tiny world a success comes after 10 h of two employees at 10 an hour; salaries are 100,000 cents.
"""

import pytest

from ycbench_env.config import Config
from ycbench_env.testing.tiny import started, tiny_config, tiny_employee, tiny_state, tiny_task
from ycbench_env.transition import transition
from ycbench_env.types.command import Resume
from ycbench_env.types.event import TaskCompleted
from ycbench_env.types.state import Employee, State
from ycbench_env.units import iso_time

BOTH = ("Emp_1", "Emp_2")


def staff(*rates: float) -> list[Employee]:
    return [tiny_employee(number, rate) for number, rate in enumerate(rates, 1)]


def rates(state: State, domain: int = 0) -> list[float]:
    return [employee.rates_e4[domain] / 10_000 for employee in state.employees]


def salaries(state: State) -> list[int]:
    return [employee.salary_cents for employee in state.employees]


def finished(state: State, *names: str, task_id: str = "Task-1") -> tuple[State, TaskCompleted]:
    """The state once a task was taken on and done, and the event of it."""
    outcome = transition(started(state, task_id, *(names or BOTH)), Resume())
    (event,) = outcome.events
    assert isinstance(event, TaskCompleted)
    return outcome.state, event


# ------------------------------------------------------------------------------------------------------------- raises


def compounding(**settings: object) -> Config:
    return tiny_config(salary_raise_basis="current_salary", salary_bump_pct=0.01, **settings)


def test_a_raise_of_the_current_salary_compounds() -> None:
    state, bumps = tiny_state(compounding(salary_max_cents="none")), []
    for task_id in ("Task-1", "Task-3", "Task-4"):
        state, event = finished(state, task_id=task_id)
        bumps.append(event.salary_bump_cents)
    assert salaries(state) == [103_030, 103_030]  # 101,000; 102,010; 1,020.1 more
    assert bumps == [2000, 2020, 2040]


def test_who_is_late_gets_no_money_no_raise_and_no_skill_and_loses_prestige_only() -> None:
    config = compounding(penalty_fail_funds_pct=0.0, penalty_fail_multiplier=1.4, num_clients=0)
    market = [tiny_task(1, {"research": 200, "inference": 200}, client=None, boost=0.5)]
    before = tiny_state(config, market=market, prestige=5)
    state, event = finished(before, "Emp_1")  # 20 h, and 18 until the deadline
    assert not event.success
    assert (state.employees, state.funds_cents, state.ledger) == (before.employees, 10_000_000, ())
    assert state.prestige_milli == (4860, 4860, 5000, 5000)  # 1.4 x 0.1


# ------------------------------------------------------------------------------------------------------------- skills


@pytest.mark.parametrize(("cap", "expected"), [("none", [28.5, 15]), (20.0, [20, 15])])
def test_a_rate_grows_past_any_bound_where_there_is_none(cap: object, expected: list[float]) -> None:
    config = tiny_config(skill_rate_max=cap)
    state, _ = finished(tiny_state(config, employees=staff(19, 10), market=[tiny_task(1, boost=0.5)]))
    assert (rates(state), rates(state, 1)) == (expected, [19, 10])


@pytest.mark.parametrize(
    ("size", "expected"), [("none", [1.1, 2.2, 3.3, 4.4, 5.5, 6.6]), (4, [1, 2, 3.3, 4.4, 5.5, 6.6])]
)
def test_everybody_on_a_team_without_a_limit_learns(size: object, expected: list[float]) -> None:
    config = tiny_config(efficient_team_size=size, num_employees=6)
    people = staff(1, 2, 3, 4, 5, 6)
    state = tiny_state(config, employees=people, market=[tiny_task(1, boost=0.1)])
    assert rates(finished(state, *[employee.name for employee in people])[0]) == expected


@pytest.mark.parametrize(
    ("size", "time"),
    [
        ("none", "2025-01-01T18:00:00"),  # 1 + 2 + 3 + 4 + 5 + 6 = 21 an hour: 189 units in 9 h
        (4, "2025-01-02T10:30:00"),  # 18 an hour: 10 h 30 min
    ],
)
def test_everybody_on_a_team_without_a_limit_counts(size: object, time: str) -> None:
    config = tiny_config(efficient_team_size=size, num_employees=6, min_task_qty=1, deadline_min_biz_days=9)
    people = staff(1, 2, 3, 4, 5, 6)
    state = tiny_state(config, employees=people, market=[tiny_task(1, 189)])
    assert iso_time(finished(state, *[employee.name for employee in people])[0].now_us) == time


# --------------------------------------------------------------------------------------------------------------- ends

"""Every success makes rates and salaries eleven times as much, the most that can be configured."""
