"""How much room texts take, and names that are short enough for theirs but not alike."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.figure.style import FONT
from ycbench_agents.evaluation.figure.wording import same_start

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LABEL_INCHES", "fitted", "text_width", "told_apart"]

LABEL_INCHES: Final = 1.3
"""Room for the name of a policy, in inches."""

_POINTS: Final = 72  # of an inch
_MEASURED: Final = 100.0  # points
_MOST_LETTERS: Final = 60  # that any label shows, which keeps the search for what fits short
_DOTS: Final = "\u2026"
_SQUARE: Final = "\u2014"  # as wide as high, like the signs that the font lacks
_FIRST_SQUARE: Final = 0x2E80  # where Chinese, Japanese and Korean signs, and pictures, begin
_SLACK: Final = 4  # letters more than letters of the mean width would be
_HEAD: Final = 4  # letters that are kept of names which begin alike


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


def fitted(text: str, inches: float, points: float) -> str:
    """Return a text on one line and within a width; the middle is left out.

    Args:
        text: The text; what cannot be shown is a question mark.
        inches: How wide it may be; two letters are left at least.
        points: Height of its letters.
    """
    line = "".join(sign if sign.isprintable() else "?" for sign in text)
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
    return f"{line[: kept - max(kept // 3, 1)]}{_DOTS}{line[-max(kept // 3, 1) :]}"


def told_apart(names: Iterable[str], inches: float, points: float) -> dict[str, str]:
    """Return a short text for each name, no two alike: what names have in common is left out first.

    Args:
        names: The names; equal ones share a text.
        inches: How wide a text may be.
        points: Height of the letters.
    """
    different = sorted(set(names))
    texts = {name: fitted(name, inches, points) for name in different}
    heads = {name: text.partition(_DOTS)[0] for name, text in texts.items() if _DOTS in text}
    for name, head in heads.items():
        alike = [other for other in heads if other.startswith(head) or name.startswith(heads[other])]
        if len(alike) > 1:
            texts[name] = fitted(_from(name, len(same_start(alike))), inches, points)
    return _numbered(texts, inches, points)


def _from(name: str, begin: int) -> str:
    """Return a name without what lies between its head and the place where it begins to differ from others."""
    return name if begin <= _HEAD + 1 else f"{name[:_HEAD]}{_DOTS}{name[begin - 1 :]}"


def _numbered(texts: dict[str, str], inches: float, points: float) -> dict[str, str]:
    """Return texts with numbers behind those that another name has already."""
    found: dict[str, str] = {}
    for name, text in texts.items():
        short, number = text, 1
        while short in found.values():
            number += 1
            mark = f" #{number}"
            short = f"{fitted(name, inches - text_width(mark, points), points)}{mark}"
        found[name] = short
    return found
