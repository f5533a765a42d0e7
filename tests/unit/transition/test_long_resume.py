"""A resume that passes payrolls, and one with nothing active. Source: K-2.4, Y-5.3.

In the tiny world two employees do 20 units an hour and cost 200,000 cents a month. The run starts on Wednesday
2025-01-01; payrolls are due on Monday 3 February and Monday 3 March. January has 23 workdays from the first on,
February 20.
"""

import attrs
import pytest

from ycbench_env.config import Config
from ycbench_env.testing.tiny import (
    ADVERSARIAL,
    started,
    tiny_client,
    tiny_config,
    tiny_employee,
    tiny_state,
    tiny_task,
)
from ycbench_env.transition import advance, transition
from ycbench_env.types.command import Resume
from ycbench_env.types.event import Event, HorizonEnd, MilestoneReached, Outcome, PayrollPaid, TaskCompleted
from ycbench_env.types.state import State
from ycbench_env.units import iso_time

BOTH = ("Emp_1", "Emp_2")


def passing(**settings: object) -> Config:
    """The tiny world in which a resume stops at no payroll."""
    return tiny_config(resume_stops_at_payroll=False, **settings)


def resume(state: State) -> Outcome:
    outcome = transition(state, Resume())
    assert outcome.refusal is None
    return outcome


def happened(events: tuple[Event, ...]) -> list[str]:
    words: list[str] = []
    for event in events:
        match event:
            case TaskCompleted():
                words.append(f"{event.task_id} {'success' if event.success else 'failure'}")
            case MilestoneReached():
                words.append(f"{event.task_id} {event.percent}%")
            case PayrollPaid():
                words.append(f"payroll {event.funds_after_cents}")
            case HorizonEnd():
                words.append("horizon")
    return words


# ------------------------------------------------------------------------------------------------------ past payrolls


@pytest.mark.parametrize(
    ("units", "time", "words"),
    [
        (2000, "2025-01-16T10:00:00", ["Task-1 success"]),  # 100 h: 11 days and an hour
        (5000, "2025-02-07T16:00:00", ["payroll 9800000", "Task-1 success"]),  # 250 h: 27 days and 7 h
        # 500 h: 55 days and 5 h, 12 days of March.
        (10_000, "2025-03-19T14:00:00", ["payroll 9800000", "payroll 9600000", "Task-1 success"]),
    ],
)
def test_one_resume_goes_to_the_completion_and_pays_on_the_way(units: int, time: str, words: list[str]) -> None:
    state = started(tiny_state(passing(), market=[tiny_task(1, units)]), "Task-1", *BOTH)
    outcome = resume(state)
    assert (iso_time(outcome.state.now_us), happened(outcome.events)) == (time, words)
    paid = len(words) - 1
    assert (outcome.state.payrolls_charged, outcome.state.funds_cents) == (paid, 11_000_000 - paid * 200_000)
    booked = [(iso_time(entry.time_us)[:10], entry.category) for entry in outcome.state.ledger]
    days = ["2025-02-03", "2025-03-03"][:paid]
    assert booked == [(day, "monthly_payroll") for day in days for _ in BOTH] + [(time[:10], "task_reward")]


def test_a_staff_that_was_exchanged_by_hand_works_at_its_own_rates() -> None:
    # Tasks keep the rates that were found at their forecasts; they are good for the staff of then only.
    config = passing(sim={"start_date": "2025-01-31"}, deadline_min_biz_days=90)
    state = started(tiny_state(config, market=[tiny_task(1, 800), tiny_task(2)]), "Task-1", "Emp_1")
    state = started(state, "Task-2", "Emp_2")
    outcome = resume(attrs.evolve(state, employees=(tiny_employee(1, 5.0), tiny_employee(2))))
    assert happened(outcome.events) == ["payroll 9800000", "Task-2 success"]
    assert outcome.state.tasks[0].done_e4 == (1_000_000,)  # 20 h at 5 an hour


# ----------------------------------------------------------------------------------- the same as many short resumes


def busy(*, stops: bool, accrual: str) -> State:
    """A world with all that time changes: shared employees, milestones, decay, skills, raises and two clients."""
    config = tiny_config(
        resume_stops_at_payroll=stops,
        accrual=accrual,
        task_progress_milestones=[0.25, 0.5, 0.75],
        prestige_decay_per_day=0.0031,
        trust_fragility=0.37,
        trust_focus_pressure=0.5,
        salary_bump_pct=0.013,
        salary_max_cents="none",
        salary_raise_basis="current_salary",
        skill_rate_max="none",
        deadline_min_biz_days=60,
    )
    market = [
        tiny_task(1, {"research": 2900, "training": 1700}, boost=0.1234),
        tiny_task(2, 2100, client=ADVERSARIAL),
        tiny_task(3, {"inference": 3300}, boost=0.0567),
        tiny_task(4, {"training": 4700, "research": 1300}),
    ]
    people = [tiny_employee(1, (7.1234, 3.3, 5, 2.9)), tiny_employee(2, (4.7, 6.1, 5, 3.1)), tiny_employee(3, 1.9)]
    clients = [tiny_client(trust=1.7), tiny_client(ADVERSARIAL, loyalty=-1.0, trust=0.9)]
    state = tiny_state(config, employees=people, clients=clients, market=market, prestige=5)
    for number, names in ((1, ("Emp_1", "Emp_2")), (2, ("Emp_1",)), (3, ("Emp_2", "Emp_3")), (4, ("Emp_3", "Emp_1"))):
        state = started(state, f"Task-{number}", *names)
    return state


def played_out(state: State) -> tuple[State, list[Event], int]:
    """The end of an episode, all that happened, and how often time was moved."""
    events, moves = list[Event](), 0
    while state.terminal_reason is None:
        outcome = advance(state)
        state, moves = outcome.state, moves + 1
        events += outcome.events
    return state, events, moves


@pytest.mark.parametrize("accrual", ["business_hours", "until_midnight"])
def test_passing_payrolls_comes_to_the_same_as_stopping_at_each(accrual: str) -> None:
    stopped, told_stopped, many = played_out(busy(stops=True, accrual=accrual))
    passed, told_passed, few = played_out(busy(stops=False, accrual=accrual))
    assert told_passed == told_stopped
    assert attrs.evolve(passed, config=stopped.config) == stopped
    assert few == many - sum(isinstance(event, PayrollPaid) for event in told_stopped)
    assert sum(isinstance(event, TaskCompleted) for event in told_passed) == 4


# --------------------------------------------------------------------------------------------------- nothing is active


def test_with_nothing_active_a_resume_goes_to_the_horizon_and_pays_all_the_way() -> None:
    state = tiny_state(passing(resume_requires_active_task=False))
    outcome = resume(state)
    assert happened(outcome.events) == [
        *[f"payroll {10_000_000 - number * 200_000}" for number in range(1, 12)],
        "horizon",
    ]
    assert (iso_time(outcome.state.now_us), outcome.state.terminal_reason) == ("2026-01-01T09:00:00", "horizon_end")
    assert outcome.state.next_payroll_us is None
