"""Replay: a list of turns in, the same episode out; the file's form keeps every turn to the letter."""

# ruff: noqa: ANN401 -- stand-ins see anything, and wrong values are tried

from __future__ import annotations

import gzip
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ycbench_agents import PolicyStoppedError, make_policy, rollout
from ycbench_agents.runs import RunIdentity, play_run
from ycbench_agents.scripted import replay
from ycbench_agents.scripted.replay import ReplayPolicy, read_turns, write_turns
from ycbench_env import YCBenchEnv

NO_HALVES = st.characters(exclude_categories=["Cs"])
ANY_TURN = st.text(NO_HALVES) | st.text(st.sampled_from("-#\\\n\"' \r=,;a\u201c\u2019\ufeff"))
LINES = st.lists(
    st.sampled_from(
        ["---", "# x", "", "task list", '--content "a', 'b"', "it's", "'", '"', '\\"x"', "\r", "\ufeff", "x \\", "--- "]
    )
).map("\n".join)


@given(st.lists(ANY_TURN | LINES), st.lists(st.text(NO_HALVES), max_size=2))
@example(["", ""], [])
@example([""], [])
@example([], ["nothing"])
@example(["a\r"], [])
@example(["\ufeffa"], [])
@example(["\ud800 alone"], [])
@example(['scratchpad write --content "a\n---\n# b\n\n"'], [])
def test_turns_are_read_back_to_the_letter(turns: list[str], comments: list[str]) -> None:
    written = write_turns(turns, comments)
    assert written.encode("utf-8") or not turns
    assert read_turns(written) == tuple(turns)


@given(st.text(NO_HALVES) | st.lists(LINES).map("\n---\n".join))
def test_any_text_has_turns_that_are_written_and_read_alike_or_an_error_that_names_the_line(text: str) -> None:
    try:
        turns = read_turns(text)
    except ValueError as error:
        assert str(error).startswith("line ")  # noqa: PT017 -- most texts raise nothing
    else:
        assert read_turns(write_turns(turns)) == turns


def test_plain_turns_are_written_for_reading() -> None:
    turns = ["market browse --limit 3\ntask accept --task-id Task-8", "", 'scratchpad write --content "a\n---\n#b"']
    assert write_turns(turns, ["A plan.\nSecond line"]) == (
        "# A plan.\n# Second line\nmarket browse --limit 3\ntask accept --task-id Task-8\n---\n\n---\n"
        'scratchpad write --content "a\n---\n#b"\n'
    )


def test_a_turn_that_lines_cannot_hold_is_written_as_a_json_text() -> None:
    assert write_turns(["---", 'say "', "sim resume"]) == '\\"---"\n---\n\\"say \\""\n---\nsim resume\n'


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("", ()),
        ("# only a comment\n\n", ()),
        ("sim resume", ("sim resume",)),
        ("sim resume\r\n---\r\ntask list\r\n", ("sim resume", "task list")),
        ("\ufeffsim resume\n", ("sim resume",)),
        ("---\n", ("", "")),
        ("---", ("", "")),
        ("# a\nsim resume\n\n# it's\ntask list\n---\n# b\n", ("sim resume\ntask list", "")),
        ("sim resume # it's\n---\ntask list", ("sim resume # it's", "task list")),
        ("cancel --reason it's\n---\ntask list", ("cancel --reason it's", "task list")),
        ("a --reason 'b\n---\n'c\n---\nd", ("a --reason 'b\n---\n'c", "d")),
        ("a --reason='b\n---\n'\n---\nd", ("a --reason='b\n---\n'", "d")),
        ('a "x","y\n---"\n---\nd', ('a "x","y\n---"', "d")),
        ("a \u201cx\n---\n\u201d\n---\nd", ("a \u201cx\n---\n\u201d", "d")),
        ('a "x\\"\n---\n"\n---\nd', ('a "x\\"\n---\n"', "d")),
        ("a --x \\' b\n---\nd", ("a --x \\' b", "d")),
        (' ---\n--- \n----\n"---"', (' ---\n--- \n----\n"---"',)),
    ],
)
def test_the_form_is_read_as_it_is_documented(text: str, turns: tuple[str, ...]) -> None:
    assert read_turns(text) == turns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sim resume\n---\na --content 'x\n---\n", r"line 3: the quote ' opens and never closes"),
        ("# a\n\\nonsense", r"line 2: got 'nonsense' after a backslash, expected a JSON text"),
        ("\\7", "line 1: got '7' after a backslash"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_turns(text)


@pytest.mark.parametrize("turns", ["sim resume", [None], ["a", "\ud83d\ude00"]])
def test_what_cannot_be_written_is_refused(turns: Any) -> None:
    with pytest.raises(ValueError, match="turns: got"):
        write_turns(turns)


def test_a_long_file_with_long_notes_is_read_in_time_that_grows_with_its_length() -> None:
    note = 'scratchpad write --content "' + "---\n# x\n\n" * 50_000 + '"'
    assert read_turns(write_turns([note, *["sim resume"] * 20_000])) == (note, *["sim resume"] * 20_000)


# ---- the policy


def played(policy: Any, seed: int = 1, max_turns: int | None = None) -> Any:
    return rollout(YCBenchEnv(), policy, seed, max_turns=max_turns)


@pytest.mark.parametrize("name", ["greedy", "random"])
def test_a_year_is_played_again_from_its_file_to_the_cent(tmp_path: Path, name: str) -> None:
    first = played(make_policy(name))
    file = tmp_path / "plan.txt"
    file.write_text(write_turns([str(turn) for turn in first.actions]), encoding="utf-8")
    again = played(make_policy("ycbench_agents.scripted.replay:ReplayPolicy", path=str(file)))
    assert again.actions == first.actions
    assert str(again.observations) == str(first.observations)


def test_a_packed_file_is_the_same_list_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    packed, damaged = tmp_path / "turns.plan.gz", tmp_path / "damaged.gz"
    whole = gzip.compress(write_turns(["market browse", "", "task list"]).encode("utf-8"))
    packed.write_bytes(whole)
    policy = ReplayPolicy(path=packed, then="idle")
    policy.reset(1)
    observation, _ = YCBenchEnv().reset(seed=1)
    assert [policy.act(observation) for _ in range(4)] == ["market browse", "", "task list", ""]
    for content in (whole[:-9], whole[:20] + b"xx" + whole[22:], b"task list"):
        damaged.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged\.gz: cannot be read: "):
            ReplayPolicy(path=damaged)


def test_what_never_ends_or_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(ValueError, match="no regular file"):
            ReplayPolicy(path=path)
    monkeypatch.setattr(replay, "MOST_BYTES", 1000)
    for name, content in (("bomb.gz", gzip.compress(b"\n" * 10**7)), ("long.txt", b"\n" * 1001)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=r"it holds more than 1,000 bytes"):
            ReplayPolicy(path=tmp_path / name)


def test_a_run_is_played_again_from_its_folder_and_from_its_file_of_turns(tmp_path: Path) -> None:
    run = play_run(tmp_path / "run", RunIdentity.of("default", 3, "greedy", settings={}), make_policy("greedy"))
    recorded = tuple(turn.action for turn in run.turns())
    for path in (run.folder, str(run.folder / "turns.jsonl")):
        trajectory = played(ReplayPolicy(path), 3)
        assert trajectory.actions == recorded
        assert trajectory.final_funds_cents == -1_630_305


def test_turns_of_several_texts_are_played_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "saved.jsonl"
    file.write_text('["task list", "sim resume"]\n"company status"\n\n{"action": ["--help"]}\n', encoding="utf-8")
    assert played(ReplayPolicy(file), max_turns=3).actions == (
        ("task list", "sim resume"),
        "company status",
        ("--help",),
    )


def test_a_record_cut_short_in_its_last_line_is_played_without_it(tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text('"task list"\n{"action": "sim re', encoding="utf-8")
    with pytest.warns(UserWarning, match="line 2 was cut short"):
        policy = ReplayPolicy(file)
    assert played(policy, max_turns=1).actions == ("task list",)


@pytest.mark.parametrize(("then", "turn"), [("resume", "sim resume"), ("idle", "")])
def test_after_the_list_time_passes_until_the_end(then: str, turn: str) -> None:
    trajectory = played(ReplayPolicy(turns=["task list"], then=then))
    assert trajectory.actions[:2] == ("task list", turn)
    assert set(trajectory.actions[1:]) == {turn}
    assert trajectory.terminated


def test_after_the_list_it_stops_where_that_is_asked_for_and_says_how_to_go_on() -> None:
    policy = ReplayPolicy(turns=["task list"], then="stop")
    with pytest.raises(PolicyStoppedError, match=r"all 1 turns are played .* then=resume"):
        played(policy)


def test_a_reset_begins_the_list_anew_and_a_copy_goes_on_from_where_it_was() -> None:
    policy: Any = ReplayPolicy(turns=["a", "b"])
    policy.reset(1)
    assert policy.act({}) == "a"
    copy = pickle.loads(pickle.dumps(policy))  # noqa: S301 -- made here
    policy.reset(1)
    assert (policy.act({}), copy.act({})) == ("a", "b")


def test_what_the_caller_does_to_the_list_changes_nothing() -> None:
    turns: list[Any] = [["a"]]
    policy: Any = ReplayPolicy(turns=turns)
    turns[0].append("b")
    turns.clear()
    assert policy.act({}) == ("a",)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "got neither path nor turns, expected one of them"),
        ({"path": "x", "turns": ["y"]}, "got both path and turns"),
        ({"turns": []}, "got no turns, expected at least one"),
        ({"turns": "sim resume"}, "got a str, expected a list of turns"),
        ({"turns": ["a", 3]}, "turn 2: got int, expected a text or a list of texts"),
        ({"turns": [["a", 3]]}, "turn 1: got list, expected a text"),
        ({"turns": ["a"], "then": "wait"}, "then: got 'wait', expected resume, idle, stop"),
        ({"path": 5}, "path: got 5, expected a file of turns"),
        ({"path": ""}, "path: got '', expected a file"),
        ({"path": "no/such/file"}, "cannot be read: No such file or directory"),
        ({"path": "a\0b"}, "cannot be read: .*null"),
    ],
)
def test_bad_parameters_are_refused_with_what_was_expected(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReplayPolicy(**parameters)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"sim resume\n\xff", "byte 12 is no UTF-8; save the file as UTF-8"),
        ("a.txt", b"# nothing\n", r"a\.txt: got no turns"),
        ("a.txt", b"a 'b", r"a\.txt: line 1: the quote"),
        ("a.jsonl", b'{"action": 7}\n', r"turn 1: got int"),
        ("a.jsonl", b'{"turn": 7}\n', r"turn 1: got NoneType"),
        ("a.jsonl", b'sim resume\n"x"\n', r"line 1: got no JSON: 'sim resume'"),
    ],
)
def test_a_bad_file_is_refused_with_what_is_wrong(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        ReplayPolicy(tmp_path / name)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"turns\.jsonl: cannot be read: .* expected a file of turns, or the folder"):
        ReplayPolicy(tmp_path)


def test_the_example_of_the_docstring_is_read_as_it_says() -> None:
    import ycbench_agents.scripted.replay as module  # noqa: PLC0415 -- for its docstring

    lines = (module.__doc__ or "").split("::\n\n")[1].split("\n\n")[0].splitlines()
    example_text = "\n".join(line[4:48].rstrip() for line in lines)
    turns = read_turns(example_text)
    assert turns == (
        "market browse --limit 3\ntask accept --task-id Task-8",
        "",
        'scratchpad write --content "Plan:\n---\n# inside quotes all of it is text"',
        "company status\n\n",
    )
    assert json.dumps(turns)
