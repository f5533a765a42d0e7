"""A report as Markdown, with the figures as files beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.evaluation.report.content import Report
    from ycbench_agents.evaluation.report.part import Part, Section, Table

__all__ = ["FIGURES", "escaped", "markdown_of"]

FIGURES: Final = "figures"
"""Folder of the figures beside the report."""

_SPECIAL: Final = re.compile(r"[\\`*\[\]|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_LEADING: Final = re.compile(r"\A(\s*)([#+>-]|\d+(?=[.)]))")


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    entities = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", entities)


def markdown_of(report: Report) -> str:
    """Return a report as Markdown with tables (GitHub's form); its figures are ``figures/<name>.svg``."""
    return "\n\n".join(_blocks(report)) + "\n"


def _blocks(report: Report) -> Iterator[str]:
    yield f"# {escaped(report.title)}"
    for section in report.sections:
        yield f"## {escaped(section.title)}"
        for part in section.parts:
            yield from _part(part)
        yield from _reading(section)
    yield "## Definitions"
    yield "\n".join(f"- **{escaped(term)}**: {escaped(meaning)}" for term, meaning in report.definitions)
    yield "In full: docs/measurements.md and docs/statistics.md of ycbench-env."


def _reading(section: Section) -> Iterator[str]:
    """Yield how to read a section's tables, and what their columns mean: there is nothing to point at here."""
    if not section.terms:
        return
    yield "**How to read this**"
    terms = [f"**{escaped(title)}**: {escaped(note)}." for title, note in section.terms]
    yield "\n".join(f"- {text}" for text in (*map(escaped, section.reading), *terms))


def _part(part: Part) -> Iterator[str]:
    if part.title:
        yield f"### {escaped(part.title)}"
    yield from (_paragraph(text) for text in part.paragraphs)
    for table in part.tables:
        yield f"**{escaped(table.title)}**"
        yield _table(table)
        yield from (_paragraph(note) for note in (*table.notes, table.absences) if note)
    for drawing in part.drawings:
        yield f"![{escaped(drawing.title)}]({FIGURES}/{drawing.name}.svg)"
        yield f"**{escaped(drawing.title)}.** {escaped(drawing.note)}"
    if part.omitted:
        yield "Figures that are left out:"
        yield "\n".join(f"- {escaped(reason)}" for reason in part.omitted)


def _paragraph(text: str) -> str:
    """Return a paragraph that is no heading, list or quotation, whatever it begins with."""
    return _LEADING.sub(r"\1\\\2" if not text[:1].isdigit() else r"\1\2", escaped(text))


def _table(table: Table) -> str:
    heads = " | ".join(escaped(column.title) for column in table.columns)
    rules = " | ".join("---:" if column.is_number else "---" for column in table.columns)
    rows = [" | ".join(escaped(cell.text) or " " for cell in row) for row in table.rows]
    return "\n".join(f"| {line} |" for line in (heads, rules, *rows))
