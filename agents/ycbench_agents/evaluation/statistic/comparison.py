"""A candidate against a baseline on the same seeds, and a family of candidates against one."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.statistic.holm import HolmFamily, holm
from ycbench_agents.evaluation.statistic.pairing import Pairing, pair_by_seed
from ycbench_agents.evaluation.statistic.permutation import SignFlipTest, sign_flip_test
from ycbench_agents.evaluation.statistic.power import DetectableDifference, minimal_detectable_difference
from ycbench_agents.evaluation.statistic.result import Estimate, Result
from ycbench_agents.evaluation.statistic.scale import censored_count, log_funds, score
from ycbench_agents.evaluation.statistic.settings import DEFAULT_SETTINGS
from ycbench_agents.evaluation.statistic.summary import Summary, summarise
from ycbench_agents.evaluation.statistic.survival import SurvivalLift, survival_lift
from ycbench_agents.evaluation.statistic.win import WinRate, win_rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.evaluation.statistic.sample import Sample
    from ycbench_agents.evaluation.statistic.settings import StatisticSettings
    from ycbench_agents.evaluation.statistic.tally import Tally

__all__ = ["Comparison", "FamilyComparison", "Lift", "LogLift", "compare", "compare_family", "lift_of"]

_LARGEST_LOGARITHM: Final = 700.0


@attrs.frozen
class Lift(Result):
    """How much more a candidate has than a baseline, over paired seeds.

    Args:
        candidate_mean: The candidate's mean over the paired seeds; None without a pair.
        baseline_mean: The baseline's; None without a pair.
        difference: Summary of candidate less baseline, one value a seed: its mean is the lift.
        percent: Mean lift in percent of the baseline's mean, where that is above 0.
        sign_flip: Whether the differences are symmetric about 0.
        wins: How often the candidate is ahead.
        detectable: The smallest true difference that so many pairs would show.
    """

    candidate_mean: float | None
    baseline_mean: float | None
    difference: Summary
    percent: Estimate
    sign_flip: SignFlipTest
    wins: WinRate
    detectable: DetectableDifference


def lift_of(pairing: Pairing, settings: StatisticSettings = DEFAULT_SETTINGS) -> Lift:
    """Return the lift over paired seeds.

    Args:
        pairing: From ``pair_by_seed``; seeds that are not paired enter nothing.
        settings: Confidence, power and resampling.
    """
    differences = pairing.differences
    difference = summarise(differences, settings)
    baseline_mean = fmean([pair.baseline for pair in pairing.pairs]) if differences else None
    return Lift(
        candidate_mean=fmean([pair.candidate for pair in pairing.pairs]) if differences else None,
        baseline_mean=baseline_mean,
        difference=difference,
        percent=_percent(difference.mean, baseline_mean),
        sign_flip=sign_flip_test(differences, settings),
        wins=win_rate(differences),
        detectable=minimal_detectable_difference(difference.deviation, difference.n, settings),
    )


def _percent(lift: float | None, baseline: float | None) -> Estimate:
    if lift is None or baseline is None:
        return Estimate(None, "there is no pair")
    if baseline <= 0:
        return Estimate(None, "the baseline's mean is not above 0: there is nothing to be a percentage of")
    percent = 100 * lift / baseline
    if not math.isfinite(percent):
        return Estimate(None, "the baseline's mean is too near to 0")
    return Estimate(percent)


@attrs.frozen
class LogLift(Result):
    """The lift of log-funds, over paired seeds.

    Args:
        difference: Summary of the candidate's mean ``ln(max(funds, 1 dollar))`` less the baseline's, one value a seed.
        ratio: ``exp`` of the mean difference: how many times the baseline's funds the candidate's are, as a geometric
            mean; None without a pair.
        ratio_low: ``exp`` of the lower end of ``difference.interval``; None where that is, or beyond all doubles.
        ratio_high: ``exp`` of its upper end; None likewise.
        sign_flip: Whether the differences are symmetric about 0.
        candidate_censored: Number of the candidate's episodes below a dollar, paired or not.
        baseline_censored: Number of the baseline's.
    """

    difference: Summary
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    sign_flip: SignFlipTest
    candidate_censored: int
    baseline_censored: int


@attrs.frozen
class Comparison(Result):
    """A candidate against a baseline.

    Args:
        candidate: Tally of the candidate's planned episodes.
        baseline: Tally of the baseline's.
        pairing: Final funds of each paired seed, and the seeds that are not paired.
        score: Lift of the score: final funds, a bankrupt company counting 0.
        funds: Lift of the final funds as they are.
        log_funds: Lift of their logarithm.
        survival: How often each was solvent.
    """

    candidate: Tally
    baseline: Tally
    pairing: Pairing
    score: Lift
    funds: Lift
    log_funds: LogLift
    survival: SurvivalLift


def compare(candidate: Sample, baseline: Sample, settings: StatisticSettings = DEFAULT_SETTINGS) -> Comparison:
    """Return a candidate held against a baseline on the seeds that both have.

    Args:
        candidate: Final funds by seed, with the tally of planned episodes.
        baseline: The same of the baseline.
        settings: Confidence, power, resampling, and what a dollar is in the funds' unit.
    """
    ours, theirs = candidate.values, baseline.values
    pairing = pair_by_seed(ours, theirs)
    return Comparison(
        candidate=candidate.tally,
        baseline=baseline.tally,
        pairing=pairing,
        score=lift_of(pair_by_seed(score(ours), score(theirs)), settings),
        funds=lift_of(pairing, settings),
        log_funds=_log_lift(candidate, baseline, settings),
        survival=survival_lift(ours, theirs, settings),
    )


def _log_lift(candidate: Sample, baseline: Sample, settings: StatisticSettings) -> LogLift:
    ours, theirs = log_funds(candidate.values, settings), log_funds(baseline.values, settings)
    differences = pair_by_seed(ours, theirs).differences
    difference = summarise(differences, settings)
    return LogLift(
        difference=difference,
        ratio=_exp(difference.mean),
        ratio_low=_exp(difference.interval.low),
        ratio_high=_exp(difference.interval.high),
        sign_flip=sign_flip_test(differences, settings),
        candidate_censored=censored_count(candidate.values, settings),
        baseline_censored=censored_count(baseline.values, settings),
    )


def _exp(logarithm: float | None) -> float | None:
    # Of two seeds an end may lie beyond what a double holds; that far out, the interval says nothing anyway.
    return None if logarithm is None or logarithm > _LARGEST_LOGARITHM else math.exp(logarithm)


@attrs.frozen
class FamilyComparison(Result):
    """Candidates against one baseline.

    Args:
        comparisons: Each comparison by the candidate's name, in the order given.
        holm: The sign-flip p-values of their scores, adjusted for being many.
        floors: The floors of these p-values, adjusted likewise: no result with the same ties gives a smaller adjusted
            one.
    """

    comparisons: Mapping[str, Comparison]
    holm: HolmFamily
    floors: HolmFamily


def compare_family(
    candidates: Mapping[str, Sample], baseline: Sample, settings: StatisticSettings = DEFAULT_SETTINGS
) -> FamilyComparison:
    """Return each candidate held against one baseline, with Holm's correction over the family's scores.

    Args:
        candidates: Sample of each candidate by name; what has no pair stays in the family without a p-value.
        baseline: The baseline's sample.
        settings: As in ``compare``.
    """
    comparisons = {name: compare(sample, baseline, settings) for name, sample in candidates.items()}
    tests = {name: found.score.sign_flip for name, found in comparisons.items()}
    return FamilyComparison(
        comparisons,
        holm({name: test.p for name, test in tests.items()}),
        # Holm's step-down grows with each p-value, so it is smallest where all of them are.
        holm({name: test.floor for name, test in tests.items()}),
    )
