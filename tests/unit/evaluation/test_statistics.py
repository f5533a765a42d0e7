"""Statistics: equal to a table of samples, hand-computed values, and coverage."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ycbench_agents.evaluation.statistics import (
    compare,
    holm,
    mean_interval,
    pairs_needed,
    proportion_interval,
    sign_flip_test,
    summarise,
    tiers,
    within_deviation,
)

DATA = Path(__file__).parents[2] / "data" / "statistics.json"
"""Samples with the results of commit c45be15, which computed them in another way (its exact test reached 32 seeds)."""
SAMPLES: Any = json.loads(DATA.read_text(encoding="utf-8"))
GROUPS: dict[str, dict[str, list[int]]] = {each["name"]: each["funds"] for each in SAMPLES["groups"]}
Draw = Callable[[np.random.Generator, tuple[int, int]], "np.typing.NDArray[np.float64]"]
SCORES: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(1e8, 3e7, shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(17, 1, shape)),
    "half bankrupt": lambda rng, shape: np.where(rng.random(shape) < 0.5, 0.0, rng.normal(1e8, 3e7, shape)),
}


def series(group: str, value: Callable[[int], float]) -> pd.Series:
    """Means over repeats by seed of a sample; missing where there is none."""
    seeds = GROUPS[group].items()
    means = {seed: np.mean([value(each) for each in repeats]) if repeats else math.nan for seed, repeats in seeds}
    return pd.Series(means, dtype=float)


def equal(kept: object) -> Any:  # noqa: ANN401 -- what pytest compares with
    if isinstance(kept, list):
        return [equal(each) for each in kept]
    return None if kept is None else pytest.approx(kept, rel=1e-9, abs=1e-9)


COLUMNS: dict[str, Callable[[int], float]] = {"score": lambda funds: max(0, funds), "final_funds": float}


@pytest.mark.parametrize("sample", SAMPLES["groups"], ids=lambda sample: sample["name"])
def test_groups_equal_the_kept_ones(sample: dict[str, Any]) -> None:
    for column, value in COLUMNS.items():
        values, kept = series(sample["name"], value).dropna().tolist(), sample[column]
        found = summarise(values)
        for key in ("n", "mean", "median", "deviation"):
            assert getattr(found, key) == equal(kept[key])
        intervals = {"interval": found.interval, **{m: mean_interval(values, m) for m in ("student", "bca")}}
        for key, interval in intervals.items():
            assert [interval.low, interval.high] == equal(kept[key])
    repeats = [[max(0.0, value) for value in each] for each in sample["funds"].values()]
    assert within_deviation(repeats) == equal(sample["within"])
    survived = series(sample["name"], lambda funds: funds >= 0).dropna()
    interval = proportion_interval(survived.mean(), len(survived))
    assert [interval.low, interval.high] == equal(sample["survival_interval"])


@pytest.mark.parametrize("pair", SAMPLES["pairs"], ids=lambda pair: f"{pair['candidate']} against {pair['baseline']}")
def test_comparisons_equal_the_kept_ones(pair: dict[str, Any]) -> None:
    for column, value in COLUMNS.items():
        found, kept = compare(series(pair["candidate"], value), series(pair["baseline"], value)), pair[column]
        for key in ("n", "mean", "median"):
            assert getattr(found.difference, key) == equal(kept[key])
        assert [found.difference.interval.low, found.difference.interval.high] == equal(kept["interval"])
        assert [found.percent, found.win_rate] == equal([kept["percent"], kept["rate"]])
        assert (found.wins, found.ties, found.losses) == (kept["wins"], kept["ties"], kept["losses"])
        if found.test.floor == 1e-4 and kept["n"] <= 32:  # random flips; was exact up to there
            assert (found.test.p, found.test.floor) == (pytest.approx(kept["p"], abs=0.02), 1e-4)
        else:
            assert [found.test.p, found.test.floor] == equal([kept["p"], kept["floor"]])
    survived = [series(pair[role], lambda funds: funds >= 0) for role in ("candidate", "baseline")]
    found, kept = compare(*survived), pair["survival"]
    assert [found.difference.mean, found.test.p] == equal([kept["difference"], kept["p"]])
    assert (found.wins, found.losses) == (kept["more"], kept["fewer"])


@pytest.mark.parametrize("family", SAMPLES["holm"], ids=lambda family: str(family["p"]))
def test_holm_equals_the_kept_one(family: dict[str, Any]) -> None:
    assert list(holm(dict(enumerate(family["p"]))).values()) == equal(family["adjusted"])


def test_sign_flips_count_every_flip() -> None:
    test = sign_flip_test([3.0, 1.0, 0.0, -2.0])
    sums = [abs(a * 3 + b * 1 + c * 2) for a, b, c in itertools.product((1, -1), repeat=3)]
    assert test.p == sum(total >= 2 for total in sums) / 8
    assert test.floor == 0.25
    assert [pairs_needed(p) for p in (1.0, 0.25, 0.05, 0.05 / 45)] == [1, 3, 6, 11]


def test_sign_flips_of_equal_sizes_are_a_coin() -> None:
    assert sign_flip_test([5.0] * 30).p == pytest.approx(2**-29)
    assert sign_flip_test([0.0, 0.0]).p == 1.0
    assert sign_flip_test([]).p is None


def test_order_and_repetition_change_nothing() -> None:
    values = np.random.default_rng(3).normal(10, 3, 40).tolist()
    assert mean_interval(values) == mean_interval(values[::-1]) == mean_interval(values, "bca")
    assert sign_flip_test(values) == sign_flip_test(values[::-1])


def false_tiers(draw: Draw, seeds: int, simulations: int, policies: int = 10) -> float:
    """Share of simulations in which equal policies get more than one tier."""
    rng = np.random.default_rng(5)
    drawn = (draw(rng, (policies, seeds)) for _ in range(simulations))
    found = [tiers({str(i): pd.Series(row) for i, row in enumerate(scores)}) for scores in drawn]
    return float(np.mean([len(set(each.values())) > 1 for each in found]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize(("policies", "seeds"), [(10, 3), (10, 5), (10, 10), (3, 10)])
def test_equal_policies_share_a_tier(kind: str, policies: int, seeds: int) -> None:
    assert false_tiers(SCORES[kind], seeds, 100 if policies == 10 else 400, policies) < 0.05


def test_three_seeds_separate_nobody() -> None:
    assert false_tiers(SCORES["half bankrupt"], 3, 5) == 0


def test_tiers_separate_clear_differences() -> None:
    seeds = np.arange(11)
    levels = {"c": 1.0, "b": 5.0, "a": 5.1, "d": 0.9}
    scores = {name: pd.Series(1e6 * level + 1e4 * np.sin(seeds * level)) for name, level in levels.items()}
    scores["a"] = scores["b"] + 3 * np.cos(seeds)  # level with b
    assert tiers(scores) == {"a": 1, "b": 1, "c": 2, "d": 3}
    assert set(tiers({name: each[:5] for name, each in scores.items()}).values()) == {1}
