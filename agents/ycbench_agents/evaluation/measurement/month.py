"""The calendar months of a run."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from ycbench_env.types import Calendar

__all__ = ["Month", "months_of", "sim_instant"]

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 -- simulated time has no zone
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_DECEMBER: Final = 12


@attrs.frozen
class Month:
    """One month.

    Args:
        label: YYYY-MM.
        end_us: Its end, exclusive, in microseconds of simulated time; of the last one just after the horizon.
    """

    label: str
    end_us: int


def sim_instant(time_us: int) -> dt.datetime:
    """Return simulated time as a date and hour without a zone."""
    return _EPOCH + time_us * _MICROSECOND


def months_of(calendar: Calendar) -> tuple[Month, ...]:
    """Return the calendar months from the start to the horizon.

    The morning of the horizon's day belongs to the day before: no work is done and no payroll paid in it, and a year
    from 1 January has twelve months.
    """
    first, end = sim_instant(calendar.start_us), sim_instant(calendar.horizon_us).date()
    year, month = first.year, first.month
    months: list[Month] = []
    while True:
        label = f"{year:04}-{month:02}"
        year, month = (year + 1, 1) if month == _DECEMBER else (year, month + 1)
        if dt.date(year, month, 1) >= end:
            return (*months, Month(label, calendar.horizon_us + 1))
        months.append(Month(label, (dt.datetime(year, month, 1) - _EPOCH) // _MICROSECOND))  # noqa: DTZ001 -- as above
