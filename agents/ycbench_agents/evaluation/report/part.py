"""What a report is made of: sections with paragraphs, tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from ycbench_agents.evaluation.report.cell import Cell

__all__ = ["Column", "Drawing", "Part", "Section", "Table", "figures", "words"]


@attrs.frozen
class Column:
    """A column of a table.

    Args:
        title: Its heading.
        is_number: Whether it is aligned right and sorted as numbers.
        note: What it means, shown when somebody points at the heading.
    """

    title: str
    is_number: bool = False
    note: str = ""


def words(title: str, note: str = "") -> Column:
    """Return a column of texts."""
    return Column(title, is_number=False, note=note)


def figures(title: str, note: str = "") -> Column:
    """Return a column of numbers."""
    return Column(title, is_number=True, note=note)


@attrs.frozen
class Table:
    """A table; the first column names the rows.

    Args:
        title: What it shows.
        columns: Its columns.
        rows: Its rows, as many cells each as there are columns.
        notes: What must be known to read it, one paragraph each.
        is_sortable: Whether another order of its rows makes sense.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    is_sortable: bool = True


@attrs.frozen
class Drawing:
    """A figure that is drawn.

    Args:
        name: Name of its files, without an ending; no two of a report are alike.
        title: What it shows.
        note: How to read it.
        svg: The SVG element.
        png: The same as PNG, where that was asked for.
    """

    name: str
    title: str
    note: str
    svg: str = attrs.field(repr=False)
    png: bytes | None = attrs.field(default=None, repr=False)


@attrs.frozen
class Part:
    """A part of a section.

    Args:
        title: Its heading; empty for the only part of a section.
        paragraphs: Text before all else.
        tables: Its tables.
        drawings: Its figures.
        omitted: Figures that are left out, each with the reason.
    """

    title: str = ""
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    drawings: tuple[Drawing, ...] = ()
    omitted: tuple[str, ...] = ()


@attrs.frozen
class Section:
    """A section of a report.

    Args:
        key: Its name in links.
        title: Its heading.
        parts: What is in it.
    """

    key: str
    title: str
    parts: tuple[Part, ...]
