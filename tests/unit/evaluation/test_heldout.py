"""Secret seeds: no message holds one, whatever is wrong with a run, whose folder is named by its seed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ycbench_agents.cli import main
from ycbench_agents.evaluation.heldout import SeedHash
from ycbench_agents.evaluation.reading import read_evaluation
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model

SEED = 7_777_777_777_777_777_771
SALT = "0123456789abcdef"
SUITE = f"""
name = "secret"
presets = ["default"]
seeds = {{ variable = "HELDOUT", salt = "{SALT}" }}
limits = {{ max_turns = 3 }}
"""
NAME = SeedHash(SALT).of(SEED)


@pytest.fixture(autouse=True)
def _secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HELDOUT", str(SEED))


def _evaluate(policies: str, *options: str) -> int:
    Path("secret.toml").write_text(f"{SUITE}policies = [{policies}]\n", "utf-8")
    return main(["evaluate", "secret.toml", "--processes", "1", *options])


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _spoil(path: Path) -> None:
    path.write_bytes(b"{")


_MODEL = '{ name = "llm" }'


@pytest.mark.parametrize(
    ("name", "damage", "codes", "told"),
    [
        ("run.json", _spoil, (0, 1), ("failed: llm, default, seed NAME: RecordError",)),
        ("run.json", _folder, (0, 1), ("failed: llm, default, seed NAME: ",)),
        ("turns.jsonl", _cut, (2, 0), ("warning: out/secret/runs/(run of seed NAME)",)),
        ("turns.jsonl", _folder, (2, 2), ("error: out/secret/runs/(run of seed NAME)/turns.jsonl: Is a directory",)),
        ("measures.json", _folder, (2, 2), ("llm, default, seed NAME: no measures of this version", "measures.json: ")),
    ],
)
def test_a_damaged_run_is_told_of_without_its_seed(
    capsys: pytest.CaptureFixture[str],
    name: str,
    damage: Callable[[Path], None],
    codes: tuple[int, int],
    told: tuple[str, ...],
) -> None:
    with LoopbackServer(greedy_model) as server:
        options = ["--model", "greedy", "--base-url", server.base_url]
        assert _evaluate(_MODEL, *options) == 0
        [path] = Path("out/secret/runs").glob(f"*/{name}")
        damage(path)
        assert (main(["report", "out/secret", "--out", "report"]), _evaluate(_MODEL, *options)) == codes
    said = capsys.readouterr()
    assert str(SEED) not in said.out + said.err
    for text in told:
        assert text.replace("NAME", NAME) in said.err


def test_a_damaged_run_of_a_script_is_missing_until_it_is_begun_anew(capsys: pytest.CaptureFixture[str]) -> None:
    policies = '{ name = "idle" }, { name = "greedy" }'
    assert _evaluate(policies) == 0
    [path] = Path("out/secret/runs").glob("run-idle-*/run.json")
    _spoil(path)
    statuses = [episode.status for episode in read_evaluation("out/secret").episodes]
    assert statuses == ["missing", "finished"]
    assert _evaluate(policies) == 0
    said = capsys.readouterr()
    assert f"warning: idle, default, seed {NAME}: its record is damaged; played again" in said.err
    assert str(SEED) not in said.out + said.err


def test_what_somebody_else_put_among_the_files_is_named_with_advice(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out/secret/playing/stray").mkdir(parents=True)
    assert _evaluate('{ name = "idle" }') == 2
    assert "playing/stray: Is a directory; ycbench evaluate has not made it: remove it, or" in capsys.readouterr().err


def test_secret_seeds_are_replaced_by_their_names_wherever_they_stand() -> None:
    digits = "0" * 20
    text = f"x/runs/run-my_bot-default-seed{SEED}-{digits}-repeat2/run.json: seed: {SEED} | 1"
    told = SeedHash(SALT).without_seeds(text, [SEED])
    assert told == f"x/runs/(run of seed {NAME})/run.json: seed: {NAME} | 1"
