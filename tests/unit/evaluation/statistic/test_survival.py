"""Survival of one candidate and of two compared."""

from __future__ import annotations

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import sign_flip_test, survival_lift, survival_of

outcomes = st.lists(st.tuples(st.sampled_from([-1, 0, 5]), st.sampled_from([-7, 1])), min_size=1, max_size=14)


def test_exactly_nothing_left_is_solvent() -> None:
    survival = survival_of({"1": [0], "2": [-1], "3": [500]})
    assert (survival.survived, survival.bankrupt) == (2, 1)
    assert survival.share == pytest.approx(2 / 3)
    exact = scipy.stats.binomtest(2, 3).proportion_ci(method="exact")
    assert (survival.interval.low, survival.interval.high) == pytest.approx((exact.low, exact.high))


def test_repeats_of_a_seed_are_no_further_trials() -> None:
    once, thrice = survival_of({"1": [1], "2": [-1]}), survival_of({"1": [1, 1, 1], "2": [-1, -1, -1]})
    assert thrice.interval == once.interval
    assert (thrice.survived, thrice.bankrupt) == (3, 3)
    assert survival_of({"1": [1, -1, -1, -1], "2": [1]}).share == pytest.approx((0.25 + 1) / 2)


def test_nobody_has_no_survival() -> None:
    survival = survival_of({"1": []})
    assert (survival.survived, survival.bankrupt, survival.share) == (0, 0, None)
    assert survival.interval.low is None


def test_a_comparison_is_mcnemars_exact_test() -> None:
    """Six seeds that the candidate alone survived, one that the baseline alone did: p = 2 (1 + 7) / 2**7."""
    candidate = {str(seed): [1 if seed < 6 or seed > 7 else -1] for seed in range(10)}
    baseline = {str(seed): [-1 if seed < 6 or seed == 7 else 1] for seed in range(10)}
    lift = survival_lift(candidate, baseline)
    assert (lift.pairs, lift.more, lift.fewer, lift.equal) == (10, 6, 1, 3)
    assert lift.difference == pytest.approx(0.5)
    assert lift.p == pytest.approx(16 / 128)
    assert lift.method == "mcnemar"


@given(outcomes)
def test_mcnemars_test_is_the_sign_flip_test_of_zeros_and_ones(pairs: list[tuple[int, int]]) -> None:
    ours = {str(seed): [one] for seed, (one, _) in enumerate(pairs)}
    theirs = {str(seed): [other] for seed, (_, other) in enumerate(pairs)}
    flips = sign_flip_test([(one >= 0) - (other >= 0) for one, other in pairs])
    assert survival_lift(ours, theirs).p == pytest.approx(flips.p)


def test_repeats_are_compared_by_their_shares() -> None:
    candidate = {"1": [1, 1], "2": [1, -1], "3": [1, -1]}
    lift = survival_lift(candidate, {"1": [-1, -1], "2": [-1, -1], "3": [1, -1], "4": [1]})
    assert (lift.method, lift.pairs, lift.more, lift.equal) == ("sign_flip", 3, 2, 1)
    assert lift.difference == pytest.approx(0.5)
    assert lift.p == 0.5


def test_no_pair_has_no_comparison_and_equal_survival_has_p_one() -> None:
    nothing = survival_lift({"1": [1]}, {"2": [1]})
    assert (nothing.pairs, nothing.difference, nothing.p, nothing.method) == (0, None, None, "none")
    assert survival_lift({"1": [1]}, {"1": [2]}).p == 1
