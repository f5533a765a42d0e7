"""The end of an episode: it is final (B09), limits count exactly (B33), and it always comes (B10)."""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from gymnasium.error import ResetNeeded

from ycbench_env import YCBenchEnv
from ycbench_env.testing import tiny_config, tiny_state
from ycbench_env.types.state import evolve

Tiny = Callable[..., Any]
START_CONTRACT = """task accept --task-id Task-1
task assign --task-id Task-1 --employees Emp_1,Emp_2
task dispatch --task-id Task-1"""
EVERYTHING = (
    *("company status", "employee list", "market browse", "task list", "client list", "client history"),
    *("finance ledger", "report monthly", "sim resume", "scratchpad read", "scratchpad write --content x", "--help"),
    *(f"task {verb} --task-id Task-1" for verb in ("inspect", "dispatch", "assign --employees Emp_1")),
    *("task accept --task-id Task-3", "task cancel --task-id Task-1 --reason over", "dance"),
)


def bankrupt(tiny: Tiny) -> Any:
    """The tiny world with 1 cent, after its first payroll."""
    env = tiny(tiny_state(tiny_config(loop={"auto_advance_after_turns": 1}), funds_cents=1))
    assert env.step("")[2:4] == (True, False)
    return env


def test_bankruptcy_is_final_and_no_command_changes_anything(tiny: Tiny) -> None:
    env = bankrupt(tiny)
    kept, clock = env.get_state(), env.get_state().now_us
    assert kept.terminal_reason == "bankruptcy"
    for _ in range(7):  # more turns than it takes to force time
        _, reward, terminated, truncated, info = env.step("\n".join(EVERYTHING))
        assert (reward, terminated, truncated) == (0.0, True, False)
        assert info["terminal_reason"] == "bankruptcy"
        assert [result["ok"] for result in info["results"]] == [False] * len(EVERYTHING)
        assert all("only reset starts a new one" in result["output"]["error"] for result in info["results"])
        assert info["funds_delta_cents"] == 0
        assert not info["forced_advance"]
    assert env.get_state() is kept
    assert env.get_state().now_us == clock


def test_what_follows_the_ending_command_in_the_same_turn_is_refused(tiny: Tiny) -> None:
    config = tiny_config()
    env = tiny(tiny_state(config, funds_cents=1, now="2025-01-31 17:00"))
    env.step(START_CONTRACT)
    _, _, terminated, _, info = env.step(
        "sim resume\nsim resume\ncompany status\ntask accept --task-id Task-3 && dance"
    )
    assert terminated
    assert [result["ok"] for result in info["results"]] == [True, False, False, False, False]
    assert "the episode is over (bankruptcy)" in info["results"][1]["output"]["error"]
    assert len(env.get_state().tasks) == 1


def test_a_step_before_reset_raises() -> None:
    env: Any = YCBenchEnv()
    for call in (lambda: env.step(""), env.get_state, env.state_hash):
        with pytest.raises(ResetNeeded, match=r"env.reset\(seed=1\)"):
            call()


# ---- idling


def test_an_agent_that_never_speaks_is_moved_on_every_fifth_turn(env: Any) -> None:
    clocks = [env.get_state().now_us]
    forced = []
    for _ in range(15):
        forced.append(env.step("")[4]["forced_advance"])
        clocks.append(env.get_state().now_us)
    assert forced == ([False] * 4 + [True]) * 3
    assert [later > earlier for earlier, later in pairwise(clocks)] == forced


def test_a_resume_that_passes_no_time_counts_as_idle(tiny: Tiny) -> None:
    env = tiny(loop={"auto_advance_after_turns": 2})
    env.step(START_CONTRACT)  # one idle turn
    state = env.get_state()
    env.set_state(evolve(state, tasks=(evolve(state.tasks[0], completion_us=state.now_us),)))
    *_, info = env.step("sim resume")
    assert info["results"][0]["ok"]
    assert info["events"][0]["type"] == "task_completed"
    assert info["results"][0]["output"]["new_sim_time"] == info["results"][0]["output"]["old_sim_time"]
    assert info["forced_advance"]
    assert env.get_state().now_us == env.get_state().calendar.payrolls_us[0]


def test_a_forced_advance_belongs_to_its_turn(env: Any) -> None:
    for _ in range(4):
        env.step("")
    observation, reward, _, _, info = env.step("company status")
    assert info["forced_advance"]
    assert [event["type"] for event in info["events"]] == ["monthly_payroll"]
    assert info["funds_delta_cents"] == -3_800_503
    assert reward == -38_005.03
    assert "Time was moved on by itself" in observation["text"]
    assert info["results"][0]["output"]["sim_time"] == "2025-01-01T09:00:00"  # answered before


# ---- limits


def test_a_limit_of_five_allows_exactly_five_turns() -> None:
    env: Any = YCBenchEnv({"loop": {"max_turns": 5, "auto_advance_after_turns": 0}})
    env.reset(seed=1)
    flags = [env.step("company status")[2:4] for _ in range(5)]
    assert flags == [(False, False)] * 4 + [(False, True)]
    *_, info = env.step("company status")
    assert info["terminal_reason"] == "max_turns"
    assert not info["results"][0]["ok"]
    assert env.get_state().turns_played == 5
