"""Calendar, business hours, payrolls. Source: Y-3, Y-6; B25."""

import datetime as dt

import pytest

from ycbench_env.rules.clock import (
    DAY_US,
    HOUR_US,
    Date,
    add_business,
    add_years,
    civil_from_day,
    next_business_instant,
    payroll_instants,
    until_midnight_us_between,
)
from ycbench_env.testing.tiny import instant
from ycbench_env.units import iso_time

NINE, EIGHTEEN = 9 * HOUR_US, 18 * HOUR_US


def add(text: str, hours: float) -> str:
    return iso_time(add_business(instant(text), round(hours * HOUR_US), 1, NINE, EIGHTEEN))


def reference_hours(start: str, end: str) -> float:
    return until_midnight_us_between(instant(start), instant(end), NINE, EIGHTEEN) / HOUR_US


def payrolls(start: str, years: int = 1) -> list[str]:
    start_us = instant(start)
    horizon_us = add_years(start_us // DAY_US, years) * DAY_US + start_us % DAY_US
    return [iso_time(time_us) for time_us in payroll_instants(start_us, horizon_us, start_us % DAY_US)]


# ------------------------------------------------------------------------------------------------- the calendar


@pytest.mark.parametrize(
    ("start", "years", "end"),
    [
        ("2025-01-01", 1, "2026-01-01"),
        ("2024-02-29", 1, "2025-02-28"),  # there is no 29 February 2025
        ("2024-02-29", 4, "2028-02-29"),
        ("1896-02-29", 4, "1900-02-28"),  # a century is no leap year
        ("1996-02-29", 4, "2000-02-29"),  # but every fourth century is
        ("2024-01-29", 1, "2025-01-29"),
        ("2024-02-28", 1, "2025-02-28"),
    ],
)
def test_the_same_date_some_years_later_falls_back_to_the_28th_of_february(start: str, years: int, end: str) -> None:
    first = dt.date.fromisoformat(start).toordinal() - dt.date(1970, 1, 1).toordinal()
    assert Date(*dt.date.fromisoformat(end).timetuple()[:3]) == civil_from_day(add_years(first, years))


# ------------------------------------------------------------------------------------- the next business instant


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("2025-01-01 09:00", "2025-01-01T09:00:00"),
        ("2025-01-01 03:00", "2025-01-01T09:00:00"),
        ("2025-01-01 12:34:56.789012", "2025-01-01T12:34:56.789012"),
        ("2025-01-01 17:59:59.999999", "2025-01-01T17:59:59.999999"),
        ("2025-01-01 18:00", "2025-01-02T09:00:00"),  # the end of the day is closed
        ("2025-01-03 18:00", "2025-01-06T09:00:00"),  # a Friday
        ("2025-01-03 23:00", "2025-01-06T09:00:00"),
        ("2025-01-04 12:00", "2025-01-06T09:00:00"),  # a Saturday
        ("2025-01-05 00:00", "2025-01-06T09:00:00"),  # a Sunday
        ("2025-01-06 00:00", "2025-01-06T09:00:00"),
    ],
)
def test_the_next_business_instant_counts_the_end_of_a_day_as_closed(time: str, expected: str) -> None:
    assert iso_time(next_business_instant(instant(time), NINE, EIGHTEEN)) == expected
    assert add(time, 0) == expected  # spending no hours gives the next business instant


def test_the_last_day_is_rounded_to_the_nearest_microsecond_with_ties_to_even() -> None:
    for num, den, micros in ((5, 2, 2), (7, 2, 4), (8, 3, 3), (1, 3, 0)):
        assert add_business(0, num, den, NINE, EIGHTEEN) == NINE + micros


# ------------------------------------------------------------------------------------------ accrual: reference rules


@pytest.mark.parametrize(
    ("start", "end", "hours"),
    [
        ("2025-01-01 09:00", "2025-01-01 18:00", 9),
        ("2025-01-01 09:00", "2025-01-01 23:00", 9),  # the last piece ends at 18:00
        ("2025-01-01 19:00", "2025-01-01 23:00", 0),
        ("2025-01-01 05:00", "2025-01-01 08:00", 0),
        ("2025-01-01 09:00", "2025-01-02 00:00", 15),  # a piece that ends at midnight counts on until 24:00
        ("2025-01-01 00:00", "2025-01-02 00:00", 15),
        ("2025-01-01 20:00", "2025-01-02 00:00", 4),  # also when it starts in the evening
        ("2025-01-01 09:00", "2025-01-02 10:00", 16),  # 15 + 1
        ("2025-01-01 09:00", "2025-01-02 05:00", 15),
        ("2025-01-01 09:00", "2025-01-02 23:00", 24),  # the last piece ends at 18:00
        ("2025-01-01 09:00", "2025-01-03 18:00", 39),  # 15 + 15 + 9
        ("2025-01-03 09:00", "2025-01-06 09:00", 15),  # Friday; Saturday and Sunday count 0
        ("2025-01-03 09:00", "2025-01-06 10:00", 16),
        ("2025-01-03 09:00", "2025-01-04 15:00", 15),  # the last piece is a Saturday
        ("2025-01-04 09:00", "2025-01-04 15:00", 0),
        ("2025-01-04 09:00", "2025-01-06 12:00", 3),
        ("2025-01-05 09:00", "2025-01-06 00:00", 0),
        ("2025-01-01 09:00", "2025-01-08 18:00", 5 * 15 + 9),  # We Th Fr Mo Tu whole, Wednesday until 18:00
        ("2025-01-01 12:00", "2025-01-01 12:00", 0),
    ],
)
def test_reference_hours_count_every_weekday_but_the_last_until_midnight(start: str, end: str, hours: float) -> None:
    assert reference_hours(start, end) == hours


# --------------------------------------------------------------------------------------------------------- payrolls


def test_the_default_year_has_eleven_payrolls_from_the_third_of_february() -> None:
    # 1 January 2025 is the start itself and 1 January 2026 the horizon itself: neither is charged.
    assert payrolls("2025-01-01 09:00") == [
        "2025-02-03T09:00:00",  # the 1st is a Saturday
        "2025-03-03T09:00:00",  # the 1st is a Saturday
        "2025-04-01T09:00:00",
        "2025-05-01T09:00:00",
        "2025-06-02T09:00:00",  # the 1st is a Sunday
        "2025-07-01T09:00:00",
        "2025-08-01T09:00:00",
        "2025-09-01T09:00:00",
        "2025-10-01T09:00:00",
        "2025-11-03T09:00:00",  # the 1st is a Saturday
        "2025-12-01T09:00:00",
    ]


def test_a_payroll_at_the_very_start_or_horizon_is_not_charged() -> None:
    # Monday 3 February 2025 is a first weekday; a year later, 3 February 2026, the first weekday was the 2nd.
    assert payrolls("2025-02-03 09:00")[0] == "2025-03-03T09:00:00"
    assert payrolls("2025-02-03 09:00")[-1] == "2026-02-02T09:00:00"
    # 1 April 2025 to 1 April 2026 (a Wednesday): the horizon is a payroll instant and left out.
    assert payrolls("2025-04-01 09:00")[-1] == "2026-03-02T09:00:00"
