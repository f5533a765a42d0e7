"""All that the rules look at, read once: the evaluation, the folders of its runs, and each record from end to end."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.evaluation_file import EvaluationFile
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.measured import read_measures
from ycbench_agents.evaluation.planned import planned_episodes
from ycbench_agents.evaluation.reading import read_evaluation
from ycbench_agents.evaluation.redaction import NOT_SHOWN
from ycbench_agents.evaluation.validation.digest import RecordDigest
from ycbench_agents.records import RecordError
from ycbench_agents.records.reading import TURNS_FILE, find_run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ycbench_agents.evaluation.episode import Episode, EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.planned import PlannedEpisode
    from ycbench_agents.evaluation.reading import Evaluation
    from ycbench_agents.evaluation.validation.rules import Replay
    from ycbench_agents.records import RunRecord

__all__ = ["Evidence", "Found", "RunFacts", "read_evidence"]

_CENTS: Final = 100


@attrs.frozen
class RunFacts:
    """What the turns of a run add up to.

    Args:
        turns: Their number.
        reward_cents: Sum of their rewards, in cents.
        delta_cents: Sum of the changes of funds, in cents.
        funds_cents: Funds after the last of them, in cents; None without turns.
        digest: Digest of the record.
        file_digest: SHA-256 of the file of turns, times included.
    """

    turns: int
    reward_cents: int
    delta_cents: int
    funds_cents: int | None
    digest: str
    file_digest: str


@attrs.frozen
class Found:
    """A folder among the runs.

    Args:
        name: Its name.
        record: What is in it; None where that is no record, or a damaged one.
        error: Why it cannot be read; None where it can.
    """

    name: str
    record: RunRecord | None
    error: str | None = None


@attrs.frozen
class Evidence:
    """What the rules look at.

    Args:
        folder: The evaluation's folder.
        evaluation: The evaluation.
        planned: The planned episodes whose seeds are known.
        found: The folders of runs by name.
        facts: Of each finished episode what its turns add up to, or why they cannot be read.
        measures: Of each finished episode the measures beside its record; None where there are none of this version.
    """

    folder: EvaluationFolder
    evaluation: Evaluation
    planned: tuple[PlannedEpisode, ...]
    found: Mapping[str, Found]
    facts: Mapping[EpisodeKey, RunFacts | str]
    measures: Mapping[EpisodeKey, RunMeasures | None]

    @property
    def is_held_out(self) -> bool:
        """Whether the seeds are secret, so that nothing that tells of a world may be shown."""
        return self.evaluation.suite.is_held_out

    def finished(self) -> list[tuple[EpisodeKey, RunRecord]]:
        """Return the finished episodes with their records, in the order of the suite."""
        return [(each.key, each.record) for each in self.evaluation.episodes if _is_finished(each) and each.record]

    def drawn(self, replay: Replay) -> list[tuple[EpisodeKey, RunRecord]]:
        """Return the finished episodes that are played again, in the order of the suite."""
        finished = self.finished()
        if replay.runs is None or replay.runs >= len(finished):
            return finished
        places = random.Random(replay.seed).sample(range(len(finished)), replay.runs)  # noqa: S311 -- no secret
        return [finished[place] for place in sorted(places)]

    def told(self, what: str) -> str:
        """Return what an error says; of a held-out evaluation nothing, for it may tell of a world or name a seed."""
        return NOT_SHOWN if self.is_held_out else what


def read_evidence(path: Path) -> Evidence:
    """Return what the rules look at.

    Raises:
        RecordError: There is no evaluation, or one of its files is damaged.
    """
    folder = EvaluationFolder(path)
    evaluation, file = read_evaluation(path), EvaluationFile.read(folder)
    found = {each.name: each for each in map(_found, _run_folders(folder))}
    finished = [each for each in evaluation.episodes if _is_finished(each)]
    return Evidence(
        folder=folder,
        evaluation=evaluation,
        planned=planned_episodes(file.suite, file.players, _seeds(evaluation, found), file.provenance.version),
        found=found,
        facts={each.key: _facts(each.record) for each in finished if each.record is not None},
        measures={each.key: read_measures(each.record.folder) for each in finished if each.record is not None},
    )


def _is_finished(episode: Episode) -> bool:
    return episode.status == "finished" and episode.record is not None


def _run_folders(folder: EvaluationFolder) -> list[Path]:
    return sorted(path for path in folder.runs.glob("*") if path.is_dir())


def _found(path: Path) -> Found:
    try:
        record = find_run(path)
    except RecordError as error:
        return Found(path.name, None, str(error))
    return Found(path.name, record, None if record is not None else "it holds no run")


def _seeds(evaluation: Evaluation, found: Mapping[str, Found]) -> dict[str, int]:
    """Return the seed of each name, of a held-out suite as far as runs tell it."""
    seed_hash = evaluation.suite.seed_hash
    if seed_hash is None:
        return {seed: int(seed) for seed in evaluation.suite.seeds}
    played = sorted({each.record.identity.seed for each in found.values() if each.record is not None})
    return {seed_hash.of(seed): seed for seed in played}


def _facts(record: RunRecord) -> RunFacts | str:
    """Return what a run's turns add up to, or why they cannot be read."""
    digest = RecordDigest(record)
    turns = reward_cents = delta_cents = 0
    funds_cents = None
    try:
        for turn in record.turns():
            digest.add(turn)
            turns, funds_cents = turn.turn, turn.funds_cents
            reward_cents += round(turn.reward * _CENTS)
            delta_cents += turn.funds_delta_cents
        file_digest = _file_digest(record.folder / TURNS_FILE)
    except (RecordError, OSError) as error:
        return str(error)
    return RunFacts(turns, reward_cents, delta_cents, funds_cents, digest.hex(), file_digest)


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
