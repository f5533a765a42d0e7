"""Writing files of an evaluation, whole at any moment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.base import Json

__all__ = ["store_json"]


def store_json(path: Path, value: Json) -> None:
    """Replace a file by a JSON value; whoever is killed meanwhile leaves the old file or the new one.

    Raises:
        OSError: It cannot be written, which the error tells of the file itself; the old one is still there.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(encode(value, indent=2) + "\n", encoding="ascii", newline="\n")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error  # a full disk is told of without its path
    except BaseException:
        part.unlink(missing_ok=True)
        raise
