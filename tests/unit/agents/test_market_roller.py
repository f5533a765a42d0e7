"""The market roller: what the loophole is worth, and that it closes."""

from __future__ import annotations

from collections import Counter

import pytest

from ycbench_agents import Trajectory, rollout
from ycbench_agents.scripted.expert import ExpertPolicy
from ycbench_agents.scripted.market_roller import MarketRollerPolicy
from ycbench_env import YCBenchEnv


def play(policy: ExpertPolicy | MarketRollerPolicy, *, max_open_tasks: int = 0, max_turns: int = 100) -> Trajectory:
    return rollout(YCBenchEnv({"world": {"max_open_tasks": max_open_tasks}}), policy, 1, max_turns=max_turns)


def accepted(trajectory: Trajectory) -> int:
    results = [result for info in trajectory.infos for result in info["results"] if result["ok"]]
    return Counter(" ".join(result["command"].split()[:2]) for result in results)["task accept"]


@pytest.mark.slow
def test_rolling_pays_far_more_than_the_same_play_without() -> None:
    rolled, plain = play(MarketRollerPolicy(), max_turns=1_000), play(ExpertPolicy(), max_turns=1_000)
    assert rolled.terminal_reason == "horizon_end"
    assert rolled.final_funds_cents > 1.3 * plain.final_funds_cents
    assert accepted(rolled) > 10 * accepted(plain)


def test_planned_tasks_are_never_listed() -> None:
    rolled = play(MarketRollerPolicy())
    assert rolled.observations[-1]["planned_tasks"] > 500
    assert not any("task list" in str(turn) for turn in rolled.actions)
    assert max(len(observation["text"]) for observation in rolled.observations) < 100_000


@pytest.mark.slow
def test_limit_on_open_tasks_makes_it_the_expert_again() -> None:
    rolled = play(MarketRollerPolicy(), max_open_tasks=20, max_turns=1_000)
    assert rolled.final_funds_cents > 240_000_000
    assert accepted(rolled) < 500
    plain = play(ExpertPolicy(), max_open_tasks=20, max_turns=1_000)
    assert rolled.final_funds_cents < 1.15 * plain.final_funds_cents
