"""Figures over the episodes of one policy under one configuration."""

from __future__ import annotations

import statistics
from fractions import Fraction
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from ycbench_agents.cli.suite import Suite

__all__ = ["Group", "groups"]


@attrs.frozen
class Group:
    """The episodes of one policy under one configuration.

    Args:
        policy: Name of the policy.
        preset: Label of the configuration.
        planned: Number of episodes asked for.
        final_funds_cents: Final funds of those that were played, by plan.
    """

    policy: str
    preset: str
    planned: int
    final_funds_cents: tuple[int, ...]

    @property
    def run(self) -> int:
        """Number of episodes that were played to their end."""
        return len(self.final_funds_cents)

    @property
    def mean_cents(self) -> int | None:
        """Mean of the final funds, to the cent (half to even); None of nothing."""
        # Exact: a float has no room for the cents of a large sum, and rounds a half by its own error.
        return round(Fraction(sum(self.final_funds_cents), self.run)) if self.run else None

    @property
    def deviation_cents(self) -> int | None:
        """Standard deviation of the sample, to the cent; None for fewer than two episodes."""
        return round(statistics.stdev(self.final_funds_cents)) if self.run > 1 else None


def groups(suite: Suite) -> tuple[Group, ...]:
    """Return the groups of a suite, in the order in which they were planned."""
    planned: dict[tuple[str, str], int] = {}
    for plan in suite.plans:
        planned[plan.policy, plan.preset] = planned.get((plan.policy, plan.preset), 0) + 1
    funds: dict[tuple[str, str], list[int]] = {key: [] for key in planned}
    for episode in suite.episodes:
        funds[episode.plan.policy, episode.plan.preset].append(episode.final_funds_cents)
    return tuple(Group(*key, count, tuple(funds[key])) for key, count in planned.items())
