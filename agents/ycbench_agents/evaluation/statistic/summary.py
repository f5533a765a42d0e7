"""One group: its tally, and score, funds, log-funds, survival and spread over its seeds."""

from __future__ import annotations

import math
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.statistic.interval import bca_interval, mean_interval, student_interval
from ycbench_agents.evaluation.statistic.result import Interval, Result
from ycbench_agents.evaluation.statistic.sample import number, seed_means
from ycbench_agents.evaluation.statistic.scale import censored_count, log_funds, score
from ycbench_agents.evaluation.statistic.settings import DEFAULT_SETTINGS
from ycbench_agents.evaluation.statistic.spread import Spread, spread_of
from ycbench_agents.evaluation.statistic.survival import Survival, survival_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.evaluation.statistic.sample import Sample
    from ycbench_agents.evaluation.statistic.settings import StatisticSettings
    from ycbench_agents.evaluation.statistic.tally import Tally

__all__ = ["GroupSummary", "Summary", "group_summary", "summarise"]


@attrs.frozen
class Summary(Result):
    """Independent values, such as one a seed; each number is in their unit, and None where it is not defined.

    Args:
        n: How many.
        mean: Their mean; None of none, as are the next three.
        median: Their median.
        minimum: The smallest.
        maximum: The largest.
        deviation: Standard deviation (n - 1); None of fewer than two.
        standard_error: ``deviation / sqrt(n)``; None of fewer than two.
        interval: The confidence interval of the mean to read, one of the next two: see ``mean_interval``.
        bca: By resampling.
        student: By Student's t.
    """

    n: int
    mean: float | None
    median: float | None
    minimum: float | None
    maximum: float | None
    deviation: float | None
    standard_error: float | None
    interval: Interval
    bca: Interval
    student: Interval


def summarise(values: Sequence[float], settings: StatisticSettings = DEFAULT_SETTINGS) -> Summary:
    """Return the summary of independent values, whose order does not matter.

    Raises:
        StatisticError: A value is no finite number.
    """
    numbers = [number(value, f"value {i}") for i, value in enumerate(values, 1)]
    bca, student = bca_interval(numbers, settings), student_interval(numbers, settings)
    deviation = stdev(numbers) if len(numbers) > 1 else None
    return Summary(
        n=len(numbers),
        mean=fmean(numbers) if numbers else None,
        median=median(numbers) if numbers else None,
        minimum=min(numbers, default=None),
        maximum=max(numbers, default=None),
        deviation=deviation,
        standard_error=None if deviation is None else deviation / math.sqrt(len(numbers)),
        interval=mean_interval(len(numbers), bca, student),
        bca=bca,
        student=student,
    )


@attrs.frozen
class GroupSummary(Result):
    """What one candidate got; every mean is over seeds, a seed's value being the mean over its repeats.

    Args:
        tally: Planned, run, failed and missing episodes; what failed or is missing enters nothing below.
        seeds_without_value: Planned seeds of which no episode was run to its end.
        score: Final funds, a bankrupt company counting 0.
        funds: Final funds as they are, below 0 for a bankrupt company.
        log_funds: ``ln(max(funds, 1 dollar))``.
        log_censored: Number of episodes below a dollar.
        survival: How often the company was solvent.
        spread: Spread of the score across and within seeds.
    """

    tally: Tally
    seeds_without_value: tuple[str, ...]
    score: Summary
    funds: Summary
    log_funds: Summary
    log_censored: int
    survival: Survival
    spread: Spread


def group_summary(sample: Sample, settings: StatisticSettings = DEFAULT_SETTINGS) -> GroupSummary:
    """Return what one candidate got over its seeds.

    Args:
        sample: Final funds by seed, with the tally of planned episodes.
        settings: Confidence, resampling, and what a dollar is in the funds' unit.
    """
    funds = sample.values
    scores, logs = score(funds), log_funds(funds, settings)
    return GroupSummary(
        tally=sample.tally,
        seeds_without_value=tuple(seed for seed, repeats in funds.items() if not repeats),
        score=summarise(tuple(seed_means(scores).values()), settings),
        funds=summarise(tuple(seed_means(funds).values()), settings),
        log_funds=summarise(tuple(seed_means(logs).values()), settings),
        log_censored=censored_count(funds, settings),
        survival=survival_of(funds, settings),
        spread=spread_of(scores),
    )
