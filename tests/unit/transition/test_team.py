"""Assigning, dispatching, cancelling, and commands in general. Source: Y-4.2 to Y-4.6, Y-5.1, Y-5.7; B09, B12, B48."""

import attrs
import pytest

from ycbench_env.testing.tiny import carried_out, instant, started, tiny_client, tiny_config, tiny_employee, tiny_state
from ycbench_env.transition import transition
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


def test_one_unknown_name_refuses_the_whole_assignment() -> None:
    state = planned("Emp_1")
    text = refusal(state, AssignTask("Task-1", ("Emp_2", "Emp_3", "Emp_0")))
    assert "'Emp_3'" in text
    assert "'Emp_0'" in text
    assert "Emp_1, Emp_2" in text


def test_a_refusal_names_a_large_staff_by_its_ends() -> None:
    state = tiny_state(employees=[tiny_employee(number) for number in range(1, 14)])
    state = carried_out(state, AcceptTask("Task-1"))
    assert "Emp_1 to Emp_13" in refusal(state, AssignTask("Task-1", ("Bob",)))


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


# ----------------------------------------------------------------------------------------------------------- dispatch


def test_dispatch_makes_a_planned_task_active() -> None:
    state = carried_out(planned("Emp_1", "Emp_2"), DispatchTask("Task-1"))
    assert state.tasks[0].status == "active"
    assert forecast(state) == "2025-01-02T10:00:00"  # 200 units at 20 an hour: 10 h


def test_a_task_without_a_team_cannot_be_dispatched() -> None:
    assert "nobody assigned" in refusal(planned(), DispatchTask("Task-1"))


def test_every_active_task_of_an_employee_gets_an_equal_part_of_its_rate() -> None:
    # Emp_1 on two tasks gives 5 an hour to each; Emp_2 is on Task-1 only: 15 and 5 an hour.
    state = started(started(tiny_state(), "Task-1", "Emp_1", "Emp_2"), "Task-3", "Emp_1")
    # 200 / 15 = 13 h 20 min: Wednesday 9, Thursday 4:20.
    assert forecast(state, 0) == "2025-01-02T13:20:00"
    # 200 / 5 = 40 h: Wednesday, Thursday, Friday, Monday are 36, Tuesday 4.
    assert forecast(state, 1) == "2025-01-07T13:00:00"


def test_no_more_than_four_of_a_team_count_in_a_domain() -> None:
    staff = [tiny_employee(number, rate) for number, rate in enumerate((1, 2, 3, 4, 5, 6), 1)]
    state = started(tiny_state(employees=staff), "Task-1", *[employee.name for employee in staff])
    # 6 + 5 + 4 + 3 = 18 an hour: 11 h 6 min 40 s.
    assert forecast(state) == "2025-01-02T11:06:40"


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


def test_the_test_kit_says_which_command_was_refused_and_why() -> None:
    with pytest.raises(ValueError, match=r"DispatchTask\(task_id='Task-1'\) was refused: .*nobody assigned"):
        started(tiny_state(), "Task-1")
