"""Spread across and within seeds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import spread_of
from ycbench_agents.records.strict_json import encode

TURNIPS = {  # calcium in four leaves, four determinations each (Snedecor and Cochran, Statistical Methods)
    "1": [3.28, 3.09, 3.03, 3.03],
    "2": [3.52, 3.48, 3.38, 3.38],
    "3": [2.88, 2.80, 2.81, 2.76],
    "4": [3.34, 3.38, 3.23, 3.26],
}
samples = st.dictionaries(st.integers(0, 9).map(str), st.lists(st.floats(-(2**53), 2**53), max_size=4), max_size=5)


def test_the_components_of_the_turnip_leaves_are_the_published_ones() -> None:
    spread = spread_of(TURNIPS)
    assert spread.within_variance == pytest.approx(0.0066, abs=5e-5)
    assert spread.between_variance == pytest.approx(0.0724, abs=5e-5)
    assert (spread.seeds, spread.values, spread.fewest_repeats, spread.most_repeats) == (4, 16, 4, 4)
    assert not spread.between_is_cut
    assert spread.between_fraction == pytest.approx(0.9164, abs=5e-5)


def test_unequal_repeats_are_weighted_as_worked_out_by_hand() -> None:
    """Seeds (0, 2) and (10): grand mean 4; MSB = 2 (1 - 4)**2 + (10 - 4)**2 = 54, MSW = 2, n0 = 3 - 5 / 3 = 4 / 3."""
    spread = spread_of({"1": [0, 2], "2": [10]})
    assert spread.within_variance == 2
    assert spread.between_variance == pytest.approx((54 - 2) / (4 / 3))
    assert spread.across_deviation == pytest.approx(9 / 2**0.5)
    assert (spread.fewest_repeats, spread.most_repeats) == (1, 2)


def test_an_estimate_below_zero_counts_as_zero_and_says_so() -> None:
    spread = spread_of({"1": [0, 10], "2": [1, 9]})
    assert spread.between_is_cut
    assert (spread.between_variance, spread.between_fraction) == (0, 0)


def test_without_repeats_there_is_no_spread_within() -> None:
    spread = spread_of({"1": [1], "2": [3], "3": []})
    assert spread.across_deviation == pytest.approx(2**0.5)
    assert (spread.within_deviation, spread.between_variance, spread.between_fraction) == (None, None, None)
    assert spread.seeds == 2


def test_one_seed_has_no_spread_across() -> None:
    spread = spread_of({"1": [1, 3]})
    assert spread.across_deviation is None
    assert spread.between_variance is None
    assert spread.within_deviation == pytest.approx(2**0.5)


def test_nothing_has_no_spread() -> None:
    spread = spread_of({})
    assert (spread.seeds, spread.values, spread.fewest_repeats, spread.most_repeats) == (0, 0, 0, 0)
    assert spread.across_deviation is None


def test_no_spread_at_all_has_no_fraction() -> None:
    spread = spread_of({"1": [4, 4], "2": [4, 4]})
    assert (spread.within_variance, spread.between_variance, spread.between_fraction) == (0, 0, None)


@given(samples)
@settings(max_examples=60)
def test_any_sample_has_a_spread_in_strict_json(sample: dict[str, list[float]]) -> None:
    spread = spread_of(sample)
    encode(spread.to_json())
    assert spread.between_fraction is None or 0 <= spread.between_fraction <= 1
