"""What a worker process is given and what it gives back: plain values that any process can read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

import attrs

from ycbench_agents.evaluation.failure import EpisodeFailure
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import Table, decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.suite import Limits
    from ycbench_env import Config

__all__ = ["Job", "JobReport", "import_folders"]


def import_folders(folders: Iterable[str] | str | None) -> tuple[str, ...]:
    """Return folders as a tuple: of several, of one, or of none."""
    if folders is None:
        return ()
    return (folders,) if isinstance(folders, str) else tuple(folders)


@attrs.frozen
class Job:
    """An episode for a worker process.

    Args:
        key: Which episode.
        root: Folder of the evaluation, absolute: a worker may have another working directory.
        name: Name of the run's folder in ``runs``, and of its marker.
        config: Configuration.
        seed: Run seed.
        policy: Name of the policy.
        parameters: Its parameters.
        limits: What the episode may use.
        import_path: Folders in which a policy of one's own may lie, () where none plays.
        waits: Whether its policy waits for answers, which takes as long as whoever answers likes.
    """

    key: EpisodeKey
    root: Path = attrs.field(converter=Path)
    name: str
    config: Config
    seed: int = attrs.field(repr=False)
    policy: str
    parameters: JsonObject
    limits: Limits
    import_path: tuple[str, ...] = attrs.field(default=(), converter=import_folders)
    waits: bool = False

    @property
    def seconds(self) -> int:
        """Wall-clock time that the episode and its measurement may take."""
        return self.limits.waiting_seconds if self.waits else self.limits.seconds

    @property
    def says_how_to_wait_longer(self) -> str:
        """Which setting of the suite allows more time."""
        return f"see limits.{'waiting_seconds' if self.waits else 'seconds'} of the suite"


@attrs.frozen
class JobReport:
    """What came of a job.

    Args:
        key: Which episode.
        failure: Why it failed, None where its record is finished.
        warnings: What was odd on the way, for people to read.
    """

    key: EpisodeKey
    failure: EpisodeFailure | None = None
    warnings: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """Return all but the key as a line of JSON."""
        failure = None if self.failure is None else self.failure.to_dict()
        return encode({"failure": failure, "warnings": [*self.warnings]}).encode("ascii") + b"\n"

    @classmethod
    def from_bytes(cls, key: EpisodeKey, told: bytes) -> Self | None:
        """Return the report in the last line of what a process has told, None where it is none, or no whole line.

        Args:
            key: Which episode.
            told: What it has told; a policy may have written something as well.
        """
        lines, end, rest = told.rpartition(b"\n")
        if not end or rest:
            return None
        try:
            table = Table.of(decode(lines.rpartition(b"\n")[2], "report"), "report")
            failure = table.optional_table("failure")
            warnings = tuple(str(each) for each in table.items("warnings"))
            return cls(key, None if failure is None else EpisodeFailure.from_table(failure), warnings)
        except RecordError:
            return None
