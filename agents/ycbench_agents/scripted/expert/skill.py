"""What hidden rates are believed to be: a Bayesian linear estimate from the progress of teams.

A team's rate in a domain is the sum of its members' rates, each divided among the tasks that they are on. So progress
between two looks is a linear equation in the members' rates, and a Kalman filter takes in one equation after another:
it begins with what a newcomer may assume of each tier, and follows the known boosts of every success. Teams that differ
tell members apart; a team that never changes tells only its sum, and the estimate says so by its deviations.

How much time counts as progress is not told either: business hours, or every hour of a working day from its start until
midnight. Both are tried side by side, and that is believed which foresaw the progress better so far.

Everything is plain arithmetic in a fixed order, so that any machine believes the same.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.scripted.forecast import ASSUMED_RATE, business_hours

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Belief", "Gain", "RateEstimate", "counted_hours"]

_USUAL: Final = {"junior": (2.5, 2.0), "mid": (5.5, 3.0), "senior": (8.5, 3.5)}  # mean and deviation of a rate
_UNKNOWN: Final = (ASSUMED_RATE, 3.0)
_LEAST_RATE: Final = 0.1  # nobody works backwards, whatever the equations say
_NOISE: Final = 1e-3  # of progress: rates are stored with four places, and so is work
_NOISE_UNITS: Final = 2e-4
_MOST_MEMBERS: Final = 64  # of a team; a larger one tells too little of anybody
_TOO_SURE: Final = 1e-300  # variances below it are 0
_SATURDAY: Final = 5
_OPENING: Final = 9
_CLOSING: Final = 18
_MIDNIGHT: Final = 24
_HOUR: Final = dt.timedelta(hours=1)


@attrs.frozen
class Belief:
    """A rate as it is believed.

    Args:
        rate: Expected units an hour.
        deviation: Standard deviation of it, in units an hour.
    """

    rate: float
    deviation: float


@attrs.frozen
class Gain:
    """What one task gained in one domain between two looks at it.

    Args:
        domain: The domain.
        units: Units of work done, which nothing capped.
        shares: Members of its team with the part of their time that this task had: 1 / the tasks that they were on.
        since: The first look.
        until: The second look.
    """

    domain: str
    units: float
    shares: Mapping[str, float]
    since: dt.datetime
    until: dt.datetime


def counted_hours(since: dt.datetime, until: dt.datetime) -> float:
    """Return the hours that count where a working day counts until midnight, save the last one until its closing."""
    hours, day = 0.0, since.replace(hour=0, minute=0, second=0, microsecond=0)
    while day.date() <= until.date():
        if day.weekday() < _SATURDAY:
            last = day.date() == until.date()
            end = min(until, day + _CLOSING * _HOUR) if last else day + _MIDNIGHT * _HOUR
            hours += max(0.0, (end - max(since, day + _OPENING * _HOUR)) / _HOUR)
        day += dt.timedelta(days=1)
    return hours


class RateEstimate:
    """Beliefs about everybody's rates in every domain."""

    def __init__(self) -> None:
        """Make one that has seen nothing; everybody is believed to be middling until their tier is known."""
        self._tiers: dict[str, str] = {}
        self._rules = (_Filters(), _Filters())

    def meet(self, name: str, tier: str) -> None:
        """Take in somebody's tier; it counts until progress tells more.

        Args:
            name: Who it is.
            tier: junior, mid, senior, or anything else for somebody unknown.
        """
        if self._tiers.setdefault(name, tier) == tier:
            for filters in self._rules:
                filters.priors[name] = _USUAL.get(tier, _UNKNOWN)

    def observe(self, gain: Gain) -> None:
        """Take in what a task gained."""
        hours = (
            business_hours(gain.since, gain.until),
            counted_hours(gain.since, gain.until),
        )
        if min(hours) <= 0 or not 0 < len(gain.shares) <= _MOST_MEMBERS:
            return
        for filters, each in zip(self._rules, hours, strict=True):
            filters.observe(gain.domain, gain.shares, gain.units, each)

    def boost(self, names: Iterable[str], domains: Iterable[str], fraction: float) -> None:
        """Raise what is believed of a team's rates after its success, by a fraction."""
        members = tuple(names)
        for domain in domains:
            for filters in self._rules:
                filters.scale(domain, members, 1.0 + fraction)

    def belief(self, name: str, domain: str) -> Belief:
        """Return what is believed of a rate."""
        filters = self._rules[self.counts_until_midnight]
        mean, variance = filters.of(domain, name)
        return Belief(max(_LEAST_RATE, mean), math.sqrt(max(0.0, variance)))

    def team(self, names: Iterable[str], domain: str) -> Belief:
        """Return what is believed of the rate of several together, who work on nothing else."""
        mean, variance = self._rules[self.counts_until_midnight].of_sum(domain, tuple(names))
        return Belief(max(_LEAST_RATE, mean), math.sqrt(max(0.0, variance)))

    @property
    def counts_until_midnight(self) -> bool:
        """Whether hours until midnight are believed to count; among equals business hours are."""
        usual, late = self._rules
        return late.surprise < usual.surprise


class _Filters:
    """A filter for each domain, all by one way of counting hours."""

    def __init__(self) -> None:
        self.priors: dict[str, tuple[float, float]] = {}
        self.surprise = 0.0  # minus twice the log likelihood of what was seen
        self._domains: dict[str, _Filter] = {}

    def of(self, domain: str, name: str) -> tuple[float, float]:
        """Return mean and variance of a rate."""
        known = self._domains.get(domain)
        if known is None or name not in known.means:
            mean, deviation = self.priors.get(name, _UNKNOWN)
            return mean, deviation * deviation
        return known.means[name], known.covariances[name][name]

    def of_sum(self, domain: str, names: tuple[str, ...]) -> tuple[float, float]:
        """Return mean and variance of the sum of several rates."""
        filter_ = self._with(domain, names)
        mean = sum([filter_.means[name] for name in names])
        return mean, sum([filter_.covariances[one].get(other, 0.0) for one in names for other in names])

    def observe(self, domain: str, shares: Mapping[str, float], units: float, hours: float) -> None:
        filter_ = self._with(domain, shares)
        noise = _NOISE_UNITS + _NOISE * units
        weights = {name: share * hours for name, share in shares.items()}
        self.surprise += filter_.update(weights, units, noise * noise)

    def scale(self, domain: str, names: tuple[str, ...], factor: float) -> None:
        filter_ = self._with(domain, names)
        for name in names:
            filter_.scale(name, factor)

    def _with(self, domain: str, names: Iterable[str]) -> _Filter:
        filter_ = self._domains.setdefault(domain, _Filter())
        for name in names:
            if name not in filter_.means:
                filter_.add(name, *self.priors.get(name, _UNKNOWN))
        return filter_


class _Filter:
    """Means and covariances of the rates in one domain; rows hold only what is not 0."""

    def __init__(self) -> None:
        self.means: dict[str, float] = {}
        self.covariances: dict[str, dict[str, float]] = {}

    def add(self, name: str, mean: float, deviation: float) -> None:
        """Add somebody of whom nothing but the usual is known."""
        self.means[name] = mean
        self.covariances[name] = {name: deviation * deviation}

    def scale(self, name: str, factor: float) -> None:
        """Multiply somebody's rate by a known factor."""
        self.means[name] *= factor
        row = self.covariances[name]
        for other in row:
            row[other] *= factor
            self.covariances[other][name] = row[other]
        row[name] *= factor

    def update(self, weights: Mapping[str, float], seen: float, noise: float) -> float:
        """Take in that a weighted sum of rates was seen, and return how surprising that was."""
        gains: dict[str, float] = {}
        for name, weight in weights.items():
            for other, covariance in self.covariances[name].items():
                gains[other] = gains.get(other, 0.0) + weight * covariance
        expected, variance = 0.0, noise
        for name, weight in weights.items():
            expected += weight * self.means[name]
            variance += weight * gains[name]
        error = seen - expected
        for name, gain in gains.items():
            self.means[name] += gain / variance * error
            row = self.covariances[name]
            for other, other_gain in gains.items():
                left = row.get(other, 0.0) - gain * other_gain / variance
                row[other] = max(left, _TOO_SURE) if other == name else left
        return error * error / variance + math.log(variance)
