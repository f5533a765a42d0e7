"""The sign-flip test: Fisher's example, scipy, brute force, and what changes nothing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import (
    EXACT_LIMIT,
    StatisticError,
    StatisticSettings,
    holm,
    pairs_needed,
    sign_flip_floor,
    sign_flip_test,
)

DARWIN = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)
cents = st.integers(-(10**11), 10**11)


def known(value: float | None) -> float:
    """A number that must be defined."""
    assert value is not None
    return value


def brute_force(differences: list[int]) -> float:
    """Counts every flip, in whole numbers."""
    observed = abs(sum(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in _signs(len(differences))]
    return sum(total >= observed for total in sums) / len(sums)


def _signs(count: int) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=count))


def test_darwins_maize_has_fishers_count_of_flips() -> None:
    """Of the 32768 flips 863 have as large a sum, so 1726 are as far from 0 (The Design of Experiments, 21)."""
    test = sign_flip_test(DARWIN)
    assert test.p == 1726 / 32768
    assert (test.n, test.method, test.flips, test.floor) == (15, "exact", 32768, 2 / 32768)


def test_it_is_scipys_exact_test() -> None:
    differences = [120.0, -35.5, 0.0, 89.25, 410.0, -7.0, 55.0]
    theirs = scipy.stats.permutation_test((np.asarray(differences),), np.mean, permutation_type="samples")
    assert sign_flip_test(differences).p == pytest.approx(theirs.pvalue, abs=0)


@given(st.lists(st.integers(-4, 4) | cents, min_size=1, max_size=8))
@settings(max_examples=60)
def test_it_counts_what_brute_force_counts(differences: list[int]) -> None:
    assert sign_flip_test(differences).p == brute_force(differences)


@given(st.lists(cents, min_size=1, max_size=12))
@settings(max_examples=60)
def test_p_is_between_its_floor_and_one(differences: list[int]) -> None:
    test = sign_flip_test(differences)
    assert test.floor == min(2 / 2 ** sum(map(bool, differences)), 1)
    assert known(test.floor) <= known(test.p) <= 1


@given(st.lists(cents, min_size=1, max_size=12), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_order_sign_scale_and_zeros_change_nothing(differences: list[int], zeros: int, random) -> None:  # noqa: ANN001
    p = sign_flip_test(differences).p
    shuffled = random.sample(differences, len(differences))
    assert sign_flip_test(shuffled).p == p
    assert sign_flip_test([-value for value in differences]).p == p
    assert sign_flip_test([value / 128 for value in differences]).p == p
    assert sign_flip_test([*differences, *[0] * zeros]).p == p


def test_dollars_tie_where_their_cents_do() -> None:
    """0.1 + 0.2 is not 0.3 in doubles: the flips must be counted as in cents."""
    assert sign_flip_test([0.1, 0.2, -0.3, 0.4]).p == sign_flip_test([10, 20, -30, 40]).p == brute_force([1, 2, -3, 4])


def test_differences_of_one_sign_reach_the_floor() -> None:
    assert sign_flip_test([5, 1, 9]).p == 0.25
    assert sign_flip_test([1]).p == sign_flip_test([1]).floor == 1


def test_no_difference_at_all_has_p_one() -> None:
    assert sign_flip_test([0, 0, 0]).p == 1
    assert sign_flip_test([3, -3]).p == 1


def test_no_pair_has_no_p() -> None:
    test = sign_flip_test([])
    assert (test.p, test.floor, test.flips, test.method, test.reason) == (None, None, 0, "none", "there is no pair")


def test_many_differences_are_counted_out_by_halves() -> None:
    """All of one size: p is the binomial test of their signs."""
    signs = [1] * 24 + [-1] * (EXACT_LIMIT - 24)
    test = sign_flip_test(signs)
    assert test.p == pytest.approx(scipy.stats.binomtest(24, EXACT_LIMIT).pvalue, rel=1e-12)
    assert (test.method, test.flips) == ("exact", 2**EXACT_LIMIT)


def test_differences_of_zero_do_not_keep_the_rest_from_being_counted_out() -> None:
    test = sign_flip_test([1] * 10 + [0] * 40)
    assert (test.method, test.n, test.flips) == ("exact", 50, 2**10)
    assert (test.p, test.floor) == (2 / 2**10, 2 / 2**10)


def test_a_tie_has_no_sign_to_flip_so_the_floor_does_not_count_it() -> None:
    assert sign_flip_test([5, 1, 9, 4, 2, 7, 0]).floor == sign_flip_test([5, 1, 9, 4, 2, 7]).floor == 2 / 2**6
    assert sign_flip_test([0, 0]).floor == 1


def test_beyond_that_flips_are_drawn_and_the_result_says_so() -> None:
    signs = [1] * 24 + [-1] * (EXACT_LIMIT - 23)
    test = sign_flip_test(signs)
    assert (test.method, test.flips, test.floor) == ("random", 9999, 1 / 10000)
    exact = scipy.stats.binomtest(24, EXACT_LIMIT + 1).pvalue
    low, high = scipy.stats.binom.ppf([1e-6, 1 - 1e-6], 9999, exact) / 9999
    assert low <= known(test.p) <= high
    assert sign_flip_test(signs[::-1]) == test


def test_drawn_flips_never_give_a_p_of_zero() -> None:
    test = sign_flip_test([1.0] * 40, StatisticSettings(resamples=199))
    assert test.p == test.floor == 1 / 200


def test_a_difference_that_is_none_is_refused() -> None:
    with pytest.raises(StatisticError, match="difference 2: got nan"):
        sign_flip_test([1, float("nan")])


@given(st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=7), min_size=1, max_size=5))
def test_no_adjusted_p_is_below_the_adjusted_floors_and_clear_lifts_of_all_reach_them(lifts: list[list[int]]) -> None:
    found = [sign_flip_test(each) for each in lifts]
    clear = [sign_flip_test([abs(lift) for lift in each]) for each in lifts]
    floors = holm({str(place): test.floor for place, test in enumerate(found)})
    adjusted = holm({str(place): test.p for place, test in enumerate(found)})
    for one, floor in zip(adjusted.members, floors.members, strict=True):
        assert known(one.adjusted) >= known(floor.adjusted)
    assert holm({str(place): test.p for place, test in enumerate(clear)}) == floors


@pytest.mark.parametrize(("p", "pairs"), [(1.0, 1), (0.25, 3), (0.24, 4), (0.05, 6), (0.05 / 9, 9), (1e-4, 15)])
def test_the_fewest_pairs_for_a_p_are_those_whose_floor_is_at_most_that(p: float, pairs: int) -> None:
    assert pairs_needed(p) == pairs
    assert known(sign_flip_floor(pairs)) <= p < (sign_flip_floor(pairs - 1) or 2)
