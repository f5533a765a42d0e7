"""Moving time: events, payroll, completion. Source: Y-3.3, Y-5.3 to Y-5.7, K-2.2 to K-2.4; B25, B44.

The sums are those of the tiny world, see ``worlds``. Payrolls of 200,000 cents are due on Monday 3 February and Monday
3 March; January has 23 workdays from the first on, February 20.
"""

import attrs
import pytest
from worlds import ADVERSARIAL, BOTH, LOYAL, finished, happened, rates, resume, staff

from ycbench_env.testing.tiny import instant, started, tiny_client, tiny_config, tiny_employee, tiny_state, tiny_task
from ycbench_env.transition import advance
from ycbench_env.types.event import Event, PayrollPaid, TaskCompleted
from ycbench_env.types.state import LedgerEntry, State
from ycbench_env.units import iso_time

HOUR_US = 3_600_000_000
FRIDAY = {"start_date": "2025-01-31"}  # the payroll of Monday 3 February is the next workday


def salaries(state: State) -> list[int]:
    return [employee.salary_cents for employee in state.employees]


# --------------------------------------------------------------------------------------------------------- completion


def test_two_people_at_ten_an_hour_finish_two_hundred_units_in_ten_business_hours() -> None:
    state, event = finished(tiny_state())
    assert iso_time(state.now_us) == "2025-01-02T10:00:00"
    (task,) = state.tasks
    assert (task.status, task.completed_us) == ("completed_success", state.now_us)
    assert (task.done_e4, task.completion_us, task.milestone_us) == ((2_000_000,), None, None)
    assert state.funds_cents == 11_000_000
    assert state.ledger == (LedgerEntry(state.now_us, "task_reward", 1_000_000, "Task-1"),)
    assert state.prestige_milli == (1100, 1000, 1000, 1000)
    assert event == TaskCompleted(
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
    )


@pytest.mark.parametrize(("late_us", "success"), [(0, True), (1, False)])
def test_a_completion_at_the_instant_of_the_deadline_is_a_success_and_one_after_it_is_not(
    late_us: int, success: bool
) -> None:
    state = started(tiny_state(), "Task-1", *BOTH)
    task = attrs.evolve(state.tasks[0], deadline_us=instant("2025-01-02 10:00") - late_us)
    outcome = resume(attrs.evolve(state, tasks=(task,)))
    assert happened(outcome.events) == [f"Task-1 {'success' if success else 'failure'}"]


def test_a_failure_costs_half_the_reward_prestige_and_trust() -> None:
    config = tiny_config(trust_fragility=0.5, penalty_fail_multiplier=1.5, deadline_qty_per_day=1e6)
    clients, market = [tiny_client(trust=2.0)], [tiny_task(4, {"research": 400, "training": 400})]
    after, event = finished(tiny_state(config, prestige=5, clients=clients, market=market), task_id="Task-4")
    # Trust 2 of 5 reduces 400 to 400 x (1 - 0.5 x 0.4) = 320: 16 h at 20 an hour, Thursday 16:00. Deadline Wed 18:00.
    assert iso_time(after.now_us) == "2025-01-02T16:00:00"
    assert after.tasks[0].done_e4 == after.tasks[0].required_e4
    assert after.ledger == (LedgerEntry(after.now_us, "task_fail_penalty", -500_000, "Task-4"),)
    assert after.prestige_milli == (4850, 5000, 5000, 4850)  # minus 1.5 x 0.1
    # 31 h of decay at 0.03 x 0.5 a day: 2 - 0.019375 = 1.980625, stored 1.981; then minus 0.6 x 0.5 = 0.3.
    assert after.clients[0].trust_milli == 1681
    assert (event.success, event.funds_delta_cents, event.listed_reward_cents) == (False, -500_000, 1_000_000)
    assert (event.trust_delta_milli, event.margin_us) == (-300, -22 * HOUR_US)
    assert (event.salary_bump_cents, event.team_size, event.bankrupt) == (0, 2, False)


def test_a_fee_may_end_the_episode_before_anything_else_is_due() -> None:
    state = started(tiny_state(funds_cents=499_999), "Task-1", "Emp_1")  # 20 h, and 18 until the deadline
    outcome = resume(started(state, "Task-3", "Emp_2"))
    assert (happened(outcome.events), outcome.state.funds_cents) == (["Task-1 failure"], -1)
    assert outcome.state.terminal_reason == "bankruptcy"


def test_who_is_late_gets_no_money_no_raise_and_no_skill_and_loses_prestige_only() -> None:
    config = tiny_config(salary_bump_pct=0.01, penalty_fail_funds_pct=0.0, penalty_fail_multiplier=1.4, num_clients=0)
    market = [tiny_task(1, {"research": 200, "inference": 200}, client=None, boost=0.5)]
    before = tiny_state(config, market=market, prestige=5)
    state, _ = finished(before, "Emp_1")  # 20 h, and 18 until the deadline
    assert (state.employees, state.funds_cents, state.ledger) == (before.employees, 10_000_000, ())
    assert state.prestige_milli == (4860, 4860, 5000, 5000)  # 1.4 x 0.1


# ------------------------------------------------------------------------------------------------ levels, their decay


def test_trust_grows_with_a_success_and_falls_with_the_others() -> None:
    # Gain at trust 1: 1.0 x (1 - 1/5)^1.5 = 0.8 x 0.894427 = 0.715542; 1.715542. Others: 0.06 x 5 = 0.3.
    clients = [tiny_client(trust=1.0), tiny_client("Orion Data", trust=2.0), tiny_client("Helix Systems", trust=0.2)]
    state, event = finished(tiny_state(tiny_config(trust_focus_pressure=5.0), clients=clients))
    assert [client.trust_milli for client in state.clients] == [1716, 1700, 0]
    assert event.trust_delta_milli == 716


def test_trust_decays_with_time_nights_and_weekends_included() -> None:
    # 0.03 x 0.8 = 0.024 a day, 0.001 an hour. From Friday 09:00, 10 h of work end on Monday 10:00: 73 h.
    config = tiny_config(trust_fragility=0.8, sim={"start_date": "2025-01-03"})
    clients = [tiny_client(), tiny_client(ADVERSARIAL, loyalty=-1.0, trust=2.0)]
    state, _ = finished(tiny_state(config, clients=clients))
    assert iso_time(state.now_us) == "2025-01-06T10:00:00"
    assert state.client(ADVERSARIAL).trust_milli == 1927


def test_prestige_decays_before_the_event_and_not_below_the_least_and_both_at_a_payroll() -> None:
    # 0.24 a day is 0.01 an hour; 25 h are 0.25. Success adds 0.1 afterwards.
    state = tiny_state(tiny_config(prestige_decay_per_day=0.24), prestige=(5, 4, 3, 1.1))
    assert finished(state)[0].prestige_milli == (4850, 3750, 2750, 1000)
    config = tiny_config(prestige_decay_per_day=0.24, trust_fragility=0.8, sim={"start_date": "2025-02-01"})
    outcome = advance(tiny_state(config, prestige=5, clients=[tiny_client(trust=3.0)]))
    # Saturday 09:00 to Monday 09:00 are 48 h: 0.48 of prestige and 0.048 of trust.
    assert happened(outcome.events) == ["payroll 9800000"]
    assert (outcome.state.prestige_milli, outcome.state.trust_milli) == ((4520,) * 4, (2952,))


# ----------------------------------------------------------------------------------------------------- skills and pay


@pytest.mark.parametrize(
    ("size", "before", "after"),
    [
        (4, (6, 10, 8, 9, 7, 10), [6, 11, 8.8, 9.9, 7, 11]),
        ("none", (1, 2, 3, 4, 5, 6), [1.1, 2.2, 3.3, 4.4, 5.5, 6.6]),
    ],
)
def test_the_best_of_the_team_learn(size: object, before: tuple[float, ...], after: list[float]) -> None:
    config = tiny_config(efficient_team_size=size, num_employees=6)
    people = staff(*before)
    state = tiny_state(config, employees=people, market=[tiny_task(1, boost=0.1)])
    state, _ = finished(state, *[employee.name for employee in people])
    assert (rates(state), rates(state, 1)) == (after, list(before))


@pytest.mark.parametrize(("cap", "expected"), [("none", [28.5, 15]), (20.0, [20, 15])])
def test_a_rate_grows_past_any_bound_where_there_is_none(cap: object, expected: list[float]) -> None:
    config = tiny_config(skill_rate_max=cap)
    state, _ = finished(tiny_state(config, employees=staff(19, 10), market=[tiny_task(1, boost=0.5)]))
    assert rates(state) == expected


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


def test_every_member_of_the_team_gets_a_raise() -> None:
    # 1 % of the tier's midpoint 100,000 is 1,000 cents; the cap is 200,000.
    pay = (100_000, 199_500, 200_000, 150_000, 120_000)
    people = [tiny_employee(n, salary_cents=cents) for n, cents in enumerate(pay, 1)]
    before = tiny_state(tiny_config(salary_bump_pct=0.01), employees=[*people, tiny_employee(6)])
    state, event = finished(before, *[employee.name for employee in people])
    assert salaries(state) == [101_000, 200_000, 200_000, 151_000, 121_000, 100_000]
    assert (event.salary_bump_cents, event.team_size) == (3500, 5)  # 1,000 + 500 + 0 + 1,000 + 1,000
    assert state.monthly_payroll_cents == before.monthly_payroll_cents + 3500


def test_a_raise_of_the_current_salary_compounds() -> None:
    config = tiny_config(salary_raise_basis="current_salary", salary_bump_pct=0.01, salary_max_cents="none")
    state, bumps = tiny_state(config), []
    for task_id in ("Task-1", "Task-3", "Task-4"):
        state, event = finished(state, task_id=task_id)
        bumps.append(event.salary_bump_cents)
    assert salaries(state) == [103_030, 103_030]  # 101,000; 102,010; 1,020.1 more
    assert bumps == [2000, 2020, 2040]


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


@pytest.mark.parametrize("stops", [True, False])
def test_the_default_year_charges_eleven_payrolls_and_ends_at_the_horizon(stops: bool) -> None:
    config = tiny_config(resume_stops_at_payroll=stops, resume_requires_active_task=False)
    end, events, moves = played_out(tiny_state(config))
    payrolls = [f"payroll {10_000_000 - number * 200_000}" for number in range(1, 12)]
    assert (happened(events), moves) == ([*payrolls, "horizon"], 12 if stops else 1)
    assert (iso_time(end.now_us), end.terminal_reason) == ("2026-01-01T09:00:00", "horizon_end")
    assert end.next_payroll_us is None
    assert advance(end).state is end
    assert advance(end).events == ()


def due_with_payroll(*, completion: bool = True, funds_cents: int | None = None) -> State:
    """A task whose forecast falls on the payroll of Monday 09:00, which work alone never does."""
    config = tiny_config(sim=FRIDAY, task_progress_milestones=[0.5])
    state = started(tiny_state(config, funds_cents=funds_cents), "Task-1", *BOTH)
    field, other = ("completion_us", "milestone_us") if completion else ("milestone_us", "completion_us")
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
    solvent = advance(tiny_state(funds_cents=200_000)).state  # with exactly nothing left
    assert (solvent.funds_cents, solvent.terminal_reason) == (0, None)


def test_progress_is_stored_when_a_payroll_interrupts() -> None:
    # From Friday 09:00, one employee: 20 h, until Tuesday 11:00. Monday 09:00: 90 units are done.
    state = resume(started(tiny_state(tiny_config(sim=FRIDAY)), "Task-1", "Emp_1")).state
    assert state.tasks[0].done_e4 == (900_000,)
    outcome = resume(state)
    assert iso_time(outcome.state.now_us) == "2025-02-04T11:00:00"
    assert happened(outcome.events) == ["Task-1 failure"]  # due Monday 18:00: two days, Friday and Monday


def test_a_staff_that_was_exchanged_by_hand_works_at_its_own_rates() -> None:
    # Tasks keep the rates that were found at their forecasts; they are good for the staff of then only.
    config = tiny_config(resume_stops_at_payroll=False, sim=FRIDAY, deadline_min_biz_days=90)
    state = started(tiny_state(config, market=[tiny_task(1, 800), tiny_task(2)]), "Task-1", "Emp_1")
    state = started(state, "Task-2", "Emp_2")
    outcome = resume(attrs.evolve(state, employees=(tiny_employee(1, 5.0), tiny_employee(2))))
    assert happened(outcome.events) == ["payroll 9800000", "Task-2 success"]
    assert outcome.state.tasks[0].done_e4 == (1_000_000,)  # 20 h at 5 an hour


@pytest.mark.parametrize(
    ("units", "time", "words"),
    [
        (2000, "2025-01-16T10:00:00", ["Task-1 success"]),  # 100 h: 11 days and an hour
        (5000, "2025-02-07T16:00:00", ["payroll 9800000", "Task-1 success"]),  # 250 h: 27 days and 7 h
        # 500 h: 55 days and 5 h, 12 days of March.
        (10_000, "2025-03-19T14:00:00", ["payroll 9800000", "payroll 9600000", "Task-1 success"]),
    ],
)
def test_a_resume_that_stops_at_no_payroll_pays_on_the_way_to_the_completion(
    units: int, time: str, words: list[str]
) -> None:
    config = tiny_config(resume_stops_at_payroll=False)
    outcome = resume(started(tiny_state(config, market=[tiny_task(1, units)]), "Task-1", *BOTH))
    assert (iso_time(outcome.state.now_us), happened(outcome.events)) == (time, words)
    paid = len(words) - 1
    assert (outcome.state.payrolls_charged, outcome.state.funds_cents) == (paid, 11_000_000 - paid * 200_000)
    booked = [(iso_time(entry.time_us)[:10], entry.category) for entry in outcome.state.ledger]
    days = ["2025-02-03", "2025-03-03"][:paid]
    assert booked == [(day, "monthly_payroll") for day in days for _ in BOTH] + [(time[:10], "task_reward")]


def played_out(state: State) -> tuple[State, list[Event], int]:
    """The end of an episode, all that happened, and how often time was moved."""
    events, moves = list[Event](), 0
    while state.terminal_reason is None:
        outcome = advance(state)
        state, moves = outcome.state, moves + 1
        events += outcome.events
    return state, events, moves


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


@pytest.mark.parametrize("accrual", ["business_hours", "until_midnight"])
def test_passing_payrolls_comes_to_the_same_as_stopping_at_each(accrual: str) -> None:
    stopped, events_stopped, many = played_out(busy(stops=True, accrual=accrual))
    passed, events_passed, few = played_out(busy(stops=False, accrual=accrual))
    assert events_passed == events_stopped
    assert attrs.evolve(passed, config=stopped.config) == stopped
    assert few == many - sum(isinstance(event, PayrollPaid) for event in events_stopped)
    assert sum(isinstance(event, TaskCompleted) for event in events_passed) == 4


# ---------------------------------------------------------------------------------------------------- several at once


@pytest.mark.parametrize(
    ("long", "short", "expected"),
    [
        ("Task-1", "Task-3", ["Task-3 success", "Task-1 50%", "Task-3 100%"]),
        ("Task-3", "Task-1", ["Task-1 success", "Task-1 100%", "Task-3 50%"]),
    ],
)
def test_completions_come_before_milestones_which_keep_the_order_of_acceptance(
    long: str, short: str, expected: list[str]
) -> None:
    # Task-1 is accepted first. After 20 h the short task (200 units) is done and the long one (400) is half done.
    config = tiny_config(task_progress_milestones=[0.5, 1.0], deadline_min_biz_days=9)
    work = {long: 400, short: 200}
    state = tiny_state(config, market=[tiny_task(1, work["Task-1"]), tiny_task(3, work["Task-3"])])
    state = started(started(state, "Task-1", "Emp_1"), "Task-3", "Emp_2")
    first = resume(state)
    assert happened(first.events) == [f"{short} 50%"]
    outcome = resume(first.state)
    assert happened(outcome.events) == expected
    assert iso_time(outcome.state.now_us) == "2025-01-03T11:00:00"


def test_the_horizon_comes_after_what_is_due_then() -> None:
    state = started(tiny_state(), "Task-1", *BOTH)
    horizon_us = state.calendar.horizon_us
    tasks = (attrs.evolve(state.tasks[0], completion_us=horizon_us),)
    outcome = resume(attrs.evolve(state, now_us=horizon_us - HOUR_US, payrolls_charged=11, tasks=tasks))
    assert happened(outcome.events) == ["Task-1 failure", "horizon"]
    assert outcome.state.terminal_reason == "horizon_end"
