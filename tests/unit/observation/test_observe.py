"""The observation, info, wake events and report of a turn. Source: Y-9, answers (wake events); B46, B47."""

import json

import attrs
import pytest
from worlds import LOYAL

from ycbench_env.observation import (
    MAX_JSON_LENGTH,
    MAX_RUNWAY_MONTHS,
    MAX_TEXT_LENGTH,
    Answer,
    TurnReport,
    observe,
    wake_event,
)
from ycbench_env.observation.answers import percent
from ycbench_env.observation.info import make_info
from ycbench_env.testing.tiny import tiny_config, tiny_state
from ycbench_env.text import to_json
from ycbench_env.types.event import HorizonEnd, MilestoneReached, PayrollPaid, TaskCompleted

HOUR_US = 3_600_000_000
COMPLETED = TaskCompleted(
    task_id="Task-1",
    client_name=LOYAL,
    success=False,
    funds_delta_cents=-500_000,
    listed_reward_cents=1_000_000,
    trust_delta_milli=-180,
    margin_us=-3 * HOUR_US,
    team_size=2,
    salary_bump_cents=0,
    bankrupt=True,
)


def reply(command: str = "company status", output: str = '{"a":1}', *, ok: bool = True) -> Answer:
    return Answer(command, ok, json.loads(output), output)


# -------------------------------------------------------------------------------------------------------- wake events


def test_a_completion_as_the_agent_is_told_of_it() -> None:
    assert list(wake_event(COMPLETED).items()) == [
        ("type", "task_completed"),
        ("task_id", "Task-1"),
        ("task_title", "Task-1"),
        ("client_name", LOYAL),
        ("success", False),
        ("funds_delta", -500_000),
        ("listed_reward", 1_000_000),
        ("trust_delta", -0.18),
        ("deadline_margin", "late by 3h"),
        ("employees_assigned", 2),
        ("salary_bump_total_cents", 0),
        ("bankrupt", True),
    ]


@pytest.mark.parametrize(
    ("margin_us", "text"),
    [
        (22 * HOUR_US, "ahead by 22h"),
        (-3 * HOUR_US, "late by 3h"),
        (0, "ahead by 0h"),  # at the deadline it is a success
        (-1, "late by 0h"),
        (HOUR_US * 8 // 10, "ahead by 1h"),  # the nearest hour
        (HOUR_US * 4 // 10, "ahead by 0h"),
        (HOUR_US * 5 // 2, "ahead by 2h"),  # a tie goes to the even hour
        (HOUR_US * 7 // 2, "ahead by 4h"),
        (-HOUR_US * 5 // 2, "late by 2h"),
        (170 * HOUR_US, "ahead by 170h"),
    ],
)
def test_the_margin_is_told_in_whole_hours_of_the_calendar(margin_us: int, text: str) -> None:
    assert wake_event(attrs.evolve(COMPLETED, margin_us=margin_us))["deadline_margin"] == text


def test_the_other_events_as_the_agent_is_told_of_them() -> None:
    assert list(wake_event(MilestoneReached("Task-7-2", 50)).items()) == [
        ("type", "task_half"), ("task_id", "Task-7-2"), ("milestone_pct", 50), ("handled", True),
    ]  # fmt: skip
    assert list(wake_event(PayrollPaid(-5)).items()) == [("type", "monthly_payroll"), ("funds_after", -5)]
    assert list(wake_event(HorizonEnd()).items()) == [("type", "horizon_end"), ("reached", True)]


# -------------------------------------------------------------------------------------------------------- observation


def test_the_observation_at_the_start() -> None:
    observation = observe(tiny_state())
    assert [(key, str(value)) for key, value in observation.items() if key != "text"] == [
        ("turn", "1"),
        ("sim_time", "2025-01-01T09:00:00"),
        ("horizon_end", "2026-01-01T09:00:00"),
        ("funds_cents", "10000000"),
        ("monthly_payroll_cents", "200000"),
        ("runway_months", "50.0"),
        ("active_tasks", "0"),
        ("planned_tasks", "0"),
        ("employees", "2"),
        ("events", "[]"),
        ("results", "[]"),
    ]
    assert observation["text"] == (
        "Turn 1 | 2025-01-01T09:00:00 (until 2026-01-01T09:00:00) | funds $100,000.00"
        " | payroll $2,000.00 a month, runway 50.0 months | tasks: 0 active, 0 planned | employees: 2"
    )


def test_a_company_without_payroll_has_an_endless_runway() -> None:
    observation = observe(tiny_state(employees=[]))
    assert observation["runway_months"] == MAX_RUNWAY_MONTHS
    assert "runway endless" in observation["text"]


def test_the_text_tells_all_that_happened() -> None:
    state = attrs.evolve(tiny_state(), terminal_reason="bankruptcy")
    report = TurnReport(
        (reply("sim resume", '{"ok":true}'), reply("x", '{"error":"no"}', ok=False)),
        (PayrollPaid(-5),),
        forced_advance=True,
    )
    observation = observe(state, report)
    assert observation["text"].splitlines()[1:] == [
        "The episode is over: bankruptcy.",
        "Time was moved on by itself, since the clock had stood still for too many turns.",
        'Events: [{"type":"monthly_payroll","funds_after":-5}]',
        "> sim resume",
        '{"ok":true}',
        "> x",
        '{"error":"no"}',
    ]
    assert json.loads(observation["events"]) == [{"type": "monthly_payroll", "funds_after": -5}]
    assert json.loads(observation["results"]) == [
        {"command": "sim resume", "ok": True, "output": {"ok": True}},
        {"command": "x", "ok": False, "output": {"error": "no"}},
    ]


def test_a_text_that_is_too_long_is_cut_with_a_mark() -> None:
    observation = observe(tiny_state(), TurnReport((reply(output=to_json({"a": "x" * 100_000})),)))
    assert len(observation["text"]) == MAX_TEXT_LENGTH
    assert "[cut: " in observation["text"][-60:]


# -------------------------------------------------------------------------------------------------------------- report


def test_what_does_not_fit_is_replaced_by_its_length_or_counted() -> None:
    text = json.dumps({"a": "x" * 300_000})
    results = json.loads(TurnReport((reply(), reply("long", text), reply("last"))).results_json())
    assert [entry["output"] for entry in results] == [{"a": 1}, {"cut": len(text)}, {"a": 1}]
    results = json.loads(TurnReport(tuple(reply("c" * 400) for _ in range(2000))).results_json())
    assert results[-1] == {"cut_results": 2000 - (len(results) - 1)}
    events_json = TurnReport(events=(COMPLETED,) * 5000).events_json()
    assert len(events_json) <= MAX_JSON_LENGTH
    events = json.loads(events_json)
    assert events[0] == wake_event(COMPLETED)
    assert events[-1] == {"type": "cut", "cut_events": 5000 - (len(events) - 1)}
    assert len(events) > 500


# ---------------------------------------------------------------------------------------------------------------- info


def test_the_info_of_a_turn() -> None:
    before = tiny_state(funds_cents=100)
    after = attrs.evolve(before, funds_cents=-50, terminal_reason="bankruptcy")
    report = TurnReport((reply("x", '{"error":"no"}', ok=False),), (PayrollPaid(-50),), forced_advance=True)
    assert make_info(before, after, report, 1) == {
        "results": [{"command": "x", "ok": False, "output": {"error": "no"}}],
        "events": [{"type": "monthly_payroll", "funds_after": -50}],
        "funds_delta_cents": -150,
        "invalid_commands": 1,
        "forced_advance": True,
        "terminal_reason": "bankruptcy",
        "run_seed": 1,
    }
    limit = attrs.evolve(tiny_state(tiny_config(loop={"max_turns": 2})), turns_played=2)
    assert make_info(limit, limit, TurnReport(), 0)["terminal_reason"] == "max_turns"
    assert make_info(before, before, TurnReport(), 0)["terminal_reason"] is None


def test_a_share_of_nothing_is_nothing() -> None:
    assert percent(0, 0) == 0.0
    assert percent(1, 3) == 33.33
