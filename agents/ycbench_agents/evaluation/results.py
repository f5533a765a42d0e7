"""The results of an evaluation: the leaderboard, and what results.json holds; nothing in it depends on a clock."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.evaluation_file import EVALUATION_FORMAT, key_dict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.evaluation.reading import Evaluation

__all__ = ["LeaderboardRow", "leaderboard", "results_document", "told_reason"]

_BANKRUPTCY: Final = "bankruptcy"


@attrs.frozen
class LeaderboardRow:
    """A policy under one configuration.

    Args:
        policy: Label of the policy.
        preset: Label of the configuration.
        planned: Episodes that the suite has.
        finished: Those played to their end.
        failed: Those ended by an error.
        bankrupt: Finished ones whose company went bankrupt.
        score_cents: Mean of the final funds of the finished ones, to the cent (half to even), a bankrupt company
            counting 0; None where nothing is finished.
    """

    policy: str
    preset: str
    planned: int
    finished: int
    failed: int
    bankrupt: int
    score_cents: int | None

    @property
    def missing(self) -> int:
        """Episodes that were not played yet."""
        return self.planned - self.finished - self.failed

    @property
    def is_complete(self) -> bool:
        """Whether its score counts: nothing failed and nothing is missing."""
        return self.finished == self.planned

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {**attrs.asdict(self), "missing": self.missing, "is_complete": self.is_complete}


def leaderboard(evaluation: Evaluation) -> tuple[LeaderboardRow, ...]:
    """Return a row for each policy and configuration: by configuration, complete ones first, the best score first."""
    groups: dict[tuple[str, str], list[Episode]] = {}
    for episode in evaluation.episodes:
        groups.setdefault((episode.key.preset, episode.key.policy), []).append(episode)
    presets = [preset.label for preset in evaluation.suite.presets]
    rows = [_row(policy, preset, episodes) for (preset, policy), episodes in groups.items()]
    return tuple(sorted(rows, key=lambda row: (presets.index(row.preset), *_rank(row))))


def _rank(row: LeaderboardRow) -> tuple[bool, bool, int, str]:
    return not row.is_complete, row.score_cents is None, -(row.score_cents or 0), row.policy


def _row(policy: str, preset: str, episodes: Sequence[Episode]) -> LeaderboardRow:
    scores = [score for episode in episodes if (score := _score_cents(episode)) is not None]
    return LeaderboardRow(
        policy=policy,
        preset=preset,
        planned=len(episodes),
        finished=len(scores),
        failed=sum(episode.status == "failed" for episode in episodes),
        bankrupt=sum(_is_bankrupt(episode) for episode in episodes),
        score_cents=round(Fraction(sum(scores), len(scores))) if scores else None,
    )


def _is_bankrupt(episode: Episode) -> bool:
    record = episode.record
    return episode.status == "finished" and record is not None and record.outcome.terminal_reason == _BANKRUPTCY


def _score_cents(episode: Episode) -> int | None:
    """Return what an episode counts, in cents; None where it is not finished."""
    if episode.status != "finished" or episode.record is None:
        return None
    return 0 if _is_bankrupt(episode) else episode.record.outcome.final_funds_cents


def results_document(evaluation: Evaluation) -> JsonObject:
    """Return the results as JSON values; of a held-out suite without what failures say, which may tell of a world."""
    suite = evaluation.suite
    statuses = [episode.status for episode in evaluation.episodes]
    rows: list[Json] = [row.to_dict() for row in leaderboard(evaluation)]
    episodes: list[Json] = [_episode(episode, is_secret=suite.is_held_out) for episode in evaluation.episodes]
    return {
        "format": EVALUATION_FORMAT,
        "suite": suite.name,
        "suite_digest": suite.digest(),
        "version": evaluation.provenance.version,
        "planned": len(statuses),
        "finished": statuses.count("finished"),
        "failed": statuses.count("failed"),
        "missing": statuses.count("missing"),
        "leaderboard": rows,
        "episodes": episodes,
    }


def told_reason(episode: Episode, *, is_secret: bool) -> str | None:
    """Return why an episode failed; of a held-out one the class of the error only, for its text may name the seed."""
    return episode.reason.partition(":")[0] if is_secret and episode.reason is not None else episode.reason


def _episode(episode: Episode, *, is_secret: bool) -> JsonObject:
    outcome = episode.record.outcome if episode.status == "finished" and episode.record is not None else None
    total = None if outcome is None else outcome.total_return
    return {
        **key_dict(episode.key),
        "status": episode.status,
        "reason": told_reason(episode, is_secret=is_secret),
        "final_funds_cents": None if outcome is None else outcome.final_funds_cents,
        "return_cents": None if total is None else round(total * 100),
        "terminal_reason": None if outcome is None else outcome.terminal_reason,
        "turns": None if outcome is None else outcome.turns,
    }
