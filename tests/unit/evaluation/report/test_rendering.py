"""Reports as HTML, Markdown and files, of evaluations of every kind."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.cli import main
from ycbench_agents.evaluation.figure import funds_by_context
from ycbench_agents.evaluation.measurement import TokenUse, Transport
from ycbench_agents.evaluation.report import html_of, markdown_of, report_of
from ycbench_agents.evaluation.report.cell import (
    Cell,
    duration_cell,
    exact_dollars,
    number_cell,
    p_cell,
    short_dollars,
)
from ycbench_agents.evaluation.report.drawing import DrawnFigures
from ycbench_agents.evaluation.report.markdown import escaped
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Bench, MakeRun

    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.report import Report
    from ycbench_agents.evaluation.report.result import PresetResults
    from ycbench_agents.evaluation.running import PlayedEvaluation

EVIL = "<script>alert('1')</script>|`x`\n&<b onload=x>"
VOID = {"meta", "br", "img", "link"}


class Played(Protocol):
    """What plays a small suite (of the conftest one folder up)."""

    def play(self) -> PlayedEvaluation: ...


class Page(HTMLParser):
    """The elements of a page; fails on tags that do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href", "srcset")]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def made(hand: Bench) -> Report:
    return report_of(hand.evaluation(), hand.measures())


def no_figures(suite: Suite, results: PresetResults, place: int) -> DrawnFigures:
    del suite, results, place
    return DrawnFigures((), ())


def omitted(report: Report) -> list[str]:
    return [reason for section in report.sections for part in section.parts for reason in part.omitted]


def names(report: Report) -> list[str]:
    return [each.name for section in report.sections for part in section.parts for each in part.drawings]


def test_the_page_is_whole_holds_every_figure_and_fetches_nothing(hand: Bench) -> None:
    hand.add("greedy", 1_000_000, 2_000_000, -1).add("expert", 90_000_000, 80_000_000)
    report = made(hand)
    text = html_of(report)
    page = Page(text)
    assert page.tags.count("svg") == len(names(report)) == 9
    assert len(set(page.ids)) == len(page.ids)
    assert {link[:1] for link in page.links} == {"#"}
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert set(re.findall(r"https?://[^\"' )<]+", text)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_labels_and_reasons_are_shown_and_never_run(hand: Bench) -> None:
    hand.add(EVIL, 1_000_000, 2_000_000).add("greedy", 1, 2, 3).fail(EVIL, "3", EVIL)
    report = made(hand)
    page = Page(html_of(report))
    assert page.tags.count("script") == 1
    assert "b" not in [tag for tag in page.tags if tag == "b"][len(names(report)) :]
    assert any("<script>alert('1')</script>|`x` &<b onload=x>" in text for text in page.text)
    for line in markdown_of(report).splitlines():
        assert "<script" not in line


def test_equal_evaluations_give_equal_bytes_but_for_the_times(hand: Bench, make_run: MakeRun) -> None:
    hand.add("greedy", 1_000_000, 2_000_000, 3_000_000).add("expert", 4_000_000, 5_000_000, 6_000_000)
    first = made(hand)
    hand.started = "2027-01-01T00:00:00Z"
    for key, final in zip(list(hand.runs)[:3], (1_000_000, 2_000_000, 3_000_000), strict=True):
        hand.runs[key] = make_run(final, transport=Transport(1.0, 2, 3, 4.0))
    second = made(hand)
    pages = [re.sub(r'(?s)<section id="times">.*?</section>', "", html_of(report)) for report in (first, second)]
    assert pages[0] == pages[1]
    assert html_of(first) != html_of(second)
    texts = [re.sub(r"(?s)## Times, .*?(?=## )", "", markdown_of(report)) for report in (first, second)]
    assert texts[0] == texts[1]
    assert markdown_of(first) != markdown_of(second)


def test_an_evaluation_without_a_finished_episode_says_so(hand: Bench) -> None:
    hand.add("greedy").fail("greedy", "1", "RuntimeError: no")
    report = made(hand)
    page = Page(html_of(report))
    assert names(report) == []
    assert omitted(report) == ["All figures: no episode was played to its end."]
    assert sum("No episode was played to its end" in text for text in page.text) == 3
    assert "3 episodes planned: 0 run to their end, 1 failed, 2 missing." in "".join(page.text)


def test_one_policy_with_one_seed_is_a_report(hand: Bench) -> None:
    hand.seeds = ("1",)
    hand.add("greedy", 5_000_000)
    report = made(hand)
    Page(html_of(report))
    assert "1-reference-funds" in names(report)
    assert any("there is but one seed" in reason for reason in omitted(report))


def test_a_world_without_clients_has_no_figures_of_clients_and_says_why(hand: Bench, make_run: MakeRun) -> None:
    run = make_run(5_000_000, acceptance=None, clients=(), failures=(), notes=None)
    hand.add("greedy", run, run)
    report = made(hand)
    assert not [name for name in names(report) if "trust" in name or "client" in name or "adversarial" in name]
    said = "\n".join(omitted(report))
    for title in ("Trust at the end", "Tasks of adversarial clients", "Client policy in the notes", "Why tasks failed"):
        assert f"{title}: " in said
    Page(html_of(report))


def test_models_with_costs_and_windows_have_their_figures(hand: Bench, make_run: MakeRun) -> None:
    run = make_run(9_000_000, tokens=TokenUse(900, 100, None, None, 0, 2.5, 0))
    for turns in (20, 30):
        hand.add(f"model, {turns}", run, run, parameters={"keep_turns": turns}, model="gpt-x")
    report = made(hand)
    assert {"1-reference-revenue-per-dollar", "1-reference-context"} <= set(names(report))
    assert omitted(report) == []
    hand.add("greedy", run)
    frame = funds_by_context(hand.evaluation().suite, hand.measures())
    assert frame[["policy", "seed", "model", "keep_turns", "final_funds_cents"]].to_numpy().tolist() == [
        [f"model, {turns}", seed, "gpt-x", turns, 9_000_000] for turns in (20, 30) for seed in "12"
    ]


def test_a_report_is_written_again_in_place_of_an_older_one(
    bench: Played, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = bench.play()
    folder = evaluation.evaluation.folder
    old, foreign = folder / "figures" / "7-old-funds.svg", folder / "figures" / "mine.svg"
    old.parent.mkdir()
    old.write_text("old")
    foreign.write_text("mine")
    assert main(["report", str(folder), "--png"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == str(folder / "report.html")
    assert not old.exists()
    assert foreign.exists()
    assert (folder / "figures" / "1-default-funds.png").read_bytes()[:4] == b"\x89PNG"
    written = [(folder / name).read_bytes() for name in ("report.html", "report.md", "figures/1-default-funds.svg")]
    assert main(["report", str(folder), "--out", str(tmp_path / "elsewhere")]) == 0
    elsewhere = tmp_path / "elsewhere"
    assert [
        (elsewhere / name).read_bytes() for name in ("report.html", "report.md", "figures/1-default-funds.svg")
    ] == written
    page = Page(written[0].decode("utf-8"))
    assert "4 episodes planned: 4 run to their end, 0 failed, 0 missing." in "".join(page.text)
    assert main(["report", str(folder), "--baseline", "nobody"]) == 2
    assert "got nobody, expected a policy of the suite: greedy, idle" in capsys.readouterr().err


def test_a_folder_without_an_evaluation_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "expected the folder that ycbench evaluate wrote" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("cents", "short", "exact"),
    [
        (0, "$0", "$0.00"),
        (95_049, "$950", "$950.49"),
        (99_960, "$1.00k", "$999.60"),
        (8_400_000, "$84.0k", "$84,000.00"),
        (89_999_995_900_000, "$900B", "$899,999,959,000.00"),
        (2**53, "$90.1T", "$90,071,992,547,409.92"),
        (99_999_999_999, "$1.00B", "$999,999,999.99"),
        (12_345_678, "$123k", "$123,456.78"),
        (99_960_000, "$1.00M", "$999,600.00"),
        (-127_000_000, "\u2212$1.27M", "\u2212$1,270,000.00"),
        (12_345_678.6, "$123k", "$123,456.79"),
        (-20, "$0", "\u2212$0.20"),
        (-0.3, "$0", "$0.00"),
        (9_990, "$100", "$99.90"),
        (9_999_000, "$100k", "$99,990.00"),
    ],
)
def test_amounts_in_cents_are_read_in_dollars(cents: float, short: str, exact: str) -> None:
    assert (short_dollars(cents), exact_dollars(cents)) == (short, exact)


def test_what_is_not_defined_is_a_dash_and_sorts_last() -> None:
    assert (number_cell(None, note="why").text, number_cell(None).order, number_cell(None, note="why").note) == (
        "\u2013",
        None,
        "why",
    )
    assert (p_cell(0.00001).text, p_cell(0.25).text, p_cell(None).text) == ("1e-05", "0.2500", "\u2013")
    durations = [duration_cell(*each) for each in ((0.0, None), (0.0312, 0.001), (1.5, 0.5), (90, None), (9e3, 1e3))]
    assert [each.text for each in durations] == [
        *("0.00 ms", "31.20 \u00b1 1.00 ms", "1.50 \u00b1 0.50 s", "1.50 min", "2.50 \u00b1 0.28 h"),
    ]
    assert ([each.order for each in durations], duration_cell(None, None).order) == ([0.0, 0.0312, 1.5, 90, 9e3], None)
    assert (number_cell(-0.001).text, number_cell(-1234.5, 1).text) == ("0.00", "\u22121,234.5")


@given(st.text())
def test_a_cell_is_one_printable_line_in_any_form(text: str) -> None:
    cell = Cell(text).text
    assert cell.isprintable()
    inside = escaped(cell)
    assert "<" not in inside
    assert "\n" not in inside
    assert not re.search(r"(?<!\\)(\\\\)*\|", inside)


def test_several_presets_have_parts_and_figures_of_their_own(hand: Bench) -> None:
    hand.presets, hand.seeds = ("one", "One"), ("1",)
    hand.add("greedy", 1_000_000, preset="one").add("greedy", 2_000_000, preset="One")
    report = made(hand)
    assert len(set(names(report))) == len(names(report)) == 16
    text = markdown_of(report)
    assert "\n### Preset One\n" in text
    assert "](figures/2-one-funds.svg)" in text
    page = Page(html_of(report))
    assert page.tags.count("h3") == 10


def test_a_library_that_is_missing_is_named_with_its_extra(hand: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    hand.add("greedy", 1_000_000)
    report = report_of(hand.evaluation(), hand.measures(), draw=no_figures)
    for library in ("jinja2", "matplotlib"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"jinja2 .*pip install 'ycbench-env\[evaluation\]'"):
        html_of(report)
    with pytest.raises(MissingExtraError, match=r"matplotlib .*pip install 'ycbench-env\[evaluation\]'"):
        made(hand)


def test_a_folder_that_cannot_be_written_to_is_named(
    bench: Played, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = bench.play().evaluation.folder
    (tmp_path / "taken").write_text("a file")
    assert main(["report", str(folder), "--out", str(tmp_path / "taken")]) == 2
    assert "cannot make this folder" in capsys.readouterr().err
    (tmp_path / "there" / "figures").mkdir(parents=True)
    (tmp_path / "there" / "report.html").mkdir()
    assert main(["report", str(folder), "--out", str(tmp_path / "there")]) == 2
    assert "report.html" in (said := capsys.readouterr().err)
    assert "name a folder that can be written to" in said
