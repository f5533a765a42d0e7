"""The folder that ``--out`` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_agents.cli.output import UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["make_out_folder"]


def make_out_folder(folder: Path) -> None:
    """Make the folder that ``--out`` names, where it is not there.

    Raises:
        UsageError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"--out {folder}: cannot make this folder: {error.strerror}; name another"
        raise UsageError(msg) from None
