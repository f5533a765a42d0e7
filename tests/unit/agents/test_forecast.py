"""Forecasts of policies against the rules' own clock."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.scripted.answers import Employee
from ycbench_agents.scripted.forecast import add_business_hours, business_hours, hours_of_work, team_rate

FRIDAY = dt.datetime.fromisoformat("2025-01-03T17:00")
MONDAY = dt.datetime.fromisoformat("2025-01-06T10:00")

instants = st.integers(0, 365 * 24 * 60).map(lambda minutes: FRIDAY + dt.timedelta(minutes=minutes))


def member(name: str, **rates: float) -> Employee:
    return Employee(name=name, salary_cents=1, rates=rates, active_tasks=())


def test_two_hours_from_friday_five_end_on_monday_ten() -> None:
    assert add_business_hours(FRIDAY, 2) == MONDAY
    assert business_hours(FRIDAY, MONDAY) == 2


def test_work_that_fills_the_day_ends_at_its_closing() -> None:
    assert add_business_hours(FRIDAY, 1) == FRIDAY.replace(hour=18)
    assert add_business_hours(FRIDAY.replace(hour=18), 0) == MONDAY.replace(hour=9)


def test_hours_between_are_none_backwards() -> None:
    assert business_hours(MONDAY, FRIDAY) == 0


@given(instants, st.integers(0, 60 * 500))
def test_hours_between_undo_adding(start: dt.datetime, minutes: int) -> None:
    assert business_hours(start, add_business_hours(start, minutes / 60)) == pytest.approx(minutes / 60, abs=1e-6)


def test_four_best_of_a_team_count() -> None:
    team = [member(f"Emp_{number}", training=float(number)) for number in range(1, 7)]
    assert team_rate(team, "training") == 6 + 5 + 4 + 3
    assert team_rate(team, "training", tasks_each=2) == 9
    assert team_rate(team, "research") == 0


def test_the_slowest_domain_decides() -> None:
    team = [member("Emp_1", training=2.0, research=1.0)]
    assert hours_of_work((("training", 10.0), ("research", 8.0)), team) == 8
    assert hours_of_work((("inference", 1.0),), team) == float("inf")
    assert hours_of_work((), team) == 0
