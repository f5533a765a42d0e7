"""Whole episodes of valid and hostile turns in several worlds; every invariant after every turn."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, run_state_machine_as_test
from world_proofs import ProvenMachine, proven

from ycbench_env import Config, YCBenchEnv
from ycbench_env.testing import sample_turn, tiny_config, valid_configs
from ycbench_env.testing.conformance import sample_contract
from ycbench_env.vocabulary import TIERS
from ycbench_env.wrappers import ScratchpadMemory

pytestmark = pytest.mark.no_cover  # slow under coverage, and other tests reach the same lines

CONCURRENT: Final[dict[str, Any]] = {
    "num_employees": 11,
    "num_clients": 9,
    "num_market_tasks": 40,
    "task_progress_milestones": [0.25, 0.5, 0.75],
    "prestige_decay_per_day": 0.004,
    "reward_prestige_scale": 0.55,
    "trust_gated_reward_boost": 0.15,
    "penalty_cancel_multiplier": 2.0,
    "penalty_fail_multiplier": 1.4,
    "loyalty_rat_fraction": 0.2,
    "initial_funds_cents": 60_000_000,
    "deadline_qty_per_day": 60.0,
    "dist": {
        "domain_count": {"type": "triangular", "low": 1, "high": 3, "mode": 1},
        "required_prestige": {"type": "triangular", "low": 1, "high": 10, "mode": 1},
        "reward_funds_cents": {"type": "triangular", "low": 500_000, "high": 4_000_000, "mode": 1_400_000},
    },
}
FLAT: Final[dict[str, Any]] = {
    "num_employees": 4,
    "num_clients": 3,
    "num_market_tasks": 20,
    "loyalty_rat_fraction": 0.0,
    "trust_fragility": 0.0,
    "trust_focus_pressure": 0.0,
    "salary_bump_pct": 0.0,
    "initial_prestige_level": 3.0,
    "initial_funds_cents": 200_000_000,
    "penalty_fail_funds_pct": 0.0,
    "task_progress_milestones": [0.5],
    "dist": {
        "required_qty": {"type": "uniform", "low": 300, "high": 900},
        "reward_prestige_delta": {"type": "constant", "value": 0.125},
    },
}
WORLDS: Final[dict[str, Any]] = {
    # A smaller market than the presets', which changes nothing but the time that checking takes.
    "default": {"extends": "default", "world": {"num_market_tasks": 60}},
    "reference": {"extends": "reference", "world": {"num_market_tasks": 60}},
    "classic-hard": {"extends": "classic-hard", "world": {"num_market_tasks": 40}},
    "classic-tutorial": {"extends": "classic-tutorial", "world": {"num_market_tasks": 30}},
    "several domains, milestones, decay, documents' rules": {"world": CONCURRENT},
    "several domains, milestones, decay, reference rules": {"extends": "reference", "world": CONCURRENT},
    "flat, no forced advance, a milestone at the very end": {
        "world": {**FLAT, "task_progress_milestones": [0.5, 1.0]},
        "loop": {"auto_advance_after_turns": 0},
    },
    "poor, every turn moves time, few turns": {
        "world": {"initial_funds_cents": 12_000_000, "num_market_tasks": 12},
        "loop": {"auto_advance_after_turns": 1, "max_turns": 25},
    },
    "tiny, turn limit, short of everything": tiny_config(
        initial_funds_cents=2_000_000,
        num_market_tasks=3,
        trust_fragility=0.9,
        trust_focus_pressure=0.9,
        prestige_decay_per_day=0.01,
        loop={"max_turns": 30, "auto_advance_after_turns": 3},
    ),
    "at most two tasks, work inflated twice, replacements numbered by the episode": {
        "extends": "published-bot",
        "world": {"num_market_tasks": 12, "max_open_tasks": 2, "initial_funds_cents": 60_000_000},
    },
    "replaced at dispatch": {"extends": "honest", "world": {"num_market_tasks": 12, "initial_funds_cents": 60_000_000}},
    "replaced at completion, numbered by the episode": {
        "extends": "published-bot",
        "world": {"num_market_tasks": 12, "initial_funds_cents": 60_000_000, "refill_at": "completion"},
    },
    "nobody and nothing": {"world": {"num_employees": 0, "num_market_tasks": 0}},
}
PLAYABLE: Final = {
    "sim.horizon_years": (1, 1),
    "loop.auto_advance_after_turns": (4, 12),
    "loop.max_turns": (0, 0),
    "world.num_employees": (1, 9),
    "world.num_market_tasks": (3, 24),
    "world.initial_funds_cents": (10**7, 10**8),
    "world.market_prestige_ladder": (1, 4),
    "world.min_task_qty": (1, 300),
    "world.prestige_min": (0, 2),
    "world.initial_prestige_level": (2, 6),
    "world.prestige_max": (5, 12),
    "world.prestige_decay_per_day": (0, 0.02),
    "world.prestige_qty_scale": (0, 1),
    "world.salary_bump_pct": (0, 0.2),
    "world.salary_max_cents": (0, 10**6),
    "world.skill_rate_max": (1, 30),
    "world.efficient_team_size": (1, 5),
    "world.trust_fragility": (0, 1),
    "world.trust_focus_pressure": (0, 1),
    "world.loyalty_severity": (0, 5),
    "world.deadline_qty_per_day": (5, 60),
    "world.deadline_min_biz_days": (0, 30),
    "world.dist.required_prestige": (1, 5),
    "world.dist.required_qty": (1, 1_000),
    "world.dist.reward_prestige_delta": (0, 1),
    "world.dist.skill_boost": (0, 1),
    **{f"world.salary_{tier}.{name}_cents": (0, 3 * 10**5) for tier in TIERS for name in ("min", "max")},
    **{f"world.salary_{tier}.rate_{name}": (0.5, 20) for tier in TIERS for name in ("min", "max")},
}
"""Ranges of worlds in which work can be taken on, is done in weeks and pays; what is a word is left as it is."""
SETTINGS: Final = settings(
    max_examples=4, stateful_step_count=18, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.parametrize("name", WORLDS)
def test_whole_episodes_keep_every_invariant(name: str) -> None:
    run_state_machine_as_test(proven(WORLDS[name]), settings=SETTINGS)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_many_long_episodes_keep_every_invariant(name: str) -> None:
    soak = settings(SETTINGS, max_examples=40, stateful_step_count=60, derandomize=False)
    run_state_machine_as_test(proven(WORLDS[name]), settings=soak)


class AnyWorld(ProvenMachine):
    """Draws a legal configuration for each episode."""

    drawn: Config | None = None

    @initialize(seed=st.integers(0, 99), config=valid_configs())
    def start(self, seed: int, config: Config | None = None) -> None:
        """Begin an episode, the first one in a new world."""
        if config is not None:
            self.drawn = config
            self.env = self.make_env()
        super().start(seed)

    def make_env(self) -> ScratchpadMemory:
        """The environment of the configuration drawn."""
        return ScratchpadMemory(YCBenchEnv(self.drawn or self.config))


def test_any_legal_configuration_keeps_every_invariant() -> None:
    run_state_machine_as_test(AnyWorld, settings=settings(SETTINGS, max_examples=8, stateful_step_count=20))


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(config=valid_configs(ranges=PLAYABLE), seed=st.integers(0, 10**6))
def test_busy_episodes_in_any_world_where_work_can_be_done_keep_every_invariant(config: Config, seed: int) -> None:
    machine = proven(config)()
    machine.start(seed)
    rng = random.Random(seed)  # noqa: S311 -- a play, no secret
    for _ in range(15):
        if machine.goes_on():
            start = sample_contract(machine.state, rng) if rng.random() < 0.6 else sample_turn(machine.state, rng)
            machine.play("\n".join([start, *["sim resume"] * rng.randint(0, 3), "market browse"]))
