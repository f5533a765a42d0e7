"""Digests of the states of one episode after another, quicker than one by one: what stays is kept as bytes."""

from __future__ import annotations

from hashlib import sha256
from itertools import compress, count
from operator import is_not
from typing import TYPE_CHECKING, Generic, TypeVar

import attrs

from ycbench_env.types.encoding import Items, Writer, ledger_bytes, offer_bytes, task_bytes, write_world

if TYPE_CHECKING:
    from collections.abc import Callable

    from ycbench_env.types.state import LedgerEntry, MarketTask, State, Task

__all__ = ["StateDigests"]

_Item = TypeVar("_Item")


@attrs.define
class _KeptList(Generic[_Item]):
    """The last state's list and the bytes of each item: the same object in the same place has the same bytes."""

    items: tuple[_Item, ...] = ()
    data: list[bytes] = attrs.field(factory=list[bytes])

    def changed(self, items: tuple[_Item, ...]) -> list[int]:
        """Return the places in which both lists have an item, and not the same one."""
        return list(compress(count(), map(is_not, self.items, items)))

    def take(self, items: tuple[_Item, ...], changed: list[int], encoded: Callable[[_Item], bytes]) -> None:
        """Go on to a list; ``changed`` are its changed places."""
        del self.data[len(items) :]
        for place in changed:
            self.data[place] = encoded(items[place])
        self.data += [encoded(item) for item in items[len(self.data) :]]
        self.items = items


@attrs.define
class _KeptLedger:
    """The last state's bookings as bytes, for a ledger that goes on from there; a booking names a task by its place."""

    entries: tuple[LedgerEntry, ...] = ()
    places: dict[str, int] = attrs.field(factory=dict[str, int])
    tasks: int = 0
    data: bytearray = attrs.field(factory=bytearray)

    def goes_on_to(self, state: State) -> bool:
        """Return whether a state's ledger begins with these bookings, of the same tasks; those must have their ids."""
        new_ids = [task.task_id for task in state.tasks[self.tasks :]]
        return state.ledger[: len(self.entries)] == self.entries and self.places.keys().isdisjoint(new_ids)

    def take(self, state: State) -> None:
        """Go on to the ledger of a state."""
        before_us = self.entries[-1].time_us if self.entries else state.calendar.start_us
        for place, task in enumerate(state.tasks[self.tasks :], self.tasks):
            self.places[task.task_id] = place
        self.data += ledger_bytes(state.ledger[len(self.entries) :], self.places, before_us)
        self.entries, self.tasks = state.ledger, len(state.tasks)


class StateDigests:
    """Digests of the states of one episode, quicker than one by one: what stays as it was is kept as bytes.

    Parts of a state are frozen values, so the same object has the same bytes; a busy year has thousands of tasks and
    bookings that are over. One state's bytes are kept, of whatever episode it is.
    """

    def __init__(self) -> None:
        self._begin((0, ()))

    def _begin(self, world: tuple[int, tuple[str, ...]]) -> None:
        """Keep nothing; bytes depend on the start of the run and the clients' names."""
        self._world = world
        self._market: _KeptList[MarketTask] = _KeptList()
        self._tasks: _KeptList[Task] = _KeptList()
        self._ledger = _KeptLedger()

    def __reduce__(self) -> tuple[type[StateDigests], tuple[()]]:
        """Copy and pickle it without what is kept, which a copy makes anew."""
        return StateDigests, ()

    def of(self, state: State) -> str:
        """Return what ``state_digest`` returns."""
        start_us, names = state.calendar.start_us, [client.name for client in state.clients]
        if (start_us, tuple(names)) != self._world:
            self._begin((start_us, tuple(names)))
        changed = self._tasks.changed(state.tasks)
        if not (self._keeps_ids(state.tasks, changed) and self._ledger.goes_on_to(state)):
            self._ledger = _KeptLedger()
        self._ledger.take(state)
        self._tasks.take(state.tasks, changed, lambda task: task_bytes(task, names, start_us))
        offers = self._market.changed(state.market)
        self._market.take(state.market, offers, lambda offer: offer_bytes(offer, names))
        writer = Writer()
        write_world(writer, state, Items(self._market.data, self._tasks.data, self._ledger.data))
        return sha256(writer.data).hexdigest()

    def _keeps_ids(self, tasks: tuple[Task, ...], changed: list[int]) -> bool:
        """Return whether each task of the last state has its id still, in its place."""
        before = self._tasks.items
        return len(tasks) >= len(before) and all(before[place].task_id == tasks[place].task_id for place in changed)
