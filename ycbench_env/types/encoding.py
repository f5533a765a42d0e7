"""What a world is as bytes: the writing half of the codec, whose docstring tells the layout.

Lists are written item by item, each as bytes of its own, so that whoever hashes state after state can keep those that
stay as they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.vocabulary import LEDGER_CATEGORIES, OWN_STATUSES, TIERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ycbench_env.types.state import Client, Employee, LedgerEntry, MarketTask, State, Task

__all__ = [
    "CLIENT_TIERS",
    "END_REASONS",
    "LOW_BITS",
    "MORE",
    "NO_CLIENT",
    "PAYROLL",
    "Items",
    "Writer",
    "items_of",
    "ledger_bytes",
    "offer_bytes",
    "task_bytes",
    "write_world",
]

END_REASONS: Final = (None, "bankruptcy", "horizon_end")
CLIENT_TIERS: Final = ("Standard", "Premium", "Enterprise")
LOW_BITS: Final = 0x7F  # a byte of a varint: seven bits and a flag that more follow
MORE: Final = 0x80
NO_CLIENT: Final = -1
PAYROLL: Final = LEDGER_CATEGORIES.index("monthly_payroll")


@attrs.define
class Writer:
    """Bytes that grow."""

    data: bytearray = attrs.field(factory=bytearray)

    def integer(self, value: int) -> None:
        """Write a number as a zigzag varint."""
        rest = value << 1 if value >= 0 else ~(value << 1)
        while rest > LOW_BITS:
            self.data.append(rest & LOW_BITS | MORE)
            rest >>= 7
        self.data.append(rest)

    def integers(self, values: Iterable[int]) -> None:
        """Write numbers behind how many they are; ``integer`` written out, since a world is thousands of them."""
        items = [*values]
        append = self.data.append
        for value in (len(items), *items):
            rest = value << 1 if value >= 0 else ~(value << 1)
            while rest > LOW_BITS:
                append(rest & LOW_BITS | MORE)
                rest >>= 7
            append(rest)

    def text(self, value: str) -> None:
        """Write a text behind its length in bytes."""
        encoded = value.encode()
        self.integer(len(encoded))
        self.data += encoded

    def optional(self, value: int | None) -> None:
        """Write None as 0, what is not negative shifted by one to make room for it."""
        self.integer(0 if value is None else value + 1 if value >= 0 else value)


@attrs.frozen
class Items:
    """The long lists of a world as bytes, without their lengths.

    Args:
        market: Of each listed task.
        tasks: Of each accepted task.
        ledger: Of all bookings together.
    """

    market: Sequence[bytes]
    tasks: Sequence[bytes]
    ledger: bytes | bytearray


def items_of(state: State) -> Items:
    """Return the long lists of a world as bytes."""
    start_us, names = state.calendar.start_us, [client.name for client in state.clients]
    places = {task.task_id: place for place, task in enumerate(state.tasks)}
    return Items(
        market=[offer_bytes(offer, names) for offer in state.market],
        tasks=[task_bytes(task, names, start_us) for task in state.tasks],
        ledger=ledger_bytes(state.ledger, places, start_us),
    )


def write_world(writer: Writer, state: State, items: Items) -> None:
    """Write the world: money, clock, staff, clients, and the long lists, ``items_of(state)``."""
    start_us = state.calendar.start_us
    writer.integers((state.run_seed, state.now_us - start_us, state.funds_cents, state.payrolls_charged))
    writer.integer(END_REASONS.index(state.terminal_reason))
    writer.integers(state.prestige_milli)
    writer.integer(len(state.employees))
    for employee in state.employees:
        _write_employee(writer, employee)
    writer.integer(len(state.clients))
    for client in state.clients:
        _write_client(writer, client)
    writer.integers(state.slot_accepts)
    for rows in (items.market, items.tasks):
        writer.integer(len(rows))
        writer.data += b"".join(rows)
    writer.integer(len(state.ledger))
    writer.data += items.ledger


def _write_employee(writer: Writer, employee: Employee) -> None:
    writer.integers((employee.number, TIERS.index(employee.tier), employee.salary_cents, *employee.rates_e4))


def _write_client(writer: Writer, client: Client) -> None:
    writer.text(client.name)
    writer.integers(
        (
            CLIENT_TIERS.index(client.tier),
            client.trust_milli,
            client.loyalty_milli,
            client.reward_multiplier_milli,
            *client.specialties,
        )
    )


def offer_bytes(offer: MarketTask, names: list[str]) -> bytes:
    """Return a task of the market as bytes; ``names`` are the clients' in the order of the world."""
    writer = Writer()
    _write_offer(writer, offer, names)
    return bytes(writer.data)


def _write_offer(writer: Writer, offer: MarketTask, names: list[str]) -> None:
    writer.integers(
        (
            offer.number,
            offer.copy,
            NO_CLIENT if offer.client_name is None else names.index(offer.client_name),
            offer.required_prestige,
            offer.required_trust,
            offer.reward_cents,
            offer.prestige_delta_milli,
            offer.skill_boost_e4,
            *offer.domains,
            *offer.quantities,
        )
    )


def task_bytes(task: Task, names: list[str], start_us: int) -> bytes:
    """Return an accepted task as bytes; ``start_us`` is the start of the run."""
    writer = Writer()
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
    return bytes(writer.data)


def ledger_bytes(entries: Iterable[LedgerEntry], places: Mapping[str, int], before_us: int) -> bytes:
    """Return bookings as bytes.

    Args:
        entries: The bookings.
        places: Place of each accepted task by its id.
        before_us: When the booking before them was made; the start of the run for the first.
    """
    writer = Writer()
    for entry in entries:
        category = LEDGER_CATEGORIES.index(entry.category)
        ref = int(entry.ref_id.removeprefix("Emp_")) if category == PAYROLL else places[entry.ref_id]
        writer.integers((entry.time_us - before_us, category, entry.amount_cents, ref))
        before_us = entry.time_us
    return bytes(writer.data)
