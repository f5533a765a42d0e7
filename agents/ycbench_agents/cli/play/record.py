"""Turns in a file: one JSON string a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.files import replace_file, write_ascii

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["read_turns", "write_turns"]


def write_turns(path: Path, turns: Sequence[str]) -> None:
    """Write turns to a file, replacing what is there.

    Raises:
        OSError: It cannot be written.
    """
    # JSON strings, since a turn may have line breaks, and ASCII, since it may have lone surrogates.
    replace_file(path, lambda part: write_ascii(part, "".join(f"{json.dumps(turn)}\n" for turn in turns)))


def read_turns(path: Path) -> tuple[str, ...]:
    """Return the turns that ``write_turns`` wrote.

    Raises:
        UsageError: The file cannot be read, or a line of it is no JSON string.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        msg = f"--replay {path}: cannot be read: {reason}; expected a file that :save wrote"
        raise UsageError(msg) from None
    return tuple(_read_line(path, number, line) for number, line in enumerate(lines, 1) if line.strip())


def _read_line(path: Path, number: int, line: str) -> str:
    try:
        turn: object = json.loads(line)
    except (ValueError, RecursionError):
        turn = None
    if not isinstance(turn, str):
        msg = f'--replay {path}: line {number} is {line[:60]!r}, expected a JSON string, like "market browse"'
        raise UsageError(msg)
    return turn
