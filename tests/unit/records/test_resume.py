"""Going on after a kill at any moment (B39, B40)."""

# ruff: noqa: ANN401, ARG002 -- the kit comes as a fixture, and stand-ins see anything

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ycbench_agents import make_policy
from ycbench_agents.records import (
    RecordError,
    RecordMismatchError,
    RecordWarning,
    play_run_sync,
    read_run,
    same_run,
)

MOMENTS = ("before", "halfway", "after")


def killed_at(kit: Any, folder: Path, call: int, moment: str) -> bool:
    """Play until the call; whether it was reached."""
    files = kit.fatal_files(call, moment)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordWarning)
            play_run_sync(kit.plan(folder), kit.runtime(files=files))
    except kit.killed:
        return True
    return False


def resumed(kit: Any, folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordWarning)
        return play_run_sync(kit.plan(folder, kit.thinker(latency_s=5.0)), kit.runtime()).record


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_at_any_system_call_leaves_a_run_that_ends_equal(
    tmp_path: Path, undisturbed: Path, kit: Any, moment: str
) -> None:
    expected = read_run(undisturbed)
    call = 0
    while killed_at(kit, folder := tmp_path / f"{moment}{call}", call, moment):
        record = resumed(kit, folder)
        assert same_run(record, expected) == []
        assert record.is_finished
        assert {path.name for path in folder.iterdir()} == {"run.json", "turns.jsonl", "run.lock"}
        call += 1
    assert call == 19  # a folder; run.json: 4 calls; turns.jsonl: 2; four turns of 2; run.json again


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kills=st.lists(st.tuples(st.integers(0, 25), st.sampled_from(MOMENTS)), max_size=6))
def test_any_number_of_kills_changes_nothing(
    kills: list[tuple[int, str]], kit: Any, undisturbed: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("killed")
    for call, moment in kills:
        killed_at(kit, folder, call, moment)
    assert same_run(resumed(kit, folder), read_run(undisturbed)) == []


def running(folder: Path, turns: bytes | None) -> None:
    """Make a folder look as if its process had been killed with these turns on the disk."""
    run = json.loads((folder / "run.json").read_bytes())
    run["outcome"] |= dict.fromkeys(run["outcome"]) | {"status": "running", "totals": {}}
    (folder / "run.json").write_text(json.dumps(run), encoding="ascii")
    if turns is not None:
        (folder / "turns.jsonl").write_bytes(turns)


class Silent:
    """Says nothing, so that a line is short."""

    def reset(self, seed: int) -> None:
        pass

    def act(self, observation: Any) -> str:
        return ""


def test_a_file_cut_at_every_byte_of_its_last_line_is_resumed_to_an_equal_run(tmp_path: Path, kit: Any) -> None:
    expected = play_run_sync(kit.plan(tmp_path / "whole", Silent(), max_turns=2), kit.runtime()).record
    whole = (expected.folder / "turns.jsonl").read_bytes()
    folder = tmp_path / "cut"
    plan = kit.plan(folder, Silent(), max_turns=2)
    play_run_sync(plan, kit.runtime())
    for size in range(whole.index(b"\n") + 1, len(whole) + 1):
        running(folder, whole[:size])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordWarning)
            record = play_run_sync(plan, kit.runtime()).record
        assert (folder / "turns.jsonl").read_bytes().count(b"\n") == 2
        assert same_run(record, expected) == [], size


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1))
def test_a_file_cut_anywhere_is_resumed_to_an_equal_run(share: float, kit: Any, undisturbed: Path) -> None:
    expected = kit.plan(undisturbed.parent / "expected")
    play_run_sync(expected, kit.runtime())
    whole = (expected.folder / "turns.jsonl").read_bytes()
    running(undisturbed, whole[: round(share * len(whole))])
    assert same_run(resumed(kit, undisturbed), read_run(expected.folder)) == []


def test_a_torn_line_is_cut_off_with_a_warning_and_its_turn_asked_again(undisturbed: Path, kit: Any) -> None:
    whole = (undisturbed / "turns.jsonl").read_bytes()
    running(undisturbed, whole[:-1])
    policy = kit.thinker()
    with pytest.warns(RecordWarning, match=r"turns\.jsonl: the last line was cut short after \d+ bytes"):
        played = play_run_sync(kit.plan(undisturbed, policy), kit.runtime())
    assert (played.replayed_turns, policy.asked) == (3, 1)


@pytest.mark.parametrize("rest", [b"\x00" * 40, b'{"turn":4,"\x00\x00\x00\x00}\n', b"\xff\xfe"])
def test_what_a_power_failure_leaves_at_the_end_is_cut_off(undisturbed: Path, kit: Any, rest: bytes) -> None:
    kept = b"".join((undisturbed / "turns.jsonl").read_bytes().splitlines(keepends=True)[:2])
    running(undisturbed, kept + rest)
    with pytest.warns(RecordWarning, match="cut short"):
        played = play_run_sync(kit.plan(undisturbed), kit.runtime())
    assert (played.replayed_turns, played.played_turns) == (2, 2)


def test_lost_turns_of_a_finished_run_are_played_again_with_a_warning(
    tmp_path: Path, undisturbed: Path, kit: Any
) -> None:
    folder = tmp_path / "run"
    play_run_sync(kit.plan(folder), kit.runtime())
    whole = (folder / "turns.jsonl").read_bytes()
    (folder / "turns.jsonl").write_bytes(b"".join(whole.splitlines(keepends=True)[:1]))
    with pytest.warns(RecordWarning, match="tells of 4 turns, turns.jsonl has 1 whole lines"):
        played = play_run_sync(kit.plan(folder), kit.runtime())
    assert (played.replayed_turns, played.played_turns, played.was_finished) == (1, 3, False)
    assert same_run(played.record, read_run(undisturbed)) == []


def test_a_run_whose_last_turn_is_written_but_not_its_end_is_only_finished(undisturbed: Path, kit: Any) -> None:
    expected = read_run(undisturbed).outcome
    running(undisturbed, None)
    policy = kit.thinker()
    played = play_run_sync(kit.plan(undisturbed, policy), kit.runtime())
    assert (played.replayed_turns, played.played_turns, policy.asked) == (4, 0, 0)
    assert played.record.outcome.totals == expected.totals
    assert played.record.outcome.status == "finished"


FORGERIES: list[tuple[str, Any]] = [
    ("reward", 1.0),
    ("funds_cents", 1),
    ("state_hash", "0" * 64),
    ("results", []),
    ("events", [{"type": "x"}]),
    ("sim_time", "2025-01-01T00:00:00"),
    ("notes_sha256", None),
    ("action", "sim resume"),
    ("trace", None),
    ("trace", {"messages_sha256": "0"}),
    ("terminal_reason", "bankruptcy"),
    ("invalid_commands", 99),
]


@pytest.mark.parametrize(("name", "value"), FORGERIES)
def test_a_turn_that_is_not_as_recorded_refuses_with_its_number_and_what_differs(
    undisturbed: Path, kit: Any, name: str, value: Any
) -> None:
    listed = [json.loads(line) for line in (undisturbed / "turns.jsonl").read_bytes().splitlines()]
    listed[1][name] = value
    running(undisturbed, "".join(f"{json.dumps(turn)}\n" for turn in listed).encode())
    before = {path.name: path.read_bytes() for path in undisturbed.iterdir()}
    with pytest.raises(RecordMismatchError, match="turn 2 is not as it was recorded") as caught:
        play_run_sync(kit.plan(undisturbed), kit.runtime())
    assert any(line.startswith(name) for line in caught.value.differences)
    assert {path.name: path.read_bytes() for path in undisturbed.iterdir()} == before


def test_turns_after_the_end_are_refused(undisturbed: Path, kit: Any) -> None:
    whole = (undisturbed / "turns.jsonl").read_bytes()
    extra = whole.splitlines(keepends=True)[-1].replace(b'"turn":4', b'"turn":5')
    running(undisturbed, whole + extra)
    with pytest.raises(RecordMismatchError, match="it comes after the end of the episode"):
        play_run_sync(kit.plan(undisturbed), kit.runtime())


@pytest.mark.parametrize("name", ["greedy", "random"])
def test_a_policy_that_only_acts_is_resumed_by_acting_again(tmp_path: Path, kit: Any, name: str) -> None:
    change = {"name": name, "config": "default", "max_turns": 12}
    expected = play_run_sync(kit.plan(tmp_path / "whole", make_policy(name), **change), kit.runtime()).record
    folder = tmp_path / "cut"
    play_run_sync(kit.plan(folder, make_policy(name), **change), kit.runtime())
    running(folder, b"".join((folder / "turns.jsonl").read_bytes().splitlines(keepends=True)[:7]))
    played = play_run_sync(kit.plan(folder, make_policy(name), **change), kit.runtime())
    assert (played.replayed_turns, played.played_turns) == (7, 5)
    assert same_run(played.record, expected) == []


def test_a_policy_that_only_acts_and_acts_otherwise_now_is_refused(tmp_path: Path, kit: Any) -> None:
    play_run_sync(kit.plan(tmp_path, make_policy("random")), kit.runtime())
    running(tmp_path, None)
    with pytest.raises(RecordMismatchError, match=r"turn 1 is not.*\n  action: "):
        play_run_sync(kit.plan(tmp_path, make_policy("greedy")), kit.runtime())


def test_a_policy_that_deliberates_does_not_go_on_for_one_that_only_acts(tmp_path: Path, kit: Any) -> None:
    play_run_sync(kit.plan(tmp_path, make_policy("greedy")), kit.runtime())
    running(tmp_path, None)
    with pytest.raises(RecordMismatchError, match="one of the recorded and the present policy deliberates"):
        play_run_sync(kit.plan(tmp_path), kit.runtime())


def test_a_damaged_line_in_the_middle_is_refused_with_its_number(undisturbed: Path, kit: Any) -> None:
    listed = (undisturbed / "turns.jsonl").read_bytes().splitlines(keepends=True)
    listed[1] = listed[1][:-20] + b"\n"
    running(undisturbed, b"".join(listed))
    with pytest.raises(RecordError, match=r"turns\.jsonl line 2: got no JSON"):
        play_run_sync(kit.plan(undisturbed), kit.runtime())
