"""Telling what is odd about records, and what is wrong with them, of held-out evaluations without their seeds."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from ycbench_agents.cli.output import UsageError, complain
from ycbench_agents.evaluation.export.error import ExportError
from ycbench_agents.evaluation.redaction import Redaction
from ycbench_agents.evaluation.settings_table import SuiteError
from ycbench_agents.records import RecordError
from ycbench_env import ConfigError, SeedError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

__all__ = ["telling_of", "warn"]

_UNUSABLE: Final = (ConfigError, ExportError, RecordError, SeedError, SuiteError, UsageError)


def warn(message: str) -> None:
    """Write a warning to stderr."""
    complain(f"warning: {message}")


@contextlib.contextmanager
def telling_of(folders: Iterable[Path]) -> Generator[Redaction]:
    """Say warnings about records in a line each, and give what takes secret seeds out of anything else.

    Args:
        folders: Folders of evaluations, of their runs, or of other runs.

    Raises:
        UsageError: Something about the records cannot be used; the message names no secret seed.
        OSError: The system refuses something; likewise.
    """
    redaction = Redaction.of_folders(folders)
    try:
        with redaction.telling(warn, Warning):
            yield redaction
    except _UNUSABLE as error:
        raise UsageError(redaction.told(error)) from None
