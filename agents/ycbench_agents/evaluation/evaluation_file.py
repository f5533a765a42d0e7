"""suite.json and failures.json: what was to be played, by whom, where, and what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import attrs

from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.failure import EpisodeFailure
from ycbench_agents.evaluation.old_suite import Suite
from ycbench_agents.evaluation.player import PlayerIdentity
from ycbench_agents.evaluation.provenance import Provenance
from ycbench_agents.evaluation.storing import store_json
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import Table, find_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.folder import EvaluationFolder

__all__ = [
    "EVALUATION_FORMAT",
    "EvaluationFile",
    "forget_failures",
    "key_dict",
    "key_of",
    "read_failures",
    "store_failures",
]

EVALUATION_FORMAT: Final = 1
"""Version of the form of the files of an evaluation."""


@attrs.frozen
class EvaluationFile:
    """What suite.json holds.

    Args:
        suite: The suite.
        players: Who plays each policy under each configuration.
        provenance: Where it was begun.
    """

    suite: Suite
    players: tuple[PlayerIdentity, ...]
    provenance: Provenance

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {
            "format": EVALUATION_FORMAT,
            "digest": self.suite.digest(),
            "suite": self.suite.to_dict(),
            "players": [player.to_dict() for player in self.players],
            "provenance": self.provenance.to_dict(),
        }

    @classmethod
    def read(cls, folder: EvaluationFolder) -> Self:
        """Return the suite.json of a folder.

        Raises:
            RecordError: There is none, or it is damaged or of another version.
        """
        table = find_table(folder.suite, EVALUATION_FORMAT)
        if table is None:
            msg = f"{folder.path}: there is no {folder.suite.name}; expected the folder that ycbench evaluate wrote"
            raise RecordError(msg)
        return cls(
            suite=Suite.from_table(table.table("suite")),
            players=tuple(
                PlayerIdentity.from_table(Table.of(item, f"{table.place}: players")) for item in table.items("players")
            ),
            provenance=Provenance.from_table(table.table("provenance")),
        )


def key_dict(key: EpisodeKey) -> JsonObject:
    """Return which episode it is as JSON values."""
    return {"policy": key.policy, "preset": key.preset, "seed": key.seed, "repeat": key.repeat}


def store_failures(folder: EvaluationFolder, failures: Mapping[EpisodeKey, EpisodeFailure]) -> None:
    """Replace failures.json; where nothing failed there is none.

    Raises:
        OSError: It cannot be written.
    """
    if not failures:
        folder.failures.unlink(missing_ok=True)
        return
    rows = [{**key_dict(key), **failure.to_dict()} for key, failure in sorted(failures.items(), key=lambda row: row[0])]
    store_json(folder.failures, {"format": EVALUATION_FORMAT, "failures": [*rows]})


def read_failures(folder: EvaluationFolder) -> dict[EpisodeKey, EpisodeFailure]:
    """Return why episodes failed; {} where there is no failures.json.

    Raises:
        RecordError: It is damaged.
    """
    table = find_table(folder.failures, EVALUATION_FORMAT)
    rows = [] if table is None else [Table.of(item, f"{table.place}: failures") for item in table.items("failures")]
    return {key_of(row): EpisodeFailure.from_table(row) for row in rows}


def forget_failures(folder: EvaluationFolder) -> None:
    """Remove failures.json, also where it is an empty folder.

    Raises:
        RecordError: It is a folder with something in it, which is left alone.
        OSError: It cannot be removed.
    """
    path = folder.failures
    if not path.is_dir() or path.is_symlink():
        path.unlink(missing_ok=True)
    elif any(path.iterdir()):
        msg = f"{path}: got a folder with something in it, expected the file that ycbench evaluate writes; move it away"
        raise RecordError(msg)
    else:
        path.rmdir()


def key_of(table: Table) -> EpisodeKey:
    """Return the episode that ``key_dict`` describes.

    Raises:
        RecordError: A value is missing or of another type.
    """
    return EpisodeKey(
        table.get("policy", str), table.get("preset", str), table.get("seed", str), table.get("repeat", int)
    )
