"""Why tasks fail, in the tiny world of conftest.py: 200 units, two of staff at 10 an hour, until Thursday 18:00."""

# ruff: noqa: ANN401 -- the kit comes as a fixture

from collections.abc import Callable
from typing import Any

import pytest

from ycbench_agents import make_policy
from ycbench_agents.evaluation.failures import FAILURE_CAUSES, PAPER_CAUSES, in_time_alone
from ycbench_agents.evaluation.metrics import Meter, measure_run
from ycbench_env.testing import tiny_config
from ycbench_env.types import Assignment

MILESTONE = tiny_config(task_progress_milestones=[0.9])


def played(run: Any) -> tuple[Any, Any]:
    """The worlds in which a run began and ended."""
    meter = Meter(run)
    for turn in run.turns():
        meter.add(turn)
    return meter.start, meter.state


def failures(kit: Any, *turns: str, **changes: object) -> list[tuple[Any, ...]]:
    """The failures of a run as (task, late by hours, cause, counterfactuals)."""
    return [
        (one.task_id, one.late_hours, one.cause, (one.team_alone, one.team_alone_from_accept, one.staff_alone))
        for one in measure_run(kit.record(*turns, **changes)).failures
    ]


def test_a_team_that_would_be_in_time_alone_is_over_committed(kit: Any, start: Callable[..., str]) -> None:
    # Both on both: 5 + 5 units an hour each, 20 hours, Friday 11:00; alone 10 hours.
    both = f"{start('Task-1', 'Emp_1', 'Emp_2')}\n{start('Task-3', 'Emp_1', 'Emp_2')}"
    told = (17.0, "over_committed", (True, True, True))
    assert failures(kit, both, "sim resume") == [("Task-1", *told), ("Task-3", *told)]


def test_a_team_that_is_too_small_is_understaffed_if_everybody_would_have_made_it(
    kit: Any, start: Callable[..., str]
) -> None:
    # Emp_1 alone takes 20 hours, Friday 11:00.
    assert failures(kit, start("Task-1", "Emp_1"), "sim resume") == [
        ("Task-1", 17.0, "understaffed", (False, False, True))
    ]


def test_an_able_team_that_began_too_late_was_dispatched_late(kit: Any, start: Callable[..., str]) -> None:
    # Task-3 takes both until Thursday 10:00; then Task-1 takes 10 of the 8 hours that are left, until Friday 11:00.
    turns = (
        f"task accept --task-id Task-1\n{start('Task-3', 'Emp_1', 'Emp_2')}\nsim resume",
        f"{start('Task-1', 'Emp_1', 'Emp_2', accept=False)}\nsim resume",
    )
    assert failures(kit, *turns) == [("Task-1", 17.0, "late_dispatch", (False, True, False))]


def test_a_task_dispatched_after_its_deadline_could_not_be_in_time(kit: Any, start: Callable[..., str]) -> None:
    turns = (
        start("Task-1", "Emp_1", "Emp_2", dispatch=False),
        *[""] * 4,
    )  # forced on to 3 February, 09:00; done a day later at 10:00
    (failed,) = failures(kit, *turns, "task dispatch --task-id Task-1\nsim resume")
    assert failed == ("Task-1", 24 * 33 - 8.0, "late_dispatch", (False, True, False))


def test_a_team_whose_second_half_joined_too_late_began_late(kit: Any, start: Callable[..., str]) -> None:
    # Emp_1 has 180 units, the milestone, on Thursday 18:00; with Emp_2 the other 20 take until Friday 10:00.
    turns = (f"{start('Task-1', 'Emp_1')}\nsim resume", f"{start('Task-1', 'Emp_2', accept=False, dispatch=False)}")
    assert failures(kit, *turns, "sim resume", config=MILESTONE) == [
        ("Task-1", 16.0, "late_dispatch", (False, True, True))
    ]


def test_members_of_a_team_count_from_when_they_joined(kit: Any, start: Callable[..., str]) -> None:
    # As before, but the milestone, 150 units, is on Thursday 15:00, and with Emp_2 it is done at 17:30, in time.
    turns = (f"{start('Task-1', 'Emp_1')}\nsim resume", f"{start('Task-1', 'Emp_2', accept=False, dispatch=False)}")
    record = kit.record(*turns, "sim resume", config=tiny_config(task_progress_milestones=[0.75]))
    begin, end = played(record)
    (task,) = end.tasks
    assert task.status == "completed_success"
    assert in_time_alone(end, task, begin.employees, begin.calendar.start_us, task.team)
    only_first = task.team[:1]
    assert not in_time_alone(end, task, begin.employees, begin.calendar.start_us, only_first)


def test_a_task_that_nobody_could_have_done_is_out_of_reach(kit: Any, start: Callable[..., str]) -> None:
    # A deadline of one day: 9 hours for the 10 that both need.
    config = tiny_config(deadline_qty_per_day=200.0)
    (failed,) = measure_run(kit.record(start("Task-1", "Emp_1", "Emp_2"), "sim resume", config=config)).failures
    assert (failed.cause, failed.paper_cause) == ("out_of_reach", "incapable_team")
    assert failed.staff_alone_from_accept is False


def test_an_adversarial_clients_task_fails_for_that_whatever_the_team(kit: Any, start: Callable[..., str]) -> None:
    # 800 units by both take 40 hours: four days and 4 hours, Tuesday 7 January 13:00, 115 hours late.
    assert failures(kit, start("Task-2", "Emp_1", "Emp_2"), "sim resume") == [
        ("Task-2", 115.0, "adversarial_client", (None, None, None))
    ]


def test_a_task_of_nobody_can_fail_too(kit: Any, start: Callable[..., str]) -> None:
    record = kit.record(start("Task-1", "Emp_1"), "sim resume", config=tiny_config(num_clients=0))
    (failed,) = measure_run(record).failures
    assert (failed.client, failed.cause, failed.paper_cause) == (None, "understaffed", "incapable_team")


def test_rates_are_those_of_the_dispatch(kit: Any, start: Callable[..., str]) -> None:
    # Task-3 takes both until Thursday 10:00 and raises them to 15 an hour. Alone, Task-1 then takes 200 / 30 hours,
    # until 16:40; at 10 an hour it would be late. Task-2000 takes half of their time, so it is.
    turns = (
        f"task accept --task-id Task-1\n{start('Task-3', 'Emp_1', 'Emp_2')}\nsim resume",
        start("Task-1", "Emp_1", "Emp_2", accept=False),
        f"{start('Task-2000', 'Emp_1', 'Emp_2')}\nsim resume",
    )
    config = tiny_config(dist={"skill_boost": {"type": "constant", "value": 0.5}})
    (failed, *_) = failures(kit, *turns, config=config)
    assert failed[::2] == ("Task-1", "over_committed")
    assert failed[3] == (True, True, True)


def test_where_everybody_from_the_accept_on_would_have_made_it_the_team_was_too_small(
    kit: Any, start: Callable[..., str]
) -> None:
    # Task-3 takes both until Thursday 10:00; then Emp_1 needs 20 hours for Task-1: 8, 9 and 3, until Monday 12:00. Both
    # would have needed 10, from Thursday 10:00 until Friday 11:00, from Wednesday 9:00 until Thursday 10:00.
    turns = (
        f"task accept --task-id Task-1\n{start('Task-3', 'Emp_1', 'Emp_2')}\nsim resume",
        f"{start('Task-1', 'Emp_1', accept=False)}\nsim resume",
    )
    assert failures(kit, *turns) == [("Task-1", 90.0, "understaffed", (False, False, False))]
    [failed] = measure_run(kit.record(*turns)).failures
    assert failed.staff_alone_from_accept is True


def test_from_the_accept_on_rates_are_those_of_the_accept(kit: Any, start: Callable[..., str]) -> None:
    # Task-3 raises both to 15 an hour on Thursday 10:00. Emp_1 then needs 200 / 15 hours, until Friday 14:20; with that
    # rate from the accept on it would be Thursday 13:20, in time, with the 10 of then it is Friday 11:00.
    turns = (
        f"task accept --task-id Task-1\n{start('Task-3', 'Emp_1', 'Emp_2')}\nsim resume",
        f"{start('Task-1', 'Emp_1', accept=False)}\nsim resume",
    )
    config = tiny_config(dist={"skill_boost": {"type": "constant", "value": 0.5}})
    [(task, late_hours, *told)] = failures(kit, *turns, config=config)
    assert (task, told) == ("Task-1", ["understaffed", (False, False, True)])
    assert late_hours == pytest.approx(20 + 1 / 3, abs=1e-6)


def test_whoever_joins_after_the_task_would_have_been_done_alone_changes_nothing(
    kit: Any, start: Callable[..., str]
) -> None:
    record = kit.record(start("Task-1", "Emp_1", "Emp_2"), config=tiny_config(num_employees=3))
    begin, end = played(record)
    (task,) = end.tasks  # alone it is done on Thursday 10:00
    for hours in (26, 48, 24 * 9):
        joined = (*task.team, Assignment(3, begin.now_us + hours * 3_600_000_000))
        assert in_time_alone(end, task, begin.employees, begin.now_us, joined)
    late = (task.team[0], Assignment(3, task.deadline_us + 1))
    assert not in_time_alone(end, task, begin.employees, begin.now_us, late)


@pytest.mark.parametrize("config", ["default", "reference"])
def test_a_task_that_was_alone_fares_in_the_counterfactual_as_it_did(kit: Any, config: str) -> None:
    record = kit.record(config=config, policy=make_policy("greedy"), seed=2, max_turns=40)
    meter, seen, judged = Meter(record), set[bool](), set[str]()
    for turn in record.turns():
        meter.add(turn)
        for task in meter.state.tasks:
            past = meter.pasts[task.task_id]
            if task.completed_us is not None and task.task_id not in judged:
                judged.add(task.task_id)
                in_time = in_time_alone(meter.state, task, past.staff_at_dispatch, past.dispatched_us or 0, task.team)
                assert in_time == (task.status == "completed_success")
                seen.add(in_time)
    assert seen == {False, True}


def test_each_failed_task_has_one_cause(kit: Any) -> None:
    metrics: Any = measure_run(kit.record(config="default", policy=make_policy("random"), seed=1))
    counts = {cause: getattr(metrics, f"failed_{cause}") for cause in FAILURE_CAUSES}
    assert sum(counts.values()) == metrics.tasks_failed == len(metrics.failures)
    assert sum(count > 0 for count in counts.values()) > 2
    paper = {cause: getattr(metrics, f"failed_{cause}") for cause in PAPER_CAUSES}
    assert sum(paper.values()) == metrics.tasks_failed
