"""What a task is worth to the expert: money now, and what a success does for the rest of the year."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.scripted.expert.situation import TRUST_MAX, Situation, units
from ycbench_agents.scripted.parameter import at_least_zero

if TYPE_CHECKING:
    from ycbench_agents.scripted.answer import Offer, Work
    from ycbench_agents.scripted.expert.staffing import Team

__all__ = ["RATE_MAX", "Valuation", "Weights", "read_weights"]

RATE_MAX: Final = 10.0
_YEAR: Final = 2349.0  # business hours of a year
_TRUST_GAIN: Final = 1.6  # of a first success
_REDUCTION_PER_TRUST: Final = 0.1  # of the work
_MATURE_WORK: Final = 0.56  # share of the listed work that is left at the trust which a kept client settles at
_SALARY_RAISE: Final = 0.01
_THIN_RUNWAY: Final = 2.0  # months; below it only money counts


def _check_weight(_weights: Weights, attribute: attrs.Attribute[float], value: object) -> None:
    """Refuse what is no weight; weights come from files, too.

    Raises:
        ValueError: It is no number of at least 0.
    """
    at_least_zero(value, f"weights: got {attribute.name} =", "a number of at least 0, like 1.5")


@attrs.frozen
class Weights:
    """How much the expert cares for what a success brings besides its reward; 1 is what a rough reckoning says.

    Args:
        skill: Higher rates.
        skill_hours: Business hours that a gain in rates counts at most; later everybody would have had it anyway.
        trust: Trust of the client, which makes its later tasks smaller.
        trust_hours: Business hours that a gain in trust counts at most, since trust decays.
        prestige: Prestige of the domains, which opens better offers.
        salary: Raises of the team, which are paid for the rest of the year.
        patience: Keeping well-paid offers for the time when trust has made them small: nobody else takes them.
        renewal: The new offer that takes the place of an accepted one.

    Raises:
        ValueError: One is no number of at least 0.
    """

    skill: float = attrs.field(default=0.25, validator=_check_weight)
    skill_hours: float = attrs.field(default=1000.0, validator=_check_weight)
    trust: float = attrs.field(default=2.0, validator=_check_weight)
    trust_hours: float = attrs.field(default=250.0, validator=_check_weight)
    prestige: float = attrs.field(default=1.0, validator=_check_weight)
    salary: float = attrs.field(default=1.5, validator=_check_weight)
    patience: float = attrs.field(default=0.8, validator=_check_weight)
    renewal: float = attrs.field(default=1.5, validator=_check_weight)


def read_weights(given: Weights | Mapping[str, float] | None) -> Weights:
    """Return weights from some of them by name; the others are the usual ones.

    Raises:
        ValueError: There is no such weight, or it is no number of at least 0.
    """
    if isinstance(given, Weights):
        return given
    known = [field.name for field in attrs.fields(Weights)]
    if given is not None and not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- comes from files, too
        msg = f"weights: got {given!r}, expected some of {', '.join(known)} with their values, like {{skill = 0.5}}"
        raise ValueError(msg)
    if unknown := [name for name in given or {} if name not in known]:
        msg = f"weights: got {', '.join(map(repr, unknown))}, expected some of {', '.join(known)}"
        raise ValueError(msg)
    return Weights(**given or {})


@attrs.frozen(slots=False)
class Valuation:
    """Values at one moment.

    Args:
        situation: The moment.
        honest: Clients that are known not to inflate work.
        weights: What counts how much.
    """

    situation: Situation
    honest: frozenset[str]
    weights: Weights

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """Offers of honest clients."""
        return tuple(offer for offer in self.situation.offers if offer.client in self.honest)

    @cached_property
    def capacity(self) -> float:
        """Units an hour of the whole staff, everybody at what they do best."""
        return sum(max(member.rates.values(), default=0.0) for member in self.situation.staff)

    @cached_property
    def _priced(self) -> tuple[tuple[float, float], ...]:
        """Reward and units, once trust is there, of the honest offers (of all while none is known), best first."""
        listed = self.offers or self.situation.offers
        each = [(float(offer.reward_cents), self._mature_units(offer)) for offer in listed]
        return tuple(sorted(each, key=lambda pair: -pair[0] / pair[1]))

    def _mature_units(self, offer: Offer) -> float:
        return min(units(self.work(offer)), _MATURE_WORK * units(offer.work))

    @cached_property
    def going_rate(self) -> float:
        """Cents a unit of the worst offer that is still worth taking up to the horizon.

        So many tasks as the staff can do are taken out of those listed and those that replace them: of the latter as
        many as are taken.
        """
        if not self._priced:
            return 0.0
        number = len(self._priced)
        tasks = self.situation.hours_left * self.capacity / (sum(each for _, each in self._priced) / number)
        reward, work = self._priced[min(number - 1, int(tasks / (number + tasks) * number))]
        return reward / work

    @cached_property
    def _solvent(self) -> bool:
        return self.situation.funds_cents >= _THIN_RUNWAY * self.situation.payroll_cents

    def of_offer(self, offer: Offer) -> float:
        """Return what an offer is worth whoever does it, in cents."""
        if not self._solvent:
            return float(offer.reward_cents)
        return (
            offer.reward_cents
            + self._trust_gain(offer.client) * self._trust_price
            + self.weights.prestige * sum(self._level_values[domain] for domain, _ in offer.work) * offer.prestige_delta
            + self._renewal_value
            - self.weights.patience * self._later_value(offer)
        )

    @cached_property
    def _trust_price(self) -> float:
        """What a point of trust with one of the honest clients is worth, in cents."""
        hours = min(self.situation.hours_left, self.weights.trust_hours)
        units_of_client = self.capacity * hours / max(1, len(self.honest))
        return self.weights.trust * _REDUCTION_PER_TRUST * units_of_client * self.going_rate

    def _trust_gain(self, client: str) -> float:
        return _TRUST_GAIN * (1 - min(self.situation.trust.get(client, 0.0) / TRUST_MAX, 1.0)) ** 1.5

    @cached_property
    def _level_values(self) -> dict[str, float]:
        """What a whole level of prestige is worth by domain: as much as offers crowd at the level that is reached.

        Who stands above all offers gets nothing for more.
        """
        year = self.going_rate * self.capacity * self.situation.hours_left / 100
        return {domain: self._crowd(domain, int(level)) * year for domain, level in self.situation.prestige.items()}

    def _crowd(self, domain: str, level: int) -> float:
        """Return which share of a domain's offers requires at least a level."""
        required = self._required.get(domain, ())
        return sum(each >= level for each in required) / max(1, len(required))

    @cached_property
    def _required(self) -> dict[str, list[int]]:
        """Prestige that the offers of each domain require."""
        required: dict[str, list[int]] = {}
        for offer in self.offers:
            for domain, _ in offer.work:
                required.setdefault(domain, []).append(offer.required_prestige)
        return required

    @cached_property
    def _renewal_value(self) -> float:
        gains = [max(0.0, reward - self.going_rate * work) for reward, work in self._priced]
        average = sum(gains) / len(gains) if gains else 0.0
        return self.weights.renewal * average * min(1.0, self.situation.hours_left / self.weights.trust_hours)

    def _later_value(self, offer: Offer) -> float:
        """Return what is lost when an offer is done now, which would take less work later."""
        surplus = offer.reward_cents - self.going_rate * _MATURE_WORK * units(offer.work)
        return max(0.0, surplus) * min(1.0, self.situation.hours_left / _YEAR)

    def of_team(self, offer: Offer, team: Team, hours: float) -> float:
        """Return what it is worth that this team does an offer: what it learns, less its raises, in cents."""
        left = max(0.0, self.situation.hours_left - hours)
        raises = _SALARY_RAISE * team.salary_cents * left / 196
        if not self._solvent:
            return -raises
        learnt = 0.0
        for rate in team.learners:
            learnt += min(rate * offer.skill_boost, RATE_MAX - rate)
        hours_used = min(left, self.weights.skill_hours)
        return self.weights.skill * learnt * hours_used * self.going_rate - self.weights.salary * raises

    def most_of_team(self, offer: Offer, rates_below_cap: float) -> float:
        """Return a bound on ``of_team``, given the most that the rates of those who learn can sum up to."""
        hours = min(self.situation.hours_left, self.weights.skill_hours)
        return self.weights.skill * rates_below_cap * offer.skill_boost * hours * self.going_rate

    def work(self, offer: Offer) -> Work:
        """Return the work of an offer if it is accepted now and its client is honest."""
        return self._works[offer.task_id]

    @cached_property
    def _works(self) -> dict[str, Work]:
        return {offer.task_id: self.situation.work_after_trust(offer) for offer in self.situation.offers}
