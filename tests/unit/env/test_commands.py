"""Commands through the public environment, where they used to go wrong elsewhere (B12, B25, B26, B44, B48)."""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.testing import tiny_config, tiny_state
from ycbench_env.testing.tiny import tiny_employee, tiny_task
from ycbench_env.types.state import State, evolve

Tiny = Callable[..., Any]


def ask(env: Any, *commands: str) -> Any:
    """The answer to the last of some commands, all of which are carried out, each in a turn of its own."""
    output = None
    for command in commands:
        (result,) = env.step(command)[4]["results"]
        assert result["ok"], result
        output = result["output"]
    return output


def refusal(env: Any, command: str) -> Any:
    """Why a command was refused; it must have changed nothing."""
    digest = env.state_hash()
    results = env.step(command)[4]["results"]
    assert [result["ok"] for result in results] == [False]
    assert env.state_hash() == digest
    return results[0]["output"]["error"]


def start(env: Any, task_id: str, team: str = "Emp_1,Emp_2") -> None:
    """Accept, staff and dispatch a task in one turn."""
    one = f"--task-id {task_id}"
    results = env.step(f"task accept {one} && task assign {one} --employees {team} && task dispatch {one}")[4][
        "results"
    ]
    assert [result["ok"] for result in results] == [True] * 3, results


def play_until(env: Any, over: Callable[[State], bool], turn: str = "sim resume") -> list[Any]:
    """What step returned, turn by turn, until something holds of the state; fails where it never does."""
    returned: list[Any] = []
    for _ in range(500):
        if over(env.get_state()):
            return returned
        returned.append(env.step(turn))
    return pytest.fail("this never comes to its end")


def ended(state: State) -> bool:
    """Whether the episode is over."""
    return state.end_reason is not None


def first_done(state: State) -> bool:
    """Whether the first own task is not active any more."""
    return state.tasks[0].status != "active"


# ---- B12: the same employee twice


@pytest.mark.parametrize("team", ["Emp_1,Emp_1", "Emp_1, Emp_1", "Emp_1,Emp_2,Emp_1"])
def test_an_employee_named_twice_is_assigned_once(tiny: Tiny, team: str) -> None:
    env = tiny()
    output = ask(env, "task accept --task-id Task-1", f"task assign --task-id Task-1 --employees {team}")
    names = sorted(set(team.replace(" ", "").split(",")))
    assert output["newly_assigned"] == output["total_assigned"] == names
    assert [entry["employee"] for entry in ask(env, "task inspect --task-id Task-1")["assignments"]] == names


def test_assigning_again_is_carried_out_and_changes_nothing(tiny: Tiny) -> None:
    env = tiny()
    start(env, "Task-1", "Emp_1")
    digest = env.state_hash()
    output = ask(env, "task assign --task-id Task-1 --employees Emp_1,Emp_1")
    assert (output["newly_assigned"], output["total_assigned"]) == ([], ["Emp_1"])
    assert env.state_hash() == digest


@pytest.mark.parametrize("team", ["Emp_1", "Emp_1,Emp_1", "Emp_1,Emp_1,Emp_1"])
def test_a_name_repeated_neither_doubles_nor_splits_a_rate(tiny: Tiny, team: str) -> None:
    env = tiny()
    start(env, "Task-1", team)
    # 200 units at 10 an hour are 20 hours: two days of 9 hours, and 2 hours of the third.
    assert ask(env, "sim resume")["new_sim_time"] == "2025-01-03T11:00:00"


def test_being_on_a_planned_task_splits_nobody_and_being_on_two_active_ones_does(tiny: Tiny) -> None:
    env = tiny()
    env.step("task accept --task-id Task-3; task assign --task-id Task-3 --employees Emp_1,Emp_2")
    start(env, "Task-1")
    assert [row["active_tasks"] for row in ask(env, "employee list")["employees"]] == [["Task-1"]] * 2
    assert ask(env.clone(), "sim resume")["new_sim_time"] == "2025-01-02T10:00:00"  # 10 hours
    ask(env, "task dispatch --task-id Task-3")
    assert ask(env, "sim resume")["new_sim_time"] == "2025-01-03T11:00:00"  # 20 hours


def test_one_unknown_name_refuses_the_whole_list(tiny: Tiny) -> None:
    env = tiny()
    ask(env, "task accept --task-id Task-1")
    error = refusal(env, "task assign --task-id Task-1 --employees Emp_1,Emp_9,emp_2")
    assert "'Emp_9', 'emp_2'" in error
    assert "Emp_1, Emp_2" in error


# ---- B25: business time


@pytest.fixture(params=["UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The host's time zone, among them some with daylight saving and one that skipped a day."""
    if not hasattr(time, "tzset"):
        pytest.skip("this platform cannot change its time zone")
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_the_hosts_time_zone_changes_nothing(zone: str) -> None:
    assert os.environ["TZ"] == zone
    env: Any = YCBenchEnv({"sim": {"start_date": "2025-03-28"}})  # a Friday before a change of clocks
    env.reset(seed=1)
    start(env, "Task-8", ",".join(f"Emp_{n}" for n in range(1, 9)))
    assert env.get_state().tasks[0].deadline_us % 1_000_000 == 0
    assert ask(env, "task list")["tasks"][0]["deadline"] == "2025-04-07T18:00:00"
    assert ask(env, "company status")["next_payroll"] == "2025-04-01T09:00:00"


def test_completion_at_the_very_deadline_is_a_success(tiny: Tiny) -> None:
    # 200 units at 10 an hour are 20 hours; 1 workday is 10 hours, so 2 workdays end when the work does.
    env = tiny(workday_start_hour=8, workday_end_hour=18)
    start(env, "Task-1", "Emp_1")
    event = ask(env, "sim resume")["wake_events"][0]
    assert event["success"]
    assert event["deadline_margin"] == "ahead by 0h"
    shown = ask(env, "task inspect --task-id Task-1")
    assert shown["completed_at"] == shown["deadline"] == "2025-01-02T18:00:00"


def test_an_employee_a_little_slower_misses_it(tiny: Tiny) -> None:
    config = tiny_config(workday_start_hour=8, workday_end_hour=18)
    env = tiny(tiny_state(config, employees=(tiny_employee(1, 9.9999),)))
    start(env, "Task-1", "Emp_1")
    event = ask(env, "sim resume")["wake_events"][0]
    assert not event["success"]
    assert event["deadline_margin"].startswith("late by ")
    assert event["funds_delta"] == -500_000


@pytest.mark.parametrize("now", ["2025-01-03 18:00", "2025-01-04 11:11", "2025-01-05 23:59", "2025-01-06 09:00"])
def test_friday_evening_and_monday_morning_are_the_same_business_instant(tiny: Tiny, now: str) -> None:
    env = tiny(tiny_state(tiny_config(), now=now))
    start(env, "Task-1")
    assert ask(env, "task list")["tasks"][0]["deadline"] == "2025-01-07T18:00:00"
    assert ask(env, "sim resume")["new_sim_time"] == "2025-01-07T10:00:00"


@pytest.mark.parametrize("day", ["2025-02-01", "2025-02-02", "2025-01-31", "2024-02-29", "2025-06-01", "2025-03-03"])
def test_the_next_payroll_shown_is_always_the_next_one_charged(day: str) -> None:
    env: Any = YCBenchEnv({"sim": {"start_date": day}, "world": {"initial_funds_cents": 10**9}})
    env.reset(seed=1)
    charged = 0
    while not ended(env.get_state()):
        assert env.get_state().turns_played < 100
        shown = env.clone().step("company status")[4]["results"][0]["output"].get("next_payroll")
        observation, *_, info = env.step("")
        for event in info["events"]:
            if event["type"] == "monthly_payroll":
                charged += 1
                assert observation["sim_time"] == shown
            else:
                assert shown is None  # the horizon
    assert charged in {11, 12}


def test_a_start_on_a_saturday_announces_the_payroll_of_monday() -> None:
    env: Any = YCBenchEnv({"sim": {"start_date": "2025-02-01"}})
    env.reset(seed=1)
    assert ask(env, "company status")["next_payroll"] == "2025-02-03T09:00:00"


# ---- B26: filters, pages, totals


@pytest.fixture
def paid(env: Any) -> YCBenchEnv:
    """The default world after its payroll of 3 February."""
    for _ in range(5):
        env.step("")
    assert env.get_state().payrolls_charged == 1
    return env


@pytest.mark.parametrize("day", ["2025-02-03", "02/03/2025"])
def test_a_day_that_is_named_is_included(paid: YCBenchEnv, day: str) -> None:
    for options in (f"--to {day}", f"--from {day}", f"--from {day} --to {day}"):
        assert ask(paid, f"finance ledger {options}")["count"] == 8
    assert ask(paid, "finance ledger --to 2025-02-02")["count"] == 0
    assert ask(paid, "finance ledger --from 02/04/2025")["count"] == 0


def test_the_monthly_report_is_filled_and_adds_up(paid: YCBenchEnv) -> None:
    months = ask(paid, "report monthly")["months"]
    assert [month["month_start"] for month in months] == ["2025-01-01", "2025-02-01"]
    assert months[1]["cost_cents"] == 3_800_503
    assert months[1]["ending_funds_cents"] == ask(paid, "company status")["funds_cents"]


@pytest.mark.parametrize("options", ["--limit 0", "--limit -1", "--limit 1.5", "--offset -5", "--limit x", "--offset"])
def test_a_page_that_is_none_is_refused(env: Any, options: str) -> None:
    assert options.split(maxsplit=1)[0] in refusal(env, f"market browse {options}")


@pytest.mark.parametrize("size", [1, 3, 7, 50, 9_999])
def test_pages_partition_the_market_in_a_stable_order(env: Any, size: int) -> None:
    whole = ask(env, "market browse --limit 9999")
    assert whole["total"] == len(whole["tasks"]) > 50
    shown: list[Any] = []
    for offset in itertools.count(0, size):
        page = env.step(f"market browse --limit {size} --offset {offset}")[4]["results"][0]["output"]
        assert page["total"] == whole["total"]
        if not page["tasks"]:
            break
        shown += page["tasks"]
        env.reset(seed=1)  # so that no time is forced
    assert shown == whole["tasks"]


def test_equal_rewards_are_listed_by_slot_and_pages_do_not_repeat_them(tiny: Tiny) -> None:
    env = tiny()
    pages = [ask(env, f"market browse --limit 1 --offset {offset}")["tasks"][0]["task_id"] for offset in range(4)]
    assert pages == ["Task-1", "Task-2", "Task-3", "Task-4"]


def test_the_total_counts_all_matches_of_a_filter(env: Any) -> None:
    page = ask(env, "market browse --domain training --reward-min-cents 700000 --limit 2")
    assert len(page["tasks"]) == 2
    whole = ask(env, "market browse --limit 9999")["tasks"]
    matching = [
        task
        for task in whole
        if task["reward_funds_cents"] >= 700_000 and any(r["domain"] == "training" for r in task["requirements"])
    ]
    assert page["total"] == len(matching) > 2
    assert page["tasks"] == matching[:2]


def test_beyond_the_end_there_is_nothing_and_the_total_stays(env: Any) -> None:
    page = ask(env, "market browse --offset 100000")
    assert page["tasks"] == []
    assert page["total"] == ask(env, "market browse")["total"]


# ---- B44: rounding, residual work, steps without time


@pytest.mark.parametrize("rate", [1 / 3, 1 / 7, 0.0001, 2.7183])
def test_work_at_any_rate_is_finished_by_one_event_and_never_again(tiny: Tiny, rate: float) -> None:
    config = tiny_config(sim={"horizon_years": 3}, task_progress_milestones=[0.5, 1.0], initial_funds_cents=10**10)
    staff = tuple(tiny_employee(number, rate) for number in range(1, 6))
    env = tiny(tiny_state(config, employees=staff, market=[tiny_task(1, 30), tiny_task(2, {"training": 17})]))
    start(env, "Task-1", "Emp_1,Emp_2,Emp_3,Emp_4,Emp_5")
    start(env, "Task-2", "Emp_5,Emp_1")
    seen: list[tuple[str, str]] = []
    for _ in range(100):
        results = env.step("sim resume")[4]["results"]
        if not results[0]["ok"]:
            break
        output = results[0]["output"]
        assert output["new_sim_time"] > output["old_sim_time"] or output["wake_events"]
        seen += [(event["type"], event.get("task_id", "")) for event in output["wake_events"]]
        if output["terminal_reason"]:
            break
    for task_id in ("Task-1", "Task-2"):
        assert seen.count(("task_completed", task_id)) <= 1
        assert seen.count(("task_half", task_id)) <= 2
    slow = rate < 0.001  # three years are not enough
    assert [kind for kind, _ in seen].count("task_completed") == (0 if slow else 2)


def test_a_milestone_at_the_very_end_is_reported_once_with_the_completion(tiny: Tiny) -> None:
    env = tiny(task_progress_milestones=[0.5, 1.0])
    start(env, "Task-1")
    assert [event["milestone_pct"] for event in ask(env, "sim resume")["wake_events"]] == [50]
    events = ask(env, "sim resume")["wake_events"]
    assert [event["type"] for event in events] == ["task_completed", "task_half"]
    assert events[1]["milestone_pct"] == 100
    assert "no active task" in refusal(env, "sim resume")


def test_many_small_advances_do_what_one_large_one_does(tiny: Tiny) -> None:
    # Emp_1 does Task-1 alone; meanwhile Emp_2's many small tasks stop the clock at odd instants.
    market = [tiny_task(1, 1_600), *(tiny_task(number) for number in range(2, 30))]
    staff = (tiny_employee(1), tiny_employee(2, 37.0))
    busy, calm = (tiny(tiny_state(tiny_config(), market=market, employees=staff)) for _ in range(2))
    for env in (busy, calm):
        start(env, "Task-1", "Emp_1")
    for number in range(2, 30):
        start(busy, f"Task-{number}", "Emp_2")
        ask(busy, "sim resume")
    ends: list[int] = []
    for env in (busy, calm):
        play_until(env, first_done)
        ends.append(env.get_state().tasks[0].completed_us or 0)
    # Each stop stores the work done with 4 decimals (Y-7), half a unit of which is 0.018 s of work at 10 an hour.
    assert abs(ends[0] - ends[1]) <= 60 * 18_000


@pytest.mark.parametrize(("reward", "penalty"), [(1_432_320, 501_311), (1, 0), (3, 1), (999_999, 349_999)])
def test_a_penalty_on_an_odd_amount_is_cut_to_whole_cents(tiny: Tiny, reward: int, penalty: int) -> None:
    config = tiny_config(penalty_fail_funds_pct=0.35)
    env = tiny(tiny_state(config, market=[tiny_task(1, reward_cents=reward)], employees=(tiny_employee(1, 0.5),)))
    start(env, "Task-1", "Emp_1")
    before = env.get_state().funds_cents
    *_, info = play_until(env, first_done)[-1]
    assert info["events"][-1]["funds_delta"] == -penalty
    paid = sum(e.amount_cents for e in env.get_state().ledger if e.category == "monthly_payroll")
    assert env.get_state().funds_cents == before + paid - penalty
    assert sum(e.category == "task_fail_penalty" for e in env.get_state().ledger) == (penalty > 0)


def test_a_salary_of_nothing_is_booked_and_costs_nothing(tiny: Tiny) -> None:
    env = tiny(tiny_state(tiny_config(), employees=(tiny_employee(1, salary_cents=0),)))
    assert ask(env, "company status")["risk"] == {"months_runway": None, "bankrupt": False}
    for _ in range(3):
        env.step("")
    observation, *_, info = env.step("")
    assert info["events"][0]["type"] == "monthly_payroll"
    assert int(observation["funds_cents"]) == 10_000_000
    assert env.observation_space.contains(observation)


def test_a_task_that_nobody_can_finish_is_not_scheduled(tiny: Tiny) -> None:
    staff = (tiny_employee(1, [0.0, 5.0, 5.0, 5.0]), tiny_employee(2, [0.0, 5.0, 5.0, 5.0]))
    env = tiny(tiny_state(tiny_config(), employees=staff))
    start(env, "Task-1")  # research, in which both do nothing
    stops = [turn[4]["results"][0]["output"]["checkpoint_event_type"] for turn in play_until(env, ended)]
    assert stops == ["monthly_payroll"] * 11 + ["horizon_end"]
    assert env.get_state().tasks[0].status == "active"


# ---- B48: cancel


def test_a_planned_task_can_be_cancelled_once(tiny: Tiny) -> None:
    env = tiny(trust_fragility=0.4, initial_prestige_level=2.0)
    output = ask(env, "task accept --task-id Task-1", "task cancel --task-id Task-1 --reason 'changed plan'")
    assert output == {
        "task_id": "Task-1",
        "status": "cancelled",
        "reason": "changed plan",
        "cancel_penalty_per_domain": 0.2,
        "prestige_changes": {"research": {"old": 2.0, "new": 1.8, "delta": 0.2}},
        "trust_delta": 0.0,
        "bankrupt": False,
    }
    assert "cancelled" in refusal(env, "task cancel --task-id Task-1 --reason again")
    assert "cancelled" in refusal(env, "task dispatch --task-id Task-1")
    assert ask(env, "company status")["prestige"]["research"] == 1.8


def test_half_done_work_can_be_cancelled_and_leaves_no_event_behind(tiny: Tiny) -> None:
    env = tiny(task_progress_milestones=[0.5, 0.75])
    start(env, "Task-1")
    assert ask(env, "sim resume")["checkpoint_event_type"] == "task_half"
    ask(env, "task cancel --task-id Task-1 --reason late")
    shown = ask(env, "task inspect --task-id Task-1")
    assert (shown["status"], shown["progress_pct"], shown["success"], shown["completed_at"]) == (
        "cancelled",
        50.0,
        None,
        None,
    )
    assert "no active task" in refusal(env, "sim resume")
    for *_, info in play_until(env, ended, ""):
        assert all(event["type"] in {"monthly_payroll", "horizon_end"} for event in info["events"])


def test_cancelling_frees_the_team_and_the_other_task_is_forecast_anew(tiny: Tiny) -> None:
    env = tiny()
    start(env, "Task-1")
    start(env, "Task-3")  # both people on both tasks: each at half speed, 20 hours
    assert [employee["active_tasks"] for employee in ask(env, "employee list")["employees"]] == [
        ["Task-1", "Task-3"]
    ] * 2
    assert ask(env.clone(), "sim resume")["new_sim_time"] == "2025-01-03T11:00:00"
    ask(env, "task cancel --task-id Task-3 --reason busy")
    assert ask(env, "sim resume")["new_sim_time"] == "2025-01-02T10:00:00"  # 10 hours, as if alone


def test_cancelling_one_of_two_midway_counts_the_work_done_before(tiny: Tiny) -> None:
    env = tiny(task_progress_milestones=[0.25])
    start(env, "Task-1")
    start(env, "Task-3")
    assert ask(env, "sim resume")["new_sim_time"] == "2025-01-01T14:00:00"  # 50 of 200 units at 10 an hour
    ask(env, "task cancel --task-id Task-3 --reason busy")
    # 150 units at 20 an hour: 7.5 hours, 4 of them on Wednesday.
    assert ask(env, "sim resume")["new_sim_time"] == "2025-01-02T12:30:00"


def test_cancelling_at_the_deadlines_instant_works_and_no_failure_follows(tiny: Tiny) -> None:
    env = tiny()
    start(env, "Task-1", "Emp_1")  # 20 hours of work, 18 until the deadline
    state = env.get_state()
    env.set_state(evolve(state, now_us=state.tasks[0].deadline_us))
    output = ask(env, "task cancel --task-id Task-1 --reason late")
    assert output["status"] == "cancelled"
    history = ask(env, "client history")["client_history"]
    assert [(row["tasks_succeeded"], row["tasks_failed"]) for row in history] == [(0, 0), (0, 0)]


def test_a_cancel_needs_a_reason(tiny: Tiny) -> None:
    env = tiny()
    ask(env, "task accept --task-id Task-1")
    assert "--reason" in refusal(env, "task cancel --task-id Task-1")
    assert ask(env, 'task cancel --task-id Task-1 --reason ""')["reason"] == ""


def test_penalties_of_a_cancel_stop_at_the_bounds(tiny: Tiny) -> None:
    env = tiny(trust_fragility=0.7)  # prestige stands at its minimum, trust at 0
    output = ask(env, "task accept --task-id Task-1", "task cancel --task-id Task-1 --reason x")
    assert output["prestige_changes"] == {"research": {"old": 1.0, "new": 1.0, "delta": 0.0}}
    assert output["cancel_penalty_per_domain"] == 0.2
    assert output["trust_delta"] == 0.0


def test_completed_work_cannot_be_cancelled(tiny: Tiny) -> None:
    env = tiny()
    start(env, "Task-1")
    ask(env, "sim resume")
    assert "completed_success" in refusal(env, "task cancel --task-id Task-1 --reason regret")
