"""Where an evaluation was begun, and where its runs were."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Self

import attrs

from ycbench_agents.evaluation.measurement import MEASURES_VERSION
from ycbench_agents.records import RunOrigin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.records.record import GitState
    from ycbench_agents.records.strict_json import Table

__all__ = ["Provenance", "counted_commits", "run_origins"]


@attrs.frozen
class Provenance:
    """Where an evaluation was begun; it changes nothing about its results, and each run tells for itself.

    Args:
        version: Version of ycbench-env, which is part of every run's identity.
        origin: Versions of Python and packages, the state of the checkout, and the time, when the first command of this
            version began; later commands leave it as it is.
        overrides: Settings that options and environment variables decided, as JSON objects of key, value and origin.
        measures_version: Version of what is measured.
    """

    version: str
    origin: RunOrigin
    overrides: tuple[Json, ...] = ()
    measures_version: int = MEASURES_VERSION

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {
            "version": self.version,
            "measures_version": self.measures_version,
            "origin": self.origin.to_json(),
            "overrides": list(self.overrides),
        }

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return what ``to_dict`` wrote.

        Raises:
            RecordError: A value is missing or of another type.
        """
        return cls(
            version=table.get("version", str),
            origin=RunOrigin.from_table(table.table("origin")),
            overrides=tuple(table.items("overrides")),
            measures_version=table.get("measures_version", int),
        )


def run_origins(episodes: Iterable[Episode]) -> tuple[RunOrigin, ...]:
    """Return where each finished run was begun, in the order of the suite; what has no result needs no origin."""
    return tuple(each.record.origin for each in episodes if each.status == "finished" and each.record is not None)


def counted_commits(origins: Iterable[RunOrigin]) -> dict[GitState | None, int]:
    """Return how many runs were begun at each state of the checkout, in the order of the first; None is without one."""
    return dict(Counter(origin.git for origin in origins))
