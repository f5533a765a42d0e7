"""States as bytes, the same on every machine, and their hash.

Layout of version 1: magic ``YCBS``, one version byte, CRC-32 of the rest (4 bytes, big-endian), then the configuration
as canonical JSON, the turn counters and the world. Integers are zigzag varints (little groups of 7 bits first); texts
are UTF-8 behind their length; lists stand behind their number of items. A row holds the plain figures of a value in the
order of its attrs fields, then the elements of its tuples; a word is its place in a list. Times are stored as distances
from what comes before them, which keeps a busy year well under 50 kB. Nothing derived is stored.

Bytes may come from anybody: whatever they are, reading ends in a ``StateError`` or in a state that can be played.
"""

from __future__ import annotations

import datetime as dt
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import compress, count
from operator import attrgetter, is_not
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

import attrs

from ycbench_env.config import Config
from ycbench_env.errors import ConfigError, StateError
from ycbench_env.rules.clock import DAY_US
from ycbench_env.rules.economy import HIGHEST_RATE_E4, HIGHEST_SALARY_CENTS, deadline_days
from ycbench_env.text import shown
from ycbench_env.types.state import Assignment, Calendar, Client, Employee, LedgerEntry, MarketTask, State, Task, evolve
from ycbench_env.units import micros_of_date
from ycbench_env.vocabulary import CLIENT_NAMES, DOMAINS, LEDGER_CATEGORIES, OWN_STATUSES, TIERS

STATE_VERSION: Final = 1
_MAGIC: Final = b"YCBS"
_HEAD: Final = len(_MAGIC) + 1 + 4
_END_REASONS: Final = (None, "bankruptcy", "horizon_end")
_CLIENT_TIERS: Final = ("Standard", "Premium", "Enterprise")
_LOW_BITS: Final = 0x7F  # a byte of a varint: seven bits and a flag that more follow
_MORE: Final = 0x80
_NOBODY: Final = -1
_PAYROLL: Final = LEDGER_CATEGORIES.index("monthly_payroll")
_T = TypeVar("_T")


class _Row(Generic[_T]):
    """How the values of a class are written as one list of integers."""

    def __init__(self, cls: type[_T], /, **words: Sequence[object]) -> None:
        """Find out which fields are figures, words and tuples of figures; other fields are written apart."""
        types = {field.name: field.type for field in attrs.fields(cast("Any", cls))}
        self.cls = cls
        self.words = words
        self.figures = [name for name, kind in types.items() if kind == "int" or name in words]
        self.tuples = [name for name, kind in types.items() if kind == "tuple[int, ...]"]
        self.places = [(self.figures.index(name), values.index) for name, values in words.items()]
        self._plain: Callable[[_T], tuple[Any, ...]] = attrgetter(*self.figures)
        self._tuple_getters = [attrgetter(name) for name in self.tuples]

    def integers(self, value: _T) -> list[int]:
        """Return a value as integers."""
        numbers: list[Any] = [*self._plain(value)]
        for place, index in self.places:
            numbers[place] = index(numbers[place])
        for tuple_of in self._tuple_getters:
            numbers += tuple_of(value)
        return numbers

    def fields(self, numbers: Sequence[int]) -> dict[str, Any]:
        """Return the fields of the value that these integers are; its tuples have equal lengths."""
        rest = len(numbers) - len(self.figures)
        _require(rest >= 0 and rest % len(self.tuples or " ") == 0, f"a {self.cls.__name__} of {len(numbers)} numbers")
        fields: dict[str, Any] = dict(zip(self.figures, numbers, strict=False))
        for name, values in self.words.items():
            fields[name] = _word(values, fields[name])
        each = rest // len(self.tuples or " ")
        for place, name in enumerate(self.tuples):
            start = len(self.figures) + place * each
            fields[name] = tuple(numbers[start : start + each])
        return fields


_EMPLOYEE: Final = _Row(Employee, tier=TIERS)
_CLIENT: Final = _Row(Client, tier=_CLIENT_TIERS)
_OFFER: Final = _Row(MarketTask)
_TASK: Final = _Row(Task, status=OWN_STATUSES)


# -------------------------------------------------------------------------------------------------------------- writing


def state_to_bytes(state: State) -> bytes:
    """Return a state as bytes, equal for equal states on every machine."""
    settings = json.dumps(state.config.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    body = bytearray()
    _put_text(body, settings)
    _put(body, (state.turns_played, state.idle_turns))
    _put_world(body, state, _items_of(state))
    return _MAGIC + bytes([STATE_VERSION]) + zlib.crc32(body).to_bytes(4, "big") + body


def state_digest(state: State) -> str:
    """Return the SHA-256 of the world as hex: money, clock, tasks, staff and clients, no turn counters."""
    body = bytearray()
    _put_world(body, state, _items_of(state))
    return sha256(body).hexdigest()


def _put_integer(data: bytearray, value: int) -> None:
    """Write a number as a zigzag varint."""
    rest = value << 1 if value >= 0 else ~(value << 1)
    while rest > _LOW_BITS:
        data.append(rest & _LOW_BITS | _MORE)
        rest >>= 7
    data.append(rest)


def _put(data: bytearray, values: Sequence[int]) -> None:
    """Write numbers behind how many they are; ``_put_integer`` written out, since a world is thousands of them."""
    append = data.append
    for value in (len(values), *values):
        rest = value << 1 if value >= 0 else ~(value << 1)
        while rest > _LOW_BITS:
            append(rest & _LOW_BITS | _MORE)
            rest >>= 7
        append(rest)


def _put_text(data: bytearray, value: str) -> None:
    """Write a text behind its length in bytes."""
    encoded = value.encode()
    _put_integer(data, len(encoded))
    data += encoded


class _Items(NamedTuple):
    """The long lists of a world as bytes: of each listed task, of each accepted one, of all bookings together."""

    market: Sequence[bytes]
    tasks: Sequence[bytes]
    ledger: bytes | bytearray


def _items_of(state: State) -> _Items:
    start_us, names = state.calendar.start_us, [client.name for client in state.clients]
    places = {task.task_id: place for place, task in enumerate(state.tasks)}
    return _Items(
        market=[_offer_bytes(offer, names) for offer in state.market],
        tasks=[_task_bytes(task, names, start_us) for task in state.tasks],
        ledger=_ledger_bytes(state.ledger, places, start_us),
    )


def _put_world(data: bytearray, state: State, items: _Items) -> None:
    """Write the world: money, clock, staff, clients, and the long lists, ``_items_of(state)``."""
    _put(data, (state.run_seed, state.now_us - state.calendar.start_us, state.funds_cents, state.payrolls_charged))
    _put_integer(data, _END_REASONS.index(state.terminal_reason))
    _put(data, state.prestige_milli)
    _put_integer(data, len(state.employees))
    for employee in state.employees:
        _put(data, _EMPLOYEE.integers(employee))
    _put_integer(data, len(state.clients))
    for client in state.clients:
        _put_text(data, client.name)
        _put(data, _CLIENT.integers(client))
    _put(data, state.slot_accepts)
    for rows in (items.market, items.tasks):
        _put_integer(data, len(rows))
        data += b"".join(rows)
    _put_integer(data, len(state.ledger))
    data += items.ledger


def _put_offer(data: bytearray, offer: MarketTask, names: list[str]) -> None:
    numbers = _OFFER.integers(offer)
    numbers.insert(2, _NOBODY if offer.client_name is None else names.index(offer.client_name))
    _put(data, numbers)


def _offer_bytes(offer: MarketTask, names: list[str]) -> bytes:
    """Return a task of the market as bytes; ``names`` are the clients' in the order of the world."""
    data = bytearray()
    _put_offer(data, offer, names)
    return bytes(data)


def _task_bytes(task: Task, names: list[str], start_us: int) -> bytes:
    """Return an accepted task as bytes; ``start_us`` is the start of the run."""
    data = bytearray()
    _put_offer(data, task.offer, names)
    numbers, accepted_us = _TASK.integers(task), task.accepted_us
    numbers[1] -= start_us
    numbers[2] -= accepted_us
    _put(data, numbers)
    for time_us in (task.completed_us, task.completion_us, task.milestone_us):
        # None is 0, and what is not negative makes room for it.
        after_us = None if time_us is None else time_us - accepted_us
        _put_integer(data, 0 if after_us is None else after_us + 1 if after_us >= 0 else after_us)
    _put_integer(data, len(task.team))
    before_us = accepted_us
    for member in task.team:
        _put_integer(data, member.employee)
        _put_integer(data, member.assigned_us - before_us)  # mostly 0: a team is assigned at once
        before_us = member.assigned_us
    return bytes(data)


def _ledger_bytes(entries: Iterable[LedgerEntry], places: Mapping[str, int], before_us: int) -> bytearray:
    """Return bookings as bytes.

    Args:
        entries: The bookings.
        places: Place of each accepted task by its id.
        before_us: When the booking before them was made; the start of the run for the first.
    """
    data = bytearray()
    for entry in entries:
        category = LEDGER_CATEGORIES.index(entry.category)
        ref = int(entry.ref_id.removeprefix("Emp_")) if category == _PAYROLL else places[entry.ref_id]
        _put(data, (entry.time_us - before_us, category, entry.amount_cents, ref))
        before_us = entry.time_us
    return data


# -------------------------------------------------------------------------------------------------------------- reading

_LONGEST_INTEGER: Final = 4_200  # bits; a run seed is below 2**4096


class _UnfitError(ValueError):
    """The bytes are no world; the message says why. Becomes a StateError."""


def _require(holds: bool, what: str) -> None:  # noqa: FBT001 -- reads like an assertion
    if not holds:
        raise _UnfitError(what)


def _word(words: Sequence[_T], place: int) -> _T:
    _require(0 <= place < len(words), f"there is no word {shown(place)} of {len(words)}")
    return words[place]


@attrs.define
class _Reader:
    """Reads bytes once from left to right; the time is linear in them."""

    data: bytes
    place: int = 0

    def integer(self) -> int:
        data, place = self.data, self.place
        value = shift = 0
        byte = _MORE
        try:
            while byte >= _MORE:
                byte = data[place]
                place += 1
                value |= (byte & _LOW_BITS) << shift
                shift += 7
                if shift > _LONGEST_INTEGER:
                    break
        except IndexError:
            place = -1
        if byte >= _MORE:
            message = "the bytes end too early, or a number is too long"
            raise _UnfitError(message)
        self.place = place
        return value >> 1 if value & 1 == 0 else -((value + 1) >> 1)

    def count(self) -> int:
        """Return how many items follow; each has a byte at least."""
        number = self.integer()
        _require(0 <= number <= len(self.data) - self.place, f"a list of {shown(number)} items")
        return number

    def integers(self) -> list[int]:
        return [self.integer() for _ in range(self.count())]

    def items(self, read: Callable[[], _T]) -> tuple[_T, ...]:
        return tuple([read() for _ in range(self.count())])

    def text(self) -> str:
        length = self.count()
        self.place += length
        return self.data[self.place - length : self.place].decode()

    def optional(self) -> int | None:
        value = self.integer()
        return None if value == 0 else value - 1 if value > 0 else value


def state_from_bytes(data: bytes) -> State:
    """Return the state that ``state_to_bytes`` wrote.

    Raises:
        StateError: The bytes are no state, of another version, damaged, or a world that its configuration cannot have;
            the message says which.
    """
    if not isinstance(cast("object", data), bytes | bytearray | memoryview):
        msg = f"no saved state: got {type(data).__name__}, expected the bytes that to_bytes wrote"
        raise StateError(msg)
    if bytes(data[: len(_MAGIC)]) != _MAGIC:
        msg = f"no saved state: expected the bytes to begin with {_MAGIC!r}, got {bytes(data[:4])!r}"
        raise StateError(msg)
    version = data[len(_MAGIC)] if len(data) > len(_MAGIC) else None
    if version != STATE_VERSION:
        msg = f"saved state has version {version}, expected {STATE_VERSION}; load it with the version that wrote it"
        raise StateError(msg)
    body = bytes(data[_HEAD:])
    if zlib.crc32(body) != int.from_bytes(data[_HEAD - 4 : _HEAD], "big"):
        msg = "saved state is damaged: its checksum does not match; was the file cut short?"
        raise StateError(msg)
    reader = _Reader(body)
    try:
        settings = json.loads(reader.text())
        _require(isinstance(settings, dict), f"its configuration is {type(settings).__name__}, expected tables")
        config = Config.from_dict(settings)
        counters = reader.integers()
        _require(len(counters) == 2, "turn counters")  # noqa: PLR2004 -- played and idle
        state = evolve(_read_world(reader, config), turns_played=counters[0], idle_turns=counters[1])
        _require(reader.place == len(body), f"{len(body) - reader.place} bytes too many")
        _check(state)
    except (ConfigError, ValueError, RecursionError) as error:  # ValueError: also of a text that is no UTF-8, no JSON
        msg = f"saved state does not fit this version: {error}"
        raise StateError(msg) from error
    return state


def _read_world(reader: _Reader, config: Config) -> State:
    calendar = Calendar.from_config(config)
    start_us = calendar.start_us
    figures = reader.integers()
    _require(len(figures) == 4, "seed, clock, funds and payrolls")  # noqa: PLR2004 -- these
    reason = _word(_END_REASONS, reader.integer())
    prestige_milli = tuple(reader.integers())
    employees = reader.items(lambda: Employee(**_EMPLOYEE.fields(reader.integers())))
    clients = reader.items(lambda: Client(name=reader.text(), **_CLIENT.fields(reader.integers())))
    names = [client.name for client in clients]
    slot_accepts = tuple(reader.integers())
    market = reader.items(lambda: _read_offer(reader, names))
    tasks = reader.items(lambda: _read_task(reader, names, start_us))
    return State(
        config=config,
        run_seed=figures[0],
        calendar=calendar,
        now_us=start_us + figures[1],
        funds_cents=figures[2],
        prestige_milli=prestige_milli,
        employees=employees,
        clients=clients,
        market=market,
        slot_accepts=slot_accepts,
        tasks=tasks,
        ledger=_read_ledger(reader, tasks, start_us),
        payrolls_charged=figures[3],
        terminal_reason=reason,
    )


def _read_offer(reader: _Reader, names: list[str]) -> MarketTask:
    numbers = reader.integers()
    client = numbers.pop(2) if len(numbers) > 2 else _NOBODY  # noqa: PLR2004 -- where it stands
    return MarketTask(client_name=None if client == _NOBODY else _word(names, client), **_OFFER.fields(numbers))


def _read_task(reader: _Reader, names: list[str], start_us: int) -> Task:
    offer = _read_offer(reader, names)
    fields = _TASK.fields(reader.integers())
    accepted_us = fields["accepted_us"] = fields["accepted_us"] + start_us
    fields["deadline_us"] += accepted_us
    for name in ("completed_us", "completion_us", "milestone_us"):
        time_us = reader.optional()
        fields[name] = None if time_us is None else accepted_us + time_us
    team: list[Assignment] = []
    assigned_us = accepted_us
    for _ in range(reader.count()):
        employee = reader.integer()
        assigned_us += reader.integer()
        team.append(Assignment(employee, assigned_us))
    return Task(offer=offer, team=tuple(team), **fields)


def _read_ledger(reader: _Reader, tasks: tuple[Task, ...], start_us: int) -> tuple[LedgerEntry, ...]:
    ledger: list[LedgerEntry] = []
    time_us = start_us
    for _ in range(reader.count()):
        row = reader.integers()
        _require(len(row) == 4, f"a booking of {len(row)} numbers")  # noqa: PLR2004 -- time, category, amount, reference
        time_us += row[0]
        category = _word(LEDGER_CATEGORIES, row[1])
        name = f"Emp_{row[3]}" if row[1] == _PAYROLL else _word(tasks, row[3]).task_id
        ledger.append(LedgerEntry(time_us, category, row[2], name))
    return tuple(ledger)


# ------------------------------------------------------------------------------------------------------------- checking

_MOST: Final = 2**62  # cents, microseconds and counters: sums of a few stay within 64 bits
_MOST_FORECAST: Final = 2**200  # a team of beginners on a thousand tasks is done after the end of the world
_LAST_DAY_US: Final = micros_of_date(dt.date.max)
_SEED_BOUND: Final = 2**4096


def _check(state: State) -> None:
    """Refuse a world that its configuration cannot have; what is left can be played.

    Whether money and levels are earned only a replay can tell.
    """
    world, calendar, now_us = state.config.world, state.calendar, state.now_us
    payrolls, charged = calendar.payrolls_us, state.payrolls_charged
    _require(0 <= state.run_seed < _SEED_BOUND, "the run seed")
    _require(calendar.start_us <= now_us <= calendar.horizon_us, f"the clock stands at {shown(now_us)}")
    _require(-_MOST < state.funds_cents < _MOST, "the funds")
    _require((state.terminal_reason == "bankruptcy") == (state.funds_cents < 0), "bankruptcy against the funds")
    _require(state.terminal_reason != "horizon_end" or now_us == calendar.horizon_us, "the end before the horizon")
    _require(0 <= charged <= len(payrolls), "the payrolls")
    _require(all(payroll_us <= now_us for payroll_us in payrolls[:charged]), "a payroll before its time")
    _require(all(payroll_us >= now_us for payroll_us in payrolls[charged:]), "a payroll that was passed over")
    _require(0 <= state.idle_turns < _MOST and 0 <= state.turns_played < _MOST, "turn counters")
    _require(len(state.prestige_milli) == len(DOMAINS), f"{len(state.prestige_milli)} levels of prestige")
    _within("prestige", state.prestige_milli, world.prestige_min_milli, world.prestige_max_milli)
    numbers = [employee.number for employee in state.employees]
    _require(numbers == list(range(1, world.num_employees + 1)), f"{len(numbers)} employees")
    for employee in state.employees:
        _within("a salary", (employee.salary_cents,), 0, HIGHEST_SALARY_CENTS)
        _require(len(employee.rates_e4) == len(DOMAINS), "rates")
        _within("a rate", employee.rates_e4, 0, HIGHEST_RATE_E4)
    names = [client.name for client in state.clients]
    _require(len(set(names) & set(CLIENT_NAMES)) == len(names) == world.num_clients, f"{len(names)} clients")
    for client in state.clients:
        _require(_are_domains(client.specialties), "specialties")
        _within("trust", (client.trust_milli,), 0, round(world.trust_max * 1000))
        _within("loyalty", (client.loyalty_milli,), -1000, 1000)
        _within("a reward multiplier", (client.reward_multiplier_milli,), 0, 10_000)
    _require(len(state.market) == len(state.slot_accepts) == world.num_market_tasks, f"{len(state.market)} offers")
    _within("slots", state.slot_accepts, 0, len(state.tasks))
    for offer in state.market:
        _check_offer(state, offer)
        # Its deadline, if it is accepted at the last moment, is a date; a week has 5 business days.
        work = max(world.min_task_qty * len(DOMAINS), sum(offer.quantities))
        days = deadline_days(work, world.deadline_qty_per_day, world.deadline_min_biz_days)
        _within("work of a task", (calendar.horizon_us + (days + 5) * 7 // 5 * DAY_US,), 0, _LAST_DAY_US)
    for task in state.tasks:
        _check_offer(state, task.offer)
        _check_task(state, task)
    listed, own = [offer.task_id for offer in state.market], [task.task_id for task in state.tasks]
    _require(len(set(listed)) == len(listed) and len(set(own)) == len(own), "an id that two tasks have")
    _require(world.refill_at != "accept" or set(listed).isdisjoint(own), "an accepted task on the market")
    staff = {employee.name for employee in state.employees}
    before_us = calendar.start_us
    for entry in state.ledger:
        _require(before_us <= entry.time_us <= now_us, "bookings out of order")
        _within("a booking", (entry.amount_cents,), -_MOST, _MOST)
        _require(entry.category != LEDGER_CATEGORIES[_PAYROLL] or entry.ref_id in staff, "a salary of nobody")
        before_us = entry.time_us


def _within(what: str, values: Iterable[int], low: int, high: int) -> None:
    for value in values:
        if not low <= value <= high:
            message = f"{what} is {shown(value)}, expected {shown(low)} to {shown(high)}"
            raise _UnfitError(message)


def _are_domains(places: tuple[int, ...]) -> bool:
    return len(set(places)) == len(places) and all(0 <= place < len(DOMAINS) for place in places)


def _check_offer(state: State, offer: MarketTask) -> None:
    _require((offer.client_name is not None) == bool(state.clients), "whose task it is")
    _require(bool(offer.domains) and _are_domains(offer.domains), "domains of a task")
    _within("the number of a task", (offer.number, offer.copy - 1), 0, 2**40)
    _within("required prestige", (offer.required_prestige,), 0, 100)
    _within("required trust", (offer.required_trust,), 0, 4)
    _within("work", offer.quantities, 1, 2**40)
    _within("a reward", (offer.reward_cents,), 0, 10**12)
    _within("a gain", (offer.prestige_delta_milli, offer.skill_boost_e4), 0, 10**6)


def _check_task(state: State, task: Task) -> None:
    active, completed = task.status == "active", task.status.startswith("completed")
    now_us = state.now_us
    _within("the time of an acceptance", (task.accepted_us,), state.calendar.start_us, now_us)
    _within("a deadline", (task.deadline_us,), task.accepted_us, _LAST_DAY_US)
    _require(len(task.required_e4) == len(task.offer.domains), "work of a task")
    _within("work", task.required_e4, 1, 2**60)
    for done, required in zip(task.done_e4, task.required_e4, strict=True):
        _within("work done", (done,), required if completed else 0, required)
    numbers = [member.employee for member in task.team]
    _require(numbers == sorted(set(numbers)) and (bool(numbers) or not active), "the team of a task")
    _within("a member of a team", numbers, 1, len(state.employees))
    _within("the time of an assignment", [member.assigned_us for member in task.team], task.accepted_us, now_us)
    _require((task.completed_us is not None) == completed, "the time of a completion")
    if task.completed_us is not None:
        _within("the time of a completion", (task.completed_us,), task.accepted_us, now_us)
    _within("reported milestones", (task.milestones_reported,), 0, len(state.config.world.milestone_ratios))
    _require(active or task.completion_us is None, "a forecast")
    _require(active or task.milestone_us is None or (completed and state.terminal_reason is not None), "a forecast")
    ahead = [time_us for time_us in (task.completion_us, task.milestone_us) if time_us is not None]
    _within("a forecast", ahead, now_us, _MOST_FORECAST)


# ---------------------------------------------------------------------------------------------------- digests in a row


@attrs.define
class _KeptList(Generic[_T]):
    """The last state's list and the bytes of each item: the same object in the same place has the same bytes."""

    items: tuple[_T, ...] = ()
    data: list[bytes] = attrs.field(factory=list[bytes])

    def changed(self, items: tuple[_T, ...]) -> list[int]:
        """Return the places in which both lists have an item, and not the same one."""
        return list(compress(count(), map(is_not, self.items, items)))

    def take(self, items: tuple[_T, ...], changed: Iterable[int], encoded: Callable[[_T], bytes]) -> None:
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
        self.data += _ledger_bytes(state.ledger[len(self.entries) :], self.places, before_us)
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
        # Bookings name tasks by their places, so each task of the last state must have its id still, in its place.
        before = self._tasks.items
        keeps_ids = len(state.tasks) >= len(before) and all(
            before[place].task_id == state.tasks[place].task_id for place in changed
        )
        if not (keeps_ids and self._ledger.goes_on_to(state)):
            self._ledger = _KeptLedger()
        self._ledger.take(state)
        self._tasks.take(state.tasks, changed, lambda task: _task_bytes(task, names, start_us))
        offers = self._market.changed(state.market)
        self._market.take(state.market, offers, lambda offer: _offer_bytes(offer, names))
        body = bytearray()
        _put_world(body, state, _Items(self._market.data, self._tasks.data, self._ledger.data))
        return sha256(body).hexdigest()
