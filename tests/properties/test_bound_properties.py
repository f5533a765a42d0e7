"""Whatever is played in whatever small world, it ends below the upper bound."""

# ruff: noqa: S311 -- plays are drawn, not secrets

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.planner import upper_bound
from ycbench_agents.planner.foresight import Foresight
from ycbench_agents.planner.rollout import Game, roll_out
from ycbench_agents.planner.search import drawn_weights
from ycbench_env import Config, State, YCBenchEnv, initial_state, load_config, transition
from ycbench_env.actions import parse_turn
from ycbench_env.testing import sample_turn, tiny_config

pytestmark = pytest.mark.no_cover  # slow under coverage, and other tests reach the same lines


@st.composite
def small_worlds(draw: st.DrawFn) -> Config:
    low = draw(st.integers(200, 900))
    reward = draw(st.integers(1_000, 500_000))
    return tiny_config(
        accrual=draw(st.sampled_from(["business_hours", "until_midnight"])),
        num_employees=draw(st.integers(0, 5)),
        num_market_tasks=draw(st.integers(0, 6)),
        max_open_tasks=draw(st.integers(0, 3)),
        efficient_team_size=draw(st.integers(1, 4)),
        skill_rate_max=draw(st.sampled_from([8.0, 12.0, 40.0])),
        salary_bump_pct=draw(st.sampled_from([0.0, 0.01, 0.2])),
        trust_work_reduction_max=draw(st.sampled_from([0.0, 0.5, 1.0])),
        trust_build_rate=draw(st.sampled_from([0.0, 2.0, 8.0])),
        trust_gated_reward_boost=draw(st.sampled_from([0.0, 0.3])),
        trust_gating_fraction=draw(st.sampled_from([0.0, 0.6])),
        prestige_qty_scale=draw(st.sampled_from([0.0, 0.3])),
        reward_prestige_scale=draw(st.sampled_from([0.0, 0.5])),
        task_progress_milestones=draw(st.sampled_from([[], [0.5], [0.3, 0.7]])),
        deadline_qty_per_day=draw(st.sampled_from([20.0, 150.0])),
        dist={
            "required_prestige": {"type": "uniform", "low": 1, "high": 2.5},
            "reward_funds_cents": {"type": "uniform", "low": reward, "high": 3 * reward},
            "required_qty": {"type": "uniform", "low": low, "high": 2 * low},
            "domain_count": {"type": "uniform", "low": 1, "high": draw(st.sampled_from([1.5, 4.5]))},
            "reward_prestige_delta": {"type": "constant", "value": 0.4},
            "skill_boost": {"type": "constant", "value": draw(st.sampled_from([0.0, 0.1, 0.9]))},
        },
    )


@settings(max_examples=6)
@given(small_worlds(), st.integers(0, 50))
def test_no_rollout_of_the_planner_exceeds_the_bound(config: Config, seed: int) -> None:
    start, rng = initial_state(config, seed), random.Random(seed)
    bound = upper_bound(config, seed).cents
    market = Foresight(start)
    course = roll_out(Game(start, market, 100), drawn_weights(start, rng), 0)
    assert course.funds_cents <= bound
    accepts = sum(command.startswith("task accept") for turn in course.turns for command in turn)
    assert course.funds_cents <= upper_bound(config, seed, most_accepts=accepts, foresight=market).cents
    unfinished = accepts - _succeeded(config, seed, ["\n".join(turn) for turn in course.turns])
    assert course.funds_cents <= upper_bound(config, seed, most_unfinished=unfinished, foresight=market).cents


def _succeeded(config: Config, seed: int, turns: list[str]) -> int:
    env = YCBenchEnv(config)
    env.reset(seed=seed)
    for turn in turns:
        env.step(turn)
    return sum(task.status == "completed_success" for task in env.get_state().tasks)


@settings(max_examples=8)
@given(small_worlds(), st.integers(0, 50))
def test_no_random_play_exceeds_the_bound(config: Config, seed: int) -> None:
    env, rng = YCBenchEnv(config), random.Random(seed)
    env.reset(seed=seed)
    bound = upper_bound(config, seed).cents
    for _ in range(300):
        *_, terminated, truncated, _ = env.step(sample_turn(env.get_state(), rng))
        if terminated or truncated:
            state = env.get_state()
            unfinished = sum(task.status != "completed_success" for task in state.tasks)
            assert state.funds_cents <= bound
            assert state.funds_cents <= upper_bound(config, seed, most_unfinished=unfinished).cents
            return


def _worth_trying(state: State) -> list[str]:
    moves = ["sim resume"] if state.active_indices else []
    if len(state.tasks) < 3:
        for offer in state.market:
            for team in ("Emp_1", "Emp_2", "Emp_1,Emp_2"):
                task = f"--task-id {offer.task_id}"
                moves.append(f"task accept {task}\ntask assign {task} --employees {team}\ntask dispatch {task}")
    return moves


@settings(max_examples=3)
@given(st.integers(0, 20), st.sampled_from(["business_hours", "until_midnight"]))
def test_best_play_of_three_tasks_stays_below_the_bound(seed: int, accrual: str) -> None:
    config = tiny_config(
        accrual=accrual,
        num_market_tasks=2,
        dist={
            "required_qty": {"type": "uniform", "low": 200, "high": 900},
            "reward_funds_cents": {"type": "uniform", "low": 100_000, "high": 900_000},
        },
    )
    assert _most_earned(initial_state(config, seed)) <= upper_bound(config, seed, most_accepts=3).gain_cents


def _most_earned(state: State) -> int:
    """Largest sum of rewards of three tasks, over all orders and teams."""
    earned = sum(entry.amount_cents for entry in state.ledger if entry.category == "task_reward")
    if state.end_reason is not None:
        return earned
    best = earned
    for moves in _worth_trying(state):
        after = state
        for parsed in parse_turn(moves):
            assert parsed.command is not None
            after = transition(after, parsed.command).state
        if after is not state:
            best = max(best, _most_earned(after))
    return best


@settings(max_examples=5)
@given(small_worlds(), st.integers(0, 50))
def test_the_bound_grows_with_what_is_allowed(config: Config, seed: int) -> None:
    few, more = (upper_bound(config, seed, most_accepts=number).cents for number in (2, 5))
    assert few <= more
    all_done, some_left = (upper_bound(config, seed, most_unfinished=number).cents for number in (0, 3))
    assert all_done <= some_left + 100
    limited = load_config(config, overrides={"world": {"max_open_tasks": 1}}, environ={})
    free = load_config(config, overrides={"world": {"max_open_tasks": 0}}, environ={})
    # Each is rounded up with a margin of its own.
    assert upper_bound(limited, seed).cents <= upper_bound(free, seed).cents + 100
