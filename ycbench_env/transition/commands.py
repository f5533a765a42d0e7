"""The effect of each command on the world; a refused command leaves the very same state. Source: Y-4, K-2."""

from __future__ import annotations

from typing import Final

from ycbench_env.rules.clock import HOUR_US, add_business
from ycbench_env.rules.economy import deadline_days, inflated_quantity, reduced_quantity
from ycbench_env.rules.standing import prestige_after_loss, trust_after_loss
from ycbench_env.text import shown
from ycbench_env.transition.advance import advance
from ycbench_env.transition.draft import Draft
from ycbench_env.transition.market import market_without, offered_again, refilled
from ycbench_env.types.command import AcceptTask, AssignTask, CancelTask, Command, DispatchTask, InspectTask, Resume
from ycbench_env.types.event import Outcome
from ycbench_env.types.state import Assignment, MarketTask, State, Task, evolve
from ycbench_env.vocabulary import DOMAINS

_OPEN_STATUSES: Final = ("planned", "active")
_SHOWN_NAMES: Final = 12  # employees that a refusal lists by name
_SHOWN: Final = 60  # characters of an agent's text that a refusal repeats


def transition(state: State, command: Command) -> Outcome:  # noqa: PLR0911 -- a line a command
    """Return what a command does: the next state, or the same state with the reason of the refusal.

    Commands that only ask leave the state as it is. After the end of the episode every command is refused.

    Args:
        state: The present state.
        command: A parsed command.

    Raises:
        TypeError: It is no command: a mistake of the calling program.

    Source: Y-4, Y-5.7.
    """
    if state.end_reason is not None:
        return Outcome(state, refusal_after_end(state))
    match command:
        case AcceptTask():
            return _accept(state, command.task_id)
        case AssignTask():
            return _assign(state, command)
        case DispatchTask():
            return _dispatch(state, command.task_id)
        case CancelTask():
            return _cancel(state, command.task_id)
        case Resume():
            if not state.active_indices and state.config.world.resume_requires_active_task:  # Y-4.5, K-2.4
                return Outcome(
                    state, "no active task, so there is nothing to wait for; accept, assign and dispatch one first"
                )
            return advance(state)
        case InspectTask(task_id) if state.task_index(task_id) is None and state.market_slot(task_id) is None:
            return Outcome(state, _unknown(task_id))
        case Command():  # a question: the observation answers it
            return Outcome(state)
        case _:
            msg = f"command: got {type(command).__name__}, expected a Command such as Resume(); for text use play_turn"
            raise TypeError(msg)


def refusal_after_end(state: State) -> str:
    """Return what every command is answered once the episode is over. Source: Y-9."""
    return f"the episode is over ({state.end_reason}); only reset starts a new one"


# ---- accept


def _accept(state: State, task_id: str) -> Outcome:
    """Take a task from the market, which replaces it at once unless ``refill_at`` is later.

    Source: Y-4.1, Y-2.5, X-1, X-4, K-2.1.
    """
    slot = state.market_slot(task_id)
    if slot is None:
        if state.task_index(task_id) is not None:
            return Outcome(state, f"{task_id} is already accepted")
        return Outcome(state, f"no task {shown(task_id, _SHOWN)} on the market; see market browse for the ids")
    offer = state.market[slot]
    refusal = _refusal(state, offer)
    if refusal is not None:
        return Outcome(state, refusal)
    return Outcome(
        evolve(
            state,
            tasks=(*state.tasks, _planned(state, offer)),
            # Figures that are known already; to compute them anew would take longer than all the rest.
            active_indices=state.active_indices,  # as before: the new task is planned
            status_counts={**state.status_counts, "planned": state.status_counts["planned"] + 1},
            **market_without(state, slot),
        )
    )


def _refusal(state: State, offer: MarketTask) -> str | None:
    """Return why a listed task cannot be accepted now, None when it can. Source: Y-4.1, X-1, K-2.1."""
    world, needed, counted = state.config.world, offer.required_prestige, state.counted_prestige_milli
    low = [domain for domain in sorted(offer.domains) if counted[domain] < needed * 1000]
    if low:
        any_will_do = world.prestige_gate == "highest"
        listed = range(len(DOMAINS)) if any_will_do else low
        levels = ", ".join(f"{DOMAINS[domain]} {state.prestige_milli[domain] / 1000}" for domain in listed)
        where = " in any one domain" if any_will_do else ""
        return f"{offer.task_id} requires prestige {needed}{where}; got {levels}"
    client = state.client_of(offer)
    trust = 0 if client is None else client.trust_milli
    if trust < offer.required_trust * 1000:
        return f"{offer.task_id} requires trust {offer.required_trust} with {offer.client_name}; got {trust / 1000}"
    most = world.max_open_tasks
    if most is None:  # as published; no need to count
        return None
    held = sum([state.status_counts[status] for status in _OPEN_STATUSES])
    if held < most:
        return None
    tasks = f"{held} {'task is' if held == 1 else 'tasks are'} planned or active"
    return f"{tasks}, and no more than {most} may be; dispatch and finish one, or give one up with task cancel"


def _planned(state: State, offer: MarketTask) -> Task:
    """Return an offer as a planned task with its real work and its deadline. Source: Y-4.1, K-2.1."""
    world, client = state.config.world, state.client_of(offer)
    least, quantities = world.min_task_qty, list(offer.quantities)
    adversarial = client is not None and client.is_adversarial
    if client is None:
        quantities = [max(least, quantity) for quantity in quantities]
    elif not adversarial:
        saved, trust, trust_max = world.trust_work_reduction_max, client.trust_milli, world.trust_max
        quantities = [reduced_quantity(quantity, saved, trust, trust_max, least) for quantity in quantities]
    basis = max(quantities) if world.deadline_basis == "largest" else sum(quantities)
    days = deadline_days(basis, world.deadline_qty_per_day, world.deadline_min_biz_days)
    work_us = days * (world.workday_end_hour - world.workday_start_hour) * HOUR_US
    if client is not None and adversarial:  # after the deadline is set: that is the trap
        severity, passes = world.loyalty_severity, world.adversarial_inflation_passes
        quantities = [
            inflated_quantity(quantity, severity, client.loyalty_milli, passes, least) for quantity in quantities
        ]
    return Task(
        offer=offer,
        status="planned",
        accepted_us=state.now_us,
        deadline_us=add_business(state.now_us, work_us, 1, state.calendar.open_us, state.calendar.close_us),
        required_e4=tuple(quantity * 10_000 for quantity in quantities),
        done_e4=(0,) * len(quantities),
    )


# ---- own tasks


def _own_task(state: State, task_id: str, statuses: tuple[str, ...], verb: str) -> tuple[int | None, str]:
    """Return the place of an own task in one of the statuses, or None and why it cannot be ``verb``."""
    index = state.task_index(task_id)
    if index is not None:
        status = state.tasks[index].status
        if status in statuses:
            return index, ""
        return None, f"{task_id} is {status}; only a {' or '.join(statuses)} task can be {verb}"
    if state.market_slot(task_id) is not None:
        return None, f"{task_id} is on the market; first: task accept --task-id {task_id}"
    return None, _unknown(task_id)


def _unknown(task_id: str) -> str:
    return f"no task {shown(task_id, _SHOWN)}; see task list and market browse for the ids"


def _assign(state: State, command: AssignTask) -> Outcome:
    """Put employees on a task; those already on it stay, but to name one by ``--employee-id`` is refused.

    On an active task the forecasts of everybody named are made anew, also when nobody joins. Source: Y-4.2, Y-5.2, K-3.
    """
    index, refusal = _own_task(state, command.task_id, _OPEN_STATUSES, "assigned to")
    if index is None:
        return Outcome(state, refusal)
    numbers = {employee.name: employee.number for employee in state.employees}
    unknown = [name for name in command.names if name not in numbers]
    if unknown:
        names = ", ".join(shown(name, _SHOWN) for name in unknown[:5])
        staff = list(numbers)
        known = ", ".join(staff) if len(staff) <= _SHOWN_NAMES else f"{staff[0]} to {staff[-1]}"
        several = "; --employee-id takes one, --employees several" if "," in (command.employee_id or "") else ""
        return Outcome(state, f"no employee named {names}; nobody was assigned; employees: {known}{several}")
    task = state.tasks[index]
    before = {member.employee for member in task.team}
    named = {numbers[name] for name in command.names}
    if command.employee_id is not None and named <= before:
        known = f"{command.employee_id} is already assigned to {task.task_id}"
        return Outcome(state, f"{known}; nothing was changed; --employee-id takes somebody who is not on it yet")
    # A set has no order that is the same everywhere; the team is sorted below.
    joined = [Assignment(number, state.now_us) for number in named - before]
    if not joined and task.status == "planned":  # on an active one, forecasts are remade all the same
        return Outcome(state)
    draft = Draft(state)
    team = sorted([*task.team, *joined], key=lambda member: member.employee)
    draft.tasks[index] = evolve(task, team=tuple(team))
    if task.status == "active":
        draft.reforecast(draft.active_sharing([number - 1 for number in named]))
    return Outcome(draft.freeze())


def _dispatch(state: State, task_id: str) -> Outcome:
    """Start work on a planned task. Source: Y-4.3, X-4."""
    index, refusal = _own_task(state, task_id, ("planned",), "dispatched")
    if index is None:
        return Outcome(state, refusal)
    task = state.tasks[index]
    if not task.team:
        return Outcome(
            state, f"{task.task_id} has nobody assigned; first: task assign --task-id {task.task_id} --employees Emp_1"
        )
    draft = Draft(state)
    draft.change_status(index, "active")
    draft.reforecast(draft.active_sharing(task.places))
    after = draft.freeze()
    return Outcome(refilled(after, task) if state.config.world.refill_at == "dispatch" else after)


def _cancel(state: State, task_id: str) -> Outcome:
    """Give a task up: prestige and trust are lost, its team is free. Source: Y-4.4, X-4."""
    index, refusal = _own_task(state, task_id, _OPEN_STATUSES, "cancelled")
    if index is None:
        return Outcome(state, refusal)
    world = state.config.world
    draft = Draft(state)
    task = state.tasks[index]
    draft.change_status(index, "cancelled", completion_us=None, milestone_us=None)
    num, den = world.penalty_cancel_multiplier_ratio
    for domain in task.offer.domains:
        draft.prestige_milli[domain] = prestige_after_loss(
            draft.prestige_milli[domain], task.offer.prestige_delta_milli, num, den, world.prestige_min_milli
        )
    # No other client minds: only a completion lowers trust elsewhere.
    for place, client in enumerate(state.clients):
        if client.name == task.offer.client_name:
            draft.trust_milli[place] = trust_after_loss(client.trust_milli, world.trust_cancel_penalty)
    draft.reforecast(draft.active_sharing(task.places))
    after = draft.freeze()
    return Outcome(after if world.refill_at == "accept" else offered_again(after, task))
