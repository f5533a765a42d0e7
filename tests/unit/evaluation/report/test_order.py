"""The order of policies: one for the command, results.json and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation.old_results import leaderboard
from ycbench_agents.evaluation.ranking import exact_score_cents
from ycbench_agents.evaluation.report import report_of
from ycbench_agents.evaluation.report.drawing import DrawnFigures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conftest import Bench

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.reading import Evaluation
    from ycbench_agents.evaluation.report.result import PresetResults
    from ycbench_agents.evaluation.running import PlayedEvaluation


class Played(Protocol):
    """What plays a small suite (of the conftest one folder up)."""

    text: str

    def play(self, *chosen: str) -> PlayedEvaluation: ...


def no_figures(suite: Suite, results: PresetResults, place: int) -> DrawnFigures:
    del suite, results, place
    return DrawnFigures((), ())


def board(evaluation: Evaluation, measures: Mapping[EpisodeKey, RunMeasures]) -> list[tuple[str, str, str]]:
    """Return policy, score and tier of each row of the report's leaderboard."""
    report = report_of(evaluation, measures, draw=no_figures)
    [table] = next(section for section in report.sections if section.key == "leaderboard").parts[0].tables
    places = [[column.title for column in table.columns].index(title) for title in ("Policy", "Score", "Tier")]
    return [(row[places[0]].text, row[places[1]].text, row[places[2]].text) for row in table.rows]


def test_the_report_orders_as_the_command_does_ties_and_incomplete_policies_too(bench: Played) -> None:
    bench.text = bench.text.replace("limits = { max_turns = 6 }", "").replace("[1, 2]", "[1]")
    bench.text = bench.text.replace('{ name = "idle" }', '{ name = "random" }, { name = "idle" }')
    bench.play("greedy")
    bench.text = bench.text.replace("[1]", "[1, 2]")
    evaluation = bench.play("idle", "random").evaluation  # both bankrupt; greedy has the best score, of one seed
    assert board(evaluation, evaluation.measures()) == [
        ("idle", "$0.00", "1"),
        ("random", "$0.00", "1"),
        ("greedy", "($420,295.21)", "\u2013"),
    ]
    assert [(row.policy, row.score_cents) for row in leaderboard(evaluation)] == [
        *(("idle", 0), ("random", 0), ("greedy", 42_029_521)),
    ]


def test_policies_without_a_finished_episode_are_sorted_by_name(hand: Bench) -> None:
    hand.add("greedy").add("expert")
    assert board(hand.evaluation(), hand.measures()) == [("expert", "\u2013", "\u2013"), ("greedy", "\u2013", "\u2013")]
    assert [row.policy for row in leaderboard(hand.evaluation())] == ["expert", "greedy"]


def test_an_incomplete_policy_leads_no_tier(hand: Bench) -> None:
    hand.add("part", 90_000_000, 91_000_000).add("greedy", 1_900_000, 2_000_000, 2_100_000).add("other", 1, 2, 3)
    assert board(hand.evaluation(), hand.measures()) == [
        ("greedy", "$20,000.00", "1"),
        ("other", "$0.02", "2"),
        ("part", "($905,000.00)", "\u2013"),
    ]


def test_a_score_is_the_mean_over_seeds_whatever_repeats_they_have_half_to_even() -> None:
    assert exact_score_cents({"1": [10, -7, 5], "2": [7], "3": []}) == 6  # (5 + 7) / 2
    assert [exact_score_cents({"1": [one], "2": [one + 1]}) for one in (0, 1)] == [0, 2]
    assert exact_score_cents({"1": []}) is None


@given(st.lists(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=3), min_size=1, max_size=4))
def test_no_order_of_seeds_or_repeats_changes_a_score(repeats: list[list[int]]) -> None:
    there = {str(seed): values for seed, values in enumerate(repeats)}
    back = {str(seed): values[::-1] for seed, values in enumerate(repeats[::-1])}
    assert exact_score_cents(there) == exact_score_cents(back)
