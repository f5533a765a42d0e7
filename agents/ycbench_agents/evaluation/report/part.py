"""What a report is made of: sections with paragraphs, tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_agents.evaluation.report.cell import Cell

__all__ = ["Column", "Drawing", "Part", "Section", "Table", "figures", "words"]


@attrs.frozen
class Column:
    """A column of a table.

    Args:
        title: Its heading.
        is_number: Whether it is aligned right and sorted as numbers.
        note: What it means, shown when somebody points at the heading.
        absent: Why a cell of it is a dash, where the cell does not know better.
    """

    title: str
    is_number: bool = False
    note: str = ""
    absent: str = ""


def words(title: str, note: str = "", absent: str = "none is given") -> Column:
    """Return a column of texts."""
    return Column(title, is_number=False, note=note, absent=absent)


def figures(title: str, note: str = "", absent: str = "") -> Column:
    """Return a column of numbers."""
    return Column(title, is_number=True, note=note, absent=absent)


def _explained(rows: Iterable[Iterable[Cell]], table: attrs.AttrsInstance) -> tuple[tuple[Cell, ...], ...]:
    """Return rows in which each dash has a reason: its own, or that of its column."""
    columns = cast("Table", table).columns  # attrs knows a value in the making as no more than an instance
    return tuple(
        tuple(
            attrs.evolve(cell, note=column.absent) if cell.is_nothing and not cell.note else cell
            for column, cell in zip(columns, row, strict=True)
        )
        for row in rows
    )


@attrs.frozen
class Table:
    """A table; the first column names the rows.

    Args:
        title: What it shows.
        columns: Its columns.
        rows: Its rows, as many cells each as there are columns; a dash without a reason takes that of its column.
        notes: What must be known to read it, one paragraph each.
        is_sortable: Whether another order of its rows makes sense.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...] = attrs.field(converter=attrs.Converter(_explained, takes_self=True))
    notes: tuple[str, ...] = ()
    is_sortable: bool = True

    @property
    def absences(self) -> str:
        """Why there are dashes, for those who can point at nothing: each reason with its columns; empty of none."""
        titles: dict[str, dict[str, None]] = {}
        for place, column in enumerate(self.columns):
            for cell in (row[place] for row in self.rows):
                if cell.is_nothing:
                    titles.setdefault(cell.note, {})[column.title] = None
        reasons = "; ".join(f"{', '.join(found)}: {reason}" for reason, found in titles.items())
        return f"A dash (\u2013) says that there is nothing to show. {reasons}." if reasons else ""


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
        reading: How to read it, a paragraph each.
    """

    key: str
    title: str
    parts: tuple[Part, ...]
    reading: tuple[str, ...] = ()

    @property
    def terms(self) -> tuple[tuple[str, str], ...]:
        """What columns of its tables mean, each once."""
        columns = (column for part in self.parts for table in part.tables for column in table.columns)
        return tuple(dict.fromkeys((column.title, column.note) for column in columns if column.note))
