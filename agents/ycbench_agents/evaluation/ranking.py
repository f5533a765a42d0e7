"""The order of policies under one configuration: the same in the command's table, results.json and the report."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.evaluation.statistic import SeedValues

__all__ = ["exact_score_cents", "rank"]


def rank(policy: str, score_cents: int | None, *, is_complete: bool) -> tuple[bool, bool, int, str]:
    """Return the key that sorts policies: complete ones first, then by score, the best first, then by name.

    Args:
        policy: Label of the policy.
        score_cents: Its score; None where nothing is finished, which comes after all scores.
        is_complete: Whether all its planned episodes are finished; a score of fewer may be that of the easy seeds.
    """
    return not is_complete, score_cents is None, -(score_cents or 0), policy


def exact_score_cents(funds: SeedValues) -> int | None:
    """Return the mean over seeds of the funds, a bankrupt company counting 0, to the cent, half to even.

    A seed's value is the mean over its repeats, so each seed has the same weight whatever is missing. The sum is one of
    fractions: no order of adding them changes a cent.

    Args:
        funds: Final funds in whole cents, by seed; None comes back where there are none.
    """
    means = [_mean([max(Fraction(value), Fraction(0)) for value in repeats]) for repeats in funds.values() if repeats]
    return round(_mean(means)) if means else None


def _mean(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)
