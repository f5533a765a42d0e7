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

LEARNS = tiny_config(dist={"skill_boost": {"type": "constant", "value": 0.5}})
BOTH = ("Emp_1", "Emp_2")
Start = Callable[..., str]


def after_task_3(start: Start, *names: str) -> tuple[str, ...]:
    """Task-3 takes both until Thursday 10:00; then Task-1, accepted before, is begun by some of the staff."""
    first = f"task accept --task-id Task-1\n{start('Task-3', *BOTH)}\nsim resume"
    return first, f"{start('Task-1', *names, accept=False)}\nsim resume"


def joined(start: Start) -> tuple[str, ...]:
    """Emp_1 works on Task-1 until a milestone, from when Emp_2 does, too."""
    return (
        f"{start('Task-1', 'Emp_1')}\nsim resume",
        start("Task-1", "Emp_2", accept=False, dispatch=False),
        "sim resume",
    )


CASES: dict[str, tuple[Callable[[Start], tuple[str, ...]], dict[str, Any], tuple[Any, ...]]] = {
    # Both on both: 5 + 5 units an hour each, 20 hours, Friday 11:00; alone 10 hours.
    "a team that would be in time alone": (
        lambda start: (f"{start('Task-1', *BOTH)}\n{start('Task-3', *BOTH)}", "sim resume"),
        {},
        ("Task-1", 17.0, "over_committed", (True, True, True, True)),
    ),
    # Emp_1 alone takes 20 hours, Friday 11:00.
    "everybody would have made it": (
        lambda start: (start("Task-1", "Emp_1"), "sim resume"),
        {},
        ("Task-1", 17.0, "understaffed", (False, False, True, True)),
    ),
    # Task-1 takes 10 of the 8 hours that are left, until Friday 11:00.
    "an able team that began too late": (
        lambda start: after_task_3(start, *BOTH),
        {},
        ("Task-1", 17.0, "late_dispatch", (False, True, False, True)),
    ),
    # Forced on to 3 February, 09:00; done a day later at 10:00.
    "dispatched after its deadline": (
        lambda start: (
            start("Task-1", *BOTH, dispatch=False),
            *[""] * 4,
            "task dispatch --task-id Task-1\nsim resume",
        ),
        {},
        ("Task-1", 24 * 33 - 8.0, "late_dispatch", (False, True, False, True)),
    ),
    # Emp_1 has 180 units, the milestone, on Thursday 18:00; with Emp_2 the other 20 take until Friday 10:00.
    "its second half joined too late": (
        joined,
        {"config": tiny_config(task_progress_milestones=[0.9])},
        ("Task-1", 16.0, "late_dispatch", (False, True, True, True)),
    ),
    # A deadline of one day: 9 hours for the 10 that both need, until Thursday 10:00.
    "nobody could have done it": (
        lambda start: (start("Task-1", *BOTH), "sim resume"),
        {"config": tiny_config(deadline_qty_per_day=200.0)},
        ("Task-1", 16.0, "out_of_reach", (False, False, False, False)),
    ),
    # 800 units by both take 40 hours: four days and 4 hours, Tuesday 7 January 13:00, 115 hours late.
    "an adversarial client, whatever the team": (
        lambda start: (start("Task-2", *BOTH), "sim resume"),
        {},
        ("Task-2", 115.0, "adversarial_client", (None, None, None, None)),
    ),
    "a task of nobody": (
        lambda start: (start("Task-1", "Emp_1"), "sim resume"),
        {"config": tiny_config(num_clients=0)},
        ("Task-1", 17.0, "understaffed", (False, False, True, True)),
    ),
    # Task-3 raises both to 15 an hour. Alone, Task-1 then takes 200 / 30 hours, until 16:40; at 10 an hour it would be
    # late. Task-2000 takes half of their time from Thursday 10:00, so it takes 13:20, until Friday 14:20.
    "rates are those of the dispatch": (
        lambda start: (
            f"task accept --task-id Task-1\n{start('Task-3', *BOTH)}\nsim resume",
            start("Task-1", *BOTH, accept=False),
            f"{start('Task-2000', *BOTH)}\nsim resume",
        ),
        {"config": LEARNS},
        ("Task-1", 20 + 1 / 3, "over_committed", (True, True, True, True)),
    ),
    # Emp_1 needs 20 hours for Task-1: 8, 9 and 3, until Monday 12:00. Both would have needed 10, from Thursday 10:00
    # until Friday 11:00, from Wednesday 9:00 until Thursday 10:00.
    "everybody from the accept on would have made it": (
        lambda start: after_task_3(start, "Emp_1"),
        {},
        ("Task-1", 90.0, "understaffed", (False, False, False, True)),
    ),
    # Emp_1 needs 200 / 15 hours, until Friday 14:20; with that rate from the accept on it would be Thursday 13:20, in
    # time, with the 10 of then it is Friday 11:00.
    "from the accept on rates are those of the accept": (
        lambda start: after_task_3(start, "Emp_1"),
        {"config": LEARNS},
        ("Task-1", 20 + 1 / 3, "understaffed", (False, False, True, True)),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_task_fails_for_the_first_cause_that_applies(kit: Any, start: Start, case: str) -> None:
    turns, options, (task_id, late_hours, cause, alone) = CASES[case]
    failed = measure_run(kit.record(*turns(start), **options)).failures[0]
    assert (failed.task_id, failed.cause) == (task_id, cause)
    assert failed.late_hours == pytest.approx(late_hours, abs=1e-6)
    assert alone == (
        failed.team_alone,
        failed.team_alone_from_accept,
        failed.staff_alone,
        failed.staff_alone_from_accept,
    )
    kinds = {"adversarial_client": "adversarial_client", "over_committed": "over_committed"}
    assert failed.paper_cause == kinds.get(cause, "incapable_team")
    assert (failed.client is None) == (case == "a task of nobody")


def played(run: Any) -> tuple[Any, Any]:
    """The worlds in which a run began and ended."""
    meter = Meter(run)
    for turn in run.turns():
        meter.add(turn)
    return meter.start, meter.state


def test_members_of_a_team_count_from_when_they_joined(kit: Any, start: Start) -> None:
    # The milestone, 150 units, is on Thursday 15:00, and with Emp_2 it is done at 17:30, in time.
    begin, end = played(kit.record(*joined(start), config=tiny_config(task_progress_milestones=[0.75])))
    (task,) = end.tasks
    assert task.status == "completed_success"
    assert in_time_alone(end, task, begin.employees, begin.calendar.start_us, task.team)
    assert not in_time_alone(end, task, begin.employees, begin.calendar.start_us, task.team[:1])


def test_whoever_joins_after_the_task_would_have_been_done_alone_changes_nothing(kit: Any, start: Start) -> None:
    begin, end = played(kit.record(start("Task-1", *BOTH), config=tiny_config(num_employees=3)))
    (task,) = end.tasks  # alone it is done on Thursday 10:00
    for hours in (26, 48, 24 * 9):
        later = (*task.team, Assignment(3, begin.now_us + hours * 3_600_000_000))
        assert in_time_alone(end, task, begin.employees, begin.now_us, later)
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
                begun_us = past.dispatched_us or 0
                in_time = in_time_alone(meter.state, task, past.staff_at_dispatch, begun_us, task.team)
                assert in_time == (task.status == "completed_success")
                seen.add(in_time)
    assert seen == {False, True}


def test_each_failed_task_has_one_cause(kit: Any) -> None:
    metrics: Any = measure_run(kit.record(config="default", policy=make_policy("random"), seed=1))
    for causes, least in ((FAILURE_CAUSES, 3), (PAPER_CAUSES, 2)):
        counts = [getattr(metrics, f"failed_{cause}") for cause in causes]
        assert sum(counts) == metrics.tasks_failed == len(metrics.failures)
        assert sum(count > 0 for count in counts) >= least
