"""Assigning, dispatching, cancelling, and commands in general. Source: Y-4.2 to Y-4.6, Y-5.1, Y-5.7; B09, B12, B48."""

import attrs
import pytest
from worlds import BOTH, happened, refusal, resume, staff

from ycbench_env.testing.tiny import carried_out, instant, started, tiny_client, tiny_config, tiny_state
from ycbench_env.transition import transition
from ycbench_env.types import command as c
from ycbench_env.types.command import AcceptTask, AssignTask, CancelTask, DispatchTask, InspectTask, Resume
from ycbench_env.types.state import Assignment, State
from ycbench_env.units import iso_time


def forecast(state: State, place: int = 0) -> str | None:
    time_us = state.tasks[place].completion_us
    return None if time_us is None else iso_time(time_us)


def planned(*names: str) -> State:
    return carried_out(tiny_state(), AcceptTask("Task-1"), AssignTask("Task-1", names))


def test_a_team_is_kept_by_number_with_the_time_of_each_assignment() -> None:
    state = planned("Emp_2", "Emp_1")
    now = instant("2025-01-01 09:00")
    assert state.tasks[0].team == (Assignment(1, now), Assignment(2, now))
    assert (state.tasks[0].status, state.tasks[0].completion_us) == ("planned", None)


def test_one_unknown_name_refuses_the_whole_assignment_and_names_the_staff() -> None:
    text = refusal(planned("Emp_1"), AssignTask("Task-1", ("Emp_2", "Emp_3", "Emp_0")))
    assert all(name in text for name in ("'Emp_3'", "'Emp_0'", "Emp_1, Emp_2"))
    state = carried_out(tiny_state(employees=staff(*[10] * 13)), AcceptTask("Task-1"))
    assert "Emp_1 to Emp_13" in refusal(state, AssignTask("Task-1", ("Bob",)))


def test_one_employee_may_join_by_id_on_a_planned_and_on_an_active_task() -> None:
    state = carried_out(planned("Emp_2"), AssignTask("Task-1", employee_id="Emp_1"))
    assert [member.employee for member in state.tasks[0].team] == [1, 2]
    active = carried_out(planned("Emp_2"), DispatchTask("Task-1"))
    assert forecast(active) == "2025-01-03T11:00:00"  # 20 h
    assert forecast(carried_out(active, AssignTask("Task-1", employee_id="Emp_1"))) == "2025-01-02T10:00:00"
    for state in (planned(*BOTH), carried_out(planned(*BOTH), DispatchTask("Task-1"))):
        again = AssignTask("Task-1", employee_id="Emp_2")
        assert "Emp_2 is already assigned to Task-1" in refusal(state, again)


def test_dispatch_makes_a_planned_task_with_a_team_active() -> None:
    state = carried_out(planned(*BOTH), DispatchTask("Task-1"))
    assert (state.tasks[0].status, forecast(state)) == (
        "active",
        "2025-01-02T10:00:00",
    )  # 200 at 20 an hour
    assert "nobody assigned" in refusal(planned(), DispatchTask("Task-1"))
    with pytest.raises(ValueError, match=r"DispatchTask\(task_id='Task-1'\) was refused: .*nobody assigned"):
        started(tiny_state(), "Task-1")


def test_every_active_task_of_an_employee_gets_an_equal_part_of_its_rate() -> None:
    # Emp_1 on two tasks gives 5 an hour to each; Emp_2 is on Task-1 only: 15 and 5 an hour.
    state = started(started(tiny_state(), "Task-1", *BOTH), "Task-3", "Emp_1")
    # 200 / 15 = 13 h 20 min: Wednesday 9, Thursday 4:20.
    assert forecast(state, 0) == "2025-01-02T13:20:00"
    # 200 / 5 = 40 h: Wednesday, Thursday, Friday, Monday are 36, Tuesday 4.
    assert forecast(state, 1) == "2025-01-07T13:00:00"


def test_no_more_than_four_of_a_team_count_in_a_domain() -> None:
    people = staff(1, 2, 3, 4, 5, 6)
    state = started(tiny_state(employees=people), "Task-1", *[employee.name for employee in people])
    assert forecast(state) == "2025-01-02T11:06:40"  # 6 + 5 + 4 + 3 = 18 an hour: 11 h 6 min 40 s


def test_cancelling_costs_prestige_and_trust_once_and_no_money() -> None:
    config = tiny_config(trust_fragility=0.5)
    clients = [tiny_client(trust=2.0), tiny_client("Orion Data", trust=2.0)]
    state = carried_out(tiny_state(config, prestige=5, clients=clients), AcceptTask("Task-4"))
    after = carried_out(state, CancelTask("Task-4", "too much"))
    assert after.tasks[0].status == "cancelled"
    assert after.prestige_milli == (4800, 5000, 5000, 4800)  # 2 x 0.1 in research and training, nothing elsewhere
    assert after.trust_milli == (1500, 2000)  # minus the fragility 0.5
    assert (after.funds_cents, after.ledger, after.now_us) == (state.funds_cents, (), state.now_us)
    assert (after.tasks[0].completed_us, after.terminal_reason) == (None, None)


def test_a_cancelled_task_gives_no_later_event_and_frees_its_team() -> None:
    state = started(started(tiny_state(), "Task-1", *BOTH), "Task-3", *BOTH)
    assert forecast(state, 1) == "2025-01-03T11:00:00"  # 200 at 10 an hour: 20 h
    state = carried_out(state, CancelTask("Task-1", "one is enough"))
    assert (state.tasks[0].completion_us, state.tasks[0].milestone_us) == (None, None)
    assert forecast(state, 1) == "2025-01-02T10:00:00"  # 20 an hour again
    outcome = resume(state)
    assert happened(outcome.events) == ["Task-3 success"]
    assert outcome.state.funds_cents == state.funds_cents + 1_000_000


@pytest.mark.parametrize(
    "command", [CancelTask("Task-1", ""), AssignTask("Task-1", ("Emp_2",)), DispatchTask("Task-1")]
)
def test_a_completed_task_cannot_be_changed(command: c.Command) -> None:
    state = carried_out(started(tiny_state(), "Task-1", "Emp_1"), Resume())
    assert "completed_fail" in refusal(state, command)  # 20 h of work, and 18 until the deadline


def test_resume_is_refused_without_an_active_task() -> None:
    cancelled = carried_out(started(tiny_state(), "Task-1", "Emp_1"), CancelTask("Task-1", ""))
    for state in (tiny_state(), planned("Emp_1"), cancelled):
        assert "no active task" in refusal(state, Resume())


QUESTIONS = (
    *(c.CompanyStatus(), c.ListEmployees(), c.BrowseMarket(), c.ListTasks(), InspectTask("Task-1"), c.ListClients()),
    *(c.ClientHistory(), c.FinanceLedger(), c.ReportMonthly()),
)


def test_a_question_leaves_the_very_same_state() -> None:
    state = started(tiny_state(), "Task-1", "Emp_1")
    for command in (*QUESTIONS, InspectTask("Task-3")):
        outcome = transition(state, command)
        assert outcome.state is state
        assert (outcome.refusal, outcome.events) == (None, ())
    assert "'Task-9'" in refusal(state, InspectTask("Task-9"))


def test_only_own_tasks_can_be_worked_on_and_only_commands_be_given() -> None:
    for task_id, why in (("Task-2", "on the market; first: task accept"), ("Task-9", "no task 'Task-9'")):
        for command in (DispatchTask(task_id), AssignTask(task_id, BOTH), CancelTask(task_id, "")):
            assert why in refusal(tiny_state(), command)
    with pytest.raises(TypeError, match="command: got str, expected a Command"):
        transition(tiny_state(), "sim resume")  # pyright: ignore[reportArgumentType] -- wrong on purpose


@pytest.mark.parametrize("reason", ["bankruptcy", "horizon_end", "max_turns"])
def test_after_the_end_every_command_is_refused(reason: str) -> None:
    # Emp_1 knows nothing, so the task is never done; two salaries are 200,000 cents a month.
    config = tiny_config(loop={"max_turns": 3 if reason == "max_turns" else 0})
    funds_cents = 199_999 if reason == "bankruptcy" else 10_000_000
    state = started(tiny_state(config, funds_cents=funds_cents, employees=staff(0, 10)), "Task-1", "Emp_1")
    if reason == "max_turns":
        state = attrs.evolve(state, turns_played=3)
    while state.end_reason is None:
        state = carried_out(state, Resume())
    orders = (AcceptTask("Task-2"), AssignTask("Task-1", ("Emp_2",)), DispatchTask("Task-1"), CancelTask("Task-1", ""))
    for command in (*QUESTIONS, Resume(), *orders):
        assert reason in refusal(state, command)
