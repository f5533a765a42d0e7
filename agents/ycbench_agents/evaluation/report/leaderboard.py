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
    percent_cell,
    text_cell,
)
from ycbench_agents.evaluation.report.part import Table, figures, words
from ycbench_agents.evaluation.statistic import BCA_NEEDS, DEFAULT_SETTINGS

if TYPE_CHECKING:
    from ycbench_agents.evaluation.report.result import PolicyResults, PresetResults
    from ycbench_agents.evaluation.statistic import Interval, Survival

__all__ = ["leaderboard_table"]

_CONFIDENCE: Final = f"{100 * DEFAULT_SETTINGS.confidence:.0f}%"
_UNFINISHED: Final = "no episode was played to its end"
_WITHIN: Final = figures(
    "Spread within seeds",
    "Standard deviation of the repeats of a seed, pooled: how much a policy differs from itself",
    "no seed has two finished episodes",
)
_COLUMNS: Final = (
    words("Policy"),
    figures(
        "Score",
        "Mean final funds over seeds, a bankrupt company counting 0; in brackets where episodes failed or are missing",
        _UNFINISHED,
    ),
    figures(f"{_CONFIDENCE} interval", f"Of the score: Student's, from {BCA_NEEDS} seeds on BCa"),
    figures("Tier", "Policies of a tier are not told apart from the one that leads it"),
    figures("Median", "Of the scores of the seeds: as many are below it as above", _UNFINISHED),
    figures(
        "Spread across seeds",
        "Standard deviation of the scores of the seeds: how much the market decides",
        "it takes two seeds with a finished episode",
    ),
    _WITHIN,
    figures("Planned", "Episodes"),
    figures("Run", "Episodes played to their end; nothing else enters a mean"),
    figures("Failed", "Episodes that an error ended"),
    figures("Missing", "Episodes that were not played, or not to their end"),
    figures("Survival", "Share of episodes that were not bankrupt, as a mean over seeds", _UNFINISHED),
    figures("Survival interval", f"Clopper and Pearson's, {_CONFIDENCE}"),
)
_INCOMPLETE: Final = "episodes failed or are missing, so no tier"


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
    return (
        text_cell(policy.policy),
        _score(policy),
        interval_cell(score.interval),
        count_cell(tier, "" if tier else _why_no_tier(policy)),
        money_cell(score.median),
        money_cell(spread.across_deviation),
        money_cell(spread.within_deviation),
        *[count_cell(count) for count in (tally.planned, tally.run, tally.failed, tally.missing)],
        _share(summary.survival),
        _share_interval(summary.survival.interval),
    )


def _score(policy: PolicyResults) -> Cell:
    cents = policy.score_cents
    if cents is None:
        return NOTHING
    amount = exact_dollars(cents)
    tally = policy.sample.tally
    return (
        Cell(amount, cents)
        if policy.is_complete
        else Cell(f"({amount})", cents, f"of {tally.run} of {tally.planned} episodes")
    )


def _why_no_tier(policy: PolicyResults) -> str:
    return "there is no interval, so no tier" if policy.is_complete else _INCOMPLETE


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
    partial = [policy.policy for policy in results.policies if not policy.is_complete]
    if partial:
        notes.append(
            "Below the others and without a tier, since episodes failed or are missing, so that a score in brackets "
            f"may be that of the easier seeds: {', '.join(partial)}."
        )
    lacking = [(policy.policy, policy.summary.seeds_without_value) for policy in results.policies]
    gaps = "; ".join(f"{policy} (seed {', '.join(seeds)})" for policy, seeds in lacking if seeds)
    if gaps:
        notes.append(f"Seeds without a finished episode, which no mean counts: {gaps}.")
    return notes
