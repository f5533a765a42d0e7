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


def series(group: str, least: float) -> pd.Series:
    """Means over repeats by seed of a sample, each value being at least so much; missing where there is none."""
    means = {
        seed: np.mean([max(least, value) for value in repeats]) if repeats else math.nan
        for seed, repeats in GROUPS[group].items()
    }
    return pd.Series(means, dtype=float)


def equal(found: list[float | None], kept: list[float | None]) -> bool:
    pairs = list(zip(found, kept, strict=True))
    assert [each for each in pairs if (each[0] is None) != (each[1] is None)] == []
    assert [a for a, _ in pairs if a is not None] == pytest.approx([b for _, b in pairs if b is not None], 1e-9, 1e-9)
    return True


@pytest.mark.parametrize("sample", SAMPLES["groups"], ids=lambda sample: sample["name"])
def test_groups_equal_the_kept_ones(sample: dict[str, Any]) -> None:
    for column, least in (("score", 0.0), ("final_funds", -math.inf)):
        values = series(sample["name"], least).dropna().tolist()
        found, kept = summarise(values), sample[column]
        keys = ("n", "mean", "median", "deviation")
        assert equal([getattr(found, key) for key in keys], [kept[key] for key in keys])
        for interval, key in (
            (found.interval, "interval"),
            (mean_interval(values, "student"), "student"),
            (mean_interval(values, "bca"), "bca"),
        ):
            assert equal([interval.low, interval.high], kept[key])
    repeats = [[max(0.0, value) for value in each] for each in sample["funds"].values()]
    assert equal([within_deviation(repeats)], [sample["within"]])
    survived = [np.mean([value >= 0 for value in each]) for each in sample["funds"].values() if each]
    share = float(np.mean(survived)) if survived else None
    interval = proportion_interval(share or 0.0, len(survived))
    assert equal([share, interval.low, interval.high], [sample["survival"], *sample["survival_interval"]])


@pytest.mark.parametrize("pair", SAMPLES["pairs"], ids=lambda pair: f"{pair['candidate']} against {pair['baseline']}")
def test_comparisons_equal_the_kept_ones(pair: dict[str, Any]) -> None:
    for column, least in (("score", 0.0), ("final_funds", -math.inf)):
        kept = pair[column]
        found = compare(series(pair["candidate"], least), series(pair["baseline"], least))
        lifts = found.difference
        assert equal(
            [lifts.n, lifts.mean, lifts.median, found.percent, found.win_rate, lifts.interval.low, lifts.interval.high],
            [*(kept[key] for key in ("n", "mean", "median", "percent", "rate")), *kept["interval"]],
        )
        assert (found.wins, found.ties, found.losses) == (kept["wins"], kept["ties"], kept["losses"])
        if found.test.method == "random" and kept["n"] <= 32:  # was exact up to there
            assert found.test.p == pytest.approx(kept["p"], abs=0.02)
            assert found.test.floor == 1e-4
        else:
            assert equal([found.test.p, found.test.floor], [kept["p"], kept["floor"]])
    survived = [
        pd.Series({seed: np.mean([v >= 0 for v in each]) if each else math.nan for seed, each in GROUPS[name].items()})
        for name in (pair["candidate"], pair["baseline"])
    ]
    found, kept = compare(survived[0].astype(float), survived[1].astype(float)), pair["survival"]
    assert equal([found.difference.mean, found.test.p], [kept["difference"], kept["p"]])
    assert (found.wins, found.losses) == (kept["more"], kept["fewer"])


@pytest.mark.parametrize("family", SAMPLES["holm"], ids=lambda family: str(family["p"]))
def test_holm_equals_the_kept_one(family: dict[str, Any]) -> None:
    assert equal(list(holm(dict(enumerate(family["p"]))).values()), family["adjusted"])


def test_sign_flips_count_every_flip() -> None:
    test = sign_flip_test([3.0, 1.0, 0.0, -2.0])
    sums = [abs(a * 3 + b * 1 + c * 2) for a, b, c in itertools.product((1, -1), repeat=3)]
    assert test.p == sum(total >= 2 for total in sums) / 8
    assert (test.floor, test.method) == (0.25, "exact")
    assert [pairs_needed(p) for p in (1.0, 0.25, 0.05, 0.05 / 45)] == [1, 3, 6, 11]


def test_sign_flips_of_equal_sizes_are_a_coin() -> None:
    assert sign_flip_test([5.0] * 30).p == pytest.approx(2**-29)
    assert sign_flip_test([0.0, 0.0]).p == 1.0
    assert sign_flip_test([]).p is None


def test_order_and_repetition_change_nothing() -> None:
    values = np.random.default_rng(3).normal(10, 3, 40).tolist()
    assert mean_interval(values) == mean_interval(values[::-1]) == mean_interval(values)
    assert mean_interval(values).method == "bca"
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


@pytest.mark.slow
def test_students_interval_covers_as_the_page_says() -> None:
    rng, covered = np.random.default_rng(2), []
    for _ in range(2000):
        interval = mean_interval(rng.normal(5, 1, 6).tolist())
        assert interval.low is not None
        assert interval.high is not None
        covered.append(interval.low <= 5 <= interval.high)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.015)
