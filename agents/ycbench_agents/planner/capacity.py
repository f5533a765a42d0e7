"""How much work a staff can do at most: hours that count, and rates that grow no faster than they can.

Work is counted in units of a task's largest domain. An employee who is on several tasks splits its rate, and all
domains of a task progress side by side; so an hour of an employee adds at most its best rate to that sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.planner.hours import DAY_US, hours_between
from ycbench_agents.planner.offer_limits import highest

if TYPE_CHECKING:
    from ycbench_env import State

__all__ = ["Capacity", "capacity_of"]

_E4: Final = 10_000
_MOST_STEPS: Final = 60
_STORED: Final = 1e-4  # a stored rate may be rounded up by half of it


@attrs.frozen
class Capacity:
    """Work that can be done at most.

    Args:
        ends_us: Ends of the periods that payrolls cut the episode into, the horizon last.
        hours: Counted hours from the start until each of these.
        work: Units that can be done from the start until each of these.
    """

    ends_us: tuple[int, ...]
    hours: tuple[float, ...]
    work: tuple[float, ...]


def capacity_of(start: State, least_work: float) -> Capacity:
    """Return the capacity of an episode.

    Args:
        start: Its first state.
        least_work: Units that every success takes at least, positive.
    """
    calendar = start.calendar
    # Under until_midnight no weekday counts longer than from the workday's start until midnight.
    close_us = DAY_US if start.config.world.accrual == "until_midnight" else None
    ends = (*calendar.payrolls_us, calendar.horizon_us)
    hours = [hours_between(calendar, calendar.start_us, end_us, close_us) for end_us in ends]
    stages = _rate_stages(start)
    return Capacity(ends, tuple(hours), tuple([_work_until(some, stages, least_work) for some in hours]))


def _work_until(hours: float, stages: list[float], least_work: float) -> float:
    """Return the work of so many hours, when stage k begins once the work of k successes is done."""
    work = 0.0
    for rate in stages[:-1]:
        if rate <= 0 or hours * rate <= least_work:
            return work + hours * rate
        hours -= least_work / rate
        work += least_work
    return work + hours * stages[-1]


def _rate_stages(start: State) -> list[float]:
    """Return the highest summed rate after 0, 1, 2... successes; the last holds for ever."""
    world = start.config.world
    most = highest(world.dist.skill_boost)
    boost = most + _STORED if most > 0 else 0.0
    rates = [max(employee.rates_e4) / _E4 for employee in start.employees]
    per_success = min(len(rates), world.team_size) * len(start.prestige_milli)
    steps = [_steps(rate, boost, world.skill_rate_max_e4 / _E4) for rate in rates]
    total = sum(len(each) for each in steps)
    stages: list[float] = []
    for successes in range(total + 1):
        # Any way to hand the boosts out raises the sum by no more than the largest steps together.
        allowed = sorted([step for each in steps for step in each[:successes]], reverse=True)
        stages.append(_at_work(start, sum(rates) + sum(allowed[: successes * per_success])))
        if successes >= max(map(len, steps), default=0) and successes * per_success >= total:
            break
    return stages


def _steps(rate: float, boost: float, limit: float) -> list[float]:
    """Return by how much the best rate of an employee rises with each success, until it is at the limit."""
    steps: list[float] = []
    while boost > 0 and 0 < rate < limit and len(steps) < _MOST_STEPS:
        raised = min(limit, rate * (1 + boost) + _STORED)
        steps.append(raised - rate)
        rate = raised
    if boost > 0 and 0 < rate < limit:
        steps.append(limit - rate)
    return steps


def _at_work(start: State, rate: float) -> float:
    """Return a summed rate, less what a limit on open tasks leaves idle: of a team, so many count in a domain."""
    world = start.config.world
    limit = world.max_open_tasks
    if limit is None:
        return rate
    best = max([max(employee.rates_e4) / _E4 for employee in start.employees], default=0.0)
    return min(rate, limit * world.team_size * max(best, world.skill_rate_max_e4 / _E4))
