"""How an average skill is shared out among the domains. Source: K-1.2."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_env.rules.skill import budget_rates


@pytest.mark.parametrize(
    ("average", "shares", "rates"),
    [
        # The budget is 4 x 3 - 4 = 8.
        (3, (1, 1, 1, 1), (3, 3, 3, 3)),
        (3, (1, 0, 0, 3), (3, 1, 1, 7)),
        (3, (0.25, 0, 0, 0.75), (3, 1, 1, 7)),
        (2.5, (0, 0, 0, 0), (2.5, 2.5, 2.5, 2.5)),
        # A rate that comes to 10 is not cut.
        (3.25, (1, 0, 0, 0), (10, 1, 1, 1)),
    ],
)
def test_the_budget_is_shared_out_in_proportion_above_a_rate_of_one(
    average: float, shares: tuple[float, ...], rates: tuple[float, ...]
) -> None:
    assert budget_rates(average, shares) == rates


@pytest.mark.parametrize(
    ("average", "shares", "rates"),
    [
        # Budget 12: 13, 1, 1, 1. The 3 above 10 go to the three others.
        (4, (1, 0, 0, 0), (10, 2, 2, 2)),
        # Budget 20, halves: 11, 11, 1, 1. Both give 1, and the two others share 2.
        (6, (1, 1, 0, 0), (10, 10, 2, 2)),
        # Budget 36: 37, 1, 1, 1. The 27 bring the others to 10, where nothing is above.
        (10, (1, 0, 0, 0), (10, 10, 10, 10)),
    ],
)
def test_what_exceeds_ten_is_spread_evenly_over_the_other_domains(
    average: float, shares: tuple[float, ...], rates: tuple[float, ...]
) -> None:
    assert budget_rates(average, shares) == rates


def test_a_rate_at_ten_takes_part_of_the_excess_and_the_fifth_round_is_the_last() -> None:
    # Budget 21: 13, 10, 1, 1. The excess of each round is a third of the one before, since three are open:
    # 10, 11, 2, 2 | 10.333, 10, 2.333, 2.333 | 10, 10.111, 2.444, 2.444 | 10.037, 10, 2.481, .. | 10, 10.012, 2.494, ..
    rates = budget_rates(6.25, (12, 9, 0, 0))
    assert rates == pytest.approx((10, 10 + 1 / 81, 2 + 40 / 81, 2 + 40 / 81), abs=1e-12)
    assert rates[0] == 10.0


def test_where_no_other_domain_is_left_to_take_it_the_excess_is_lost() -> None:
    assert budget_rates(100, (1, 1, 1, 1)) == (10, 10, 10, 10)
    # 13, 23, 12, 12 and nothing else: the first round cuts all four.
    assert budget_rates(15, (12, 22, 11, 11)) == (10, 10, 10, 10)


def test_an_average_above_ten_goes_to_and_fro_and_ends_above_ten() -> None:
    # Budget 40: 41, 1, 1, 1 | 10, 11.33 x 3 | 14, 10, 10, 10 | 10, 11.33 x 3 | 14, 10, 10, 10 | 10, 11.33 x 3.
    rates = budget_rates(11, (1, 0, 0, 0))
    assert rates == pytest.approx((10, 34 / 3, 34 / 3, 34 / 3), abs=1e-12)


@settings(max_examples=50)
@given(average=st.floats(1.0001, 9.99), shares=st.lists(st.floats(0, 50), min_size=4, max_size=4))
def test_the_average_is_kept_and_no_rate_is_below_one(average: float, shares: list[float]) -> None:
    # Not all four can be above 10 where the average is below, so nothing is lost.
    rates = budget_rates(average, shares)
    assert sum(rates) == pytest.approx(4 * average, rel=1e-12)
    assert min(rates) >= 1.0
