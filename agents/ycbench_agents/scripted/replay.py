r"""Replay: plays a list of turns, whatever it sees.

It knows nothing but its list: a plan that a planner saved, turns written by hand, or those of a run's record. On the
world and the seed that the list was made for it ends with the same funds to the cent; anywhere else it is blind.

The file of turns is UTF-8 text that a person can read and write::

    # The best of 40 plans.                     a line that begins with # is a comment
    market browse --limit 3                     commands, one a line; empty lines do not matter
    task accept --task-id Task-8
    ---                                         a line that is exactly --- stands between two turns
    ---                                         so this was a turn without commands
    scratchpad write --content "Plan:
    ---
    # inside quotes all of it is text"
    ---
    \"company status\n\n"                       a turn as a JSON text, after a backslash

The last form is for a turn that the lines above it cannot hold to the letter: a quote that never closes, empty lines
that are to be kept, a carriage return. ``read_turns`` and ``write_turns`` are each other's inverse for any turns.
"""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ycbench_agents.base import PolicyStoppedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ycbench_agents.base import Turn
    from ycbench_env import Observation

__all__ = ["MOST_BYTES", "ReplayPolicy", "read_text", "read_turns", "write_turns"]

_SEPARATOR: Final = "---"
_COMMENT: Final = "#"
_JSON: Final = "\\"
_BYTE_ORDER_MARK: Final = "\ufeff"
_RECORD: Final = "turns.jsonl"  # in the folder of a run
_PACKED: Final = ".gz"
MOST_BYTES: Final = 256_000_000
"""Most bytes of a file of turns, once it is unpacked."""
# Quotes open as docs/commands.md has it: where a value begins. Elsewhere one spoils the rest of its line, no more.
_DOUBLE: Final = "\u201c\u201d\u201e\u201f\xab\xbb\u2033\u2036\u301d\u301e\u301f\uff02"
_SINGLE: Final = "\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u2035\uff07"
_GAP: Final = r"\s\u180e\u200b\u2060\ufeff;&|<>"
_QUOTE: Final = rf"(?<![^{_GAP},=])(?=[\"'{_DOUBLE}{_SINGLE}])"
_QUOTED: Final = (
    rf"{_QUOTE}(?:\"(?:[^\"\\]|\\.)*+\"|'[^']*+'"
    rf"|[{_DOUBLE}](?:[^\"\\{_DOUBLE}]|\\.)*+[\"{_DOUBLE}]|[{_SINGLE}][^'{_SINGLE}]*+['{_SINGLE}])"
)
_PLAIN: Final = rf"\\.?|[^{_GAP}\\\"'{_DOUBLE}{_SINGLE}#]|(?<![{_GAP}])#"
_READABLE: Final = re.compile(rf"(?:(?!\n)[{_GAP}]|{_QUOTED}(?=[{_GAP},`]|\Z)|{_PLAIN})*+(?:{_QUOTED})?+", re.DOTALL)
_OPEN: Final = re.compile(rf"{_QUOTE}(?!{_QUOTED})", re.DOTALL)
_AFTERWARDS: Final = {"resume": "sim resume", "idle": ""}
_STOP: Final = "stop"


class ReplayPolicy:
    """Plays a list of turns, one after the other.

    Args:
        path: A file of turns (see above), also packed as ``.gz``; a run's folder; or a ``.jsonl`` file such as its
            ``turns.jsonl``.
        turns: The turns themselves, instead of a path.
        then: What follows the last of them: "resume" plays ``sim resume`` until the episode ends, "idle" empty turns,
            "stop" raises PolicyStoppedError.

    Raises:
        ValueError: Not exactly one of path and turns is given, the file cannot be read or has no turns, or ``then`` is
            unknown; the message shows what was got and expected.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, turns: Sequence[Turn] | None = None, then: str = "resume"
    ) -> None:
        if (path is None) == (turns is None):
            msg = f"replay: got {'neither path nor' if path is None else 'both path and'} turns, expected one of them"
            raise ValueError(msg)
        if then not in (*_AFTERWARDS, _STOP):
            msg = f"then: got {then!r}, expected {', '.join((*_AFTERWARDS, _STOP))}"
            raise ValueError(msg)
        self._source = "turns" if path is None else f"path {_file_name(path)}"
        self._turns = _checked(_load(Path(path)) if path is not None else turns, self._source)
        self._then = then
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
        if self._then == _STOP:
            msg = (
                f"{self._source}: all {len(self._turns)} turns are played and the episode is not over; "
                "give a longer list, or then=resume to let time pass until its end"
            )
            raise PolicyStoppedError(msg)
        return _AFTERWARDS[self._then]


# ---- files


def _file_name(path: object) -> str:
    """Return a path as text.

    Raises:
        ValueError: It is no path.
    """
    if isinstance(path, str | os.PathLike) and os.fspath(cast("str", path)):
        return str(os.fspath(cast("str", path)))
    msg = f"path: got {path!r}, expected a file of turns, or the folder of a run"
    raise ValueError(msg)


def _checked(turns: Sequence[object] | None, source: str) -> tuple[Turn, ...]:
    """Return turns as a tuple that nobody else can change.

    Raises:
        ValueError: There are none, or one is neither a text nor several.
    """
    if not isinstance(turns, tuple | list):
        msg = f"{source}: got a {type(turns).__name__}, expected a list of turns, each a text or a list of texts"
        raise ValueError(msg)  # noqa: TRY004 -- one kind of error for all that is wrong with the parameters
    if not turns:
        msg = f"{source}: got no turns, expected at least one; the policy idle plays none"
        raise ValueError(msg)
    return tuple(_checked_turn(turn, f"{source}: turn {number}") for number, turn in enumerate(turns, 1))


def _checked_turn(turn: object, place: str) -> Turn:
    if isinstance(turn, str):
        return turn
    if isinstance(turn, tuple | list):
        texts = cast("Sequence[object]", turn)
        if all(isinstance(text, str) for text in texts):
            return tuple(str(text) for text in texts)
    kind = type(cast("object", turn)).__name__
    msg = f"{place}: got {kind}, expected a text or a list of texts"
    raise ValueError(msg)


def _load(path: Path) -> tuple[object, ...]:
    """Return the turns of a file or of a run's folder.

    Raises:
        ValueError: It cannot be read, or is not what its name says.
    """
    file = path / _RECORD if path.is_dir() else path
    try:
        text = read_text(file)
    except UnicodeDecodeError as error:
        msg = f"path {file}: byte {error.start + 1} is no UTF-8; save the file as UTF-8"
        raise ValueError(msg) from None
    except (OSError, ValueError, EOFError, zlib.error) as error:  # ValueError: a zero byte; the last two: damaged
        reason = getattr(error, "strerror", None) or error
        msg = f"path {file}: cannot be read: {reason}; expected a file of turns, or the folder of a run"
        raise ValueError(msg) from None
    try:
        return tuple(_recorded_turns(text)) if file.suffix == ".jsonl" else read_turns(text)
    except ValueError as error:
        msg = f"path {file}: {error}"
        raise ValueError(msg) from None


def read_text(file: Path) -> str:
    """Return the text of a file, unpacked where its name ends in ``.gz``.

    Raises:
        OSError: It cannot be read, or is no regular file: a pipe would be waited for, a device never ends.
        ValueError: It holds more than MOST_BYTES, or bytes that are no UTF-8.
        EOFError, zlib.error: It is packed and damaged.
    """
    if file.exists() and not file.is_file():
        raise OSError(errno.EINVAL, "it is no regular file", str(file))
    with gzip.open(file) if file.suffix == _PACKED else file.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        msg = f"it holds more than {MOST_BYTES:,} bytes"
        raise ValueError(msg)
    return data.decode("utf-8")


def _recorded_turns(text: str) -> Iterator[object]:
    """Yield the turns of JSON lines: texts, lists of texts, or records of turns, whose ``action`` is the turn.

    Warns:
        UserWarning: The last line was cut short while it was written, and is left out.
    """
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            if number == len(lines):  # a run that was killed may end so, see docs/records.md
                warnings.warn(f"line {number} was cut short; its turn is left out", stacklevel=5)
                return
            msg = f"line {number}: got no JSON: {line[:60]!r}; expected one JSON value a line, as a run's record has it"
            raise ValueError(msg) from None
        yield cast("dict[str, object]", value).get("action") if isinstance(value, dict) else value


# ---- the text form


def read_turns(text: str) -> tuple[str, ...]:
    """Return the turns of a text in the form above; () for one without any command, JSON text or separator.

    Raises:
        ValueError: A quote never closes, or what follows a backslash is no JSON text; the message names the line.
    """
    turns: list[str] = []
    lines: list[str] = []
    for number, line in _logical_lines(text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n")):
        if line == _SEPARATOR:
            turns.append("\n".join(lines))
            lines = []
        elif line.startswith(_JSON):
            lines.append(_json_text(line[1:], number))
        elif line.strip() and not line.startswith(_COMMENT):
            lines.append(line)
    return (*turns, "\n".join(lines)) if lines or turns else ()


def write_turns(turns: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Return turns in the form above, so that ``read_turns`` returns them to the letter.

    Args:
        turns: The turns.
        comments: What is to stand above them, a comment each, or several where one has line breaks.

    Raises:
        ValueError: One is no text, or holds two halves of a character beside each other, which JSON would join.
    """
    for name, texts in (("turns", turns), ("comments", comments)):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            msg = f"{name}: got {str(texts)[:60]!r}, expected a list of texts"
            raise ValueError(msg)
    told = [f"{_COMMENT} {line}".rstrip() for comment in comments for line in comment.splitlines() or [""]]
    only_empty = len(turns) == 1 and not turns[0]  # a text without anything is no turn at all
    written = [_json_line(turn) if only_empty or not _is_plain(turn) else turn for turn in turns]
    between = f"\n{_SEPARATOR}\n"
    return "".join(f"{part}\n" for part in (*told, *([between.join(written)] if written else [])))


def _is_plain(turn: str) -> bool:
    """Return whether a turn is read back to the letter when it is written as it is."""
    try:
        turn.encode("utf-8")
        return read_turns(f"{turn}\n{_SEPARATOR}\n") == (turn, "")
    except ValueError:
        return False


def _json_line(turn: str) -> str:
    line = f"{_JSON}{json.dumps(turn)}"
    if json.loads(line[1:]) != turn:
        msg = f"turns: got {ascii(turn)[:60]}, with two halves of a character (surrogates); write the character itself"
        raise ValueError(msg)
    return line


def _json_text(text: str, number: int) -> str:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, str):
        msg = f'line {number}: got {text[:60]!r} after a backslash, expected a JSON text, like \\"task list"'
        raise ValueError(msg)  # noqa: TRY004 -- what is wrong is the file
    return value


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers; one in which a quote is open goes on to where it closes."""
    at, number = 0, 1
    while at < len(text):
        end = _line_end(text, at, number)
        yield number, text[at:end]
        number += text.count("\n", at, end) + 1
        at = end + 1


def _line_end(text: str, at: int, number: int) -> int:
    """Return where the line that begins at a place ends; line breaks inside quotes belong to it.

    Raises:
        ValueError: A quote never closes.
    """
    if not text.startswith((_COMMENT, _JSON), at):
        match = _READABLE.match(text, at)
        at = match.end() if match else at
        if _OPEN.match(text, at):
            msg = (
                f"line {number}: the quote {text[at]} opens and never closes; close it, or write the turn as a JSON "
                "text after a backslash"
            )
            raise ValueError(msg)
    found = text.find("\n", at)
    return len(text) if found < 0 else found
