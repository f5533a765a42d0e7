"""The planner's search: what it finds, what it promises, and when it stops."""

# ruff: noqa: S311 -- searches are drawn, not secrets

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Final

import attrs
import pytest

from ycbench_agents.planner import Progress, plan, replay_plan, search, upper_bound
from ycbench_agents.planner.foresight import Foresight
from ycbench_agents.planner.rollout import Course, Game, roll_out
from ycbench_agents.planner.search import drawn_weights, first_weights, mutated
from ycbench_env import Config, YCBenchEnv, initial_state, load_config
from ycbench_env.testing import tiny_config

SMALL: Final[dict[str, object]] = {"num_market_tasks": 12, "max_open_tasks": 0}


def small(preset: str = "default", **world: object) -> Config:
    return load_config(preset, overrides={"world": {**SMALL, **world}}, environ={})


def game(config: Config, seed: int = 1, most_passes: int = 500) -> Game:
    start = initial_state(config, seed)
    return Game(start, Foresight(start), most_passes)


@pytest.mark.parametrize(("limit", "listed"), [(0, 40), (8, 60)])
def test_a_plan_replays_through_the_environment_to_its_score(limit: int, listed: int) -> None:
    config = small("reference", max_open_tasks=limit, num_market_tasks=listed)
    found = plan(config, 2, budget_rollouts=1, most_passes=200)
    env = YCBenchEnv(config)
    env.reset(seed=2)
    terminated = False
    for turn in found.turns:
        assert not terminated
        _, _, terminated, _, info = env.step(turn)
        assert all(result["ok"] for result in info["results"])
    assert terminated
    assert env.get_state().funds_cents == found.final_funds_cents > config.world.initial_funds_cents


def test_the_tiny_world_is_solved_to_within_one_task() -> None:
    config = tiny_config()
    found = plan(config, 1, budget_rollouts=6)
    bound = upper_bound(config, 1)
    assert 0 <= bound.cents - found.final_funds_cents < 2 * 1_000_000


@pytest.mark.slow
def test_equal_numbers_of_rollouts_give_equal_plans() -> None:
    config = small()
    first = plan(config, 1, budget_rollouts=8, most_passes=20)
    assert plan(config, 1, budget_rollouts=8, most_passes=20) == first
    assert plan(config, 1, budget_rollouts=8, most_passes=20, search_seed=1) != first


def test_more_rollouts_never_make_a_worse_plan() -> None:
    seen: list[int] = []
    config = tiny_config(num_market_tasks=2)
    plan(config, 3, budget_rollouts=25, on_progress=lambda so_far: seen.append(so_far.best_cents))
    assert len(seen) == 25
    assert seen == sorted(seen)


def test_mutated_weights_stay_possible() -> None:
    start, rng = initial_state(small(), 1), random.Random(9)
    weights = drawn = drawn_weights(start, rng)
    for _ in range(100):
        weights = mutated(weights, rng)
        assert (len(weights.homes), len(weights.clients)) == (8, 6)
        assert set(weights.homes) <= {0, 1, 2, 3}
        assert min(weights.clients) >= 0
    assert weights != drawn


def test_budget_of_seconds_follows_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Progress] = []
    ticks = iter(range(1000))
    monkeypatch.setattr(search, "time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    plan(small(num_market_tasks=3), 1, budget_seconds=3.0, most_passes=20, on_progress=seen.append)
    assert [(so_far.rollouts, so_far.seconds) for so_far in seen] == [(1, 1.0), (2, 2.0), (3, 3.0)]


def test_ctrl_c_keeps_the_best_plan_so_far() -> None:
    def stop(so_far: Progress) -> None:
        if so_far.rollouts == 2:
            raise KeyboardInterrupt

    config = small()
    found = plan(config, 1, budget_seconds=1e9, most_passes=20, on_progress=stop)
    assert found.interrupted
    assert replay_plan(config, found) == found.final_funds_cents


@pytest.mark.parametrize(
    ("budgets", "named"),
    [
        ({}, "budget_seconds=None, budget_rollouts=None"),
        ({"budget_seconds": 0.0}, "budget_seconds=0.0"),
        ({"budget_seconds": float("nan")}, "budget_seconds=nan"),
        ({"budget_rollouts": 0}, "budget_rollouts=0"),
        ({"budget_rollouts": 1, "most_passes": -1}, "most_passes=-1"),
    ],
)
def test_a_budget_that_allows_nothing_is_refused(budgets: dict[str, float], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        plan(small(), 1, **budgets)  # pyright: ignore[reportArgumentType] -- on purpose


def test_no_more_offers_are_passed_by_than_allowed() -> None:
    weights = attrs.evolve(first_weights(initial_state(small(), 1))[0], pass_price=1.0)
    passed = [roll_out(game(small(), most_passes=most), weights, 0).passed for most in (0, 40, 200)]
    assert passed[0] == 0
    assert 0 < passed[1] <= 40 < passed[2] <= 200


def test_a_limit_on_open_tasks_is_kept_by_cancelling() -> None:
    config = small(max_open_tasks=3)
    weights = attrs.evolve(first_weights(initial_state(config, 1))[0], keep=1500.0, keep_from=0.0, few=1, rest=1)
    course = roll_out(game(config), weights, 0)
    commands = [command for turn in course.turns for command in turn]
    assert any(command.startswith("task cancel") for command in commands)
    assert _funds(config, course) == course.funds_cents


def _funds(config: Config, course: Course) -> int:
    env = YCBenchEnv(config)
    env.reset(seed=1)
    for turn in course.turns:
        env.step("\n".join(turn))
    return env.get_state().funds_cents


def test_a_repair_keeps_what_was_decided_before_its_cut() -> None:
    shared = game(small())
    weights = first_weights(shared.start)[0]
    base = roll_out(shared, weights, 0)
    cut = 4
    other = roll_out(shared, attrs.evolve(weights, homes=(3,) * 8), 1, base, cut)
    assert other.turns[:cut] == base.turns[:cut]
    assert other.turns[cut:] != base.turns[cut:]
    assert _funds(small(), other) == other.funds_cents


def test_equal_weights_from_any_cut_end_alike() -> None:
    shared = game(small())
    weights = first_weights(shared.start)[0]
    base = roll_out(shared, weights, 0)
    for cut in (1, len(base.marks) // 2, len(base.marks) - 1):
        assert roll_out(shared, weights, 0, base, cut).turns == base.turns


STRANGE: Final = {
    "nobody": small(num_employees=0),
    "no market": small(num_market_tasks=0),
    "adversary": small(num_clients=1, loyalty_rat_fraction=1.0),
    "penniless": small(initial_funds_cents=0),
    "no work left": small(trust_work_reduction_max=1.0, trust_build_rate=0.1, num_market_tasks=3),
    "inflated twice": small(adversarial_inflation_passes=2),
    "few turns": load_config("default", overrides={"loop": {"max_turns": 7}, "world": SMALL}, environ={}),
    "quick": load_config("default", overrides={"loop": {"auto_advance_after_turns": 1}, "world": SMALL}, environ={}),
    "unforced": load_config("default", overrides={"loop": {"auto_advance_after_turns": 0}, "world": SMALL}, environ={}),
    "many domains": small(
        task_progress_milestones=[0.25, 0.5], dist={"domain_count": {"type": "uniform", "low": 1, "high": 4.9}}
    ),
}


@pytest.mark.parametrize("config", STRANGE.values(), ids=STRANGE.keys())
def test_strange_worlds_are_planned_too(config: Config) -> None:
    found = plan(config, 1, budget_rollouts=1, most_passes=20)
    assert upper_bound(config, 1).cents >= found.final_funds_cents


def test_honest_plan_dispatches_all_it_accepts() -> None:
    """Where a slot is refilled at dispatch, the same commands bring the same funds."""
    usual, strict = (small(num_market_tasks=60, **world) for world in ({}, {"refill_at": "dispatch"}))
    found = plan(usual, 1, budget_rollouts=1, most_passes=0)
    commands = "\n".join(found.turns)
    assert 0 < commands.count("task accept") == commands.count("task dispatch")
    assert plan(strict, 1, budget_rollouts=1).turns == found.turns
    assert replay_plan(strict, attrs.evolve(found, config_digest=strict.digest())) == found.final_funds_cents


def test_honest_plan_cancels_nothing_under_a_limit() -> None:
    commands = "\n".join(plan(small(max_open_tasks=3), 1, budget_rollouts=2, most_passes=0).turns)
    assert "task cancel" not in commands
