"""What a world is made of: staff, clients, market tasks, own tasks and bookings, as immutable values.

Frozen with ``slots=False`` so that ``evolve`` can copy them fast. Fields marked "Hidden." never reach an agent, those
marked "Hidden unless" a setting only where that setting is true. Source: Y-2, Y-4, Y-7, K-1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeAlias

import attrs

from ycbench_env.rules.standing import is_adversarial
from ycbench_env.text import text_json
from ycbench_env.types.evolve import kept
from ycbench_env.units import iso_time
from ycbench_env.vocabulary import DOMAINS

if TYPE_CHECKING:
    from ycbench_env.text import JsonObject

__all__ = [
    "Assignment",
    "Client",
    "Employee",
    "Gate",
    "Kept",
    "LedgerEntry",
    "MarketTask",
    "Task",
    "TeamRates",
    "gate_of",
]

Kept: TypeAlias = Mapping[str, tuple[str, ...]]
"""By field: the kept figures that depend on it, see ``evolve``."""


def _two_places(value_e4: int) -> float:
    """Return ``round(value_e4 / 10_000, 2)``, in whole numbers where no tie is near, which is faster."""
    whole, rest = divmod(value_e4, 100)
    if rest == 50:  # noqa: PLR2004 -- a tie of the decimal, decided by its double
        return round(value_e4 / 10_000, 2)
    return (whole + (rest > 50)) / 100  # noqa: PLR2004 -- see above


@attrs.frozen(slots=False)
class Employee:
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

    KEPT: ClassVar[Kept] = {
        "number": ("name",),
        "rates_e4": ("_shown", "profile_json", "shown_rates"),
        "salary_cents": ("_head", "head_json", "profile_json"),
    }

    @kept
    def name(self) -> str:
        """The name that the agent uses."""
        return f"Emp_{self.number}"

    @kept
    def shown_rates(self) -> tuple[float, ...]:
        """Base rates as they are shown, 2 places."""
        return tuple([_two_places(rate) for rate in self.rates_e4])

    def profile(self) -> JsonObject:
        """Return what an agent is told of it, without its tasks, as a fresh object. Source: answers (employee list)."""
        return {**self._head, "skill_rates": {**self._shown}}

    def head(self) -> JsonObject:
        """Return what an agent is told of it where skills are hidden, as a fresh object. Source: K-1.2."""
        return {**self._head}

    @kept
    def _head(self) -> JsonObject:
        return {"name": self.name, "tier": self.tier, "salary_cents": self.salary_cents}

    @kept
    def _shown(self) -> JsonObject:
        return dict(zip(DOMAINS, self.shown_rates, strict=True))

    @kept
    def profile_json(self) -> str:
        """The profile as JSON; written out, since every success changes it and the staff is listed often."""
        rates = ",".join([f'"{name}":{rate!r}' for name, rate in zip(DOMAINS, self.shown_rates, strict=True)])
        return f'{self.head_json[:-1]},"skill_rates":{{{rates}}}}}'

    @kept
    def head_json(self) -> str:
        """The same without rates."""
        return f'{{"name":"{self.name}","tier":"{self.tier}","salary_cents":{self.salary_cents}}}'


@attrs.frozen(slots=False)
class Client:
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

    KEPT: ClassVar[Kept] = {}

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

    @kept
    def task_id(self) -> str:
        """Id of the task, unique in an episode."""
        return f"Task-{self.number}" if self.copy == 1 else f"Task-{self.number}-{self.copy}"

    def listing(self) -> JsonObject:
        """Return its line on the market, a fresh object. Source: answers (market browse)."""
        row = self._listing.copy()
        row["requirements"] = [requirement.copy() for requirement in self._required]
        return row

    @kept
    def _listing(self) -> JsonObject:
        return {
            "task_id": self.task_id,
            "client_name": self.client_name,
            "required_prestige": self.required_prestige,
            "required_trust": self.required_trust,
            "reward_funds_cents": self.reward_cents,
            "reward_prestige_delta": self.prestige_delta_milli / 1000,
            "skill_boost_pct": self.skill_boost_e4 / 10_000,
            "requirements": None,
        }

    @kept
    def _required(self) -> list[JsonObject]:
        return [{"domain": DOMAINS[domain], "required_qty": float(units)} for domain, units in self.requirements]

    @kept
    def listing_json(self) -> str:
        """Its line on the market as JSON; kept, since the market is listed far more often than it changes.

        Written out, since the first page of a new market has many lines that nobody has asked for before.
        """
        needs = ",".join(
            [f'{{"domain":"{DOMAINS[place]}","required_qty":{float(units)!r}}}' for place, units in self.requirements]
        )
        client = "null" if self.client_name is None else text_json(self.client_name)
        return (
            f'{{"task_id":"{self.task_id}","client_name":{client},'
            f'"required_prestige":{self.required_prestige},"required_trust":{self.required_trust},'
            f'"reward_funds_cents":{self.reward_cents},"reward_prestige_delta":{self.prestige_delta_milli / 1000!r},'
            f'"skill_boost_pct":{self.skill_boost_e4 / 10_000!r},"requirements":[{needs}]}}'
        )

    @kept
    def requirements(self) -> tuple[tuple[int, int], ...]:
        """Pairs of domain and quantity, in domain order."""
        return tuple(sorted(zip(self.domains, self.quantities, strict=True)))


Gate: TypeAlias = tuple[int, int, tuple[int, ...], int, int, str | None, MarketTask]
"""What accepting a listed task needs; one look-up for the loop over the market.

An order, unique in a market (ascending it is the best paid first, equal rewards in slot order), the first domain, the
further domains, required prestige, required trust, the client's name, the task. A plain tuple, since CPython unpacks
those twice as fast as named ones.
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
    """Rates of a task's domains as exact ratios with one denominator, in 1/10,000 units an hour.

    Args:
        nums: Numerators.
        den: Denominator.
        staff: The staff with whose skills they were found; with others they do not hold.
    """

    nums: tuple[int, ...]
    den: int
    staff: tuple[Employee, ...]


@attrs.frozen(slots=False)
class Task:
    """An accepted task.

    Args:
        offer: What the market said of it.
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

    KEPT: ClassVar[Kept] = {"deadline_us": ("deadline",), "status": ("rates",), "team": ("places", "rates")}

    @kept
    def deadline(self) -> str:
        """Deadline, ISO 8601."""
        return iso_time(self.deadline_us)

    @kept
    def places(self) -> tuple[int, ...]:
        """Places of the team's members in the staff: their numbers less 1."""
        return tuple([member.employee - 1 for member in self.team])

    @kept
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
