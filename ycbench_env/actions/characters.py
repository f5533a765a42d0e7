r"""Which characters separate, quote and join words, and how text is shown in an error.

Source: docs/commands.md, "Characters". Everything here is built from escapes, because most of these characters look
like another one.
"""

import re
from typing import Final

__all__ = [
    "BLANKS",
    "DASHES",
    "DOUBLE_QUOTES",
    "LINE_BREAKS",
    "LONG_DASHES",
    "QUOTES",
    "SINGLE_QUOTES",
    "clean",
    "echo",
]

LINE_BREAKS: Final = "\n\r\x85\u2028\u2029"
"""End a line; ``\\r\\n`` counts once."""

BLANKS: Final = (
    " \t\x0b\x0c\x1c\x1d\x1e\x1f\xa0\u1680\u180e"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u2060\u3000\ufeff"
)
"""Separate words: all Unicode white space that ends no line, and the zero-width space, joiner and byte order mark."""

DOUBLE_QUOTES: Final = "\u201c\u201d\u201e\u201f\xab\xbb\u2033\u2036\u301d\u301e\u301f\uff02"
"""Typographic double quotes: curly, low, reversed, guillemets, double primes, full-width."""

SINGLE_QUOTES: Final = "\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u2035\uff07"
"""Typographic single quotes: curly, low, reversed, single guillemets, primes, full-width."""

QUOTES: Final = "\"'" + DOUBLE_QUOTES + SINGLE_QUOTES
"""Every character that opens quoted text."""

LONG_DASHES: Final = "\u2012\u2013\u2014\u2015\ufe58"
"""Figure dash, en dash, em dash, horizontal bar, small em dash: before a letter they stand for ``--``."""

DASHES: Final = LONG_DASHES + "\u2010\u2011\u2212\ufe63\uff0d"
"""Outside quoted text each of these is ``-``: also hyphen, non-breaking hyphen, minus, small and full-width hyphen."""

_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_ECHO_LENGTH: Final = 60


def clean(text: str) -> str:
    """Return the text as a plain str that UTF-8 can hold: each lone surrogate becomes U+FFFD."""
    text = str.__str__(text)
    if text.isascii():
        return text
    return _SURROGATES.sub("\ufffd", text)


def echo(text: str, quote: str = '"') -> str:
    """Return at most 60 characters of the agent's text, quoted, on one line and printable."""
    shown = text if len(text) <= _ECHO_LENGTH else text[: _ECHO_LENGTH - 1] + "\u2026"
    return quote + "".join(c if c.isprintable() else " " for c in shown) + quote
