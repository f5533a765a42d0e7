"""What of a held-out evaluation may leave the place where it was played.

Its runs tell the seeds (run.json, names of folders) and the worlds: whatever an agent sees or says names clients, staff
and tasks of the hidden market, and a hash of the world lets anybody check a guess. So nothing of that is exported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_agents.evaluation.evaluation_file import EvaluationFile
from ycbench_agents.evaluation.export.error import ExportError
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.planned import planned_episodes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.records import RunRecord

__all__ = ["held_out_keys", "refuse_held_out"]


def held_out_keys(records: Sequence[RunRecord]) -> dict[Path, EpisodeKey]:
    """Return, by folder, the keys of the records that lie in held-out evaluations; their seeds are salted hashes.

    Raises:
        RecordError: The suite.json beside runs is lost or damaged, so nobody can tell.
        ExportError: Such a run belongs to no planned episode.
    """
    return {
        record.folder: _key(file, record)
        for record in records
        if (file := _evaluation_of(record)) is not None and file.suite.is_held_out
    }


def _evaluation_of(record: RunRecord) -> EvaluationFile | None:
    """Return the suite.json of the evaluation that a run lies in, None where it lies in none."""
    folder = EvaluationFolder.around(record.folder)
    return None if folder is None else EvaluationFile.read(folder)


def _key(file: EvaluationFile, record: RunRecord) -> EpisodeKey:
    seed_hash = file.suite.seed_hash
    seed = "" if seed_hash is None else seed_hash.of(record.identity.seed)
    name = record.folder.resolve().name
    version = record.identity.version
    planned = planned_episodes(file.suite, file.players, {seed: record.identity.seed}, version)
    for each in planned:
        if each.name == name:
            return each.key
    msg = "a run of a held-out evaluation belongs to no planned episode; remove it, or export its folder's others"
    raise ExportError(msg)


def refuse_held_out(records: Sequence[RunRecord], form: str) -> None:
    """Refuse records of held-out evaluations.

    Args:
        records: The records.
        form: What they were to be exported as.

    Raises:
        ExportError: There are such records.
        RecordError: The suite.json beside runs is lost or damaged, so nobody can tell.
    """
    if count := len(held_out_keys(records)):
        msg = (
            f"got {count} runs of a held-out evaluation, which {form} would disclose; expected runs with public seeds; "
            "--format parquet exports what may be published"
        )
        raise ExportError(msg)
