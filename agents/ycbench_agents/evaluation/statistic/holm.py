"""Holm's correction of the p-values of a family of comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.statistic.error import StatisticError
from ycbench_agents.evaluation.statistic.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HolmFamily", "HolmMember", "holm"]


@attrs.frozen
class HolmMember(Result):
    """One comparison of a family.

    Args:
        name: Its name.
        p: Its p-value, None where it is not defined.
        adjusted: Its p-value among the family, None where ``p`` is.
    """

    name: str
    p: float | None
    adjusted: float | None


@attrs.frozen
class HolmFamily(Result):
    """A family of comparisons.

    Args:
        members: Each of them, in the order given.
        size: Their number, those without a p-value among them.
        undefined: Number of those without a p-value.
    """

    members: tuple[HolmMember, ...]
    size: int
    undefined: int

    def adjusted(self, name: str) -> float | None:
        """Return a member's adjusted p-value.

        Raises:
            KeyError: There is no such member.
        """
        return {member.name: member.adjusted for member in self.members}[name]


def holm(p_values: Mapping[str, float | None]) -> HolmFamily:
    """Return p-values adjusted so that a family errs with at most the chosen probability (Holm 1979).

    The i-th smallest of m is multiplied by ``m - i + 1``, is at least the one before it and at most 1. A comparison
    without a p-value was planned as well: it counts in m, as if its p-value were 1.

    Raises:
        StatisticError: A p-value is not within 0 and 1.
    """
    for name, value in p_values.items():
        if value is not None and not 0 <= value <= 1:
            msg = f"{name}: got a p-value of {value!r}, expected a number from 0 to 1, or None where there is none"
            raise StatisticError(msg)
    known = sorted((value, name) for name, value in p_values.items() if value is not None)
    adjusted: dict[str, float] = {}
    largest = 0.0
    for place, (value, name) in enumerate(known):
        largest = max(largest, min(1.0, (len(p_values) - place) * value))
        adjusted[name] = largest
    members = tuple(HolmMember(name, value, adjusted.get(name)) for name, value in p_values.items())
    return HolmFamily(members, len(members), len(members) - len(known))
