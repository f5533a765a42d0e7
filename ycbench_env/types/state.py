"""The state of the world: everything that exists, hidden figures included, as immutable values.

What an agent may see is decided in ``ycbench_env.observation`` alone; fields marked "Hidden." never reach an agent,
those marked "Hidden unless" a setting only where that setting is true.

``attrs.evolve`` looks all fields up and runs the initialiser, about 6 us for a state, and a simulated year makes
thousands of copies. So the classes here are frozen with ``slots=False``, ``evolve`` copies their dictionaries, and
``kept`` figures stay in them once they are computed. Source: Y-2, Y-4, Y-7, K-1.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple, Self, TypeAlias, TypeVar, cast

import attrs

from ycbench_env.config import Config
from ycbench_env.rules.clock import DAY_US, HOUR_US, add_years, business_us_between, payroll_instants
from ycbench_env.rules.standing import counted_prestige, is_adversarial
from ycbench_env.text import JsonObject, dollars, to_json
from ycbench_env.units import iso_time, micros_of_date
from ycbench_env.vocabulary import DOMAINS, OWN_STATUSES

_Value = TypeVar("_Value")


class _Kept:
    """Like ``cached_property`` without its lock, which costs several microseconds on Python 3.11.

    Two threads may both compute the same value, which does no harm.
    """

    def __init__(self, compute: Callable[[Any], object], fields: tuple[str, ...]) -> None:
        self._compute, self._name, self.fields, self.__doc__ = compute, compute.__name__, fields, compute.__doc__

    def __get__(self, instance: Any, _owner: type) -> Any:  # noqa: ANN401 -- of any class
        """Return the figure; the next look finds it in the instance."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


def kept(*fields: str) -> Callable[[Callable[[Any], _Value]], cached_property[_Value]]:
    """Keep a property in the instance once it is computed; a copy keeps it while these fields stay as they are."""
    return lambda compute: cast("cached_property[_Value]", _Kept(compute, fields))


class Evolving:
    """A frozen value of which ``evolve`` makes changed copies; ``dependents`` has the kept figures of each field."""

    dependents: ClassVar[dict[str, list[str]]]

    def __init_subclass__(cls) -> None:
        """Collect the kept figures by the fields that they depend on."""
        cls.dependents = {}
        for name, value in vars(cls).items():
            for field in value.fields if isinstance(value, _Kept) else ():
                cls.dependents.setdefault(field, []).append(name)


_Evolving = TypeVar("_Evolving", bound=Evolving)


def evolve(value: _Evolving, **changes: object) -> _Evolving:
    """Return a copy of a frozen value with some fields changed; the names must be fields of it.

    A kept figure may be given too, where the caller knows it already.
    """
    fields = value.__dict__.copy()
    dependent = value.dependents
    for name, new in changes.items():
        if name in dependent and new is not fields[name]:
            for figure in dependent[name]:
                fields.pop(figure, None)
    fields.update(changes)
    copy = object.__new__(type(value))
    object.__setattr__(copy, "__dict__", fields)
    return copy


@attrs.frozen(slots=False)
class Employee(Evolving):
    """A member of the staff.

    Args:
        number: Counted from 1; the name is ``Emp_<number>``.
        tier: One of vocabulary.TIERS.
        salary_cents: Salary a month.
        rates_e4: Hidden unless `skill_rates_visible`. Base rate in each domain, units of 1/10,000 an hour.
    """

    number: int
    tier: str
    salary_cents: int
    rates_e4: tuple[int, ...]

    @kept("number")
    def name(self) -> str:
        """The name that the agent uses."""
        return f"Emp_{self.number}"

    @kept("rates_e4")
    def shown_rates(self) -> JsonObject:
        """Base rates by domain as they are shown, 2 places; not to be changed."""
        return {name: round(rate / 10_000, 2) for name, rate in zip(DOMAINS, self.rates_e4, strict=True)}

    def head(self) -> JsonObject:
        """Return its row in the staff where skills are hidden, without tasks. Source: K-1.2."""
        return {"name": self.name, "tier": self.tier, "salary_cents": self.salary_cents}

    def profile(self) -> JsonObject:
        """Return its row in the staff, without tasks, as a fresh object. Source: answers (employee list)."""
        return {**self.head(), "skill_rates": {**self.shown_rates}}

    @kept("salary_cents")
    def head_json(self) -> str:
        """The row without rates as JSON."""
        return f'{{"name":"{self.name}","tier":"{self.tier}","salary_cents":{self.salary_cents}}}'

    @kept("rates_e4", "salary_cents")
    def profile_json(self) -> str:
        """The row as JSON."""
        return f'{self.head_json[:-1]},"skill_rates":{to_json(self.shown_rates)}}}'


@attrs.frozen(slots=False)
class Client(Evolving):
    """A client and the trust it has in the company.

    Args:
        name: From vocabulary.CLIENT_NAMES.
        tier: Standard, Premium or Enterprise.
        specialties: Indices of domains, as drawn.
        trust_milli: Trust, units of 1/1,000.
        loyalty_milli: Hidden. What decides ``is_adversarial``, and by how much the work grows.
        reward_multiplier_milli: Hidden. Factor of its rewards on the initial market.
    """

    name: str
    tier: str
    specialties: tuple[int, ...]
    trust_milli: int
    loyalty_milli: int
    reward_multiplier_milli: int

    @property
    def is_adversarial(self) -> bool:
        """Hidden. Whether it inflates the work of its tasks once they are accepted. Source: Y-2.3."""
        return is_adversarial(self.loyalty_milli)


@attrs.frozen(slots=False)
class MarketTask:
    """A task as the market lists it; everything here is visible.

    Args:
        number: The number in its id.
        copy: 1, or the suffix that makes the id unique (Y-2.5).
        client_name: Its client, None in a world without clients.
        required_prestige: Level needed, see ``prestige_gate``.
        required_trust: Level of trust needed with its client.
        domains: Indices of its domains, in the order drawn.
        quantities: Units of work in each of these domains.
        reward_cents: What success pays.
        prestige_delta_milli: What success adds to prestige, units of 1/1,000.
        skill_boost_e4: What success adds to skill rates, a fraction in units of 1/10,000.
    """

    number: int
    copy: int
    client_name: str | None
    required_prestige: int
    required_trust: int
    domains: tuple[int, ...]
    quantities: tuple[int, ...]
    reward_cents: int
    prestige_delta_milli: int
    skill_boost_e4: int

    @kept()
    def task_id(self) -> str:
        """Id of the task, unique in an episode."""
        return f"Task-{self.number}" if self.copy == 1 else f"Task-{self.number}-{self.copy}"

    def listing(self) -> JsonObject:
        """Return its line on the market, a fresh object. Source: answers (market browse)."""
        row = self._listing.copy()
        row["requirements"] = [need.copy() for need in row["requirements"]]
        return row

    @kept()
    def _listing(self) -> dict[str, Any]:
        return {
            "task_id": self.task_id,
            "client_name": self.client_name,
            "required_prestige": self.required_prestige,
            "required_trust": self.required_trust,
            "reward_funds_cents": self.reward_cents,
            "reward_prestige_delta": self.prestige_delta_milli / 1000,
            "skill_boost_pct": self.skill_boost_e4 / 10_000,
            "requirements": [{"domain": DOMAINS[place], "required_qty": float(n)} for place, n in self.requirements],
        }

    @kept()
    def listing_json(self) -> str:
        """Its line on the market as JSON; kept, since the market is listed far more often than it changes.

        Written out, which takes half as long as encoding it.
        """
        needs = [f'{{"domain":"{DOMAINS[place]}","required_qty":{float(n)!r}}}' for place, n in self.requirements]
        return (
            f'{{"task_id":"{self.task_id}","client_name":{to_json(self.client_name)},'
            f'"required_prestige":{self.required_prestige},"required_trust":{self.required_trust},'
            f'"reward_funds_cents":{self.reward_cents},"reward_prestige_delta":{self.prestige_delta_milli / 1000!r},'
            f'"skill_boost_pct":{self.skill_boost_e4 / 10_000!r},"requirements":[{",".join(needs)}]}}'
        )

    @kept()
    def requirements(self) -> tuple[tuple[int, int], ...]:
        """Pairs of domain and quantity, in domain order."""
        return tuple(sorted(zip(self.domains, self.quantities, strict=True)))


Gate: TypeAlias = tuple[int, int, tuple[int, ...], int, int, str | None, MarketTask]
"""What accepting a listed task needs: an order that is unique in a market (the best paid first, equal rewards in slot
order), first domain, further domains, required prestige, required trust, the client's name, the task.

A plain tuple, since CPython unpacks those twice as fast as named ones.
"""

_SLOTS: Final = 2**20  # more than a market has


def gate_of(slot: int, task: MarketTask) -> Gate:
    """Return what accepting the task in a slot needs."""
    order = slot - task.reward_cents * _SLOTS
    domains = task.domains
    return order, domains[0], domains[1:], task.required_prestige, task.required_trust, task.client_name, task


@attrs.frozen(slots=False)
class Assignment:
    """An employee on a task since a time."""

    employee: int
    assigned_us: int


class TeamRates(NamedTuple):
    """Rates of a task's domains, ``nums / den``, in 1/10,000 units an hour; they hold for the skills of ``staff``."""

    nums: tuple[int, ...]
    den: int
    staff: tuple[Employee, ...]


@attrs.frozen(slots=False)
class Task(Evolving):
    """An accepted task.

    Args:
        offer: As the market listed it.
        status: One of vocabulary.OWN_STATUSES.
        accepted_us: When it was accepted.
        deadline_us: Until when completion is a success, that instant included.
        required_e4: Work of each domain, after trust or inflation.
        done_e4: Work done in each domain.
        team: Assigned employees, by number.
        completed_us: When it was completed, None before and when cancelled.
        milestones_reported: How many milestones have given their event.
        completion_us: Hidden. Forecast of its completion, None without one.
        milestone_us: Hidden. Forecast of its next milestone, None without one.
    """

    offer: MarketTask
    status: str
    accepted_us: int
    deadline_us: int
    required_e4: tuple[int, ...]
    done_e4: tuple[int, ...]
    team: tuple[Assignment, ...] = ()
    completed_us: int | None = None
    milestones_reported: int = 0
    completion_us: int | None = None
    milestone_us: int | None = None

    @kept("deadline_us")
    def deadline(self) -> str:
        """Deadline, ISO 8601."""
        return iso_time(self.deadline_us)

    @kept("team")
    def places(self) -> tuple[int, ...]:
        """Places of the team's members in the staff: their numbers less 1."""
        return tuple([member.employee - 1 for member in self.team])

    @kept("status", "team")
    def rates(self) -> TeamRates | None:
        """Hidden. The rates that its forecasts were made with; None where they have to be found anew.

        They hold until its forecasts are made again, since whatever changes a load makes those again (Y-5.2).
        """
        return None

    @property
    def task_id(self) -> str:
        """Id of the task, the same as on the market."""
        return self.offer.task_id


@attrs.frozen(slots=False)
class LedgerEntry:
    """A booking: ``ref_id`` is a task id, or an employee's name for payroll."""

    time_us: int
    category: str
    amount_cents: int
    ref_id: str


TASKS_A_SLOT: Final = 1000
"""Ids and streams that belong to a slot's replacements (Y-2.5)."""

_NUMBER: Final = re.compile("Task-([0-9]{1,12})")


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

    @kept()
    def payroll_times(self) -> tuple[str, ...]:
        """All payroll instants, ISO 8601."""
        return tuple([iso_time(payroll_us) for payroll_us in self.payrolls_us])

    @kept()
    def horizon_end(self) -> str:
        """End of the run, ISO 8601."""
        return iso_time(self.horizon_us)

    def business_us(self, start_us: int, end_us: int, close_us: int | None = None) -> int:
        """Return the time of workdays, which end at ``close_us`` if it is given, between instants. Source: Y-6."""
        return business_us_between(start_us, end_us, self.open_us, self.close_us if close_us is None else close_us)

    @classmethod
    def from_config(cls, config: Config) -> Self:
        """Return the calendar of a configuration. Source: Y-3.1, Y-3.3."""
        open_us = config.world.workday_start_hour * HOUR_US
        start_us = micros_of_date(config.sim.start_date) + open_us
        horizon_us = add_years(start_us // DAY_US, config.sim.horizon_years) * DAY_US + open_us
        close_us = config.world.workday_end_hour * HOUR_US
        return cls(start_us, horizon_us, open_us, close_us, tuple(payroll_instants(start_us, horizon_us, open_us)))


@attrs.frozen(slots=False)
class State(Evolving):
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

    @kept("employees")
    def monthly_payroll_cents(self) -> int:
        """Sum of all salaries."""
        return sum([employee.salary_cents for employee in self.employees])

    @kept("clients")
    def trust_milli(self) -> tuple[int, ...]:
        """Trust of each client, units of 1/1,000."""
        return tuple([client.trust_milli for client in self.clients])

    @kept("tasks")
    def active_indices(self) -> tuple[int, ...]:
        """Places of all active tasks, in order of acceptance."""
        return tuple([index for index, task in enumerate(self.tasks) if task.status == "active"])

    @kept("tasks")
    def status_counts(self) -> dict[str, int]:
        """How many own tasks have each status; not to be changed."""
        counts: dict[str, int] = dict.fromkeys(OWN_STATUSES, 0)
        for task in self.tasks:
            counts[task.status] += 1
        return counts

    @kept("market")
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

    @kept("employees", "funds_cents")
    def runway_months(self) -> float | None:
        """Funds divided by the monthly payroll, 2 places; None without payroll."""
        payroll = self.monthly_payroll_cents
        return round(self.funds_cents / payroll, 2) if payroll else None

    @kept("employees", "funds_cents")
    def _money_text(self) -> str:
        payroll = self.monthly_payroll_cents
        runway = "endless" if self.runway_months is None else f"{self.runway_months} months"
        return f"funds {dollars(self.funds_cents)} | payroll {dollars(payroll)} a month, runway {runway}"

    @kept("employees", "funds_cents", "tasks")
    def summary(self) -> str:
        """Funds, payroll, runway, open tasks and staff in words."""
        active, planned = self.status_counts["active"], self.status_counts["planned"]
        return f"{self._money_text} | tasks: {active} active, {planned} planned | employees: {len(self.employees)}"

    @kept("now_us")
    def sim_time(self) -> str:
        """Simulated time, ISO 8601."""
        return iso_time(self.now_us)

    @property
    def truncated(self) -> bool:
        """Whether the turn limit ended the episode before anything in the world did."""
        return self.terminal_reason is None and self.end_reason is not None

    @kept("terminal_reason", "turns_played")
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
        if found := _NUMBER.match(task_id):
            number = int(found[1])  # where the generator puts such a task; looking there first spares the search
            for slot in (number - 1, number // TASKS_A_SLOT):
                if 0 <= slot < len(self.market) and self.market[slot].task_id == task_id:
                    return slot
        return next((slot for slot, task in enumerate(self.market) if task.task_id == task_id), None)

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
