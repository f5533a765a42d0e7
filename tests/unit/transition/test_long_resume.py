"""A resume that passes payrolls, and one with nothing active. Source: K-2.4, Y-5.3.

In the tiny world two employees do 20 units an hour and cost 200,000 cents a month. The run starts on Wednesday
2025-01-01; payrolls are due on Monday 3 February and Monday 3 March. January has 23 workdays from the first on,
February 20.
"""

import datetime as dt

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_env.config import Config
from ycbench_env.testing.tiny import (
    ADVERSARIAL,
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
from ycbench_env.turn import play_turn
from ycbench_env.types.command import AcceptTask, AssignTask, Resume
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


def test_one_resume_goes_to_the_milestone_and_not_to_the_payroll_after_it() -> None:
    # Half of 8,800 units is done after 220 h: 24 days and 4 h, Tuesday 4 February 13:00.
    config = passing(task_progress_milestones=[0.5])
    state = started(tiny_state(config, market=[tiny_task(1, 8800)]), "Task-1", *BOTH)
    first = resume(state)
    assert happened(first.events) == ["payroll 9800000", "Task-1 50%"]
    assert iso_time(first.state.now_us) == "2025-02-04T13:00:00"
    assert first.state.tasks[0].done_e4 == (44_000_000,)
    assert happened(resume(first.state).events) == ["payroll 9600000", "Task-1 success"]


def due_with_payroll(*, completion: bool, funds_cents: int | None = None) -> State:
    """A task whose forecast falls on the payroll of Monday 2025-02-03 09:00, which work alone never does."""
    config = passing(sim={"start_date": "2025-01-31"}, task_progress_milestones=[0.5])
    state = started(tiny_state(config, funds_cents=funds_cents), "Task-1", *BOTH)
    field, other = ("completion_us", "milestone_us") if completion else ("milestone_us", "completion_us")
    task = attrs.evolve(state.tasks[0], **{field: instant("2025-02-03 09:00"), other: None})
    return attrs.evolve(state, tasks=(task,))


@pytest.mark.parametrize(("completion", "word"), [(True, "Task-1 success"), (False, "Task-1 50%")])
def test_what_is_due_at_the_instant_of_a_payroll_follows_it_in_the_same_resume(completion: bool, word: str) -> None:
    outcome = resume(due_with_payroll(completion=completion))
    assert happened(outcome.events)[:2] == ["payroll 9800000", word]
    assert iso_time(outcome.state.now_us) == "2025-02-03T09:00:00"


def test_bankruptcy_at_a_payroll_that_would_be_passed_drops_what_was_due_then() -> None:
    outcome = resume(due_with_payroll(completion=True, funds_cents=199_999))
    assert happened(outcome.events) == ["payroll -1"]
    assert (outcome.state.terminal_reason, outcome.state.tasks[0].status) == ("bankruptcy", "active")
    assert outcome.state.tasks[0].done_e4 == (1_800_000,)  # Friday's 9 h, though it was due to be done


def test_a_resume_ends_at_the_payroll_that_cannot_be_paid() -> None:
    state = started(tiny_state(passing(), market=[tiny_task(1, 10_000)], funds_cents=300_000), "Task-1", *BOTH)
    outcome = resume(state)
    assert happened(outcome.events) == ["payroll 100000", "payroll -100000"]
    assert (iso_time(outcome.state.now_us), outcome.state.terminal_reason) == ("2025-03-03T09:00:00", "bankruptcy")
    assert outcome.state.tasks[0].done_e4 == (43 * 9 * 20 * 10_000,)


def test_funds_of_exactly_zero_pass_a_payroll() -> None:
    state = started(tiny_state(passing(), market=[tiny_task(1, 5000)], funds_cents=200_000), "Task-1", *BOTH)
    assert happened(resume(state).events) == ["payroll 0", "Task-1 success"]


def test_no_forecast_is_made_at_a_payroll_that_is_passed() -> None:
    # From Friday 2025-01-31, 20 h of one employee: until Tuesday 11:00. By Monday 09:00 the reference rules have
    # counted 15 h of Friday, so that a forecast made then would be Monday 14:00.
    config = passing(accrual="until_midnight", sim={"start_date": "2025-01-31"})
    outcome = resume(started(tiny_state(config), "Task-1", "Emp_1"))
    assert happened(outcome.events) == ["payroll 9800000", "Task-1 failure"]
    assert iso_time(outcome.state.now_us) == "2025-02-04T11:00:00"


@pytest.mark.parametrize(
    ("start", "words", "done_e4"),
    [
        ("2025-01-31", ["payroll 9800000", "Task-8 success"], 157_142),  # 12.857142.. is stored as 12.8571 on Monday
        ("2025-01-16", ["Task-8 success"], 157_143),  # a Thursday: 11 x 10 / 7 = 15.714285..
    ],
)
def test_progress_is_stored_at_a_payroll_that_is_passed(start: str, words: list[str], done_e4: int) -> None:
    # Emp_1 is on seven tasks, Emp_2 does 110 units in 11 h: 9 on the first day and 2 on the next workday.
    market = [*[tiny_task(number) for number in range(1, 8)], tiny_task(8, 110)]
    config = passing(sim={"start_date": start}, min_task_qty=1, deadline_min_biz_days=9)
    state = tiny_state(config, market=market)
    for number in range(1, 8):
        state = started(state, f"Task-{number}", "Emp_1")
    outcome = resume(started(state, "Task-8", "Emp_2"))
    assert happened(outcome.events) == words
    assert [task.done_e4 for task in outcome.state.tasks[:7]] == [(done_e4,)] * 7


@pytest.mark.parametrize(
    ("start", "prestige_milli", "trust_milli"),
    [
        # By Monday 09:00 0.0004 and 0.00048 are lost of 5 and 3: stored as 5.000 and 3.000. So is what follows.
        ("2025-02-01", 5000, 3000),
        # Without a payroll it is 0.000608 and 0.00073 at once: 4.999 and 2.999.
        ("2025-02-08", 4999, 2999),
    ],
)
def test_decay_is_stored_at_a_payroll_that_is_passed(start: str, prestige_milli: int, trust_milli: int) -> None:
    # From a Saturday, 10 h of work end on Tuesday 10:00: 73 h, of which the weekend is 48.
    config = passing(prestige_decay_per_day=0.0002, trust_fragility=0.008, sim={"start_date": start})
    clients = [tiny_client(), tiny_client(ADVERSARIAL, loyalty=-1.0, trust=3.0)]
    state = started(tiny_state(config, prestige=5, clients=clients), "Task-1", *BOTH)
    state = resume(state).state
    assert iso_time(state.now_us)[5:] == f"02-{int(start[-2:]) + 3:02d}T10:00:00"
    assert state.prestige_milli[1:] == (prestige_milli,) * 3
    assert state.trust_milli[1] == trust_milli


def test_a_payroll_that_is_passed_counts_work_at_the_rates_after_a_success() -> None:
    # Emp_1 is on both tasks, 5 an hour each. After 40 h, on Tuesday 7 January at 13:00, Task-1 is done and doubles the
    # rate. Until the payroll there are 5 h and 18 days, 167 h at 20 an hour, 3,340 units; 200 were done before.
    config = passing(skill_rate_max="none", deadline_min_biz_days=100)
    market = [tiny_task(1, reward_cents=100_000, boost=1.0), tiny_task(2, 6200)]
    state = started(tiny_state(config, market=market, funds_cents=0), "Task-1", "Emp_1")
    first = resume(started(state, "Task-2", "Emp_1"))
    assert (happened(first.events), iso_time(first.state.now_us)) == (["Task-1 success"], "2025-01-07T13:00:00")
    second = resume(first.state)
    assert happened(second.events) == ["payroll -100000"]
    assert second.state.tasks[1].done_e4 == (35_400_000,)


def test_a_state_read_from_bytes_finds_its_rates_anew_at_every_stop() -> None:
    config = passing(sim={"start_date": "2025-01-31"}, deadline_min_biz_days=90, num_market_tasks=2)
    state = started(tiny_state(config, market=[tiny_task(1, 800), tiny_task(2)]), "Task-1", "Emp_1")
    state = started(state, "Task-2", "Emp_2")
    outcome = resume(State.from_bytes(state.to_bytes()))
    assert outcome == resume(state)
    assert happened(outcome.events) == ["payroll 9800000", "Task-2 success"]
    assert outcome.state.tasks[0].done_e4 == (2_000_000,)  # 20 h with the payroll between


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


@settings(max_examples=40)
@given(
    accrual=st.sampled_from(["business_hours", "until_midnight"]),
    funds_cents=st.integers(0, 3_000_000),
    start=st.dates(dt.date(2024, 1, 20), dt.date(2025, 12, 20)),
    rates_e4=st.tuples(*[st.integers(1, 60_000)] * 3),
    units=st.tuples(*[st.integers(200, 3000)] * 3),
    teams=st.tuples(*[st.sets(st.sampled_from(["Emp_1", "Emp_2", "Emp_3"]), min_size=1)] * 3),
)
def test_any_episode_comes_to_the_same_whether_it_stops_at_payrolls_or_passes_them(  # noqa: PLR0913 -- what varies
    accrual: str,
    funds_cents: int,
    start: dt.date,
    rates_e4: tuple[int, ...],
    units: tuple[int, ...],
    teams: tuple[set[str], ...],
) -> None:
    ends: list[tuple[State, list[Event], int]] = []
    for stops in (True, False):
        config = busy(stops=stops, accrual=accrual).config
        config = attrs.evolve(config, sim=attrs.evolve(config.sim, start_date=start))
        state = tiny_state(
            config,
            employees=[tiny_employee(number, rate / 10_000) for number, rate in enumerate(rates_e4, 1)],
            market=[tiny_task(number, work, boost=0.1) for number, work in enumerate(units, 1)],
            funds_cents=funds_cents,
            prestige=5,
        )
        for number, team in enumerate(teams, 1):
            state = started(state, f"Task-{number}", *sorted(team))
        ends.append(played_out(state))
    (stopped, told_stopped, many), (passed, told_passed, few) = ends
    assert told_passed == told_stopped
    assert attrs.evolve(passed, config=stopped.config) == stopped
    paid = sum(isinstance(event, PayrollPaid) for event in told_stopped)
    assert few == many - paid + isinstance(told_stopped[-1], PayrollPaid)  # the one that ends it is not passed


def test_a_forced_advance_passes_payrolls_as_a_resume_does() -> None:
    config = passing(loop={"auto_advance_after_turns": 2})
    state = started(tiny_state(config, market=[tiny_task(1, 5000)]), "Task-1", *BOTH)
    first = play_turn(state, "company status")
    second = play_turn(first.state, "company status")
    assert happened(first.report.events) == []
    assert happened(second.report.events) == ["payroll 9800000", "Task-1 success"]
    assert second.state.idle_turns == 0
    # With nothing active it goes to the end, though a resume would be refused.
    last = play_turn(play_turn(second.state, "sim resume").state, "sim resume")
    assert happened(last.report.events)[-1] == "horizon"
    assert last.state.payrolls_charged == 11


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


def test_with_nothing_active_a_resume_ends_at_bankruptcy() -> None:
    outcome = resume(tiny_state(passing(resume_requires_active_task=False), funds_cents=600_000))
    assert happened(outcome.events) == ["payroll 400000", "payroll 200000", "payroll 0", "payroll -200000"]
    assert (iso_time(outcome.state.now_us)[:10], outcome.state.terminal_reason) == ("2025-05-01", "bankruptcy")


def test_a_planned_task_waits_while_time_goes_to_the_horizon() -> None:
    state = tiny_state(passing(resume_requires_active_task=False))
    state = carried_out(state, AcceptTask("Task-1"), AssignTask("Task-1", BOTH), Resume())
    assert (state.tasks[0].status, state.tasks[0].done_e4) == ("planned", (0,))
    assert state.terminal_reason == "horizon_end"


def test_with_nothing_active_a_resume_may_still_stop_at_each_payroll() -> None:
    state = tiny_state(tiny_config(resume_requires_active_task=False))
    assert happened(resume(state).events) == ["payroll 9800000"]


def test_a_resume_that_passes_payrolls_may_still_be_refused_with_nothing_active() -> None:
    state = tiny_state(passing())
    outcome = transition(state, Resume())
    assert (outcome.state is state, outcome.events) == (True, ())
    assert "no active task" in (outcome.refusal or "")
    # A forced advance asks for nothing; it goes as far as a resume would.
    assert len(advance(state).events) == 12
    assert advance(state).state.terminal_reason == "horizon_end"


def test_work_that_is_never_done_goes_to_the_horizon_in_one_resume() -> None:
    people = [tiny_employee(1, (10, 10, 10, 0)), tiny_employee(2)]
    outcome = resume(started(tiny_state(passing(), employees=people), "Task-4", "Emp_1"))
    assert [happened(outcome.events)[place] for place in (0, 10, 11)] == [
        "payroll 9800000",
        "payroll 7800000",
        "horizon",
    ]
    assert (outcome.state.tasks[0].status, outcome.state.tasks[0].done_e4) == ("active", (2_000_000, 0))


def test_the_last_stretch_goes_to_what_is_due_at_the_horizon_and_then_ends() -> None:
    state = started(tiny_state(passing()), "Task-1", *BOTH)
    task = attrs.evolve(state.tasks[0], completion_us=state.calendar.horizon_us)
    outcome = resume(attrs.evolve(state, tasks=(task,)))
    assert happened(outcome.events)[-3:] == ["payroll 7800000", "Task-1 failure", "horizon"]


def test_after_a_resume_to_the_end_time_stands_still() -> None:
    state = resume(tiny_state(passing(resume_requires_active_task=False))).state
    assert "horizon_end" in (transition(state, Resume()).refusal or "")
    assert advance(state).events == ()
