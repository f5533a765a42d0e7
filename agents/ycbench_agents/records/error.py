"""What can be wrong with a run record."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RecordError", "RecordMismatchError", "RecordWarning", "RunBusyError"]


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
