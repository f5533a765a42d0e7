"""The page of statistics: its example gives what it says, its table of coverage is measured again."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import pytest
import scipy.stats

from ycbench_agents.evaluation.statistic import (
    GroupSummary,
    Interval,
    Lift,
    StatisticSettings,
    Summary,
    bca_interval,
    minimal_detectable_difference,
    student_interval,
)

PAGE = (Path(__file__).parents[4] / "docs" / "statistics.md").read_text("utf-8")
QUICK = StatisticSettings(resamples=499)
RUNS = 200
ROW = re.compile(r"^\| (normal|log-normal|a third bankrupt) \| (\d+) \| (\d\.\d+) \| (\d\.\d+) \|$", re.MULTILINE)

Draw = Callable[[np.random.Generator, int], np.ndarray]
DRAWS: dict[str, Draw] = {  # of mean 0
    "normal": lambda generator, n: generator.normal(size=n),
    "log-normal": lambda generator, n: np.exp(generator.normal(size=n)) - np.exp(0.5),
    "a third bankrupt": lambda generator, n: (
        np.where(generator.random(n) < 1 / 3, 0, generator.normal(1, 0.3, n)) - 2 / 3
    ),
}


def covered(
    interval: Callable[[list[float], StatisticSettings], Interval], draw: Draw, n: int, confidence: float
) -> int:
    """How many of the intervals hold the true mean, 0."""
    generator = np.random.default_rng(n)
    settings = attrs.evolve(QUICK, confidence=confidence)
    found = [interval(draw(generator, n).tolist(), settings) for _ in range(RUNS)]
    return sum(one.low is not None and one.high is not None and one.low <= 0 <= one.high for one in found)


def is_likely(hits: int, coverage: float) -> bool:
    """Whether so many hits are what such a coverage gives, but for a millionth on either side."""
    low, high = scipy.stats.binom.ppf([1e-6, 1 - 1e-6], RUNS, coverage)
    return bool(low <= hits <= high)


@pytest.mark.parametrize(("name", "n", "bca", "student"), ROW.findall(PAGE))
def test_intervals_cover_as_often_as_the_page_says(name: str, n: str, bca: str, student: str) -> None:
    assert is_likely(covered(bca_interval, DRAWS[name], int(n), 0.95), float(bca))
    assert is_likely(covered(student_interval, DRAWS[name], int(n), 0.95), float(student))


def test_the_table_has_every_case() -> None:
    rows = ROW.findall(PAGE)
    assert {name for name, *_ in rows} == set(DRAWS)
    assert len(rows) == 15


def test_intervals_of_another_confidence_do_not_pass_for_these() -> None:
    assert not is_likely(covered(bca_interval, DRAWS["normal"], 20, 0.75), 0.94)
    assert not is_likely(covered(bca_interval, DRAWS["normal"], 3, 0.95), 0.95)


def test_the_table_of_detectable_differences_is_worked_out() -> None:
    header, row = re.findall(r"^\| (?:seeds|difference / deviation) \|.*$", PAGE, re.MULTILINE)
    seeds, sizes = ([cell.strip() for cell in line.strip("|").split("|")[1:]] for line in (header, row))
    found = [minimal_detectable_difference(1.0, int(count)).difference for count in seeds]
    assert [f"{size:.2f}" for size in found] == sizes


def test_every_field_of_the_results_that_a_report_shows_is_on_the_page() -> None:
    for kind in (GroupSummary, Summary, Lift):
        for field in attrs.fields(kind):
            assert f"`{field.name}`" in PAGE, f"{kind.__name__}.{field.name}"


def test_the_example_gives_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    block = PAGE.split("```python\n", 1)[1].split("```", 1)[0]
    exec(compile(block, "docs/statistics.md", "exec"), {})  # noqa: S102 -- the page's own example
    expected = re.findall(r"# (.+)$", block, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected
    assert len(expected) == block.count("print(")
