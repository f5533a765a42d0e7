"""Captions say who is not in a figure, or with less than was planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs

from ycbench_agents.base import JsonObject
from ycbench_agents.evaluation.episode import Episode, EpisodeKey
from ycbench_agents.evaluation.figure import applied, figure_plans
from ycbench_agents.evaluation.measurement import RunMeasures
from ycbench_agents.evaluation.old_suite import Suite, SuitePolicy
from ycbench_agents.evaluation.report.drawing import caption_of, drawn_figures
from ycbench_agents.evaluation.report.result import PresetResults
from ycbench_agents.records.reading import RunRecord


class Played(Protocol):
    """What conftest makes."""

    runs: dict[EpisodeKey, RunMeasures]

    def add(self, row: SuitePolicy, *measures: RunMeasures, record: RunRecord | None = None) -> Played: ...

    @property
    def suite(self) -> Suite: ...

    @property
    def episodes(self) -> tuple[Episode, ...]: ...

    @property
    def results(self) -> PresetResults: ...


class MakePlayed(Protocol):
    """How it is made."""

    def __call__(self, names: Sequence[str], seeds: int) -> Played: ...


class MakeRun(Protocol):
    """How a run is made."""

    def __call__(self, number: int) -> RunMeasures: ...


class MakeRecord(Protocol):
    """How a record is made."""

    def __call__(self, policy: str, settings: JsonObject, model: str | None) -> RunRecord: ...


def notes(played: Played) -> dict[str, str]:
    plans = figure_plans(played.suite, played.runs, played.episodes)
    return {plan.name: caption_of(plan, played.results) for plan in plans if plan.has_values}


def test_a_policy_without_a_finished_episode_is_named_below_every_figure(make_played: MakePlayed) -> None:
    played = make_played(["a", "b"], 2).add(SuitePolicy("raises in March", "greedy"))
    found = notes(played)
    assert len(found) == 11
    named = {name for name, note in found.items() if note.endswith(" Without a finished episode: raises in March.")}
    assert named == {*found} - {"context"}  # it keeps no turns


def test_a_policy_that_lacks_what_a_figure_shows_is_named_below_it_alone(
    make_played: MakePlayed, make_run: MakeRun
) -> None:
    quiet = attrs.evolve(make_run(3), failures=())
    found = notes(make_played(["a"], 2).add(SuitePolicy("<b>", "greedy"), quiet, quiet))
    assert [name for name, note in found.items() if "<b>" in note] == ["failure-causes"]
    assert found["failure-causes"].endswith(" Without a failed task: <b>.")


def test_policies_that_lack_what_is_shown_take_no_room(make_played: MakePlayed, make_run: MakeRun) -> None:
    quiet = attrs.evolve(make_run(3), failures=())
    heights: list[float] = []
    for runs in ((), (quiet, quiet)):
        played = make_played(["a", "b", "c"], 2).add(SuitePolicy("quiet", "greedy"), *runs)
        [plan] = [plan for plan in figure_plans(played.suite, played.runs) if plan.name == "failure-causes"]
        with applied():
            heights.append(float(plan.make(plan.frame).get_figheight()))
    assert heights[0] == heights[1]


def test_a_mean_over_fewer_episodes_than_planned_says_so(make_played: MakePlayed, make_run: MakeRun) -> None:
    found = notes(make_played(["a"], 3).add(SuitePolicy("b", "greedy"), make_run(3)))
    assert found["funds"].endswith(" Without the episodes that failed or are missing: b.")


def test_bars_say_what_their_dots_are(make_played: MakePlayed) -> None:
    found = notes(make_played(["a", "b"], 2))
    for name in ("final-funds", "revenue-per-dollar", "trusted-successes", "adversarial-share"):
        assert "Bars are means over seeds, dots are seeds" in found[name]


def test_funds_are_the_paper_s_second_figure_and_trust_says_its_range(make_played: MakePlayed) -> None:
    found = notes(make_played(["a"], 2))
    assert found["funds"].endswith("(paper, figure 2).")
    assert "from 0 (none) to 5 (full)" in found["final-trust"]


def test_hollow_bars_are_explained_where_there_are_any(make_played: MakePlayed, make_run: MakeRun) -> None:
    mark = "Hollow bars with \u2264: turns of unknown cost are not counted, so it is less."
    known = make_run(2)
    assert known.tokens.unknown_cost_turns == 0
    played = make_played([], 1).add(SuitePolicy("a", "llm"), known)
    assert mark not in notes(played)["revenue-per-dollar"]
    assert mark in notes(played.add(SuitePolicy("b", "llm"), make_run(1)))["revenue-per-dollar"]


def test_panels_by_seed_say_that_they_are_on_a_square_root_scale(make_played: MakePlayed, make_run: MakeRun) -> None:
    rich = attrs.evolve(
        make_run(2), months=(*make_run(2).months[:-1], attrs.evolve(make_run(2).months[-1], funds_cents=10**9))
    )
    played = make_played([], 2).add(SuitePolicy("a", "greedy"), rich, rich)
    assert "amounts as square roots" in notes(played)["funds-by-seed"]
    assert "square roots" not in notes(make_played(["a"], 2))["funds-by-seed"]


def test_drawn_figures_have_their_captions_and_models(
    make_played: MakePlayed, make_run: MakeRun, make_record: MakeRecord
) -> None:
    played = make_played([], 1)
    for turns in (20, 30):
        record = make_record("llm", {"keep_turns": turns}, "gpt-x")
        played.add(SuitePolicy(f"llm-{turns}", "llm", {"keep_turns": turns}), make_run(turns), record=record)
    drawn = drawn_figures(played.suite, played.results, 1, episodes=played.episodes)
    assert {drawing.name.removeprefix("1-reference-"): drawing.note for drawing in drawn.drawings} == notes(played)
    [context] = [drawing.svg for drawing in drawn.drawings if drawing.name.endswith("context")]
    assert "gpt-x" in context
