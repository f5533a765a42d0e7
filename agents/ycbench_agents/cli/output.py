"""What the command line writes: results on stdout, messages on stderr, and exit codes.

Text from agents, files and operators is printed without control characters, direction marks and markup.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Generator
from typing import Final, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ycbench_agents.files import to_json
from ycbench_env.text import printable

STOPPED: Final = 1  # exit code: an episode is not finished, or a record is not what it was
USAGE: Final = 2  # exit code: arguments, a configuration or a file cannot be used
INTERRUPTED: Final = 130  # exit code: Ctrl-C, as shells count it (128 + SIGINT)
_UNLIMITED: Final = 1_000  # columns
_PROJECT: Final = ("ycbench_env", "ycbench_agents")


class UsageError(Exception):
    """A command cannot do what it was asked to; the message says what was got, expected, and how to fix it."""


def explanation(error: Exception) -> str | None:
    """Return the line that explains an error to the operator, or None for a bug, which keeps its traceback.

    The errors that this project defines (``ConfigError``, ``FileError``, ``RunError`` ...) are messages to the
    operator, and so are refusals of the system and missing libraries of the extra ``cli``.
    """
    if any(kind.__module__.partition(".")[0] in _PROJECT for kind in type(error).__mro__):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'standard output'}: {error.strerror or error}"
    library = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
    if library in {"cyclopts", "prompt_toolkit", "rich"}:
        return f"{library} is not installed; this needs it: pip install '.[cli]' in the folder of this project"
    return None


# ---------------------------------------------------------------- streams


def make_output_total() -> None:
    """Let stdout and stderr write what their encoding lacks as an escape, like U+1F600 in a C locale.

    A stream that is closed from the start reads from, or writes to, the null device.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 -- open to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """Send the rest of stdout to the null device, so that the interpreter does not fail on it when it exits."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


# ---------------------------------------------------------------- messages


def printable_lines(lines: str) -> str:
    """Return a text that is safe on a terminal; its line breaks stay."""
    return "\n".join(map(printable, lines.split("\n")))


def print_message(message: str) -> None:
    """Write a message to stderr, under the program's name."""
    with contextlib.suppress(OSError):  # stderr is closed
        print(f"ycbench: {printable_lines(message)}", file=sys.stderr, flush=True)  # noqa: T201 -- the command line


def warn(message: str) -> None:
    """Write a warning to stderr."""
    print_message(f"warning: {message}")


@contextlib.contextmanager
def showing_warnings() -> Generator[None]:
    """Write Python's warnings to stderr as they occur, a line each."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, *_: warn(str(message))
        yield


# ---------------------------------------------------------------- results


class Output(Console):
    """A console without markup, emoji codes and guesses at numbers, which leaves a broken pipe to the caller."""

    def __init__(self, stream: TextIO, width: int | None = None) -> None:
        super().__init__(file=stream, width=width, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Raise it again: ``main`` ends quietly."""
        raise  # noqa: PLE0704 -- rich calls this while it handles the error


def print_parts(*parts: RenderableType) -> None:
    """Print texts and tables on stdout, with an empty line between them; no line ends in blanks."""
    console = Output(sys.stdout, None if sys.stdout.isatty() else _UNLIMITED)  # a line is as long as its content
    with console.capture() as capture:
        for number, part in enumerate(parts):
            if number:
                console.print()
            console.print(part)
    printed = capture.get()
    if not console.is_terminal:  # where colours may follow the blanks, they stay
        printed = "\n".join(line.rstrip() for line in printed.split("\n"))
    sys.stdout.write(printed)


def print_json(value: object) -> None:
    """Print strict JSON in ASCII on stdout."""
    sys.stdout.write(to_json(value, indent=2) + "\n")


def new_table(*columns: str, gap: int = 2) -> Table:
    """Return an empty table; a heading that begins with ``>`` is that of a column that is aligned right."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap - 1, 0, 0))
    for heading in columns:
        justify = "right" if heading.startswith(">") else "left"
        table.add_column(cell(heading.removeprefix(">")), justify=justify, overflow="fold")
    return table


def cell(value: object, style: str = "") -> Text:
    """Return a value as a table cell: on one line, printable, and without any markup."""
    return Text(printable(str(value)), style=style)
