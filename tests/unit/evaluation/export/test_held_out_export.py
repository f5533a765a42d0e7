"""Exports of held-out evaluations: neither seeds nor worlds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow.parquet as pq
import pytest

from ycbench_agents.cli import main
from ycbench_agents.evaluation.export import ExportError, held_out_keys, refuse_held_out
from ycbench_agents.evaluation.export.minari_dataset import write_minari
from ycbench_agents.evaluation.export.parquet import write_parquet
from ycbench_agents.records import RecordError, RunRecord, read_run

if TYPE_CHECKING:
    from ycbench_agents.evaluation.folder import EvaluationFolder

SECRET = 2**62 + 12345
SEEDS = 'seeds = { variable = "YCBENCH_HELDOUT_SEEDS", salt = "0123456789abcdef" }'
OPEN = {"turn", "sim_time", "reward", "return_to_go", "funds_cents", "invalid_commands", "forced_advance", "terminated"}


class Bench(Protocol):
    """What the fixture ``bench`` gives (tests/unit/evaluation/conftest.py)."""

    text: str

    @property
    def out(self) -> EvaluationFolder: ...

    def play(self, *chosen: str, **environ: str) -> object: ...


@pytest.fixture
def secret(bench: Bench) -> list[RunRecord]:
    """Runs of a held-out evaluation."""
    bench.text = bench.text.replace("seeds = [1, 2]", SEEDS).replace("limits", "repeats = 2\nlimits")
    bench.play("greedy", YCBENCH_HELDOUT_SEEDS=str(SECRET))
    return [read_run(path) for path in sorted(bench.out.runs.iterdir())]


def test_a_table_of_held_out_runs_shows_neither_seeds_nor_worlds(secret: list[RunRecord], tmp_path: Path) -> None:
    path = tmp_path / "turns.parquet"
    assert write_parquet(secret, path) == 12
    table = pq.read_table(path)
    shown = {"observation", "action", "action_is_list", "results", "events", "trace", "state_hash", "notes_sha256"}
    assert shown.isdisjoint(table.column_names)
    assert set(table.column_names) > OPEN
    rows = table.to_pylist()
    [name] = {key.seed for key in held_out_keys(secret).values()}
    assert {(row["policy"], row["preset"], row["seed"], row["run"]) for row in rows} == {
        ("greedy", "default", name, None)
    }
    assert [row["repeat"] for row in rows] == [1] * 6 + [2] * 6
    assert [row["funds_cents"] for row in rows] == [turn.funds_cents for run in secret for turn in run.turns()]
    told = json.loads(table.schema.metadata[b"ycbench"])
    assert told["is_held_out"]
    everything = json.dumps([rows, told], default=str).encode() + path.read_bytes()
    assert str(SECRET).encode() not in everything


def test_forms_that_show_worlds_are_refused(secret: list[RunRecord], tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="got 2 runs of a held-out evaluation, which a data set would disclose"):
        write_minari(secret, tmp_path / "data", "told-v0")
    refuse_held_out([], "nothing")
    with pytest.raises(ExportError, match="expected runs with public seeds"):
        refuse_held_out(secret, "a line of JSON")


def test_the_command_refuses_lines_of_json_of_held_out_runs(
    secret: list[RunRecord], bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(secret) == 2
    assert main(["export", str(bench.out.path)]) == 2
    assert main(["export", str(secret[0].folder)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("of a held-out evaluation, which a line of JSON would disclose") == 2


def test_a_run_that_cannot_be_told_held_out_or_not_is_not_exported(secret: list[RunRecord], bench: Bench) -> None:
    stray = secret[0].folder.with_name("run-stray")
    secret[0].folder.rename(stray)
    with pytest.raises(ExportError, match="a run of a held-out evaluation belongs to no planned episode"):
        held_out_keys([read_run(stray)])
    bench.out.suite.write_text("{", "ascii")
    with pytest.raises(RecordError, match="got no JSON"):
        held_out_keys([read_run(stray)])
