"""``ycbench evaluate``: what it prints, and its exit codes."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ycbench_agents.cli import main
from ycbench_agents.evaluation.reading import read_evaluation
from ycbench_agents.llm.loopback import LoopbackServer, Status, greedy_model

if TYPE_CHECKING:
    from ycbench_agents.base import JsonObject
    from ycbench_agents.llm.loopback import ScriptedReply

LOCAL = ["told", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
SUITE = """
name = "told"
presets = ["default"]
seeds = [3]
limits = { max_turns = 5 }
concurrency = 2
policies = [{ name = "idle" }, { name = "llm", label = "short", parameters = { keep_turns = 2 } }, { name = "llm" }]
"""


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "configs" / "told.toml"
    path.parent.mkdir()
    path.write_text(SUITE, "utf-8")
    return path


def test_models_and_scripts_are_played_measured_and_told(
    suite: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-must-not-be-kept-anywhere")
    with LoopbackServer(greedy_model) as server:
        options = ["--model", "greedy", "--base-url", server.base_url, "--set", "world.num_employees=7"]
        assert main(["evaluate", "told", *options]) == 0
        asked = len(server.requests)
        assert main(["evaluate", str(suite), "--json", "--quiet", *options]) == 0
        assert len(server.requests) == asked == 10
    evaluation = read_evaluation("out/told")
    tokens = [measures.tokens.completion for measures in evaluation.measures().values()]
    told = capsys.readouterr()
    assert [each is None for each in tokens] == [True, False, False]
    assert "in force: world.num_employees = 7 (--set)" in told.out
    assert "3 of 3 episodes finished\nresults: out/told/results.json\n" in told.out
    assert told.out.endswith(Path("out/told/results.json").read_text("ascii"))
    assert "ycbench: 3/3 " in told.err
    everything = b"".join(path.read_bytes() for path in Path("out").rglob("*") if path.is_file())
    assert b"a-key-that-must" not in everything
    overrides = json.loads(Path("out/told/suite.json").read_text("ascii"))["provenance"]["overrides"]
    assert overrides == [{"key": "world.num_employees", "value": 7, "origin": "--set"}]


def test_a_model_that_cannot_be_asked_costs_its_own_episodes_and_is_asked_again(
    suite: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = {2: Status(401), 3: Status(401)}
    with LoopbackServer(greedy_model, faults=refusal) as server:
        options = ["--policy", "short", "llm", "--model", "greedy", "--base-url", server.base_url, "--quiet"]
        assert main(["evaluate", str(suite), *options]) == 1
        assert "failed: short, default, seed 3: PolicyStoppedError: " in capsys.readouterr().err
        assert main(["evaluate", str(suite), *options]) == 0
    statuses = [episode.status for episode in read_evaluation("out/told").episodes]
    assert statuses == ["missing", "finished", "finished"]


def test_what_ctrl_c_left_half_played_is_not_called_unplayed(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite.write_text(SUITE.replace("[3]", "[3, 4]").replace("concurrency = 2", "concurrency = 1"), "utf-8")
    asked: list[object] = []

    def interrupting(request: JsonObject) -> ScriptedReply:
        asked.append(request)
        if len(asked) == 2:
            signal.raise_signal(signal.SIGINT)
        return greedy_model(request)

    with LoopbackServer(interrupting) as server:
        options = ["--policy", "short", "--model", "greedy", "--base-url", server.base_url, "--quiet"]
        assert main(["evaluate", str(suite), *options]) == 130
    told = capsys.readouterr().err
    assert "not finished: short, default: seed 3\n" in told
    assert "not played: short, default: seed 4\n" in told


def test_policies_that_are_not_chosen_need_no_model_and_no_key(
    suite: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with LoopbackServer(greedy_model) as server:
        options = ["--policy", "short", "--model", "greedy", "--base-url", server.base_url, "--quiet"]
        assert main(["evaluate", str(suite), *options]) == 0
    suite.write_text(SUITE.replace("idle", "greedy"), "utf-8")
    assert main(["evaluate", str(suite), "--policy", "greedy", "--quiet"]) == 0
    assert "2 of 3 episodes finished, 1 missing" in capsys.readouterr().out
    statuses = [episode.status for episode in read_evaluation("out/told").episodes]
    assert statuses == ["finished", "finished", "missing"]  # that of short is still known


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["nothing"],
            "expected the TOML file of a suite, or one of the names in configs of the working directory: told",
        ),
        (["told", "--policy", "expert"], "--policy: got 'expert', expected policies of the suite: idle, short, llm"),
        (["told"], "policy 'short' of the suite: --model: got nothing"),
        ([*LOCAL, "--out", "configs/told.toml"], "--out configs/told.toml: cannot make this folder"),
    ],
)
def test_what_cannot_be_played_is_told_before_anything_is_played(
    suite: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert suite.exists()
    assert main(["evaluate", *arguments]) == 2
    assert told in capsys.readouterr().err
    assert not Path("out").exists()
