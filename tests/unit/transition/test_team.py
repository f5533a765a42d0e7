"""Assigning, dispatching, cancelling, and commands in general. Source: Y-4.2 to Y-4.6, Y-5.1, Y-5.7; B09, B12, B48."""

import attrs
import pytest

from ycbench_env.testing.tiny import (
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
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    ClientHistory,
    Command,
    CompanyStatus,
    DispatchTask,
    FinanceLedger,
    InspectTask,
    ListClients,
    ListEmployees,
    ListTasks,
    ReportMonthly,
    Resume,
)
from ycbench_env.types.event import TaskCompleted
from ycbench_env.types.state import Assignment, State
from ycbench_env.units import iso_time


def refusal(state: State, command: Command) -> str:
    """Why a command is refused; a refusal must return the very same state."""
    outcome = transition(state, command)
    assert outcome.refusal is not None
    assert outcome.state is state
    assert outcome.events == ()
    return outcome.refusal


def team(state: State, place: int = 0) -> list[int]:
    return [member.employee for member in state.tasks[place].team]


def forecast(state: State, place: int = 0) -> str | None:
    time_us = state.tasks[place].completion_us
    return None if time_us is None else iso_time(time_us)


def planned(*names: str) -> State:
    return carried_out(tiny_state(), AcceptTask("Task-1"), AssignTask("Task-1", names))


# ------------------------------------------------------------------------------------------------------------- assign


def test_a_team_is_kept_by_number_with_the_time_of_each_assignment() -> None:
    state = planned("Emp_2", "Emp_1")
    now = instant("2025-01-01 09:00")
    assert state.tasks[0].team == (Assignment(1, now), Assignment(2, now))
    assert (state.tasks[0].status, state.tasks[0].completion_us) == ("planned", None)


def test_a_later_member_has_a_later_time() -> None:
    state = attrs.evolve(planned("Emp_2"), now_us=instant("2025-01-01 11:00"))
    state = carried_out(state, AssignTask("Task-1", ("Emp_2", "Emp_1")))
    assert state.tasks[0].team == (
        Assignment(1, instant("2025-01-01 11:00")),
        Assignment(2, instant("2025-01-01 09:00")),
    )


def test_an_employee_named_twice_is_assigned_once() -> None:
    state = planned("Emp_1", "Emp_1")
    assert team(state) == [1]
    # Alone at 10 units an hour: 200 units are 20 h, Wednesday 9, Thursday 9, Friday 2.
    assert forecast(carried_out(state, DispatchTask("Task-1"))) == "2025-01-03T11:00:00"


def test_who_is_on_a_planned_task_already_stays_on_it_once() -> None:
    state = planned("Emp_1")
    assert carried_out(state, AssignTask("Task-1", ("Emp_1",))) == state
    assert team(carried_out(state, AssignTask("Task-1", ("Emp_1", "Emp_2", "Emp_1")))) == [1, 2]


def test_one_unknown_name_refuses_the_whole_assignment() -> None:
    state = planned("Emp_1")
    text = refusal(state, AssignTask("Task-1", ("Emp_2", "Emp_3", "Emp_0")))
    assert "'Emp_3'" in text
    assert "'Emp_0'" in text
    assert "Emp_1, Emp_2" in text


@pytest.mark.parametrize("name", ["emp_1", "1", "", "Emp_1 ", "Emp_01"])
def test_a_name_must_be_written_exactly(name: str) -> None:
    refusal(planned(), AssignTask("Task-1", (name,)))


def test_a_refusal_names_a_large_staff_by_its_ends() -> None:
    state = tiny_state(employees=[tiny_employee(number) for number in range(1, 14)])
    state = carried_out(state, AcceptTask("Task-1"))
    assert "Emp_1 to Emp_13" in refusal(state, AssignTask("Task-1", ("Bob",)))


def test_nobody_can_be_named_in_a_company_without_staff() -> None:
    state = carried_out(tiny_state(employees=[]), AcceptTask("Task-1"))
    refusal(state, AssignTask("Task-1", ("Emp_1",)))


def test_naming_nobody_changes_nothing() -> None:
    state = planned("Emp_1")
    assert carried_out(state, AssignTask("Task-1", ())) == state


def test_one_employee_may_join_by_id_on_a_planned_and_on_an_active_task() -> None:
    state = carried_out(planned("Emp_2"), AssignTask("Task-1", employee_id="Emp_1"))
    assert team(state) == [1, 2]
    active = carried_out(planned("Emp_2"), DispatchTask("Task-1"))
    assert forecast(active) == "2025-01-03T11:00:00"  # 20 h
    assert forecast(carried_out(active, AssignTask("Task-1", employee_id="Emp_1"))) == "2025-01-02T10:00:00"


@pytest.mark.parametrize("dispatched", [True, False])
def test_who_is_on_a_task_already_cannot_be_named_by_id_again(dispatched: bool) -> None:
    state = planned("Emp_1", "Emp_2")
    state = carried_out(state, DispatchTask("Task-1")) if dispatched else state
    assert "Emp_2 is already assigned to Task-1" in refusal(state, AssignTask("Task-1", employee_id="Emp_2"))


def test_an_unknown_name_is_refused_by_id_as_in_a_list() -> None:
    text = refusal(planned("Emp_1"), AssignTask("Task-1", employee_id="Emp_3"))
    assert text == refusal(planned("Emp_1"), AssignTask("Task-1", ("Emp_3",)))
    assert "no employee named 'Emp_3'; nobody was assigned; employees: Emp_1, Emp_2" in text


@pytest.mark.parametrize(
    "command", [AssignTask("Task-3", ("Emp_1",)), DispatchTask("Task-3"), CancelTask("Task-3", "")]
)
def test_a_listed_task_must_be_accepted_first(command: Command) -> None:
    assert "on the market" in refusal(tiny_state(), command)


@pytest.mark.parametrize(
    "command", [AssignTask("Task-9", ("Emp_1",)), DispatchTask("Task-9"), CancelTask("Task-9", "")]
)
def test_an_unknown_task_is_refused(command: Command) -> None:
    assert "'Task-9'" in refusal(tiny_state(), command)


# ----------------------------------------------------------------------------------------------------------- dispatch


def test_dispatch_makes_a_planned_task_active() -> None:
    state = carried_out(planned("Emp_1", "Emp_2"), DispatchTask("Task-1"))
    assert state.tasks[0].status == "active"
    assert forecast(state) == "2025-01-02T10:00:00"  # 200 units at 20 an hour: 10 h


def test_a_task_without_a_team_cannot_be_dispatched() -> None:
    assert "nobody assigned" in refusal(planned(), DispatchTask("Task-1"))


def test_a_task_is_dispatched_once() -> None:
    assert "active" in refusal(carried_out(planned("Emp_1"), DispatchTask("Task-1")), DispatchTask("Task-1"))


def test_a_planned_task_splits_nobody() -> None:
    state = carried_out(planned("Emp_1", "Emp_2"), AcceptTask("Task-3"), AssignTask("Task-3", ("Emp_1", "Emp_2")))
    assert forecast(carried_out(state, DispatchTask("Task-1"))) == "2025-01-02T10:00:00"


def test_every_active_task_of_an_employee_gets_an_equal_part_of_its_rate() -> None:
    # Emp_1 on two tasks gives 5 an hour to each; Emp_2 is on Task-1 only: 15 and 5 an hour.
    state = started(started(tiny_state(), "Task-1", "Emp_1", "Emp_2"), "Task-3", "Emp_1")
    # 200 / 15 = 13 h 20 min: Wednesday 9, Thursday 4:20.
    assert forecast(state, 0) == "2025-01-02T13:20:00"
    # 200 / 5 = 40 h: Wednesday, Thursday, Friday, Monday are 36, Tuesday 4.
    assert forecast(state, 1) == "2025-01-07T13:00:00"


def test_all_domains_progress_side_by_side_at_the_full_rate() -> None:
    # 200 of research and 300 of training, both at 20 an hour: 15 h, as for training alone.
    state = started(tiny_state(), "Task-4", "Emp_1", "Emp_2")
    assert forecast(state) == "2025-01-02T15:00:00"
    config = tiny_config(task_progress_milestones=[0.5])
    # Half of the sum is 250 units: 125 of each after 6 h 15 min.
    state = carried_out(started(tiny_state(config), "Task-4", "Emp_1", "Emp_2"), Resume())
    assert iso_time(state.now_us) == "2025-01-01T15:15:00"
    assert state.tasks[0].done_e4 == (1_250_000, 1_250_000)


def test_no_more_than_four_of_a_team_count_in_a_domain() -> None:
    staff = [tiny_employee(number, rate) for number, rate in enumerate((1, 2, 3, 4, 5, 6), 1)]
    state = started(tiny_state(employees=staff), "Task-1", *[employee.name for employee in staff])
    # 6 + 5 + 4 + 3 = 18 an hour: 11 h 6 min 40 s.
    assert forecast(state) == "2025-01-02T11:06:40"


def test_the_four_largest_are_chosen_after_the_split() -> None:
    # Emp_1 at 10 is on five tasks: 2 an hour to each. On Task-1 the others give 3, 4, 5 and 6, together 18.
    staff = [tiny_employee(number, rate) for number, rate in enumerate((10, 3, 4, 5, 6), 1)]
    state = tiny_state(employees=staff, market=[tiny_task(number) for number in range(1, 6)])
    for number in range(2, 6):
        state = started(state, f"Task-{number}", "Emp_1")
    state = started(state, "Task-1", *[employee.name for employee in staff])
    assert forecast(state, 4) == "2025-01-02T11:06:40"  # 200 / 18


def test_a_domain_that_nobody_can_do_is_never_done() -> None:
    state = started(tiny_state(employees=[tiny_employee(1, (10, 10, 10, 0))]), "Task-4", "Emp_1")
    assert forecast(state) is None
    # Time moves on to the payroll and the task stays as it is: 100 % of research, nothing of training.
    state = carried_out(state, Resume())
    assert state.now_us == instant("2025-02-03 09:00")
    assert (state.tasks[0].status, state.tasks[0].done_e4) == ("active", (2_000_000, 0))


# ------------------------------------------------------------------------------------------------------------- cancel


def test_cancelling_costs_prestige_and_trust_once_and_no_money() -> None:
    config = tiny_config(trust_fragility=0.5)
    clients = [tiny_client(trust=2.0), tiny_client("Orion Data", trust=2.0)]
    state = carried_out(tiny_state(config, prestige=5, clients=clients), AcceptTask("Task-4"))
    after = carried_out(state, CancelTask("Task-4", "too much"))
    assert after.tasks[0].status == "cancelled"
    # 2 x 0.1 in research and training, nothing elsewhere.
    assert after.prestige_milli == (4800, 5000, 5000, 4800)
    assert [client.trust_milli for client in after.clients] == [1500, 2000]  # minus the fragility 0.5
    assert (after.funds_cents, after.ledger, after.now_us) == (state.funds_cents, (), state.now_us)
    assert (after.tasks[0].completed_us, after.terminal_reason) == (None, None)


def test_prestige_and_trust_are_lost_down_to_their_least() -> None:
    config = tiny_config(trust_fragility=3.0)
    state = carried_out(
        tiny_state(config, prestige=1.15, clients=[tiny_client(trust=2.0)]),
        AcceptTask("Task-1"),
        CancelTask("Task-1", ""),
    )
    assert state.prestige_milli == (1000, 1150, 1150, 1150)
    assert state.client(LOYAL).trust_milli == 0


def test_a_cancelled_task_gives_no_later_event_and_frees_its_team() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1", "Emp_2")
    state = started(state, "Task-3", "Emp_1", "Emp_2")
    assert forecast(state, 1) == "2025-01-03T11:00:00"  # 200 at 10 an hour: 20 h
    state = carried_out(state, CancelTask("Task-1", "one is enough"))
    assert (state.tasks[0].completion_us, state.tasks[0].milestone_us) == (None, None)
    assert forecast(state, 1) == "2025-01-02T10:00:00"  # 20 an hour again
    outcome = transition(state, Resume())
    assert [event.task_id for event in outcome.events if isinstance(event, TaskCompleted)] == ["Task-3"]
    assert outcome.state.funds_cents == state.funds_cents + 1_000_000


def test_half_of_the_work_counts_for_the_other_task_when_one_is_cancelled_midway() -> None:
    config = tiny_config(task_progress_milestones=[0.5])
    state = started(started(tiny_state(config), "Task-1", "Emp_1"), "Task-3", "Emp_1")
    state = carried_out(state, Resume())  # 5 an hour each: 100 of 200 after 20 h, Friday 11:00, both
    assert iso_time(state.now_us) == "2025-01-03T11:00:00"
    assert [task.done_e4 for task in state.tasks] == [(1_000_000,), (1_000_000,)]
    state = carried_out(state, CancelTask("Task-1", ""))
    assert state.tasks[0].done_e4 == (1_000_000,)
    assert forecast(state, 1) == "2025-01-06T12:00:00"  # 100 left at 10 an hour: 7 h on Friday, 3 on Monday


def test_a_planned_task_can_be_cancelled_though_its_team_works_elsewhere() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1", "Emp_2")
    state = carried_out(state, AcceptTask("Task-3"), AssignTask("Task-3", ("Emp_1",)), CancelTask("Task-3", ""))
    assert forecast(state) == "2025-01-02T10:00:00"


@pytest.mark.parametrize(
    "command",
    [CancelTask("Task-1", "again"), AssignTask("Task-1", ("Emp_2",)), DispatchTask("Task-1"), AcceptTask("Task-1")],
)
def test_a_cancelled_task_is_out_of_the_game(command: Command) -> None:
    state = carried_out(started(tiny_state(), "Task-1", "Emp_1"), CancelTask("Task-1", ""))
    assert refusal(state, command)


def test_a_task_can_be_cancelled_at_the_instant_of_its_deadline_and_after() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1")
    for time in ("2025-01-02 18:00", "2025-01-03 09:00"):
        late = attrs.evolve(state, now_us=instant(time))
        assert carried_out(late, CancelTask("Task-1", "")).tasks[0].status == "cancelled"


@pytest.mark.parametrize(
    "command", [CancelTask("Task-1", ""), AssignTask("Task-1", ("Emp_2",)), DispatchTask("Task-1")]
)
def test_a_completed_task_cannot_be_changed(command: Command) -> None:
    state = carried_out(started(tiny_state(), "Task-1", "Emp_1"), Resume())
    assert "completed_fail" in refusal(state, command)  # 20 h of work, and 18 until the deadline


# ------------------------------------------------------------------------------------------------ resume and the rest


def test_resume_is_refused_without_an_active_task() -> None:
    assert "no active task" in refusal(tiny_state(), Resume())
    assert "no active task" in refusal(planned("Emp_1"), Resume())
    state = carried_out(started(tiny_state(), "Task-1", "Emp_1"), CancelTask("Task-1", ""))
    assert "no active task" in refusal(state, Resume())


QUERIES = (
    CompanyStatus(),
    ListEmployees(),
    BrowseMarket(),
    ListTasks(),
    InspectTask("Task-1"),
    ListClients(),
    ClientHistory(),
    FinanceLedger(),
    ReportMonthly(),
)


@pytest.mark.parametrize("command", QUERIES, ids=lambda command: type(command).__name__)
def test_a_question_leaves_the_very_same_state(command: Command) -> None:
    state = started(tiny_state(), "Task-1", "Emp_1")
    outcome = transition(state, command)
    assert outcome.state is state
    assert (outcome.refusal, outcome.events) == (None, ())


def test_inspecting_an_unknown_task_is_refused_and_a_listed_one_is_not() -> None:
    assert "'Task-9'" in refusal(tiny_state(), InspectTask("Task-9"))
    assert transition(tiny_state(), InspectTask("Task-3")).refusal is None


def ended(reason: str) -> State:
    """The state after an episode that ended for this reason, with a task still active."""
    if reason == "max_turns":
        state = started(tiny_state(tiny_config(loop={"max_turns": 3})), "Task-1", "Emp_1")
        return attrs.evolve(state, turns_played=3)
    # Emp_1 knows nothing, so the task is never done; two salaries are 200,000 cents a month.
    funds_cents = 199_999 if reason == "bankruptcy" else 10_000_000
    employees = [tiny_employee(1, 0.0), tiny_employee(2)]
    state = started(tiny_state(funds_cents=funds_cents, employees=employees), "Task-1", "Emp_1")
    while state.terminal_reason is None:
        state = carried_out(state, Resume())
    assert state.terminal_reason == reason
    return state


@pytest.mark.parametrize("reason", ["bankruptcy", "horizon_end", "max_turns"])
@pytest.mark.parametrize(
    "command",
    [
        *QUERIES,
        Resume(),
        AcceptTask("Task-2"),
        AssignTask("Task-1", ("Emp_2",)),
        DispatchTask("Task-1"),
        CancelTask("Task-1", ""),
    ],
    ids=lambda command: type(command).__name__,
)
def test_after_the_end_every_command_is_refused(reason: str, command: Command) -> None:
    assert reason in refusal(ended(reason), command)


@pytest.mark.parametrize("reason", ["bankruptcy", "horizon_end"])
def test_after_the_end_time_stands_still_also_for_a_forced_advance(reason: str) -> None:
    # Y-5.7, B09: the episode terminates; nothing changes any more, whoever asks.
    state = ended(reason)
    outcome = advance(state)
    assert outcome.state == state
    assert outcome.events == ()


def test_the_last_turn_that_the_limit_allows_is_still_played() -> None:
    limit = tiny_config(loop={"max_turns": 3})
    state = attrs.evolve(started(tiny_state(limit), "Task-1", "Emp_1"), turns_played=2)
    assert transition(state, Resume()).refusal is None


def test_the_test_kit_says_which_command_was_refused_and_why() -> None:
    with pytest.raises(ValueError, match=r"DispatchTask\(task_id='Task-1'\) was refused: .*nobody assigned"):
        started(tiny_state(), "Task-1")
