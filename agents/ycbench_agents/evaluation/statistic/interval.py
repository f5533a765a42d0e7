"""Confidence intervals: of a mean by resampling and by Student's t, of a proportion exactly."""

from __future__ import annotations

import math
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

import numpy as np

from ycbench_agents.evaluation.statistic.error import StatisticError
from ycbench_agents.evaluation.statistic.library import library
from ycbench_agents.evaluation.statistic.result import Interval
from ycbench_agents.evaluation.statistic.sample import number
from ycbench_agents.evaluation.statistic.settings import DEFAULT_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ycbench_agents.evaluation.statistic.result import IntervalMethod
    from ycbench_agents.evaluation.statistic.settings import StatisticSettings

__all__ = ["BCA_NEEDS", "bca_interval", "clopper_pearson_interval", "mean_interval", "student_interval"]

BCA_NEEDS: Final = 20
"""Number of values from which on the BCa interval covers as often as Student's (measured, docs/statistics.md)."""

_EQUAL: Final = "all values are equal: the width of 0 says that this sample shows no spread, not that there is none"
_DIGITS: Final = 14


def bca_interval(values: Sequence[float], settings: StatisticSettings = DEFAULT_SETTINGS) -> Interval:
    """Return the bias-corrected and accelerated bootstrap interval of the mean (Efron 1987; ``scipy.stats.bootstrap``).

    Of fewer than two values there is none; of equal values both ends are that value, with the reason beside it.

    Args:
        values: Independent values, such as one difference a seed; their order does not matter.
        settings: Confidence, number of resamples and seed.

    Raises:
        StatisticError: A value is no finite number.
    """
    numbers = _numbers(values)
    limit = 1 - 2.0 ** (1 - len(numbers)) if numbers else None
    plain = _interval_without_spread(numbers, settings, "bca", limit)
    if plain is not None:
        return plain
    lowest, width = numbers[0], numbers[-1] - numbers[0]
    # On [0, 1] nothing under- or overflows. The mean's interval moves and stretches with the values.
    standard = (np.asarray(numbers) - lowest) / width
    found = library().bootstrap(
        (standard,),
        _rounded_mean,
        vectorized=True,
        n_resamples=settings.resamples,
        batch=settings.batch(len(numbers)),
        confidence_level=settings.confidence,
        method="BCa",
        rng=settings.generator(),
    )
    ends = found.confidence_interval
    low, high = (lowest + width * float(end) for end in (ends.low, ends.high))
    return Interval(low, high, settings.confidence, "bca", None, limit)


def _rounded_mean(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    # A resample that is the sample in another order must tie with it, though its sum may be an ulp off.
    means: NDArray[np.float64] = values.mean(axis=axis)
    return means.round(_DIGITS)


def student_interval(values: Sequence[float], settings: StatisticSettings = DEFAULT_SETTINGS) -> Interval:
    """Return Student's interval of the mean: ``mean ± t(1 - alpha/2, n - 1) s / sqrt(n)``.

    Defined as ``bca_interval`` is.

    Raises:
        StatisticError: A value is no finite number.
    """
    numbers = _numbers(values)
    plain = _interval_without_spread(numbers, settings, "student", None)
    if plain is not None:
        return plain
    quantile = float(library().t.ppf(1 - (1 - settings.confidence) / 2, len(numbers) - 1))
    half = quantile * stdev(numbers) / math.sqrt(len(numbers))
    return Interval(fmean(numbers) - half, fmean(numbers) + half, settings.confidence, "student")


def mean_interval(count: int, bca: Interval, student: Interval) -> Interval:
    """Return which of the two intervals of a mean to read: BCa from ``BCA_NEEDS`` values on, Student's of fewer.

    Resampling never reaches beyond the values. Three values of a symmetric distribution lie all on one side of its
    mean in a quarter of all cases, so no interval between them covers it in more than 75 % of all cases.

    Args:
        count: Number of values.
        bca: Their interval by resampling.
        student: Their interval by Student's t.
    """
    return bca if count >= BCA_NEEDS else student


def clopper_pearson_interval(share: float, count: int, settings: StatisticSettings = DEFAULT_SETTINGS) -> Interval:
    """Return the exact interval of a proportion (Clopper and Pearson 1934), which covers at least what it promises.

    Args:
        share: Proportion found, 0 to 1. ``share * count`` need not be whole: with repeats, a seed can succeed in
            part (Korn and Graubard 1998).
        count: Number of independent trials; of none there is no interval.
        settings: Confidence.

    Raises:
        StatisticError: The share is not within 0 and 1, or the count is negative.
    """
    if not 0 <= share <= 1 or count < 0:
        msg = f"got a share of {share!r} of {count!r}, expected a share from 0 to 1 and a count of 0 or more"
        raise StatisticError(msg)
    if count == 0:
        return Interval(None, None, settings.confidence, "clopper_pearson", _too_few(0, 1))
    tail, hits = (1 - settings.confidence) / 2, share * count
    beta = library().beta
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, count - hits + 1))
    high = 1.0 if hits == count else float(beta.ppf(1 - tail, hits + 1, count - hits))
    return Interval(low, high, settings.confidence, "clopper_pearson")


def _interval_without_spread(
    numbers: Sequence[float], settings: StatisticSettings, method: IntervalMethod, limit: float | None
) -> Interval | None:
    """Return the interval of fewer than two values or of equal ones; None of others."""
    if len(numbers) < 2:  # noqa: PLR2004 -- a spread takes two
        return Interval(None, None, settings.confidence, method, _too_few(len(numbers), 2), limit)
    if numbers[0] == numbers[-1]:
        return Interval(numbers[0], numbers[0], settings.confidence, method, _EQUAL, limit)
    return None


def _too_few(got: int, needed: int) -> str:
    return f"an interval takes at least {needed} independent value{'s' if needed > 1 else ''}: got {got}"


def _numbers(values: Sequence[float]) -> list[float]:
    """Return the values in ascending order, so that the result does not depend on the order of seeds."""
    return sorted(number(value, f"value {i}") for i, value in enumerate(values, 1))
