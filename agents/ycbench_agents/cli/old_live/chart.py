"""Funds over simulated time, drawn in cells: a chart of some rows, and a line of a single one.

Bars of eighths of a cell, which nearly all fonts of terminals have; Braille dots would be finer, and many have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from ycbench_agents.cli.old_live.funds import FundsSeries
    from ycbench_agents.cli.old_live.glyphs import Glyphs

__all__ = ["Axis", "Chart", "draw_chart", "is_bankruptcy_near", "sparkline"]

_FLAT_MARGIN: Final = 20  # part of the funds by which the axis of a flat chart is widened
_NEAR: Final = 4  # bankruptcy is near when funds are below that part of their highest


@attrs.frozen
class Axis:
    """The amounts at the lower and the upper edge of a chart, in cents; the upper one is higher."""

    low: int
    high: int

    @classmethod
    def of(cls, funds: FundsSeries) -> Axis:
        """Return an axis that holds all funds, and 0 where they come near it or below it."""
        low, high = funds.min_cents, funds.max_cents
        if low < high - low:
            return cls(min(low, 0), max(high, 0, min(low, 0) + 1))
        margin = 0 if high > low else abs(high) // _FLAT_MARGIN + 1
        return cls(low - margin, high + margin)

    @property
    def has_zero(self) -> bool:
        """Whether the line of no funds can be seen."""
        return self.low <= 0 <= self.high

    def place(self, cents: int, steps: int) -> int:
        """Return the step, from 0 to ``steps - 1``, at which an amount lies."""
        return round((cents - self.low) / (self.high - self.low) * (steps - 1))


@attrs.frozen
class Chart:
    """A drawn chart.

    Args:
        rows: Its rows from the top, all of the same number of cells.
        zero_row: In which of them the line of no funds lies, None where it cannot be seen.
    """

    rows: tuple[str, ...]
    zero_row: int | None


def is_bankruptcy_near(funds: FundsSeries) -> bool:
    """Return whether funds are a small part of what they once were, or gone."""
    return funds.now_cents * _NEAR < funds.max_cents


def draw_chart(funds: FundsSeries, axis: Axis, cells: int, rows: int, glyphs: Glyphs) -> Chart:
    """Return the funds as bars over the whole horizon, its future empty.

    Args:
        funds: Funds.
        axis: Their axis.
        cells: Width, at least 1.
        rows: Height, at least 1.
        glyphs: Signs to draw with.
    """
    full = len(glyphs.levels) - 1
    steps = rows * full
    bars = [0 if cents is None else axis.place(cents, steps) + 1 for cents in funds.samples(cells)]
    zero = axis.place(0, steps) // full if axis.has_zero else None
    drawn = tuple(
        "".join(_cell(bar - row * full, glyphs, is_zero=row == zero) for bar in bars) for row in reversed(range(rows))
    )
    return Chart(drawn, None if zero is None else rows - 1 - zero)


def _cell(level: int, glyphs: Glyphs, *, is_zero: bool) -> str:
    """Return a cell of a bar that ends so many steps above the lower edge of the cell."""
    if level <= 0 and is_zero:
        return glyphs.zero
    return glyphs.levels[min(max(level, 0), len(glyphs.levels) - 1)]


def sparkline(funds: FundsSeries, cells: int, glyphs: Glyphs) -> str:
    """Return the funds as one row of bars over the whole horizon, its future empty."""
    return draw_chart(funds, Axis.of(funds), cells, 1, attrs.evolve(glyphs, zero=" ")).rows[0]
