"""The leaderboard, and comparisons with the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.report.cell import (
    NOTHING,
    Cell,
    count_cell,
    exact_dollars,
    interval_cell,
    money_cell,
    number_cell,
    p_cell,
    percent_cell,
    text_cell,
)
from ycbench_agents.evaluation.report.part import Part, Table, figures, words
from ycbench_agents.evaluation.statistic import BCA_NEEDS, DEFAULT_SETTINGS, compare_family

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.evaluation.report.result import PolicyResults, PresetResults
    from ycbench_agents.evaluation.statistic import Comparison, Interval, Survival

__all__ = ["comparison_part", "leaderboard_table", "times"]

_CONFIDENCE: Final = f"{100 * DEFAULT_SETTINGS.confidence:.0f}%"
_METHODS: Final = {"bca": "BCa", "student": "Student", "clopper_pearson": "Clopper and Pearson"}
_READABLE: Final = 1e6
_CENSORED: Final = " *"
_WITHIN: Final = figures("Spread within seeds", "Standard deviation of the repeats of a seed, pooled")
_COLUMNS: Final = (
    words("Policy"),
    figures("Score", "Mean final funds over seeds, a bankrupt company counting 0"),
    figures(f"{_CONFIDENCE} interval", f"Of the score: Student's, from {BCA_NEEDS} seeds on BCa"),
    figures("Tier", "Policies of a tier are not told apart from the one that leads it"),
    figures("Median", "Of the scores of the seeds"),
    figures("Spread across seeds", "Standard deviation of the scores of the seeds"),
    _WITHIN,
    figures("Planned", "Episodes"),
    figures("Run", "Episodes played to their end; nothing else enters a mean"),
    figures("Failed", "Episodes that an error ended"),
    figures("Missing", "Episodes that were not played, or not to their end"),
    figures("Survival", "Share of episodes that were not bankrupt, as a mean over seeds"),
    figures("Survival interval", f"Clopper and Pearson's, {_CONFIDENCE}"),
)


def leaderboard_table(results: PresetResults) -> Table:
    """Return the leaderboard of a configuration: scores in tiers, never a bare rank."""
    tier_of = {member: tier.number for tier in results.tiers.tiers for member in tier.members}
    rows = [_row(policy, tier_of.get(policy.policy)) for policy in results.policies]
    repeated = any(policy.summary.spread.within_deviation is not None for policy in results.policies)
    shown = [place for place, column in enumerate(_COLUMNS) if repeated or column != _WITHIN]
    return Table(
        f"Leaderboard, preset {results.preset}",
        tuple(_COLUMNS[place] for place in shown),
        tuple(tuple(row[place] for place in shown) for row in rows),
        tuple(_tier_notes(results)),
    )


def _row(policy: PolicyResults, tier: int | None) -> tuple[Cell, ...]:
    summary, tally = policy.summary, policy.sample.tally
    score, spread = summary.score, summary.spread
    mean = NOTHING if score.mean is None else Cell(exact_dollars(score.mean), score.mean)
    return (
        text_cell(policy.policy),
        mean,
        interval_cell(score.interval),
        count_cell(tier, "" if tier else f"no interval, so no tier: {score.interval.reason}"),
        money_cell(score.median),
        money_cell(spread.across_deviation),
        money_cell(spread.within_deviation),
        *[count_cell(count) for count in (tally.planned, tally.run, tally.failed, tally.missing)],
        _share(summary.survival),
        _share_interval(summary.survival.interval),
    )


def _share(survival: Survival) -> Cell:
    total = survival.survived + survival.bankrupt
    return percent_cell(survival.share, f"{survival.survived} of {total}" if total else "")


def _share_interval(interval: Interval) -> Cell:
    if interval.low is None or interval.high is None:
        return Cell(NOTHING.text, None, interval.reason or "")
    return Cell(f"{100 * interval.low:.0f}% to {100 * interval.high:.0f}%", interval.low, interval.reason or "")


def _tier_notes(results: PresetResults) -> list[str]:
    """Return what must be known to read the tiers."""
    notes: list[str] = []
    if results.tiers.overlaps:
        pairs = "; ".join(f"{better} and {worse}" for better, worse in results.tiers.overlaps)
        notes.append(f"In different tiers, though their own intervals overlap: {pairs}.")
    if results.tiers.unplaced:
        notes.append(f"Without a tier, since there is no interval: {', '.join(results.tiers.unplaced)}.")
    lacking = [(policy.policy, policy.summary.seeds_without_value) for policy in results.policies]
    gaps = "; ".join(f"{policy} (seed {', '.join(seeds)})" for policy, seeds in lacking if seeds)
    if gaps:
        notes.append(f"Seeds without a finished episode, which no mean counts: {gaps}.")
    return notes


_COMPARED: Final = (
    words("Policy"),
    figures("Lift", "Mean over seeds of the score less the baseline's on the same seed"),
    figures(f"{_CONFIDENCE} interval", f"Of the lift: Student's, from {BCA_NEEDS} seeds on BCa"),
    figures("BCa interval", "By resampling the seeds; too narrow for few of them"),
    figures("Median lift"),
    figures("Lift, %", "Of the baseline's mean, where that is above 0"),
    figures("Factor", "Ratio of geometric means of final funds, of at least a dollar each"),
    figures("p", "Exact two-sided sign-flip test of the lift"),
    figures("Floor of p", "The smallest p that so many seeds can have"),
    figures("Holm p", "The same, adjusted for all policies of this table"),
    figures("Win rate", "Share of seeds on which the policy is ahead, a tie counting half"),
    words("Won, tied, lost", "Seeds"),
    figures("Detectable", "Smallest true lift that so many seeds would show with a power of 80%"),
    figures("Seeds", "On which both have a finished episode"),
    figures("Survival lift", "Difference of survival"),
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
    rows = tuple(
        _compared(name, found, family.holm.adjusted(name), family.holm.size)
        for name, found in family.comparisons.items()
    )
    notes = _comparison_notes(family.comparisons)
    return Part(title, (), (Table(f"Against {baseline}, preset {results.preset}", _COMPARED, rows, notes),))


def _compared(name: str, found: Comparison, adjusted: float | None, size: int) -> tuple[Cell, ...]:
    lift, wins, detectable = found.score, found.score.wins, found.score.detectable
    difference, flips = lift.difference, lift.sign_flip
    return (
        text_cell(name),
        money_cell(difference.mean),
        interval_cell(difference.interval),
        interval_cell(difference.bca),
        money_cell(difference.median),
        number_cell(lift.percent.value, 0, lift.percent.reason or ""),
        _factor(found),
        p_cell(flips.p, flips.reason or f"{flips.method}, {flips.flips:,} flips"),
        p_cell(flips.floor),
        p_cell(adjusted, f"family of {size}"),
        percent_cell(wins.rate),
        text_cell(f"{wins.wins}, {wins.ties}, {wins.losses}"),
        money_cell(detectable.difference, detectable.reason or ""),
        count_cell(difference.n),
        percent_cell(found.survival.difference),
    )


def _factor(found: Comparison) -> Cell:
    log = found.log_funds
    censored = log.candidate_censored + log.baseline_censored
    if log.ratio is None:
        return Cell(NOTHING.text, None, log.difference.interval.reason or "")
    return Cell(
        f"{times(log.ratio)}{_CENSORED if censored else ''}",
        log.ratio,
        f"{censored} episodes below $1" * bool(censored),
    )


def times(ratio: float) -> str:
    """Return a factor with about three digits."""
    if ratio >= 100:  # noqa: PLR2004 -- three digits
        return f"{ratio:,.0f}\u00d7" if ratio < _READABLE else f"{ratio:.1e}\u00d7"
    return f"{ratio:.2g}\u00d7" if ratio < 0.1 else f"{ratio:.2f}\u00d7"  # noqa: PLR2004 -- likewise


def _comparison_notes(comparisons: Mapping[str, Comparison]) -> tuple[str, ...]:
    """Return what so few seeds cannot show, and which seeds enter nothing."""
    notes: list[str] = []
    alpha = DEFAULT_SETTINGS.alpha
    floors = [found.score.sign_flip.floor for found in comparisons.values()]
    weak = [floor for floor in floors if floor is not None and floor > alpha]
    if weak:
        notes.append(
            f"With so few seeds the smallest possible p is {max(weak):.4g}: the test cannot fall below {alpha:g}, "
            "whatever the lift."
        )
    if any(found.log_funds.candidate_censored + found.log_funds.baseline_censored for found in comparisons.values()):
        notes.append(
            f"{_CENSORED.strip()} Has episodes with less than a dollar, which count as one: little can be read from it."
        )
    left = {name: [*found.pairing.only_candidate, *found.pairing.only_baseline] for name, found in comparisons.items()}
    gaps = "; ".join(f"{name} (seed {', '.join(seeds)})" for name, seeds in left.items() if seeds)
    if gaps:
        notes.append(f"Seeds that only one of the two has, which enter nothing: {gaps}.")
    return tuple(notes)
