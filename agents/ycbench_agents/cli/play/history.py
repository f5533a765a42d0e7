"""What was typed before, kept in a file of the user where that is possible."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit.history import FileHistory, History

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["TolerantHistory", "history_path"]


def history_path() -> Path | None:
    """Return where the platform keeps such a file, None for a user without a home."""
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    return base / "ycbench" / "history"


class TolerantHistory(History):
    """A file's history; where the file cannot be read or written, the history of this session alone.

    Args:
        path: The file; its folder is made when it is first needed.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file = FileHistory(path)

    def load_history_strings(self) -> Iterable[str]:
        """Return what the file holds, newest first."""
        try:
            return list(self._file.load_history_strings())
        except (OSError, ValueError):
            return []

    def store_string(self, string: str) -> None:
        """Add an input to the file."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file.store_string(string)
        except (OSError, ValueError):
            return
