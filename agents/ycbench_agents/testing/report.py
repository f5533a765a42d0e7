"""What the kit says: a report of a policy that passes, an error for one that does not."""

from __future__ import annotations

import attrs

__all__ = ["EpisodeReport", "PolicyConformanceError", "PolicyReport"]


class PolicyConformanceError(AssertionError):
    """A policy breaks the contract; the message says where, what was got, and how to put it right."""


@attrs.frozen
class EpisodeReport:
    """How an episode went.

    Args:
        seed: Run seed, which also reset the policy.
        turns: Turns played.
        commands: Commands in them.
        refused: How many of the commands were refused, those included that the grammar does not have.
        invalid: How many were not in the grammar.
        final_funds_cents: Funds at the end, in cents.
        terminal_reason: bankruptcy, horizon_end or max_turns; None where the episode was cut off from outside.
        stopped: Why the policy could not go on, None for one that could.
    """

    seed: int
    turns: int
    commands: int
    refused: int
    invalid: int
    final_funds_cents: int
    terminal_reason: str | None
    stopped: str | None = None


@attrs.frozen
class PolicyReport:
    """What a policy did while it was checked.

    Args:
        episodes: One for each seed, in order.
    """

    episodes: tuple[EpisodeReport, ...]

    @property
    def refused_fraction(self) -> float:
        """Share of all commands that were refused, 0 without any command."""
        commands = sum(episode.commands for episode in self.episodes)
        return sum(episode.refused for episode in self.episodes) / commands if commands else 0.0
