"""Progress callbacks of an evaluation."""

from __future__ import annotations

from ycbench_agents.evaluation.results import Episode
from ycbench_agents.evaluation.suite import EpisodeKey
from ycbench_agents.runs import RunIdentity, TurnRecord


class Progress:
    """Callbacks of ``play_suite``; each does nothing here, so a subclass overrides those that it wants.

    They are called in the thread that called ``play_suite``. Episodes are forked from this process, so a callback must
    start no thread.
    """

    wants_turns = False
    """Whether ``turn`` is to be called: all turns of policies that wait for answers, else at most ten a second."""

    def begin(self, total: int, done: int) -> None:
        """Playing begins.

        Args:
            total: Episodes to play now.
            done: Episodes that were finished before.
        """

    def started(self, key: EpisodeKey, run: RunIdentity) -> None:
        """An episode has begun, or goes on."""

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        """A turn was played."""

    def finished(self, key: EpisodeKey, episode: Episode) -> None:
        """An episode has finished or failed, as ``episode.status`` says."""

    def warn(self, message: str) -> None:
        """Something is odd."""

    def tick(self) -> None:
        """Time has passed; called about five times a second."""
