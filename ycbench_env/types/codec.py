"""States as bytes, the same on every machine, and their hash.

Layout of version 1: magic ``YCBS``, one version byte, CRC-32 of the rest (4 bytes, big-endian), then the configuration
as canonical JSON, the turn counters and the world. Integers are zigzag varints (little groups of 7 bits first); texts
are UTF-8 behind their length; rows and lists stand behind their length. A row holds the plain figures of a value in the
order of its fields, then the elements of its tuples; a word is its place in a list. Times are stored as distances from
what comes before them, which keeps a busy year well under 50 kB. Nothing derived is stored.

Bytes may come from anybody: whatever they are, reading ends in a ``StateError`` or in a state that can be played.
"""

from __future__ import annotations

import datetime as dt
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from itertools import chain, compress, count
from operator import is_not
from typing import Final, TypeVar, cast

import attrs

from ycbench_env.config import Config
from ycbench_env.errors import ConfigError, StateError
from ycbench_env.rules.clock import DAY_US
from ycbench_env.rules.economy import HIGHEST_RATE_E4, HIGHEST_SALARY_CENTS, deadline_days
from ycbench_env.text import shown
from ycbench_env.types.state import Assignment, Calendar, Client, Employee, LedgerEntry, MarketTask, State, Task
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


# -------------------------------------------------------------------------------------------------------------- writing


def state_to_bytes(state: State) -> bytes:
    """Return a state as bytes, equal for equal states on every machine."""
    settings = json.dumps(state.config.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    body = _text(settings) + _integers(_row(state.turns_played, state.idle_turns)) + StateDigests().world(state)
    return _MAGIC + bytes([STATE_VERSION]) + zlib.crc32(body).to_bytes(4, "big") + body


def state_digest(state: State) -> str:
    """Return the SHA-256 of the world as hex: money, clock, tasks, staff and clients, no turn counters."""
    return StateDigests().of(state)


def _integers(values: Iterable[int]) -> bytes:
    """Return numbers as zigzag varints."""
    data = bytearray()
    append = data.append
    for value in values:
        rest = value << 1 if value >= 0 else ~(value << 1)
        while rest > _LOW_BITS:
            append(rest & _LOW_BITS | _MORE)
            rest >>= 7
        append(rest)
    return bytes(data)


def _row(*values: int) -> tuple[int, ...]:
    return len(values), *values


def _text(value: str) -> bytes:
    encoded = value.encode()
    return _integers([len(encoded)]) + encoded


def _offer_row(offer: MarketTask, names: Sequence[str]) -> tuple[int, ...]:
    client = _NOBODY if offer.client_name is None else names.index(offer.client_name)
    head = (offer.number, offer.copy, client, offer.required_prestige, offer.required_trust)
    gains = (offer.reward_cents, offer.prestige_delta_milli, offer.skill_boost_e4)
    return _row(*head, *gains, *offer.domains, *offer.quantities)


def _task_bytes(task: Task, names: Sequence[str], start_us: int) -> bytes:
    accepted_us = before_us = task.accepted_us
    times = (accepted_us - start_us, task.deadline_us - accepted_us)
    row = _row(OWN_STATUSES.index(task.status), *times, task.milestones_reported, *task.required_e4, *task.done_e4)
    numbers = [*_offer_row(task.offer, names), *row]
    for time_us in (task.completed_us, task.completion_us, task.milestone_us):
        # None is 0, and what is not negative makes room for it.
        after_us = None if time_us is None else time_us - accepted_us
        numbers.append(0 if after_us is None else after_us + (after_us >= 0))
    numbers.append(len(task.team))
    for member in task.team:
        numbers += (member.employee, member.assigned_us - before_us)  # mostly 0: a team is assigned at once
        before_us = member.assigned_us
    return _integers(numbers)


def _renewed(
    data: list[bytes], before: Sequence[_T], items: Sequence[_T], encoded: Callable[[_T], bytes]
) -> list[bytes]:
    """Return the bytes of each item; ``data`` has those of the items before, and the same object has the same bytes."""
    data = data[: len(items)]
    for place in compress(count(), map(is_not, before, items)):
        data[place] = encoded(items[place])
    return data + [encoded(item) for item in items[len(data) :]]


class StateDigests:
    """Digests of the states of one episode, quicker than one by one: what stays as it was is kept as bytes.

    Parts of a state are frozen values, and a busy year has thousands of tasks and bookings that are over. The bytes of
    the last state are kept, of whatever episode it is.
    """

    def __init__(self) -> None:
        self._last: State | None = None
        self._market: list[bytes] = []
        self._tasks: list[bytes] = []
        self._ledger = b""
        self._places: dict[str, int] = {}

    def __reduce__(self) -> tuple[type[StateDigests], tuple[()]]:
        """Copy and pickle it without what is kept, which a copy makes anew."""
        return StateDigests, ()

    def of(self, state: State) -> str:
        """Return what ``state_digest`` returns."""
        return sha256(self.world(state)).hexdigest()

    def world(self, state: State) -> bytes:
        """Return the world as bytes: money, clock, staff, clients, market, tasks and bookings."""
        last, start_us, names = self._last, state.calendar.start_us, [client.name for client in state.clients]
        self._last = None  # a state that cannot be written leaves nothing behind
        if last is None or last.calendar.start_us != start_us or [client.name for client in last.clients] != names:
            self.__init__()
            last = attrs.evolve(state, market=(), tasks=(), ledger=())
        self._keep_ledger(last, state)
        self._market = _renewed(
            self._market, last.market, state.market, lambda offer: _integers(_offer_row(offer, names))
        )
        self._tasks = _renewed(self._tasks, last.tasks, state.tasks, lambda task: _task_bytes(task, names, start_us))
        self._last = state
        figures = _row(state.run_seed, state.now_us - start_us, state.funds_cents, state.payrolls_charged)
        reason = _END_REASONS.index(state.terminal_reason)
        staff = [_row(e.number, TIERS.index(e.tier), e.salary_cents, *e.rates_e4) for e in state.employees]
        parts = [_integers([*figures, reason, *_row(*state.prestige_milli), len(staff), *chain(*staff), len(names)])]
        for client in state.clients:
            figures = (client.trust_milli, client.loyalty_milli, client.reward_multiplier_milli)
            row = _row(_CLIENT_TIERS.index(client.tier), *figures, *client.specialties)
            parts.append(_text(client.name) + _integers(row))
        parts += [_integers([*_row(*state.slot_accepts), len(state.market)]), *self._market]
        parts += [_integers([len(state.tasks)]), *self._tasks, _integers([len(state.ledger)]), self._ledger]
        return b"".join(parts)

    def _keep_ledger(self, last: State, state: State) -> None:
        """Go on to the bookings of a state. They name tasks by places, so the last state's must be where they were."""
        entries, tasks = last.ledger, last.tasks
        changed = compress(count(), map(is_not, tasks, state.tasks))
        stands = len(tasks) <= len(state.tasks) and all(tasks[i].offer is state.tasks[i].offer for i in changed)
        new_ids = [task.task_id for task in state.tasks[len(tasks) :]]
        if not (stands and self._places.keys().isdisjoint(new_ids) and state.ledger[: len(entries)] == entries):
            entries, tasks, self._ledger, self._places = (), (), b"", {}
        self._places |= {task.task_id: place for place, task in enumerate(state.tasks[len(tasks) :], len(tasks))}
        before_us = entries[-1].time_us if entries else state.calendar.start_us
        numbers: list[int] = []
        for entry in state.ledger[len(entries) :]:
            category, name = LEDGER_CATEGORIES.index(entry.category), entry.ref_id
            ref = int(name.removeprefix("Emp_")) if category == _PAYROLL else self._places[name]
            numbers += _row(entry.time_us - before_us, category, entry.amount_cents, ref)
            before_us = entry.time_us
        self._ledger += _integers(numbers)


# -------------------------------------------------------------------------------------------------------------- reading

_LONGEST_INTEGER: Final = 4_200  # bits; a run seed is below 2**4096


def _require(holds: bool, what: str) -> None:  # noqa: FBT001 -- reads like an assertion
    if not holds:
        raise ValueError(what)


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
        while byte >= _MORE:
            if place == len(data) or shift > _LONGEST_INTEGER:
                msg = "the bytes end too early, or a number is too long"
                raise ValueError(msg)
            byte = data[place]
            place += 1
            value |= (byte & _LOW_BITS) << shift
            shift += 7
        self.place = place
        return value >> 1 if value & 1 == 0 else -((value + 1) >> 1)

    def items(self, read: Callable[[], _T]) -> list[_T]:
        """Return the items of a list; each has a byte at least, so a longer one than the rest is refused at once."""
        number = self.integer()
        _require(0 <= number <= len(self.data) - self.place, f"a list of {shown(number)} items")
        return [read() for _ in range(number)]

    def row(self) -> list[int]:
        return self.items(self.integer)

    def text(self) -> str:
        length = self.integer()
        _require(0 <= length <= len(self.data) - self.place, f"a text of {shown(length)} bytes")
        self.place += length
        return self.data[self.place - length : self.place].decode()


def state_from_bytes(data: bytes) -> State:
    """Return the state that ``state_to_bytes`` wrote.

    Raises:
        StateError: The bytes are no state, of another version, damaged, or a world that its configuration cannot have;
            the message names the reason.
    """
    if not isinstance(cast("object", data), bytes | bytearray | memoryview):
        msg = f"no saved state: got {type(data).__name__}, expected the bytes that to_bytes wrote"
        raise StateError(msg)
    data = bytes(data)
    body, version = data[_HEAD:], data[4] if len(data) > len(_MAGIC) else None
    if not data.startswith(_MAGIC):
        msg = f"no saved state: expected the bytes to begin with {_MAGIC!r}, got {data[:4]!r}"
    elif version != STATE_VERSION:
        msg = f"saved state has version {version}, expected {STATE_VERSION}; load it with the version that wrote it"
    elif zlib.crc32(body).to_bytes(4, "big") != data[5:_HEAD]:
        msg = "saved state is damaged: its checksum does not match; was the file cut short?"
    else:
        try:
            state = _read_state(_Reader(body))
            check_world(state)
        except (ConfigError, ValueError, RecursionError) as error:  # ValueError: also of no UTF-8, of no JSON
            msg = f"saved state does not fit this version: {error}"
        else:
            return state
    raise StateError(msg)


@lru_cache(maxsize=4)
def _config(settings: str) -> Config:
    tables = json.loads(settings)
    _require(isinstance(tables, dict), f"its configuration is {type(tables).__name__}, expected tables")
    return Config.from_dict(tables)


def _read_state(reader: _Reader) -> State:
    config = _config(reader.text())
    calendar = Calendar.from_config(config)
    start_us = calendar.start_us
    turns_played, idle_turns = reader.row()
    run_seed, elapsed_us, funds_cents, payrolls_charged = reader.row()
    reason, prestige_milli = _word(_END_REASONS, reader.integer()), tuple(reader.row())
    employees = [
        Employee(number, _word(TIERS, tier), salary_cents, tuple(rates_e4))
        for number, tier, salary_cents, *rates_e4 in reader.items(reader.row)
    ]
    clients = [
        Client(name, _word(_CLIENT_TIERS, tier), tuple(specialties), trust_milli, loyalty_milli, multiplier_milli)
        for name, (tier, trust_milli, loyalty_milli, multiplier_milli, *specialties) in reader.items(
            lambda: (reader.text(), reader.row())
        )
    ]
    names = [client.name for client in clients]
    slot_accepts = tuple(reader.row())
    market = reader.items(lambda: _read_offer(reader, names))
    tasks = reader.items(lambda: _read_task(reader, names, start_us))
    ledger: list[LedgerEntry] = []
    time_us = start_us
    for after_us, place, amount_cents, ref in reader.items(reader.row):
        time_us += after_us
        category = _word(LEDGER_CATEGORIES, place)
        name = f"Emp_{ref}" if place == _PAYROLL else _word(tasks, ref).task_id
        ledger.append(LedgerEntry(time_us, category, amount_cents, name))
    _require(reader.place == len(reader.data), f"{len(reader.data) - reader.place} bytes too many")
    return State(
        config=config,
        run_seed=run_seed,
        calendar=calendar,
        now_us=start_us + elapsed_us,
        funds_cents=funds_cents,
        prestige_milli=prestige_milli,
        employees=tuple(employees),
        clients=tuple(clients),
        market=tuple(market),
        slot_accepts=slot_accepts,
        tasks=tuple(tasks),
        ledger=tuple(ledger),
        payrolls_charged=payrolls_charged,
        terminal_reason=reason,
        turns_played=turns_played,
        idle_turns=idle_turns,
    )


def _halves(numbers: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    _require(len(numbers) % 2 == 0, "domains and figures that do not match")
    middle = len(numbers) // 2
    return tuple(numbers[:middle]), tuple(numbers[middle:])


def _read_offer(reader: _Reader, names: list[str]) -> MarketTask:
    number, copy, client, prestige, trust, reward_cents, delta_milli, boost_e4, *rest = reader.row()
    client_name = None if client == _NOBODY else _word(names, client)
    figures = (reward_cents, delta_milli, boost_e4)
    return MarketTask(number, copy, client_name, prestige, trust, *_halves(rest), *figures)


def _read_task(reader: _Reader, names: list[str], start_us: int) -> Task:
    offer = _read_offer(reader, names)
    status, accepted_us, deadline_us, reported, *rest = reader.row()
    accepted_us = assigned_us = start_us + accepted_us
    completed_us, completion_us, milestone_us = (
        None if after_us == 0 else accepted_us + after_us - (after_us > 0)
        for after_us in (reader.integer(), reader.integer(), reader.integer())
    )
    team: list[Assignment] = []
    for employee, after_us in reader.items(lambda: (reader.integer(), reader.integer())):
        assigned_us += after_us
        team.append(Assignment(employee, assigned_us))
    since = (_word(OWN_STATUSES, status), accepted_us, accepted_us + deadline_us)
    return Task(offer, *since, *_halves(rest), tuple(team), completed_us, reported, completion_us, milestone_us)


# ------------------------------------------------------------------------------------------------------------- checking

_MOST: Final = 2**62  # cents, microseconds and counters: sums of a few stay within 64 bits
_MOST_FORECAST: Final = 2**200  # a team of beginners on a thousand tasks is done after the end of the world
_LAST_DAY_US: Final = micros_of_date(dt.date.max)


def _within(what: str, low: int, high: int, *values: int) -> None:
    for value in values:
        if not low <= value <= high:
            msg = f"{what} is {shown(value)}, expected {shown(low)} to {shown(high)}"
            raise ValueError(msg)


def check_world(state: State) -> None:
    """Refuse a world that its configuration cannot have with a ValueError; what is left can be played.

    Only a replay shows whether money and levels were earned.
    """
    world, calendar, now_us, funds_cents = state.config.world, state.calendar, state.now_us, state.funds_cents
    payrolls, charged, reason = calendar.payrolls_us, state.payrolls_charged, state.terminal_reason
    _within("the run seed", 0, 2**4096 - 1, state.run_seed)
    _within("the clock", calendar.start_us, calendar.horizon_us, now_us)
    _within("the funds", -_MOST, -1 if reason == "bankruptcy" else _MOST, funds_cents)
    _require(reason == "bankruptcy" or funds_cents >= 0, "debts without bankruptcy")
    _require(reason != "horizon_end" or now_us == calendar.horizon_us, "the end before the horizon")
    _within("the number of payrolls", 0, len(payrolls), charged)
    _within("the time of a payroll", calendar.start_us, now_us, *payrolls[:charged])
    _within("the time of the next payroll", now_us, _LAST_DAY_US, *payrolls[charged:])
    _within("a turn counter", 0, _MOST, state.idle_turns, state.turns_played)
    _require(len(state.prestige_milli) == len(DOMAINS), f"{len(state.prestige_milli)} levels of prestige")
    _within("prestige", world.prestige_min_milli, world.prestige_max_milli, *state.prestige_milli)
    numbers = [employee.number for employee in state.employees]
    _require(numbers == list(range(1, world.num_employees + 1)), f"{len(numbers)} employees")
    for employee in state.employees:
        _within("a salary", 0, HIGHEST_SALARY_CENTS, employee.salary_cents)
        _require(len(employee.rates_e4) == len(DOMAINS), f"{len(employee.rates_e4)} rates")
        _within("a rate", 0, HIGHEST_RATE_E4, *employee.rates_e4)
    names = {client.name for client in state.clients} & set(CLIENT_NAMES)
    _require(len(names) == len(state.clients) == world.num_clients, f"{len(state.clients)} clients")
    for client in state.clients:
        _check_domains(client.specialties)
        _within("trust", 0, round(world.trust_max * 1000), client.trust_milli)
        _within("loyalty", -1000, 1000, client.loyalty_milli)
        _within("a reward multiplier", 0, 10_000, client.reward_multiplier_milli)
    _require(
        len(state.market) == len(state.slot_accepts) == world.num_market_tasks,
        f"{len(state.market)} tasks listed",
    )
    _within("a slot's accepts", 0, len(state.tasks), *state.slot_accepts)
    for offer in state.market:
        _check_offer(state, offer)
        # Its deadline, if it is accepted at the last moment, is a date; a week has 5 business days.
        work = max(world.min_task_qty * len(DOMAINS), sum(offer.quantities))
        days = deadline_days(work, world.deadline_qty_per_day, world.deadline_min_biz_days)
        latest_us = calendar.horizon_us + (days + 5) * 7 // 5 * DAY_US
        _within("the latest deadline of a task", calendar.horizon_us, _LAST_DAY_US, latest_us)
    for task in state.tasks:
        _check_offer(state, task.offer)
        _check_task(state, task)
    listed, own = [offer.task_id for offer in state.market], [task.task_id for task in state.tasks]
    _require(len(set(listed)) == len(listed) and len(set(own)) == len(own), "an id that two tasks have")
    _require(world.refill_at != "accept" or set(listed).isdisjoint(own), "an accepted task on the market")
    staff = {employee.name for employee in state.employees}
    before_us = calendar.start_us
    for entry in state.ledger:
        _within("the time of a booking", before_us, now_us, entry.time_us)
        _within("a booking", -_MOST, _MOST, entry.amount_cents)
        _require(entry.category != LEDGER_CATEGORIES[_PAYROLL] or entry.ref_id in staff, "a salary of nobody")
        before_us = entry.time_us


def _check_domains(places: tuple[int, ...]) -> None:
    _within("a domain", 0, len(DOMAINS) - 1, *places)
    _require(len(set(places)) == len(places), "a domain that is named twice")


def _check_offer(state: State, offer: MarketTask) -> None:
    _require((offer.client_name is not None) == bool(state.clients), "whose task it is")
    _check_domains(offer.domains)
    _within("the number of a task's domains", 1, len(DOMAINS), len(offer.domains))
    _within("the number of a task", 0, 2**40, offer.number, offer.copy - 1)
    _within("required prestige", 0, 100, offer.required_prestige)
    _within("required trust", 0, 4, offer.required_trust)
    _within("work", 1, 2**40, *offer.quantities)
    _within("a reward", 0, 10**12, offer.reward_cents)
    _within("a gain", 0, 10**6, offer.prestige_delta_milli, offer.skill_boost_e4)


def _check_task(state: State, task: Task) -> None:
    active, completed, now_us = task.status == "active", task.status.startswith("completed"), state.now_us
    _within("the time of an acceptance", state.calendar.start_us, now_us, task.accepted_us)
    _within("a deadline", task.accepted_us, _LAST_DAY_US, task.deadline_us)
    _require(len(task.required_e4) == len(task.offer.domains), "work in other domains than the task's")
    _within("work", 1, 2**60, *task.required_e4)
    for done, required in zip(task.done_e4, task.required_e4, strict=True):
        _within("work done", required if completed else 0, required, done)
    numbers = [member.employee for member in task.team]
    _require(numbers == sorted(set(numbers)) and (bool(numbers) or not active), f"the team {numbers} of {task.task_id}")
    _within("a member of a team", 1, len(state.employees), *numbers)
    _within("the time of an assignment", task.accepted_us, now_us, *[member.assigned_us for member in task.team])
    _require((task.completed_us is not None) == completed, f"a completion of {task.task_id}, which is {task.status}")
    if task.completed_us is not None:
        _within("the time of a completion", task.accepted_us, now_us, task.completed_us)
    _within("reported milestones", 0, len(state.config.world.milestone_ratios), task.milestones_reported)
    ended = completed and state.terminal_reason is not None  # its milestone was not due before the end
    idle = task.completion_us is None and (ended or task.milestone_us is None)
    _require(active or idle, f"a forecast of {task.task_id}, which is {task.status}")
    ahead = [time_us for time_us in (task.completion_us, task.milestone_us) if time_us is not None]
    _within("a forecast", now_us, _MOST_FORECAST, *ahead)
