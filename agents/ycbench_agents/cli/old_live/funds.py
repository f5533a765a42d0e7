"""Funds by simulated time, thinned so that a long run takes no more room than a short one."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

import attrs

__all__ = ["FundsSeries"]

_PARTS: Final = 480  # of the horizon, of each of which the last point is kept: more than a wide terminal has dots


@attrs.frozen
class FundsSeries:
    """Funds after the turns of a run.

    Args:
        points: Fraction of the horizon, from 0 to 1, and funds in cents; in order, at least one.
        min_cents: Lowest funds after any turn.
        max_cents: Highest funds after any turn.
    """

    points: tuple[tuple[float, int], ...]
    min_cents: int
    max_cents: int

    @classmethod
    def starting_with(cls, cents: int) -> FundsSeries:
        """Return the series of a run in which nothing has happened."""
        return cls(((0.0, cents),), cents, cents)

    @property
    def now_cents(self) -> int:
        """Funds after the last turn."""
        return self.points[-1][1]

    def plus(self, fraction: float, cents: int) -> FundsSeries:
        """Return the series with one more point, at the last one's time or later."""
        last = self.points[-1][0]
        is_same_part = len(self.points) > 1 and int(last * _PARTS) == int(fraction * _PARTS)
        kept = self.points[:-1] if is_same_part else self.points
        return FundsSeries(
            (*kept, (max(fraction, last), cents)), min(self.min_cents, cents), max(self.max_cents, cents)
        )

    def samples(self, count: int) -> list[int | None]:
        """Return the funds at the end of each of ``count`` equal parts of the horizon, None in the future.

        The part that is going on has the funds of now.
        """
        times = [fraction for fraction, _ in self.points]
        now = times[-1]
        return [
            self.points[bisect_right(times, (part + 1) / count) - 1][1] if part / count <= now else None
            for part in range(count)
        ]
