r"""Read one word, quoted or not, from a place in a text.

Quoted text comes out as it was written, except ``\"`` and ``\\`` inside double quotes. Words are never glued and no
quote is ever dropped: what is not clearly one thing is a ``QuoteError``.

Source: docs/commands.md, "Words and quotes".
"""

import re
from types import MappingProxyType
from typing import Final, NamedTuple

from ycbench_env.actions.characters import (
    BLANKS,
    DASHES,
    DOUBLE_QUOTES,
    LINE_BREAKS,
    LONG_DASHES,
    QUOTES,
    SINGLE_QUOTES,
    echo,
)
from ycbench_env.actions.kinds import Piece

__all__ = ["SHELL", "QuoteError", "Word", "read_word"]

SHELL: Final = "|&<>"
"""Mean something to a shell and nothing here."""


class Word(NamedTuple):
    """One word of a command.

    ``option`` is the name before ``=`` if the word begins with an unquoted ``--``; ``pieces`` are then what follows
    the ``=`` (none without ``=``). Quoted text beside a comma makes several pieces, which only lists may have.
    ``place`` counts characters of the command from 1.
    """

    option: str | None
    pieces: tuple[Piece, ...]
    place: int

    @property
    def text(self) -> str:
        """What the word says, without its quotes; the value alone if it is an option."""
        return self.pieces[0].text if len(self.pieces) == 1 else "".join(piece.text for piece in self.pieces)

    @property
    def quoted(self) -> bool:
        """Whether the word, or the value of the option, begins with a quote."""
        return bool(self.pieces) and self.pieces[0].quoted

    @property
    def written(self) -> str:
        """The word as an error shows it."""
        return self.text if self.option is None else self.option + ("=" + self.text if self.pieces else "")


class QuoteError(Exception):
    """A quote is where it cannot be, at ``at``; ``open_ended`` if it never closes, so that no end can be found."""

    def __init__(self, message: str, at: int, *, open_ended: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.open_ended = open_ended


_MAX_PIECES: Final = 10_000  # of one word; a longer list is no team
_TO_DASH: Final = str.maketrans(dict.fromkeys(DASHES, "-"))
_EDGE: Final = BLANKS + LINE_BREAKS
_ESCAPABLE: Final = rf"\\{BLANKS}{QUOTES};{SHELL}"
# Possessive quantifiers (++, *+) keep every pattern linear.
_UNQUOTED: Final = re.compile(
    rf"(?:[^\\{_EDGE}{QUOTES};{SHELL}$]++|\\[{_ESCAPABLE}]|\\(?=[^{_ESCAPABLE}{LINE_BREAKS}])|\$(?!\())++"
)
_UNQUOTED_IN_TICKS: Final = re.compile(
    rf"(?:[^\\{_EDGE}{QUOTES};{SHELL}$`]++|\\[{_ESCAPABLE}]|\\(?=[^{_ESCAPABLE}{LINE_BREAKS}])|\$(?!\())++"
)
_ESCAPE: Final = re.compile(rf"\\([{_ESCAPABLE}])")
_IN_ASCII_DOUBLE: Final = re.compile(r'((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_IN_ASCII_SINGLE: Final = re.compile(r"([^']*+)'")
_IN_DOUBLE: Final = re.compile(rf'((?:[^"\\{DOUBLE_QUOTES}]++|\\.)*+)["{DOUBLE_QUOTES}]', re.DOTALL)
_IN_SINGLE: Final = re.compile(rf"([^'{SINGLE_QUOTES}]*+)['{SINGLE_QUOTES}]")
_ASCII_ESCAPE: Final = re.compile(r'\\(["\\])')
_DOUBLE_ESCAPE: Final = re.compile(rf'\\(["\\{DOUBLE_QUOTES}])')
_QUOTED: Final = MappingProxyType(
    {
        '"': (_IN_ASCII_DOUBLE, _ASCII_ESCAPE),
        "'": (_IN_ASCII_SINGLE, None),
        **dict.fromkeys(DOUBLE_QUOTES, (_IN_DOUBLE, _DOUBLE_ESCAPE)),
        **dict.fromkeys(SINGLE_QUOTES, (_IN_SINGLE, None)),
    }
)
_ENDS_WORD: Final = _EDGE + ";" + SHELL  # and the empty string: the end of the text
_LINE_BREAK: Final = re.compile(f"[{LINE_BREAKS}]")
_CONTINUED: Final = re.compile(rf"\\[{LINE_BREAKS}]")


def read_word(text: str, at: int, end: int, begin: int, *, in_ticks: bool) -> tuple[Word, int]:
    """Return the word that begins at a place, and where it ends.

    Args:
        text: The whole text.
        at: Where the word begins; no blank, separator or shell character stands there.
        end: Where the text ends.
        begin: Where the command begins; errors count characters from there.
        in_ticks: Whether a backtick ends the word.

    Raises:
        QuoteError: A quote opens inside a word, is followed by one, or never closes.
    """
    unquoted = _UNQUOTED_IN_TICKS if in_ticks else _UNQUOTED
    place = at - begin + 1
    option: str | None = None
    pieces: list[Piece] = []
    while len(pieces) <= _MAX_PIECES:
        if match := unquoted.match(text, at, end):
            at = match.end()
            plain = _plain(match[0])
            if not pieces and plain.startswith("--"):
                option, equals, plain = plain.partition("=")
                pieces = [Piece(plain, quoted=False)] if equals else []
            else:
                pieces.append(Piece(plain, quoted=False))
        if at >= end or text[at] not in QUOTES:
            return Word(option, tuple(pieces), place), at
        if not _may_open(option, pieces):
            raise QuoteError(_inside(text, at, begin), at)
        if pieces and not pieces[-1].text:
            pieces.clear()  # nothing stands between = and the quote
        quoted, at = _read_quoted(text, at, end, begin)
        pieces.append(Piece(quoted, quoted=True))
        if not text.startswith(",", at, end):
            _check_end(text, at, end, begin, in_ticks=in_ticks)
            return Word(option, tuple(pieces), place), at
    message = f"A list of more than {_MAX_PIECES // 2:,} quoted names is too long."
    raise QuoteError(message, at)


def _plain(raw: str) -> str:
    """Return unquoted text without its escapes, with plain dashes."""
    plain = _ESCAPE.sub(r"\1", raw) if "\\" in raw else raw
    if plain.isascii():
        return plain
    doubled = raw[0] in LONG_DASHES and raw[1:2].isalpha()
    return ("-" if doubled else "") + plain.translate(_TO_DASH)


def _may_open(option: str | None, pieces: list[Piece]) -> bool:
    """Whether a quote may open here: at the start of a word, after ``--key=``, after a comma."""
    if not pieces:
        return option is None
    before = pieces[-1].text
    return not before or before.endswith(",")


def _read_quoted(text: str, at: int, end: int, begin: int) -> tuple[str, int]:
    """Return the text that the quote at this place opens, and the place after the closing quote."""
    mark = text[at]
    pattern, escape = _QUOTED[mark]
    match = pattern.match(text, at + 1, end)
    if match is None:
        message = (
            f"The quote {_name(mark)} that opens at character {at - begin + 1} never closes, so nothing after it was "
            f"read: {echo(text[at : min(end, at + 60)], '')}. Close it, like {_example(mark)}"
        )
        raise QuoteError(message, at, open_ended=True)
    quoted = match[1]
    if escape and "\\" in quoted:
        quoted = escape.sub(r"\1", quoted)
    return quoted, match.end()


def _check_end(text: str, at: int, end: int, begin: int, *, in_ticks: bool) -> None:
    """Refuse text that is glued to a closing quote."""
    following = text[at : at + 1] if at < end else ""
    if following in _ENDS_WORD or (following == "`" and in_ticks) or _CONTINUED.match(text, at, end):
        return
    message = (
        f"The quote that closes at character {at - begin} is followed by {echo(text[at : min(end, at + 20)])} without "
        "a blank; the rest of the line was not read. Put text that holds quotes into quotes of the other kind, like "
        '--content \'He said "hi"\', or write \\" inside double quotes'
    )
    raise QuoteError(message, at)


def _inside(text: str, at: int, begin: int) -> str:
    around = text[max(begin, at - 20) : at] + _LINE_BREAK.split(text[at : at + 20], maxsplit=1)[0]
    return (
        f"The quote {_name(text[at])} at character {at - begin + 1} stands inside a word: {echo(around, '')}. A quote "
        "may open only where a value begins; the rest of the line was not read. Put the whole value in quotes of the "
        'other kind, like --content "client\'s late"'
    )


def _name(mark: str) -> str:
    return mark if mark.isascii() else f"{mark} (U+{ord(mark):04X})"


def _example(mark: str) -> str:
    if mark in "'" + SINGLE_QUOTES:
        return "--reason 'changed plan', or with an apostrophe in it --reason \"won't make it\""
    return '--reason "changed plan"; inside double quotes write \\" for a quote and \\\\ for a backslash'
