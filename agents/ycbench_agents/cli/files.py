"""Files that are whole at any moment: written beside, then put in place of what was there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["replace_file", "write_ascii"]


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Replace a file by what ``write`` writes to the path that it is given.

    Whatever interrupts it, the file is the old one or the new one, whole; two at once do not mix.

    Raises:
        OSError: It cannot be written; the old file is still there.
    """
    # Beside the file, since only there a rename is one step; with the process in its name, for two at once.
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        write(part)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_ascii(path: Path, text: str) -> None:
    """Write ASCII text with plain line breaks on every system.

    Raises:
        OSError: It cannot be written.
    """
    path.write_text(text, encoding="ascii", newline="\n")
