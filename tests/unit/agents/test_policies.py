"""Policies: what greedy ends with is published; random gives only commands that are carried out."""

from __future__ import annotations

import gymnasium
import pytest

import ycbench_env  # noqa: F401 -- registers the ids
from ycbench_agents import Policy, PolicyError, make_policy, policy_names, rollout

WITH_OTHERS = {"human", "llm", "replay"}  # somebody to ask, or something to replay; they have tests of their own
SCRIPTED = [name for name in policy_names() if name not in WITH_OTHERS]
GREEDY = [(1, 42_029_521, 42, 10), (2, 27_129_705, 39, 11), (3, -1_630_305, 10, 9)]


@pytest.mark.parametrize("preset", ["default", "reference"])
@pytest.mark.parametrize(("seed", "funds_cents", "completed", "failed"), GREEDY)
def test_greedy_ends_with_the_known_funds_under_either_accrual(
    preset: str, seed: int, funds_cents: int, completed: int, failed: int
) -> None:
    env = gymnasium.make("YCBench-v0", config=preset)
    trajectory = rollout(env, make_policy("greedy"), seed)
    events = [event for info in trajectory.infos for event in info["events"] if event["type"] == "task_completed"]
    assert trajectory.final_funds_cents == funds_cents
    assert sum(event["success"] is True for event in events) == completed
    assert sum(event["success"] is False for event in events) == failed
    assert trajectory.terminal_reason == ("bankruptcy" if funds_cents < 0 else "horizon_end")


def test_greedy_is_bankrupt_on_seed_3_on_the_first_of_september() -> None:
    trajectory = rollout(gymnasium.make("YCBench-v0"), make_policy("greedy"), 3)
    assert trajectory.observations[-1]["sim_time"] == "2025-09-01T09:00:00"


def test_greedy_lets_time_pass_when_it_sees_nothing_to_take() -> None:
    config = {"world": {"initial_prestige_level": 1.0, "num_market_tasks": 0}}
    trajectory = rollout(gymnasium.make("YCBench-v0", config=config), make_policy("greedy"), 1)
    assert trajectory.terminated
    assert any(info["forced_advance"] for info in trajectory.infos)
    assert all(result["ok"] for info in trajectory.infos for result in info["results"])


@pytest.mark.parametrize("seed", range(6))
def test_every_command_of_random_is_carried_out(seed: int) -> None:
    config = {"world": {"initial_funds_cents": 10**9, "task_progress_milestones": [0.5]}}
    trajectory = rollout(gymnasium.make("YCBench-v0", config=config), make_policy("random"), seed)
    results = [result for info in trajectory.infos for result in info["results"]]
    assert [result for result in results if not result["ok"]] == []
    assert sum(info["invalid_commands"] for info in trajectory.infos) == 0
    assert {" ".join(result["command"].split()[:2]) for result in results} >= {
        "market browse", "task accept", "task assign", "task dispatch", "sim resume", "task inspect"
    }  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTED)
def test_equal_seeds_give_equal_trajectories(name: str) -> None:
    first = rollout(gymnasium.make("YCBench-v0"), make_policy(name), 5)
    policy = make_policy(name)
    rollout(gymnasium.make("YCBench-v0"), policy, 9)  # a used policy forgets what it saw
    second = rollout(gymnasium.make("YCBench-v0"), policy, 5)
    assert first.actions == second.actions
    assert first.rewards == second.rewards
    assert str(first.observations) == str(second.observations)


def test_different_seeds_make_random_play_differently() -> None:
    env = gymnasium.make("YCBench-v0")
    assert rollout(env, make_policy("random"), 1).actions != rollout(env, make_policy("random"), 2).actions


@pytest.mark.parametrize("name", SCRIPTED)
def test_every_named_policy_follows_the_protocol(name: str) -> None:
    assert isinstance(make_policy(name), Policy)


def test_the_return_is_the_change_in_funds() -> None:
    env = gymnasium.make("YCBench-v0")
    trajectory = rollout(env, make_policy("greedy"), 2)
    assert trajectory.total_return == (27_129_705 - 20_000_000) / 100
    assert sum(trajectory.rewards) == pytest.approx(trajectory.total_return)
    assert len(trajectory.observations) == len(trajectory.infos) == len(trajectory.actions) + 1 == trajectory.turns + 1


def test_a_rollout_can_be_cut_off() -> None:
    trajectory = rollout(gymnasium.make("YCBench-v0"), make_policy("greedy"), 1, max_turns=3)
    assert trajectory.turns == 3
    assert not trajectory.terminated
    assert not trajectory.truncated
    assert trajectory.terminal_reason is None


def test_a_misspelt_policy_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(PolicyError, match=r"got 'gredy', expected .*greedy, .*random, .*; did you mean 'greedy'\?"):
        make_policy("gredy")


def test_an_unknown_parameter_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PolicyError, match="policy 'greedy': got parameter depth, expected no parameters"):
        make_policy("greedy", depth=3)
