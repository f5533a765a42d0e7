"""Exit codes, and the error that ends a command with a message instead of a traceback."""

from __future__ import annotations

from typing import Final

__all__ = ["INTERRUPTED", "STOPPED", "USAGE", "UsageError"]

STOPPED: Final = 1
"""Exit code: a run is not finished, or a record is not what it was."""

USAGE: Final = 2
"""Exit code: arguments, a configuration or a file cannot be used."""

INTERRUPTED: Final = 130
"""Exit code: Ctrl-C, as shells count it (128 + SIGINT)."""


class UsageError(Exception):
    """Something that was asked for cannot be done; the message says what was got, expected, and how to fix it."""
