"""Policies held against the baseline on the same seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.report.cell import (
    NOTHING,
    Cell,
    count_cell,
    interval_cell,
    money_cell,
    number_cell,
    p_cell,
    percent_cell,
    text_cell,
)
from ycbench_agents.evaluation.report.part import Part, Table, figures, words
from ycbench_agents.evaluation.report.significance import significance_notes
from ycbench_agents.evaluation.statistic import BCA_NEEDS, DEFAULT_SETTINGS, EXACT_LIMIT, compare_family

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.evaluation.report.result import PresetResults
    from ycbench_agents.evaluation.statistic import Comparison, FamilyComparison, LogLift

__all__ = ["comparison_part", "times"]

_CONFIDENCE: Final = f"{100 * DEFAULT_SETTINGS.confidence:.0f}%"
_POINTS: Final = 100
_READABLE: Final = 1e6
_UNPAIRED: Final = "there is no seed on which both have a finished episode"
_CENSORED: Final = "an episode ended with less than $1; what such a one counts decides the ratio, so read survival"
_COMPARED: Final = (
    words("Policy"),
    figures("Lift", "Mean over seeds of the score less the baseline's on the same seed", _UNPAIRED),
    figures(f"{_CONFIDENCE} interval", f"Of the lift: Student's, from {BCA_NEEDS} seeds on BCa"),
    figures("BCa interval", "By resampling the seeds; too narrow for few of them"),
    figures("Median lift", "Of the lifts of the seeds: as many are below it as above", _UNPAIRED),
    figures("Lift, %", "Of the baseline's mean, where that is above 0"),
    figures("Factor", "Ratio of geometric means of final funds, where all episodes have $1 or more", _UNPAIRED),
    figures(
        "p",
        f"Two-sided sign-flip test of the lift: exact up to {EXACT_LIMIT} seeds that are not tied, of more by "
        f"{DEFAULT_SETTINGS.resamples:,} random flips",
        _UNPAIRED,
    ),
    figures("Floor of p", "The smallest p that so many seeds without a tie can have", _UNPAIRED),
    figures("Holm p", "The same p, adjusted for all policies of this table", _UNPAIRED),
    figures("Win rate", "Share of seeds on which the policy is ahead, a tie counting half", _UNPAIRED),
    words("Won, tied, lost", "Seeds"),
    figures(
        "Detectable", f"Smallest true lift that so many seeds would show with a power of {DEFAULT_SETTINGS.power:.0%}"
    ),
    figures("Seeds", "On which both have a finished episode"),
    figures("Survival lift in points", "Difference of survival, in percentage points", _UNPAIRED),
)


def comparison_part(results: PresetResults, baseline: str, title: str = "") -> Part:
    """Return each policy held against the baseline on the same seeds; without a baseline, why there is nothing.

    Args:
        results: Results of one configuration.
        baseline: Label of the baseline.
        title: Heading.
    """
    ours = results.policy(baseline)
    others = [policy for policy in results.policies if policy.policy != baseline]
    if ours is None:
        known = ", ".join(policy.policy for policy in results.policies)
        return Part(title, (f"The suite has no policy {baseline}; name another with --baseline: {known}.",))
    if not ours.measures or not any(policy.measures for policy in others):
        return Part(title, ("There is nothing to compare: it takes finished episodes of the baseline and of another.",))
    family = compare_family({policy.policy: policy.sample for policy in others}, ours.sample)
    rows = tuple(_compared(name, found, family) for name, found in family.comparisons.items())
    notes = (*significance_notes(family), *_unpaired_seeds(family.comparisons))
    return Part(title, (), (Table(f"Against {baseline}, preset {results.preset}", _COMPARED, rows, notes),))


def _compared(name: str, found: Comparison, family: FamilyComparison) -> tuple[Cell, ...]:
    lift, wins, detectable = found.score, found.score.wins, found.score.detectable
    difference, flips, survival = lift.difference, lift.sign_flip, found.survival.difference
    return (
        text_cell(name),
        money_cell(difference.mean),
        interval_cell(difference.interval),
        interval_cell(difference.bca),
        money_cell(difference.median),
        number_cell(lift.percent.value, 0, lift.percent.reason or ""),
        _factor(found.log_funds),
        NOTHING if flips.p is None else p_cell(flips.p, f"{flips.method}, {flips.flips:,} flips"),
        p_cell(flips.floor),
        _holm(name, family),
        percent_cell(wins.rate),
        text_cell(f"{wins.wins}, {wins.ties}, {wins.losses}"),
        money_cell(detectable.difference, detectable.reason or ""),
        count_cell(difference.n),
        number_cell(None if survival is None else _POINTS * survival, 0),
    )


def _holm(name: str, family: FamilyComparison) -> Cell:
    adjusted, floor = family.holm.adjusted(name), family.floors.adjusted(name)
    if adjusted is None or floor is None:
        return NOTHING
    return p_cell(adjusted, f"family of {family.holm.size}; cannot be below {floor:.4g}")


def _factor(log: LogLift) -> Cell:
    if log.ratio is None:
        return NOTHING
    if log.candidate_censored or log.baseline_censored:
        return Cell(NOTHING.text, None, _CENSORED)
    return Cell(times(log.ratio), log.ratio)


def times(ratio: float) -> str:
    """Return a factor with about three digits."""
    if ratio >= 100:  # noqa: PLR2004 -- three digits
        return f"{ratio:,.0f}\u00d7" if ratio < _READABLE else f"{ratio:.1e}\u00d7"
    return f"{ratio:.2g}\u00d7" if ratio < 0.1 else f"{ratio:.2f}\u00d7"  # noqa: PLR2004 -- likewise


def _unpaired_seeds(comparisons: Mapping[str, Comparison]) -> tuple[str, ...]:
    """Return which seeds enter nothing."""
    left = {name: [*found.pairing.only_candidate, *found.pairing.only_baseline] for name, found in comparisons.items()}
    gaps = "; ".join(f"{name} (seed {', '.join(seeds)})" for name, seeds in left.items() if seeds)
    return (f"Seeds that only one of the two has, which enter nothing: {gaps}.",) if gaps else ()
