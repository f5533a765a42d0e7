"""The sign-flip permutation test of paired differences, exact where it can be counted out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Literal

import attrs
import numpy as np

from ycbench_agents.evaluation.statistic.library import library
from ycbench_agents.evaluation.statistic.result import Result
from ycbench_agents.evaluation.statistic.sample import number
from ycbench_agents.evaluation.statistic.settings import DEFAULT_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ycbench_agents.evaluation.statistic.settings import StatisticSettings

__all__ = ["EXACT_LIMIT", "SignFlipTest", "pairs_needed", "sign_flip_floor", "sign_flip_test"]

EXACT_LIMIT: Final = 32
"""Most differences other than 0 for which all sign flips are counted."""

_TIE: Final = 1e-12  # of the sum of all sizes: far above what doubles lose, far below a cent


@attrs.frozen
class SignFlipTest(Result):
    """Whether differences are symmetric about 0, two-sided.

    Args:
        p: Share of all sign flips whose mean is at least as far from 0 as the one found; None without a difference.
        n: Number of differences.
        method: ``exact`` (all flips), ``random`` (some of them, drawn) or ``none``.
        flips: Number of flips that were looked at: all ``2**k`` of the k differences other than 0, or those drawn; 0
            without a difference.
        floor: The smallest p that k differences other than 0 can have, ``2 / 2**k``, 1 where all are 0; of drawn flips,
            if that is larger, one in one more than were drawn. None without a difference.
        reason: Why there is no p; None where there is one.
    """

    p: float | None
    n: int
    method: Literal["exact", "random", "none"]
    flips: int
    floor: float | None
    reason: str | None = None


def sign_flip_floor(count: int) -> float | None:
    """Return the smallest exact p of so many differences, ``2 / 2**n``; None of none."""
    return 2.0 ** (1 - count) if count else None


def pairs_needed(p: float) -> int:
    """Return the fewest differences other than 0 whose exact p can be as small as this, which is above 0."""
    return max(1, math.ceil(1 - math.log2(p)))


def sign_flip_test(differences: Sequence[float], settings: StatisticSettings = DEFAULT_SETTINGS) -> SignFlipTest:
    """Return the two-sided sign-flip test of the mean of paired differences (Fisher 1935, section 21).

    If candidate and baseline are alike, each difference is as likely to have the other sign. Up to 32 differences
    other than 0 (a 0 counts the same either way) all flips are counted; of more, ``scipy.stats.permutation_test``
    draws some, the one found among them.

    Args:
        differences: One for each seed; their order does not matter.
        settings: Number of flips to draw, and seed.

    Raises:
        StatisticError: A difference is no finite number.
    """
    numbers = sorted(number(value, f"difference {i}") for i, value in enumerate(differences, 1))
    count = len(numbers)
    if not count:
        return SignFlipTest(None, 0, "none", 0, None, "there is no pair")
    others = np.asarray([value for value in numbers if value])
    floor = sign_flip_floor(others.size) or 1.0  # a tie has no sign to flip
    if others.size <= EXACT_LIMIT:
        return SignFlipTest(_exact_p(others), count, "exact", 2**others.size, floor)
    least = max(floor, 1 / (settings.resamples + 1))
    return SignFlipTest(_random_p(others, settings), count, "random", settings.resamples, least)


def _exact_p(differences: NDArray[np.float64]) -> float:
    """Return the share of all flips that are as extreme, from the sums of two halves.

    With the sums of one half sorted, those that complete a sum of the other are found by bisection: 32 differences take
    twice 2**16 sums instead of 2**32.
    """
    threshold = abs(float(differences.sum())) - _TIE * float(np.abs(differences).sum())
    if threshold <= 0:  # every flip is as far from 0 as 0 is
        return 1.0
    middle = differences.size // 2
    left, right = _flipped_sums(differences[:middle]), np.sort(_flipped_sums(differences[middle:]))
    reached = int((right.size - np.searchsorted(right, threshold - left)).sum())
    return 2 * reached / 2**differences.size


def _flipped_sums(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums + difference, sums - difference])
    return sums


def _random_p(differences: NDArray[np.float64], settings: StatisticSettings) -> float:
    test = library().permutation_test(
        (differences / np.abs(differences).max(),),
        _distance,
        permutation_type="samples",
        vectorized=True,
        n_resamples=settings.resamples,
        batch=settings.batch(differences.size),
        alternative="greater",
        rng=settings.generator(),
    )
    return float(test.pvalue)


def _distance(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    return np.abs(values.mean(axis=axis))
