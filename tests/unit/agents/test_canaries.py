"""Canaries: strategies that must not pay. A change of the rules that makes one of them pay fails here."""

from __future__ import annotations

import pytest

from ycbench_agents import make_policy, rollout
from ycbench_env import YCBenchEnv

MOST_TURNS = 200  # greedy needs under 100; a canary that pays could play for minutes


def worth(preset: str, name: str, seed: int) -> int:
    """Return the final funds in cents, a bankrupt company's being 0."""
    return max(0, rollout(YCBenchEnv(preset), make_policy(name), seed, max_turns=MOST_TURNS).final_funds_cents)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "reference"])
@pytest.mark.parametrize("name", ["accept_all", "adversary_chaser"])
def test_canary_ends_below_greedy_on_seeds_1_to_20(name: str, preset: str) -> None:
    """On each seed no more than greedy, and less than half of it in the mean."""
    canary, greedy = ([worth(preset, each, seed) for seed in range(1, 21)] for each in (name, "greedy"))
    assert all(own <= other for own, other in zip(canary, greedy, strict=True))
    assert sum(canary) < sum(greedy) / 2
