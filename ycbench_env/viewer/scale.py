"""Axes of the funds chart: round amounts, first days of months."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.units import CENTS_PER_DOLLAR, date_of, micros_of_date

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["FundsScale", "funds_scale", "month_ticks", "share"]

# Amounts in hundredths of a power of ten, and the distance of ticks on an axis that reaches so far.
_STEPS: Final = ((100, 25), (200, 50), (400, 100), (800, 200), (1000, 250))
_SMALLEST_CENTS: Final = 1000 * CENTS_PER_DOLLAR  # so far the axis of a company without money reaches
_HEADROOM: Final = 1.03  # the curve stays off the upper edge
_BELOW_ZERO: Final = 0.12  # part of the height under the zero line that is always there, for payroll marks and debts
_MOST_MONTHS: Final = 13
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_YEAR: Final = 12
_MONTH_STEPS: Final = (1, 2, 3, 6, 12, 24, 60, 120, 600, 10**6)


def share(value: float, full: float) -> float:
    """Return which part of a bar is filled, from 0 to 1; nothing of a bar that stands for nothing."""
    return min(max(value / full, 0.0), 1.0) if full > 0 else 0.0


@attrs.frozen
class FundsScale:
    """An axis of funds in cents: its ends and ticks."""

    low: float
    high: int
    ticks: tuple[int, ...]


def funds_scale(funds_cents: Sequence[int]) -> FundsScale:
    """Return an axis that has room for all the funds of an episode so far.

    It moves in few and large steps and never shrinks while an episode goes on, so a film of it is steady.
    """
    most, least = max(*funds_cents, 0), min(*funds_cents, 0)
    step = _step(max(most, -least, _SMALLEST_CENTS) * _HEADROOM)
    high = step * max(math.ceil(most * _HEADROOM / step), 1)
    low = min(-high * _BELOW_ZERO, least * _HEADROOM)
    return FundsScale(low, high, tuple(step * place for place in range(math.ceil(low / step), high // step + 1)))


def _step(amount: float) -> int:
    """Return the distance of ticks that suits an amount: about four of them reach it."""
    power = 10 ** (len(str(int(amount))) - 1)
    return next(power * step // 100 for top, step in _STEPS if top * power >= amount * 100)


def month_ticks(start_us: int, horizon_us: int) -> tuple[tuple[int, str], ...]:
    """Return the ticks of a horizon as (time in microseconds, label): months, or years in a long one."""
    firsts = list(_firsts_of_months(date_of(start_us), date_of(horizon_us)))
    step = next(step for step in _MONTH_STEPS if len(firsts) <= step * _MOST_MONTHS)
    chosen = [first for first in firsts if (first.year * _YEAR + first.month - 1) % step == 0]
    return tuple(
        (max(micros_of_date(first), start_us), _month_label(first, step, with_year=place == 0 or first.month == 1))
        for place, first in enumerate(chosen)
    )


def _month_label(first: dt.date, step: int, *, with_year: bool) -> str:
    if step >= _YEAR:
        return str(first.year)
    return f"{_MONTHS[first.month - 1]} {first.year}" if with_year else _MONTHS[first.month - 1]


def _firsts_of_months(start: dt.date, end: dt.date) -> Iterator[dt.date]:
    """Yield the first days of months from one day to another, both included."""
    begin = start.year * _YEAR + start.month - 1 + (start.day > 1)
    for number in range(begin, end.year * _YEAR + end.month):
        yield dt.date(number // _YEAR, number % _YEAR + 1, 1)
