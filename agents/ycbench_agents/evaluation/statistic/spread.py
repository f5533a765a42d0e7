"""How much of the spread lies between seeds, and how much within them."""

from __future__ import annotations

import math
from statistics import fmean, stdev, variance
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.statistic.result import Result
from ycbench_agents.evaluation.statistic.sample import checked_values, seed_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.evaluation.statistic.sample import SeedValues

__all__ = ["Spread", "spread_of"]


@attrs.frozen
class Spread(Result):
    """Spread across seeds and within them, over the repeats.

    Args:
        seeds: Number of seeds with a value.
        values: Number of values.
        fewest_repeats: Values of the seed with fewest; 0 without a seed.
        most_repeats: Values of the seed with most; 0 without a seed.
        across_deviation: Standard deviation of the seeds' means (n - 1); None of fewer than two seeds.
        within_deviation: Standard deviation within a seed, pooled over the seeds; None without repeats.
        within_variance: Variance component of repeats, the square of the last; None without repeats.
        between_variance: Variance component of seeds, what is left of the spread of means when the repeats' share is
            taken off; None of fewer than two seeds or without repeats. An estimate below 0 counts as 0.
        between_is_cut: Whether the estimate was below 0.
        between_fraction: Share of the seeds' component in the sum of both, the intraclass correlation; None where the
            components are, or both are 0.
    """

    seeds: int
    values: int
    fewest_repeats: int
    most_repeats: int
    across_deviation: float | None
    within_deviation: float | None
    within_variance: float | None
    between_variance: float | None
    between_is_cut: bool
    between_fraction: float | None


def spread_of(values: SeedValues) -> Spread:
    """Return the spread of a sample, components by one-way analysis of variance with seeds as a random effect.

    With a seeds, k values of a seed, N in all: within is the mean square within seeds, MSW; between is
    ``(MSB - MSW) / n0`` with ``n0 = (N - sum(k**2) / N) / (a - 1)``, the number of repeats if all seeds have as many.

    Raises:
        StatisticError: A value is no finite number.
    """
    groups = [repeats for repeats in checked_values(values).values() if repeats]
    means, counts = list(seed_means(values).values()), [len(repeats) for repeats in groups]
    within = _within_variance(groups)
    between = _between_variance(groups, within)
    cut = None if between is None else max(0.0, between)
    return Spread(
        seeds=len(groups),
        values=sum(counts),
        fewest_repeats=min(counts, default=0),
        most_repeats=max(counts, default=0),
        across_deviation=stdev(means) if len(means) > 1 else None,
        within_deviation=None if within is None else math.sqrt(within),
        within_variance=within,
        between_variance=cut,
        between_is_cut=between is not None and between < 0,
        between_fraction=cut / (cut + within) if cut is not None and within is not None and cut + within > 0 else None,
    )


def _within_variance(groups: Sequence[Sequence[float]]) -> float | None:
    freedom = sum(len(repeats) - 1 for repeats in groups)
    if freedom == 0:
        return None
    return math.fsum(variance(repeats) * (len(repeats) - 1) for repeats in groups if len(repeats) > 1) / freedom


def _between_variance(groups: Sequence[Sequence[float]], within: float | None) -> float | None:
    """Return the seeds' component, which may come out below 0; None where it is not defined."""
    if within is None or len(groups) < 2:  # noqa: PLR2004 -- a spread takes two
        return None
    counts = [len(repeats) for repeats in groups]
    total, freedom = sum(counts), len(groups) - 1
    grand = fmean([value for repeats in groups for value in repeats])
    square = math.fsum(len(repeats) * (fmean(repeats) - grand) ** 2 for repeats in groups) / freedom
    repeats_a_seed = (total - sum(count**2 for count in counts) / total) / freedom
    return (square - within) / repeats_a_seed
