"""What the expert knows at one moment, made of the answers of one look."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.scripted import answer
from ycbench_agents.scripted.answer import Employee
from ycbench_agents.scripted.forecast import ASSUMED_RATE, business_hours

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ycbench_agents.scripted.answer import Inspection, Offer, Work
    from ycbench_agents.scripted.gate import PrestigeGate
    from ycbench_env import Observation

__all__ = ["MOST_LISTED", "TRUST_MAX", "Situation", "read_situation", "units"]

MOST_LISTED: Final = 400  # tasks of the market; more do not fit into an observation, and the best paid come first
TRUST_MAX: Final = 5.0
_WORK_REDUCTION: Final = 0.5  # at full trust
_LEAST_UNITS: Final = 200.0


def units(work: Work) -> float:
    """Return the units of a task over all of its domains."""
    total = 0.0
    for _, each in work:
        total += each
    return total


@attrs.frozen
class Situation:
    """The company and its market at one moment.

    Args:
        now: Clock.
        hours_left: Business hours up to the horizon.
        funds_cents: Funds.
        payroll_cents: Salaries of a month.
        open_tasks: Number of own tasks that are planned or active.
        staff: Everybody, with rates in every domain, and the active tasks that they are on.
        trust: Trust by client.
        prestige: Prestige by domain.
        offers: Tasks of the market that can be accepted.
        near: Those that could be with a level more of prestige in each domain.
        inspections: Own tasks that were looked at closely.
        planned: Own tasks that are planned, if it was asked for them.
        hidden: Whether rates are not told, so that those of the staff are mere assumptions.
    """

    now: dt.datetime
    hours_left: float
    funds_cents: int
    payroll_cents: int
    open_tasks: int
    staff: tuple[Employee, ...]
    trust: Mapping[str, float]
    prestige: Mapping[str, float]
    offers: tuple[Offer, ...]
    inspections: tuple[Inspection, ...]
    planned: tuple[str, ...]
    hidden: bool = False
    near: tuple[Offer, ...] = ()

    @property
    def free(self) -> tuple[Employee, ...]:
        """Those of the staff who are on no active task."""
        return tuple(member for member in self.staff if not member.active_tasks)

    def work_after_trust(self, offer: Offer) -> Work:
        """Return the work that an honest client leaves of an offer if it is accepted now."""
        factor = 1 - _WORK_REDUCTION * min(self.trust.get(offer.client, 0.0) / TRUST_MAX, 1.0)
        return tuple((domain, max(_LEAST_UNITS, float(int(each * factor)))) for domain, each in offer.work)


def read_situation(observation: Observation, gate: PrestigeGate) -> Situation:
    """Return the situation that the looks of the last turn show.

    Args:
        observation: What was seen last.
        gate: Which tasks prestige opens.
    """
    now = dt.datetime.fromisoformat(observation["sim_time"])
    horizon = dt.datetime.fromisoformat(observation["horizon_end"])
    prestige = answer.prestige(observation)
    trust = answer.trust(observation)
    listed = answer.staff(observation)
    hidden = bool(listed) and not any(member.rates for member in listed)
    above = {domain: level + 1 for domain, level in prestige.items()} if hidden else {}
    ended = {done.task_id for done in answer.completions(observation)}
    return Situation(
        now=now,
        hours_left=business_hours(now, horizon),
        funds_cents=int(observation["funds_cents"]),
        payroll_cents=int(observation["monthly_payroll_cents"]),
        open_tasks=int(observation["active_tasks"]) + int(observation["planned_tasks"]),
        staff=tuple(_known(member, prestige, ended) for member in listed),
        trust=trust,
        prestige=prestige,
        offers=tuple(_acceptable(answer.offers(observation), prestige, trust, gate)),
        inspections=answer.inspections(observation),
        planned=tuple(task.task_id for task in answer.own_tasks(observation) if task.status == "planned"),
        hidden=hidden,
        near=tuple(_acceptable(answer.offers(observation), above, trust, gate)) if hidden else (),
    )


def _known(member: Employee, domains: Iterable[str], ended: set[str]) -> Employee:
    """Return a member of the staff with the rates that are believed, and without the tasks that have ended since.

    Where the rules hide rates, they are the same for everybody here; what is believed of each is in ``skill``.
    """
    return Employee(
        name=member.name,
        salary_cents=member.salary_cents,
        rates={domain: member.rates.get(domain, ASSUMED_RATE) for domain in domains},
        active_tasks=tuple(task_id for task_id in member.active_tasks if task_id not in ended),
        tier=member.tier,
    )


def _acceptable(
    offers: Sequence[Offer], prestige: Mapping[str, float], trust: Mapping[str, float], gate: PrestigeGate
) -> Iterable[Offer]:
    """Yield the offers that would not be refused; most markets list no others."""
    for offer in offers:
        if offer.work and gate.opens(offer, prestige) and trust.get(offer.client, 0.0) >= offer.required_trust:
            yield offer
