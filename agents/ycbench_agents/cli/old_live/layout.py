"""Lines of exactly counted cells: text that is cut, items that flow, rows of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
from rich.cells import cell_len, set_cell_size
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.cli.old_live.glyphs import Glyphs

__all__ = ["Column", "Size", "Span", "fit", "fit_middle", "flow", "new_line", "row"]

_GAP: Final = "  "
_SHORTEST_CUT: Final = 12  # cells; less of a text says nothing
_SHORTEST_TO_HALVE: Final = 5


class Size(NamedTuple):
    """Cells across and lines down."""

    width: int
    height: int


class Span(NamedTuple):
    """A text and its style; ``may_be_cut`` where a part of it is better than nothing."""

    text: str
    style: str = ""
    may_be_cut: bool = False


@attrs.frozen
class Column:
    """A column of a table.

    Args:
        heading: What stands above it.
        cells: Its width.
        is_right: Whether it is aligned right.
    """

    heading: str
    cells: int
    is_right: bool = False


def new_line(*spans: Span) -> Text:
    """Return a line that is cut rather than wrapped, in which nothing is read as markup."""
    line = Text(no_wrap=True, overflow="crop", end="")
    for span in spans:
        line.append(span.text, span.style)
    return line


def fit(text: str, cells: int, glyphs: Glyphs) -> str:
    """Return a text in at most so many cells, the cut marked."""
    if cells <= 0:
        return ""
    return text if cell_len(text) <= cells else set_cell_size(text, cells - 1) + glyphs.cut


def fit_middle(text: str, cells: int, glyphs: Glyphs) -> str:
    """Return a text in at most so many cells, cut in its middle: the end of a name tells it from others."""
    if cell_len(text) <= cells or cells <= _SHORTEST_TO_HALVE:
        return fit(text, cells, glyphs)
    head = set_cell_size(text, (cells - 1) // 2)
    tail = text
    while cell_len(tail) > cells - 1 - cell_len(head):
        tail = tail[1:]
    return f"{head}{glyphs.cut}{tail}"


def flow(items: Sequence[Span], width: int, lines: int, glyphs: Glyphs) -> list[Text]:
    """Return exactly so many lines, filled with items in order; what has no room is cut where it may be, or left out.

    Args:
        items: What to show; nothing but the last line leaves anything out.
        width: Cells of a line.
        lines: How many.
        glyphs: Signs to draw with.
    """
    rows: list[list[Span]] = [[]]
    for item in items:
        room = width - sum(cell_len(span.text) for span in rows[-1]) - (len(_GAP) if rows[-1] else 0)
        if cell_len(item.text) > room and len(rows) < lines:
            rows.append([])
            room = width
        if cell_len(item.text) <= room or (item.may_be_cut and room >= _SHORTEST_CUT):
            rows[-1] += [Span(_GAP)] if rows[-1] else []
            rows[-1].append(Span(fit(item.text, room, glyphs), item.style))
    return [new_line(*spans) for spans in rows] + [new_line()] * (lines - len(rows))


def row(columns: Sequence[Column], cells: Sequence[Span], glyphs: Glyphs) -> Text:
    """Return a row of a table, with a blank between columns."""
    spans: list[Span] = []
    for column, cell in zip(columns, cells, strict=True):
        shown = Span(fit(cell.text, column.cells, glyphs), cell.style)
        blanks = Span(" " * (column.cells - cell_len(shown.text)))
        spans += [Span(" ")] if spans else []
        spans += [blanks, shown] if column.is_right else [shown, blanks]
    line = new_line(*spans)
    line.rstrip()
    return line
