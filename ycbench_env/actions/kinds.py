"""What the value of an option may be: each kind reads it from text and writes it back.

For every kind ``read(write(value)) == value`` for each value that it takes; ``formatter`` relies on it.

Source: answers (the table of commands and options).
"""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

import attrs

from ycbench_env.actions.characters import BLANKS, LINE_BREAKS, echo

__all__ = [
    "ChoiceKind",
    "DateKind",
    "IdKind",
    "IntegerKind",
    "Kind",
    "MonthKind",
    "NamesKind",
    "Piece",
    "RefusedError",
    "TextKind",
]

_MAX_DIGITS: Final = 18
_MAX_NAMES: Final = 5_000
_ALL_BLANKS: Final = BLANKS + LINE_BREAKS
_ISO_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_US_DATE: Final = re.compile(r"([0-9]{2})/([0-9]{2})/([0-9]{4})")
_MONTH: Final = re.compile(r"([0-9]{4})-([0-9]{2})")
_ENTRY: Final = re.compile(r"(?:[^,\\]++|\\.?)*+", re.DOTALL)
_ESCAPED: Final = re.compile(rf"\\([\\,{_ALL_BLANKS}])")


class RefusedError(Exception):
    """Why a command is not understood; the message is the agent's answer. Never leaves this package."""


class Piece(NamedTuple):
    """A part of a word that was wholly inside or wholly outside quotes."""

    text: str
    quoted: bool


@attrs.frozen
class TextKind:
    """Any text, also an empty one."""

    @property
    def expected(self) -> str:
        """What an error says was expected."""
        return "text, in quotes unless it is one word"

    def read(self, text: str) -> str:
        """Return the text itself."""
        return text

    def write(self, value: object) -> str:
        """Return the text itself."""
        return str(value)


@attrs.frozen
class IdKind:
    """What something is called: any text but an empty one. Whether it exists is for the world to say."""

    what: Literal["task", "employee"]

    @property
    def expected(self) -> str:
        """What an error says was expected."""
        return "the id of a task, like Task-3" if self.what == "task" else "the name of an employee, like Emp_1"

    def read(self, text: str) -> str:
        """Return the text itself."""
        if not text:
            raise RefusedError(self.expected)
        return text

    def write(self, value: object) -> str:
        """Return the text itself."""
        return str(value)


@attrs.frozen
class ChoiceKind:
    """One of some fixed words; case matters."""

    words: tuple[str, ...]

    @property
    def expected(self) -> str:
        """What an error says was expected."""
        return "one of " + ", ".join(self.words)

    def read(self, text: str) -> str:
        """Return the word."""
        if text not in self.words:
            raise RefusedError(self.expected)
        return text

    def write(self, value: object) -> str:
        """Return the word."""
        return str(value)


@attrs.frozen
class IntegerKind:
    """A whole number of at most 18 ASCII digits, not below ``minimum``."""

    minimum: int = 0

    @property
    def expected(self) -> str:
        """What an error says was expected."""
        return f"a whole number of at least {self.minimum} in plain digits, at most {_MAX_DIGITS} of them"

    def read(self, text: str) -> int:
        """Return the number."""
        # The length comes first: int() is quadratic in it.
        if len(text) > _MAX_DIGITS or not (text.isascii() and text.isdigit()) or int(text) < self.minimum:
            raise RefusedError(self.expected)
        return int(text)

    def write(self, value: object) -> str:
        """Return the number in digits."""
        return str(value)


@attrs.frozen
class DateKind:
    """A day, as MM/DD/YYYY or YYYY-MM-DD."""

    @property
    def expected(self) -> str:
        """What an error says was expected."""
        return "a date that exists, as MM/DD/YYYY or YYYY-MM-DD"

    def read(self, text: str) -> dt.date:
        """Return the day."""
        if match := _ISO_DATE.fullmatch(text):
            year, month, day = match.groups()
        elif match := _US_DATE.fullmatch(text):
            month, day, year = match.groups()
        else:
            raise RefusedError(self.expected)
        return _date(year, month, day, self.expected)

    def write(self, value: object) -> str:
        """Return the day as YYYY-MM-DD."""
        return value.isoformat() if isinstance(value, dt.date) else str(value)


@attrs.frozen
class MonthKind:
    """A month, as YYYY-MM; its value is its first day."""

    @property
    def expected(self) -> str:
        """What an error says was expected."""
        return "a month that exists, as YYYY-MM"

    def read(self, text: str) -> dt.date:
        """Return the first day of the month."""
        match = _MONTH.fullmatch(text)
        if match is None:
            raise RefusedError(self.expected)
        return _date(match[1], match[2], "01", self.expected)

    def write(self, value: object) -> str:
        """Return the month as YYYY-MM."""
        return value.isoformat().removesuffix("-01") if isinstance(value, dt.date) else str(value)


@attrs.frozen
class NamesKind:
    r"""Names with commas between them, at least one; blanks around a name do not count.

    Inside quotes a name may hold a comma, a backslash or a blank at its ends after a backslash (``\,``, ``\\``).
    """

    @property
    def expected(self) -> str:
        """What an error says was expected."""
        return "names with a comma between them, like Emp_1,Emp_4"

    def read(self, text: str) -> tuple[str, ...]:
        """Return the names of one unquoted word."""
        return self.read_pieces((Piece(text, quoted=False),)) if "," in text or not text else (text,)

    def read_pieces(self, pieces: Sequence[Piece]) -> tuple[str, ...]:
        """Return the names of several words, quoted or not."""
        names: list[str] = []
        after_comma = True
        # Commas and names must take turns: a name too few or a comma too many may hide whom the agent meant.
        for entry in _entries(pieces):
            if entry is None and not after_comma:
                after_comma = True
            elif not entry:
                message = f"{self.expected}; an entry is empty: a comma too many, or a name is missing"
                raise RefusedError(message)
            elif not after_comma:
                message = f"{self.expected}; there is no comma between {echo(names[-1])} and {echo(entry)}"
                raise RefusedError(message)
            else:
                names.append(entry)
                after_comma = False
            if len(names) > _MAX_NAMES:
                message = f"{self.expected}, at most {_MAX_NAMES:,} of them"
                raise RefusedError(message)
        if after_comma:
            message = f"{self.expected}; the list {'ends in a comma' if names else 'is empty'}"
            raise RefusedError(message)
        return tuple(names)

    def write(self, value: object) -> str:
        """Return the names as they stand inside quotes."""
        if not isinstance(value, tuple):
            return str(value)
        return ",".join(_escape(str(name)) for name in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


Kind = TextKind | IdKind | ChoiceKind | IntegerKind | DateKind | MonthKind | NamesKind
"""Any kind of option value."""


def _date(year: str, month: str, day: str, expected: str) -> dt.date:
    try:
        return dt.date(int(year), int(month), int(day))
    except ValueError:
        raise RefusedError(expected) from None


def _entries(pieces: Sequence[Piece]) -> Iterator[str | None]:
    """Yield the names in order, and None for each comma between them."""
    for piece in pieces:
        if piece.quoted:
            yield from _quoted_entries(piece.text)
            continue
        for number, entry in enumerate(piece.text.split(",")):
            if number:
                yield None
            # Between a quoted name and its comma there is nothing, and that is no empty name.
            if entry:
                yield entry


def _quoted_entries(text: str) -> Iterator[str | None]:
    position = 0
    while True:
        match = _ENTRY.match(text, position)
        end = match.end() if match else position
        yield _unescape(text[position:end])
        if end == len(text):
            return
        yield None
        position = end + 1


def _unescape(entry: str) -> str:
    stripped = entry.strip(_ALL_BLANKS)
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    # An odd backslash at the end belongs to the blank that was stripped after it.
    if backslashes % 2 and not entry.endswith(stripped):
        stripped += entry.lstrip(_ALL_BLANKS)[len(stripped)]
    return _ESCAPED.sub(r"\1", stripped)


def _escape(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace(",", "\\,")
    if escaped and escaped[-1] in _ALL_BLANKS:
        escaped = escaped[:-1] + "\\" + escaped[-1]
    if escaped and escaped[0] in _ALL_BLANKS:
        escaped = "\\" + escaped
    return escaped
