"""The published greedy row comes out to the cent, by the rules that it was played by."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import Final

import gymnasium as gym
import pytest

import ycbench_env  # noqa: F401 -- registers the ids
from ycbench_agents import make_policy, rollout
from ycbench_env import State, YCBenchEnv, initial_state, load_config
from ycbench_env.config import diff_configs
from ycbench_env.units import EPOCH

PUBLISHED_FUNDS_USD: Final = [195_084, 160_215, 129_408, 96_259, 55_134, 19_994, 3_756, 0, 0, 0, 0]
"""Of the greedy bot in February to December 2025, mean of seeds 1 to 3, as published."""


@cache
def played(preset: str, seed: int) -> State:
    """Return the last state of a year of the greedy policy."""
    env = YCBenchEnv(preset)
    rollout(env, make_policy("greedy"), seed)
    return env.get_state()


@pytest.mark.parametrize(
    ("seed", "funds_cents", "day", "succeeded", "failed"),
    [
        (1, -2_438_278, "2025-07-01", 1, 2),
        (2, -2_853_827, "2025-09-01", 5, 2),
        (3, -3_017_422, "2025-08-01", 3, 2),
    ],
)
def test_the_published_bot_goes_bankrupt_as_it_did(
    seed: int, funds_cents: int, day: str, succeeded: int, failed: int
) -> None:
    state = played("published-bot", seed)
    assert (state.terminal_reason, state.funds_cents, state.sim_time) == ("bankruptcy", funds_cents, f"{day}T09:00:00")
    counts = state.status_counts
    assert (counts["completed_success"], counts["completed_fail"], counts["cancelled"]) == (succeeded, failed, 0)


def funds_at_the_end_of(state: State, month: int) -> int:
    """Return the funds in cents at the end of a month of 2025, 0 for a company that is bankrupt by then."""
    end_us = (dt.datetime(2025 + month // 12, month % 12 + 1, 1) - EPOCH) // dt.timedelta(microseconds=1)  # noqa: DTZ001
    booked = sum(entry.amount_cents for entry in state.ledger if entry.time_us < end_us)
    return max(0, state.config.world.initial_funds_cents + booked)


def test_the_published_months_are_those_of_this_bot_to_the_dollar() -> None:
    ended = [played("published-bot", seed) for seed in (1, 2, 3)]
    means = [round(sum(funds_at_the_end_of(state, month) for state in ended) / 300) for month in range(2, 13)]
    assert means == PUBLISHED_FUNDS_USD


@pytest.mark.parametrize(("seed", "funds_cents"), [(1, 42_029_521), (2, 27_129_705), (3, -1_630_305)])
def test_by_the_rules_that_models_were_scored_by_the_same_policy_ends_far_better(seed: int, funds_cents: int) -> None:
    assert played("reference", seed).funds_cents == funds_cents


def test_the_bots_world_differs_from_the_reference_in_its_copy_of_accept_only() -> None:
    reference, bot = load_config("reference", environ={}), load_config("published-bot", environ={})
    assert {difference.key: difference.right for difference in diff_configs(reference, bot)} == {
        "name": "published-bot",
        "description": bot.description,
        "world.adversarial_inflation_passes": 2,
        "world.replacement_numbering": "episode",
    }


def ends_with(**switches: object) -> list[int]:
    """Return the final funds of seeds 1 to 3 under reference rules with some switches set."""
    env = YCBenchEnv({"extends": "reference", "world": switches})
    return [rollout(env, make_policy("greedy"), seed).final_funds_cents for seed in (1, 2, 3)]


def test_the_second_inflation_makes_the_row_and_the_numbering_comes_too_late_to_show() -> None:
    row = [played("published-bot", seed).funds_cents for seed in (1, 2, 3)]
    assert ends_with(adversarial_inflation_passes=2) == row
    assert ends_with(replacement_numbering="episode") != row
    for seed in (1, 2, 3):
        start = initial_state(load_config("published-bot", environ={}), seed)
        assert {task.offer for task in played("published-bot", seed).tasks} <= set(start.market)  # no replacement


def test_gymnasium_makes_the_bots_world_by_name() -> None:
    env = gym.make("YCBench-v0", config="published-bot")
    assert rollout(env, make_policy("greedy"), 1).final_funds_cents == -2_438_278
    env.close()
