"""Figure 10: policies of a line differ in the turns that they keep, and in nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, Self

import pytest

from ycbench_agents.base import JsonObject
from ycbench_agents.evaluation.episode import Episode, EpisodeKey
from ycbench_agents.evaluation.figure import figure_plans, funds_by_context
from ycbench_agents.evaluation.figure.column import texts
from ycbench_agents.evaluation.measurement import RunMeasures
from ycbench_agents.evaluation.old_suite import Suite, SuitePolicy
from ycbench_agents.records.reading import RunRecord


class Played(Protocol):
    """What conftest makes."""

    runs: dict[EpisodeKey, RunMeasures]

    def add(self, row: SuitePolicy, *measures: RunMeasures, record: RunRecord | None = None) -> Self: ...

    @property
    def suite(self) -> Suite: ...

    @property
    def episodes(self) -> tuple[Episode, ...]: ...


class MakePlayed(Protocol):
    """How it is made."""

    def __call__(self, names: list[str], seeds: int) -> Played: ...


class MakeRun(Protocol):
    """How a run is made."""

    def __call__(self, number: int) -> RunMeasures: ...


class MakeRecord(Protocol):
    """How a record is made."""

    def __call__(self, policy: str, settings: JsonObject, model: str | None) -> RunRecord: ...


@pytest.fixture
def nobody(make_played: MakePlayed) -> Played:
    return make_played([], 1)


def lines(played: Played) -> dict[str, str]:
    frame = funds_by_context(played.suite, played.runs, played.episodes)
    return dict(zip(texts(frame, "policy"), texts(frame, "model"), strict=True))


def keeping(label: str, turns: int, model: str | None = None, prompt: str | None = None, **more: float) -> SuitePolicy:
    path = None if prompt is None else Path(prompt)
    return SuitePolicy(label, "llm", {"keep_turns": turns, **more}, model=model, system_prompt=path)


def test_the_model_of_the_command_line_names_the_line(
    nobody: Played, make_run: MakeRun, make_record: MakeRecord
) -> None:
    for turns, model in ((20, "gpt-x"), (30, "gpt-x"), (40, "other")):
        record = make_record("llm", {"model": model, "keep_turns": turns}, model)
        nobody.add(keeping(f"llm-{turns}", turns), make_run(turns), record=record)
    assert lines(nobody) == {"llm-20": "gpt-x", "llm-30": "gpt-x", "llm-40": "other"}


def test_other_prompts_or_parameters_are_lines_of_their_own(nobody: Played, make_run: MakeRun) -> None:
    rows = [keeping("good-20", 20, "good"), keeping("good-30", 30, "good")]
    rows += [keeping("prompt-20", 20, "good", "p.md"), keeping("warm-30", 30, "good", temperature=0.5)]
    for row in rows:
        nobody.add(row, make_run(1))
    assert lines(nobody) == {
        "good-20": "good",
        "good-30": "good",
        "prompt-20": "good, prompt-20",
        "warm-30": "good, warm-30",
    }


def test_a_line_has_no_points_of_another_prompt_between_its_own(nobody: Played, make_run: MakeRun) -> None:
    for turns, prompt in ((20, None), (30, "p.md"), (40, None)):
        nobody.add(keeping(f"good-{turns}", turns, "good", prompt), make_run(1))
    assert lines(nobody) == {"good-20": "good", "good-30": "good-30", "good-40": "good"}


def test_settings_of_the_record_tell_apart_what_the_suite_does_not(
    nobody: Played, make_run: MakeRun, make_record: MakeRecord
) -> None:
    for label, prompt, turns in (
        ("a 20", None, 20),
        ("a 30", None, 30),
        ("b 20", "Be brief.", 20),
        ("b 30", "Be brief.", 30),
    ):
        settings: JsonObject = {"keep_turns": turns, "system_prompt": prompt}
        nobody.add(keeping(label, turns, "good"), make_run(1), record=make_record("llm", settings, "good"))
    assert lines(nobody) == {"a 20": "good, a", "a 30": "good, a", "b 20": "good, b", "b 30": "good, b"}


def test_rows_that_differ_in_nothing_but_the_label_are_told_apart_by_it(nobody: Played, make_run: MakeRun) -> None:
    for label in ("x-20", "x-30", "y-20", "y-30"):
        nobody.add(keeping(label, int(label[-2:]), "good"), make_run(1))
    assert lines(nobody) == {"x-20": "good, x", "x-30": "good, x", "y-20": "good, y", "y-30": "good, y"}
    for label in ("short", "brief"):
        nobody.add(keeping(label, 5, "other"), make_run(1))
    assert {label: line for label, line in lines(nobody).items() if "other" in line} == {
        "short": "other, short",
        "brief": "other, brief",
    }


def test_parameters_of_an_own_class_are_looked_into(nobody: Played, make_run: MakeRun, make_record: MakeRecord) -> None:
    for turns, width in ((20, 1), (30, 1), (30, 2)):
        settings: JsonObject = {"parameters": {"keep_turns": turns, "width": width}}
        nobody.add(keeping(f"{turns} {width}", turns), make_run(1), record=make_record("mine:Own", settings, None))
    found = lines(nobody)
    assert found["20 1"] == found["30 1"] != found["30 2"]


def test_without_two_points_on_a_line_the_figure_is_left_out_with_the_reason(nobody: Played, make_run: MakeRun) -> None:
    nobody.add(keeping("a", 20, "m"), make_run(1)).add(keeping("b", 30, "n"), make_run(2)).add(keeping("c", 30, "m"))
    [plan] = [plan for plan in figure_plans(nobody.suite, nobody.runs, nobody.episodes) if plan.name == "context"]
    assert not plan.has_values
    assert "no two finished policies that differ in the turns kept" in plan.reason
