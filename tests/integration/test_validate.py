"""``ycbench validate``, after ``ycbench evaluate`` and a language model behind a loopback server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ycbench_agents.cli import main
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model

SUITE = """
name = "mine"
presets = ["default"]
seeds = [3]
limits = { max_turns = 3 }
policies = [{ name = "idle" }, { name = "llm", parameters = { keep_turns = 2 } }]
"""
RULES = 'name = "mine"\nsuite = { file = "../mine.toml" }\n'


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """The folder of an evaluation, relative to the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-must-not-be-kept-anywhere")
    (tmp_path / "configs" / "validation").mkdir(parents=True)
    Path("configs/mine.toml").write_text(SUITE, "ascii")
    Path("configs/validation/mine.toml").write_text(RULES, "ascii")
    with LoopbackServer(greedy_model) as server:
        arguments = ["--quiet", "--model", "greedy", "--base-url", server.base_url]
        assert main(["evaluate", "mine", *arguments]) == 0
    capsys.readouterr()
    return Path("out/mine")


def test_the_exit_code_and_provenance_follow_the_outcome(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in played.rglob("*") if path.is_file()}
    assert main(["validate", str(played), "--rules", "mine", "--no-write"]) == 3
    assert {path: path.read_bytes() for path in played.rglob("*") if path.is_file()} == before
    out = capsys.readouterr().out
    assert "models: replies are not signed" in " ".join(out.split())
    assert out.endswith("not checked under the rules mine\n")
    assert main(["validate", str(played)]) == 3  # the rules that are called like the suite
    assert "not checked under the rules mine; provenance.json written\n" in capsys.readouterr().out
    block = (played / "provenance.json").read_bytes()
    assert b"a-key-that-must" not in block
    assert str(Path.cwd()).encode() not in block

    [turns] = played.glob("run-idle-*/turns.jsonl")
    turns.write_bytes(turns.read_bytes().replace(b'"invalid_commands":0', b'"invalid_commands":1'))
    assert main(["validate", str(played), "--json"]) == 1
    values = json.loads(capsys.readouterr().out)
    invalid = {check["rule"]: check["where"] for check in values["checks"] if check["outcome"] == "invalid"}
    assert invalid["records"][0] == "idle, default, seed 3: turn 1: invalid_commands: 1 | 0 (recorded | now)"
    assert (values["outcome"], values["provenance"]) == ("invalid", None)
    assert (played / "provenance.json").read_bytes() == block


def test_an_evaluation_of_scripted_policies_alone_is_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SUITE.replace(', { name = "llm", parameters = { keep_turns = 2 } }', ""), "ascii")
    Path("rules.toml").write_text('name = "rules"', "ascii")
    assert main(["evaluate", "mine.toml", "--quiet"]) == 0
    assert main(["validate", "out/mine", "--rules", "rules.toml"]) == 0
    assert capsys.readouterr().out.endswith("valid under the rules rules; provenance.json written\n")


def test_a_folder_that_cannot_be_validated_is_wrong_usage(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("configs/validation/mine.toml").rename("configs/validation/other.toml")
    assert main(["validate", str(played)]) == 2
    assert "run it in the checkout of the project, whose configs/validation" in " ".join(
        capsys.readouterr().err.split()
    )
    assert main(["validate", "configs", "--rules", "other"]) == 2
    assert "there is no suite.json" in " ".join(capsys.readouterr().err.split())
    (played / "provenance.json").mkdir()
    Path("configs/validation/other.toml").write_text('name = "other"', "ascii")
    assert main(["validate", str(played), "--rules", "other"]) == 1  # the folder in its place cannot be read
