"""Tables in Parquet: what is read back is what was recorded and seen."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from ycbench_agents.evaluation.export.parquet import write_parquet
from ycbench_agents.evaluation.validation import record_digest
from ycbench_agents.records import RecordMismatchError, export_turns
from ycbench_env import preset_names
from ycbench_env.testing import tiny_config

if TYPE_CHECKING:
    from conftest import Play

BIG_SEED = 2**70
PATIENT = tiny_config(loop={"auto_advance_after_turns": 1000})


def read(path: Path) -> list[dict[str, Any]]:
    return pq.read_table(path).to_pylist()


def test_each_turn_of_each_run_is_a_row_with_what_was_recorded_and_seen(play: Play, tmp_path: Path) -> None:
    records = [
        play("market browse", ("client list", "scratchpad write --content 'n\u00e9'"), "what?", seed=BIG_SEED),
        play("company status", thinks=True, max_turns=2),
    ]
    path = tmp_path / "turns.parquet"
    assert write_parquet(records, path) == sum(record.outcome.turns or 0 for record in records)
    rows = read(path)
    for record in records:
        own = [row for row in rows if row["run"] == record.folder.name]
        for row, turn, example in zip(own, record.turns(), export_turns(record.folder), strict=True):
            assert row["action"] == [turn.action] if isinstance(turn.action, str) else turn.action
            assert row["action_is_list"] == isinstance(turn.action, list)
            assert (row["observation"], row["return_to_go"]) == (example.prompt, example.return_to_go)
            assert (row["results"], row["events"]) == (json.dumps(turn.results, separators=(",", ":")), row["events"])
            assert json.loads(row["events"]) == turn.events
            assert row["sim_time"] == dt.datetime.fromisoformat(turn.sim_time)
            assert (row["reward"], row["reward_cents"]) == (turn.reward, turn.funds_delta_cents)
            assert row["return_to_go_cents"] == round(example.return_to_go * 100)
            same = ("turn", "funds_cents", "invalid_commands", "forced_advance", "terminated", "truncated")
            same = (*same, "terminal_reason", "state_hash", "notes_sha256")
            assert {name: row[name] for name in same} == {name: getattr(turn, name) for name in same}
    assert {row["seed"] for row in rows} == {str(BIG_SEED), "1"}
    first, last = rows[0], rows[-1]
    assert (first["trace"], first["prompt_tokens"], first["cost_usd"], first["model"]) == (None, None, None, None)
    assert (last["prompt_tokens"], last["completion_tokens"], last["cached_tokens"]) == (700, None, None)
    assert (last["cost_usd"], json.loads(last["trace"])["cost_usd"]) == (1.0, 1)


def test_columns_have_types_and_the_schema_tells_where_they_come_from(play: Play, tmp_path: Path) -> None:
    record = play("sim resume", max_turns=1)
    path = tmp_path / "turns.parquet"
    write_parquet([record], path)
    schema = pq.read_schema(path)
    types = {name: str(schema.field(name).type) for name in ("sim_time", "funds_cents", "action", "reward", "turn")}
    assert types == {
        "sim_time": "timestamp[us]",
        "funds_cents": "int64",
        "action": "list<element: string>",
        "reward": "double",
        "turn": "int32",
    }
    told = json.loads(schema.metadata[b"ycbench"])
    assert told["runs"][0]["digest"] == record_digest(record)
    assert told["configs"] == {record.identity.config_digest: record.identity.config}
    assert (told["format"], told["is_held_out"]) == (1, False)
    frame = pd.read_parquet(path)
    assert str(frame["funds_cents"].dtype) == "int64"
    assert record.identity.config["name"] not in preset_names()
    assert frame["preset"].tolist()[0] == record.identity.config["name"]


def test_equal_records_give_equal_bytes(play: Play, tmp_path: Path) -> None:
    record = play("sim resume", max_turns=3)
    for name in ("first", "second"):
        write_parquet([record], tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_halves_of_characters_and_thousands_of_commands_are_written(play: Play, tmp_path: Path) -> None:
    many = "; ".join(["company status"] * 3000)
    record = play("scratchpad write --content \ud800", many, max_turns=2)
    path = tmp_path / "turns.parquet"
    write_parquet([record], path)
    rows = read(path)
    assert [row["action"] for row in rows] == [["scratchpad write --content \ufffd"], [many]]
    results = json.loads(rows[1]["results"])
    assert len(results) == 3000
    assert results == list(record.turns())[1].results


def test_more_turns_than_fit_into_a_group_are_all_there(play: Play, tmp_path: Path) -> None:
    record = play(*["company status"] * 300, max_turns=300, config=PATIENT)
    path = tmp_path / "turns.parquet"
    assert write_parquet([record], path) == 300
    assert [row["turn"] for row in read(path)] == list(range(1, 301))
    assert pq.ParquetFile(path).num_row_groups == 2


def test_a_record_that_differs_is_refused(play: Play, tmp_path: Path) -> None:
    record = play("sim resume", max_turns=2)
    turns = record.folder / "turns.jsonl"
    turns.write_text(turns.read_text("ascii").replace('"invalid_commands":0', '"invalid_commands":1'), "ascii")
    with pytest.raises(RecordMismatchError, match="turn 1 is not as it was recorded"):
        write_parquet([record], tmp_path / "turns.parquet")
