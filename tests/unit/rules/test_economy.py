"""Money, quantities, deadlines and skills. Source: Y-2.4, Y-4.1, Y-5.5, Y-7, K-2.1, K-2.3."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_env.rules.economy import (
    HIGHEST_RATE_E4,
    HIGHEST_SALARY_CENTS,
    boosted_rate,
    bumped_salary,
    client_reward,
    deadline_days,
    failure_penalty,
    gate_chance,
    gated_reward,
    inflated_quantity,
    reduced_quantity,
    required_trust,
    scaled_by_prestige,
    tier_midpoint,
)


@pytest.mark.parametrize(
    ("base", "scale", "prestige", "expected"),
    [
        (800, 0.3, 1, 800),
        (800, 0.3, 3, 1280),  # 800 x (1 + 0.3 x 2) = 800 x 1.6
        (401, 0.3, 2, 521),  # 401 x 1.3 = 521.3
        (800, 0.0, 10, 800),
    ],
)
def test_a_draw_grows_with_every_level_of_prestige_above_the_first(
    base: int, scale: float, prestige: int, expected: int
) -> None:
    assert scaled_by_prestige(base, scale, prestige) == expected


def test_a_penalty_is_a_product_of_doubles_that_is_cut() -> None:
    assert failure_penalty(1_432_320, 0.35) == 501_311  # 0.35 x 1,432,320 = 501,312, but the product is 501311.999...
    assert failure_penalty(1_000_000, 0.35) == 350_000
    assert failure_penalty(1_000_001, 0.35) == 350_000  # 350,000.35
    assert failure_penalty(1_000_000, 0.0) == 0
    assert failure_penalty(2, 0.35) == 0  # 0.7


def test_the_middle_of_a_tier_is_cut_to_whole_cents() -> None:
    assert tier_midpoint(200_000, 400_000) == 300_000
    assert tier_midpoint(100_000, 100_001) == 100_000


@pytest.mark.parametrize(
    ("salary", "cap", "expected"),
    [
        (250_000, 10_000_000, 253_000),  # 1 % of the midpoint 300,000, whatever the salary is
        (398_000, 400_000, 400_000),  # up to the cap
        (400_000, 400_000, 400_000),
        (500_000, 400_000, 500_000),  # a salary above the cap is not cut
    ],
)
def test_a_raise_is_a_share_of_the_middle_of_the_tier_up_to_the_cap(salary: int, cap: int, expected: int) -> None:
    assert bumped_salary(salary, 300_000, 0.01, cap) == expected


def test_a_raise_of_the_salary_itself_compounds_and_is_cut_every_time() -> None:
    salary, salaries = 100_050, []
    for _ in range(3):
        salary = bumped_salary(salary, salary, 0.01, HIGHEST_SALARY_CENTS)
        salaries.append(salary)
    assert salaries == [101_050, 102_060, 103_080]  # 1,000.5, 1,010.5 and 1,020.6 more


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


@pytest.mark.parametrize(
    ("rate_e4", "boost_e4", "expected"),
    [
        (50_000, 1200, 56_000),  # 5 x 1.12
        (10_001, 1234, 11_235),  # 1.0001 x 1.1234 = 1.12351234
        (95_000, 1000, 100_000),  # 10.45 is above 10
        (0, 4000, 0),
        (10_000, 5, 10_005),
        (1001, 5000, 1502),  # 0.1001 x 1.5 = 0.15015, a tie; its double is 0.1501500000000000057: above
        (1005, 5000, 1507),  # 0.1005 x 1.5 = 0.15075, a tie; its double is 0.1507499999999999951: below
        (1003, 5000, 1505),  # 0.15045; its double lies above, though the even neighbour would be 0.1504
    ],
)
def test_a_boosted_rate_is_exact_then_stored_and_never_above_the_cap(
    rate_e4: int, boost_e4: int, expected: int
) -> None:
    assert boosted_rate(rate_e4, boost_e4, 100_000) == expected


@pytest.mark.parametrize(
    ("quantity", "trust_milli", "expected"),
    [
        (800, 0, 800),
        (800, 5000, 400),  # full trust: half
        (801, 5000, 400),  # 400.5 is cut
        (800, 2500, 600),  # half of the trust: 1 - 0.5 x 0.5 = 0.75
        (401, 5000, 200),  # 200.5
        (399, 5000, 200),  # 199.5 is raised to the floor
        (150, 0, 200),
        (60_000, 0, 60_000),  # the cap of 25,000 belongs to adversarial clients
    ],
)
def test_trust_reduces_work_down_to_two_hundred(quantity: int, trust_milli: int, expected: int) -> None:
    assert reduced_quantity(quantity, 0.5, trust_milli, 5.0, 200) == expected


def test_without_a_scale_of_trust_nothing_is_reduced() -> None:
    assert reduced_quantity(800, 0.5, 0, 0.0, 200) == 800


@pytest.mark.parametrize(
    ("quantity", "severity", "loyalty_milli", "expected"),
    [
        (800, 1.0, -1000, 3200),  # 1 + max(3, 1) = 4
        (800, 1.0, -301, 3200),
        (800, 5.0, -1000, 4800),  # 1 + max(3, 5) = 6
        (800, 5.0, -500, 3200),  # 1 + max(3, 2.5) = 4
        (800, 7.0, -500, 3600),  # 1 + max(3, 3.5) = 4.5
        (6250, 1.0, -1000, 25_000),
        (6251, 1.0, -1000, 25_000),  # 25,004
        (40, 1.0, -1000, 200),  # 160
        (333, 6.25, -500, 1373),  # 1 + 3.125 = 4.125; 333 x 4.125 = 1373.625
    ],
)
def test_an_adversarial_client_makes_at_least_four_times_the_work_within_bounds(
    quantity: int, severity: float, loyalty_milli: int, expected: int
) -> None:
    assert inflated_quantity(quantity, severity, loyalty_milli, 1, 200) == expected


@pytest.mark.parametrize(
    ("quantity", "severity", "passes", "expected"),
    [
        (200, 1.0, 2, 3200),  # 200 x 4 = 800, x 4 = 3,200
        (200, 1.0, 3, 12_800),
        (7000, 1.0, 2, 25_000),  # 28,000 is cut the first time
        (2000, 1.0, 2, 25_000),  # 8,000, then 32,000 is cut
        (40, 1.0, 2, 800),  # 160 is raised to 200 before it grows again
        (333, 6.25, 2, 5663),  # 1 + 3.125 = 4.125: 1373.625 is cut to 1,373, which makes 5,663.625
    ],
)
def test_each_further_pass_inflates_what_the_one_before_left(
    quantity: int, severity: float, passes: int, expected: int
) -> None:
    assert inflated_quantity(quantity, severity, -500, passes, 200) == expected


@pytest.mark.parametrize(
    ("quantity", "per_day", "fewest", "expected"),
    [(1050, 150.0, 7, 7), (1199, 150.0, 7, 7), (1200, 150.0, 7, 8), (100, 150.0, 0, 0), (1500, 150.0, 7, 10)],
)
def test_a_deadline_gives_whole_days_and_never_fewer_than_the_least(
    quantity: int, per_day: float, fewest: int, expected: int
) -> None:
    assert deadline_days(quantity, per_day, fewest) == expected


def test_a_gate_is_certain_at_the_top_and_impossible_in_the_lower_part() -> None:
    # g = 0.25: p = (f - 0.5) / 0.5. Rewards from 0 to 1,000.
    assert gate_chance(1000, 0.0, 1000.0, 0.25) == 1.0
    assert gate_chance(750, 0.0, 1000.0, 0.25) == 0.5  # (0.75 - 0.5) / 0.5
    assert gate_chance(500, 0.0, 1000.0, 0.25) == 0.0
    assert gate_chance(300, 0.0, 1000.0, 0.25) == 0.0  # -0.4 counts as 0
    assert gate_chance(5000, 0.0, 1000.0, 0.25) == 1.0  # above the bound f = 1


def test_a_gating_fraction_of_half_or_more_reaches_down_to_the_bottom() -> None:
    assert gate_chance(250, 0.0, 1000.0, 0.5) == 0.25  # (0.25 - 0) / 1
    assert gate_chance(250, 0.0, 1000.0, 1.0) == 0.25  # (0.25 - max(0, -1)) / min(1, 2)


@pytest.mark.parametrize(
    ("reward", "expected"),
    [(1, 1), (333, 1), (334, 2), (666, 2), (667, 3), (999, 3), (1000, 4), (9000, 4)],  # int(1 + 3 f)
)
def test_required_trust_rises_in_thirds_of_the_range_and_is_four_at_the_top(reward: int, expected: int) -> None:
    assert required_trust(reward, 0.0, 1000.0) == expected


def test_a_range_of_rewards_without_width_counts_as_its_top() -> None:
    assert gate_chance(1100, 1000.0, 1000.0, 0.3) == 1.0
    assert required_trust(1100, 1000.0, 1000.0) == 4


def test_rewards_are_raised_by_gate_and_client_and_cut_each_time() -> None:
    assert gated_reward(1001, 0.25, 2) == 1501  # 1,001 x 1.5 = 1,501.5
    assert client_reward(1001, 1.5) == 1501
    assert client_reward(1001, 1.0) == 1001
