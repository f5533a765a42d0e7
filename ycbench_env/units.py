"""Units of the simulation and their outer spellings: microseconds to ISO text, stored integers to decimals.

Inside the world money is integer cents, time is integer microseconds since 1970-01-01T00:00:00 without a zone, and
levels are integers: ``_milli`` has 3 decimal places, ``_e4`` has 4. Source: Y-3.1, Y-7.
"""

import datetime as dt
from fractions import Fraction
from typing import Final

EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 -- simulated time has no zone (Y-3.1)
CENTS_PER_DOLLAR: Final = 100
_DAY_US: Final = 86_400_000_000


def iso_time(time_us: int) -> str:
    """Return simulated time as ISO 8601 without a zone; the fraction is left out when it is 0."""
    return (EPOCH + dt.timedelta(microseconds=time_us)).isoformat()


def date_of(time_us: int) -> dt.date:
    """Return the calendar day of simulated time."""
    return (EPOCH + dt.timedelta(microseconds=time_us)).date()


def micros_of_date(date: dt.date) -> int:
    """Return midnight at the start of a day, in microseconds of simulated time."""
    return (date.toordinal() - EPOCH.toordinal()) * _DAY_US


def decimal_ratio(value: float) -> tuple[int, int]:
    """Return (numerator, denominator) of a parameter as it is written in decimal, so that 1.4 is 7/5.

    The nearest double of 1.4 is no exact 7/5; where the rules ask for exact arithmetic (Y-7) the written figure counts.
    """
    return Fraction(repr(value)).as_integer_ratio()
