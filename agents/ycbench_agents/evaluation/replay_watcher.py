"""Being told how far it is where runs are played again, to be measured or validated: that takes seconds each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ycbench_agents.evaluation.episode import EpisodeKey

__all__ = ["NOBODY", "ReplayWatcher"]


class ReplayWatcher(Protocol):
    """Is told how far it is."""

    def begin(self, plays: int) -> None:
        """So many times a run is to be played again."""
        ...

    def play(self, key: EpisodeKey) -> None:
        """A run is being played again."""
        ...


class _Nobody:
    """Is told, and does nothing."""

    def begin(self, plays: int) -> None:
        """Do nothing."""

    def play(self, key: EpisodeKey) -> None:
        """Do nothing."""


NOBODY: ReplayWatcher = _Nobody()
"""Watches nothing."""
