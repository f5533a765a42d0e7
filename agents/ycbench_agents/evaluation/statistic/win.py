"""How often the candidate is ahead, seed by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.statistic.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["WinRate", "win_rate"]


@attrs.frozen
class WinRate(Result):
    """Seeds counted by who is ahead.

    Args:
        wins: Seeds on which the candidate has more.
        ties: Seeds on which both have the same, to the last digit.
        losses: Seeds on which the baseline has more.
        rate: ``(wins + ties / 2) / seeds``; None without a seed.
    """

    wins: int
    ties: int
    losses: int
    rate: float | None


def win_rate(differences: Sequence[float]) -> WinRate:
    """Return who is ahead how often.

    Args:
        differences: Candidate less baseline, one for each seed.
    """
    wins, losses = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    ties = len(differences) - wins - losses
    return WinRate(wins, ties, losses, (wins + ties / 2) / len(differences) if differences else None)
