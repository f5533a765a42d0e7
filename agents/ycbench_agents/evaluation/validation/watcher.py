"""Being told how far a validation is: playing runs again takes minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ycbench_agents.evaluation.episode import EpisodeKey

__all__ = ["NOBODY", "ValidationWatcher"]


class ValidationWatcher(Protocol):
    """Is told how far a validation is."""

    def begin(self, plays: int) -> None:
        """So many runs are to be played again; each is played twice: as it was recorded, and to be measured."""
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


NOBODY: ValidationWatcher = _Nobody()
"""Watches nothing."""
