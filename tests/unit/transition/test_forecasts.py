"""When forecasts are made, milestones, and the two rules of accrual. Source: Y-5.2, Y-5.3 step 4, Y-6.

Under the reference rules a task that is interrupted has done more work than its forecast says, so whether a forecast
was made anew can be seen. From Friday 2025-01-31 09:00, one employee at 10 units an hour needs 20 h for 200 units,
until Tuesday 11:00. The payroll of Monday 09:00 interrupts: Friday has counted for 15 h, so 150 units are done. A
forecast made now would be 50 / 10 = 5 h: Monday 14:00.
"""

import random
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import BOTH, happened, resume, staff

from ycbench_env.testing.tiny import carried_out, started, tiny_config, tiny_employee, tiny_state, tiny_task
from ycbench_env.transition import advance, draft, transition
from ycbench_env.types.command import AssignTask, Resume
from ycbench_env.types.event import PayrollPaid
from ycbench_env.types.state import State
from ycbench_env.units import iso_time

OLD, NEW = "2025-02-04T11:00:00", "2025-02-03T14:00:00"
"""Forecast of Task-1 as made on Friday, and as it would be made on Monday."""


def forecasts(state: State) -> dict[str, str | None]:
    return {task.task_id: None if task.completion_us is None else iso_time(task.completion_us) for task in state.tasks}


def monday(*more: tuple[str, str], milestones: tuple[float, ...] = (), units: int = 200) -> State:
    """Monday 09:00 after the payroll: Emp_1 is on Task-1 and 150 units are done; more tasks as (task, employee)."""
    config = tiny_config(
        accrual="until_midnight",
        sim={"start_date": "2025-01-31"},
        task_progress_milestones=list(milestones),
        deadline_min_biz_days=9,
    )
    market = [tiny_task(1, units), *[tiny_task(number) for number in range(2, 6)]]
    state = started(tiny_state(config, employees=staff(10, 10, 10, 10), market=market), "Task-1", "Emp_1")
    for task_id, name in more:
        state = started(state, task_id, name)
    state = resume(state).state
    assert iso_time(state.now_us) == "2025-02-03T09:00:00"
    return state


def test_no_forecast_is_made_at_a_payroll() -> None:
    state = monday()
    assert state.tasks[0].done_e4 == (1_500_000,)
    assert forecasts(state) == {"Task-1": OLD}
    assert iso_time(resume(state).state.now_us) == OLD


def test_dispatch_makes_forecasts_of_that_task_and_of_those_sharing_an_employee() -> None:
    # Task-2 with Emp_2 shares nobody with Task-1: 20 h from Monday 09:00.
    apart = started(monday(), "Task-2", "Emp_2")
    assert forecasts(apart) == {"Task-1": OLD, "Task-2": "2025-02-05T11:00:00"}
    # With Emp_1 both run at 5 an hour: 50 / 5 = 10 h, and 200 / 5 = 40 h.
    shared = started(monday(), "Task-2", "Emp_1")
    assert forecasts(shared) == {"Task-1": "2025-02-04T10:00:00", "Task-2": "2025-02-07T13:00:00"}


def test_assigning_to_an_active_task_makes_forecasts_of_all_active_tasks_of_those_named() -> None:
    # Emp_2 is on Task-2 and Task-3 (5 an hour each: 75 units done by Monday), Emp_3 on Task-4.
    state = monday(("Task-2", "Emp_2"), ("Task-3", "Emp_2"), ("Task-4", "Emp_3"))
    before = forecasts(state)
    after = carried_out(state, AssignTask("Task-2", ("Emp_1",)))
    # Task-1: 50 left at 5 an hour, 10 h. Task-2: 125 left at 5 + 5 an hour, 12.5 h.
    assert forecasts(after) == {
        "Task-1": "2025-02-04T10:00:00",
        "Task-2": "2025-02-04T12:30:00",
        "Task-3": before["Task-3"],  # Emp_2 was not named
        "Task-4": before["Task-4"],
    }
    both = carried_out(state, AssignTask("Task-2", ("Emp_2", "Emp_1")))
    # Task-3: 125 left at 5 an hour, 25 h: Monday, Tuesday and 7 h on Wednesday.
    assert forecasts(both)["Task-3"] == "2025-02-05T16:00:00"
    assert forecasts(both)["Task-4"] == before["Task-4"]


def test_naming_somebody_who_is_on_the_active_task_already_makes_the_forecasts_all_the_same() -> None:
    # Y-5.2: assign to an active task makes the forecasts of all active tasks of the employees named.
    state = carried_out(monday(), AssignTask("Task-1", ("Emp_1",)))
    assert forecasts(state) == {"Task-1": NEW}
    assert [member.employee for member in state.tasks[0].team] == [1]


def test_a_completion_makes_forecasts_of_all_active_tasks() -> None:
    # Task-2 has Emp_2 and Emp_3, 20 an hour: 10 h, Monday 10:00. Task-1 shares nobody with it.
    outcome = resume(started(monday(), "Task-2", "Emp_2", "Emp_3"))
    # Monday 09:00 + 10 h is Tuesday 10:00, before Task-1's Tuesday 11:00. Task-1 has by then all it needs.
    assert iso_time(outcome.state.now_us) == "2025-02-04T10:00:00"
    assert happened(outcome.events) == ["Task-2 success", "Task-1 success"]


def test_a_milestone_makes_forecasts_of_all_active_tasks() -> None:
    # Task-2 (200 units, Emp_2) is dispatched on Monday; half of it is done after 10 h, on Tuesday at 10:00.
    state = started(monday(milestones=(0.5,), units=1000), "Task-2", "Emp_2")
    # Task-1, forecast on Friday: 100 h, Friday and ten more days are 99; and its half after 50 h.
    assert forecasts(state)["Task-1"] == "2025-02-17T10:00:00"
    assert iso_time(state.tasks[0].milestone_us or 0) == "2025-02-07T14:00:00"
    outcome = resume(state)
    assert happened(outcome.events) == ["Task-2 50%"]
    assert iso_time(outcome.state.now_us) == "2025-02-04T10:00:00"
    # Done by now: Friday 15 h, Monday 15 h, Tuesday 1 h. 690 left are 69 h: 8 h on Tuesday, six days, 7 h on the next.
    assert outcome.state.tasks[0].done_e4 == (3_100_000,)
    assert forecasts(outcome.state)["Task-1"] == "2025-02-13T16:00:00"
    # 190 units to the half: 19 h.
    assert iso_time(outcome.state.tasks[0].milestone_us or 0) == "2025-02-06T11:00:00"


def test_what_becomes_due_by_a_new_forecast_belongs_to_the_same_resume() -> None:
    # As above with 600 units: 310 are done by Tuesday 10:00, which is past the half, forecast for Wednesday 12:00.
    state = started(monday(milestones=(0.5,), units=600), "Task-2", "Emp_2")
    assert iso_time(state.tasks[0].milestone_us or 0) == "2025-02-05T12:00:00"
    assert happened(resume(state).events) == ["Task-2 50%", "Task-1 50%"]


# --------------------------------------------------------------------------------------------------------- milestones


def test_milestones_come_one_by_one_on_a_steady_way() -> None:
    config = tiny_config(task_progress_milestones=[0.25, 0.5, 1.0])
    state = started(tiny_state(config), "Task-1", *BOTH)
    seen = []
    for _ in range(3):
        outcome = resume(state)
        state = outcome.state
        seen.append((iso_time(state.now_us), happened(outcome.events)))
    assert seen == [
        ("2025-01-01T11:30:00", ["Task-1 25%"]),  # 50 units at 20 an hour
        ("2025-01-01T14:00:00", ["Task-1 50%"]),
        ("2025-01-02T10:00:00", ["Task-1 success", "Task-1 100%"]),  # the completion first
    ]
    assert transition(state, Resume()).refusal is not None


def test_a_jump_over_several_milestones_gives_each_its_own_event() -> None:
    # 0.55 x 200 = 110 units are forecast for Monday 11:00; by then 150 + 20 = 170 are done.
    state = monday(milestones=(0.55, 0.6, 0.85, 0.9))
    outcome = resume(state)
    assert iso_time(outcome.state.now_us) == "2025-02-03T11:00:00"
    assert happened(outcome.events) == ["Task-1 55%", "Task-1 60%", "Task-1 85%"]
    assert outcome.state.tasks[0].milestones_reported == 3
    # 180 and 200 units: 1 h and 3 h more.
    assert happened(resume(outcome.state).events) == ["Task-1 90%"]
    assert forecasts(outcome.state) == {"Task-1": "2025-02-03T14:00:00"}


def test_a_milestone_that_is_due_at_completion_fires_once_and_the_later_ones_never() -> None:
    # 0.95 is 190 units, forecast for 19 h, Tuesday 10:00. Monday counts until 24:00, so all is done by then.
    first = resume(monday(milestones=(0.95, 0.99, 1.0)))
    assert iso_time(first.state.now_us) == "2025-02-04T10:00:00"
    # The report of 95 % makes completion and 99 % due at once; 100 % is not forecast any more.
    assert happened(first.events) == ["Task-1 95%", "Task-1 success", "Task-1 99%"]
    assert first.state.tasks[0].milestones_reported == 2
    assert (first.state.tasks[0].milestone_us, first.state.tasks[0].completion_us) == (None, None)
    assert happened(advance(first.state).events) == ["payroll 10200000"]


def test_a_milestone_is_a_share_of_the_sum_over_all_domains() -> None:
    # 200 of research at 20 an hour and 200 of training at 5: 75 % are 300 units. Research is done after 10 h, when
    # training has 50; the other 50 take 10 h more: 20 h.
    config = tiny_config(task_progress_milestones=[0.75], deadline_min_biz_days=9)
    people = [tiny_employee(1, (20, 1, 1, 5))]
    market = [tiny_task(1, {"training": 200, "research": 200})]
    outcome = resume(started(tiny_state(config, employees=people, market=market), "Task-1", "Emp_1"))
    assert happened(outcome.events) == ["Task-1 75%"]
    assert iso_time(outcome.state.now_us) == "2025-01-03T11:00:00"
    assert outcome.state.tasks[0].done_e4 == (1_000_000, 2_000_000)
    assert forecasts(outcome.state) == {"Task-1": "2025-01-07T13:00:00"}  # 100 left at 5: 20 h


# -------------------------------------------------------------------------------------------------------- two accruals


@pytest.mark.parametrize(
    ("accrual", "second"),
    [
        # After 10 h (Thursday 10:00): 100 of 200 units; 10 h more: Friday 11:00.
        ("business_hours", "2025-01-03T11:00:00"),
        # Wednesday counts 15 h and Thursday 1: 160 of 200 units; 4 h more: Thursday 14:00.
        ("until_midnight", "2025-01-02T14:00:00"),
    ],
)
def test_a_task_whose_forecast_is_made_anew_midway_ends_early_under_the_reference_rules_only(
    accrual: str, second: str
) -> None:
    state = started(tiny_state(tiny_config(accrual=accrual), employees=staff(10, 20)), "Task-1", "Emp_1")
    state = resume(started(state, "Task-3", "Emp_2")).state  # 200 / 20 = 10 h
    assert iso_time(state.now_us) == "2025-01-02T10:00:00"
    assert forecasts(state) == {"Task-1": second, "Task-3": None}


def test_equal_tasks_that_end_together_are_forecast_a_fixed_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    market = [tiny_task(number, delta=0.001) for number in range(1, 41)]
    config = tiny_config(num_market_tasks=40, penalty_fail_funds_pct=0.0)
    state = tiny_state(config, employees=staff(100, 100), market=market)
    for task in market:
        state = started(state, task.task_id, *BOTH)
    forecast = Mock(wraps=draft.completion_work)
    monkeypatch.setattr(draft, "completion_work", forecast)
    assert len(resume(state).events) == 40
    assert forecast.call_count <= 2 * 40


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([(), (0.5,), (0.25, 0.5, 0.75)]))
def test_after_an_event_every_forecast_is_what_it_would_be_if_all_were_remade(
    seed: int, milestones: tuple[float, ...]
) -> None:
    rng = random.Random(seed)  # noqa: S311 -- a play, no secret
    config = tiny_config(
        accrual=rng.choice(["business_hours", "until_midnight"]), task_progress_milestones=list(milestones)
    )
    people = staff(*(rng.choice([5.0, 10.0]) for _ in range(5)))
    market = [tiny_task(number, rng.choice([200, 400]), boost=rng.choice([0, 0.1])) for number in range(1, 9)]
    state = tiny_state(config, employees=people, market=market)
    for task in market:
        state = started(state, task.task_id, *rng.sample([one.name for one in people], rng.randint(1, 3)))
    while state.active_indices and state.terminal_reason is None:
        outcome = resume(state)
        state = outcome.state
        if not isinstance(outcome.events[0], PayrollPaid):
            remade = draft.Draft(state)
            remade.reforecast(remade.active)
            assert remade.freeze() == state
