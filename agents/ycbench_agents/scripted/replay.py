"""Replay: plays a list of turns, whatever it sees; with its world and seed it ends with the same funds to the cent.

A file of turns is UTF-8 text, packed where its name ends in ``.gz``::

    # The best of 40 plans.                     a line that begins with # is a comment
    market browse --limit 3                     commands, one a line
    task accept --task-id Task-8
    ---                                         a line that is exactly --- stands between two turns
    ---                                         so this was a turn without commands
    sim resume

Turns that hold such lines themselves are kept as JSON lines (``.jsonl``), like those of a recorded run.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from ycbench_agents.base import Turn, TurnError, checked_turn
from ycbench_agents.files import FileError, parse_json, read_record
from ycbench_agents.scripted.commands import WAIT
from ycbench_env import Observation
from ycbench_env.text import shown

MOST_BYTES: Final = 16_000_000
"""Most bytes of a file of turns, once it is unpacked."""
MOST_COMMANDS: Final = 400_000
"""Most lines of all turns, empty ones included; the planner's longest plans have 31,000."""
_MOST_RECORD_BYTES: Final = 256_000_000  # of a run's turns.jsonl, which holds results, too
_BETWEEN_TURNS: Final = re.compile(r"^---$", re.MULTILINE)


class ReplayPolicy:
    """Plays a list of turns, and ``sim resume`` from its end until the episode is over.

    Args:
        path: A file of turns (see the module), a run's folder, or a ``.jsonl`` file such as its ``turns.jsonl``.
        turns: The turns themselves, instead of a path.

    Raises:
        ValueError: Not exactly one of path and turns is given, the file cannot be read, or the list is empty or too
            large; the message shows what was got and expected.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, turns: Sequence[Turn] | None = None) -> None:
        if (path is None) == (turns is None):
            msg = f"replay: got {'neither path nor' if path is None else 'both path and'} turns, expected one of them"
            raise ValueError(msg)
        source = "turns" if path is None else f"path {path}"
        try:
            self._turns = self._checked(turns if path is None else _load(Path(str(path))))
        except (OSError, TurnError, ValueError) as error:
            hint = "" if path is None else "; expected a file of turns, or the folder of a run"
            msg = f"{source}: {str(error).removeprefix(f'{path}: ')}{hint}"
            raise ValueError(msg) from None
        self._played = 0

    def _checked(self, turns: object) -> tuple[Turn, ...]:
        if not isinstance(turns, tuple | list) or not turns:
            msg = f"got {shown(turns)}, expected a list of at least one turn; the policy idle plays none"
            raise ValueError(msg)
        listed = cast("Sequence[object]", turns)
        return _bounded([checked_turn(turn, self, number) for number, turn in enumerate(listed, 1)])

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- there is nothing to draw
        """Begin the list anew."""
        self._played = 0

    def act(self, observation: Observation) -> Turn:  # noqa: ARG002 -- it plays blindly
        """Return the next turn of the list."""
        if self._played == len(self._turns):
            return WAIT
        self._played += 1
        return self._turns[self._played - 1]


def _load(path: Path) -> Sequence[object]:
    """Return the turns of a file or of a run's folder."""
    path = path / "turns.jsonl" if path.is_dir() else path
    if path.suffix == ".jsonl":
        return _recorded_turns(read_text(path, _MOST_RECORD_BYTES))
    return read_turns(read_text(path))


def read_text(file: Path, most: int = MOST_BYTES) -> str:
    """Return the text of a regular file of at most so many bytes, unpacked where its name ends in ``.gz``.

    Raises:
        FileNotFoundError: There is no such file.
        FileError: It is no regular file or cannot be read, is too large or not UTF-8, or is packed and damaged.
    """
    data = read_record(file.resolve(), most)
    try:
        if file.suffix == ".gz":
            with gzip.open(io.BytesIO(data)) as packed:
                data = packed.read(most + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{file}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        raise FileError(msg) from None
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{file}: cannot be unpacked: {error}"
        raise FileError(msg) from None
    if len(data) > most:
        msg = f"{file}: holds more than {most:,} bytes unpacked, the most that is read"
        raise FileError(msg)
    return text


def read_turns(text: str) -> tuple[str, ...]:
    """Return the turns of a text in the form above; () for one without any command or separator.

    Raises:
        ValueError: There are more commands than a list may hold.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    body = "\n".join([line for line in lines if not line.startswith("#")])
    turns = _bounded([turn.strip() for turn in _BETWEEN_TURNS.split(body)])
    return () if turns == ("",) else cast("tuple[str, ...]", turns)


def _recorded_turns(text: str) -> list[object]:
    """Return the turns of JSON lines: texts, lists of texts, or records of turns, whose ``action`` is the turn.

    Warns:
        UserWarning: The last line was cut short while it was written, and is left out.
    """
    lines = text.split("\n")
    turns: list[object] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = parse_json(line, f"line {number}")
        except FileError:
            if number < len(lines):
                raise
            warnings.warn(f"line {number} was cut short; its turn is left out", stacklevel=4)  # its run was killed
        else:
            turns.append(value.get("action") if isinstance(value, dict) else value)
    return turns


def _bounded(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return turns whose number of lines is bounded."""
    got = sum([(turn if isinstance(turn, str) else "\n".join(turn)).count("\n") + 1 for turn in turns])
    if got > MOST_COMMANDS:
        msg = f"got {got:,} commands, expected at most {MOST_COMMANDS:,}"
        raise ValueError(msg)
    return tuple(turns)
