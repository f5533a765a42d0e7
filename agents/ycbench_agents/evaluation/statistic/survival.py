"""Survival: how often a company was solvent at the end, of one candidate and of two compared."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Literal

import attrs

from ycbench_agents.evaluation.statistic.interval import clopper_pearson_interval
from ycbench_agents.evaluation.statistic.library import library
from ycbench_agents.evaluation.statistic.pairing import pair_by_seed
from ycbench_agents.evaluation.statistic.permutation import sign_flip_test
from ycbench_agents.evaluation.statistic.result import Interval, Result
from ycbench_agents.evaluation.statistic.sample import checked_values, seed_means
from ycbench_agents.evaluation.statistic.settings import DEFAULT_SETTINGS

if TYPE_CHECKING:
    from ycbench_agents.evaluation.statistic.sample import SeedValues
    from ycbench_agents.evaluation.statistic.settings import StatisticSettings

__all__ = ["Survival", "SurvivalLift", "survival_lift", "survival_of"]


@attrs.frozen
class Survival(Result):
    """How often a company was solvent at the end.

    Args:
        survived: Number of episodes that ended with funds of 0 or more.
        bankrupt: Number of episodes that ended below.
        share: Mean over the seeds of the share of its repeats that survived; None without an episode.
        interval: Clopper and Pearson's, of as many trials as there are seeds: repeats of a seed are not independent.
    """

    survived: int
    bankrupt: int
    share: float | None
    interval: Interval


@attrs.frozen
class SurvivalLift(Result):
    """Survival of a candidate against a baseline, on the same seeds.

    Args:
        pairs: Number of seeds that both have.
        more: Seeds on which the candidate survived more often; with one repeat, those it alone survived.
        fewer: Seeds on which the baseline did.
        equal: All others.
        difference: Mean over the pairs of the candidate's share less the baseline's; None without a pair.
        p: Two-sided p-value that survival does not differ; None without a pair.
        method: ``mcnemar`` (exact, one repeat each), ``sign_flip`` (shares of repeats) or ``none``.
    """

    pairs: int
    more: int
    fewer: int
    equal: int
    difference: float | None
    p: float | None
    method: Literal["mcnemar", "sign_flip", "none"]


def survival_of(funds: SeedValues, settings: StatisticSettings = DEFAULT_SETTINGS) -> Survival:
    """Return how often a company was solvent at the end.

    Args:
        funds: Final funds by seed, in any unit; below 0 is bankrupt, exactly 0 is not (rules, Y-5.3).
        settings: Confidence.

    Raises:
        StatisticError: A value is no finite number.
    """
    solvent = _solvent(funds)
    outcomes = [value for repeats in solvent.values() for value in repeats]
    shares = list(seed_means(solvent).values())
    share = fmean(shares) if shares else None
    survived = sum(map(bool, outcomes))
    return Survival(
        survived, len(outcomes) - survived, share, clopper_pearson_interval(share or 0.0, len(shares), settings)
    )


def survival_lift(
    candidate: SeedValues, baseline: SeedValues, settings: StatisticSettings = DEFAULT_SETTINGS
) -> SurvivalLift:
    """Return survival compared on the seeds that both have.

    With one repeat each the p-value is the exact McNemar test: of the seeds that one of them alone survived, as many
    fall to either side as a fair coin has it. With repeats it is the sign-flip test of the differences of shares, which
    is the same thing where every share is 0 or 1.

    Raises:
        StatisticError: A value is no finite number.
    """
    differences = pair_by_seed(_solvent(candidate), _solvent(baseline)).differences
    more, fewer = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    p, method = None, "none"
    if differences and all(value in (-1, 0, 1) for value in differences):
        method, p = "mcnemar", float(library().binomtest(more, more + fewer).pvalue) if more + fewer else 1.0
    elif differences:
        method, p = "sign_flip", sign_flip_test(differences, settings).p
    return SurvivalLift(
        pairs=len(differences),
        more=more,
        fewer=fewer,
        equal=len(differences) - more - fewer,
        difference=fmean(differences) if differences else None,
        p=p,
        method=method,
    )


def _solvent(funds: SeedValues) -> dict[str, list[float]]:
    return {seed: [float(value >= 0) for value in repeats] for seed, repeats in checked_values(funds).items()}
