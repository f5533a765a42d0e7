"""Power of the paired t test and the smallest difference it finds."""

from __future__ import annotations

import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import (
    StatisticError,
    StatisticSettings,
    minimal_detectable_difference,
    paired_power,
)


def known(value: float | None) -> float:
    """A number that must be defined."""
    assert value is not None
    return value


def test_power_is_the_published_one_of_matched_pairs() -> None:
    """G*Power's manual: dz = 0.421637, 50 pairs, alpha 0.05, two tails: power 0.832114."""
    assert paired_power(0.421637, 50, 0.05) == pytest.approx(0.832114, abs=5e-7)


@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_a_small_medium_and_large_effect_take_the_textbook_number_of_pairs(effect: float, pairs: int) -> None:
    """The pairs that power 0.8 takes at 0.05 for Cohen's three effects."""
    assert paired_power(effect, pairs, 0.05) >= 0.8 > paired_power(effect, pairs - 1, 0.05)


@pytest.mark.parametrize(("effect", "seeds"), [(0.5, 20), (0.3, 100), (0.1, 1000)])
def test_power_is_scipys_noncentral_t_where_that_can_be_relied_on(effect: float, seeds: int) -> None:
    shift, critical = effect * seeds**0.5, scipy.stats.t.ppf(0.975, seeds - 1)
    theirs = scipy.stats.nct.sf(critical, seeds - 1, shift) + scipy.stats.nct.cdf(-critical, seeds - 1, shift)
    assert paired_power(effect, seeds, 0.05) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(("seeds", "effect"), [(2, 5.3), (2, 8.0), (3, 3.26), (5, 3.0)])
def test_power_of_few_pairs_is_that_of_the_integral_over_the_spread(seeds: int, effect: float) -> None:
    """Another way to the same number: condition on the deviation found, not on the mean."""
    freedom, shift, critical = seeds - 1, effect * seeds**0.5, scipy.stats.t.ppf(0.975, seeds - 1)

    def found(z: float) -> float:
        edge = critical * z
        density = 2 * freedom * z * scipy.stats.chi2.pdf(freedom * z * z, freedom)
        return float(density * (scipy.stats.norm.sf(edge - shift) + scipy.stats.norm.cdf(-edge - shift)))

    theirs, _ = scipy.integrate.quad(found, 1e-12, 8, points=[shift / critical], limit=200)
    assert paired_power(effect, seeds, 0.05) == pytest.approx(theirs, abs=1e-7)


def test_without_an_effect_power_is_alpha() -> None:
    assert paired_power(0.0, 7, 0.05) == pytest.approx(0.05, abs=1e-12)


@given(st.integers(2, 60), st.floats(0.6, 0.99), st.floats(0.55, 0.95), st.floats(0.001, 1e9))
@settings(max_examples=25)
def test_the_difference_found_has_the_power_wished_for(
    seeds: int, confidence: float, power: float, deviation: float
) -> None:
    found = minimal_detectable_difference(deviation, seeds, StatisticSettings(confidence=confidence, power=power))
    effect = known(found.difference) / deviation
    assert paired_power(effect, seeds, found.alpha) == pytest.approx(power, abs=1e-9)
    assert paired_power(-effect, seeds, found.alpha) == pytest.approx(power, abs=1e-9)


def test_more_seeds_find_smaller_differences() -> None:
    sizes = [known(minimal_detectable_difference(100.0, seeds).difference) for seeds in (2, 3, 6, 20, 100)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[3] == pytest.approx(66.04, abs=0.01)


def test_the_sign_flip_test_takes_six_pairs_for_the_usual_level() -> None:
    assert not minimal_detectable_difference(1.0, 5).sign_flip_can
    assert minimal_detectable_difference(1.0, 6).sign_flip_can


@pytest.mark.parametrize(("deviation", "seeds", "reason"), [(1.0, 1, "got 1"), (1.0, 0, "got 0"), (None, 5, "spread")])
def test_what_cannot_be_told_is_none_with_the_reason(deviation: float | None, seeds: int, reason: str) -> None:
    found = minimal_detectable_difference(deviation, seeds)
    assert found.difference is None
    assert reason in str(found.reason)
    assert not found.sign_flip_can or seeds > 5


def test_differences_without_spread_hide_nothing() -> None:
    assert minimal_detectable_difference(0.0, 5).difference == 0


@pytest.mark.parametrize(("deviation", "seeds"), [(-1.0, 5), (float("nan"), 5), (float("inf"), 5), (1.0, -1)])
def test_a_plan_that_is_none_is_refused(deviation: float, seeds: int) -> None:
    with pytest.raises(StatisticError, match="expected finite numbers, 0 or more"):
        minimal_detectable_difference(deviation, seeds)


@pytest.mark.parametrize(("effect", "seeds", "alpha"), [(1.0, 1, 0.05), (1.0, 5, 0.0), (float("nan"), 5, 0.05)])
def test_power_of_what_is_no_test_is_refused(effect: float, seeds: int, alpha: float) -> None:
    with pytest.raises(StatisticError, match="2 or more"):
        paired_power(effect, seeds, alpha)
