"""Statistics of an evaluation: intervals, paired tests, Holm's correction and tiers (docs/statistics.md).

The seed is the unit: each function takes one value a seed, the mean over its repeats. A number that is not defined is
None. Equal values give equal results: resampling starts from a fixed seed, on sorted values.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, median, stdev, variance
from typing import Final, Literal, TypeVar

import attrs
import numpy as np

from ycbench_env.errors import needs_extra

with needs_extra("evaluation", "statistics need pandas and scipy"):
    import pandas as pd
    from scipy import stats

CONFIDENCE: Final = 0.95  # of every interval
ALPHA: Final = 0.05  # level of every test
BCA_NEEDS: Final = 20  # fewest values of which the interval of a mean is made by resampling
EXACT_LIMIT: Final = 16  # most differences other than 0 of which all sign flips are counted
_Key = TypeVar("_Key", bound=Hashable)
_RESAMPLES: Final = 9999
_RANDOM_SEED: Final = 20260401
_TIE: Final = 1e-12  # of the sum of all sizes: far above what doubles lose, far below a cent


@attrs.frozen
class Interval:
    """A confidence interval in the unit of the values; without ends if it is not defined."""

    low: float | None = None
    high: float | None = None


@attrs.frozen
class Summary:
    """Number, mean, median, standard deviation (n - 1) of values, and the interval of the mean."""

    n: int
    mean: float | None
    median: float | None
    deviation: float | None
    interval: Interval


@attrs.frozen
class SignFlipTest:
    """A two-sided sign-flip test of paired differences; None without a difference."""

    p: float | None = None  # share of all sign flips whose mean is at least as far from 0 as the observed one
    floor: float | None = None  # the smallest p that so many differences can have


@attrs.frozen
class Comparison:
    """A candidate against a baseline on the seeds that both have; a lift is the difference on a seed."""

    difference: Summary  # of the lifts
    percent: float | None  # mean lift in percent of the baseline's mean; None unless that is above 0
    test: SignFlipTest  # of the lifts
    wins: int
    ties: int
    losses: int
    win_rate: float | None  # share of the seeds won, a tie counting half; None without a pair


def mean_interval(values: Sequence[float], method: Literal["student", "bca"] | None = None) -> Interval:
    """Return the interval of a mean; undefined for fewer than two values, of width 0 if all are equal.

    Args:
        values: Independent values.
        method: ``student`` for ``mean ± t(n - 1) s / sqrt(n)``, ``bca`` for the bias-corrected and accelerated
            bootstrap (Efron 1987). By default bca from ``BCA_NEEDS`` values on: it never reaches beyond the values, so
            its intervals of few values are far too narrow.
    """
    method = method or ("bca" if len(values) >= BCA_NEEDS else "student")
    numbers = sorted(map(float, values))
    if len(numbers) < 2:  # noqa: PLR2004 -- a spread takes two
        return Interval()
    lowest, width = numbers[0], numbers[-1] - numbers[0]
    if method == "student" or not width:
        half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(numbers) - 1)) * stdev(numbers) / math.sqrt(len(numbers))
        return Interval(fmean(numbers) - half, fmean(numbers) + half)
    ends = stats.bootstrap(
        ((np.asarray(numbers) - lowest) / width,),
        # Rounded: a resample that is the sample in another order must tie with it, whatever the last digit of its sum.
        lambda sample, axis: np.round(sample.mean(axis=axis), 14),
        n_resamples=_RESAMPLES,
        confidence_level=CONFIDENCE,
        method="BCa",
        rng=np.random.default_rng(_RANDOM_SEED),
    ).confidence_interval
    return Interval(lowest + width * float(ends.low), lowest + width * float(ends.high))


def proportion_interval(share: float, count: int) -> Interval:
    """Return Clopper and Pearson's exact interval of a proportion; undefined without trials.

    Args:
        share: Observed proportion, 0 to 1; ``share * count`` need not be whole, since a seed can succeed in part of its
            repeats (Korn and Graubard 1998).
        count: Number of independent trials.
    """
    if count == 0:
        return Interval()
    tail, hits = (1 - CONFIDENCE) / 2, share * count
    low = 0.0 if hits == 0 else float(stats.beta.ppf(tail, hits, count - hits + 1))
    high = 1.0 if hits == count else float(stats.beta.ppf(1 - tail, hits + 1, count - hits))
    return Interval(low, high)


def summarise(values: Sequence[float]) -> Summary:
    """Return the summary of independent values."""
    numbers = sorted(map(float, values))
    return Summary(
        n=len(numbers),
        mean=fmean(numbers) if numbers else None,
        median=median(numbers) if numbers else None,
        deviation=stdev(numbers) if len(numbers) > 1 else None,
        interval=mean_interval(numbers),
    )


def within_deviation(repeats: Sequence[Sequence[float]]) -> float | None:
    """Return the standard deviation of the repeats of a seed, pooled over seeds; None if no seed has two values."""
    several = [values for values in repeats if len(values) > 1]
    freedom = sum(len(values) - 1 for values in several)
    return math.sqrt(math.fsum(variance(each) * (len(each) - 1) for each in several) / freedom) if freedom else None


def sign_flip_test(differences: Sequence[float]) -> SignFlipTest:
    """Return the two-sided sign-flip test of the mean of paired differences, one a seed (Fisher 1935).

    It assumes that under the null hypothesis each difference is symmetric about 0. All flips are counted for up to
    ``EXACT_LIMIT`` differences other than 0 and if all have the same size; of others, random ones.
    """
    if not differences:
        return SignFlipTest()
    others = np.sort(np.asarray([value for value in differences if value], dtype=np.float64))
    sizes, count = np.abs(others), others.size
    floor = 2.0 ** (1 - count) if count else 1.0  # a tie has no sign to flip
    if count and sizes.min() == sizes.max():  # a binomial count, McNemar's test for differences of 0 and 1
        return SignFlipTest(float(stats.binomtest(int((others > 0).sum()), count).pvalue), floor)
    if count > EXACT_LIMIT:
        test = stats.permutation_test(
            (others,),
            lambda values, axis: np.abs(values.mean(axis=axis)),
            permutation_type="samples",
            n_resamples=_RESAMPLES,
            alternative="greater",
            rng=np.random.default_rng(_RANDOM_SEED),
        )
        return SignFlipTest(float(test.pvalue), max(floor, 1 / (_RESAMPLES + 1)))
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    reached = np.abs(sums) >= abs(float(others.sum())) - _TIE * float(sizes.sum())
    return SignFlipTest(float(reached.mean()), floor)


def pairs_needed(p: float) -> int:
    """Return the fewest differences other than 0 whose exact p can be as small as this."""
    return max(1, math.ceil(1 - math.log2(p)))


def holm(p_values: Mapping[_Key, float | None]) -> dict[_Key, float | None]:
    """Return p-values adjusted for being many (Holm 1979), in the order given.

    The i-th smallest of m is multiplied by ``m - i + 1``, and is at least the one before and at most 1. A missing
    p-value counts in m and stays None.
    """
    adjusted: dict[_Key, float | None] = dict.fromkeys(p_values)
    largest = 0.0
    known = [(p, key) for key, p in p_values.items() if p is not None]
    for place, (p, key) in enumerate(sorted(known, key=lambda each: each[0])):
        largest = max(largest, min(1.0, (len(p_values) - place) * p))
        adjusted[key] = largest
    return adjusted


def compare(candidate: pd.Series, baseline: pd.Series) -> Comparison:
    """Return the comparison of two series of values by seed, on the seeds for which both have a value."""
    pairs = pd.DataFrame({"candidate": candidate, "baseline": baseline}).dropna().astype(float)
    lifts: list[float] = (pairs["candidate"] - pairs["baseline"]).tolist()
    difference = summarise(lifts)
    usual = fmean(pairs["baseline"]) if lifts else 0.0
    wins, losses = sum(lift > 0 for lift in lifts), sum(lift < 0 for lift in lifts)
    ties = len(lifts) - wins - losses
    return Comparison(
        difference=difference,
        percent=100 * difference.mean / usual if difference.mean is not None and usual > 0 else None,
        test=sign_flip_test(lifts),
        wins=wins,
        ties=ties,
        losses=losses,
        win_rate=(wins + ties / 2) / len(lifts) if lifts else None,
    )


def tiers(values: Mapping[str, pd.Series]) -> dict[str, int]:
    """Return the tier of each policy, 1 being the best, from paired comparisons of all with all.

    Policies are sorted by mean. The first leads tier 1; each next one joins the tier of the leader above, unless the
    sign-flip p-value of the two, adjusted by Holm over all pairs of policies, is at most ``ALPHA``: then it leads a new
    tier. So policies of equal strength get more than one tier with a probability of at most ``ALPHA``.

    Args:
        values: Scores by seed of each policy.
    """
    order = sorted(values, key=lambda name: (-fmean(values[name]), name))
    adjusted = holm({pair: compare(values[pair[0]], values[pair[1]]).test.p for pair in combinations(order, 2)})
    found: dict[str, int] = {}
    leader, tier = "", 0
    for name in order:
        p = adjusted.get((leader, name))
        if not found or (p is not None and p <= ALPHA):
            leader, tier = name, tier + 1
        found[name] = tier
    return found
