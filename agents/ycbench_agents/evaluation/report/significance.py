"""What no p-value of a comparison can show, policy by policy: too few seeds, ties, too many policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.statistic import DEFAULT_SETTINGS, pairs_needed, sign_flip_floor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.evaluation.statistic import FamilyComparison

__all__ = ["significance_notes"]


@attrs.frozen
class _Reach:
    """How small the p-values of one comparison can be at best.

    Args:
        name: The policy.
        pairs: Seeds that both have.
        ties: Those of them that are tied.
        floor: Of p.
        holm_floor: Of the p that is adjusted for all policies of the table.
    """

    name: str
    pairs: int
    ties: int
    floor: float
    holm_floor: float

    @property
    def detail(self) -> str:
        """Why its floor is what it is."""
        seeds = f"{self.pairs} seed{'s' if self.pairs > 1 else ''}"
        return f"{seeds}{f', {self.ties} tied' if self.ties else ''}: at least {self.floor:.4g}"

    @property
    def holm_detail(self) -> str:
        """The floor with the correction."""
        return f"at least {self.holm_floor:.4g}"


def significance_notes(family: FamilyComparison) -> tuple[str, ...]:
    """Return which policies no result could show to differ from the baseline, and why; nothing where all could."""
    alpha, size = DEFAULT_SETTINGS.alpha, family.holm.size
    reaches = _reaches(family)
    weak = [reach for reach in reaches if reach.floor > alpha]
    few = [reach for reach in weak if (sign_flip_floor(reach.pairs) or 1.0) > alpha]
    tied = [reach for reach in weak if reach not in few]
    many = [reach for reach in reaches if reach.floor <= alpha < reach.holm_floor]
    notes = (
        (few, _too_few_seeds(few, alpha, size)),
        (tied, f"Too many ties for p to reach {alpha:g}, since a tie has no sign to flip: {_listed(tied)}."),
        (many, _too_many_policies(many, alpha, size)),
    )
    return tuple(note for concerned, note in notes if concerned)


def _too_few_seeds(reaches: Sequence[_Reach], alpha: float, size: int) -> str:
    for_holm = f", and {pairs_needed(alpha / size)} for Holm p with {size} policies" if size > 1 else ""
    return (
        f"Too few seeds for p to reach {alpha:g}, whatever the lift: {_listed(reaches)}. It takes "
        f"{pairs_needed(alpha)} without a tie{for_holm}."
    )


def _too_many_policies(reaches: Sequence[_Reach], alpha: float, size: int) -> str:
    return (
        f"Holm p cannot reach {alpha:g}, though p can, since it allows for all {size} policies of this table: "
        f"{_listed(reaches, with_holm=True)}. It takes {pairs_needed(alpha / size)} seeds without a tie."
    )


def _reaches(family: FamilyComparison) -> list[_Reach]:
    found: list[_Reach] = []
    for name, comparison in family.comparisons.items():
        lift, holm_floor = comparison.score, family.floors.adjusted(name)
        if lift.sign_flip.floor is not None and holm_floor is not None:
            found.append(_Reach(name, lift.difference.n, lift.wins.ties, lift.sign_flip.floor, holm_floor))
    return found


def _listed(reaches: Sequence[_Reach], *, with_holm: bool = False) -> str:
    """Return names with their floors, those with the same one together."""
    names: dict[str, list[str]] = {}
    for reach in reaches:
        names.setdefault(reach.holm_detail if with_holm else reach.detail, []).append(reach.name)
    return "; ".join(f"{', '.join(found)} ({detail})" for detail, found in names.items())
