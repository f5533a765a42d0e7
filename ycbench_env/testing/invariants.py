"""Invariants of states and turns; each function raises AssertionError with what is wrong, also under ``python -O``.

They compare what is reported with what happened, and compute nothing the way the library does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import numpy as np

from ycbench_env.types.codec import check_world
from ycbench_env.types.state import MarketTask, State, evolve

_OPEN: Final = {"planned", "active"}
_STORED_E4: Final = 1  # what storing with 4 places may add to a rate
_MOST_SHOWN: Final = 200  # characters of a value in a message


def require(condition: object, message: str) -> None:
    """Raises AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def require_equal(got: object, expected: object, what: str) -> None:
    """Raises AssertionError with the first place where two nests of values differ in value or type."""
    # Keys and lengths come before what is inside, so both sides go side by side up to the first difference.
    for one, other in zip(_leaves(got), _leaves(expected), strict=False):
        if one != other:
            shown = (f"{_cut(repr(value))} ({kind})" for _, kind, value in (one, other))
            message = f"{what}: {one[0] or 'value'} is " + ", expected ".join(shown)
            raise AssertionError(message)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str, object]]:  # noqa: ANN401 -- whatever is compared
    """Yield path, type and content of every plain value, and of every container its keys or its length."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        kind, value = f"{array.dtype} {array.shape}", array.tolist()
    if isinstance(value, dict):
        items: list[tuple[object, Any]] = list(cast("dict[object, Any]", value).items())
        yield path, f"{kind}, its keys", [key for key, _ in items]
    elif isinstance(value, list | tuple):
        items = list(enumerate(cast("list[Any]", value)))
        yield path, f"{kind}, its length", len(items)
    else:
        yield path, kind, value
        return
    for key, item in items:
        yield from _leaves(item, f"{path}[{key!r}]")


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(text)} characters)"


def same_world(one: State, other: State) -> bool:
    """Returns whether two states are equal to the last bit, turn counters aside."""
    return evolve(one, turns_played=other.turns_played, idle_turns=other.idle_turns) == other


def acceptable(state: State, task: MarketTask) -> bool:
    """Returns whether prestige and trust allow a listed task now. Source: Y-4.1, K-2.1."""
    levels = state.prestige_milli
    needs_all = state.config.world.prestige_gate == "required_domains"
    reached = min(levels[domain] for domain in task.domains) if needs_all else max(levels)
    trust = 0 if task.client_name is None else state.client(task.client_name).trust_milli
    return reached >= task.required_prestige * 1000 and trust >= task.required_trust * 1000


# ---- one state


def check_state(state: State) -> None:
    """Checks a state by itself: bounds, clock, ids and teams as ``State.from_bytes`` does, books, market, rates."""
    try:
        check_world(state)
    except ValueError as error:
        raise AssertionError(str(error)) from error
    world, now_us = state.config.world, state.now_us
    booked = sum(entry.amount_cents for entry in state.ledger)
    require_equal(state.funds_cents, world.initial_funds_cents + booked, "funds against initial funds and ledger")
    at_end = now_us == state.calendar.horizon_us
    require(state.terminal_reason is not None or not at_end, "the clock stands at the horizon, and the episode goes on")
    _check_market(state)
    held = sum(task.status in _OPEN for task in state.tasks)
    require(world.max_open_tasks is None or held <= world.max_open_tasks, f"{held} tasks planned or active")
    tiers = {"junior": world.salary_junior, "mid": world.salary_mid, "senior": world.salary_senior}
    for employee in state.employees:
        best = tiers[employee.tier].rate_max
        # A whole budget may go to one domain: 1 + (4 x average - 4).
        if world.employee_skill_sampling == "gamma_budget":
            best = max(1, 4 * best - 3)
        most = max(world.skill_rate_max_e4, round(best * 10_000) + _STORED_E4)
        require(max(employee.rates_e4) <= most, f"{employee.name} has the rates {employee.rates_e4}")
    for task in state.tasks:
        if task.completed_us is not None:
            in_time = task.completed_us <= task.deadline_us
            require_equal(task.status == "completed_success", in_time, f"{task.task_id}: success against its deadline")
    _check_bookings(state)


def _check_market(state: State) -> None:
    """Check ids and clients, and that each slot lists a task or waits for an open one. Source: Y-2.5, X-4."""
    own = {task.task_id: task.status for task in state.tasks}
    waiting = [task.task_id for task in state.market if task.task_id in own]
    listed = [task.task_id for task in state.market if task.task_id not in own]
    ids = [*listed, *(task.task_id for task in state.tasks)]
    require(len(set(ids)) == len(ids), f"ids are not unique: {sorted(ids)}")
    require_equal(sorted(listed), sorted(gate[-1].task_id for gate in state.gates), "market")
    statuses = list(own.values())
    waits, replaced = {
        "accept": ((), len(own)),
        "dispatch": (("planned",), len(own) - statuses.count("planned")),
        "completion": (("planned", "active"), sum(status.startswith("completed") for status in statuses)),
    }[state.config.world.refill_at]
    require_equal(sorted(waiting), sorted(name for name, status in own.items() if status in waits), "slots that wait")
    given_up = statuses.count("cancelled") if state.config.world.refill_at == "dispatch" else 0
    require(replaced - given_up <= sum(state.slot_accepts) <= replaced, f"replaced {state.slot_accepts} of {own}")
    names: set[str | None] = {client.name for client in state.clients} or {None}
    for task in (*state.market, *(task.offer for task in state.tasks)):
        require(task.client_name in names, f"{task.task_id} is of {task.client_name}, clients {names}")
        require(task.required_trust == 0 or state.clients, f"{task.task_id} requires trust of nobody")


def _check_bookings(state: State) -> None:
    """Check that the ledger holds each payroll at its instant, each reward and each fee, and nothing else."""
    staff = [employee.name for employee in state.employees]
    times = state.calendar.payrolls_us[: state.payrolls_charged]
    rows = [(entry.time_us, entry.category, entry.amount_cents, entry.ref_id) for entry in state.ledger]
    payrolls = [(time_us, name) for time_us, category, _, name in rows if category == "monthly_payroll"]
    require_equal(payrolls, [(time_us, name) for time_us in times for name in staff], "payrolls booked")
    expected: list[tuple[int | None, str, int, str]] = []
    for task in state.tasks:
        reward = task.offer.reward_cents
        fee = int(reward * state.config.world.penalty_fail_funds_pct)
        if task.status == "completed_success":
            expected.append((task.completed_us, "task_reward", reward, task.task_id))
        elif task.status == "completed_fail" and fee:
            expected.append((task.completed_us, "task_fail_penalty", -fee, task.task_id))
    booked = [row for row in rows if row[1] != "monthly_payroll"]
    require_equal(sorted(booked, key=str), sorted(expected, key=str), "rewards and fees booked")


# ---- a whole turn


def check_turn(before: State, after: State) -> None:
    """Checks what a turn may do to a state: nothing comes back, nothing is lost."""
    require(after.now_us >= before.now_us, "the clock went back")
    require_equal(after.ledger[: len(before.ledger)], before.ledger, "bookings of the past")
    require_equal(len(after.clients), len(before.clients), "number of clients")
    limit = after.config.world.skill_rate_max_e4
    for old, new in zip(before.employees, after.employees, strict=True):
        require(old.salary_cents <= new.salary_cents, f"{old.name} earns less than before")
        # Read literally, Y-5.5 brings a rate above the limit down to it.
        rates = zip(old.rates_e4, new.rates_e4, strict=True)
        require(all(min(a, limit) <= b for a, b in rates), f"{old.name} unlearned")
    times = [entry.time_us for entry in after.ledger]
    require_equal(times, sorted(times), "times of the ledger")
    check_state(after)
