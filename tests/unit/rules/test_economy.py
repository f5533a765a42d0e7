"""Money, quantities, deadlines and skills, where bounds and cuts decide. Source: Y-2.4, Y-4.1, Y-5.5, Y-7.

The generator's tests write the draws of tasks a second time, ``world_proofs`` terms, raises and skills.
"""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_env.rules.economy import (
    HIGHEST_RATE_E4,
    boosted_rate,
    deadline_days,
    failure_penalty,
    gate_chance,
    reduced_quantity,
    required_trust,
    scaled_by_prestige,
)


@pytest.mark.parametrize(
    ("base", "scale", "prestige", "expected"),
    [
        (800, 0.3, 1, 800),
        (800, 0.3, 3, 1280),  # 800 x (1 + 0.3 x 2) = 800 x 1.6
        (401, 0.3, 2, 521),  # 401 x 1.3 = 521.3
    ],
)
def test_a_draw_grows_with_every_level_of_prestige_above_the_first(
    base: int, scale: float, prestige: int, expected: int
) -> None:
    assert scaled_by_prestige(base, scale, prestige) == expected


def test_a_penalty_is_a_product_of_doubles_that_is_cut() -> None:
    assert failure_penalty(1_432_320, 0.35) == 501_311  # 0.35 x 1,432,320 = 501,312, but the product is 501311.999...
    assert failure_penalty(1_000_001, 0.35) == 350_000  # 350,000.35
    assert failure_penalty(2, 0.35) == 0  # 0.7


@pytest.mark.parametrize(("boost_e4", "raises"), [(100_000, 300), (4000, 2100)])
def test_a_rate_without_a_cap_ends_where_it_can_still_be_stored(boost_e4: int, raises: int) -> None:
    rate_e4 = 10_000
    for _ in range(raises):
        before, rate_e4 = rate_e4, boosted_rate(rate_e4, boost_e4, HIGHEST_RATE_E4)
        assert rate_e4 > before or rate_e4 == HIGHEST_RATE_E4
    assert rate_e4 == HIGHEST_RATE_E4


@given(st.integers(10**12, 10**40), st.integers(0, 100_000))
def test_a_boost_of_a_large_rate_is_stored_as_of_a_small_one_the_decimal_of_its_nearest_double(
    rate_e4: int, boost_e4: int
) -> None:
    exact = Fraction(rate_e4, 10_000) * Fraction(10_000 + boost_e4, 10_000)
    text = f"{float(exact):.4f}"  # of a double, exact at any size
    assert boosted_rate(rate_e4, boost_e4, HIGHEST_RATE_E4) == int(text.replace(".", ""))


def test_without_a_scale_of_trust_nothing_is_reduced() -> None:
    assert reduced_quantity(800, 0.5, 0, 0.0, 200) == 800


def test_a_deadline_gives_whole_days_and_never_fewer_than_the_least() -> None:
    assert [deadline_days(quantity, 150.0, 7) for quantity in (100, 1050, 1199, 1200, 1500)] == [7, 7, 7, 8, 10]
    assert deadline_days(100, 150.0, 0) == 0


@pytest.mark.parametrize(
    ("reward", "fraction", "chance"),
    [
        # g = 0.25: p = (f - 0.5) / 0.5. Rewards from 0 to 1,000.
        (1000, 0.25, 1.0),
        (750, 0.25, 0.5),  # (0.75 - 0.5) / 0.5
        (500, 0.25, 0.0),
        (300, 0.25, 0.0),  # -0.4 counts as 0
        (5000, 0.25, 1.0),  # above the bound f = 1
        (250, 0.5, 0.25),  # (0.25 - 0) / 1
        (250, 1.0, 0.25),  # (0.25 - max(0, -1)) / min(1, 2)
    ],
)
def test_a_gate_is_certain_at_the_top_and_impossible_in_the_lower_part(
    reward: int, fraction: float, chance: float
) -> None:
    assert gate_chance(reward, 0.0, 1000.0, fraction) == chance


def test_required_trust_rises_in_thirds_of_the_range_and_is_four_at_the_top() -> None:
    rewards = (1, 333, 334, 666, 667, 999, 1000, 9000)
    assert [required_trust(reward, 0.0, 1000.0) for reward in rewards] == [1, 1, 2, 2, 3, 3, 4, 4]  # int(1 + 3 f)
    # A range of rewards without width counts as its top.
    assert (gate_chance(1100, 1000.0, 1000.0, 0.3), required_trust(1100, 1000.0, 1000.0)) == (1.0, 4)
