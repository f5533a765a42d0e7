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

from ycbench_env.errors import MissingExtraError

try:
    import pandas as pd
    from scipy import stats
except ImportError as error:
    _MISSING = f"statistics need pandas and scipy ({error}): pip install '.[evaluation]' in the folder of this project"
    raise MissingExtraError(_MISSING) from error


CONFIDENCE: Final = 0.95
"""Confidence of every interval."""
ALPHA: Final = 0.05
"""Level of every test."""
BCA_NEEDS: Final = 20
"""Fewest values of which the interval of a mean is made by resampling."""
EXACT_LIMIT: Final = 16
"""Most differences other than 0 of which all sign flips are counted."""
_Key = TypeVar("_Key", bound=Hashable)
_RESAMPLES: Final = 9999
_RANDOM_SEED: Final = 20260401
_NUMBERS_AT_ONCE: Final = 2**20  # 8 MiB of doubles
_TIE: Final = 1e-12  # of the sum of all sizes: far above what doubles lose, far below a cent


@attrs.frozen
class Interval:
    """A confidence interval.

    Args:
        low: Lower end in the unit of the values; None if it is not defined.
        high: Upper end; None exactly if ``low`` is.
        method: How it was computed.
    """

    low: float | None
    high: float | None
    method: Literal["student", "bca", "clopper_pearson"]


@attrs.frozen
class SignFlipTest:
    """A two-sided sign-flip test of paired differences.

    Args:
        p: Share of all sign flips whose mean is at least as far from 0 as the observed one; None without a difference.
        floor: The smallest p that these differences can have: ``2 / 2**k`` of k differences other than 0, 1 if all are
            0; of random flips at least ``1 / 10_000``. None without a difference.
        method: Whether all flips were counted, or random ones.
    """

    p: float | None
    floor: float | None
    method: Literal["exact", "random"] = "exact"


@attrs.frozen
class Summary:
    """Summary of values, in their unit: number, mean, median, standard deviation (n - 1), interval of the mean."""

    n: int
    mean: float | None
    median: float | None
    deviation: float | None
    interval: Interval


@attrs.frozen
class Comparison:
    """A candidate against a baseline on the seeds that both have.

    Args:
        difference: Summary of the lifts (candidate less baseline), one a seed.
        percent: Mean lift in percent of the baseline's mean; None unless that mean is above 0.
        test: Sign-flip test of the lifts.
        wins: Seeds on which the candidate has more.
        ties: Seeds on which both have the same.
        losses: Seeds on which the baseline has more.
    """

    difference: Summary
    percent: float | None
    test: SignFlipTest
    wins: int
    ties: int
    losses: int

    @property
    def win_rate(self) -> float | None:
        """Share of the seeds that the candidate wins, a tie counting half; None without a pair."""
        return (self.wins + self.ties / 2) / self.difference.n if self.difference.n else None


def student_interval(values: Sequence[float]) -> Interval:
    """Return Student's interval of the mean, ``mean ± t(n - 1) s / sqrt(n)``; undefined for fewer than two values."""
    if len(values) < 2:  # noqa: PLR2004 -- a spread takes two
        return Interval(None, None, "student")
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
    return Interval(fmean(values) - half, fmean(values) + half, "student")


def bca_interval(values: Sequence[float]) -> Interval:
    """Return the bias-corrected and accelerated bootstrap interval of the mean (Efron 1987).

    It is undefined for fewer than two values, and has width 0 if all are equal.
    """
    numbers = np.sort(np.asarray(values, dtype=np.float64))
    if numbers.size < 2 or numbers[0] == numbers[-1]:  # noqa: PLR2004 -- a spread takes two
        return attrs.evolve(student_interval(numbers.tolist()), method="bca")
    lowest, width = float(numbers[0]), float(numbers[-1] - numbers[0])
    ends = stats.bootstrap(
        ((numbers - lowest) / width,),
        # Rounded: a resample that is the sample in another order must tie with it, whatever the last digit of its sum.
        lambda sample, axis: np.round(sample.mean(axis=axis), 14),
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=max(1, _NUMBERS_AT_ONCE // numbers.size),
        confidence_level=CONFIDENCE,
        method="BCa",
        rng=np.random.default_rng(_RANDOM_SEED),
    ).confidence_interval
    return Interval(lowest + width * float(ends.low), lowest + width * float(ends.high), "bca")


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the interval of a mean: by resampling from ``BCA_NEEDS`` values on, Student's for fewer.

    Resampling never reaches beyond the values, so its intervals of few values are far too narrow.
    """
    return bca_interval(values) if len(values) >= BCA_NEEDS else student_interval(values)


def proportion_interval(share: float, count: int) -> Interval:
    """Return Clopper and Pearson's exact interval of a proportion; undefined without trials.

    Args:
        share: Observed proportion, 0 to 1; ``share * count`` need not be whole, since a seed can succeed in part of its
            repeats (Korn and Graubard 1998).
        count: Number of independent trials.
    """
    if count == 0:
        return Interval(None, None, "clopper_pearson")
    tail, hits = (1 - CONFIDENCE) / 2, share * count
    low = 0.0 if hits == 0 else float(stats.beta.ppf(tail, hits, count - hits + 1))
    high = 1.0 if hits == count else float(stats.beta.ppf(1 - tail, hits + 1, count - hits))
    return Interval(low, high, "clopper_pearson")


def summarise(values: Sequence[float]) -> Summary:
    """Return the summary of independent values, whose order does not matter."""
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
    return math.sqrt(sum(variance(each) * (len(each) - 1) for each in several) / freedom) if freedom else None


def sign_flip_test(differences: Sequence[float]) -> SignFlipTest:
    """Return the two-sided sign-flip test of the mean of paired differences (Fisher 1935).

    It assumes that under the null hypothesis each difference is symmetric about 0. All flips are counted for up to
    ``EXACT_LIMIT`` differences other than 0 and if all have the same size; of others, random ones.

    Args:
        differences: One a seed; their order does not matter.
    """
    if not differences:
        return SignFlipTest(None, None)
    others = np.sort(np.asarray([value for value in differences if value], dtype=np.float64))
    sizes, count = np.abs(others), others.size
    floor = 2.0 ** (1 - count) if count else 1.0  # a tie has no sign to flip
    if count and sizes.min() == sizes.max():  # a binomial count, McNemar's test for differences of 0 and 1
        return SignFlipTest(float(stats.binomtest(int((others > 0).sum()), count).pvalue), floor)
    if count > EXACT_LIMIT:
        test = stats.permutation_test(
            (others / sizes.max(),),
            lambda values, axis: np.abs(values.mean(axis=axis)),
            permutation_type="samples",
            vectorized=True,
            n_resamples=_RESAMPLES,
            batch=max(1, _NUMBERS_AT_ONCE // count),
            alternative="greater",
            rng=np.random.default_rng(_RANDOM_SEED),
        )
        return SignFlipTest(float(test.pvalue), max(floor, 1 / (_RESAMPLES + 1)), "random")
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

    The i-th smallest of m is multiplied by ``m - i + 1``, and is at least the one before and at most 1. A comparison
    without a p-value counts in m, as if its p were 1, and stays None.
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
    return Comparison(
        difference=difference,
        percent=100 * difference.mean / usual if difference.mean is not None and usual > 0 else None,
        test=sign_flip_test(lifts),
        wins=wins,
        ties=len(lifts) - wins - losses,
        losses=losses,
    )


def tiers(values: Mapping[str, pd.Series]) -> dict[str, int]:
    """Return the tier of each policy, 1 being the best, from paired comparisons of all with all.

    Policies are sorted by mean. The first leads tier 1; each next one joins the tier of the leader above, unless the
    sign-flip p-value of the two, adjusted by Holm over all pairs of policies, is at most ``ALPHA``: then it leads a new
    tier. So policies of equal strength get more than one tier with a probability of at most ``ALPHA``.

    Args:
        values: Score by seed of each policy.
    """
    means = {name: fmean(scores) for name, scores in values.items()}
    order = sorted(values, key=lambda name: (-means[name], name))
    adjusted = holm({pair: compare(values[pair[0]], values[pair[1]]).test.p for pair in combinations(order, 2)})
    found: dict[str, int] = {}
    leader, tier = "", 0
    for name in order:
        p = adjusted.get((leader, name))
        if not found or (p is not None and p <= ALPHA):
            leader, tier = name, tier + 1
        found[name] = tier
    return found
