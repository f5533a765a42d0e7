"""Tables of a report: the numbers are worked out by hand."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from typing import TYPE_CHECKING

import attrs
import pytest
import scipy

from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.heldout import SeedHash
from ycbench_agents.evaluation.measurement import TokenUse, Transport
from ycbench_agents.evaluation.old_suite import Limits
from ycbench_agents.evaluation.report import ReportError, report_of
from ycbench_agents.evaluation.report.cell import cost_cell, percent_cell
from ycbench_agents.evaluation.report.comparison import times
from ycbench_agents.evaluation.report.drawing import DrawnFigures
from ycbench_agents.evaluation.report.origin import origin_part
from ycbench_agents.records.record import GitState, RunOrigin

if TYPE_CHECKING:
    from conftest import Bench, MakeRun

    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.report import Report
    from ycbench_agents.evaluation.report.part import Section, Table
    from ycbench_agents.evaluation.report.result import PresetResults


def section(report: Report, key: str) -> Section:
    return next(each for each in report.sections if each.key == key)


def tables(report: Report, key: str) -> list[Table]:
    return [table for part in section(report, key).parts for table in part.tables]


def rows(table: Table) -> dict[str, dict[str, str]]:
    titles = [column.title for column in table.columns]
    return {row[0].text: dict(zip(titles, (cell.text for cell in row), strict=True)) for row in table.rows}


def no_figures(suite: Suite, results: PresetResults, place: int) -> DrawnFigures:
    del suite, results, place
    return DrawnFigures((), ())


def made(hand: Bench, baseline: str | None = None) -> Report:
    return report_of(hand.evaluation(), hand.measures(), baseline, no_figures)


def test_the_leaderboard_counts_a_bankrupt_company_as_0_and_is_exact_to_the_cent(hand: Bench) -> None:
    hand.add("greedy", 10_000_001, 20_000_000, -5_000).add("expert", 90_000_000, 91_000_000, 92_000_000)
    [table] = tables(made(hand), "leaderboard")
    assert list(rows(table)) == ["expert", "greedy"]
    greedy = rows(table)["greedy"]
    assert greedy["Score"] == "$100,000.00"
    assert greedy["Median"] == "$100k"
    assert (greedy["Survival"], greedy["Spread across seeds"]) == ("67%", "$100k")
    assert (greedy["Tier"], rows(table)["expert"]["Tier"]) == ("2", "1")


def test_what_failed_or_is_missing_is_counted_and_named_and_enters_no_mean(hand: Bench) -> None:
    hand.add("greedy", 10_000_000).fail("greedy", "2", "MemoryError: no room")
    report = made(hand)
    row = rows(tables(report, "leaderboard")[0])["greedy"]
    assert [row[name] for name in ("Planned", "Run", "Failed", "Missing", "Score")] == [
        "3",
        "1",
        "1",
        "1",
        "($100,000.00)",
    ]
    failed, missing = tables(report, "episodes")
    assert [[cell.text for cell in line] for line in failed.rows] == [
        ["greedy, reference, seed 2", "MemoryError: no room"]
    ]
    assert [[cell.text for cell in line] for line in missing.rows] == [
        ["greedy, reference, seed 3", "not begun, or its run.json cannot be read"]
    ]
    below, seeds = tables(report, "leaderboard")[0].notes
    assert below == (
        "Below the others and without a tier, since episodes failed or are missing, so that a score in brackets may be "
        "that of the easier seeds: greedy."
    )
    assert seeds == "Seeds without a finished episode, which no mean counts: greedy (seed 2, 3)."


def test_comparisons_are_paired_by_seed_with_the_exact_p_and_its_floor(hand: Bench) -> None:
    hand.add("greedy", 10_000_000, 20_000_000, 30_000_000).add("expert", 11_000_000, 23_000_000, 35_000_000)
    hand.add("mixed", 11_000_000, 22_000_000, 29_000_000)
    [table] = tables(made(hand), "comparison")
    row = rows(table)["expert"]
    assert row["Lift"] == "$30.0k"
    assert row["Median lift"] == "$30.0k"
    assert row["Lift, %"] == "15"
    assert [row[name] for name in ("p", "Floor of p", "Holm p")] == ["0.2500", "0.2500", "0.5000"]
    assert (row["Win rate"], row["Won, tied, lost"], row["Seeds"]) == ("100%", "3, 0, 0", "3")
    mixed = rows(table)["mixed"]
    assert [mixed[name] for name in ("p", "Floor of p", "Holm p")] == ["0.7500", "0.2500", "0.7500"]
    assert (mixed["Win rate"], mixed["Won, tied, lost"]) == ("67%", "2, 0, 1")


def test_seeds_that_one_of_the_two_lacks_are_named(hand: Bench) -> None:
    hand.add("greedy", 10_000_000, 20_000_000, 30_000_000).add("expert", 11_000_000, 23_000_000)
    [table] = tables(made(hand), "comparison")
    assert rows(table)["expert"]["Seeds"] == "2"
    assert table.notes[-1] == "Seeds that only one of the two has, which enter nothing: expert (seed 3)."


def test_without_a_baseline_the_report_says_what_to_do(hand: Bench) -> None:
    hand.add("expert", 1, 2, 3)
    [part] = section(made(hand), "comparison").parts
    assert part.paragraphs == ("The suite has no policy greedy; name another with --baseline: expert.",)
    with pytest.raises(ReportError, match="got nobody, expected a policy of the suite: expert"):
        made(hand, "nobody")


def test_another_baseline_can_be_named(hand: Bench) -> None:
    hand.add("greedy", 1, 2, -3).add("idle", 1, 1, 1)
    [table] = tables(made(hand, "idle"), "comparison")
    assert list(rows(table)) == ["greedy"]
    assert (rows(table)["greedy"]["Factor"], rows(table)["greedy"]["Survival lift in points"]) == ("\u2013", "\u221233")
    assert table.absences == (
        "A dash (\u2013) says that there is nothing to show. Factor: an episode ended with less than $1; what such a "
        "one counts decides the ratio, so read survival."
    )


def test_behaviour_and_tasks_are_means_over_seeds_and_reliability_is_a_sum(hand: Bench, make_run: MakeRun) -> None:
    other = make_run(3_000_000)
    other = attrs.evolve(other, behaviour=attrs.evolve(other.behaviour, turns=100, inspects=0, max_concurrency=16))
    other = attrs.evolve(other, tasks=attrs.evolve(other.tasks, unfinished=2, overdue=1))
    hand.add("greedy", 1_000_000, other)
    report = made(hand)
    tasks, behaviour = tables(report, "conduct")
    assert rows(tasks)["greedy"]["Win rate"] == "67%"
    assert rows(tasks)["greedy"]["Adversarial"] == "25%"
    assert rows(tasks)["greedy"]["Revenue"] == "$50.0k"
    assert (rows(tasks)["greedy"]["Unfinished"], rows(tasks)["greedy"]["Overdue"]) == ("1.0", "0.5")
    row = rows(behaviour)["greedy"]
    assert (row["Notes per 100 turns"], row["Inspects per accept"], row["Commands per turn"]) == ("3.0", "0.50", "3.00")
    assert [row[name] for name in ("Concurrency", "Concurrency over time", "Most at once")] == ["1.5", "1.2", "16"]
    reliability = rows(tables(report, "reliability")[0])["greedy"]
    assert (reliability["Invalid commands"], reliability["Forced advances"], reliability["Turns"]) == (
        "14",
        "10",
        "150",
    )
    assert reliability["Malformed calls"] == "\u2013"


def test_cost_is_shown_of_runs_that_tell_it_and_the_others_are_named(hand: Bench, make_run: MakeRun) -> None:
    asked = [make_run(9_000_000, tokens=TokenUse(900, 100, None, None, 0, cost, 0)) for cost in (1.0, 3.0)]
    hand.add("greedy", 1).add("model", *asked)
    table = tables(made(hand), "conduct")[2]
    row = rows(table)["model"]
    assert (row["Cost, $"], row["Tokens"], row["Revenue per $"]) == ("2.00 \u00b1 1.41", "1,000", "$33.3k")
    assert table.notes == ("No run tells of tokens or cost: greedy.",)


def test_a_cost_of_less_than_a_cent_is_shown_with_three_digits() -> None:
    costs = [(0.0270, 0.001), (0.0251, None), (0.00122, 0.0001), (0.999, 0.5), (12.345, 0.1), (0.0, 0.0), (None, None)]
    assert [cost_cell(*each).text for each in costs] == [
        *("0.0270 \u00b1 0.0010", "0.0251", "0.00122 \u00b1 0.00010", "0.999 \u00b1 0.500", "12.35 \u00b1 0.10"),
        *("0.00 \u00b1 0.00", "\u2013"),
    ]


def test_rows_name_the_preset_where_there_are_several(hand: Bench) -> None:
    hand.presets = ("one", "two")
    hand.add("greedy", 1, 2, 3, preset="one").add("greedy", 4, 5, 6, preset="two")
    report = made(hand)
    assert [part.title for part in section(report, "leaderboard").parts] == ["Preset one", "Preset two"]
    [table] = tables(report, "reliability")
    assert [(row[0].text, row[1].text) for row in table.rows] == [("greedy", "one"), ("greedy", "two")]
    assert table.columns[1].title == "Preset"


def test_times_stand_in_one_section_alone(hand: Bench, make_run: MakeRun) -> None:
    hand.add("greedy", 1, 2, 3)
    first = made(hand)
    hand.started = "2027-01-01T00:00:00Z"
    hand.add("greedy", make_run(1, transport=Transport(4.0, 3, 2, 600.0)))
    second = made(hand)
    differing = [one.key for one, other in zip(first.sections, second.sections, strict=True) if one != other]
    assert differing == ["times"]
    row = rows(tables(second, "times")[0])["greedy"]
    assert (row["Retries"], row["Waiting"], row["Runtime"]) == ("3", "4.00 s", "4.33 \u00b1 4.91 min")


def test_repeats_show_the_spread_within_seeds_and_count_as_one_seed(hand: Bench, make_run: MakeRun) -> None:
    hand.repeats, hand.seeds = 2, ("1",)
    hand.add("greedy", 10_000_000)
    hand.runs[EpisodeKey("greedy", "reference", "1", 2)] = make_run(30_000_000)
    row = rows(tables(made(hand), "leaderboard")[0])["greedy"]
    assert (row["Score"], row["Spread within seeds"], row["Run"]) == ("$200,000.00", "$141k", "2")
    assert row["Spread across seeds"] == "\u2013"


def test_six_seeds_can_show_something_and_overlaps_across_tiers_are_named(hand: Bench) -> None:
    hand.seeds = ("1", "2", "3", "4", "5", "6")
    hand.add("greedy", *[10_000_000 + seed for seed in range(6)])
    hand.add("best", *[90_000_000 + 1_000_000 * seed for seed in range(6)])
    hand.add("near", *[88_000_000 + 1_300_000 * seed for seed in range(6)])
    hand.add("below", *[83_750_000 + 1_300_000 * seed for seed in range(6)])
    report = made(hand)
    [compared] = tables(report, "comparison")
    assert rows(compared)["best"]["p"] == rows(compared)["best"]["Floor of p"] == "0.0312"
    [note] = compared.notes
    assert note == (
        "Holm p cannot reach 0.05, though p can, since it allows for all 3 policies of this table: best, near, below "
        "(at least 0.09375). It takes 7 seeds without a tie."
    )
    [board] = tables(report, "leaderboard")
    assert {name: row["Tier"] for name, row in rows(board).items()} == {
        "best": "1",
        "near": "1",
        "below": "2",
        "greedy": "3",
    }
    assert board.notes == ("In different tiers, though their own intervals overlap: near and below.",)


def test_a_baseline_without_a_finished_episode_compares_with_nothing(hand: Bench) -> None:
    hand.add("greedy").add("expert", 1, 2, 3)
    [part] = section(made(hand), "comparison").parts
    assert part.tables == ()
    assert "There is nothing to compare" in part.paragraphs[0]


def test_held_out_seeds_are_named_by_their_hashes_and_said_to_be_so(hand: Bench) -> None:
    hand.seeds, hand.seed_hash = ("0a1b", "2c3d"), SeedHash("salt-1")
    hand.add("greedy", 1).fail("greedy", "2c3d", "LookupError: no client Helix")  # may tell of the world
    facts = {row[0].text: row[1].text for row in tables(made(hand), "origin")[0].rows}
    assert facts["Seeds"] == "0a1b, 2c3d (2 in all)"
    assert facts["Seeds are"] == "held out, named by scrypt-n14-r8-p1 with salt salt-1"
    assert [cell.text for cell in tables(made(hand), "episodes")[0].rows[0]][1] == "LookupError"


def test_what_was_evaluated_names_versions_parameters_and_the_state_of_the_checkout(hand: Bench) -> None:
    hand.add("greedy", 1, parameters={"b": 2, "a": "x"}, model="gpt-x")
    suite, policies, presets, provenance = tables(made(hand), "origin")
    assert [cell.text for cell in policies.rows[0]] == ["greedy", "greedy", "gpt-x", 'a="x", b=2']
    assert presets.rows[0][1].text == hand.evaluation().suite.presets[0].config.digest()
    facts = {row[0].text: row[1].text for row in provenance.rows}
    assert (facts["Git commit"], facts["Packages"]) == ("abc123, files changed", "attrs 26.1, numpy unknown")
    assert not suite.is_sortable
    makers = dict(each.split() for each in facts["Report made with"].split(", "))
    assert list(makers) == ["jinja2", "matplotlib", "numpy", "pandas", "scipy"]
    assert makers["scipy"] == scipy.__version__


def test_it_is_told_where_the_runs_were_begun_and_how_many_each_where_they_differ(hand: Bench) -> None:
    hand.add("greedy", 1, 2, 3).add("idle", 1)
    first = RunOrigin("3.12.1", {"attrs": "26.1", "numpy": "2.3"}, GitState("aaa", dirty=False), "2026-04-02T00:00:00Z")
    later = RunOrigin("3.13.0", {"attrs": "26.1", "numpy": "2.4", "openai": "3"}, None, "2026-04-01T00:00:00Z")
    hand.begin("greedy", "1", first, "2026-04-02T01:00:00Z").begin("greedy", "2", first, "2026-04-02T03:00:00Z")
    alone = tables(made(hand), "origin")[-1]
    told = {row[0].text: row[1].text for row in alone.rows}
    assert (told["Git commit"], told["Python"], told["Packages"]) == ("aaa", "3.12.1", "attrs 26.1, numpy 2.3")
    assert ("Finished runs" in told, alone.notes) == (False, ())
    hand.begin("idle", "1", later, "2026-04-01T02:00:00Z")
    report = made(hand)
    mixed = tables(report, "origin")[-1]
    told = {row[0].text: row[1].text for row in mixed.rows}
    assert told["Git commit"] == "aaa (2 runs); none (1 run)"
    assert told["Python"] == "3.12.1 (2 runs); 3.13.0 (1 run)"
    assert told["Packages"] == "attrs 26.1, numpy 2.3 (2 runs); 2.4 (1 run), openai 3"
    assert mixed.notes[0].startswith("The runs were begun at 2 states of the checkout, so that nobody can play all")
    assert section(report, "times").parts[0].paragraphs[0] == (
        "Of the finished runs the first was begun at 2026-04-01T00:00:00Z, and the last ended at 2026-04-02T03:00:00Z."
    )


def test_without_a_finished_run_it_is_told_where_and_when_the_evaluation_was_begun(hand: Bench) -> None:
    report = made(hand.add("greedy"))
    told = {row[0].text: row[1].text for row in tables(report, "origin")[-1].rows}
    assert told["Finished runs"] == "none; what follows is of the place where the evaluation was begun"
    assert told["Git commit"] == "abc123, files changed"
    assert section(report, "times").parts[0].paragraphs[0] == (
        "No run is finished. The evaluation was begun at 2026-04-01T00:00:00Z."
    )


@pytest.mark.parametrize(
    ("config", "limit", "shown"),
    [
        ("default", None, "\u2013"),
        ("default", 600, "600"),
        ("classic-easy", None, "500"),
        ("classic-easy", 600, "500"),
        ("classic-easy", 400, "400"),
    ],
)
def test_the_turn_limit_of_a_configuration_is_the_stricter_one_of_it_and_the_suite(
    hand: Bench, config: str, limit: int | None, shown: str
) -> None:
    hand.config, hand.limits = config, Limits(max_turns=limit)
    [row] = rows(tables(made(hand.add("greedy", 1)), "origin")[2]).values()
    assert row["Turn limit"] == shown


def test_how_episodes_ended_is_counted_and_said_where_a_turn_limit_ended_some(hand: Bench, make_run: MakeRun) -> None:
    whole, by_configuration, by_suite = make_run(3), make_run(2), make_run(1)
    by_configuration = attrs.evolve(by_configuration, ending=attrs.evolve(whole.ending, terminal_reason="max_turns"))
    by_suite = attrs.evolve(by_suite, ending=attrs.evolve(whole.ending, terminal_reason=None))
    hand.add("greedy", whole, by_configuration, by_suite).add("idle", 4, -1)
    report = made(hand)
    [table] = tables(report, "endings")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["greedy", "3", "1", "0", "2"],
        ["idle", "2", "1", "1", "0"],
    ]
    board = section(report, "leaderboard")
    [text] = board.parts[0].paragraphs
    assert text == (
        "A turn limit ended 2 of 5 runs: their funds are those of that moment, not of the whole horizon. How episodes "
        "ended says whose."
    )
    assert "Funds at a turn limit are not those of the whole horizon" in board.reading[-1]
    assert section(made(hand.add("greedy", 3, 2, 1)), "leaderboard").parts[0].paragraphs == ()


def test_a_library_without_a_version_is_unknown(hand: Bench) -> None:
    def version_of(name: str) -> str:
        raise PackageNotFoundError(name)

    evaluation = hand.evaluation()
    part = origin_part(evaluation.suite, evaluation.provenance, evaluation.episodes, version_of)
    assert part.tables[-1].rows[-1][1].text.startswith("jinja2 unknown, matplotlib unknown")


def test_factors_keep_three_digits_or_so() -> None:
    assert [times(ratio) for ratio in (1.5, 0.00021, 123.4, 1455.2, 2.5e6)] == [
        *("1.50\u00d7", "0.00021\u00d7", "123\u00d7", "1,455\u00d7", "2.5e+06\u00d7"),
    ]


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (None, "\u2013"),
        (0.0, "0%"),
        (0.004, "0.40%"),
        (-0.004, "\u22120.40%"),
        (0.006, "1%"),
        (0.5, "50%"),
        (0.994, "99%"),
        (0.9997, "99.97%"),
        (1.0, "100%"),
    ],
)
def test_a_share_looks_like_none_or_all_only_where_it_is(fraction: float | None, text: str) -> None:
    assert percent_cell(fraction).text == text
