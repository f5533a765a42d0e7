"""Words and amounts in figures."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["dollars", "multiple", "percent", "round_dollars", "same_start"]

_MILLION: Final = 1e6
_THOUSAND: Final = 1e3
_MULTIPLES: Final = (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3))
_DIGITS: Final = 3


def dollars(amount: float) -> str:
    """Return an amount in dollars as $950, $80.0k, $1.27M, $13.5M: three digits from a thousand on, as in tables."""
    # Rounded first, so that what is nearly a million is $1.00M and not $1000k.
    size = float(f"{abs(amount):.{_DIGITS - 1}e}")
    sign = "\u2212" if amount < 0 and round(size) else ""
    letter, unit = next((each for each in _MULTIPLES if size >= each[1]), ("", 1.0))
    if not letter:
        return f"{sign}${abs(amount):.0f}"
    behind = max(0, _DIGITS - 1 - math.floor(math.log10(size / unit)))
    return f"{sign}${size / unit:.{behind}f}{letter}"


def round_dollars(amount: float) -> str:
    """Return an amount in dollars without zeros behind the point, for ticks: $2.5M, $5M."""
    return re.sub(r"\.?0+(?=[kMBT]$)", "", words) if "." in (words := dollars(amount)) else words


def _digits(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if number < 99.95 else f"{number:.0f}"  # noqa: PLR2004 -- three digits


def percent(fraction: float) -> str:
    """Return a share as 32%."""
    return f"{100 * fraction:.0f}%"


def multiple(number: float) -> str:
    """Return a count in little room: 950, 1.2k."""
    if number < _THOUSAND - 0.5:
        return f"{number:.0f}" if number >= 10 or number == round(number) else f"{number:.1f}"  # noqa: PLR2004 -- two digits
    if number >= _MILLION - 500:  # what would round to 1000k
        return f"{number / _MILLION:.1f}M"
    thousands = number / _THOUSAND
    return f"{_digits(thousands)}k" if thousands < 9.95 else f"{thousands:.0f}k"  # noqa: PLR2004 -- two digits


def same_start(texts: Sequence[str]) -> str:
    """Return what all of some texts begin with, at least one."""
    # What the first and the last in order share, all between them share.
    pairs = zip(min(texts), max(texts), strict=False)
    return "".join(one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
