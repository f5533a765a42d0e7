"""Tables in Markdown, and the generated parts of the pages in docs: the text between two comments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
_END: Final = "<!-- end of generated text -->\n"


def updated(page: str, parts: Mapping[str, str]) -> str:
    """Return a page with its generated parts, by the title in the comment before each, made anew.

    Raises:
        ValueError: The page has no place for one of them.
    """
    for title, part in parts.items():
        begin = f"<!-- generated: {title} -->\n"
        before, found, rest = page.partition(begin)
        _, ended, after = rest.partition(_END)
        if not found or not ended:
            msg = f"expected {begin.strip()} and {_END.strip()} around the generated text"
            raise ValueError(msg)
        page = f"{before}{begin}\n{part}\n{_END}{after}"
    return page


def update(path: Path, parts: Mapping[str, str]) -> None:
    """Make the generated parts of a page anew."""
    write(path, updated(path.read_text(encoding="utf-8"), parts))


def write(path: Path, text: str) -> None:
    """Write a file in UTF-8 with line feeds."""
    path.write_text(text, encoding="utf-8", newline="\n")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 100) -> str:
    """Return a Markdown table; the columns after the first ``texts`` hold numbers, set to the right."""
    rules = "".join("---|" if place < texts else "---:|" for place in range(len(heads)))
    return "\n".join([_row(heads), f"|{rules}", *map(_row, rows), ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def dollars(cents: float) -> str:
    """Return an amount as whole dollars, $1,234."""
    return f"{'-' if cents < 0 else ''}${abs(round(cents)) // 100:,}"
