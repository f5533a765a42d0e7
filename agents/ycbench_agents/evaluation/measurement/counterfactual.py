"""Would a failed task have been in time as the only one? Played with the simulator's own transition.

The world is cut down to the task: no other tasks, no market, no clients, no payroll, and the staff with the skills that
it had. To let time pass up to a given instant the horizon is put there; nothing of the rules is told again here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

import ycbench_env
from ycbench_agents.evaluation.measurement.error import MeasurementError
from ycbench_agents.evaluation.measurement.failed_task import FailedTask, FailureCause
from ycbench_env import State, advance
from ycbench_env.actions import parse_turn
from ycbench_env.types import Assignment

if TYPE_CHECKING:
    from ycbench_env.types import Employee, Task

__all__ = ["TaskPast", "in_time_alone", "judged"]

_HOUR_US = 3_600_000_000


@attrs.frozen
class TaskPast:
    """What must be remembered of a task until it is completed.

    Args:
        staff_at_accept: The staff when it was accepted, with the skills of then.
        staff_at_dispatch: The same when it was dispatched; None before.
        dispatched_us: When it was dispatched; None before.
    """

    staff_at_accept: tuple[Employee, ...]
    staff_at_dispatch: tuple[Employee, ...] | None = None
    dispatched_us: int | None = None


def judged(world: State, task: Task, past: TaskPast, turn: int, *, is_adversarial: bool) -> FailedTask:
    """Return a failed task with its cause.

    Args:
        world: Any state of its episode.
        task: The task as it was completed.
        past: What was remembered of it.
        turn: Number of the turn in which it was completed.
        is_adversarial: Whether its client is adversarial.

    Raises:
        MeasurementError: It was completed without being dispatched, which no rules allow.
    """
    late_hours = ((task.completed_us or 0) - task.deadline_us) / _HOUR_US
    named = (task.task_id, task.offer.client_name, turn, late_hours)
    if is_adversarial:
        return FailedTask(*named, "adversarial_client", None, None, None, None)
    if past.staff_at_dispatch is None or past.dispatched_us is None:
        msg = f"{task.task_id}: was completed without being dispatched; this package is at fault, please report it"
        raise MeasurementError(msg)
    start_us, staff = past.dispatched_us, past.staff_at_dispatch
    accepted_us, early_staff = task.accepted_us, past.staff_at_accept
    alone = (
        in_time_alone(world, task, staff, start_us, task.team),
        in_time_alone(world, task, early_staff, accepted_us, _at_once(task.team, accepted_us)),
        in_time_alone(world, task, staff, start_us, _everybody(staff, start_us)),
        in_time_alone(world, task, early_staff, accepted_us, _everybody(early_staff, accepted_us)),
    )
    return FailedTask(*named, _cause(*alone), *alone)


def _cause(team: bool, team_from_accept: bool, staff: bool, staff_from_accept: bool) -> FailureCause:  # noqa: FBT001 -- the four counterfactuals in order
    """Return the first that applies, from the least that would have had to be done otherwise."""
    if team:
        return "over_committed"
    if team_from_accept:
        return "late_dispatch"
    return "understaffed" if staff or staff_from_accept else "out_of_reach"


def _at_once(team: tuple[Assignment, ...], start_us: int) -> tuple[Assignment, ...]:
    return tuple(Assignment(member.employee, start_us) for member in team)


def _everybody(staff: tuple[Employee, ...], start_us: int) -> tuple[Assignment, ...]:
    return tuple(Assignment(employee.number, start_us) for employee in staff)


def in_time_alone(
    world: State, task: Task, staff: tuple[Employee, ...], start_us: int, team: tuple[Assignment, ...]
) -> bool:
    """Return whether a task would be completed by its deadline if it were the only one.

    Args:
        world: Any state of its episode, for configuration and calendar.
        task: The task; its work is that of acceptance, trust or inflation included.
        staff: The staff, with the skills that count.
        start_us: When it is dispatched.
        team: Who works on it, each from the time given, or from the start if that is later.
    """
    if start_us > task.deadline_us:
        return False
    names = {employee.number: employee.name for employee in staff}
    joins: dict[int, list[str]] = {}
    for member in team:
        joins.setdefault(max(start_us, member.assigned_us), []).append(names[member.employee])
    first_us, *later = sorted(joins)
    state = _cut_down(world, task, staff, first_us)
    state = _do(state, _assign(task, joins[first_us]))
    state = _do(state, f"task dispatch --task-id {task.task_id}")
    for time_us in later:
        state = _at(state, min(time_us, task.deadline_us))
        if time_us > task.deadline_us or state.tasks[0].status != "active":  # done before somebody really joined
            break
        state = _do(state, _assign(task, joins[time_us]))
    return _at(state, task.deadline_us).tasks[0].status == "completed_success"


def _cut_down(world: State, task: Task, staff: tuple[Employee, ...], start_us: int) -> State:
    """Return a world in which nothing exists but a task, planned, and the staff."""
    fresh = attrs.evolve(
        task,
        status="planned",
        done_e4=(0,) * len(task.required_e4),
        team=(),
        completed_us=None,
        milestones_reported=0,
        completion_us=None,
        milestone_us=None,
    )
    return attrs.evolve(
        world,
        calendar=attrs.evolve(world.calendar, payrolls_us=()),
        now_us=start_us,
        funds_cents=world.config.world.initial_funds_cents,
        employees=staff,
        clients=(),
        market=(),
        slot_accepts=(),
        tasks=(fresh,),
        ledger=(),
        payrolls_charged=0,
        terminal_reason=None,
        turns_played=0,
    )


def _at(state: State, time_us: int) -> State:
    """Return the state at an instant, or when its task is completed by then; what is due at that instant is done."""
    state = attrs.evolve(state, calendar=attrs.evolve(state.calendar, horizon_us=time_us))
    while state.terminal_reason is None and state.tasks[0].status == "active":
        state = advance(state).state
    return attrs.evolve(state, terminal_reason=None)


def _assign(task: Task, names: list[str]) -> str:
    return f"task assign --task-id {task.task_id} --employees {','.join(names)}"


def _do(state: State, text: str) -> State:
    """Return the state after a command that cannot be refused here.

    Raises:
        MeasurementError: It was, which only a fault of this package makes so.
    """
    command = parse_turn(text)[0].command
    outcome = None if command is None else ycbench_env.transition(state, command)
    if outcome is None or outcome.refusal is not None:
        msg = f"counterfactual: {text!r} was refused: {outcome and outcome.refusal}; please report it"
        raise MeasurementError(msg)
    return outcome.state
