"""Words and amounts in figures."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["dollars", "multiple", "percent", "round_dollars", "same_start"]

_MILLION: Final = 1e6
_THOUSAND: Final = 1e3


def dollars(amount: float) -> str:
    """Return an amount in dollars as $950, $200k, $1.27M; three digits at least."""
    size = abs(amount)
    sign = "\u2212" if amount < 0 and round(size) else ""
    if size < _THOUSAND - 0.5:
        return f"{sign}${size:.0f}"
    if size < _MILLION - 500:  # what would round to $1000k
        return f"{sign}${_digits(size / _THOUSAND)}k"
    return f"{sign}${size / _MILLION:.2f}M"


def round_dollars(amount: float) -> str:
    """Return an amount in dollars without zeros behind the point, for ticks: $2.5M, $5M."""
    words = dollars(amount)
    return f"{words[:-1].rstrip('0').rstrip('.')}M" if words.endswith("M") else words


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
