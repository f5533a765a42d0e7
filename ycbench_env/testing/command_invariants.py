"""What holds between the states before and after one command, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs

from ycbench_env.testing.advance_invariants import check_advance
from ycbench_env.testing.assertions import require, require_equal
from ycbench_env.testing.invariants import check_drawn_prestige, check_lives, own_task, same_world
from ycbench_env.testing.query_invariants import acceptable, check_query
from ycbench_env.types.command import AcceptTask, AssignTask, CancelTask, Command, DispatchTask, Resume
from ycbench_env.types.state import MarketTask, State, Task
from ycbench_env.units import iso_time
from ycbench_env.vocabulary import DOMAINS

__all__ = ["check_answer"]

_DAY_US: Final = 86_400_000_000
_HOUR_US: Final = 3_600_000_000
_THURSDAY: Final = 3  # the weekday of day 0
_WORKDAYS: Final = 5  # a week; also the first weekday that is none


def check_answer(before: State, command: Command, after: State, result: dict[str, Any]) -> None:
    """Checks the answer to one command against what it did.

    Args:
        before: The state before the command.
        command: The command.
        after: The state after it, without a forced advance.
        result: Its ``{"command", "ok", "output"}``.
    """
    output = result["output"]
    if not result["ok"]:
        require(same_world(before, after), f"the refused {command} changed the world")
        require(isinstance(output["error"], str) and output["error"], f"{command}: a refusal without reason")
        _check_refused(before, command, output["error"])
        return
    if not isinstance(command, AcceptTask | AssignTask | DispatchTask | CancelTask | Resume):
        require(same_world(before, after), f"{command} only asks, and changed the world")
        check_query(before, command, output)
        return
    if not isinstance(command, Resume):
        require_equal(after.now_us, before.now_us, f"clock after {command}")
        require_equal(after.ledger, before.ledger, f"ledger after {command}")
        require_equal(after.employees, before.employees, f"staff after {command}")
        check_lives(before, after)
    match command:
        case AcceptTask():
            _check_accepted(before, after, output)
        case AssignTask():
            _check_assigned(before, command, after, output)
        case DispatchTask():
            _check_dispatched(before, command, after, output)
        case CancelTask():
            _check_cancelled(before, command, after, output)
        case Resume():
            _check_resumed(before, after, output)


def _check_refused(state: State, command: Command, error: str) -> None:
    """Check that a command that the rules allow was not refused. Source: Y-4.1, Y-4.5, X-1, K-2.1, K-2.4."""
    if state.end_reason is not None:
        return
    if isinstance(command, Resume):
        needs_work = state.config.world.resume_requires_active_task
        require(needs_work and not _works(state), f"a resume was refused: {error}")
    if isinstance(command, AcceptTask):
        listed = [task for task in state.market_by_reward if task.task_id == command.task_id]
        allowed = bool(listed) and acceptable(state, listed[0]) and _has_room(state)
        require(not allowed, f"{command} was refused: {error}")


def _works(state: State) -> bool:
    return any(task.status == "active" for task in state.tasks)


def _has_room(state: State) -> bool:
    most = state.config.world.max_open_tasks
    return most is None or sum(task.status in {"planned", "active"} for task in state.tasks) < most


# ---- accept


def _check_accepted(before: State, after: State, output: dict[str, Any]) -> None:
    task = after.tasks[-1]
    slot = before.market_slot(task.task_id)
    require_equal(len(after.tasks), len(before.tasks) + 1, "number of own tasks after an accept")
    require(slot is not None and after.market_slot(task.task_id) is None, "an accepted task stayed on the market")
    new = after.market[slot or 0]
    expected = {
        "task_id": task.task_id,
        "status": "planned",
        "accepted_at": iso_time(before.now_us),
        "deadline": iso_time(task.deadline_us),
        "replacement_task_id": new.task_id if before.config.world.refill_at == "accept" else None,
    }
    require_equal(output, expected, "answer to an accept")
    require(_has_room(before), f"{task.task_id} was accepted without room for it")
    require(acceptable(before, task.offer), f"{task.task_id} was accepted, and needs more than there is")
    _check_terms(before, task)
    if before.config.world.refill_at == "accept":
        _check_replacement(before, slot or 0, new)
    else:
        require_equal(after.market, before.market, "slots after an accept")
    require_equal(after.clients, before.clients, "clients after an accept")
    require_equal(after.prestige_milli, before.prestige_milli, "prestige after an accept")


def _check_replacement(before: State, slot: int, new: MarketTask) -> None:
    """Check number, client and prestige of what comes into a slot. Source: Y-2.5, K-1.4."""
    world = before.config.world
    old = before.market[slot]
    by_episode = world.replacement_numbering == "episode"
    number = sum(before.slot_accepts) if by_episode else slot * 1000 + before.slot_accepts[slot]
    require_equal(new.number, number, f"number of the replacement of {old.task_id}")
    require_equal(new.client_name, old.client_name, "client of a replacement")
    if world.replacement_prestige == "same":
        require_equal(new.required_prestige, old.required_prestige, "prestige of a replacement")
    else:
        check_drawn_prestige(world, new)


def _check_terms(before: State, task: Task) -> None:
    """Check work and deadline of an accepted task. Source: Y-4.1, K-2.1."""
    world = before.config.world
    agreed = [_agreed(before, task.offer, quantity) for quantity in task.offer.quantities]
    basis = max(agreed) if world.deadline_basis == "largest" else sum(agreed)
    days = max(world.deadline_min_biz_days, int(basis / world.deadline_qty_per_day))
    require_equal(task.deadline_us, _workdays_later(before, days), f"deadline of {task.task_id}, {days} workdays")
    required = [_inflated(before, task.offer, quantity) * 10_000 for quantity in agreed]
    require_equal(list(task.required_e4), required, f"work of {task.task_id}")
    require_equal(task.done_e4, (0,) * len(required), f"work done of {task.task_id}")


def _agreed(state: State, offer: MarketTask, quantity: int) -> int:
    """Returns the work in a domain that the deadline is made for."""
    world = state.config.world
    if offer.client_name is None:
        return max(world.min_task_qty, quantity)
    client = state.client(offer.client_name)
    if client.is_adversarial:
        return quantity
    saved = world.trust_work_reduction_max * (client.trust_milli / 1000 / world.trust_max)
    return max(world.min_task_qty, int(quantity * (1 - saved)))


def _inflated(state: State, offer: MarketTask, quantity: int) -> int:
    """Returns the work in a domain that there really is."""
    world = state.config.world
    if offer.client_name is None or not state.client(offer.client_name).is_adversarial:
        return quantity
    growth = 1 + max(3, world.loyalty_severity * abs(state.client(offer.client_name).loyalty_milli / 1000))
    for _ in range(world.adversarial_inflation_passes):
        quantity = int(min(25_000, max(world.min_task_qty, quantity * growth)))
    return quantity


def _workdays_later(state: State, days: int) -> int:
    """Returns the instant so many whole workdays of business time from now. Source: Y-3.2."""
    open_us, close_us = state.calendar.open_us, state.calendar.close_us
    day, offset_us = divmod(state.now_us, _DAY_US)
    if offset_us >= close_us:
        day, offset_us = day + 1, open_us
    while _weekday(day) >= _WORKDAYS:
        day, offset_us = day + 1, open_us
    offset_us = max(offset_us, open_us)
    if days and offset_us == open_us:  # it ends with the last of the days, not with the start of the next
        days, offset_us = days - 1, close_us
    weeks, further = divmod(_weekday(day) + days, _WORKDAYS)
    return (day - _weekday(day) + weeks * 7 + further) * _DAY_US + offset_us


def _weekday(day: int) -> int:
    return (day + _THURSDAY) % 7


# ---- assign, dispatch, cancel


def _check_assigned(before: State, command: AssignTask, after: State, output: dict[str, Any]) -> None:
    old, new = own_task(before, command.task_id), own_task(after, command.task_id)
    earlier = {member.employee for member in old.team}
    team = [f"Emp_{member.employee}" for member in new.team]
    require_equal(output["total_assigned"], team, "total_assigned")
    joined = [f"Emp_{member.employee}" for member in new.team if member.employee not in earlier]
    require_equal(output["newly_assigned"], joined, "newly_assigned")
    require_equal(set(team), {f"Emp_{n}" for n in earlier} | set(command.names), "team after an assign")
    require(command.employee_id is None or joined, f"{command} was carried out, and that employee was on it")
    kept = [member for member in new.team if member.employee in earlier]
    require_equal(kept, list(old.team), "those who were on the team before")


def _check_dispatched(before: State, command: DispatchTask, after: State, output: dict[str, Any]) -> None:
    task = own_task(after, command.task_id)
    if before.config.world.refill_at == "dispatch":
        slot = before.slot_of(task.task_id) or 0
        _check_replacement(before, slot, after.market[slot])
    names = _names(task)
    require_equal((task.status, output["status"]), ("active", "active"), "status after a dispatch")
    require_equal((output["assigned_employees"], output["assignment_count"]), (names, len(names)), "team dispatched")
    require(names, "a task without a team was dispatched")


def _names(task: Task) -> Sequence[str]:
    return [f"Emp_{member.employee}" for member in task.team]


def _check_cancelled(before: State, command: CancelTask, after: State, output: dict[str, Any]) -> None:
    task = own_task(after, command.task_id)
    require_equal((task.status, output["status"]), ("cancelled", "cancelled"), "status after a cancel")
    require_equal(output["reason"], command.reason, "reason of a cancel")
    slot = before.slot_of(task.task_id)
    if slot is not None:  # it comes back as it was, under another id
        again = after.market[slot]
        require_equal(attrs.evolve(again, copy=task.offer.copy), task.offer, "a task offered again")
    changes: dict[str, Any] = {}
    floor = before.config.world.prestige_min_milli
    for domain, (old, new) in enumerate(zip(before.prestige_milli, after.prestige_milli, strict=True)):
        if domain not in task.offer.domains:
            require_equal(new, old, f"prestige in {DOMAINS[domain]} after a cancel elsewhere")
            continue
        changes[DOMAINS[domain]] = {"old": old / 1000, "new": new / 1000, "delta": (old - new) / 1000}
        nominal = output["cancel_penalty_per_domain"] * 1000
        require(new == floor or abs(old - new - nominal) <= 1, f"prestige fell by {old - new}, penalty {nominal}")
    require_equal(output["prestige_changes"], changes, "prestige_changes of a cancel")
    told = round(output["trust_delta"] * 1000)
    require(before.clients or told == 0, f"a cancel cost {told} of nobody's trust")
    for old, new in zip(before.clients, after.clients, strict=True):
        delta = new.trust_milli - old.trust_milli
        own = new.name == task.offer.client_name
        require_equal(delta, told if own else 0, f"trust of {new.name} after a cancel")
        require(delta <= 0, "a cancel brought trust")


# ---- resume


def _check_resumed(before: State, after: State, output: dict[str, Any]) -> None:
    events = output["wake_events"]
    expected = {
        "ok": True,
        "old_sim_time": iso_time(before.now_us),
        "new_sim_time": iso_time(after.now_us),
        "checkpoint_event_type": events[-1]["type"] if events else None,
        "events_processed": len(events),
        "payrolls_applied": after.payrolls_charged - before.payrolls_charged,
        "balance_delta": after.funds_cents - before.funds_cents,
        "wake_events": events,
        "bankrupt": after.funds_cents < 0,
        "horizon_reached": after.terminal_reason == "horizon_end",
        "terminal_reason": after.terminal_reason,
    }
    require_equal(output, expected, "answer to a resume")
    needs_work = before.config.world.resume_requires_active_task
    require(_works(before) or not needs_work, "a resume without an active task was carried out")
    check_advance(before, after, events)
