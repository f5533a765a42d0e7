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
from ycbench_env.types.encoding import (
    CLIENT_TIERS,
    END_REASONS,
    LOW_BITS,
    MORE,
    NO_CLIENT,
    PAYROLL,
    Writer,
    items_of,
    write_world,
)
from ycbench_env.types.evolve import evolve
from ycbench_env.types.state import Assignment, Calendar, Client, Employee, LedgerEntry, MarketTask, State, Task
from ycbench_env.vocabulary import LEDGER_CATEGORIES, OWN_STATUSES, TIERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ycbench_env.config import Config

__all__ = ["STATE_VERSION", "state_digest", "state_from_bytes", "state_to_bytes"]

STATE_VERSION: Final = 1
_MAGIC: Final = b"YCBS"
_HEAD: Final = len(_MAGIC) + 1 + 4
_T = TypeVar("_T")


@attrs.define
class _Reader:
    data: bytes
    place: int = 0

    def integer(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.place]
            self.place += 1
            value |= (byte & LOW_BITS) << shift
            shift += 7
            if byte < MORE:
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
    writer = Writer()
    writer.text(json.dumps(state.config.to_dict(), sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    writer.integers((state.turns_played, state.idle_turns))
    write_world(writer, state, items_of(state))
    body = bytes(writer.data)
    return _MAGIC + bytes([STATE_VERSION]) + zlib.crc32(body).to_bytes(4, "big") + body


def state_digest(state: State) -> str:
    """Return the SHA-256 of the world as hex: money, clock, tasks, staff and clients, no turn counters."""
    writer = Writer()
    write_world(writer, state, items_of(state))
    return sha256(bytes(writer.data)).hexdigest()


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


def _read_world(reader: _Reader, config: Config) -> State:
    calendar = Calendar.from_config(config)
    start_us = calendar.start_us
    run_seed, elapsed_us, funds_cents, payrolls_charged = reader.integers()
    terminal_reason = END_REASONS[reader.integer()]
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
    return Client(name, CLIENT_TIERS[tier], tuple(specialties), trust, loyalty, multiplier)


def _read_offer(reader: _Reader, names: list[str]) -> MarketTask:
    number, copy, client, prestige, trust, reward_cents, delta, boost, *work = reader.integers()
    half = len(work) // 2
    return MarketTask(
        number=number,
        copy=copy,
        client_name=None if client == NO_CLIENT else names[client],
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
        name = f"Emp_{ref}" if category == PAYROLL else tasks[ref].task_id
        ledger.append(LedgerEntry(time_us, LEDGER_CATEGORIES[category], amount_cents, name))
    return tuple(ledger)
