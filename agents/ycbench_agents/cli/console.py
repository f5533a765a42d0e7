"""What rich output shares: consoles that print text as it is, and amounts of money."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ycbench_agents.cli.streams import one_line

if TYPE_CHECKING:
    from typing import TextIO

    from rich.console import RenderableType

__all__ = ["cell", "dollars", "help_output", "new_table", "output", "print_parts", "progress_output"]

_UNLIMITED: Final = 1_000  # columns


class _Output(Console):
    """A console that leaves a broken pipe to the caller."""

    def on_broken_pipe(self) -> None:
        """Raise it again: ``main`` ends quietly."""
        raise  # noqa: PLE0704 -- rich calls this while it handles the error


def output() -> Console:
    """Return the console for results on stdout; one line holds any row where no terminal sets a limit."""
    return _new_console(sys.stdout, None if sys.stdout.isatty() else _UNLIMITED)


def help_output() -> Console:
    """Return the console for help on stdout; of 80 columns where no terminal says else."""
    return _new_console(sys.stdout, None)


def progress_output() -> Console:
    """Return the console for progress on stderr."""
    return _new_console(sys.stderr, None)


def _new_console(stream: TextIO, width: int | None) -> Console:
    """Return a console without markup, emoji codes and guesses at numbers."""
    return _Output(file=stream, width=width, markup=False, emoji=False, highlight=False)


def print_parts(*parts: RenderableType) -> None:
    """Print texts and tables on stdout, with an empty line between them; no line ends in blanks."""
    console = output()
    with console.capture() as capture:
        for number, part in enumerate(parts):
            if number:
                console.print()
            console.print(part)
    text = capture.get()
    if not console.is_terminal:  # where colours may follow the blanks, they stay
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    sys.stdout.write(text)


def new_table(*columns: str, gap: int = 2) -> Table:
    """Return an empty table.

    Args:
        *columns: Headings; one that begins with ``>`` belongs to a column that is aligned right.
        gap: Blanks between columns, at least 1.
    """
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for heading in columns:
        table.add_column(
            Text(one_line(heading.removeprefix(">"))),
            justify="right" if heading.startswith(">") else "left",
            overflow="fold",
        )
    return table


def cell(value: object, style: str = "") -> Text:
    """Return a value as a table cell, on one line and without any markup in it."""
    return Text(one_line(str(value)), style=style)


def dollars(cents: int) -> str:
    """Return an amount as $1,234.56, exact."""
    whole, rest = divmod(abs(cents), 100)
    return f"{'-' if cents < 0 else ''}${whole:,}.{rest:02d}"
