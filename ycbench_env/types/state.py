"""The state of the world: everything that exists, hidden figures included, as immutable values.

Frozen with ``slots=False`` so that ``evolve`` can copy them fast. What an agent may see is decided in
``ycbench_env.observation`` alone; fields marked "Hidden." never reach an agent, those marked "Hidden unless" a setting
only where that setting is true. Source: Y-2, Y-4, Y-7, K-1.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, Self

import attrs

from ycbench_env.rules.clock import DAY_US, HOUR_US, add_years, payroll_instants
from ycbench_env.rules.standing import counted_prestige
from ycbench_env.types.evolve import kept
from ycbench_env.types.part import (
    Assignment,
    Client,
    Employee,
    Gate,
    Kept,
    LedgerEntry,
    MarketTask,
    Task,
    gate_of,
)
from ycbench_env.units import dollars, iso_time, micros_of_date
from ycbench_env.vocabulary import OWN_STATUSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_env.config import Config

__all__ = [
    "TASKS_A_SLOT",
    "Assignment",
    "Calendar",
    "Client",
    "Employee",
    "Gate",
    "LedgerEntry",
    "MarketTask",
    "Standing",
    "State",
    "Task",
    "gate_of",
]

TASKS_A_SLOT: Final = 1000
"""Ids and streams that belong to a slot's replacements (Y-2.5)."""

_ID_PREFIX: Final = "Task-"
_MAX_ID_DIGITS: Final = 12


@attrs.frozen(slots=False)
class Calendar:
    """What follows from start date, horizon and workday: fixed for an episode.

    Args:
        start_us: Start of the run.
        horizon_us: End of the run.
        open_us: Start of a workday, offset within a day.
        close_us: End of a workday, offset within a day.
        payrolls_us: All payroll instants, in order.
    """

    start_us: int
    horizon_us: int
    open_us: int
    close_us: int
    payrolls_us: tuple[int, ...]

    @kept
    def payroll_times(self) -> tuple[str, ...]:
        """All payroll instants, ISO 8601."""
        return tuple([iso_time(payroll_us) for payroll_us in self.payrolls_us])

    @kept
    def horizon_end(self) -> str:
        """End of the run, ISO 8601."""
        return iso_time(self.horizon_us)

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Return the calendar of a configuration. Source: Y-3.1, Y-3.3."""
        open_us = config.world.workday_start_hour * HOUR_US
        start_us = micros_of_date(config.sim.start_date) + open_us
        horizon_us = add_years(start_us // DAY_US, config.sim.horizon_years) * DAY_US + open_us
        return cls(
            start_us=start_us,
            horizon_us=horizon_us,
            open_us=open_us,
            close_us=config.world.workday_end_hour * HOUR_US,
            payrolls_us=tuple(payroll_instants(start_us, horizon_us, open_us)),
        )


class Standing(NamedTuple):
    """How a company stands; all of it visible.

    Args:
        funds_cents: Funds.
        payroll_cents: Sum of all salaries.
        active: Number of active tasks.
        planned: Number of planned tasks.
        staff: Number of employees.
        runway_months: Funds divided by payroll, 2 places; None without payroll.
        text: The same in words.
    """

    funds_cents: int
    payroll_cents: int
    active: int
    planned: int
    staff: int
    runway_months: float | None
    text: str


@attrs.frozen(slots=False)
class State:
    """Everything that decides how an episode goes on. Immutable: a transition makes a new one.

    Args:
        config: The resolved configuration.
        run_seed: Hidden. Seed of the market's streams.
        calendar: Derived from the configuration.
        now_us: Simulated time.
        funds_cents: Funds; below 0 is bankrupt.
        prestige_milli: Prestige in each domain.
        employees: Staff by number.
        clients: Clients in the order of the world.
        market: By slot, the listed task, or the accepted one that is not replaced yet (``refill_at``).
        slot_accepts: Hidden. How many tasks each slot has replaced.
        tasks: Accepted tasks, in order of acceptance; none ever leaves.
        ledger: Bookings in order.
        payrolls_charged: How many of the calendar's payrolls are behind.
        terminal_reason: None, ``"bankruptcy"`` or ``"horizon_end"``.
        turns_played: Turns behind; no part of the world.
        idle_turns: Turns in a row without any time passing; no part of the world.
    """

    config: Config
    run_seed: int
    calendar: Calendar
    now_us: int
    funds_cents: int
    prestige_milli: tuple[int, ...]
    employees: tuple[Employee, ...]
    clients: tuple[Client, ...]
    market: tuple[MarketTask, ...]
    slot_accepts: tuple[int, ...]
    tasks: tuple[Task, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    payrolls_charged: int = 0
    terminal_reason: str | None = None
    turns_played: int = 0
    idle_turns: int = 0

    KEPT: ClassVar[Kept] = {
        "clients": ("trust_milli",),
        "employees": ("monthly_payroll_cents", "money_text", "runway_months", "standing"),
        "funds_cents": ("money_text", "runway_months", "standing"),
        "market": ("gates",),
        "now_us": ("sim_time",),
        "tasks": ("active_indices", "standing", "status_counts"),
    }

    def __repr__(self) -> str:
        """Return one line; a whole world would fill pages, and the run seed is hidden."""
        own = ", ".join(f"{count} {status}" for status, count in self.status_counts.items() if count) or "none"
        sizes = f"{len(self.employees)} employees, {len(self.clients)} clients, {len(self.market)} tasks on the market"
        over = f", over: {self.end_reason}" if self.end_reason else ""
        return (
            f"<State {self.sim_time}, funds {dollars(self.funds_cents)}, {sizes}, {own} of its own, "
            f"turn {self.turns_played}{over}>"
        )

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Return the state itself: nothing in it can change."""
        return self

    @property
    def next_payroll_us(self) -> int | None:
        """The next payroll that will be charged, None after the last."""
        payrolls = self.calendar.payrolls_us
        return payrolls[self.payrolls_charged] if self.payrolls_charged < len(payrolls) else None

    @property
    def next_payroll(self) -> str | None:
        """When the next payroll will be charged, ISO 8601; None after the last."""
        payrolls = self.calendar.payroll_times
        return payrolls[self.payrolls_charged] if self.payrolls_charged < len(payrolls) else None

    @kept
    def monthly_payroll_cents(self) -> int:
        """Sum of all salaries."""
        return sum([employee.salary_cents for employee in self.employees])

    @kept
    def trust_milli(self) -> tuple[int, ...]:
        """Trust of each client, units of 1/1,000."""
        return tuple([client.trust_milli for client in self.clients])

    @kept
    def active_indices(self) -> tuple[int, ...]:
        """Places of all active tasks, in order of acceptance."""
        return tuple([index for index, task in enumerate(self.tasks) if task.status == "active"])

    @kept
    def status_counts(self) -> dict[str, int]:
        """How many own tasks have each status; not to be changed."""
        counts: dict[str, int] = dict.fromkeys(OWN_STATUSES, 0)
        for task in self.tasks:
            counts[task.status] += 1
        return counts

    @kept
    def gates(self) -> tuple[Gate, ...]:
        """What accepting each listed task needs, best paid first, equal rewards in slot order."""
        # Not remade when ``tasks`` changes: accepting, which alone takes a task from the market, gives them.
        gates = [gate_of(slot, task) for slot, task in enumerate(self.market)]
        if self.config.world.refill_at != "accept":
            own = {task.task_id for task in self.tasks}
            gates = [gate for gate in gates if gate[-1].task_id not in own]
        return tuple(sorted(gates))

    @property
    def market_by_reward(self) -> tuple[MarketTask, ...]:
        """Listed tasks, best paid first, equal rewards in slot order."""
        return tuple([gate[-1] for gate in self.gates])

    @kept
    def runway_months(self) -> float | None:
        """Funds divided by the monthly payroll, 2 places; None without payroll."""
        payroll = self.monthly_payroll_cents
        return round(self.funds_cents / payroll, 2) if payroll else None

    @kept
    def money_text(self) -> str:
        """Funds, payroll and runway in words."""
        payroll = self.monthly_payroll_cents
        runway = "endless" if self.runway_months is None else f"{self.runway_months} months"
        return f"funds {dollars(self.funds_cents)} | payroll {dollars(payroll)} a month, runway {runway}"

    @kept
    def standing(self) -> Standing:
        """How the company stands, in figures and in words."""
        counts, payroll, staff = self.status_counts, self.monthly_payroll_cents, len(self.employees)
        active, planned = counts["active"], counts["planned"]
        text = f"{self.money_text} | tasks: {active} active, {planned} planned | employees: {staff}"
        return Standing(self.funds_cents, payroll, active, planned, staff, self.runway_months, text)

    @kept
    def sim_time(self) -> str:
        """Simulated time, ISO 8601."""
        return iso_time(self.now_us)

    @property
    def truncated(self) -> bool:
        """Whether the turn limit ended the episode before anything in the world did."""
        return self.terminal_reason is None and self.end_reason is not None

    @property
    def end_reason(self) -> str | None:
        """Why the episode is over: bankruptcy, horizon_end or max_turns; None while it goes on."""
        limit = self.config.loop.max_turns
        return self.terminal_reason or ("max_turns" if limit is not None and self.turns_played >= limit else None)

    def client(self, name: str) -> Client:
        """Return the client of that name; KeyError when there is none."""
        for client in self.clients:
            if client.name == name:
                return client
        raise KeyError(name)

    @property
    def counted_prestige_milli(self) -> Sequence[int]:
        """For each domain, the prestige that must reach what a task requires, units of 1/1,000."""
        return counted_prestige(self.prestige_milli, self.config.world.prestige_gate == "highest")

    def client_of(self, task: MarketTask) -> Client | None:
        """Return the client of a task, None for a task of nobody."""
        return None if task.client_name is None else self.client(task.client_name)

    def market_slot(self, task_id: str) -> int | None:
        """Return the slot in which the market lists a task, None when it does not."""
        slot = self.slot_of(task_id)
        if slot is None or self.config.world.refill_at == "accept" or self.task_index(task_id) is None:
            return slot
        return None

    def slot_of(self, task_id: str) -> int | None:
        """Return the slot of a task that is listed, or accepted and not replaced yet; None when it has none."""
        digits = task_id[len(_ID_PREFIX) :].partition("-")[0]
        if digits.isascii() and digits.isdigit() and len(digits) <= _MAX_ID_DIGITS:
            number = int(digits)  # where the generator puts such a task; looking there first spares the search
            for slot in (number - 1, number // TASKS_A_SLOT):
                if 0 <= slot < len(self.market) and self.market[slot].task_id == task_id:
                    return slot
        for slot, task in enumerate(self.market):
            if task.task_id == task_id:
                return slot
        return None

    def task_index(self, task_id: str) -> int | None:
        """Return the place of an accepted task in ``tasks``, None when there is none of that id."""
        for index in range(len(self.tasks) - 1, -1, -1):  # newest first: agents speak of those
            if self.tasks[index].offer.task_id == task_id:
                return index
        return None

    def to_bytes(self) -> bytes:
        """Return the state as bytes, turn counters and configuration included; equal states give equal bytes."""
        from ycbench_env.types.codec import state_to_bytes  # noqa: PLC0415 -- the codec builds on this module

        return state_to_bytes(self)

    @staticmethod
    def from_bytes(data: bytes) -> State:
        """Return the state that ``to_bytes`` wrote.

        Raises:
            StateError: The bytes are no state, of another version, or damaged.
        """
        from ycbench_env.types.codec import state_from_bytes  # noqa: PLC0415 -- the codec builds on this module

        return state_from_bytes(data)

    def digest(self) -> str:
        """Return the SHA-256 of the world as hex, without turn counters and configuration."""
        from ycbench_env.types.codec import state_digest  # noqa: PLC0415 -- the codec builds on this module

        return state_digest(self)
