"""``ycbench export --format parquet|minari``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import minari
import pyarrow.parquet as pq
import pytest

from ycbench_agents.cli import main

if TYPE_CHECKING:
    from conftest import Play


def test_runs_are_written_and_told(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = play("company status", max_turns=2).folder
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(folder), "--format", "parquet", "--out", "turns.parquet"]) == 0
    assert main(["export", ".", "--format", "minari", "--out", "data", "--name", "my/told-v1"]) == 0
    told = capsys.readouterr()
    assert told.out == (
        "2 turns of 1 run: turns.parquet\n2 turns of 1 run: data/my/told-v1; load it with MINARI_DATASETS_PATH=data\n"
    )
    assert pq.read_table("turns.parquet").num_rows == 2
    monkeypatch.setenv("MINARI_DATASETS_PATH", "data")
    assert minari.load_dataset("my/told-v1").total_steps == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "run1", "turns.parquet"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "parquet"], "--out: got nothing, expected where to write"),
        (["--format", "minari", "--out", "data"], "--name: got nothing, expected the name of the data set"),
        (["--format", "minari", "--out", "data", "--name", "x"], "--name: got 'x', expected a name and a version"),
        (
            ["--format", "parquet", "--out", "no/where.parquet"],
            "no/where.parquet: No such file",
        ),
        (["--name", "x-v0"], "--name: got 'x-v0', expected it with --format minari alone"),
        (["--format", "parquet", "--policy", "a:B"], "--policy: got 'a:B', expected it with --format jsonl alone"),
    ],
)
def test_what_cannot_be_written_is_told(
    play: Play, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    folder = play("company status", max_turns=1).folder
    monkeypatch.chdir(folder.parent)
    assert main(["export", str(folder), *options]) == 2
    assert told in capsys.readouterr().err
