"""Reading a run's folder: any moment that a program can be killed at leaves one that this can read."""

from __future__ import annotations

import itertools
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.error import RecordError, RecordWarning
from ycbench_agents.records.record import (
    FORMAT,
    RunIdentity,
    RunOrigin,
    RunOutcome,
    TurnRecord,
    identity_differences,
    turn_differences,
)
from ycbench_agents.records.strict_json import find_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.base import JsonObject

__all__ = ["RUN_FILE", "TURNS_FILE", "RunRecord", "WholeLines", "find_run", "read_run", "same_run", "whole_lines"]

RUN_FILE: Final = "run.json"
TURNS_FILE: Final = "turns.jsonl"
_MOST_DIFFERENCES: Final = 20


@attrs.frozen
class RunRecord:
    """A run's folder as it was when run.json was read; its turns are read when they are asked for.

    Args:
        folder: The folder.
        identity: What was to be played.
        origin: Where it was begun.
        outcome: What had become of it.
    """

    folder: Path
    identity: RunIdentity
    origin: RunOrigin
    outcome: RunOutcome

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing left to play."""
        return self.outcome.status == "finished"

    def to_json(self) -> JsonObject:
        """Return the content of run.json."""
        return {
            "format": FORMAT,
            "identity": self.identity.to_json(),
            "origin": self.origin.to_json(),
            "outcome": self.outcome.to_json(),
        }

    def turns(self) -> Iterator[TurnRecord]:
        """Yield the turns in order, one in memory at a time.

        Raises:
            RecordError: A line is damaged; the message names file and line.

        Warns:
            RecordWarning: The last line was cut short while it was written and is left out, or turns are lost.
        """
        yield from _read_turns(self.folder / TURNS_FILE)
        self.warn_of_lost_turns()

    def warn_of_lost_turns(self) -> int:
        """Return how many turns run.json tells of that turns.jsonl has no more.

        Warns:
            RecordWarning: There are such turns. No kill leaves a run so; something else has cut the file.
        """
        present = whole_lines(self.folder / TURNS_FILE).count
        lost = max(0, (self.outcome.turns or 0) - present)
        if lost:
            msg = (
                f"{self.folder}: {RUN_FILE} tells of {self.outcome.turns} turns, {TURNS_FILE} has {present} whole lines"
            )
            warnings.warn(msg, RecordWarning, stacklevel=2)
        return lost


def read_run(folder: Path | str) -> RunRecord:
    """Return the record in a folder, finished or not.

    Raises:
        RecordError: There is none, or run.json is damaged or of another format.
    """
    record = find_run(folder)
    if record is None:
        msg = f"{folder}: there is no {RUN_FILE}; expected the folder of a run"
        raise RecordError(msg)
    return record


def find_run(folder: Path | str) -> RunRecord | None:
    """Return the record in a folder, None where there is no run.json.

    Raises:
        RecordError: run.json is damaged or of another format.
    """
    folder = Path(folder)
    path = folder / RUN_FILE
    table = find_table(path, FORMAT)
    if table is None:
        return None
    return RunRecord(
        folder=folder,
        identity=RunIdentity.from_table(table.table("identity")),
        origin=RunOrigin.from_table(table.table("origin")),
        outcome=RunOutcome.from_table(table.table("outcome")),
    )


@attrs.frozen
class WholeLines:
    """The part of a file of turns that can be relied on.

    Args:
        size: Its bytes, from the start.
        count: Its lines.
    """

    size: int
    count: int


def whole_lines(path: Path) -> WholeLines:
    """Return which part of a file of turns is whole lines; none of it where there is no file.

    What can be missing is the end of the last line: each line is on the disk before the next one is begun.
    """
    start = end = count = 0
    last = b""
    try:
        with path.open("rb") as file:
            for count, last in enumerate(file, 1):  # noqa: B007 -- both are looked at afterwards
                start, end = end, end + len(last)
    except FileNotFoundError:
        return WholeLines(0, 0)
    return WholeLines(end, count) if _is_whole(last) else WholeLines(start, count - 1)


def _is_whole(line: bytes) -> bool:
    """Return whether a line ends as lines do and can be read; a power failure may leave it without its middle."""
    try:
        json.loads(line or b"0")
    except (ValueError, RecursionError):
        return False
    return line.endswith(b"\n") or not line


def _read_turns(path: Path) -> Iterator[TurnRecord]:
    """Yield the turns in a file, which may be missing."""
    if not path.exists():
        return
    count = whole_lines(path).count
    with path.open("rb") as file:
        for number, line in enumerate(itertools.islice(file, count), 1):
            yield _read_turn(line, f"{path} line {number}", number)
        rest = file.readline()
    if not _is_whole(rest):  # whole is what somebody wrote in the meantime
        msg = f"{path}: the last line was cut short after {len(rest)} bytes; the turn is left out"
        warnings.warn(msg, RecordWarning, stacklevel=3)


def _read_turn(line: bytes, place: str, number: int) -> TurnRecord:
    turn = TurnRecord.from_line(line, place)
    if turn.turn != number:
        msg = f"{place}: got turn {turn.turn}, expected turn {number}; lines are lost or doubled"
        raise RecordError(msg)
    return turn


def same_run(first: RunRecord, second: RunRecord) -> list[str]:
    """Return how two records differ, one line each, at most 20; [] for equal runs.

    Times, transport and the origin (versions of Python and openai, git) do not count; a configuration's name does
    not either.

    Raises:
        RecordError: A record is damaged.
    """
    return list(itertools.islice(_record_differences(first, second), _MOST_DIFFERENCES))


def _record_differences(first: RunRecord, second: RunRecord) -> Iterator[str]:
    yield from identity_differences(first.identity, second.identity)
    one, other = (attrs.evolve(record.outcome, ended=None).to_json() for record in (first, second))
    yield from json_differences(one, other, "outcome")
    for number, (left, right) in enumerate(itertools.zip_longest(first.turns(), second.turns()), 1):
        if left is None or right is None:
            yield f"turn {number}: only the {'second' if left is None else 'first'} run has it"
            return
        yield from (f"turn {number}: {line}" for line in turn_differences(left, right))
