from __future__ import annotations

import attrs

from ycbench_env.observation.dashboard import Dashboard, EmployeeLine, TaskLine, dashboard
from ycbench_env.types.state import State
from ycbench_env.viewer.summary import TierCount, count_tasks, funds_samples, latest_done, open_tasks, staff_by_tier


def _task(name: str, status: str, deadline_us: int = 0) -> TaskLine:
    return TaskLine(name, "Nexus AI", status, ("research",), 0.0, deadline_us, 0, ())


def _board(state: State) -> Dashboard:
    tasks = (
        _task("f", "cancelled"),
        _task("e", "planned", 1),
        _task("d", "active", 9),
        _task("c", "completed_fail"),
        _task("b", "active", 5),
        _task("a", "completed_success"),
    )
    return attrs.evolve(dashboard(state), tasks=tasks)


def test_open_tasks_are_active_before_planned_each_by_deadline(start: State) -> None:
    assert [task.task_id for task in open_tasks(_board(start))] == ["b", "d", "e"]


def test_tasks_that_are_over_come_newest_first(start: State) -> None:
    assert [task.task_id for task in latest_done(_board(start), 2)] == ["f", "c"]
    assert latest_done(_board(start), 0) == ()


def test_tasks_are_counted_by_status(start: State) -> None:
    assert count_tasks(_board(start), "active") == 2


def test_staff_is_counted_by_tier(start: State) -> None:
    staff = (
        EmployeeLine("Emp_1", "senior", 10, 0),
        EmployeeLine("Emp_2", "junior", 3, 2),
        EmployeeLine("Emp_3", "junior", 4, 0),
    )
    assert staff_by_tier(attrs.evolve(dashboard(start), employees=staff)) == (
        TierCount("junior", 2, 1, 7),
        TierCount("mid", 0, 0, 0),
        TierCount("senior", 1, 0, 10),
    )


def test_samples_of_funds_hold_until_the_next_booking_and_end_now(start: State) -> None:
    board = attrs.evolve(
        dashboard(start),
        start_us=0,
        horizon_us=100,
        now_us=45,
        funds_history=((0, 10), (15, 30), (15, 20), (44, -5), (45, -5)),
    )
    assert funds_samples(board, 10) == [10, 20, 20, 20, -5, None, None, None, None, None]


def test_the_first_and_last_instant_have_funds(start: State) -> None:
    board = attrs.evolve(dashboard(start), start_us=0, horizon_us=100, now_us=0, funds_history=((0, 7), (0, 7)))
    assert funds_samples(board, 2) == [7, None]
    assert funds_samples(attrs.evolve(board, now_us=100), 2) == [7, 7]
