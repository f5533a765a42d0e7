"""The market after a task is accepted, replaced or given up. Source: Y-2.5, X-4."""

from bisect import bisect_left, insort
from operator import itemgetter

from ycbench_env.generator import relisted, replacement
from ycbench_env.types.state import Gate, MarketTask, State, Task, evolve, gate_of


def market_without(state: State, slot: int) -> dict[str, object]:
    """Return the fields of a state that change when the task listed in a slot is accepted. Source: Y-2.5, X-4."""
    gates = list(state.gates)
    del gates[bisect_left(gates, gate_of(slot, state.market[slot])[0], key=itemgetter(0))]
    if state.config.world.refill_at != "accept":
        return {"gates": tuple(gates)}
    return _replaced(state, slot, gates)


def refilled(state: State, task: Task) -> State:
    """Return a state in which the market has replaced an accepted task; the state itself if it has so already.

    Source: X-4.
    """
    slot = state.slot_of(task.task_id)
    return state if slot is None else evolve(state, **_replaced(state, slot, list(state.gates)))


def offered_again(state: State, task: Task) -> State:
    """Return a state in which the market lists a task again that was given up before it was replaced. Source: X-4."""
    slot = state.slot_of(task.task_id)
    if slot is None:
        return state
    return evolve(state, **_listed(state, slot, list(state.gates), relisted(state, slot)))


def _replaced(state: State, slot: int, gates: list[Gate]) -> dict[str, object]:
    accepts = list(state.slot_accepts)
    accepts[slot] += 1
    return {**_listed(state, slot, gates, replacement(state, slot)), "slot_accepts": tuple(accepts)}


def _listed(state: State, slot: int, gates: list[Gate], newcomer: MarketTask) -> dict[str, object]:
    """Return the fields of a state that change when a task comes into a slot; the gates need no sorting anew."""
    market = list(state.market)
    market[slot] = newcomer
    insort(gates, gate_of(slot, newcomer))
    return {"market": tuple(market), "gates": tuple(gates)}
