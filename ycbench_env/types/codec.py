"""States as bytes, the same on every machine, and their hash.

Layout of version 1: magic ``YCBS``, one version byte, CRC-32 of the rest (4 bytes, big-endian), then the configuration
as canonical JSON, the turn counters and the world. Integers are zigzag varints (little groups of 7 bits first); texts
are UTF-8 behind their length; lists stand behind their number of items. Times are stored as distances from what comes
before them, which keeps a busy year well under 50 kB. Nothing derived is stored.
"""

from __future__ import annotations

import json
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeVar, cast

import attrs

from ycbench_env.config import load_config
from ycbench_env.errors import ConfigError, StateError
from ycbench_env.types.evolve import evolve
from ycbench_env.types.state import Assignment, Calendar, Client, Employee, LedgerEntry, MarketTask, State, Task
from ycbench_env.vocabulary import LEDGER_CATEGORIES, OWN_STATUSES, TIERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ycbench_env.config import Config

__all__ = ["STATE_VERSION", "StateDigests", "state_digest", "state_from_bytes", "state_to_bytes"]

STATE_VERSION: Final = 1
_MAGIC: Final = b"YCBS"
_HEAD: Final = len(_MAGIC) + 1 + 4
_END_REASONS: Final = (None, "bankruptcy", "horizon_end")
_CLIENT_TIERS: Final = ("Standard", "Premium", "Enterprise")
_LOW_BITS: Final = 0x7F  # a byte of a varint: seven bits and a flag that more follow
_MORE: Final = 0x80
_NO_CLIENT: Final = -1
_PAYROLL: Final = LEDGER_CATEGORIES.index("monthly_payroll")
_T = TypeVar("_T")


@attrs.define
class _Writer:
    data: bytearray = attrs.field(factory=bytearray)

    def integer(self, value: int) -> None:
        rest = value << 1 if value >= 0 else (-value << 1) - 1
        while rest > _LOW_BITS:
            self.data.append(rest & _LOW_BITS | _MORE)
            rest >>= 7
        self.data.append(rest)

    def integers(self, values: Iterable[int]) -> None:
        items = list(values)
        self.integer(len(items))
        for value in items:
            self.integer(value)

    def text(self, value: str) -> None:
        encoded = value.encode()
        self.integer(len(encoded))
        self.data += encoded

    def optional(self, value: int | None) -> None:
        """Write None as 0, what is not negative shifted by one to make room for it."""
        self.integer(0 if value is None else value + 1 if value >= 0 else value)


@attrs.define
class _Reader:
    data: bytes
    place: int = 0

    def integer(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & _LOW_BITS) << shift
            shift += 7
            if byte < _MORE:
                return value >> 1 if value & 1 == 0 else -((value + 1) >> 1)

    def integers(self) -> tuple[int, ...]:
        return tuple(self.integer() for _ in range(self.integer()))

    def items(self, read: Callable[[], _T]) -> tuple[_T, ...]:
        return tuple(read() for _ in range(self.integer()))

    def text(self) -> str:
        length = self.integer()
        self.place += length
        return self.data[self.place - length : self.place].decode()

    def optional(self) -> int | None:
        value = self.integer()
        return None if value == 0 else value - 1 if value > 0 else value


def state_to_bytes(state: State) -> bytes:
    """Return a state as bytes, equal for equal states on every machine."""
    writer = _Writer()
    writer.text(json.dumps(state.config.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    writer.integers((state.turns_played, state.idle_turns))
    _write_world(writer, state)
    body = bytes(writer.data)
    return _MAGIC + bytes([STATE_VERSION]) + zlib.crc32(body).to_bytes(4, "big") + body


def state_digest(state: State) -> str:
    """Return the SHA-256 of the world as hex: money, clock, tasks, staff and clients, no turn counters."""
    writer = _Writer()
    _write_world(writer, state)
    return sha256(bytes(writer.data)).hexdigest()


class StateDigests:
    """Digests of the states of one episode, quicker than one by one: tasks that stay as they were are kept as bytes.

    A task is a frozen value, so the same object has the same bytes; a busy year has thousands that are over.
    """

    def __init__(self) -> None:
        self._world: tuple[int, tuple[str, ...]] = (0, ())
        self._tasks: dict[int, tuple[Task, bytes]] = {}

    def __reduce__(self) -> tuple[type[StateDigests], tuple[()]]:
        """Copy and pickle it without what is kept: objects go by their number here, and copies have others."""
        return StateDigests, ()

    def of(self, state: State) -> str:
        """Return what ``state_digest`` returns."""
        world = (state.calendar.start_us, tuple([client.name for client in state.clients]))
        if world != self._world:  # of another episode; bytes depend on both
            self._world, self._tasks = world, {}
        before, names = self._tasks, list(world[1])
        # The task stands beside its bytes: as long as it is held, no other object has its number.
        kept = [before.get(id(task)) or (task, _task_bytes(task, names, world[0])) for task in state.tasks]
        self._tasks = {id(task): (task, data) for task, data in kept}
        writer = _Writer()
        _write_world(writer, state, [data for _, data in kept])
        return sha256(bytes(writer.data)).hexdigest()


def _task_bytes(task: Task, names: list[str], start_us: int) -> bytes:
    writer = _Writer()
    _write_task(writer, task, names, start_us)
    return bytes(writer.data)


def state_from_bytes(data: bytes) -> State:
    """Return the state that ``state_to_bytes`` wrote.

    Raises:
        StateError: The bytes are no state, of another version, or damaged; the message says which.
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
    return _read_state(_Reader(body))


def _read_state(reader: _Reader) -> State:
    try:
        settings = json.loads(reader.text())
        if not isinstance(settings, dict):
            msg = f"its configuration is {type(settings).__name__}, expected tables"
            raise ValueError(msg)  # noqa: TRY301, TRY004 -- becomes the StateError below
        config = load_config(settings, environ={})  # pyright: ignore[reportUnknownArgumentType] -- checked there
        turns_played, idle_turns = reader.integers()
        state = _read_world(reader, config)
    except (ConfigError, IndexError, ValueError, UnicodeDecodeError) as error:
        msg = f"saved state does not fit this version: {error}"
        raise StateError(msg) from error
    return evolve(state, turns_played=turns_played, idle_turns=idle_turns)


def _write_world(writer: _Writer, state: State, tasks: list[bytes] | None = None) -> None:
    """Write the world; ``tasks`` are the bytes of its tasks, where they are known already."""
    start_us = state.calendar.start_us
    names = [client.name for client in state.clients]
    writer.integers((state.run_seed, state.now_us - start_us, state.funds_cents, state.payrolls_charged))
    writer.integer(_END_REASONS.index(state.terminal_reason))
    writer.integers(state.prestige_milli)
    writer.integer(len(state.employees))
    for employee in state.employees:
        writer.integers((employee.number, TIERS.index(employee.tier), employee.salary_cents, *employee.rates_e4))
    writer.integer(len(state.clients))
    for client in state.clients:
        writer.text(client.name)
        writer.integers(
            (
                _CLIENT_TIERS.index(client.tier),
                client.trust_milli,
                client.loyalty_milli,
                client.reward_multiplier_milli,
                *client.specialties,
            )
        )
    writer.integers(state.slot_accepts)
    writer.integer(len(state.market))
    for offer in state.market:
        _write_offer(writer, offer, names)
    writer.integer(len(state.tasks))
    if tasks is None:
        tasks = [_task_bytes(task, names, start_us) for task in state.tasks]
    writer.data += b"".join(tasks)
    places = {task.task_id: place for place, task in enumerate(state.tasks)}
    writer.integer(len(state.ledger))
    before_us = start_us
    for entry in state.ledger:
        category = LEDGER_CATEGORIES.index(entry.category)
        ref = int(entry.ref_id.removeprefix("Emp_")) if category == _PAYROLL else places[entry.ref_id]
        writer.integers((entry.time_us - before_us, category, entry.amount_cents, ref))
        before_us = entry.time_us


def _write_offer(writer: _Writer, offer: MarketTask, names: list[str]) -> None:
    writer.integers(
        (
            offer.number,
            offer.copy,
            _NO_CLIENT if offer.client_name is None else names.index(offer.client_name),
            offer.required_prestige,
            offer.required_trust,
            offer.reward_cents,
            offer.prestige_delta_milli,
            offer.skill_boost_e4,
            *offer.domains,
            *offer.quantities,
        )
    )


def _write_task(writer: _Writer, task: Task, names: list[str], start_us: int) -> None:
    _write_offer(writer, task.offer, names)
    writer.integers(
        (
            OWN_STATUSES.index(task.status),
            task.accepted_us - start_us,
            task.deadline_us - task.accepted_us,
            task.milestones_reported,
            *task.required_e4,
            *task.done_e4,
        )
    )
    for time_us in (task.completed_us, task.completion_us, task.milestone_us):
        writer.optional(None if time_us is None else time_us - task.accepted_us)
    writer.integer(len(task.team))
    before_us = task.accepted_us
    for member in task.team:
        writer.integer(member.employee)
        writer.integer(member.assigned_us - before_us)  # mostly 0: a team is assigned at once
        before_us = member.assigned_us


def _read_world(reader: _Reader, config: Config) -> State:
    calendar = Calendar.from_config(config)
    start_us = calendar.start_us
    run_seed, elapsed_us, funds_cents, payrolls_charged = reader.integers()
    terminal_reason = _END_REASONS[reader.integer()]
    prestige_milli = reader.integers()
    employees = reader.items(lambda: _read_employee(reader))
    clients = reader.items(lambda: _read_client(reader))
    names = [client.name for client in clients]
    slot_accepts = reader.integers()
    market = reader.items(lambda: _read_offer(reader, names))
    tasks = reader.items(lambda: _read_task(reader, names, start_us))
    ledger = _read_ledger(reader, tasks, start_us)
    if reader.place != len(reader.data):
        msg = f"{len(reader.data) - reader.place} bytes too many"
        raise ValueError(msg)
    return State(
        config=config,
        run_seed=run_seed,
        calendar=calendar,
        now_us=start_us + elapsed_us,
        funds_cents=funds_cents,
        prestige_milli=prestige_milli,
        employees=employees,
        clients=clients,
        market=market,
        slot_accepts=slot_accepts,
        tasks=tasks,
        ledger=ledger,
        payrolls_charged=payrolls_charged,
        terminal_reason=terminal_reason,
    )


def _read_employee(reader: _Reader) -> Employee:
    number, tier, salary_cents, *rates_e4 = reader.integers()
    return Employee(number, TIERS[tier], salary_cents, tuple(rates_e4))


def _read_client(reader: _Reader) -> Client:
    name = reader.text()
    tier, trust, loyalty, multiplier, *specialties = reader.integers()
    return Client(name, _CLIENT_TIERS[tier], tuple(specialties), trust, loyalty, multiplier)


def _read_offer(reader: _Reader, names: list[str]) -> MarketTask:
    number, copy, client, prestige, trust, reward_cents, delta, boost, *work = reader.integers()
    half = len(work) // 2
    return MarketTask(
        number=number,
        copy=copy,
        client_name=None if client == _NO_CLIENT else names[client],
        required_prestige=prestige,
        required_trust=trust,
        domains=tuple(work[:half]),
        quantities=tuple(work[half:]),
        reward_cents=reward_cents,
        prestige_delta_milli=delta,
        skill_boost_e4=boost,
    )


def _read_task(reader: _Reader, names: list[str], start_us: int) -> Task:
    offer = _read_offer(reader, names)
    status, accepted, deadline, milestones_reported, *work = reader.integers()
    half = len(work) // 2
    accepted_us = start_us + accepted
    completed_us, completion_us, milestone_us = (
        None if time_us is None else accepted_us + time_us for time_us in (reader.optional() for _ in range(3))
    )
    return Task(
        offer=offer,
        status=OWN_STATUSES[status],
        accepted_us=accepted_us,
        deadline_us=accepted_us + deadline,
        required_e4=tuple(work[:half]),
        done_e4=tuple(work[half:]),
        team=_read_team(reader, accepted_us),
        completed_us=completed_us,
        milestones_reported=milestones_reported,
        completion_us=completion_us,
        milestone_us=milestone_us,
    )


def _read_team(reader: _Reader, accepted_us: int) -> tuple[Assignment, ...]:
    team: list[Assignment] = []
    assigned_us = accepted_us
    for _ in range(reader.integer()):
        employee = reader.integer()
        assigned_us += reader.integer()
        team.append(Assignment(employee, assigned_us))
    return tuple(team)


def _read_ledger(reader: _Reader, tasks: tuple[Task, ...], start_us: int) -> tuple[LedgerEntry, ...]:
    ledger: list[LedgerEntry] = []
    time_us = start_us
    for _ in range(reader.integer()):
        elapsed_us, category, amount_cents, ref = reader.integers()
        time_us += elapsed_us
        name = f"Emp_{ref}" if category == _PAYROLL else tasks[ref].task_id
        ledger.append(LedgerEntry(time_us, LEDGER_CATEGORIES[category], amount_cents, name))
    return tuple(ledger)
