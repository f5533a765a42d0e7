"""Scores that are pinned to the cent, the greedy row of the public table among them; canaries, which must not pay."""

from __future__ import annotations

import datetime as dt
from functools import cache
from typing import Final

import pytest

from ycbench_agents import make_policy, rollout
from ycbench_env import State, YCBenchEnv, load_config
from ycbench_env.config import diff_configs
from ycbench_env.units import EPOCH

pytestmark = pytest.mark.no_cover  # slow under coverage, and other tests reach the same lines

PUBLISHED_FUNDS_USD: Final = [195_084, 160_215, 129_408, 96_259, 55_134, 19_994, 3_756, 0, 0, 0, 0]
"""Of the greedy bot in February to December 2025, mean of seeds 1 to 3, as published."""
# Final funds in cents on seeds 1 to 3. Whoever plays one task at a time ends alike under either accrual.
FINAL_FUNDS: Final = {
    "greedy": (42_029_521, 27_129_705, -1_630_305),
    "conservative": (155_377_316, 157_543_545, 161_574_068),
    "idle": (-2_803_018, -2_803_018, -2_803_018),
    "prestige": (40_628_290, 36_608_250, 16_033_755),
    "throughput": (15_374_243, 14_751_018, 47_383_755),
    "accept_all": (-2_803_018, -3_465_897, -2_803_018),
    "adversary_chaser": (-1_919_321, -3_758_076, -343_203),
    "expert": (287_800_365, 304_065_055, 290_038_921),
}
REFERENCE: Final = FINAL_FUNDS | {
    "accept_all": (-2_803_018, -431_513, -2_803_018),
    "expert": (410_690_465, 430_507_893, 411_278_380),
}


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
def test_published_bot_goes_bankrupt_as_it_did(
    seed: int, funds_cents: int, day: str, succeeded: int, failed: int
) -> None:
    state = played("published-bot", seed)
    assert (state.terminal_reason, state.funds_cents, state.sim_time) == ("bankruptcy", funds_cents, f"{day}T09:00:00")
    counts = state.status_counts
    assert (counts["completed_success"], counts["completed_fail"], counts["cancelled"]) == (succeeded, failed, 0)


def test_published_months_match_to_the_dollar() -> None:
    def funds_after(state: State, month: int) -> int:
        """Return the funds in cents at the end of a month, 0 for a company that is bankrupt by then."""
        end_us = (dt.datetime(2025 + month // 12, month % 12 + 1, 1) - EPOCH) // dt.timedelta(microseconds=1)  # noqa: DTZ001
        booked = sum(entry.amount_cents for entry in state.ledger if entry.time_us < end_us)
        return max(0, state.config.world.initial_funds_cents + booked)

    ended = [played("published-bot", seed) for seed in (1, 2, 3)]
    means = [round(sum(funds_after(state, month) for state in ended) / 300) for month in range(2, 13)]
    assert means == PUBLISHED_FUNDS_USD


def test_published_bot_differs_in_two_settings() -> None:
    reference, bot = load_config("reference", environ={}), load_config("published-bot", environ={})
    assert {difference.key: difference.right for difference in diff_configs(reference, bot)} == {
        "name": "published-bot",
        "description": bot.description,
        "world.adversarial_inflation_passes": 2,
        "world.replacement_numbering": "episode",
    }
    twice = YCBenchEnv({"extends": "reference", "world": {"adversarial_inflation_passes": 2}})
    funds = [rollout(twice, make_policy("greedy"), seed).final_funds_cents for seed in (1, 2, 3)]
    assert funds == [played("published-bot", seed).funds_cents for seed in (1, 2, 3)]


@pytest.mark.parametrize("name", FINAL_FUNDS)
@pytest.mark.parametrize(
    ("preset", "seed"),
    [
        ("reference", 1),
        *[pytest.param("reference", seed, marks=pytest.mark.slow) for seed in (2, 3)],
        *[pytest.param("default", seed, marks=pytest.mark.slow) for seed in (1, 2, 3)],
    ],
)
def test_final_funds_are_pinned(name: str, preset: str, seed: int) -> None:
    expected = (REFERENCE if preset == "reference" else FINAL_FUNDS)[name][seed - 1]
    assert rollout(YCBenchEnv(preset), make_policy(name), seed).final_funds_cents == expected


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "reference"])
@pytest.mark.parametrize("name", ["accept_all", "adversary_chaser"])
def test_canary_ends_below_greedy_on_seeds_1_to_20(name: str, preset: str) -> None:
    """On each seed no more than greedy, and less than half of it in the mean; bankruptcy counts as 0."""
    canary, greedy = (
        [
            # Greedy needs under 100 turns; a canary that pays could play for minutes.
            max(0, rollout(YCBenchEnv(preset), make_policy(each), seed, max_turns=200).final_funds_cents)
            for seed in range(1, 21)
        ]
        for each in (name, "greedy")
    )
    assert all(own <= other for own, other in zip(canary, greedy, strict=True))
    assert sum(canary) < sum(greedy) / 2
