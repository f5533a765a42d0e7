"""How long work takes and when it ends, by the public rules: business hours, teams, rates."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable
from typing import Final

import numpy as np

from ycbench_agents.scripted.answers import Employee, Work

TEAM_SIZE: Final = 4  # members of a team that count
ASSUMED_RATE: Final = 4.0  # units an hour in every domain, about a middling employee's, where rates are hidden
LEAST_UNITS: Final = 200.0  # of an accepted task, in each domain
TINY: Final = 0.001  # hours or units; keeps work of none from being worth infinitely much
WORKDAY_HOURS: Final = 9.0
HOUR: Final = dt.timedelta(hours=1)
SATURDAY: Final = 5
OPENING: Final = 9
CLOSING: Final = 18


def team_rate(team: Iterable[Employee], domain: str, *, tasks_each: int = 1) -> float:
    """Return the units of work an hour of a team in a domain, each member being on a number of active tasks."""
    rates = sorted((member.rates.get(domain, 0.0) / tasks_each for member in team), reverse=True)
    return math.fsum(rates[:TEAM_SIZE])


def units(work: Work) -> float:
    """Return the units of a task over all of its domains."""
    return math.fsum(each for _, each in work)


def most_units(listed: Work) -> float:
    """Return the units that a listed task has at most once it is accepted, if its client is honest.

    Trust only ever reduces work, but no domain has less than a least amount.
    """
    return math.fsum(max(each, LEAST_UNITS) for _, each in listed)


def hours_of_work(work: Work, team: Iterable[Employee], *, tasks_each: int = 1) -> float:
    """Return the business hours that a team takes: domains progress side by side; infinite if one gets nowhere."""
    hours = 0.0
    for domain, each in work:
        rate = team_rate(team, domain, tasks_each=tasks_each)
        hours = max(hours, each / rate if rate > 0 else float("inf"))
    return hours


def business_hours(start: dt.datetime, end: dt.datetime) -> float:
    """Return the business hours, Monday to Friday 9 to 18, between two instants; 0 when the second is earlier."""
    if end <= start:
        return 0.0
    whole_days = int(np.busday_count(start.date(), end.date()))
    return whole_days * WORKDAY_HOURS + _hours_of_its_day(end) - _hours_of_its_day(start)


def _hours_of_its_day(instant: dt.datetime) -> float:
    """Return the business hours between the start of a day and an instant of it."""
    if instant.weekday() >= SATURDAY:
        return 0.0
    opening = instant.replace(hour=OPENING, minute=0, second=0, microsecond=0)
    return min(max(0.0, (instant - opening) / HOUR), WORKDAY_HOURS)


def add_business_hours(start: dt.datetime, hours: float) -> dt.datetime:
    """Return the instant that lies so many business hours after another.

    Raises:
        OverflowError: It lies beyond the last year of the calendar.
    """
    now, left = start, hours
    while True:
        closing = now.replace(hour=CLOSING, minute=0, second=0, microsecond=0)
        now = max(now, closing.replace(hour=OPENING))
        here = (closing - now) / HOUR if now.weekday() < SATURDAY and now < closing else 0.0
        if here > 0 and left <= here:
            return now + left * HOUR
        left -= here
        now = closing.replace(hour=0) + dt.timedelta(days=1)
