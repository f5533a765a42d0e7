"""The system calls of a record, one method each, so that a test can end the program between any two of them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DiskFiles", "Files", "HeldFile"]


class Files(Protocol):
    """What a record is written with. Each method raises OSError when the system refuses."""

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it where they are missing."""
        ...

    def write(self, path: Path, data: bytes) -> None:
        """Write a file anew."""
        ...

    def append(self, path: Path, data: bytes) -> None:
        """Write behind the end of a file, which is made where it is missing."""
        ...

    def cut(self, path: Path, size: int) -> None:
        """Cut a file off after so many bytes."""
        ...

    def sync(self, path: Path) -> None:
        """Wait until a file is on the disk."""
        ...

    def replace(self, source: Path, target: Path) -> None:
        """Put a file in the place of another, in one."""
        ...

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are on the disk."""
        ...


class DiskFiles:
    """The real files."""

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it where they are missing."""
        path.mkdir(parents=True, exist_ok=True)

    def write(self, path: Path, data: bytes) -> None:
        """Write a file anew."""
        path.write_bytes(data)

    def append(self, path: Path, data: bytes) -> None:
        """Write behind the end of a file, which is made where it is missing."""
        with path.open("ab") as file:
            file.write(data)

    def cut(self, path: Path, size: int) -> None:
        """Cut a file off after so many bytes."""
        os.truncate(path, size)

    def sync(self, path: Path) -> None:
        """Wait until a file is on the disk."""
        with path.open("ab") as file:  # Windows syncs only what is open for writing
            os.fsync(file.fileno())

    def replace(self, source: Path, target: Path) -> None:
        """Put a file in the place of another, in one."""
        source.replace(target)

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are on the disk; Windows has no such call and needs none."""
        if sys.platform == "win32":
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class HeldFile:
    """A file that is kept open, so that its number on the disk goes to no other, to tell whether it is still there."""

    def __init__(self, path: Path) -> None:
        """Open a file.

        Raises:
            OSError: It cannot be opened.
        """
        self._path = path
        self._descriptor = os.open(path, os.O_RDONLY)

    def is_in_place(self) -> bool:
        """Return whether the path still leads to the file that was opened."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._path.stat())
        except (FileNotFoundError, NotADirectoryError):
            return False

    def close(self) -> None:
        """Let the file go."""
        os.close(self._descriptor)
