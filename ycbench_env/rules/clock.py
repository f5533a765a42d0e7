"""Calendar and business hours on integer microseconds since 1970-01-01.

Source: Y-3. Day numbers count from 1970-01-01, a Thursday. ``open_us`` and ``close_us`` are offsets within a day.
"""

from typing import NamedTuple

from ycbench_env.rules.number import round_half_even

HOUR_US = 3_600_000_000
DAY_US = 86_400_000_000
_MONDAY_OFFSET = 3  # day 0 is a Thursday


class Date(NamedTuple):
    """A day of the proleptic Gregorian calendar."""

    year: int
    month: int
    day: int


def day_from_civil(year: int, month: int, day: int) -> int:
    """Return the day number of a calendar date. Source: Y-3.1."""
    shifted = year - 1 if month <= 2 else year  # years start in March, so that a leap day comes last
    month_index = (month + 9) % 12
    day_of_year = (153 * month_index + 2) // 5 + day - 1
    return 365 * shifted + shifted // 4 - shifted // 100 + shifted // 400 + day_of_year - 719_468


def civil_from_day(day: int) -> Date:
    """Return the calendar date of a day number. Source: Y-3.1."""
    era, day_of_era = divmod(day + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_index = (5 * day_of_year + 2) // 153
    month = month_index + 3 if month_index < 10 else month_index - 9
    year = era * 400 + year_of_era + (1 if month <= 2 else 0)
    return Date(year, month, day_of_year - (153 * month_index + 2) // 5 + 1)


def add_years(day: int, years: int) -> int:
    """Return the same date ``years`` later; 29 February becomes the 28th where there is none. Source: Y-3.1."""
    date = civil_from_day(day)
    year = date.year + years
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if date.month == 2 and date.day == 29 and not leap:
        return day_from_civil(year, 2, 28)
    return day_from_civil(year, date.month, date.day)


def is_weekday(day: int) -> bool:
    """Return whether a day number is Monday to Friday. Source: Y-3.1."""
    return (day + _MONDAY_OFFSET) % 7 < 5


def _next_weekday(day: int) -> int:
    """Return the first weekday on or after a day number. Source: Y-3.2, Y-3.3."""
    weekday = (day + _MONDAY_OFFSET) % 7
    return day if weekday < 5 else day + 7 - weekday


def next_business_instant(time_us: int, open_us: int, close_us: int) -> int:
    """Return the first business instant at or after a time; the end of a day counts as closed. Source: Y-3.2."""
    day, offset = divmod(time_us, DAY_US)
    if is_weekday(day) and offset < close_us:
        return time_us if offset >= open_us else day * DAY_US + open_us
    return _next_weekday(day + 1) * DAY_US + open_us


def _add_weekdays(day: int, count: int) -> int:
    """Return the weekday that comes ``count`` weekdays after a weekday. Source: Y-3.2."""
    weeks, rest = divmod(count, 5)
    over_weekend = (day + _MONDAY_OFFSET) % 7 + rest >= 5
    return day + 7 * weeks + rest + (2 if over_weekend else 0)


def add_business(time_us: int, num: int, den: int, open_us: int, close_us: int) -> int:
    """Return the instant at which ``num / den`` microseconds of business time have passed since ``time_us``.

    A sum that fills a day ends at its closing time. What is spent on the last day becomes whole microseconds, half-way
    cases even. Source: Y-3.2.
    """
    start_us = next_business_instant(time_us, open_us, close_us)
    day = start_us // DAY_US
    today_us = day * DAY_US + close_us - start_us
    if num <= today_us * den:
        return start_us + round_half_even(num, den)
    rest = num - today_us * den
    workday = (close_us - open_us) * den
    whole_days = -(-rest // workday) - 1  # one less when it divides, to land on an end of day
    day = _add_weekdays(day, whole_days + 1)
    return day * DAY_US + open_us + round_half_even(rest - whole_days * workday, den)


def _weekdays_before(day: int) -> int:
    """Return how many weekdays lie before a day number, counted from a fixed Monday. Source: Y-6."""
    weeks, rest = divmod(day + _MONDAY_OFFSET, 7)
    return 5 * weeks + min(rest, 5)


def _business_us_before(time_us: int, open_us: int, close_us: int) -> int:
    """Return the business time before a time, counted from a fixed Monday. Source: Y-6, documents' rules."""
    day, offset = divmod(time_us, DAY_US)
    today_us = min(max(offset, open_us), close_us) - open_us if is_weekday(day) else 0
    return _weekdays_before(day) * (close_us - open_us) + today_us


def business_us_between(start_us: int, end_us: int, open_us: int, close_us: int) -> int:
    """Return the business time from start to end, the inverse of ``add_business``. Source: Y-6, documents' rules."""
    return _business_us_before(end_us, open_us, close_us) - _business_us_before(start_us, open_us, close_us)


def until_midnight_us_between(start_us: int, end_us: int, open_us: int, close_us: int) -> int:
    """Return the time that the public implementation counts from start to end.

    Every weekday but the last counts on until midnight: 15 hours for a whole one from 9 to 24. Source: Y-6, reference
    rules.
    """
    first_day, first_offset = divmod(start_us, DAY_US)
    last_day, last_offset = divmod(end_us, DAY_US)
    begin_us = max(first_offset, open_us)
    if first_day == last_day:
        return max(0, min(last_offset, close_us) - begin_us) if is_weekday(last_day) else 0
    first_us = DAY_US - begin_us if is_weekday(first_day) else 0
    between_us = (_weekdays_before(last_day) - _weekdays_before(first_day + 1)) * (DAY_US - open_us)
    last_us = max(0, min(last_offset, close_us) - open_us) if is_weekday(last_day) else 0
    return first_us + between_us + last_us


def payroll_instants(start_us: int, horizon_us: int, open_us: int) -> list[int]:
    """Return all payroll instants: first weekdays of months at workday start, strictly between start and horizon.

    Source: Y-3.3.
    """
    first = civil_from_day(start_us // DAY_US)
    month = first.year * 12 + first.month - 1
    instants: list[int] = []
    while True:
        instant_us = _next_weekday(day_from_civil(month // 12, month % 12 + 1, 1)) * DAY_US + open_us
        if instant_us >= horizon_us:
            return instants
        if instant_us > start_us:
            instants.append(instant_us)
        month += 1
