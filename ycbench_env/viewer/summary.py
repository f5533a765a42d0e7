"""What the views choose from a dashboard and count in it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.vocabulary import TIERS

if TYPE_CHECKING:
    from ycbench_env.observation.dashboard import Dashboard, TaskLine

__all__ = ["TierCount", "count_tasks", "funds_samples", "latest_done", "open_tasks", "staff_by_tier"]

_OPEN: Final = ("active", "planned")


@attrs.frozen
class TierCount:
    """The staff of a tier: how many, how many of them on an active task, their salaries a month in cents."""

    tier: str
    employees: int
    busy: int
    salary_cents: int


def open_tasks(board: Dashboard) -> tuple[TaskLine, ...]:
    """Return the tasks still to be done: active before planned, each by deadline."""
    unfinished = [task for task in board.tasks if task.status in _OPEN]
    return tuple(sorted(unfinished, key=lambda task: (task.status != "active", task.deadline_us)))


def latest_done(board: Dashboard, count: int) -> tuple[TaskLine, ...]:
    """Return the tasks that are over, succeeded or not, the one accepted last first; ``count`` at most."""
    done = [task for task in board.tasks if task.status not in _OPEN]
    return tuple(done[:count])


def count_tasks(board: Dashboard, status: str) -> int:
    """Return how many own tasks are in a status."""
    return sum(task.status == status for task in board.tasks)


def staff_by_tier(board: Dashboard) -> tuple[TierCount, ...]:
    """Return the staff by tier, cheapest tier first."""
    rows: list[TierCount] = []
    for tier in TIERS:
        members = [employee for employee in board.employees if employee.tier == tier]
        busy = sum(employee.active_tasks > 0 for employee in members)
        rows.append(TierCount(tier, len(members), busy, sum(employee.salary_cents for employee in members)))
    return tuple(rows)


def funds_samples(board: Dashboard, count: int) -> list[int | None]:
    """Return the funds in cents at the end of each of ``count`` equal parts of the horizon, None in the future.

    The part that is going on has the funds of now.
    """
    times = [time_us for time_us, _ in board.funds_history]
    span = board.horizon_us - board.start_us
    samples: list[int | None] = []
    for part in range(count):
        begin, end = (board.start_us + span * place // count for place in (part, part + 1))
        place = bisect_right(times, end) - 1
        samples.append(board.funds_history[place][1] if begin <= board.now_us else None)
    return samples
