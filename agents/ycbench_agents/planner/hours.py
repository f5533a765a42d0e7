"""Working time in hours: what a calendar leaves, under either way of counting progress (Y-3, Y-6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ycbench_env.types import Calendar

__all__ = ["DAY_US", "HOUR_US", "hours_between", "midnight_factor", "weekdays_between"]

HOUR_US: Final = 3_600_000_000
DAY_US: Final = 24 * HOUR_US
_DAY_HOURS: Final = 24
_WEEK: Final = 7
_WORKDAYS: Final = 5
_MONDAY_OFFSET: Final = 3  # day 0, 1970-01-01, is a Thursday


def weekdays_between(first_day: int, last_day: int) -> int:
    """Return how many weekdays lie from a day number on and before another one."""
    return _weekdays_before(last_day) - _weekdays_before(first_day)


def _weekdays_before(day: int) -> int:
    weeks, rest = divmod(day + _MONDAY_OFFSET, _WEEK)
    return _WORKDAYS * weeks + min(rest, _WORKDAYS)


def hours_between(calendar: Calendar, start_us: int, end_us: int, close_us: int | None = None) -> float:
    """Return the hours of working days from one instant to a later one.

    Args:
        calendar: Calendar of the episode.
        start_us: The first instant.
        end_us: The second instant.
        close_us: When a day ends, offset within it; None for the end of the workday.
    """
    close = calendar.close_us if close_us is None else close_us
    return (_us_before(calendar, end_us, close) - _us_before(calendar, start_us, close)) / HOUR_US


def _us_before(calendar: Calendar, time_us: int, close_us: int) -> int:
    day, offset = divmod(time_us, DAY_US)
    whole = _weekdays_before(day) * (close_us - calendar.open_us)
    if (day + _MONDAY_OFFSET) % _WEEK >= _WORKDAYS:
        return whole
    return whole + min(max(offset, calendar.open_us), close_us) - calendar.open_us


def midnight_factor(calendar: Calendar) -> float:
    """Return how much longer a workday is when it counts until midnight."""
    return (_DAY_HOURS * HOUR_US - calendar.open_us) / (calendar.close_us - calendar.open_us)
