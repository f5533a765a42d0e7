"""Rows of language models: which model played, what was paid without a result, and what an earlier command left."""

from __future__ import annotations

import json
import shutil
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest

from ycbench_agents.evaluation import Episode, EpisodeKey, play_suite
from ycbench_agents.evaluation.earlier import changed_models, mixed_models
from ycbench_agents.evaluation.player import PlayerIdentity
from ycbench_agents.evaluation.playing import QuietWatcher
from ycbench_agents.evaluation.reading import read_evaluation
from ycbench_agents.evaluation.report import report_of
from ycbench_agents.evaluation.report.drawing import DrawnFigures
from ycbench_agents.evaluation.report.origin import origin_part
from ycbench_agents.evaluation.report.paid import paid_texts
from ycbench_agents.evaluation.results import leaderboard, results_document
from ycbench_agents.evaluation.spending import Spending, spending_of
from ycbench_agents.evaluation.suite import Suite, SuitePolicy, SuitePreset
from ycbench_agents.llm.loopback import LoopbackServer, Status, greedy_model
from ycbench_agents.records.reading import read_run
from ycbench_env import load_config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ycbench_agents.evaluation import Evaluation
    from ycbench_agents.evaluation.report.result import PresetResults
    from ycbench_agents.records import RunRecord

PRICES = """
[models."dear"]
prompt = 1000.0
completion = 2000.0
as_of = 2026-01-15
"""


class Listener(QuietWatcher):
    """Remembers what was odd."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def tell(self, message: str) -> None:
        self.told.append(message)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prices.toml").write_text(PRICES, "utf-8")
    Path("prompt.md").write_text("Play well.", "utf-8")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(greedy_model) as server:
        yield server


def played(
    server: LoopbackServer, *rows: Mapping[str, object], policies: Sequence[str] = (), model: str | None = None
) -> tuple[Evaluation, list[str]]:
    """Play rows of models for two turns, beside one that nobody plays, and return what came of it and what was told."""
    listener = Listener()
    policy_rows = [{"name": "idle"}, {"name": "llm", "label": "other", "model": "o"}]
    policy_rows += [{"name": "llm", "label": "llm", **row} for row in rows]
    chosen = policies or [str(row["label"]) for row in policy_rows[1:]]
    suite = {"name": "s", "presets": ["default"], "seeds": [1], "limits": {"max_turns": 2}, "policies": policy_rows}
    evaluation = play_suite(suite, "out", policies=chosen, model=model, base_url=server.base_url, watcher=listener)
    return evaluation, listener.told


def statuses(evaluation: Evaluation) -> list[str]:
    return [episode.status for episode in evaluation.episodes]


def test_a_row_with_prompt_and_prices_keeps_its_results_while_others_are_played(server: LoopbackServer) -> None:
    row = {"model": "dear", "prices": ["prices.toml"], "system_prompt": "prompt.md"}
    first, _ = played(server, row)
    again, told = played(server, row, policies=["other"])
    assert (statuses(again), told) == (["missing", "finished", "finished"], [])
    assert again.suite == first.suite
    assert json.loads(Path("out/suite.json").read_bytes())["digest"] == again.suite.digest() == first.suite.digest()
    Path("prompt.md").write_text("Play better.", "utf-8")
    changed, told = played(server, row, policies=["other"])
    assert statuses(changed) == ["missing", "finished", "missing"]
    assert told == [
        "llm: the suite has it otherwise than when it was played: its episodes are missing until it is played"
    ]
    Path("prompt.md").write_text("Play well.", "utf-8")
    asked = len(server.requests)
    assert statuses(played(server, row)[0]) == ["missing", "finished", "finished"]
    assert len(server.requests) == asked  # the run was still there


def test_the_model_of_each_row_is_published_and_its_change_is_told(server: LoopbackServer) -> None:
    rows = [{"label": "a"}, {"label": "b", "parameters": {"keep_turns": 3}}]
    _, told = played(server, *rows, model="good")
    assert told == []
    evaluation, told = played(server, *rows, policies=["b"], model="part")
    assert told == [
        "b: played by the model part now, by good before, whose runs count no more",
        "the suite names no model, and different ones play its policies: good: a; part: b",
        "b: 1 finished run in runs/ is of other settings and will not be used; what differs: model",
    ]
    assert {row.policy: row.model for row in leaderboard(evaluation)} == {
        "idle": None,
        "other": "o",
        "a": "good",
        "b": "part",
    }
    published = json.loads(Path("out/results.json").read_bytes())["leaderboard"]
    assert {row["policy"]: row["model"] for row in published} == {"idle": None, "other": "o", "a": "good", "b": "part"}
    part = origin_part(evaluation.suite, evaluation.provenance, evaluation.episodes, players=evaluation.players)
    [table] = [table for table in part.tables if table.title == "Policies"]
    assert [[cell.text for cell in row[1:3]] for row in table.rows] == [
        ["idle", "\u2013"],
        ["llm", "o"],
        ["llm", "good"],
        ["llm", "part"],
    ]


def test_rows_that_differ_in_a_file_or_an_address_are_told_apart_in_the_report(server: LoopbackServer) -> None:
    evaluation, _ = played(
        server,
        {"model": "m", "label": "plain", "parameters": {"keep_turns": 20}, "base_url": server.base_url},
        {"model": "m", "label": "prompted", "parameters": {"keep_turns": 20}, "system_prompt": "prompt.md"},
        {"model": "dear", "label": "priced", "prices": ["prices.toml"]},
        policies=["other"],
    )
    part = origin_part(evaluation.suite, evaluation.provenance, evaluation.episodes)
    [table] = [table for table in part.tables if table.title == "Policies"]
    priced = evaluation.suite.policies[4].prices_sha256[0]
    assert [row[3].text for row in table.rows] == [
        "\u2013",
        "\u2013",
        f"keep_turns=20, base_url={server.base_url}",
        "keep_turns=20, system_prompt=prompt.md (9d4c1b6a)",
        f"prices=prices.toml ({priced[:8]})",
    ]


def test_what_was_paid_for_without_a_result_is_counted() -> None:
    with LoopbackServer(greedy_model, faults={2: Status(401)}) as server:
        row = {"model": "dear", "prices": ["prices.toml"]}
        evaluation, _ = played(server, row, policies=["llm"])
        assert statuses(evaluation) == ["missing", "missing", "failed"]
        document = json.loads(Path("out/results.json").read_bytes())
        [turn] = _record(evaluation.episodes[2]).turns()
        assert turn.trace is not None
        once = {
            "runs": 1,
            "turns": 1,
            "prompt_tokens": turn.trace["prompt_tokens"],
            "completion_tokens": turn.trace["completion_tokens"],
            "unknown_turns": 0,
            "cost_usd": turn.trace["cost_usd"],
            "unknown_cost_turns": 0,
        }
        assert turn.trace["cost_usd"]
        assert document["spending"] == {"finished": None, "without_result": once}
        assert {each["policy"]: each["spending"]["without_result"] for each in document["leaderboard"]} == {
            "idle": None,
            "other": None,
            "llm": once,
        }
        tokens, cost = once["prompt_tokens"] + once["completion_tokens"], once["cost_usd"]
        paid = f"1 run, 1 turn, {tokens:,} tokens, ${cost:.2f}"
        told = f"Paid for without a result, in runs that failed or are not finished, and in no table: {paid}."
        assert conduct(evaluation) == [
            "No episode was played to its end, so there is nothing to show yet.",
            f"{told} All recorded replies: {paid}.",
        ]
        evaluation, _ = played(server, row, policies=["llm"])
    assert conduct(evaluation) == []
    spending = results_document(evaluation)["spending"]
    assert isinstance(spending, dict)
    assert spending["without_result"] is None
    totals = _record(evaluation.episodes[2]).outcome.totals["cost_usd"]
    assert isinstance(totals, dict)
    assert isinstance(spending["finished"], dict)
    assert (spending["finished"]["turns"], spending["finished"]["cost_usd"]) == (2, totals["sum"])


def test_a_killed_run_is_counted_up_to_where_it_can_be_read(server: LoopbackServer) -> None:
    evaluation, _ = played(server, {"model": "dear", "prices": ["prices.toml"]})
    record = _record(evaluation.episodes[2])
    path = record.folder / "turns.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    spent = spending_of(
        [Episode(EpisodeKey("llm", "default", "1"), "missing", None, _running(record))], with_result=False
    )
    assert spent is not None
    first = next(read_run(record.folder).turns())
    assert first.trace is not None
    assert (spent.turns, spent.prompt_tokens) == (1, first.trace["prompt_tokens"])
    path.write_bytes(b"{\n" + path.read_bytes())
    assert spending_of([attrs.evolve(evaluation.episodes[2], status="failed")], with_result=False) is not None
    assert (
        spending_of([Episode(EpisodeKey("llm", "default", "1"), "missing", None, _running(record))], with_result=False)
        is None
    )


def test_what_is_not_known_of_replies_is_said(server: LoopbackServer) -> None:
    rows = [{"model": "m"}, {"model": "dear", "label": "dear", "prices": ["prices.toml"]}]
    evaluation, _ = played(server, *rows)
    other, unpriced, priced = (spending_of([each], with_result=True) for each in evaluation.episodes[1:])
    assert other is not None
    assert unpriced is not None
    assert priced is not None
    assert (unpriced.cost_usd, unpriced.unknown_cost_turns, priced.unknown_cost_turns) == (None, 2, 0)
    failed = [attrs.evolve(each, status="failed") for each in evaluation.episodes[2:]]
    [told] = paid_texts([evaluation.episodes[1], *failed])
    both, total = priced.plus(unpriced), priced.plus(unpriced).plus(other)
    assert f"2 runs, 4 turns, {both.tokens:,} tokens, at least ${priced.cost_usd:.2f}. " in told
    assert told.endswith(
        f"All recorded replies: 3 runs, 6 turns, {total.tokens:,} tokens, at least ${priced.cost_usd:.2f}."
    )
    assert f"1 run, 2 turns, {unpriced.tokens:,} tokens, cost unknown. All" in paid_texts(failed[:1])[0]
    assert paid_texts(evaluation.episodes) == ()


def test_sums_know_what_they_do_not_know() -> None:
    known = Spending(1, 3, 100, 10, 0, Decimal("0.1"), 0)
    unknown = Spending(1, 2, None, None, 2, None, 2)
    both = known.plus(unknown).plus(attrs.evolve(known, cost_usd=Decimal("0.2"), unknown_cost_turns=1))
    assert both == Spending(3, 8, 200, 20, 2, Decimal("0.3"), 3)
    assert both.to_dict()["cost_usd"] == 0.3
    assert (both.tokens, unknown.tokens, unknown.plus(unknown).cost_usd) == (220, None, None)


def test_runs_of_settings_that_change_no_reply_are_told_before_they_are_paid_again(server: LoopbackServer) -> None:
    rows = [{"model": "dear", "label": "a"}, {"model": "dear", "label": "b", "parameters": {"keep_turns": 3}}]
    first, told = played(server, *rows)
    assert told == []
    patient = [{**rows[0], "parameters": {"timeout_s": 700.0}}, {**rows[1], "prices": ["prices.toml"]}]
    _, told = played(server, *patient)
    assert told == [
        "a: 1 finished run in runs/ is of other settings and will not be used; what differs: timeout_s",
        "b: 1 finished run in runs/ is of other settings and will not be used; what differs: price",
    ]
    assert played(server, *patient)[1] == []  # now nothing is left to play
    of_a = _record(first.episodes[2]).folder
    shutil.move(of_a, f"{of_a}-repeat2")  # of settings that are the same
    assert played(server, *rows)[1] == told[:1]


def test_a_row_whose_model_stays_is_not_named_as_changed() -> None:
    before = [PlayerIdentity(policy, "p", "llm", {}, "m") for policy in "ab"]
    now = [before[0], attrs.evolve(before[1], model="n"), attrs.evolve(before[0], policy="c", model="o")]
    assert changed_models(before, now) == ["b: played by the model n now, by m before, whose runs count no more"]


def test_models_that_the_suite_names_are_not_called_mixed() -> None:
    rows = (
        SuitePolicy("a", "llm", model="m"),
        SuitePolicy("b", "llm", parameters={"model": "n"}),
        SuitePolicy("c", "llm"),
    )
    suite = Suite("s", "", rows, (SuitePreset("p", load_config(environ={})),), ("1",))
    players = [PlayerIdentity(row.label, "p", "llm", {}, model) for row, model in zip(rows, "mno", strict=True)]
    assert mixed_models(suite, players) == []


def test_an_evaluation_that_is_read_back_knows_its_models(server: LoopbackServer) -> None:
    evaluation, _ = played(server, {"model": "m"})
    assert read_evaluation("out") == evaluation
    assert (evaluation.model("llm", "default"), evaluation.model("idle", "default")) == ("m", None)


def conduct(evaluation: Evaluation) -> list[str]:
    """Return the paragraphs of the report's section on cost."""

    def undrawn(suite: Suite, results: PresetResults, place: int) -> DrawnFigures:
        del suite, results, place
        return DrawnFigures((), ())

    report = report_of(evaluation, evaluation.measures(), draw=undrawn)
    return [
        text for each in report.sections if each.key == "conduct" for part in each.parts for text in part.paragraphs
    ]


def _record(episode: Episode) -> RunRecord:
    assert episode.record is not None
    return episode.record


def _running(record: RunRecord) -> RunRecord:
    return attrs.evolve(record, outcome=attrs.evolve(record.outcome, status="running", turns=None, totals={}))
