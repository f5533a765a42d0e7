"""What can be chosen about statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import attrs
import numpy as np

from ycbench_agents.evaluation.statistic.error import StatisticError
from ycbench_agents.evaluation.statistic.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DEFAULT_SETTINGS", "StatisticSettings"]


_Number = TypeVar("_Number", int, float)


def _between(low: _Number, high: _Number) -> Callable[[object, attrs.Attribute[_Number], _Number], None]:
    def check(_: object, attribute: attrs.Attribute[_Number], value: _Number) -> None:
        if not low <= value <= high:
            msg = f"{attribute.name}: got {value!r}, expected a number from {low:g} to {high:g}"
            raise StatisticError(msg)

    return check


def _unit(_: object, attribute: attrs.Attribute[int], value: int) -> None:
    if value not in (1, 100):
        msg = f"{attribute.name}: got {value!r}, expected 100 for values in cents or 1 for values in dollars"
        raise StatisticError(msg)


@attrs.frozen
class StatisticSettings(Result):
    """What intervals, tests and plans are made with.

    Args:
        confidence: Confidence of every interval; tests use ``alpha = 1 - confidence``.
        power: Power that a detectable difference is given for.
        resamples: Number of resamples of a bootstrap, and of random sign flips.
        random_seed: Seed of NumPy's generator; each interval and test starts one of its own, so that none depends on
            which others were made.
        dollar: What a dollar is in the unit of the values: 100 for cents, 1 for dollars. Only logarithms need it.

    Raises:
        StatisticError: A setting is out of its range.
    """

    confidence: float = attrs.field(default=0.95, validator=_between(0.5, 0.999))
    power: float = attrs.field(default=0.8, validator=_between(0.5, 0.99))
    resamples: int = attrs.field(default=9999, validator=_between(99, 1_000_000))
    random_seed: int = attrs.field(default=20260401, validator=_between(0, 2**63 - 1))
    dollar: int = attrs.field(default=100, validator=_unit)

    @property
    def alpha(self) -> float:
        """Level of the tests."""
        # 1 - 0.95 is 0.050000000000000044 in doubles, and a p-value of exactly 0.05 should not be at its mercy.
        return round(1 - self.confidence, 12)

    def generator(self) -> np.random.Generator:
        """Return a generator at its start."""
        return np.random.default_rng(self.random_seed)

    def batch(self, values: int) -> int:
        """Return how many resamples of so many values are held in memory at once."""
        return max(1, _NUMBERS_AT_ONCE // values)


_NUMBERS_AT_ONCE: Final = 2**20  # 8 MiB of doubles

DEFAULT_SETTINGS: Final = StatisticSettings()
"""Confidence 0.95, power 0.8, 9999 resamples, values in cents."""
