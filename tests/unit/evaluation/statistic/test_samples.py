"""Samples, tallies and pairing: nothing planned is lost."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import (
    Estimate,
    Sample,
    StatisticError,
    StatisticSettings,
    Tally,
    pair_by_seed,
    win_rate,
)

EPISODES = [
    ("10", "finished", 300),
    ("9", "finished", 100),
    ("9", "failed", None),
    ("11", "missing", None),
    ("9", "finished", 200),
]
seeds = st.dictionaries(st.integers(0, 30).map(str), st.lists(st.integers(-9, 9), max_size=3), max_size=9)


def test_a_sample_of_episodes_counts_all_of_them_and_keeps_seeds_without_a_value() -> None:
    sample = Sample.of(EPISODES)
    assert sample.values == {"9": (100, 200), "10": (300,), "11": ()}
    assert list(sample.values) == ["9", "10", "11"]
    assert sample.tally == Tally(run=3, failed=1, missing=1)
    assert sample.tally.planned == 5
    assert sample.tally.to_json() == {"planned": 5, "run": 3, "failed": 1, "missing": 1}


def test_a_sample_travels_between_processes() -> None:
    sample = Sample.of(EPISODES)
    assert pickle.loads(pickle.dumps(sample)) == sample  # noqa: S301 -- our own bytes


def test_without_a_tally_the_values_are_all_that_was_planned() -> None:
    assert Sample({"1": [5, 6], "2": []}).tally == Tally(run=2)
    assert Sample({"1": [5, 6]}).tally.is_complete
    assert not Sample.of(EPISODES).tally.is_complete


def test_tallies_add_up() -> None:
    assert Tally(1, 2, 3) + Tally(10, 20, 30) == Tally(11, 22, 33)


@pytest.mark.parametrize(("status", "funds"), [("finished", None), ("failed", 5), ("missing", 0)])
def test_funds_belong_to_finished_episodes_only(status, funds) -> None:  # noqa: ANN001
    with pytest.raises(StatisticError, match=f"seed 4, {status}: got {funds}, expected"):
        Sample.of([("4", status, funds)])


def test_a_tally_of_other_episodes_is_refused() -> None:
    with pytest.raises(StatisticError, match="got 1 values and a tally of 2 episodes"):
        Sample({"1": [5]}, Tally(run=2))


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(StatisticError, match="failed: got -1"):
        Tally(1, -1)


def test_a_seed_that_is_no_text_is_refused() -> None:
    with pytest.raises(StatisticError, match="seed 1: got a int, expected a text such as '1'"):
        Sample({1: [5]})  # pyright: ignore[reportArgumentType]


def test_a_value_that_is_none_is_refused_with_its_seed_and_repeat() -> None:
    with pytest.raises(StatisticError, match=r"seed 3, repeat 2: got nan.*count it in the tally"):
        Sample({"3": [5, float("nan")]})


def test_pairs_are_means_over_repeats_and_the_rest_is_named() -> None:
    pairing = pair_by_seed(
        {"10": [1, 2, 3], "9": [5], "a": [1], "2": [], "3": []},
        {"9": [4, 5], "10": [7], "3": [1], "2": [], "8": [0]},
    )
    assert [(pair.seed, pair.candidate, pair.baseline) for pair in pairing.pairs] == [("9", 5, 4.5), ("10", 2, 7)]
    assert pairing.differences == (0.5, -5)
    assert pairing.only_candidate == ("a",)
    assert pairing.only_baseline == ("3", "8")
    assert pairing.neither == ("2",)
    assert pairing.pairs[0].to_json() == {"seed": "9", "candidate": 5.0, "baseline": 4.5, "difference": 0.5}
    assert pairing.to_json()["pairs"] == [pair.to_json() for pair in pairing.pairs]


@given(seeds, seeds)
def test_every_seed_is_in_exactly_one_place(candidate: dict[str, list[int]], baseline: dict[str, list[int]]) -> None:
    pairing = pair_by_seed(candidate, baseline)
    named = [*(pair.seed for pair in pairing.pairs), *pairing.only_candidate, *pairing.only_baseline, *pairing.neither]
    assert sorted(named) == sorted({*candidate, *baseline})
    swapped = pair_by_seed(baseline, candidate)
    assert swapped.differences == tuple(-value for value in pairing.differences)


def test_a_tie_is_half_a_win() -> None:
    rate = win_rate([3, 0, -1, 2])
    assert (rate.wins, rate.ties, rate.losses, rate.rate) == (2, 1, 1, 0.625)


def test_no_seed_has_no_win_rate() -> None:
    assert win_rate([]).rate is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("confidence", 0.3), ("confidence", 1.0), ("power", 1.0), ("resamples", 10), ("random_seed", -1), ("dollar", 10)],
)
def test_a_setting_out_of_its_range_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(StatisticError, match=f"{name}: got {value}, expected"):
        StatisticSettings(**{name: value})  # pyright: ignore[reportArgumentType]


def test_the_level_of_a_test_is_a_round_number() -> None:
    assert StatisticSettings().alpha == 0.05
    assert 1 - StatisticSettings().confidence != 0.05


def test_a_result_refuses_nan_rather_than_write_it() -> None:
    with pytest.raises(ValueError, match="value: got nan"):
        Estimate(float("nan"))
