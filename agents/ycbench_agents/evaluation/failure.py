"""Why an episode failed."""

from __future__ import annotations

import builtins
import os
import re
from typing import TYPE_CHECKING, Final, Literal, Self, TypeAlias, get_args

import attrs

from ycbench_agents.records.secret import secrets_in, variable_found_in
from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ycbench_agents.base import JsonObject
    from ycbench_agents.records.strict_json import Table

__all__ = ["EpisodeFailure", "FailureKind", "failure_of"]

FailureKind: TypeAlias = Literal["raised", "stopped", "time", "memory", "killed", "record", "measurement"]
"""An error of the policy; it could not go on; a limit; its process ended; the record or its measurement is wrong."""

_LONGEST: Final = 500
_LONGEST_NAME: Final = 100
_MOST_READ: Final = 20_000
_OF_ITS_OWN: Final = "an error of a class of its own"
_OF_THIS_LIBRARY: Final = frozenset(
    {
        "EpisodeTimeoutError",
        "MeasurementError",
        "ModelError",
        "PolicyError",
        "PolicyStoppedError",
        "RecordError",
        "RecordMismatchError",
        "RunBusyError",
        "TurnError",
        "WorkerLostError",
    }
)
_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,}")


@attrs.frozen
class EpisodeFailure:
    """Why an episode failed.

    Args:
        kind: What went wrong.
        error: Class of the error, on one line.
        text: What it says, on one line; neither holds a key of the environment.
    """

    kind: FailureKind
    error: str
    text: str

    def __str__(self) -> str:
        """Return it for people to read."""
        return f"{self.error}: {self.text}" if self.text else self.error

    def without_text(self) -> Self:
        """Return what may be told of an episode whose seed is secret; a policy gives its own classes any name."""
        is_known = self.error in _OF_THIS_LIBRARY or isinstance(getattr(builtins, self.error, None), type)
        return attrs.evolve(self, text="", error=self.error if is_known else _OF_ITS_OWN)

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {"kind": self.kind, "error": self.error, "text": self.text}

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return what ``to_dict`` wrote.

        Raises:
            RecordError: A value is missing or of another type.
        """
        kind = next((each for each in get_args(FailureKind) if each == table.get("kind", str)), None)
        if kind is None:
            table.refuse("kind", f"one of {', '.join(get_args(FailureKind))}")
        return cls(kind, table.get("error", str), table.get("text", str))


def failure_of(
    kind: FailureKind, error: BaseException, folder: Path, environ: Mapping[str, str] = os.environ
) -> EpisodeFailure:
    """Return the failure that an error makes.

    What the error says is code of whoever wrote its class, and may not return: call this within limits. Where it
    raises, the failure is told by the class alone.

    Args:
        kind: What went wrong.
        error: The error. Where the same error comes again, its text is the same: addresses in memory are left out.
        folder: Folder of the evaluation, from which paths are counted.
        environ: Environment variables, whose keys must not be told.
    """
    secrets = secrets_in(environ, {})
    name = _told(type(error).__name__, folder, secrets, _LONGEST_NAME)
    return EpisodeFailure(kind, name, _told(_said(error), folder, secrets, _LONGEST))


def _said(error: BaseException) -> str:
    try:
        return "".join(str(error))
    except BaseException:  # noqa: BLE001 -- also the end of the time, since the failure is told by then
        return ""


def _told(said: str, folder: Path, secrets: Mapping[str, str], longest: int) -> str:
    """Return a text on one line, without characters that move a terminal's cursor, and without a key."""
    variable = variable_found_in(encode(said), secrets)
    if variable is not None:
        return f"withheld: it holds the value of the environment variable {variable}"
    text = _ADDRESS.sub("0x...", said[:_MOST_READ].replace(f"{folder}{os.sep}", ""))
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:longest]
