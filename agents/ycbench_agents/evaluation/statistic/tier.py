"""Tiers: candidates that intervals tell apart, instead of ranks that they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.statistic.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ycbench_agents.evaluation.statistic.summary import Summary

__all__ = ["Tier", "Tiers", "tiers"]


@attrs.frozen
class Tier(Result):
    """Candidates that are not told apart from the one that leads them.

    Args:
        number: From 1, the best.
        members: Names, the leader first, then by mean.
    """

    number: int
    members: tuple[str, ...]


@attrs.frozen
class Tiers(Result):
    """Candidates in tiers.

    Args:
        tiers: From the best on.
        overlaps: Pairs in different tiers whose intervals overlap all the same, the better one first: a border
            between tiers tells its leader apart from what is below, and says nothing about these.
        unplaced: Names of candidates without an interval, in order of their means, those without any last.
    """

    tiers: tuple[Tier, ...]
    overlaps: tuple[tuple[str, str], ...]
    unplaced: tuple[str, ...]


@attrs.frozen
class _Placed:
    name: str
    low: float
    high: float


def tiers(summaries: Mapping[str, Summary]) -> Tiers:
    """Return candidates in tiers.

    Sorted by mean, the best first (equal means by name), the first leads tier 1. Each next one joins the tier unless
    its interval lies wholly below the leader's; then it leads a new tier. Intervals that touch overlap. All are held
    against the leader only, so a chain (A overlaps B, B overlaps C, A not C) does not make one tier of them all.

    Args:
        summaries: Summary of each candidate's values by name; its ``interval`` is used.
    """
    placed: list[_Placed] = []
    unplaced: list[str] = []
    for name in sorted(summaries, key=lambda name: _order(name, summaries[name])):
        interval = summaries[name].interval
        if interval.low is None or interval.high is None:
            unplaced.append(name)
        else:
            placed.append(_Placed(name, interval.low, interval.high))
    grouped = _grouped(placed)
    return Tiers(
        tuple(Tier(place, tuple(member.name for member in group)) for place, group in enumerate(grouped, 1)),
        _overlaps(grouped),
        tuple(unplaced),
    )


def _order(name: str, summary: Summary) -> tuple[bool, float, str]:
    return (summary.mean is None, -(summary.mean or 0.0), name)


def _grouped(placed: Sequence[_Placed]) -> list[list[_Placed]]:
    groups: list[list[_Placed]] = []
    for candidate in placed:
        if groups and candidate.high >= groups[-1][0].low:
            groups[-1].append(candidate)
        else:
            groups.append([candidate])
    return groups


def _overlaps(groups: Sequence[Sequence[_Placed]]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (better.name, worse.name)
        for place, group in enumerate(groups)
        for better in group
        for below in groups[place + 1 :]
        for worse in below
        if worse.high >= better.low
    )
