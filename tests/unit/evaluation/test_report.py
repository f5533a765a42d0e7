"""Reports: a pure function of the evaluation's data, in which whatever a name holds is text."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import attrs
import matplotlib as mpl
import pytest

from ycbench_agents.cli.run import print_evaluation
from ycbench_agents.evaluation import Episode, Evaluation, play_suite, read_evaluation, report
from ycbench_agents.evaluation.figures import FIGURES
from ycbench_agents.evaluation.report import ReportError, render_report, write_report
from ycbench_agents.files import FileError
from ycbench_env.text import JsonObject

HOSTILE = "<img src=x onerror=alert(1)>|`*_[a](b)\u202e"


@pytest.fixture(scope="module", autouse=True)
def one_figure() -> Iterator[None]:
    """Reports that draw one figure and leave out one without data; test_report_in_browser draws all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "FIGURES", (FIGURES[0], FIGURES[3]))
        yield


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
def rendered(played: Evaluation) -> dict[str, bytes]:
    """The report of one preset with a hostile name."""
    return render_report(relabelled(part(played)))


def relabelled(evaluation: Evaluation) -> Evaluation:
    """The evaluation with a hostile name for random, an episode that failed and one that is missing."""

    def name(label: str) -> str:
        return HOSTILE if label == "random" else label

    policies = tuple(attrs.evolve(row, label=name(row.label)) for row in evaluation.suite.policies)
    episodes = [
        attrs.evolve(each, key=attrs.evolve(each.key, policy=name(each.key.policy))) for each in evaluation.episodes
    ]
    random = [place for place, each in enumerate(episodes) if each.key.policy == HOSTILE]
    episodes[random[0]] = Episode(episodes[random[0]].key, f"TurnError: seed 4711 {HOSTILE}")
    episodes[random[-1]] = Episode(episodes[random[-1]].key)
    return attrs.evolve(evaluation, suite=attrs.evolve(evaluation.suite, policies=policies), episodes=tuple(episodes))


def part(evaluation: Evaluation, *policies: str) -> Evaluation:
    """One preset of an evaluation, and some of its policies."""
    some = [each for each in evaluation.episodes if each.key.preset == "default"]
    return attrs.evolve(
        evaluation, episodes=tuple(each for each in some if not policies or each.key.policy in policies)
    )


def markdown(evaluation: Evaluation, *policies: str, baseline: str | None = None, published: bool = False) -> str:
    report = render_report(part(evaluation, *policies), baseline=baseline, published=published)
    return report["report.md"].decode()


def test_a_page_holds_everything_and_runs_its_own_script_alone(rendered: dict[str, bytes]) -> None:
    html = rendered["report.html"].decode()
    pictures = [base64.b64encode(content).decode() for name, content in rendered.items() if name.endswith(".svg")]
    assert re.findall(r'<img src="data:image/svg\+xml;base64,([^"]+)"', html) == pictures
    assert len(pictures) == 1
    assert "&lt;script&gt;alert(2)" in html
    (script,) = re.findall(r"(?s)<script>(.*?)</script>", html)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in html


def test_names_are_text_in_every_format(rendered: dict[str, bytes]) -> None:
    texts = {name: content.decode() for name, content in rendered.items()}
    for name, text in texts.items():
        assert "\u202e" not in text, name
        assert "<img src=x" not in text, name
    line = next(line for line in texts["report.md"].splitlines() if "img src" in line and "| random |" in line)
    assert line.startswith("| &lt;img src=x onerror=alert(1)&gt;\\|\\`\\*\\_\\[a\\](b)\\\\u202e |")
    assert "\n\\# &lt;script&gt;" in texts["report.md"]
    for table in re.findall(r"(?m)(?:^\|.*\n)+", texts["report.md"]):  # every row has as many cells as the heading
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_failed_and_missing_episodes_are_counted_and_named(rendered: dict[str, bytes]) -> None:
    text = rendered["report.md"].decode()
    assert "8 episodes planned: 6 finished, 1 failed, 1 missing." in text
    failed = next(line for line in text.splitlines() if "TurnError" in line)
    assert "default, seed 1 | failed | TurnError: seed 4711" in failed
    assert "default, seed 2 | missing | not begun |" in text


def test_figures_are_written_as_png_on_request(played: Evaluation) -> None:
    found = render_report(part(played, "idle"), png=True)
    assert found["figures/default-funds-by-month.png"].startswith(b"\x89PNG")


def test_reports_are_equal_bytes_whatever_the_user_has_set(played: Evaluation, tmp_path: Path) -> None:
    written = write_report(played.folder, tmp_path / "new")
    assert [path.name for path in written[:2]] == ["report.html", "report.md"]
    found = {path.relative_to(tmp_path / "new").as_posix(): path.read_bytes() for path in written}
    with mpl.rc_context({"text.usetex": True, "font.size": 30}):
        assert render_report(read_evaluation(played.folder)) == found


def test_a_baseline_is_one_of_the_suite(played: Evaluation) -> None:
    with pytest.raises(ReportError, match="--baseline: got nobody, expected a policy of the suite: greedy, random"):
        render_report(played, baseline="nobody")
    assert "nothing to compare with greedy; --baseline names another policy: random." in markdown(played, "random")
    alone = part(played, "random")
    alone = attrs.evolve(alone, suite=attrs.evolve(alone.suite, policies=alone.suite.policies[1:2]))
    assert b"Against" not in render_report(alone)["report.md"]
    assert b"Against random" in render_report(alone, baseline="random")["report.md"]


def test_nothing_finished_is_a_report_all_the_same(played: Evaluation) -> None:
    missing = tuple(Episode(each.key) for each in played.episodes)
    found = render_report(attrs.evolve(played, episodes=missing))
    assert set(found) == {"report.html", "report.md"}
    assert b"No episode is finished" in found["report.md"]


def test_held_out_reasons_are_the_class_alone(played: Evaluation) -> None:
    evaluation = relabelled(played)
    secret = attrs.evolve(evaluation, suite=attrs.evolve(evaluation.suite, seeds=("h1", "h2"), held_out="x"))
    text = markdown(secret, HOSTILE)
    assert "| failed | TurnError |" in text
    assert "4711" not in text


def test_costs_without_a_result_are_named(played: Evaluation) -> None:
    first, *others = played.episodes
    assert first.run is not None
    totals: JsonObject = {
        name: {"sum": 7, "unknown_turns": 1} for name in ("prompt_tokens", "completion_tokens", "cost_usd")
    }
    run = attrs.evolve(first.run, outcome=attrs.evolve(first.run.outcome, totals=totals))
    failed = Episode(first.key, "TurnError", run)
    players = tuple(attrs.evolve(each, model="some-model") for each in played.players)
    evaluation = attrs.evolve(played, episodes=(failed, *others), players=players, overrides=({"key": "a.b"},))
    text = markdown(evaluation, "greedy", "idle", baseline="idle")
    assert "in no table: 8 turns, at least 14 tokens, at least $7.00." in text
    assert "| greedy | greedy | some-model |" in text
    assert '| Settings in force | {"key": "a.b"} |' in text


def test_published_results_are_shown_on_request(played: Evaluation) -> None:
    text = markdown(played, "idle", published=True)
    assert re.search(r"\| grok-4.20-beta \| \$24.9K \| \$14K \| 2 \|", text)
    assert "averages the debts of bankrupt companies" in text
    assert "grok" not in markdown(played, "idle")


def test_a_link_in_the_folder_is_not_followed(played: Evaluation, tmp_path: Path) -> None:
    (tmp_path / "figures").symlink_to(tmp_path)
    with pytest.raises(FileError, match="symbolic link"):
        write_report(played.folder, tmp_path)


@pytest.mark.filterwarnings("ignore:.*cannot be measured")
def test_run_that_cannot_be_measured_counts_as_failed(played: Evaluation, tmp_path: Path) -> None:
    shutil.copytree(played.folder, tmp_path / "damaged")
    folder = next(path.parent for path in sorted((tmp_path / "damaged").glob("*greedy-default*/run.json")))
    (folder / "metrics.json").unlink()
    turns = (folder / "turns.jsonl").read_text(encoding="utf-8")
    (folder / "turns.jsonl").write_text(turns.replace('"funds_cents":', '"funds_cents":1', 1), encoding="utf-8")
    damaged = read_evaluation(tmp_path / "damaged")
    assert list(damaged.frame()["status"]).count("failed") == 1
    assert "cannot be measured" in markdown(damaged, "greedy", "random")


def test_a_policy_that_only_renews_the_market_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policies = [{"name": "market_roller"}, {"name": "idle"}]
    suite = {"name": "s", "presets": ["default"], "seeds": [1], "limits": {"max_turns": 3}, "policies": policies}
    evaluation = play_suite(suite, tmp_path, workers=1)
    print_evaluation(evaluation)
    for shown in (capsys.readouterr().out, markdown(evaluation).replace("\\", "")):
        text = " ".join(shown.split())
        assert "market_roller uses a loophole" in text
        assert "idle uses" not in text
