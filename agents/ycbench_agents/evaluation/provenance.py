"""Where an evaluation was played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import attrs

from ycbench_agents.evaluation.measurement import MEASURES_VERSION
from ycbench_agents.records import RunOrigin

if TYPE_CHECKING:
    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.records.strict_json import Table

__all__ = ["Provenance"]


@attrs.frozen
class Provenance:
    """Where an evaluation was played last; it changes nothing about its results.

    Args:
        version: Version of ycbench-env, which is part of every run's identity.
        origin: Versions of Python and packages, the state of the checkout, and when it was begun.
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
