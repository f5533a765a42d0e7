"""Why tasks failed, found by counterfactuals (section 4.2 and figure 5a of the paper; docs/metrics.md).

A counterfactual asks whether a task would have met its deadline as the only one. The simulator's own transition plays
it in a world cut down to the task: no other tasks, no market, no clients, no payroll, and the staff with the skills of
that time. The horizon is put where time is to stop, so no rule is written a second time here.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final, Literal, TypeAlias, get_args

import attrs

import ycbench_env
from ycbench_env import State, advance
from ycbench_env.types import Assignment, AssignTask, Command, DispatchTask, Employee, Task

PaperCause: TypeAlias = Literal["adversarial_client", "incapable_team", "over_committed"]
"""The three causes of figure 5a."""

FailureCause: TypeAlias = Literal[
    "adversarial_client", "over_committed", "late_dispatch", "understaffed", "out_of_reach"
]
"""The same three; the last three are kinds of an incapable team."""

PAPER_CAUSES: Final[tuple[PaperCause, ...]] = get_args(PaperCause)
FAILURE_CAUSES: Final[tuple[FailureCause, ...]] = get_args(FailureCause)
_HOUR_US: Final = 3_600_000_000


@attrs.frozen
class FailedTask:
    """A task that was completed after its deadline.

    The counterfactuals show whether it alone would have been in time; None for an adversarial client's task.
    """

    task_id: str
    client: str | None  # None in a world without clients
    turn: int  # turn in which it was completed
    late_hours: float  # hours of the calendar
    cause: FailureCause
    paper_cause: PaperCause
    lost_cents: int  # reward that was not paid
    team_alone: bool | None = None  # with its own team as each member joined, from the real dispatch
    team_alone_from_accept: bool | None = None  # with its whole team from the moment of acceptance
    staff_alone: bool | None = None  # with all employees from the real dispatch (section 5's understaffing)
    staff_alone_from_accept: bool | None = None  # with all employees from the moment of acceptance


@attrs.define
class TaskPast:
    """The staff, with the skills of then, when a task was accepted and when it was dispatched."""

    staff_at_accept: tuple[Employee, ...]
    staff_at_dispatch: tuple[Employee, ...] = ()
    dispatched_us: int | None = None  # simulated time; None before


def failed_task(world: State, task: Task, past: TaskPast, turn: int, *, is_adversarial: bool) -> FailedTask:
    """Return a task that was completed late, with the first cause that applies; ``world`` is of its episode."""
    assert task.completed_us is not None and past.dispatched_us is not None  # noqa: PT018, S101 -- it was worked on
    late_hours, lost_cents = (task.completed_us - task.deadline_us) / _HOUR_US, task.offer.reward_cents
    row = (task.task_id, task.offer.client_name, turn, late_hours)
    if is_adversarial:
        return FailedTask(*row, "adversarial_client", "adversarial_client", lost_cents)
    early, late = (past.staff_at_accept, task.accepted_us), (past.staff_at_dispatch, past.dispatched_us)
    whole_team = tuple(Assignment(member.employee, task.accepted_us) for member in task.team)
    team, team_early = in_time_alone(world, task, *late, task.team), in_time_alone(world, task, *early, whole_team)
    everybody, everybody_early = (
        in_time_alone(world, task, staff, start_us, tuple(Assignment(each.number, start_us) for each in staff))
        for staff, start_us in (late, early)
    )
    cause: FailureCause = "understaffed" if everybody or everybody_early else "out_of_reach"
    if team or team_early:
        cause = "over_committed" if team else "late_dispatch"
    paper_cause = "over_committed" if cause == "over_committed" else "incapable_team"
    return FailedTask(*row, cause, paper_cause, lost_cents, team, team_early, everybody, everybody_early)


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
    joins = defaultdict[int, list[str]](list)
    for member in team:
        joins[max(start_us, member.assigned_us)].append(names[member.employee])
    first_us, *later = sorted(joins)
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
    state = attrs.evolve(
        world,
        calendar=attrs.evolve(world.calendar, payrolls_us=()),
        now_us=first_us,
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
    state = _do(state, AssignTask(task.task_id, tuple(joins[first_us])), DispatchTask(task.task_id))
    for time_us in later:
        state = _at(state, min(time_us, task.deadline_us))
        if time_us > task.deadline_us or state.tasks[0].status != "active":  # over before somebody really joined
            break
        state = _do(state, AssignTask(task.task_id, tuple(joins[time_us])))
    return _at(state, task.deadline_us).tasks[0].status == "completed_success"


def _at(state: State, time_us: int) -> State:
    """Return the state at an instant, or when its task is completed by then; what is due at that instant is done."""
    state = attrs.evolve(state, calendar=attrs.evolve(state.calendar, horizon_us=time_us))
    while state.terminal_reason is None and state.tasks[0].status == "active":
        state = advance(state).state
    return attrs.evolve(state, terminal_reason=None)


def _do(state: State, *commands: Command) -> State:
    """Return the state after commands that no rule refuses here."""
    for command in commands:
        outcome = ycbench_env.transition(state, command)
        assert outcome.refusal is None, outcome.refusal  # noqa: S101 -- as documented
        state = outcome.state
    return state
