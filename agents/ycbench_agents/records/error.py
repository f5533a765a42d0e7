"""What can be wrong with a run record."""

from __future__ import annotations

import contextlib
import errno
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from pathlib import Path

__all__ = ["RecordError", "RecordMismatchError", "RecordWarning", "RunBusyError", "system_told"]


class RecordError(Exception):
    """A record cannot be read, written or played again; the message names the file and how to put it right."""


class RecordMismatchError(RecordError):
    """A record is not of what is to be played.

    Args:
        message: What cannot be done, with its place.
        differences: What differs, one text each.
    """

    def __init__(self, message: str, differences: Sequence[str]) -> None:
        super().__init__("\n  ".join((message, *differences)))
        self.differences = tuple(differences)


class RunBusyError(RecordError):
    """Another process, or another task of this one, is writing the run."""


class RecordWarning(UserWarning):
    """A record was cut short when it was written, or another version of this package wrote it."""


_MAKE_ROOM: Final = "make room on the disk"
_MAKE_WRITABLE: Final = "make it writable, or copy the folder to a place that is"
_REMEDIES: Final[Mapping[int | None, str]] = MappingProxyType(
    {
        errno.ENOSPC: _MAKE_ROOM,
        getattr(errno, "EDQUOT", errno.ENOSPC): _MAKE_ROOM,
        errno.EROFS: _MAKE_WRITABLE,
        errno.EACCES: _MAKE_WRITABLE,
        errno.EPERM: _MAKE_WRITABLE,
        errno.ENAMETOOLONG: "choose a shorter name",
        errno.ENOENT: "do not move or remove the folder of a run that is being played",
    }
)


@contextlib.contextmanager
def system_told(path: Path) -> Generator[None]:
    """Tell what the system refuses as an error of the record.

    Args:
        path: What is written or read.

    Raises:
        RecordError: The system refuses.
    """
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno, "put this right")
        msg = f"{path}: the system refuses ({error.strerror or error}); {remedy}, then play or resume the run again"
        raise RecordError(msg) from error
