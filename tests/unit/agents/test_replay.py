"""Replay: a list of turns in, the same episode out; the file's form is as documented."""

# ruff: noqa: ANN401 -- stand-ins see anything, and wrong values are tried

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents import make_policy, rollout
from ycbench_agents.scripted import replay
from ycbench_agents.scripted.replay import ReplayPolicy, read_turns
from ycbench_env import YCBenchEnv


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("", ()),
        ("# only a comment\n\n", ()),
        ("sim resume", ("sim resume",)),
        ("sim resume\r\n---\r\ntask list\r\n", ("sim resume", "task list")),
        ("---\n", ("", "")),
        ("# a\nsim resume\n\n# it's\ntask list\n\n---\n# b\n", ("sim resume\n\ntask list", "")),
        ("cancel --reason it's\n---\ntask list", ("cancel --reason it's", "task list")),
        (' ---\n--- \n----\n"---"', ('---\n--- \n----\n"---"',)),
    ],
)
def test_file_is_read_as_documented(text: str, turns: tuple[str, ...]) -> None:
    assert read_turns(text) == turns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\n" * replay.MOST_COMMANDS, "got 400,001 commands, expected at most 400,000"),
        ("a\n" * (replay.MOST_COMMANDS + 1), "got 400,001 commands, expected at most 400,000"),
    ],
    ids=["turns", "commands"],
)
def test_list_that_holds_too_much_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_turns(text)


# ---- the policy


def played(policy: Any, seed: int = 1, max_turns: int | None = None) -> Any:
    return rollout(YCBenchEnv(), policy, seed, max_turns=max_turns)


def test_year_is_played_again_from_its_file(tmp_path: Path) -> None:
    first = played(make_policy("random"))
    file = tmp_path / "plan.txt"
    file.write_text("\n---\n".join([str(turn) for turn in first.actions]), encoding="utf-8")
    again = played(make_policy("replay", path=str(file)))
    assert again.actions == first.actions
    assert str(again.observations) == str(first.observations)


def test_packed_file_is_read_and_a_damaged_one_refused(tmp_path: Path) -> None:
    packed, damaged = tmp_path / "turns.plan.gz", tmp_path / "damaged.gz"
    whole = gzip.compress(b"\xef\xbb\xbfmarket browse\n---\n---\ntask list\n")
    packed.write_bytes(whole)
    policy = ReplayPolicy(path=packed)
    policy.reset(1)
    observation, _ = YCBenchEnv().reset(seed=1)
    assert [policy.act(observation) for _ in range(4)] == ["market browse", "", "task list", "sim resume"]
    for content in (whole[:-9], whole[:20] + b"xx" + whole[22:], b"task list"):
        damaged.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged\.gz: cannot be unpacked: "):
            ReplayPolicy(path=damaged)


def test_packed_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"\n" * 17_000_000))
    with pytest.raises(ValueError, match=r"bomb\.gz: holds more than 16,000,000 bytes unpacked"):
        ReplayPolicy(path=tmp_path / "bomb.gz")


def test_recorded_turns_are_played_again(tmp_path: Path) -> None:
    first = played(make_policy("greedy"), 3)
    lines = [json.dumps({"turn": number, "action": turn}) for number, turn in enumerate(first.actions, 1)]
    (tmp_path / "turns.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for path in (tmp_path, str(tmp_path / "turns.jsonl")):
        assert played(ReplayPolicy(path), 3).actions == first.actions


def test_link_is_followed_and_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "turns.txt").write_text("task list", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "turns.txt")
    assert played(ReplayPolicy(tmp_path / "link"), max_turns=1).actions == ("task list",)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="pipe: is not a regular file"):
        ReplayPolicy(tmp_path / "pipe")


def test_turns_of_several_texts_are_played_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "saved.jsonl"
    file.write_text('["task list", "sim resume"]\n"company status"\n\n{"action": ["--help"]}\n', encoding="utf-8")
    assert played(ReplayPolicy(file), max_turns=3).actions == (
        ("task list", "sim resume"),
        "company status",
        ("--help",),
    )


def test_last_line_cut_short_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text('"task list"\n{"action": "sim re', encoding="utf-8")
    with pytest.warns(UserWarning, match="line 2 was cut short"):
        policy = ReplayPolicy(file)
    assert played(policy, max_turns=1).actions == ("task list",)


def test_time_passes_after_the_list() -> None:
    trajectory = played(ReplayPolicy(turns=["task list"]))
    assert trajectory.actions[0] == "task list"
    assert set(trajectory.actions[1:]) == {"sim resume"}
    assert trajectory.terminated


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "got neither path nor turns, expected one of them"),
        ({"path": "x", "turns": ["y"]}, "got both path and turns"),
        ({"turns": []}, "got .*, expected a list of at least one turn"),
        ({"turns": "sim resume"}, "got .*sim resume.*, expected a list"),
        ({"turns": ["a", 3]}, "turn 2: act returned int, expected a text"),
        ({"turns": [["a", 3]]}, "turn 1: act returned list that holds int"),
        ({"path": 5}, "No such file.*'.*5'; expected a file of turns"),
        ({"path": "no/such/file"}, "No such file or directory: .*; expected a file of turns"),
        ({"path": os.curdir}, r"No such file.*turns\.jsonl.* expected a file of turns, or the folder"),
        ({"path": "a\0b"}, "null"),
    ],
)
def test_bad_parameter_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReplayPolicy(**parameters)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"sim resume\n\xff", "byte 12 is not UTF-8; save the file as UTF-8"),
        ("a.txt", b"# nothing\n", r"a\.txt: got .*, expected a list of at least one"),
        ("a.jsonl", b'{"action": 7}\n', r"turn 1: act returned int"),
        ("a.jsonl", b'{"turn": 7}\n', r"turn 1: act returned NoneType"),
        ("a.jsonl", b'sim resume\n"x"\n', r"line 1: not valid JSON"),
    ],
)
def test_bad_file_is_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        ReplayPolicy(tmp_path / name)


def test_example_of_the_docstring_is_read_as_it_says() -> None:
    lines = (replay.__doc__ or "").split("::\n\n")[1].split("\n\n")[0].splitlines()
    assert read_turns("\n".join(line[4:48].rstrip() for line in lines)) == (
        "market browse --limit 3\ntask accept --task-id Task-8",
        "",
        "sim resume",
    )
