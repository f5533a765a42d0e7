"""Groups, and candidates held against a baseline: what a report is made of."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import (
    Sample,
    StatisticSettings,
    Tally,
    censored_count,
    compare,
    compare_family,
    group_summary,
    log_funds,
    score,
)
from ycbench_agents.records.strict_json import decode, encode

QUICK = StatisticSettings(resamples=99)
DOLLARS = StatisticSettings(resamples=99, dollar=1)
samples = st.dictionaries(
    st.integers(1, 9).map(str), st.lists(st.integers(-(10**9), 10**9), max_size=3), max_size=6
).map(Sample)


def known(value: float | None) -> float:
    """A number that must be defined."""
    assert value is not None
    return value


def test_a_bankrupt_company_counts_nothing_in_the_score_and_as_it_is_in_the_funds() -> None:
    summary = group_summary(Sample({"1": [-3_000], "2": [40_000], "3": [50_000]}), QUICK)
    assert summary.score.mean == 30_000
    assert summary.funds.mean == 29_000
    assert (summary.score.minimum, summary.funds.minimum) == (0, -3_000)
    assert (summary.survival.survived, summary.survival.bankrupt) == (2, 1)
    assert summary.log_censored == 1
    assert summary.spread.across_deviation == summary.score.deviation != summary.funds.deviation


def test_the_score_is_the_mean_to_the_cent() -> None:
    funds = [42_029_521, 27_129_712, -1_630_341]
    summary = group_summary(Sample({str(seed): [value] for seed, value in enumerate(funds, 1)}), QUICK)
    assert round(known(summary.score.mean)) == round((42_029_521 + 27_129_712) / 3) == 23_053_078


def test_what_failed_or_is_missing_enters_no_mean_but_is_counted_and_named() -> None:
    episodes = [("1", "finished", 100), ("1", "failed", None), ("2", "failed", None), ("3", "missing", None)]
    summary = group_summary(Sample.of(episodes), QUICK)
    assert summary.score.mean == 100
    assert summary.tally == Tally(run=1, failed=2, missing=1)
    assert summary.seeds_without_value == ("2", "3")


def test_every_seed_weighs_the_same_however_many_repeats_it_has() -> None:
    summary = group_summary(Sample({"1": [0, 0, 0, 0], "2": [100]}), QUICK)
    assert summary.score.mean == 50
    assert summary.score.n == 2
    assert summary.score.standard_error == pytest.approx(50)


def test_logarithms_are_of_dollars_and_a_dollar_is_the_least() -> None:
    funds = {"1": [-500, 99], "2": [100], "3": [100 * 1000]}
    assert log_funds(funds, QUICK) == {"1": (0, 0), "2": (0,), "3": (pytest.approx(math.log(1000)),)}
    assert censored_count(funds, QUICK) == 2
    assert log_funds({"1": [1000]}, DOLLARS) == log_funds({"1": [100_000]}, QUICK)


def test_nothing_is_defined_as_none() -> None:
    summary = group_summary(Sample({}), QUICK)
    assert (summary.score.n, summary.score.mean, summary.score.deviation, summary.score.interval.low) == (
        0,
        *[None] * 3,
    )
    encode(summary.to_json())


def test_one_seed_has_a_mean_and_no_interval() -> None:
    summary = group_summary(Sample({"1": [7]}), QUICK)
    assert (summary.score.mean, summary.score.median, summary.score.deviation) == (7, 7, None)
    assert summary.score.interval.low is None


def test_a_lift_is_of_paired_seeds_alone() -> None:
    candidate = Sample({"1": [300], "2": [500], "3": [1000], "9": [10**6]})
    found = compare(candidate, Sample({"1": [100], "2": [400], "3": [1000], "8": [0]}), QUICK)
    lift = found.score
    assert (lift.candidate_mean, lift.baseline_mean) == (600, 500)
    assert (lift.difference.mean, lift.difference.median, lift.difference.n) == (100, 100, 3)
    assert lift.percent.value == pytest.approx(20)
    assert (lift.wins.wins, lift.wins.ties, lift.wins.rate) == (2, 1, pytest.approx(2.5 / 3))
    assert lift.sign_flip.p == 0.5
    assert lift.detectable.seeds == 3
    assert (found.pairing.only_candidate, found.pairing.only_baseline) == (("9",), ("8",))


def test_percent_is_not_defined_where_the_baseline_has_nothing() -> None:
    bankrupt = Sample({"1": [-5], "2": [-7]})
    found = compare(Sample({"1": [10], "2": [20]}), bankrupt, QUICK)
    assert found.score.percent.value is None
    assert "not above 0" in str(found.score.percent.reason)
    assert found.score.difference.mean == 15
    assert compare(Sample({}), bankrupt, QUICK).score.percent.reason == "there is no pair"
    assert compare(Sample({"1": [1]}), Sample({"1": [5e-324]}), QUICK).score.percent.reason == (
        "the baseline's mean is too near to 0"
    )


def test_log_lift_is_the_ratio_of_geometric_means() -> None:
    found = compare(Sample({"1": [400], "2": [900]}), Sample({"1": [100], "2": [100]}), QUICK).log_funds
    assert found.ratio == pytest.approx(6)
    assert known(found.ratio_low) < known(found.ratio) < known(found.ratio_high)
    assert (found.candidate_censored, found.baseline_censored) == (0, 0)
    assert found.sign_flip.p == 0.5


def test_an_end_of_the_ratio_beyond_all_doubles_is_none() -> None:
    strict = StatisticSettings(confidence=0.999, resamples=99)
    found = compare(Sample({"1": [10**15], "2": [100]}), Sample({"1": [-1], "2": [-1]}), strict).log_funds
    assert found.ratio_high is None
    assert found.ratio_low == 0
    assert found.baseline_censored == 2
    encode(found.to_json())


def test_swapping_the_two_turns_the_lift_around() -> None:
    one, other = Sample({"1": [5], "2": [9], "3": [2]}), Sample({"1": [1], "2": [10], "3": [2]})
    there, back = compare(one, other, QUICK).funds, compare(other, one, QUICK).funds
    assert there.difference.mean == -known(back.difference.mean)
    assert there.sign_flip == back.sign_flip
    assert there.wins.rate == 1 - known(back.wins.rate)


def test_a_family_is_corrected_for_being_many_and_counts_who_has_no_pair() -> None:
    baseline = Sample({str(seed): [0] for seed in range(6)})
    good = Sample({str(seed): [seed + 1] for seed in range(6)})
    found = compare_family({"good": good, "absent": Sample.of([("1", "failed", None)])}, baseline, QUICK)
    assert found.comparisons["good"].score.sign_flip.p == 2 / 2**6
    assert found.holm.adjusted("good") == 4 / 2**6
    broke = compare_family({"a": Sample({"1": [-1], "2": [3]})}, Sample({"1": [-9], "2": [1]}), QUICK)
    assert broke.holm.adjusted("a") == broke.comparisons["a"].score.sign_flip.p == 1
    assert broke.comparisons["a"].funds.sign_flip.p == 0.5
    assert (found.holm.size, found.holm.undefined) == (2, 1)
    assert (found.floors.adjusted("good"), found.floors.adjusted("absent")) == (4 / 2**6, None)
    assert found.comparisons["absent"].candidate == Tally(failed=1)
    assert decode(encode(found.to_json()), "it") == found.to_json()
    assert list(found.comparisons) == ["good", "absent"]


@given(samples, samples)
@settings(max_examples=30)
def test_whatever_was_got_is_compared_in_strict_json_and_the_order_of_seeds_is_none(one: Sample, other: Sample) -> None:
    found = compare_family({"a": one}, other, QUICK)
    encode(found.to_json())
    encode(group_summary(one, QUICK).to_json())
    turned = Sample(dict(reversed(list(one.values.items()))), one.tally)
    assert compare_family({"a": turned}, other, QUICK) == found


def test_the_score_of_what_is_not_bankrupt_is_its_funds() -> None:
    assert score({"2": [-1, 5], "1": [0]}) == {"1": (0,), "2": (0, 5)}
