"""Reports: a pure function of the evaluation's data, in which whatever a name says is text."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import attrs
import matplotlib as mpl
import pytest

from ycbench_agents.base import JsonObject
from ycbench_agents.evaluation import Episode, Evaluation, play_suite, read_evaluation
from ycbench_agents.evaluation.report import ReportError, render_report, write_report
from ycbench_agents.files import FileError

HOSTILE = "<img src=x onerror=alert(1)>|`*_[a](b)\u202e"
NO_END = {"img", "meta", "br"}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """Four policies, two presets, two seeds, a few turns each."""
    suite = {
        "name": "small",
        "description": "# <script>alert(2)</script>",
        "presets": ["default", "reference"],
        "seeds": [1, 2],
        "limits": {"max_turns": 8},
        "policies": [{"name": "greedy"}, {"name": "random"}, {"name": "throughput"}, {"name": "idle"}],
    }
    return play_suite(suite, tmp_path_factory.mktemp("report") / "evaluation", workers=1)


@pytest.fixture(scope="module")
def files(played: Evaluation) -> dict[str, str]:
    return {name: content.decode() for name, content in render_report(relabelled(played)).items()}


def relabelled(evaluation: Evaluation) -> Evaluation:
    """The evaluation with a hostile name for random, an episode that failed and one that is missing."""

    def name(label: str) -> str:
        return HOSTILE if label == "random" else label

    policies = tuple(attrs.evolve(row, label=name(row.label)) for row in evaluation.suite.policies)
    episodes = [
        Episode(attrs.evolve(each.key, policy=name(each.key.policy)), each.status, each.reason, each.run)
        for each in evaluation.episodes
    ]
    random = [place for place, each in enumerate(episodes) if each.key.policy == HOSTILE]
    episodes[random[0]] = Episode(episodes[random[0]].key, "failed", f"TurnError: seed 4711 {HOSTILE}")
    episodes[random[-1]] = Episode(episodes[random[-1]].key, "missing")
    return attrs.evolve(evaluation, suite=attrs.evolve(evaluation.suite, policies=policies), episodes=tuple(episodes))


def of_one_preset(evaluation: Evaluation, *policies: str) -> Evaluation:
    """The part of an evaluation that is quick to draw."""
    episodes = (each for each in evaluation.episodes if each.key.preset == "default")
    return attrs.evolve(
        evaluation, episodes=tuple(each for each in episodes if not policies or each.key.policy in policies)
    )


class Page(HTMLParser):
    """Checks that elements are closed, and keeps what a test asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, dict(attrs)))
        if tag not in NO_END:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_a_page_is_whole_and_asks_for_nothing(files: dict[str, str]) -> None:
    page = Page()
    page.feed(files["report.html"])
    assert page.open == []
    sources = [values["src"] for tag, values in page.attributes if tag == "img"]
    assert len(sources) == sum(name.endswith(".svg") for name in files) >= 8
    assert all(source is not None and source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert [tag for tag, _ in page.attributes].count("script") == 1
    assert not any(key.startswith("on") for _, values in page.attributes for key in values)
    assert "alert(2)" in "".join(page.text)  # as text
    script = files["report.html"].split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in files["report.html"]


def test_names_are_text_in_every_format(files: dict[str, str]) -> None:
    for name, text in files.items():
        assert "\u202e" not in text, name
        assert "<img src=x" not in text, name
    line = next(line for line in files["report.md"].splitlines() if "img src" in line and "| random |" in line)
    assert line.startswith("| &lt;img src=x onerror=alert(1)&gt;\\|\\`\\*\\_\\[a\\](b)\\\\u202e |")
    assert "\n\\# &lt;script&gt;" in files["report.md"]
    tables = re.findall(r"(?m)(?:^\|.*\n)+", files["report.md"])
    for table in tables:  # every row has as many cells as the heading
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_failed_and_missing_episodes_are_counted_and_named(files: dict[str, str]) -> None:
    text = files["report.md"]
    assert "16 episodes planned: 14 finished, 1 failed, 1 missing." in text
    failed = next(line for line in text.splitlines() if "TurnError" in line)
    assert "default, seed 1 | failed | TurnError: seed 4711" in failed
    assert "reference, seed 2 | missing | not begun |" in text
    assert "Failed episodes of &lt;img" in text


def test_reports_are_equal_bytes_whatever_the_user_has_set(played: Evaluation, tmp_path: Path) -> None:
    written = write_report(played.folder, tmp_path / "new")
    assert [path.name for path in written[:2]] == ["report.html", "report.md"]
    found = {path.relative_to(tmp_path / "new").as_posix(): path.read_bytes() for path in written}
    with mpl.rc_context({"text.usetex": True, "font.size": 30}):
        assert render_report(read_evaluation(played.folder)) == found


def test_figures_are_written_as_png_on_request(played: Evaluation) -> None:
    found = render_report(of_one_preset(played), png=True)
    assert {name[:-3] for name in found if name.endswith("png")} == {
        name[:-3] for name in found if name.endswith("svg")
    }
    assert found["figures/default-funds.png"].startswith(b"\x89PNG")


def test_a_baseline_is_one_of_the_suite(played: Evaluation) -> None:
    with pytest.raises(ReportError, match="--baseline: got nobody, expected a policy of the suite: greedy, random"):
        render_report(played, baseline="nobody")
    text = render_report(of_one_preset(played, "random"))["report.md"].decode()
    assert "There is nothing to compare with greedy; --baseline names another policy: random." in text


def test_nothing_finished_is_a_report_all_the_same(played: Evaluation) -> None:
    missing = tuple(Episode(each.key, "missing") for each in played.episodes)
    found = render_report(attrs.evolve(played, episodes=missing))
    assert set(found) == {"report.html", "report.md"}
    assert b"No episode is finished" in found["report.md"]


def test_held_out_reasons_are_the_class_alone(played: Evaluation) -> None:
    evaluation = of_one_preset(relabelled(played), HOSTILE)
    secret = attrs.evolve(evaluation, suite=attrs.evolve(evaluation.suite, seeds=("h1", "h2"), held_out="x"))
    text = render_report(secret)["report.md"].decode()
    assert "| failed | TurnError |" in text
    assert "4711" not in text


def test_policies_that_differ_in_kept_turns_are_a_line(played: Evaluation) -> None:
    def lines(*parameters: dict[str, int]) -> list[str]:
        rows = zip(played.suite.policies, parameters, strict=True)
        policies = tuple(attrs.evolve(row, name="llm", parameters={**more}) for row, more in rows)
        suite = attrs.evolve(played.suite, policies=policies)
        found = render_report(attrs.evolve(of_one_preset(played), suite=suite))
        return re.findall(r">(greedy|throughput)<", found.get("figures/default-context.svg", b"").decode())

    assert lines({"keep_turns": 5}, {"keep_turns": 9}, {"keep_turns": 9, "a": 1}, {"keep_turns": 5, "a": 1}) == [
        "greedy",
        "throughput",
    ]
    assert lines({"keep_turns": 5}, {"keep_turns": 9}, {"keep_turns": 9, "a": 1}, {"keep_turns": 5}) == ["greedy"]
    assert lines({"keep_turns": 5}, {"keep_turns": 9, "a": 2}, {"keep_turns": 9, "a": 1}, {}) == []


def test_costs_without_a_result_are_named(played: Evaluation) -> None:
    first, *others = of_one_preset(played, "greedy", "idle").episodes
    assert first.run is not None
    totals: JsonObject = {
        name: {"sum": 7, "unknown_turns": 1} for name in ("prompt_tokens", "completion_tokens", "cost_usd")
    }
    run = attrs.evolve(first.run, outcome=attrs.evolve(first.run.outcome, totals=totals))
    failed = Episode(first.key, "failed", "TurnError", run)
    players = tuple(attrs.evolve(each, model="some-model") for each in played.players)
    evaluation = attrs.evolve(played, episodes=(failed, *others), players=players, overrides=({"key": "a.b"},))
    text = render_report(evaluation, baseline="idle")["report.md"].decode()
    assert "in no table: at least 1 runs, 8 turns, 14 tokens, $7.00." in text
    assert "| greedy | greedy | some-model |" in text
    assert '| Settings in force | {"key": "a.b"} |' in text


def test_published_results_are_shown_on_request(played: Evaluation) -> None:
    text = render_report(of_one_preset(played, "idle"), published=True)["report.md"].decode()
    assert re.search(r"\| grok-4.20-beta \| \$24.9K \| \$14K \| 2 \|", text)
    assert "averages the debts of bankrupt companies" in text
    assert "grok" not in render_report(of_one_preset(played, "idle"))["report.md"].decode()


def test_a_link_in_the_folder_is_not_followed(played: Evaluation, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "figures").symlink_to(tmp_path)
    with pytest.raises(FileError, match="symbolic link"):
        write_report(played.folder, out)


@pytest.mark.filterwarnings("ignore:.*cannot be measured")
def test_run_that_cannot_be_measured_counts_as_failed(played: Evaluation, tmp_path: Path) -> None:
    shutil.copytree(played.folder, tmp_path / "damaged")
    folder = next(path.parent for path in sorted((tmp_path / "damaged").glob("*greedy-default*/run.json")))
    (folder / "metrics.json").unlink()
    turns = (folder / "turns.jsonl").read_text(encoding="utf-8")
    (folder / "turns.jsonl").write_text(turns.replace('"funds_cents":', '"funds_cents":1', 1), encoding="utf-8")
    damaged = read_evaluation(tmp_path / "damaged")
    assert list(damaged.frame()["status"]).count("failed") == 1
    render_report(of_one_preset(damaged, "greedy", "random"))
