"""Invariants: what holds in every state, at the start of an episode, and between the states before and after a turn.

All functions return nothing and raise AssertionError with what is wrong. They compute nothing the way the library
does: they compare reports with effects, under any combination of the settings.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, cast

import numpy as np

from ycbench_env.config import Constant, SalaryTier, WorldConfig
from ycbench_env.types.state import Employee, MarketTask, State, Task, evolve

_OPEN: Final = {"planned", "active"}
_NEXT: Final = {
    "planned": {"planned", "active", "cancelled"},
    "active": {"active", "cancelled", "completed_success", "completed_fail"},
}
"""Statuses that may follow a status in one command; all others are final."""

_STORED_E4: Final = 1  # what storing with 4 places may add to a rate


def same_world(one: State, other: State) -> bool:
    """Returns whether two states are equal to the last bit, turn counters aside."""
    return evolve(one, turns_played=other.turns_played, idle_turns=other.idle_turns) == other


def own_task(state: State, task_id: str) -> Task:
    """Returns the own task of an id; AssertionError when there is none."""
    index = state.task_index(task_id)
    require(index is not None, f"there is no own task {task_id}")
    return state.tasks[index or 0]


# ---- the start of an episode


def check_start(state: State) -> None:
    """Checks what a new world is made of, as far as its settings bound it. Source: Y-2, K-1."""
    world = state.config.world
    check_state(state)
    require_equal(state.tasks, (), "own tasks at the start")
    require_equal(len(state.employees), world.num_employees, "size of the staff")
    require_equal(len(state.clients), world.num_clients, "number of clients")
    for employee in state.employees:
        _check_hired(world, employee)
    for slot, task in enumerate(state.market):
        client = state.clients[slot % len(state.clients)].name if state.clients else None
        require_equal((task.task_id, task.client_name), (f"Task-{slot + 1}", client), f"task in slot {slot}")
        if slot < len(world.market_prestige_ladder):
            rung = world.market_prestige_ladder[slot]
            require_equal(task.required_prestige, rung, f"prestige of {task.task_id} on the ladder")
        else:
            check_drawn_prestige(world, task)


def check_drawn_prestige(world: WorldConfig, task: MarketTask) -> None:
    """Checks that the prestige a task requires is one that the distribution can give."""
    dist = world.dist.required_prestige
    low, high = (dist.value, dist.value) if isinstance(dist, Constant) else (dist.low, dist.high)
    highest = int(round(high, 4))  # some draws are stored with 4 places before they are truncated (Y-1.2)
    require(int(low) <= task.required_prestige <= highest, f"{task.task_id} requires {task.required_prestige}")


def _check_hired(world: WorldConfig, employee: Employee) -> None:
    """Check salary and rates of a new employee. Source: Y-2.2, K-1.2."""
    what = f"{employee.name} ({employee.tier})"
    tier = _tiers(world)[employee.tier]
    require(tier.min_cents <= employee.salary_cents <= tier.max_cents, f"{what} earns {employee.salary_cents}")
    low, high = round(tier.rate_min * 10_000) - _STORED_E4, round(tier.rate_max * 10_000) + _STORED_E4
    rates = employee.rates_e4
    if world.employee_skill_sampling == "uniform":
        require(all(low <= rate <= high for rate in rates), f"{what} has the rates {rates}")
        return
    # An average is shared out: no rate below 1, no average above the tier's, and none of it lost below the cap of 10.
    require(min(rates) >= 10_000, f"{what} has the rates {rates}")  # noqa: PLR2004 -- 1.0
    most = len(rates) * max(high, 10_000)
    least = len(rates) * min(low, 100_000) if low > 10_000 else 0  # noqa: PLR2004 -- 1.0
    require(least - len(rates) <= sum(rates) <= most + len(rates), f"{what} has the rates {rates}")


def _tiers(world: WorldConfig) -> dict[str, SalaryTier]:
    return {"junior": world.salary_junior, "mid": world.salary_mid, "senior": world.salary_senior}


# ---- one state


def check_state(state: State) -> None:
    """Checks a state by itself: books, clock, bounds, ids, teams."""
    world = state.config.world
    calendar = state.calendar
    booked = sum(entry.amount_cents for entry in state.ledger)
    require_equal(state.funds_cents, world.initial_funds_cents + booked, "funds against initial funds and ledger")
    require(calendar.start_us <= state.now_us <= calendar.horizon_us, f"clock {state.now_us} outside the episode")
    require_equal(state.terminal_reason == "bankruptcy", state.funds_cents < 0, "bankruptcy against negative funds")
    at_end = state.now_us == calendar.horizon_us
    require(state.terminal_reason is not None or not at_end, "the clock stands at the horizon, and the episode goes on")
    require(state.terminal_reason != "horizon_end" or at_end, "horizon_end before the horizon")
    _check_market(state)
    held = sum(task.status in _OPEN for task in state.tasks)
    most = world.max_open_tasks
    require(most is None or held <= most, f"{held} tasks planned or active, at most {most}")
    require_equal(len(state.market), world.num_market_tasks, "size of the market")
    due = [time_us for time_us in calendar.payrolls_us if time_us <= state.now_us]
    require_equal(state.payrolls_charged, len(due), f"payrolls charged of {due}")
    _check_bounds(state)
    _check_clients(state)
    for task in state.tasks:
        _check_task(state, task)
    _check_bookings(state)


def _check_market(state: State) -> None:
    """Check that ids are unique and that each slot lists a task, or waits for one that is open. Source: Y-2.5, X-4."""
    own = {task.task_id: task.status for task in state.tasks}
    waiting = [task.task_id for task in state.market if task.task_id in own]
    ids = [*(task.task_id for task in state.market if task.task_id not in own), *(task.task_id for task in state.tasks)]
    require(len(set(ids)) == len(ids), f"ids are not unique: {sorted(ids)}")
    require_equal(
        sorted(ids[: len(state.market) - len(waiting)]), sorted(gate[-1].task_id for gate in state.gates), "market"
    )
    statuses = list(own.values())
    waits, replaced = {
        "accept": ((), len(own)),
        "dispatch": (("planned",), len(own) - statuses.count("planned")),
        "completion": (("planned", "active"), sum(status.startswith("completed") for status in statuses)),
    }[state.config.world.refill_at]
    require_equal(sorted(waiting), sorted(name for name, status in own.items() if status in waits), "slots that wait")
    given_up = statuses.count("cancelled") if state.config.world.refill_at == "dispatch" else 0
    require(replaced - given_up <= sum(state.slot_accepts) <= replaced, f"replaced {state.slot_accepts} of {own}")


def _check_bounds(state: State) -> None:
    world = state.config.world
    for level in state.prestige_milli:
        require(world.prestige_min_milli <= level <= world.prestige_max_milli, f"prestige {level} out of bounds")
    for client in state.clients:
        require(0 <= client.trust_milli <= round(world.trust_max * 1000), f"trust {client.trust_milli} out of bounds")
    shared = world.employee_skill_sampling == "gamma_budget"
    for employee in state.employees:
        # A whole budget may go to one domain: 1 + (4 x average - 4).
        best = _tiers(world)[employee.tier].rate_max
        hired_e4 = round((max(1, 4 * best - 3) if shared else best) * 10_000) + _STORED_E4
        for rate in employee.rates_e4:
            capped = world.skill_rate_max == "none" or rate <= max(world.skill_rate_max * 10_000 + 0.5, hired_e4)
            require(rate >= 0 and capped, f"{employee.name} has the rate {rate}")


def _check_clients(state: State) -> None:
    """Check that tasks are of clients that exist, and of nobody, without trust, where there are none."""
    names: set[str | None] = {client.name for client in state.clients} or {None}
    for task in (*state.market, *(own.offer for own in state.tasks)):
        require(task.client_name in names, f"{task.task_id} is of {task.client_name}, clients {names}")
        require(task.required_trust == 0 or state.clients, f"{task.task_id} requires trust of nobody")


def _check_bookings(state: State) -> None:
    """Check that the ledger holds each payroll at its instant, each reward and each fee, and nothing else."""
    staff = [employee.name for employee in state.employees]
    times = state.calendar.payrolls_us[: state.payrolls_charged]
    payrolls = [(entry.time_us, entry.ref_id) for entry in state.ledger if entry.category == "monthly_payroll"]
    require_equal(payrolls, [(time_us, name) for time_us in times for name in staff], "payrolls booked")
    fraction = state.config.world.penalty_fail_funds_pct
    expected = {
        (task.completed_us, "task_reward", task.offer.reward_cents, task.task_id)
        for task in state.tasks
        if task.status == "completed_success"
    }
    for task in state.tasks:
        fee = int(task.offer.reward_cents * fraction)
        if task.status == "completed_fail" and fee:
            expected.add((task.completed_us, "task_fail_penalty", -fee, task.task_id))
    rest = [entry for entry in state.ledger if entry.category != "monthly_payroll"]
    booked = [(entry.time_us, entry.category, entry.amount_cents, entry.ref_id) for entry in rest]
    require_equal(sorted(booked, key=str), sorted(expected, key=str), "rewards and fees booked")


def _check_task(state: State, task: Task) -> None:
    what = f"{task.task_id} ({task.status})"
    done = list(zip(task.done_e4, task.required_e4, strict=True))
    require(all(0 <= part <= whole for part, whole in done), f"{what}: done {task.done_e4} of {task.required_e4}")
    numbers = [member.employee for member in task.team]
    require_equal(numbers, sorted(set(numbers)), f"{what}: team")
    require(not numbers or (numbers[0] >= 1 and numbers[-1] <= len(state.employees)), f"{what}: team {numbers}")
    require(task.accepted_us <= state.now_us, f"{what}: accepted in the future")
    require_equal(task.completed_us is not None, task.status.startswith("completed"), f"{what}: time of completion")
    if task.completed_us is not None:
        require(all(part == whole for part, whole in done), f"{what}: done {task.done_e4} of {task.required_e4}")
        in_time = task.completed_us <= task.deadline_us
        require_equal(task.status == "completed_success", in_time, f"{what}: success against its deadline")
    elif task.status != "active":
        require(task.completion_us is None and task.milestone_us is None, f"{what}: it has a forecast")
    elif state.terminal_reason is None and task.completion_us is not None:
        require(task.completion_us >= state.now_us, f"{what}: its completion was passed over")


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


def check_lives(before: State, after: State) -> None:
    """Checks what one command or advance may make of each own task."""
    require(len(after.tasks) >= len(before.tasks), "a task was lost")
    for old, new in zip(before.tasks, after.tasks, strict=False):
        require_equal(new.task_id, old.task_id, "order of own tasks")
        allowed = _NEXT.get(old.status, {old.status})
        require(new.status in allowed, f"{old.task_id} went from {old.status} to {new.status}")
        require(all(a <= b for a, b in zip(old.done_e4, new.done_e4, strict=True)), f"{old.task_id} lost progress")
        require_equal(new.required_e4, old.required_e4, f"{old.task_id}: required work")


def acceptable(state: State, task: MarketTask) -> bool:
    """Returns whether prestige and trust allow a listed task now. Source: Y-4.1, K-2.1."""
    levels = state.prestige_milli
    needs_all = state.config.world.prestige_gate == "required_domains"
    reached = min(levels[domain] for domain in task.domains) if needs_all else max(levels)
    trust = 0 if task.client_name is None else state.client(task.client_name).trust_milli
    return reached >= task.required_prestige * 1000 and trust >= task.required_trust * 1000


# ---- assertions that name the place where two values differ; they hold under python -O too

_MOST_SHOWN = 200  # characters of a value in a message
_MOST_LISTED = 5  # differences in a message


def require(condition: object, message: str) -> None:
    """Raises AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def require_equal(got: object, expected: object, what: str) -> None:
    """Raises AssertionError with the places where two values differ."""
    found = list(islice(differences(got, expected), _MOST_LISTED))
    require(not found, f"{what}: " + "; ".join(found))


def differences(got: object, expected: object, path: str = "") -> Iterator[str]:  # noqa: C901 -- a branch a type
    """Yields a line for each place where two nests of dicts, lists, tuples, arrays and plain values differ."""
    here = path or "value"
    if type(got) is not type(expected):
        yield f"{here} is {_shown(got)} ({type(got).__name__}), expected {_shown(expected)} ({type(expected).__name__})"
    elif isinstance(got, np.ndarray):
        one, other = cast("np.ndarray[Any, Any]", got), cast("np.ndarray[Any, Any]", expected)
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            yield f"{here} has {one.dtype} {one.shape}, expected {other.dtype} {other.shape}"
        else:
            yield from differences(one.tolist(), other.tolist(), here)
    elif isinstance(got, dict):
        table, others = cast("dict[object, object]", got), cast("dict[object, object]", expected)
        if list(table) != list(others):
            yield f"{here} has the keys {list(table)}, expected {list(others)}"
        else:
            for key, value in table.items():
                yield from differences(value, others[key], f"{path}.{key}" if path else str(key))
    elif isinstance(got, list | tuple):
        items, wanted = cast("list[object]", got), cast("list[object]", expected)
        if len(items) != len(wanted):
            yield f"{here} has {len(items)} items, expected {len(wanted)}"
        for index, (item, other) in enumerate(zip(items, wanted, strict=False)):
            yield from differences(item, other, f"{here}[{index}]")
    elif got != expected:
        yield f"{here} is {_shown(got)}, expected {_shown(expected)}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(text)} characters)"
