"""Where turns come from: a person at a prompt (``prompt.py``), or lines on stdin."""

from __future__ import annotations

import sys
from typing import Protocol

from ycbench_agents.cli.streams import read_turns_as_utf8

__all__ = ["Pipe", "Typist"]


class Typist(Protocol):
    """Gives one input after the other."""

    def read(self, *, continued: bool) -> str | None:
        """Return the next input without its line break, None at the end.

        Args:
            continued: Whether it belongs to a turn that was begun before.
        """
        ...


class Pipe:
    """Reads lines from stdin, as UTF-8."""

    def __init__(self) -> None:
        read_turns_as_utf8()

    def read(self, *, continued: bool) -> str | None:  # noqa: ARG002 -- only a prompt shows it
        """Return the next line, None at the end."""
        line = sys.stdin.readline()
        return line.removesuffix("\n") if line else None
