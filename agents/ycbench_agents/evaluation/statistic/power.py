"""How large a difference so many seeds can show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from ycbench_agents.evaluation.statistic.error import StatisticError
from ycbench_agents.evaluation.statistic.library import library
from ycbench_agents.evaluation.statistic.permutation import sign_flip_floor
from ycbench_agents.evaluation.statistic.result import Result
from ycbench_agents.evaluation.statistic.settings import DEFAULT_SETTINGS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ycbench_agents.evaluation.statistic.settings import StatisticSettings

__all__ = ["DetectableDifference", "minimal_detectable_difference", "paired_power"]

_HALVINGS: Final = 60  # down to the last digit of a double
_FARTHEST: Final = 9.0  # what the normal distribution has beyond is below 1e-18
_PANEL: Final = 0.25
_NODES: Final = 10  # a panel


@attrs.frozen
class DetectableDifference(Result):
    """The smallest true difference that so many pairs show with the power wished for.

    Args:
        seeds: Number of pairs.
        difference: Its size, in the unit of the deviation; None where it is not defined.
        deviation: Standard deviation of the paired differences that it was worked out with.
        alpha: Level of the two-sided test.
        power: Probability to find it.
        sign_flip_can: Whether the exact sign-flip test can reach the level at all with so many pairs: ``2 / 2**n`` is
            at most alpha, which takes six pairs for 0.05.
        reason: Why it is not defined; None where it is.
    """

    seeds: int
    difference: float | None
    deviation: float | None
    alpha: float
    power: float
    sign_flip_can: bool
    reason: str | None = None


def minimal_detectable_difference(
    deviation: float | None, seeds: int, settings: StatisticSettings = DEFAULT_SETTINGS
) -> DetectableDifference:
    """Return the smallest true mean difference that a paired t test of so many seeds finds with the power wished for.

    It solves ``paired_power(difference / deviation, seeds, alpha) = power``. The deviation comes from a pilot, whose
    own error it has.

    Args:
        deviation: Standard deviation of the paired differences; None if it is not known.
        seeds: Number of seeds that are planned.
        settings: Alpha (1 - confidence) and power.

    Raises:
        StatisticError: The deviation or the number of seeds is negative or no finite number.
    """
    if seeds < 0 or (deviation is not None and not 0 <= deviation < math.inf):
        msg = f"got a deviation of {deviation!r} and {seeds!r} seeds, expected finite numbers, 0 or more"
        raise StatisticError(msg)
    floor = sign_flip_floor(seeds)
    difference, reason = None, None
    if seeds < 2:  # noqa: PLR2004 -- a spread takes two
        reason = f"it takes at least 2 seeds: got {seeds}"
    elif deviation is None:
        reason = "the spread of the differences is not known: it takes at least 2 pairs"
    else:
        difference = _noncentrality(seeds, settings) * deviation / math.sqrt(seeds)
    can = floor is not None and floor <= settings.alpha
    return DetectableDifference(seeds, difference, deviation, settings.alpha, settings.power, can, reason)


def paired_power(effect: float, seeds: int, alpha: float) -> float:
    """Return the power of the two-sided paired t test: how often a noncentral t is beyond the critical values.

    Args:
        effect: True mean difference over the standard deviation of the differences (Cohen's dz).
        seeds: Number of pairs, two or more.
        alpha: Level of the test, above 0 and below 1.

    Raises:
        StatisticError: There are fewer than two pairs, or a number is out of its range.
    """
    if seeds < 2 or not 0 < alpha < 1 or not math.isfinite(effect):  # noqa: PLR2004 -- a spread takes two
        msg = (
            f"got an effect of {effect!r}, {seeds!r} seeds and alpha = {alpha!r}, expected a finite number, 2 or more "
            "and a number between 0 and 1"
        )
        raise StatisticError(msg)
    freedom = seeds - 1
    critical = float(library().t.ppf(1 - alpha / 2, freedom))
    # scipy.stats.nct (1.17) is far off for few degrees of freedom: power 0.44 for 0.50 with 2 seeds. So the integral
    # over the standard normal part z of t = (z + shift) / sqrt(v / freedom) is worked out here, v being chi-square.
    nodes, weights = _normal_nodes()
    limits = freedom * ((nodes + effect * math.sqrt(seeds)) / critical) ** 2
    return min(1.0, float(weights @ library().chi2.cdf(limits, freedom)))


def _normal_nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return nodes and weights that integrate a function times the standard normal density."""
    places, parts = np.polynomial.legendre.leggauss(_NODES)
    middles = np.arange(-_FARTHEST, _FARTHEST, _PANEL) + _PANEL / 2
    nodes = (middles[:, None] + places * _PANEL / 2).ravel()
    weights = np.tile(parts * _PANEL / 2, middles.size) * np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)
    return nodes, weights


def _noncentrality(seeds: int, settings: StatisticSettings) -> float:
    """Return ``effect * sqrt(seeds)`` at the power wished for, by bisection: power grows with it."""
    root = math.sqrt(seeds)
    low, high = 0.0, 1.0
    while paired_power(high / root, seeds, settings.alpha) < settings.power:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if paired_power(middle / root, seeds, settings.alpha) < settings.power:
            low = middle
        else:
            high = middle
    return high
