"""Raises and skills without bounds, and teams without a limit. Source: K-2.2, K-2.3, Y-5.5.

In the tiny world a success comes after 10 h of two employees at 10 an hour; salaries are 100,000 cents.
"""

import pytest

from ycbench_env.config import Config
from ycbench_env.rules.economy import HIGHEST_RATE_E4, HIGHEST_SALARY_CENTS
from ycbench_env.testing.tiny import instant, started, tiny_config, tiny_employee, tiny_state, tiny_task
from ycbench_env.transition import transition
from ycbench_env.types.command import Resume
from ycbench_env.types.event import Event, TaskCompleted
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


def test_a_raise_of_the_current_salary_keeps_to_a_cap_where_there_is_one() -> None:
    people = [tiny_employee(1, salary_cents=199_000), tiny_employee(2, salary_cents=250_000)]
    state, event = finished(tiny_state(compounding(salary_max_cents=200_000), employees=people))
    assert (salaries(state), event.salary_bump_cents) == ([200_000, 250_000], 1000)


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
    ("size", "expected"),
    [
        ("none", [1.1, 2.2, 3.3, 4.4, 5.5, 6.6]),
        (4, [1, 2, 3.3, 4.4, 5.5, 6.6]),
    ],
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

BOUNDLESS = {
    "salary_raise_basis": "current_salary",
    "salary_bump_pct": 10.0,
    "salary_max_cents": "none",
    "skill_rate_max": "none",
    "efficient_team_size": "none",
    "dist": {"skill_boost": {"type": "constant", "value": 10.0}},
}
"""Every success makes rates and salaries eleven times as much, the most that can be configured."""


def played_twelve(state: State) -> tuple[State, list[Event]]:
    """The state after twelve tasks, one by one, and the last events."""
    events: tuple[Event, ...] = ()
    for _ in range(12):
        outcome = transition(started(state, state.market[0].task_id, *BOTH), Resume())
        state, events = outcome.state, outcome.events
    return state, list(events)


def test_rates_and_salaries_that_grow_without_bounds_come_to_an_end_and_stay_there() -> None:
    people = [tiny_employee(number, 1e290, salary_cents=10**12) for number in (1, 2)]
    market = [tiny_task(1, boost=10.0), *[tiny_task(number) for number in range(2, 5)]]
    begin = tiny_state(tiny_config(**BOUNDLESS), employees=people, market=market)
    state, events = played_twelve(begin)
    assert salaries(state) == [HIGHEST_SALARY_CENTS] * 2
    assert [employee.rates_e4[0] for employee in state.employees] == [HIGHEST_RATE_E4] * 2
    assert [event.salary_bump_cents for event in events if isinstance(event, TaskCompleted)] == [0]
    assert State.from_bytes(state.to_bytes()) == state


def test_a_team_at_a_billion_an_hour_takes_microseconds_and_counts_them() -> None:
    people = [tiny_employee(number, 1e9) for number in (1, 2)]
    market = [tiny_task(1), tiny_task(2, 25_000), tiny_task(3)]
    config = tiny_config(**BOUNDLESS, task_progress_milestones=[0.5])
    state = tiny_state(config, employees=people, market=market, now="2025-01-06 09:00")
    # Both on Task-1 and Task-2: a billion an hour for each. 100 units take 360 us.
    state = started(started(state, "Task-1", *BOTH), "Task-2", *BOTH)
    outcome = transition(state, Resume())
    assert outcome.state.now_us - instant("2025-01-06 09:00") == 360
    assert [task.done_e4 for task in outcome.state.tasks] == [(1_000_000,), (1_000_000,)]
    done = transition(outcome.state, Resume()).state
    assert (done.now_us - instant("2025-01-06 09:00"), done.tasks[0].status) == (720, "completed_success")
    # The rest, 24,800 units at twice the rate: half of the task is reached after 12,300, in 22,140 us.
    half = transition(done, Resume()).state
    assert (half.now_us - done.now_us, half.tasks[1].done_e4) == (22_140, (125_000_000,))
