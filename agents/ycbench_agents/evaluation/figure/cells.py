"""A grid of cells with words and shades, and the room that it needs: headings are tilted where they are too wide."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.figure.canvas import Frame
from ycbench_agents.evaluation.figure.lettering import LABEL_INCHES, text_width
from ycbench_agents.evaluation.figure.short_name import short_names
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

__all__ = ["STRONGEST", "Cell", "Grid", "draw_grid", "grid_room"]

STRONGEST: Final = 0.55
"""Up to which strength dark letters on light cells, and light ones on dark cells, stay readable."""

_FAINTEST: Final = 0.04
_TILTS: Final = (0, 35, 50, 90)  # degrees; the first with which headings keep clear of each other is taken
_LINE: Final = 1.2  # of a line of text, in heights of its letters
_POINTS: Final = 72  # of an inch
_WIDTH: Final = 4.97  # of a figure with few columns, in inches
_GAP: Final = 0.08  # between texts, and beside them
_PAD: Final = 3  # points between names and cells
_SMALLEST: Final = 0.75  # of the usual letters, down to which those of cells shrink


@attrs.frozen
class Cell:
    """One cell.

    Args:
        column: Its place from the left.
        row: Its place from above.
        words: What it says.
        colour: Its colour.
        strength: How much of it, from 0 to ``STRONGEST``.
        brief: The same in a letter or two, where words are too wide; empty for words in smaller letters.
    """

    column: int
    row: int
    words: str
    colour: str
    strength: float
    brief: str = ""


@attrs.frozen
class Grid:
    """Cells with names beside and above them.

    Args:
        rows: Names, from above.
        columns: Names, from the left.
        cells: The cells.
        key: What the brief words mean.
        heading_inches: Room for a name of a column.
        names: Short names, by name, of those that have one already.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    key: str = ""
    heading_inches: float = LABEL_INCHES
    names: Mapping[str, str] = attrs.field(factory=dict[str, str])

    def is_brief(self, pitch: float, points: float) -> bool:
        """Return whether cells have to be brief.

        Args:
            pitch: Width of a column, in inches.
            points: Height of their letters.
        """
        return bool(self.key) and _widest([cell.words for cell in self.cells], points) > pitch - _GAP

    def row_names(self, style: FigureStyle) -> list[str]:
        """Return names of the rows as they are drawn."""
        short = short_names(self.rows, LABEL_INCHES, style.size, self.names)
        return [short[row] for row in self.rows]

    def headings(self, pitch: float, style: FigureStyle) -> _Headings:
        """Return how names of the columns are drawn above columns of a width in inches."""
        short = short_names(self.columns, self.heading_inches, style.size, self.names)
        return _headings([short[column] for column in self.columns], pitch, style.size)


@attrs.frozen
class _Headings:
    """Names above columns: how they are drawn, their tilt in degrees, and the room that they need in inches."""

    names: list[str]
    tilt: int
    above: float
    beyond: float


def _headings(names: list[str], pitch: float, points: float) -> _Headings:
    line = _LINE * points / _POINTS
    widths = [text_width(name, points) for name in names]
    if max(widths, default=0.0) <= pitch - _GAP:
        return _Headings(names, 0, line, 0.0)
    tilt = next((tilt for tilt in _TILTS[1:] if pitch * math.sin(math.radians(tilt)) >= line), _TILTS[-1])
    sine, cosine = math.sin(math.radians(tilt)), math.cos(math.radians(tilt))
    ends = [width * cosine - (len(names) - place - 0.5) * pitch for place, width in enumerate(widths)]
    return _Headings(names, tilt, max(widths) * sine + line * cosine, max(ends))


def _widest(texts: Sequence[str], points: float) -> float:
    return max([text_width(text, points) for text in dict.fromkeys(texts)], default=0.0)


def grid_room(grid: Grid, row_height: float = 0.26, style: FigureStyle = HOUSE_STYLE) -> Frame:
    """Return the room that a grid needs; figures of few columns are equally wide.

    Args:
        grid: The grid.
        row_height: Height of a row, in inches.
        style: Letters.
    """
    left = _widest(grid.row_names(style), style.size) + 2 * _GAP
    count, right = max(len(grid.columns), 1), 2 * _GAP
    words = [(grid.key and cell.brief) or cell.words for cell in grid.cells]
    least = max(_SMALLEST * _widest(words, style.size - 1), _LINE * style.size / _POINTS) + _GAP / 2
    for _ in range(3):  # what stands beyond the columns narrows them, which may tilt the headings more
        pitch = max((_WIDTH - left - right) / count, least)
        right = max(grid.headings(pitch, style).beyond + _GAP, 2 * _GAP)
    pitch = max((_WIDTH - left - right) / count, least)
    headings, below = grid.headings(pitch, style), 0.3 if grid.is_brief(pitch, style.size - 1) else 0.06
    room = max(headings.beyond + _GAP, 2 * _GAP)
    return Frame(pitch * count, row_height * max(len(grid.rows), 1), left, room, headings.above + _GAP, below)


def draw_grid(ax: Axes, grid: Grid, style: FigureStyle = HOUSE_STYLE) -> None:
    """Draw a grid into axes of any width.

    Args:
        ax: Where to draw.
        grid: The grid.
        style: Colours and letters.
    """
    figure = ax.get_figure(root=True)
    dots = _POINTS if figure is None else figure.dpi
    pitch = ax.get_window_extent().width / dots / max(len(grid.columns), 1)
    _draw_names(ax, grid, pitch, style)
    is_brief = grid.is_brief(pitch, style.size - 1)
    words = {cell: (is_brief and cell.brief) or cell.words for cell in grid.cells}
    size = (style.size - 1) * min(1.0, (pitch - _GAP / 2) / (_widest([*words.values()], style.size - 1) or 1.0))
    for cell, text in words.items():
        strength = max(cell.strength, _FAINTEST)
        ax.bar(cell.column, 0.92, bottom=cell.row - 0.46, width=0.94, color=cell.colour, alpha=strength, linewidth=0)
        ax.text(cell.column, cell.row, text, size=size, color=style.ink, ha="center", va="center_baseline")
    if is_brief:
        below = -0.08 * dots / ax.get_window_extent().height
        ax.text(0.0, below, grid.key, color=style.grey, size=style.size - 1, va="top", transform=ax.transAxes)


def _draw_names(ax: Axes, grid: Grid, pitch: float, style: FigureStyle) -> None:
    ax.set_xlim(-0.5, max(len(grid.columns), 1) - 0.5)
    ax.set_ylim(max(len(grid.rows), 1) - 0.5, -0.5)
    ax.xaxis.tick_top()
    headings = grid.headings(pitch, style)
    if headings.tilt:
        places = range(len(headings.names))
        ax.set_xticks(places, headings.names, rotation=headings.tilt, ha="left", rotation_mode="anchor")
    else:
        ax.set_xticks(range(len(headings.names)), headings.names)
    ax.set_yticks(range(len(grid.rows)), grid.row_names(style))
    ax.tick_params(length=0, labelcolor=style.ink, pad=_PAD)
    ax.spines["bottom"].set_visible(False)
