"""Cells of tables: what people read, and what sorting goes by."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from ycbench_agents.evaluation.statistic import Interval

__all__ = [
    "NOTHING",
    "Cell",
    "clean",
    "cost_cell",
    "count_cell",
    "duration_cell",
    "exact_dollars",
    "interval_cell",
    "mean_cell",
    "money_cell",
    "number_cell",
    "p_cell",
    "percent_cell",
    "short_dollars",
    "text_cell",
]

_CENTS: Final = 100
_MINUS: Final = "\u2212"
_NONE: Final = "\u2013"
_SMALLEST_P: Final = 0.0001
_UNITS_S: Final = (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 0.001))
_MULTIPLES: Final = (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3))
_SHOWN_DIGITS: Final = 3


def clean(text: str) -> str:
    """Return a text on one line, with a sign in place of what cannot be shown."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in " ".join(text.split()))


@attrs.frozen
class Cell:
    """A cell.

    Args:
        text: What it says, on one line.
        order: What sorting goes by, a number or a text; None comes last in either direction.
        note: Why there is nothing, or the exact figure; shown when somebody points at it.
    """

    text: str = attrs.field(converter=clean)
    order: float | str | None = None
    note: str = attrs.field(default="", converter=clean)

    @property
    def is_nothing(self) -> bool:
        """Whether it is the dash of what is not defined."""
        return self.text == _NONE


NOTHING: Final = Cell(_NONE)
"""The cell of what is not defined; its column says why."""


def text_cell(text: str, note: str = "") -> Cell:
    """Return a cell that is sorted by its words."""
    return Cell(text, text.casefold(), note)


def count_cell(count: int | None, note: str = "") -> Cell:
    """Return a whole number."""
    return Cell(_NONE, None, note) if count is None else Cell(f"{count:,}", count, note)


def number_cell(number: float | None, digits: int = 2, note: str = "") -> Cell:
    """Return a number with so many digits behind the point."""
    return Cell(_NONE, None, note) if number is None else Cell(_signed(number, f"{{:,.{digits}f}}"), number, note)


def percent_cell(fraction: float | None, note: str = "") -> Cell:
    """Return a share in percent; with two digits more where it would look like none or all, and is not."""
    if fraction is None:
        return Cell(_NONE, None, note)
    percent = 100 * fraction
    is_exact = percent in {0.0, 100.0} or round(percent) not in {0, 100}
    return Cell(_signed(percent, "{:.0f}%" if is_exact else "{:.2f}%"), fraction, note)


def money_cell(cents: float | None, note: str = "") -> Cell:
    """Return an amount in cents as dollars in little room, with the exact one as note."""
    if cents is None:
        return Cell(_NONE, None, note)
    exact = exact_dollars(cents)
    return Cell(short_dollars(cents), cents, f"{exact}; {note}" if note else exact)


def interval_cell(interval: Interval) -> Cell:
    """Return an interval of amounts in cents, sorted by its lower end."""
    if interval.low is None or interval.high is None:
        return Cell(_NONE, None, interval.reason or "")
    text = f"{short_dollars(interval.low)} to {short_dollars(interval.high)}"
    return Cell(text, interval.low, interval.reason or "")


def p_cell(p: float | None, note: str = "") -> Cell:
    """Return a p-value."""
    if p is None:
        return Cell(_NONE, None, note)
    return Cell(f"{p:.4f}" if p >= _SMALLEST_P else f"{p:.0e}", p, note)


def mean_cell(mean: float | None, deviation: float | None, digits: int = 2, note: str = "") -> Cell:
    """Return a mean and the standard deviation behind it, where there is one."""
    if mean is None or deviation is None:
        return number_cell(mean, digits, note)
    return Cell(f"{mean:,.{digits}f} \u00b1 {deviation:,.{digits}f}", mean, note)


def cost_cell(mean_usd: float | None, deviation_usd: float | None) -> Cell:
    """Return a mean cost in dollars, as ``mean_cell``: to the cent, below a dollar to three digits that count."""
    digits = 2
    if mean_usd:
        digits = max(digits, _SHOWN_DIGITS - 1 - math.floor(math.log10(abs(mean_usd))))
    return mean_cell(mean_usd, deviation_usd, digits)


def duration_cell(mean_s: float | None, deviation_s: float | None) -> Cell:
    """Return a mean duration, in seconds, in the largest unit that it has one of; with the deviation, as ``mean_cell``.

    Durations are of milliseconds for scripts and of hours for language models; sorting goes by seconds.
    """
    if mean_s is None:
        return NOTHING
    name, unit_s = next((unit for unit in _UNITS_S if mean_s >= unit[1]), _UNITS_S[-1])
    figure = mean_cell(mean_s / unit_s, None if deviation_s is None else deviation_s / unit_s)
    return Cell(f"{figure.text} {name}", mean_s)


def _signed(number: float, form: str) -> str:
    """Return a number in a form, with a proper minus sign and no minus before a zero."""
    size = form.format(abs(number))
    return f"{_MINUS}{size}" if number < 0 and any(sign in "123456789" for sign in size) else size


def exact_dollars(cents: float) -> str:
    """Return an amount in cents as $1,234.56, rounded half to even where it is no whole cent."""
    whole, rest = divmod(abs(round(cents)), _CENTS)
    return f"{_MINUS if round(cents) < 0 else ''}${whole:,}.{rest:02d}"


def short_dollars(cents: float) -> str:
    """Return an amount in cents as $950, $84.0k, $1.27M, $9.00B: three digits from a thousand dollars on."""
    dollars = cents / _CENTS
    # Rounded first, so that what is nearly a million is $1.00M and not $1000k.
    size = float(f"{abs(dollars):.{_SHOWN_DIGITS - 1}e}")
    letter, unit = next((each for each in _MULTIPLES if size >= each[1]), ("", 1.0))
    if not letter:
        return _signed(dollars, "${:.0f}")
    behind = max(0, _SHOWN_DIGITS - 1 - math.floor(math.log10(size / unit)))
    return f"{_MINUS if dollars < 0 else ''}${size / unit:,.{behind}f}{letter}"
