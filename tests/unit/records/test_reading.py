"""Reading records: damaged ones are refused by file and line, equal ones are equal (B39, B46)."""

# ruff: noqa: ANN401 -- the kit comes as a fixture, and stand-ins see anything

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents.records import RecordError, RecordWarning, TurnRecord, play_run_sync, read_run, same_run
from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.strict_json import decode, plain


def edit(path: Path, line: int, change: Any) -> None:
    """Change one line's object in place."""
    listed = path.read_text(encoding="ascii").splitlines()
    value = json.loads(listed[line])
    change(value)
    listed[line] = json.dumps(value)
    path.write_text("\n".join(listed) + "\n", encoding="ascii")


def test_a_record_is_read_as_it_was_written(undisturbed: Path) -> None:
    record = read_run(undisturbed)
    turns = list(record.turns())
    assert [turn.turn for turn in turns] == [1, 2, 3, 4]
    assert b"".join(turn.to_line() for turn in turns) == (undisturbed / "turns.jsonl").read_bytes()
    assert record.to_json() == json.loads((undisturbed / "run.json").read_bytes())
    assert [turn.is_last for turn in turns] == [False, False, False, True]


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"there is no run\.json; expected the folder of a run"):
        read_run(tmp_path)


def test_a_run_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(RecordError, match=r"run\.json: cannot be read"):
        read_run(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"format": NaN}', "[" * 100_000, "\xff"])
def test_a_run_file_that_is_no_json_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(RecordError, match=r"run\.json: got .*expected"):
        read_run(tmp_path)


BROKEN = [
    (("format",), 2, r"format: got 2, expected 1: it is of another version"),
    (("format",), True, "format: got true, expected a whole number"),
    (("identity", "seed"), "1", 'identity: seed: got "1", expected a whole number'),
    (("identity", "scratchpad"), 1, "identity: scratchpad: got 1, expected true or false"),
    (("identity", "config"), [], r"identity: config: got \[\], expected an object"),
    (("origin", "started"), None, "origin: started: got null, expected a text"),
    (("outcome", "status"), "won", 'outcome: status: got "won", expected one of running, finished, stopped'),
    (("outcome", "turns"), None, "outcome: turns: got null, expected the number of turns"),
    (("outcome",), None, "outcome: got null, expected an object"),
]


@pytest.mark.parametrize(("keys", "value", "message"), BROKEN, ids=[message for *_, message in BROKEN])
def test_a_wrong_value_in_the_run_file_is_refused_by_its_place(
    undisturbed: Path, keys: tuple[str, ...], value: Any, message: str
) -> None:
    path = undisturbed / "run.json"
    run = table = json.loads(path.read_bytes())
    for key in keys[:-1]:
        table = table[key]
    table[keys[-1]] = value
    path.write_text(json.dumps(run), encoding="ascii")
    with pytest.raises(RecordError, match=rf"run\.json: {message}"):
        read_run(undisturbed)


@pytest.mark.parametrize("key", ["format", "identity", "origin", "outcome"])
def test_a_missing_value_in_the_run_file_is_named(undisturbed: Path, key: str) -> None:
    path = undisturbed / "run.json"
    run = json.loads(path.read_bytes())
    del run[key]
    path.write_text(json.dumps(run), encoding="ascii")
    with pytest.raises(RecordError, match=f"{key} is missing"):
        read_run(undisturbed)


@pytest.mark.parametrize("name", [name for name in TurnRecord.__annotations__ if name != "turn"])
def test_a_line_of_a_wrong_shape_is_refused_by_file_line_and_field(undisturbed: Path, name: str) -> None:
    edit(undisturbed / "turns.jsonl", 2, lambda turn: turn.update({name: {"a": 1} if name != "trace" else 1}))
    if name == "transport":
        edit(undisturbed / "turns.jsonl", 2, lambda turn: turn.update(transport=[]))
    with pytest.raises(RecordError, match=rf"turns\.jsonl line 3: {name}: got"):
        list(read_run(undisturbed).turns())


@pytest.mark.parametrize("action", [["a", 1], None, 7])
def test_an_action_that_is_no_text_is_refused(undisturbed: Path, action: Any) -> None:
    edit(undisturbed / "turns.jsonl", 0, lambda turn: turn.update(action=action))
    with pytest.raises(RecordError, match=r"line 1: action: got .*expected a text or a list of texts"):
        list(read_run(undisturbed).turns())


@pytest.mark.parametrize("damage", [b"{", b"", b'{"turn":2}', b'{"turn":NaN}', b"\xff\x00"])
def test_a_damaged_line_in_the_middle_is_refused_by_file_and_line(undisturbed: Path, damage: bytes) -> None:
    path = undisturbed / "turns.jsonl"
    listed = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([listed[0], damage, *listed[2:]]) + b"\n")
    with pytest.raises(RecordError, match=r"turns\.jsonl line 2: "):
        list(read_run(undisturbed).turns())


@pytest.mark.parametrize("order", [(0, 0, 1, 2, 3), (0, 2, 3), (1, 0, 2, 3)])
def test_doubled_lost_or_swapped_lines_are_refused(undisturbed: Path, order: tuple[int, ...]) -> None:
    path = undisturbed / "turns.jsonl"
    listed = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(listed[number] for number in order))
    with pytest.raises(RecordError, match=r"got turn \d, expected turn \d; lines are lost or doubled"):
        list(read_run(undisturbed).turns())


def test_a_torn_last_line_is_left_out_with_a_warning_and_stays_in_the_file(undisturbed: Path) -> None:
    path = undisturbed / "turns.jsonl"
    torn = path.read_bytes()[:-7]
    path.write_bytes(torn)
    with pytest.warns(RecordWarning) as caught:
        turns = list(read_run(undisturbed).turns())
    assert [turn.turn for turn in turns] == [1, 2, 3]
    assert ["cut short" in str(warning.message) for warning in caught] == [True, False]
    assert "tells of 4 turns, turns.jsonl has 3 whole lines" in str(caught[1].message)
    assert path.read_bytes() == torn


def test_a_run_without_turns_has_none(tmp_path: Path, kit: Any) -> None:
    play_run_sync(kit.plan(tmp_path, kit.thinker(stops_at=1)), kit.runtime())
    assert list(read_run(tmp_path).turns()) == []
    (tmp_path / "turns.jsonl").unlink()
    assert list(read_run(tmp_path).turns()) == []
    assert read_run(tmp_path).outcome.totals == {}
    assert read_run(tmp_path).outcome.final_funds_cents == 10_000_000


def test_equal_runs_are_equal_whatever_their_times_transport_and_origin(
    tmp_path: Path, undisturbed: Path, kit: Any
) -> None:
    runtime = kit.runtime()
    runtime.clock()
    play_run_sync(kit.plan(tmp_path / "late", kit.thinker(latency_s=7.0)), runtime)
    path = tmp_path / "late" / "run.json"
    path.write_text(path.read_text().replace('"3.11.0"', '"3.12.9"'), encoding="ascii")
    assert path.read_bytes() != (undisturbed / "run.json").read_bytes()
    assert (tmp_path / "late" / "turns.jsonl").read_bytes() != (undisturbed / "turns.jsonl").read_bytes()
    assert same_run(read_run(tmp_path / "late"), read_run(undisturbed)) == []


@pytest.mark.parametrize(
    "name", [name for name in TurnRecord.__annotations__ if name not in {"turn", "time", "transport"}]
)
def test_a_difference_in_any_other_field_of_a_turn_is_told(
    tmp_path: Path, undisturbed: Path, kit: Any, name: str
) -> None:
    record = play_run_sync(kit.plan(tmp_path / "other"), kit.runtime()).record
    turns = list(record.turns())
    value = getattr(turns[1], name)
    other = {
        bool: lambda: not value,
        int: lambda: value + 1,
        float: lambda: value + 1,
        dict: dict,
        list: lambda: [*value, "x"],
    }
    changed = other.get(type(value), lambda: "other")()
    edit(record.folder / "turns.jsonl", 1, lambda turn: turn.update({name: changed}))
    differences = same_run(record, read_run(undisturbed))
    assert differences
    assert all(line.startswith(f"turn 2: {name}") for line in differences)


def test_other_seeds_settings_and_lengths_are_told(tmp_path: Path, undisturbed: Path, kit: Any) -> None:
    other = play_run_sync(kit.plan(tmp_path / "a", seed=4, max_turns=2), kit.runtime()).record
    differences = same_run(read_run(undisturbed), other)
    assert "seed: 3 | 4" in differences
    assert "outcome.turns: 4 | 2" in differences
    assert len(differences) <= 20
    shorter = play_run_sync(kit.plan(tmp_path / "b", kit.thinker(stops_at=4)), kit.runtime()).record
    assert same_run(read_run(undisturbed), shorter)[-1] == "turn 4: only the first run has it"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": 1}, {"a": True}, ["a: 1 | true"]),
        ({"a": 0}, {"a": 0.0}, ["a: 0 | 0.0"]),
        ([[1, 2], {"x": "y"}], [[1, 3], {}], ["[0][1]: 2 | 3", '[1].x: "y" | nothing']),
        ([1], [1, 2], [": [1] | [1,2]"]),
    ],
)
def test_differences_are_told_by_their_place(first: Any, second: Any, expected: list[str]) -> None:
    assert list(json_differences(first, second)) == expected


def test_a_difference_far_inside_a_long_text_is_shown_around_its_place() -> None:
    (line,) = json_differences("a" * 5_000 + "b", "a" * 5_000 + "c", "text")
    assert line.startswith("text: ...aaa")
    assert 'b" | ...a' in line
    assert line.endswith('c"')
    assert len(line) < 250


def test_values_nested_without_end_are_compared() -> None:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    assert list(json_differences(deep, deep)) == []
    assert len(list(json_differences(deep, json.loads(json.dumps(deep).replace("1", "2"))))) == 1


def test_strict_json_has_no_nan_and_says_so() -> None:
    with pytest.raises(RecordError, match=r"here: got no JSON \(NaN is no JSON\)"):
        decode("[NaN]", "here")
    assert plain([float("inf"), -float("inf"), float("nan"), {"a": (1.5,)}], "x") == [
        "Infinity",
        "-Infinity",
        "NaN",
        {"a": [1.5]},
    ]
    with pytest.raises(RecordError, match="x: cannot be recorded"):
        plain({"a": b""}, "x")
