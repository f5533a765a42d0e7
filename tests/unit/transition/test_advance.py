"""Moving time: events, payroll, completion. Source: Y-3.3, Y-5.3 to Y-5.7; B25, B44.

In the tiny world two employees do 20 units an hour: a task of 200 takes 10 business hours, from Wednesday 2025-01-01
09:00 to Thursday 10:00, and its deadline is Thursday 18:00.
"""

import attrs
import pytest

from ycbench_env.config import Config
from ycbench_env.testing.tiny import (
    ADVERSARIAL,
    LOYAL,
    carried_out,
    instant,
    started,
    tiny_client,
    tiny_config,
    tiny_employee,
    tiny_state,
    tiny_task,
)
from ycbench_env.transition import advance, transition
from ycbench_env.types.command import AcceptTask, AssignTask, DispatchTask, Resume
from ycbench_env.types.event import Event, HorizonEnd, MilestoneReached, Outcome, PayrollPaid, TaskCompleted
from ycbench_env.types.state import Employee, LedgerEntry, MarketTask, State
from ycbench_env.units import iso_time

BOTH = ("Emp_1", "Emp_2")
HOUR_US = 3_600_000_000


def resume(state: State) -> Outcome:
    outcome = transition(state, Resume())
    assert outcome.refusal is None
    return outcome


def finished(state: State, task_id: str = "Task-1", *names: str) -> Outcome:
    """The outcome of a resume that completes a task."""
    outcome = resume(started(state, task_id, *(names or BOTH)))
    assert any(isinstance(event, TaskCompleted) for event in outcome.events)
    return outcome


def late_config(**overrides: object) -> Config:
    """One day of deadline, whatever the work."""
    return tiny_config(deadline_qty_per_day=1e6, **overrides)


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


# --------------------------------------------------------------------------------------------------------- completion


def test_two_people_at_ten_an_hour_finish_two_hundred_units_in_ten_business_hours() -> None:
    outcome = finished(tiny_state())
    state = outcome.state
    assert iso_time(state.now_us) == "2025-01-02T10:00:00"
    (task,) = state.tasks
    assert (task.status, task.completed_us) == ("completed_success", state.now_us)
    assert (task.done_e4, task.completion_us, task.milestone_us) == ((2_000_000,), None, None)
    assert state.funds_cents == 11_000_000
    assert state.ledger == (LedgerEntry(state.now_us, "task_reward", 1_000_000, "Task-1"),)
    assert state.prestige_milli == (1100, 1000, 1000, 1000)
    assert outcome.events == (
        TaskCompleted(
            task_id="Task-1",
            client_name=LOYAL,
            success=True,
            funds_delta_cents=1_000_000,
            listed_reward_cents=1_000_000,
            trust_delta_milli=1000,
            margin_us=8 * HOUR_US,  # Thursday 10:00 to 18:00
            team_size=2,
            salary_bump_cents=0,
            bankrupt=False,
        ),
    )


def test_a_completion_at_the_instant_of_the_deadline_is_a_success() -> None:
    # 360 units at 20 an hour are 18 h; 360 / 180 = 2 days until Thursday 18:00.
    state = tiny_state(tiny_config(deadline_qty_per_day=180.0), market=[tiny_task(1, 360)])
    outcome = finished(state)
    assert iso_time(outcome.state.now_us) == "2025-01-02T18:00:00"
    assert outcome.state.tasks[0].deadline_us == outcome.state.now_us
    assert happened(outcome.events) == ["Task-1 success"]


def test_a_completion_one_microsecond_after_the_deadline_is_a_failure() -> None:
    state = started(tiny_state(), "Task-1", *BOTH)
    task = attrs.evolve(state.tasks[0], deadline_us=instant("2025-01-02 10:00") - 1)
    outcome = resume(attrs.evolve(state, tasks=(task,)))
    assert happened(outcome.events) == ["Task-1 failure"]


def test_a_failure_costs_half_the_reward_prestige_and_trust() -> None:
    config = late_config(trust_fragility=0.5, penalty_fail_multiplier=1.5)
    state = tiny_state(
        config, prestige=5, clients=[tiny_client(trust=2.0)], market=[tiny_task(4, {"research": 400, "training": 400})]
    )
    outcome = finished(state, "Task-4")
    # Trust 2 of 5 reduces 400 to 400 x (1 - 0.5 x 0.4) = 320: 16 h at 20 an hour, Thursday 16:00. Deadline Wed 18:00.
    after = outcome.state
    assert iso_time(after.now_us) == "2025-01-02T16:00:00"
    assert after.tasks[0].status == "completed_fail"
    assert after.tasks[0].done_e4 == after.tasks[0].required_e4
    assert after.funds_cents == 9_500_000
    assert after.ledger == (LedgerEntry(after.now_us, "task_fail_penalty", -500_000, "Task-4"),)
    assert after.prestige_milli == (4850, 5000, 5000, 4850)  # minus 1.5 x 0.1
    # 31 h of decay at 0.03 x 0.5 a day: 2 - 0.019375 = 1.980625, stored 1.981; then minus 0.6 x 0.5 = 0.3.
    assert after.clients[0].trust_milli == 1681
    (event,) = outcome.events
    assert isinstance(event, TaskCompleted)
    assert (event.funds_delta_cents, event.listed_reward_cents) == (-500_000, 1_000_000)
    assert (event.trust_delta_milli, event.margin_us) == (-300, -22 * HOUR_US)
    assert (event.salary_bump_cents, event.team_size, event.bankrupt) == (0, 2, False)


# -------------------------------------------------------------------------------------------------------------- trust


def test_trust_grows_with_a_success_and_falls_with_the_others() -> None:
    # Gain at trust 1: 1.0 x (1 - 1/5)^1.5 = 0.8 x 0.894427 = 0.715542; 1.715542. Others: 0.06 x 5 = 0.3.
    config = tiny_config(trust_focus_pressure=5.0)
    clients = [tiny_client(trust=1.0), tiny_client("Orion Data", trust=2.0), tiny_client("Helix Systems", trust=0.2)]
    outcome = finished(tiny_state(config, clients=clients))
    assert [client.trust_milli for client in outcome.state.clients] == [1716, 1700, 0]
    (event,) = outcome.events
    assert isinstance(event, TaskCompleted)
    assert event.trust_delta_milli == 716


def test_trust_decays_with_time_nights_and_weekends_included() -> None:
    # 0.03 x 0.8 = 0.024 a day, 0.001 an hour. From Friday 09:00, 10 h of work end on Monday 10:00: 73 h.
    config = tiny_config(trust_fragility=0.8, sim={"start_date": "2025-01-03"})
    clients = [tiny_client(), tiny_client(ADVERSARIAL, loyalty=-1.0, trust=2.0)]
    state = finished(tiny_state(config, clients=clients)).state
    assert iso_time(state.now_us) == "2025-01-06T10:00:00"
    assert state.client(ADVERSARIAL).trust_milli == 1927


def test_prestige_decays_with_time_before_the_event_and_not_below_the_least() -> None:
    # 0.24 a day is 0.01 an hour; 25 h are 0.25. Success adds 0.1 afterwards.
    state = tiny_state(tiny_config(prestige_decay_per_day=0.24), prestige=(5, 4, 3, 1.1))
    assert finished(state).state.prestige_milli == (4850, 3750, 2750, 1000)


def test_decay_is_stored_at_a_payroll_too() -> None:
    config = tiny_config(prestige_decay_per_day=0.24, trust_fragility=0.8, sim={"start_date": "2025-02-01"})
    outcome = advance(tiny_state(config, prestige=5, clients=[tiny_client(trust=3.0)]))
    # Saturday 09:00 to Monday 09:00 are 48 h: 0.48 of prestige and 0.048 of trust.
    assert happened(outcome.events) == ["payroll 9800000"]
    assert outcome.state.prestige_milli == (4520,) * 4
    assert outcome.state.clients[0].trust_milli == 2952


# --------------------------------------------------------------------------------------------------- skills and pay


def staff(*rates: float) -> list[Employee]:
    return [tiny_employee(number, rate) for number, rate in enumerate(rates, 1)]


def rates(state: State, domain: int = 0) -> list[float]:
    return [employee.rates_e4[domain] / 10_000 for employee in state.employees]


def test_the_four_best_of_the_team_learn() -> None:
    state = tiny_state(employees=staff(6, 10, 8, 9, 7, 10), market=[tiny_task(1, boost=0.1)])
    after = finished(state, "Task-1", "Emp_1", "Emp_2", "Emp_3", "Emp_4", "Emp_5").state
    # 10, 9, 8 and 7 grow by a tenth; Emp_1 is fifth, and Emp_6 is not on the team.
    assert rates(after) == [6, 11, 8.8, 9.9, 7.7, 10]
    assert rates(after, 1) == [6, 10, 8, 9, 7, 10]


def test_every_member_of_the_team_gets_a_raise() -> None:
    # 1 % of the tier's midpoint 100,000 is 1,000 cents; the cap is 200,000.
    people = [
        tiny_employee(n, salary_cents=cents) for n, cents in enumerate((100_000, 199_500, 200_000, 150_000, 120_000), 1)
    ]
    state = tiny_state(tiny_config(salary_bump_pct=0.01), employees=[*people, tiny_employee(6)])
    outcome = finished(state, "Task-1", *[employee.name for employee in people])
    assert [e.salary_cents for e in outcome.state.employees] == [101_000, 200_000, 200_000, 151_000, 121_000, 100_000]
    (event,) = outcome.events
    assert isinstance(event, TaskCompleted)
    assert (event.salary_bump_cents, event.team_size) == (3500, 5)  # 1,000 + 500 + 0 + 1,000 + 1,000
    assert outcome.state.monthly_payroll_cents == state.monthly_payroll_cents + 3500


# ------------------------------------------------------------------------------------------------------------ payroll


def test_a_payroll_books_one_row_an_employee() -> None:
    people = [tiny_employee(1, salary_cents=123_456), tiny_employee(2, salary_cents=0)]
    outcome = advance(tiny_state(employees=people))
    time_us = instant("2025-02-03 09:00")
    assert outcome.state.ledger == (
        LedgerEntry(time_us, "monthly_payroll", -123_456, "Emp_1"),
        LedgerEntry(time_us, "monthly_payroll", 0, "Emp_2"),
    )
    assert outcome.events == (PayrollPaid(9_876_544),)
    assert (outcome.state.now_us, outcome.state.funds_cents) == (time_us, 9_876_544)


def test_the_default_year_charges_eleven_payrolls_and_ends_at_the_horizon() -> None:
    state, times = tiny_state(), []
    words: list[str] = []
    while state.terminal_reason is None:
        outcome = advance(state)
        state = outcome.state
        times.append(iso_time(state.now_us)[:10])
        words += happened(outcome.events)
    assert times == [
        "2025-02-03", "2025-03-03", "2025-04-01", "2025-05-01", "2025-06-02", "2025-07-01", "2025-08-01",
        "2025-09-01", "2025-10-01", "2025-11-03", "2025-12-01", "2026-01-01",
    ]  # fmt: skip
    assert words[-1] == "horizon"
    assert state.terminal_reason == "horizon_end"
    assert state.funds_cents == 10_000_000 - 11 * 200_000
    assert state.next_payroll_us is None


def due_with_payroll(*, completion: bool = True, funds_cents: int | None = None) -> State:
    """A task whose forecast falls on the payroll of Monday 2025-02-03 09:00, which work alone never does."""
    config = tiny_config(sim={"start_date": "2025-01-31"}, task_progress_milestones=[0.5])
    state = started(tiny_state(config, funds_cents=funds_cents), "Task-1", *BOTH)
    field = "completion_us" if completion else "milestone_us"
    other = "milestone_us" if completion else "completion_us"
    task = attrs.evolve(state.tasks[0], **{field: instant("2025-02-03 09:00"), other: None})
    return attrs.evolve(state, tasks=(task,))


@pytest.mark.parametrize("completion", [True, False])
def test_a_payroll_precedes_an_event_at_the_same_instant_and_stops_alone(completion: bool) -> None:
    first = resume(due_with_payroll(completion=completion))
    assert happened(first.events) == ["payroll 9800000"]
    assert iso_time(first.state.now_us) == "2025-02-03T09:00:00"
    assert first.state.tasks[0].done_e4 == (1_800_000,)  # Friday's 9 h at 20 an hour
    second = resume(first.state)
    assert happened(second.events)[0] == ("Task-1 success" if completion else "Task-1 50%")
    assert second.state.now_us == first.state.now_us  # no time passes


def test_bankruptcy_at_a_payroll_drops_what_was_due_at_the_same_instant() -> None:
    outcome = resume(due_with_payroll(funds_cents=199_999))
    assert happened(outcome.events) == ["payroll -1"]
    assert outcome.state.terminal_reason == "bankruptcy"
    assert outcome.state.tasks[0].status == "active"
    assert len(outcome.state.ledger) == 2  # all salaries are booked


def test_funds_of_exactly_zero_are_solvent() -> None:
    state = advance(tiny_state(funds_cents=200_000)).state
    assert (state.funds_cents, state.terminal_reason) == (0, None)
    state = advance(tiny_state(funds_cents=199_999)).state
    assert (state.funds_cents, state.terminal_reason) == (-1, "bankruptcy")


def test_progress_is_stored_when_a_payroll_interrupts() -> None:
    # From Friday 2025-01-31 09:00, one employee: 20 h, until Tuesday 11:00. Monday 09:00: 90 units are done.
    state = started(tiny_state(tiny_config(sim={"start_date": "2025-01-31"})), "Task-1", "Emp_1")
    state = resume(state).state
    assert state.tasks[0].done_e4 == (900_000,)
    outcome = resume(state)
    assert iso_time(outcome.state.now_us) == "2025-02-04T11:00:00"
    assert happened(outcome.events) == ["Task-1 failure"]  # due Monday 18:00: two days, Friday and Monday


# --------------------------------------------------------------------------------------------------- several at once


def two_due(  # noqa: PLR0913 -- what the cases vary
    config: Config | None = None,
    *,
    first: str = "Task-1",
    second: str = "Task-3",
    funds_cents: int | None = None,
    market: list[MarketTask] | None = None,
    employees: list[Employee] | None = None,
) -> State:
    """Two tasks of one person each that are done at one instant, Friday 11:00; dispatched in the reverse order."""
    state = tiny_state(config, funds_cents=funds_cents, market=market, employees=employees)
    state = carried_out(state, AcceptTask(first), AcceptTask(second))
    state = carried_out(state, AssignTask(second, ("Emp_2",)), DispatchTask(second))
    return carried_out(state, AssignTask(first, ("Emp_1",)), DispatchTask(first))


def test_all_completions_come_before_all_milestones() -> None:
    # Task-1 (400 units) was accepted first and is half done at 20 h, when Task-3 (200) is complete.
    config = tiny_config(task_progress_milestones=[0.5], deadline_min_biz_days=9)
    market = [tiny_task(1, 400), tiny_task(2), tiny_task(3)]
    state = two_due(config, market=market)
    outcome = resume(state)
    assert happened(outcome.events) == ["Task-3 50%"]  # after 10 h
    outcome = resume(outcome.state)
    assert happened(outcome.events) == ["Task-3 success", "Task-1 50%"]
    assert iso_time(outcome.state.now_us) == "2025-01-03T11:00:00"


@pytest.mark.parametrize(
    ("long", "short", "expected"),
    [
        ("Task-1", "Task-3", ["Task-3 success", "Task-1 50%", "Task-3 100%"]),
        ("Task-3", "Task-1", ["Task-1 success", "Task-1 100%", "Task-3 50%"]),
    ],
)
def test_a_milestone_of_a_completed_task_keeps_its_place_in_the_order_of_acceptance(
    long: str, short: str, expected: list[str]
) -> None:
    # Task-1 is accepted first. After 20 h the short task (200 units) is done and the long one (400) is half done.
    config = tiny_config(task_progress_milestones=[0.5, 1.0], deadline_min_biz_days=9)
    work = {long: 400, short: 200}
    state = two_due(config, market=[tiny_task(1, work["Task-1"]), tiny_task(3, work["Task-3"])])
    assert happened(resume(state).events) == [f"{short} 50%"]
    outcome = resume(resume(state).state)
    assert happened(outcome.events) == expected


# ---------------------------------------------------------------------------------------------------------- the horizon


def test_the_horizon_comes_after_what_is_due_then() -> None:
    state = started(tiny_state(), "Task-1", *BOTH)
    horizon_us = state.calendar.horizon_us
    state = attrs.evolve(
        state,
        now_us=horizon_us - HOUR_US,
        payrolls_charged=11,
        tasks=(attrs.evolve(state.tasks[0], completion_us=horizon_us),),
    )
    outcome = resume(state)
    assert happened(outcome.events) == ["Task-1 failure", "horizon"]
    assert outcome.state.terminal_reason == "horizon_end"


# ------------------------------------------------------------------------------------------------------------- B44


def test_after_the_end_time_stands_still() -> None:
    ended = attrs.evolve(tiny_state(), terminal_reason="horizon_end")
    outcome = advance(ended)
    assert outcome.state is ended
    assert outcome.events == ()
