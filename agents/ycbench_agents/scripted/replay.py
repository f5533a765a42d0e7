r"""Replay: plays a list of turns, whatever it sees.

It knows nothing but its list: a plan that a planner saved, turns written by hand, or those of a recorded run. In the
world and with the seed that the list was made for it ends with the same funds to the cent; anywhere else it is blind.

The file of turns is UTF-8 text that a person can read and write::

    # The best of 40 plans.                     a line that begins with # is a comment
    market browse --limit 3                     commands, one a line
    task accept --task-id Task-8
    ---                                         a line that is exactly --- stands between two turns
    ---                                         so this was a turn without commands
    \"scratchpad write --content \"a\n---\""    a turn as a JSON text, after a backslash

The last form is for a turn that the lines above it cannot hold to the letter: one with a line that begins with ``#`` or
is ``---``, with empty lines at its ends, or with a carriage return. ``read_turns`` and ``write_turns`` are each other's
inverse for any turns. Files may come from anybody, so their size is bounded, unpacked too.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import warnings
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, cast

from ycbench_agents.base import PolicyStoppedError, Turn, TurnError, checked_turn
from ycbench_agents.files import FileError, read_record
from ycbench_agents.scripted.commands import WAIT
from ycbench_env import Observation
from ycbench_env.text import shown

MOST_CHARACTERS: Final = 16_000_000
"""Most bytes of a file of turns once it is unpacked, and most characters of all turns."""
MOST_COMMANDS: Final = 400_000
"""Most lines of all turns, empty ones included; the planner's longest plans have 31,000."""
_MOST_RECORD_BYTES: Final = 256_000_000  # of a run's turns.jsonl, which holds results, too
_SEPARATOR: Final = "---"
_AFTERWARDS: Final = {"resume": WAIT, "idle": "", "stop": None}


class ReplayPolicy:
    """Plays a list of turns, one after the other.

    Args:
        path: A file of turns (see the module), also packed as ``.gz``; a run's folder; or a ``.jsonl`` file such as its
            ``turns.jsonl``.
        turns: The turns themselves, instead of a path.
        then: What follows the last of them: "resume" plays ``sim resume`` until the episode ends, "idle" empty turns,
            "stop" raises PolicyStoppedError.

    Raises:
        ValueError: Not exactly one of path and turns is given, the file cannot be read, has no turns or is too large,
            or ``then`` is unknown; the message shows what was got and expected.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, turns: Sequence[Turn] | None = None, then: str = "resume"
    ) -> None:
        if (path is None) == (turns is None):
            msg = f"replay: got {'neither path nor' if path is None else 'both path and'} turns, expected one of them"
            raise ValueError(msg)
        if then not in _AFTERWARDS:
            msg = f"then: got {shown(then)}, expected {', '.join(_AFTERWARDS)}"
            raise ValueError(msg)
        self._source = "turns"
        if path is not None:
            if not isinstance(path, str | os.PathLike) or not os.fspath(path):  # pyright: ignore[reportUnnecessaryIsInstance] -- comes from files, too
                msg = f"path: got {shown(path)}, expected a file of turns, or the folder of a run"
                raise ValueError(msg)
            self._source = f"path {os.fspath(path)}"
            turns = _load(Path(path))
        if not isinstance(turns, tuple | list) or not turns:
            msg = (
                f"{self._source}: got {shown(turns)}, expected a list of at least one turn; the policy idle plays none"
            )
            raise ValueError(msg)
        try:
            self._turns = _bounded([checked_turn(turn, self, number) for number, turn in enumerate(turns, 1)])
        except (TurnError, ValueError) as error:
            msg = f"{self._source}: {error}"
            raise ValueError(msg) from None
        self._then = _AFTERWARDS[then]
        self._played = 0

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- there is nothing to draw
        """Begin the list anew."""
        self._played = 0

    def act(self, observation: Observation) -> Turn:  # noqa: ARG002 -- it plays blindly
        """Return the next turn of the list.

        Raises:
            PolicyStoppedError: The list is at its end, and ``then`` is "stop".
        """
        if self._played < len(self._turns):
            self._played += 1
            return self._turns[self._played - 1]
        if self._then is None:
            msg = (
                f"{self._source}: all {len(self._turns)} turns are played and the episode is not over; "
                "give a longer list, or then=resume to let time pass until its end"
            )
            raise PolicyStoppedError(msg)
        return self._then


# ---- files


def _load(path: Path) -> Sequence[Turn]:
    """Return the turns of a file or of a run's folder."""
    path = path / "turns.jsonl" if path.is_dir() else path
    try:
        if path.suffix == ".jsonl":
            return cast("Sequence[Turn]", _recorded_turns(read_text(path, _MOST_RECORD_BYTES)))
        return read_turns(read_text(path))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).removeprefix(f"{path}: ")
        msg = f"path {path}: {reason}; expected a file of turns, or the folder of a run"
        raise ValueError(msg) from None


def read_text(file: Path, most: int = MOST_CHARACTERS) -> str:
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
        if len(data) > most:
            msg = f"{file}: holds more than {most:,} bytes unpacked, the most that is read"
            raise FileError(msg)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{file}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        raise FileError(msg) from None
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{file}: cannot be unpacked: {error}"
        raise FileError(msg) from None


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
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines):  # a run that was killed may end so, see docs/runs.md
                warnings.warn(f"line {number} was cut short; its turn is left out", stacklevel=4)
                break
            msg = f"line {number}: got {shown(line, 60)}, which is not JSON; expected one JSON value a line"
            raise ValueError(msg) from None
        turns.append(cast("dict[str, object]", value).get("action") if isinstance(value, dict) else value)
    return turns


def _bounded(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return turns whose number of lines and length are bounded."""
    texts = [turn if isinstance(turn, str) else "\n".join(turn) for turn in turns]
    for got, most, things in (
        (sum(text.count("\n") + 1 for text in texts), MOST_COMMANDS, "commands"),
        (sum(map(len, texts)), MOST_CHARACTERS, "characters"),
    ):
        if got > most:
            msg = f"got {got:,} {things}, expected at most {most:,}"
            raise ValueError(msg)
    return tuple(turns)


# ---- the text form


def read_turns(text: str) -> tuple[str, ...]:
    """Return the turns of a text in the form above; () for one without any command, JSON text or separator.

    Raises:
        ValueError: What follows a backslash is no JSON text, or there are more commands or characters than a list
            may hold; the message names the line or the most.
    """
    turns: list[str] = []
    lines: list[str] = []
    empty: list[str] = []  # lines that belong to the turn if another line follows
    for number, line in enumerate(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"), 1):
        if line == _SEPARATOR:
            turns.append("\n".join(lines))
            lines, empty = [], []
        elif not line.strip():
            empty += [line] if lines else []
        elif not line.startswith("#"):
            lines += [*empty, _json_text(line[1:], number) if line.startswith("\\") else line]
            empty = []
    return cast("tuple[str, ...]", _bounded((*turns, "\n".join(lines)) if lines or turns else ()))


def _json_text(text: str, number: int) -> str:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, str):
        msg = f'line {number}: got {shown(text, 60)} after a backslash, expected a JSON text, like \\"task list"'
        raise ValueError(msg)  # noqa: TRY004 -- the file is wrong
    return value


def write_turns(turns: Iterable[str], comments: Iterable[str] = ()) -> str:
    """Return turns in the form above, below some comments, so that ``read_turns`` returns them to the letter.

    Raises:
        ValueError: One is no text, or holds two halves of a character beside each other, which JSON would join.
    """
    turns = list(turns)
    head = [f"# {line}".rstrip() for comment in comments for line in comment.splitlines() or [""]]
    written: list[str] = []
    for turn in turns:
        line = f"\\{json.dumps(turn)}"
        if turns != [""] and _is_plain(turn):  # a text without anything is no turn at all
            line = turn
        elif json.loads(line[1:]) != turn:
            msg = (
                f"turns: got {shown(turn, 60)}, with two halves of a character (surrogates); write the character itself"
            )
            raise ValueError(msg)
        written.append(line)
    body = [f"\n{_SEPARATOR}\n".join(written)] if written else []
    return "".join(f"{part}\n" for part in (*head, *body))


def _is_plain(turn: str) -> bool:
    """Return whether a turn is read back to the letter when it is written as it is."""
    try:
        turn.encode("utf-8")
        return read_turns(f"{turn}\n{_SEPARATOR}\n") == (turn, "")
    except ValueError:
        return False
