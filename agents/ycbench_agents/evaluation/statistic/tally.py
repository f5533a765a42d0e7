"""How many episodes were planned, and what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.statistic.error import StatisticError
from ycbench_agents.evaluation.statistic.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.episode import EpisodeStatus

__all__ = ["Tally"]


def _count(_: object, attribute: attrs.Attribute[int], value: int) -> None:
    if value < 0:
        msg = f"{attribute.name}: got {value}, expected a number of episodes, 0 or more"
        raise StatisticError(msg)


@attrs.frozen
class Tally(Result):
    """Episodes counted by what became of them; every planned one is in exactly one of the three.

    Args:
        run: Played to their end.
        failed: Ended by an error.
        missing: Not played, or not to their end.

    Raises:
        StatisticError: A count is negative.
    """

    run: int = attrs.field(default=0, validator=_count)
    failed: int = attrs.field(default=0, validator=_count)
    missing: int = attrs.field(default=0, validator=_count)

    @classmethod
    def of(cls, statuses: Iterable[EpisodeStatus]) -> Tally:
        """Return the tally of episodes, one status each."""
        listed = tuple(statuses)
        return cls(listed.count("finished"), listed.count("failed"), listed.count("missing"))

    @property
    def planned(self) -> int:
        """All of them."""
        return self.run + self.failed + self.missing

    @property
    def is_complete(self) -> bool:
        """Whether every planned episode was played to its end."""
        return self.run == self.planned

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of both."""
        return Tally(self.run + other.run, self.failed + other.failed, self.missing + other.missing)

    def to_json(self) -> JsonObject:
        """Return the four counts."""
        return {"planned": self.planned, "run": self.run, "failed": self.failed, "missing": self.missing}
