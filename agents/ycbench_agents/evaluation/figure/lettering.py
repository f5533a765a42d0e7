"""How much room texts take, and how they are cut to fit into less."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Final

from ycbench_agents.evaluation.figure.style import FONT

__all__ = ["DOTS", "LABEL_INCHES", "fitted", "printable", "text_width"]

LABEL_INCHES: Final = 1.3
"""Room for the name of a policy, in inches."""

DOTS: Final = "\u2026"
"""What stands for what is left out."""

_POINTS: Final = 72  # of an inch
_MEASURED: Final = 100.0  # points
_MOST_LETTERS: Final = 60  # that any label shows, which keeps the search for what fits short
_SQUARE: Final = "\u2014"  # as wide as high, like the signs that the font lacks
_FIRST_SQUARE: Final = 0x2E80  # where Chinese, Japanese and Korean signs, and pictures, begin
_SLACK: Final = 4  # letters more than letters of the mean width would be


def text_width(text: str, points: float) -> float:
    """Return how wide a line of text is, in inches; letters that move closer together are not told.

    Args:
        text: The line.
        points: Height of its letters.
    """
    return sum(_letter_width(_SQUARE if ord(sign) >= _FIRST_SQUARE else sign) for sign in text) * points / _POINTS


@lru_cache(maxsize=1024)  # names are measured again and again until they fit, and each time all of their letters
def _letter_width(letter: str) -> float:
    """Return the width of a letter, as a part of the height of letters."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 -- an extra, and slow to import
    from matplotlib.textpath import text_to_path  # noqa: PLC0415 -- as above

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        font = FontProperties(family=FONT, size=_MEASURED)
        width, _, _ = text_to_path.get_text_width_height_descent(letter, font, ismath=False)
    return float(width) / _MEASURED


def printable(text: str) -> str:
    """Return a text on one line, with a question mark for what cannot be shown."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def fitted(text: str, inches: float, points: float) -> str:
    """Return a text on one line and within a width; the middle is left out.

    Args:
        text: The text; what cannot be shown is a question mark.
        inches: How wide it may be; two letters are left at least.
        points: Height of its letters.
    """
    line = printable(text)
    letters = min(len(line), _MOST_LETTERS)
    found = _cut(line, letters)
    if (width := text_width(found, points)) > inches:
        letters = min(letters, int(letters * inches / width) + _SLACK)
        found = _cut(line, letters)
    while letters > 3 and text_width(found, points) > inches:  # noqa: PLR2004 -- a letter, the dots, a letter
        letters -= 1
        found = _cut(line, letters)
    return found


def _cut(line: str, letters: int) -> str:
    if len(line) <= letters:
        return line
    kept = max(letters - 1, 2)
    return f"{line[: kept - max(kept // 3, 1)]}{DOTS}{line[-max(kept // 3, 1) :]}"
