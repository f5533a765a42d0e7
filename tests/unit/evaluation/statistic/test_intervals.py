"""Intervals of a mean and of a proportion: against scipy, and where there is none."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import (
    BCA_NEEDS,
    StatisticError,
    StatisticSettings,
    bca_interval,
    clopper_pearson_interval,
    mean_interval,
    student_interval,
    summarise,
)
from ycbench_agents.records.strict_json import encode
from ycbench_env import MissingExtraError

QUICK = StatisticSettings(resamples=199)
DARWIN = (49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48)

values = st.floats(-(2.0**53), 2.0**53) | st.integers(-(10**6), 10**6)


def known(value: float | None) -> float:
    """A number that must be defined."""
    assert value is not None
    return value


def test_students_interval_of_darwins_maize_is_the_published_one() -> None:
    """Fisher's example: mean 20.933, t(14) = 2.148, and an interval that barely leaves out 0."""
    interval = student_interval(DARWIN)
    assert interval.low == pytest.approx(0.0312, abs=5e-5)
    assert interval.high == pytest.approx(41.8355, abs=5e-5)


def test_the_bca_interval_is_scipys() -> None:
    ours = bca_interval(DARWIN, StatisticSettings(resamples=9999, random_seed=5))
    theirs = scipy.stats.bootstrap(
        (np.sort(np.asarray(DARWIN, float)),), np.mean, n_resamples=9999, method="BCa", rng=np.random.default_rng(5)
    ).confidence_interval
    # Resamples that equal the sample tie here and miss by an ulp there, which moves the ends by a resample or two.
    assert ours.low == pytest.approx(theirs.low, abs=0.2)
    assert ours.high == pytest.approx(theirs.high, abs=0.2)
    assert (ours.method, ours.reason, ours.confidence) == ("bca", None, 0.95)


@pytest.mark.parametrize("interval", [bca_interval, student_interval])
@pytest.mark.parametrize("values", [(), (7.0,)])
def test_fewer_than_two_values_have_no_interval_and_the_reason_is_said(interval, values) -> None:  # noqa: ANN001
    found = interval(values)
    assert (found.low, found.high) == (None, None)
    assert found.reason == f"an interval takes at least 2 independent values: got {len(values)}"


@pytest.mark.parametrize("interval", [bca_interval, student_interval])
def test_equal_values_have_an_interval_without_width_and_a_word_of_caution(interval) -> None:  # noqa: ANN001
    found = interval([3, 3.0, 3])
    assert (found.low, found.high) == (3, 3)
    assert "not that there is none" in str(found.reason)


@pytest.mark.parametrize(("count", "limit"), [(1, 0.0), (2, 0.5), (3, 0.75), (6, 0.96875)])
def test_the_limit_of_what_resampling_can_cover_is_given(count: int, limit: float) -> None:
    assert bca_interval(range(count), QUICK).coverage_limit == limit
    assert student_interval(range(count), QUICK).coverage_limit is None


def test_the_interval_to_read_is_students_until_there_are_twenty_values() -> None:
    few, enough = summarise(range(BCA_NEEDS - 1), QUICK), summarise(range(BCA_NEEDS), QUICK)
    assert few.interval == few.student != few.bca
    assert enough.interval == enough.bca != enough.student
    assert mean_interval(3, few.bca, few.student) is few.student


@pytest.mark.parametrize("tenths", [(3, 7, 37, 39), (0, 4, 33, 34), (5, 10, 10, 22, 30, 38)])
def test_resamples_that_are_the_sample_in_another_order_tie_with_it(tenths: tuple[int, ...]) -> None:
    """Sums of tenths miss one another by an ulp, sums of whole numbers never do: both must have the same interval."""
    ours = bca_interval([value / 10 for value in tenths], StatisticSettings(resamples=1999))
    exact = scipy.stats.bootstrap(
        (np.asarray(tenths, float),),
        lambda sample, axis: sample.sum(axis),
        vectorized=True,
        n_resamples=1999,
        method="BCa",
        rng=StatisticSettings().generator(),
    ).confidence_interval
    assert ours.low == pytest.approx(exact.low / 10 / len(tenths), abs=1e-9)
    assert ours.high == pytest.approx(exact.high / 10 / len(tenths), abs=1e-9)


@given(st.lists(values, max_size=12))
@settings(max_examples=60)
def test_ends_are_in_order_within_the_values_and_go_to_strict_json(sample: list[float]) -> None:
    interval = bca_interval(sample, QUICK)
    encode(interval.to_json())
    encode(student_interval(sample, QUICK).to_json())
    if len(sample) > 1:
        slack = 1e-12 * (max(sample) - min(sample))
        assert min(sample) - slack <= known(interval.low) <= known(interval.high) <= max(sample) + slack
    else:
        assert interval.low is interval.high is None


@given(st.lists(values, min_size=2, max_size=12).flatmap(lambda x: st.tuples(st.just(x), st.permutations(x))))
@settings(max_examples=40)
def test_the_order_of_values_changes_nothing(both: tuple[list[float], list[float]]) -> None:
    one, other = both
    assert summarise(one, QUICK) == summarise(other, QUICK)


@given(st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=9), st.sampled_from([2, 100, 2**20]))
@settings(max_examples=40)
def test_an_interval_stretches_with_its_values(sample: list[int], factor: int) -> None:
    plain, stretched = bca_interval(sample, QUICK), bca_interval([factor * value for value in sample], QUICK)
    tolerance = 1e-9 * factor * max(map(abs, sample))
    assert stretched.low == pytest.approx(factor * known(plain.low), abs=tolerance)
    assert stretched.high == pytest.approx(factor * known(plain.high), abs=tolerance)


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (1, 1), (0, 20), (13, 20), (20, 20), (2, 3)])
def test_the_interval_of_a_proportion_is_scipys_exact_one(hits: int, count: int) -> None:
    ours = clopper_pearson_interval(hits / count, count)
    theirs = scipy.stats.binomtest(hits, count).proportion_ci(method="exact")
    assert ours.low == pytest.approx(theirs.low)
    assert ours.high == pytest.approx(theirs.high)


def test_three_survivors_of_three_do_not_make_survival_certain() -> None:
    """Hand-worked: the lower end of 3 of 3 is 0.025 ** (1 / 3)."""
    assert clopper_pearson_interval(1.0, 3).low == pytest.approx(0.025 ** (1 / 3))


def test_no_trials_have_no_interval() -> None:
    found = clopper_pearson_interval(0.0, 0)
    assert (found.low, found.high) == (None, None)
    assert found.reason == "an interval takes at least 1 independent value: got 0"


@pytest.mark.parametrize(("share", "count"), [(1.01, 3), (-0.1, 3), (0.5, -1), (float("nan"), 3)])
def test_a_share_that_is_none_is_refused(share: float, count: int) -> None:
    with pytest.raises(StatisticError, match="expected a share from 0 to 1"):
        clopper_pearson_interval(share, count)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53 + 2, -(2**53) - 2, 10**400, None, "3", True])
def test_what_is_no_number_is_refused_with_its_place(value: object) -> None:
    with pytest.raises(StatisticError, match=r"value 2: got .*, expected a finite number"):
        bca_interval([1.0, value])  # pyright: ignore[reportArgumentType]


def test_numbers_of_numpy_are_numbers() -> None:
    assert student_interval(np.asarray([1, 2, 4])) == student_interval([1, 2, 4])  # pyright: ignore[reportArgumentType]


def test_without_scipy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtraError, match="pip install"):
        student_interval([1, 2])
