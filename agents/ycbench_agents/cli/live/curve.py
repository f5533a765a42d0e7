"""Funds over simulated time, drawn in cells: a curve of some rows, and one of a single row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.cli.live.funds import FundsSeries
    from ycbench_agents.cli.live.glyphs import Glyphs

__all__ = ["Axis", "Curve", "draw_curve", "is_bankruptcy_near", "sparkline"]

_BRAILLE: Final = 0x2800
_DOTS: Final = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))  # of a cell, by column and row from the top
_FLAT_MARGIN: Final = 20  # part of the funds by which the axis of a flat curve is widened
_NEAR: Final = 4  # bankruptcy is near when funds are below that part of their highest


@attrs.frozen
class Axis:
    """The amounts at the lower and the upper edge of a curve, in cents; the upper one is higher."""

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
class Curve:
    """A drawn curve.

    Args:
        rows: Its rows from the top, all of the same number of cells.
        zero_row: In which of them the line of no funds lies, None where it cannot be seen.
    """

    rows: tuple[str, ...]
    zero_row: int | None


def is_bankruptcy_near(funds: FundsSeries) -> bool:
    """Return whether funds are a small part of what they once were, or gone."""
    return funds.now_cents * _NEAR < funds.max_cents


def draw_curve(funds: FundsSeries, axis: Axis, cells: int, rows: int, glyphs: Glyphs) -> Curve:
    """Return the funds as a curve over the whole horizon, its future empty.

    Args:
        funds: Funds.
        axis: Their axis.
        cells: Width, at least 1.
        rows: Height, at least 1.
        glyphs: Signs to draw with.
    """
    across, down = (2, 4) if glyphs.point is None else (1, 1)
    steps = rows * down
    masks = [[0] * cells for _ in range(rows)]
    before: int | None = None
    for x, cents in enumerate(funds.samples(cells * across)):
        if cents is None:
            break
        y = axis.place(cents, steps)
        for height in _stroke(before, y):
            from_top = steps - 1 - height
            masks[from_top // down][x // across] |= _DOTS[x % across][from_top % down]
        before = y
    zero_row = (steps - 1 - axis.place(0, steps)) // down if axis.has_zero else None
    lines = [_row(mask, glyphs, is_zero=row == zero_row) for row, mask in enumerate(masks)]
    return Curve(tuple(lines), zero_row)


def _stroke(before: int | None, now: int) -> range:
    """Return the heights to be drawn in a column, so that the curve has no gaps."""
    if before is None or before == now:
        return range(now, now + 1)
    return range(before + 1, now + 1) if before < now else range(now, before)


def _row(masks: Sequence[int], glyphs: Glyphs, *, is_zero: bool) -> str:
    empty = glyphs.zero if is_zero else " "
    return "".join((glyphs.point or chr(_BRAILLE + mask)) if mask else empty for mask in masks)


def sparkline(funds: FundsSeries, cells: int, glyphs: Glyphs) -> str:
    """Return the funds as one row of bars over the whole horizon, its future empty."""
    axis = Axis.of(funds)
    levels = glyphs.levels
    bars = [" " if cents is None else levels[axis.place(cents, len(levels))] for cents in funds.samples(cells)]
    return "".join(bars)
