"""Canaries: strategies that must not pay. A change of the rules that makes one of them pay fails here."""

from __future__ import annotations

import functools

import pytest

from ycbench_agents import make_policy, rollout
from ycbench_agents.scripted.accept_all import AcceptAllPolicy
from ycbench_agents.scripted.adversary_chaser import AdversaryChaserPolicy
from ycbench_env import Config, YCBenchEnv, load_config

CANARIES = {"accept_all": AcceptAllPolicy, "adversary_chaser": AdversaryChaserPolicy}
SEEDS = range(1, 21)
_MOST_TURNS = 200  # greedy needs under 100; a canary that pays could play for minutes


def worth(config: Config, name: str, seed: int) -> int:
    """Return the final funds in cents, a bankrupt company's being 0: how deep it falls is the last payroll's size."""
    policy = CANARIES[name]() if name in CANARIES else make_policy(name)
    trajectory = rollout(YCBenchEnv(config), policy, seed, max_turns=_MOST_TURNS)
    return max(0, trajectory.final_funds_cents)


@functools.cache
def greedy(preset: str) -> tuple[int, ...]:
    """Return what greedy ends with on each seed."""
    return tuple(worth(load_config(preset, environ={}), "greedy", seed) for seed in SEEDS)


@pytest.mark.parametrize("preset", ["default", "reference"])
@pytest.mark.parametrize("name", CANARIES)
def test_a_canary_ends_below_greedy_on_seeds_1_to_20(name: str, preset: str) -> None:
    """On each seed no more than greedy, and less than half of it in the mean.

    Greedy itself goes bankrupt on a few seeds, at times deeper than a canary, so there a bankrupt company counts as 0:
    the canary has to go bankrupt, too.
    """
    config = load_config(preset, environ={})
    funds = [worth(config, name, seed) for seed in SEEDS]
    assert [seed for seed, own, other in zip(SEEDS, funds, greedy(preset), strict=True) if own > other] == []
    assert sum(funds) < sum(greedy(preset)) / 2
