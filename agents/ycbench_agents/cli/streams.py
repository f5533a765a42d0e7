"""Standard streams that take any text, whatever their encoding, and readers that leave early."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from typing import Final

__all__ = ["complain", "drop_output", "make_output_total", "one_line", "read_turns_as_utf8", "shown"]

# Control characters but line break and tab, and marks that turn the direction of writing: on a terminal they would
# move the cursor, colour the screen or show something else than what is there.
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSEEN_OR_BREAK: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    r"""Return a text for a terminal: control characters as ``\x1b``, line breaks and tabs as they are."""
    return _UNSEEN.sub(_escape, text)


def one_line(text: str) -> str:
    r"""Return a text for one line or cell: control characters, line breaks too, as ``\n``."""
    return _UNSEEN_OR_BREAK.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]


def make_output_total() -> None:
    """Let stdout and stderr write what their encoding lacks as an escape, like U+1F600 in a C locale.

    A stream that is closed from the start goes to nowhere, or comes from it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 -- a stream for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def read_turns_as_utf8() -> None:
    """Let stdin read UTF-8 whatever the locale says, and never fail on a byte."""
    stdin: object = sys.stdin
    if isinstance(stdin, io.TextIOWrapper):
        stdin.reconfigure(encoding="utf-8-sig", errors="replace")


def complain(message: str) -> None:
    """Write a message to stderr, under the program's name."""
    with contextlib.suppress(OSError):  # nobody is left to be told
        print(f"ycbench: {shown(message)}", file=sys.stderr, flush=True)  # noqa: T201 -- this is the command line


def drop_output() -> None:
    """Send what is still to come to nowhere, so that the interpreter does not fail on it at its end."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
