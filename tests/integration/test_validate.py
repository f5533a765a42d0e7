"""``ycbench validate``, after ``ycbench evaluate`` and a language model behind a loopback server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ycbench_agents.cli import main
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model

SUITE = """
name = "told"
presets = ["default"]
seeds = [3]
limits = { max_turns = 3 }
policies = [{ name = "idle" }, { name = "llm", parameters = { keep_turns = 2 } }]
"""
RULES = """
name = "told"
suite = { file = "../told.toml" }
version = "this"
"""


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """The folder of an evaluation, relative to the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-that-must-not-be-kept-anywhere")
    (tmp_path / "configs" / "validation").mkdir(parents=True)
    Path("configs/told.toml").write_text(SUITE, "ascii")
    Path("configs/validation/told.toml").write_text(RULES, "ascii")
    Path("configs/validation/strict.toml").write_text(
        RULES.replace('told"', 'strict"') + "telemetry = { tokens = true, cost = true }\n", "ascii"
    )
    with LoopbackServer(greedy_model) as server:
        assert main(["evaluate", "told", "--quiet", "--model", "greedy", "--base-url", server.base_url]) == 0
    capsys.readouterr()
    return Path("out/told")


def test_a_valid_evaluation_is_given_its_provenance_and_one_that_is_changed_is_not(
    played: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in played.rglob("*") if path.is_file()}
    assert main(["validate", str(played), "--rules", "told", "--no-write"]) == 0
    assert {path: path.read_bytes() for path in played.rglob("*") if path.is_file()} == before
    assert capsys.readouterr().out.endswith("\n\nvalid under the rules told\n")
    assert main(["validate", str(played)]) == 0  # the rules that are called like the suite
    assert "valid under the rules told; provenance.json written\n" in capsys.readouterr().out
    block = (played / "provenance.json").read_bytes()
    assert main(["validate", str(played), "--rules", "configs/validation/told.toml", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["is_valid"], told["provenance"]) == (True, json.loads(block))
    assert b"a-key-that-must" not in block
    assert str(Path.cwd()).encode() not in block

    [turns] = played.glob("runs/run-idle-*/turns.jsonl")
    turns.write_bytes(turns.read_bytes().replace(b'"invalid_commands":0', b'"invalid_commands":1'))
    assert main(["validate", str(played), "--rules", "told", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    failed = [check for check in told["checks"] if check["status"] == "failed"]
    assert [check["rule"] for check in failed] == ["replay", "measures", "provenance"]
    assert failed[0]["where"] == ["idle, default, seed 3: turn 1: invalid_commands: 1 | 0 (recorded | now)"]
    assert told["provenance"] is None
    assert (played / "provenance.json").read_bytes() == block


def test_what_is_not_known_of_a_language_model_is_told(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(played), "--rules", "strict"]) == 1
    told = capsys.readouterr().out
    assert "telemetry: llm, default, seed 3: cost of 3 turns not known\n" in told
    assert "tokens of" not in told
    assert told.endswith("not valid under the rules strict: 1 of 16 rules broken\n")
    for path in played.glob("runs/*/measures.json"):
        path.unlink()
    assert main(["validate", str(played), "--rules", "strict"]) == 1
    assert "telemetry: llm, default, seed 3: no measures of this version\n" in capsys.readouterr().out


def test_what_cannot_be_validated_is_wrong_usage(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("configs/validation/told.toml").rename("configs/validation/other.toml")
    assert main(["validate", str(played)]) == 2
    assert "--rules: got nothing, expected the TOML file of rules" in capsys.readouterr().err
    Path("configs/validation/other.toml").rename("configs/validation/told.toml")
    assert main(["validate", str(played), "--rules", "none"]) == 2
    assert "got 'none', expected the TOML file of rules, or one of the names in " in capsys.readouterr().err
    assert main(["validate", "configs", "--rules", "told"]) == 2
    assert "there is no suite.json" in capsys.readouterr().err
    (played / "provenance.json").mkdir()
    (played / "provenance.json" / "x").touch()
    assert main(["validate", str(played), "--rules", "told"]) == 1  # what is there cannot be read


def test_many_places_are_cut_short(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(25):
        (played / "runs" / f"run-{number:02}").mkdir()
    assert main(["validate", str(played), "--rules", "told"]) == 1
    assert "runs: 5 more; --json has all\n" in capsys.readouterr().out
