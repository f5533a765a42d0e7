"""Explanations: each dash has its reason, and what a heading means is said where nobody can point at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest

from ycbench_agents.evaluation.measurement import TokenUse, Transport
from ycbench_agents.evaluation.report import html_of, markdown_of, report_of
from ycbench_agents.evaluation.report.cell import NOTHING, Cell, count_cell, text_cell
from ycbench_agents.evaluation.report.drawing import DrawnFigures
from ycbench_agents.evaluation.report.part import Table, figures, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Bench, MakeRun

    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.report import Report
    from ycbench_agents.evaluation.report.result import PresetResults


def no_figures(suite: Suite, results: PresetResults, place: int) -> DrawnFigures:
    del suite, results, place
    return DrawnFigures((), ())


def made(hand: Bench) -> Report:
    return report_of(hand.evaluation(), hand.measures(), draw=no_figures)


def tables(report: Report) -> list[Table]:
    return [table for section in report.sections for part in section.parts for table in part.tables]


def dashes(report: Report) -> set[tuple[str, str]]:
    """Return the columns that have a dash, after checking that each of these has a reason."""
    found: set[tuple[str, str]] = set()
    for table in tables(report):
        for row in table.rows:
            for column, cell in zip(table.columns, row, strict=True):
                if cell.text == "\u2013":
                    assert cell.note, f"{table.title}: {column.title} of {row[0].text}"
                    found.add((table.title.partition(",")[0], column.title))
    return found


def nothing_finished(hand: Bench, make_run: MakeRun) -> None:
    del make_run
    hand.add("greedy").add("expert", 1, 2, 3).fail("greedy", "1", "RuntimeError: no")


def one_seed_of_several(hand: Bench, make_run: MakeRun) -> None:
    del make_run
    hand.repeats = 2
    hand.add("greedy", 5_000_000).add("broke", -1).add("empty")


def nobody_did_anything(hand: Bench, make_run: MakeRun) -> None:
    run = make_run(1)
    run = attrs.evolve(
        run,
        acceptance=None,
        clients=(),
        notes=None,
        tasks=attrs.evolve(run.tasks, accepted=0, succeeded=0, failed=0, cancelled=0, trusted_successes=0),
        behaviour=attrs.evolve(
            run.behaviour, turns=0, accepts=0, mean_concurrency_by_turn=None, mean_concurrency_by_time=None
        ),
        transport=Transport(None, None, None, None),
    )
    hand.add("greedy", run, run).add("expert", run, 0)


def costs_are_told_in_part(hand: Bench, make_run: MakeRun) -> None:
    hand.add("greedy", make_run(9, tokens=TokenUse(900, None, None, None, 3, 0.0, 2)))
    hand.add("priced", make_run(9, tokens=TokenUse(None, None, None, None, 3, 1.5, 2)))
    hand.add("counted", make_run(9, tokens=TokenUse(900, 100, None, None, 0, None, 50)))


ODD = (
    (nothing_finished, {("Leaderboard", "Score"), ("Leaderboard", "Survival interval"), ("Policies", "Model")}),
    (
        one_seed_of_several,
        {("Leaderboard", "Tier"), ("Leaderboard", "Spread across seeds"), ("Against greedy", "Lift")},
    ),
    (
        nobody_did_anything,
        {("Tasks and money", "Win rate"), ("Behaviour", "Concurrency"), ("Against greedy", "Factor")},
    ),
    (costs_are_told_in_part, {("Cost", "Cost, $"), ("Cost", "Tokens"), ("Cost", "Revenue per $")}),
)


@pytest.mark.parametrize(("make", "among_them"), ODD)
def test_each_dash_of_a_report_has_a_reason_in_html_and_markdown(
    hand: Bench, make_run: MakeRun, make: Callable[[Bench, MakeRun], None], among_them: set[tuple[str, str]]
) -> None:
    make(hand, make_run)
    report = made(hand)
    assert dashes(report) >= among_them
    page, text = html_of(report), markdown_of(report)
    explained = [table for table in tables(report) if table.absences]
    assert page.count("A dash (\u2013) says") == text.count("A dash (\u2013) says") == len(explained) > 0


def test_a_dash_keeps_its_own_reason_and_takes_that_of_its_column_otherwise() -> None:
    columns = (words("Policy"), figures("Runs", absent="none was played"), figures("Cost", absent="nobody was asked"))
    own = count_cell(None, "the file is lost")
    table = Table("T", columns, ((text_cell("a"), own, NOTHING), (text_cell("b"), NOTHING, Cell("3", 3.0))))
    assert [[cell.note for cell in row[1:]] for row in table.rows] == [
        ["the file is lost", "nobody was asked"],
        ["none was played", ""],
    ]
    assert table.absences == (
        "A dash (\u2013) says that there is nothing to show. Runs: the file is lost; Runs: none was played; Cost: "
        "nobody was asked."
    )
    assert Table("T", columns[:1], ((text_cell("a"),),)).absences == ""


def test_a_row_has_as_many_cells_as_there_are_columns() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Table("T", (words("Policy"), figures("Runs")), ((text_cell("a"),),))


def test_what_headings_mean_and_how_to_read_them_is_in_the_text_of_page_and_markdown(hand: Bench) -> None:
    hand.add("greedy", 1, 2, 3).add("expert", 4, 5, 6)
    report = made(hand)
    page, text = html_of(report), markdown_of(report)
    for section in report.sections:
        for title, note in section.terms:
            assert f"- **{title}**: {note}.".replace("&", "&amp;") in text
    headings = [column for table in tables(report) for column in table.columns if column.note]
    assert {(column.title, column.note) for column in headings} == {
        term for section in report.sections for term in section.terms
    }
    assert page.count("<summary>How to read this</summary>") == text.count("**How to read this**") == 6
    assert "trust the p." in page
    assert "trust the p." in text
