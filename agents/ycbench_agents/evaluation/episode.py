"""One episode of an evaluation: what was planned and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

if TYPE_CHECKING:
    from ycbench_agents.records import RunRecord

__all__ = ["Episode", "EpisodeKey", "EpisodeStatus"]

EpisodeStatus: TypeAlias = Literal["finished", "failed", "missing"]
"""What became of a planned episode: played to its end, ended by an error, or not played yet."""


@attrs.frozen(order=True)
class EpisodeKey:
    """Which episode of an evaluation; no two have the same.

    Args:
        policy: Label of the policy, as the suite has it.
        preset: Label of the configuration.
        seed: Run seed as text; of a held-out suite that was exported, a salted hash of it.
        repeat: Which repetition, from 1.
    """

    policy: str
    preset: str
    seed: str
    repeat: int = 1

    def __str__(self) -> str:
        """Return it for people to read."""
        again = f", repeat {self.repeat}" if self.repeat > 1 else ""
        return f"{self.policy}, {self.preset}, seed {self.seed}{again}"


@attrs.frozen
class Episode:
    """A planned episode and what became of it.

    Args:
        key: Which episode.
        status: finished, failed or missing.
        reason: Why it failed, for people to read; None otherwise.
        record: The record of the run; None where there is none.

    A finished episode has a finished record. What failed or is missing has no funds and enters no mean; it is counted.
    """

    key: EpisodeKey
    status: EpisodeStatus
    reason: str | None = None
    record: RunRecord | None = None
