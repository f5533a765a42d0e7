"""ScratchpadMemory: notes are shown as they stand at the end of a turn (B28), through every wrapper."""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from gymnasium.wrappers import TimeLimit
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.actions import format_command
from ycbench_env.types.command import AppendScratchpad, ClearScratchpad, ReadScratchpad, WriteScratchpad
from ycbench_env.wrappers import ScratchpadMemory
from ycbench_env.wrappers.scratchpad_memory import DEFAULT_MAX_LENGTH, Scratchpad, edited_notes


@pytest.fixture
def env() -> ScratchpadMemory:
    """The default world of seed 1 with a scratchpad."""
    made = ScratchpadMemory(YCBenchEnv())
    made.reset(seed=1)
    return made


def test_the_observation_holds_what_was_written_in_the_same_turn(env: ScratchpadMemory) -> None:
    for number in range(12):
        observation, *_ = env.step(f"scratchpad write --content plan{number}\nsim resume\nmarket browse")
        assert observation["notes"] == f"plan{number}"
        assert observation["text"].endswith(f"\nScratchpad:\nplan{number}")


def test_the_last_of_two_writes_counts(env: ScratchpadMemory) -> None:
    observation, *_, info = env.step("scratchpad write --content one; scratchpad read; scratchpad write --content two")
    assert [result["output"]["content"] for result in info["results"]] == ["one", "one", "two"]
    assert observation["notes"] == "two"


def test_notes_stay_visible_while_nothing_is_written_and_time_is_forced(env: ScratchpadMemory) -> None:
    env.step("scratchpad write --content 'watch the payroll'")
    for _ in range(6):
        observation, *_ = env.step("")
        assert observation["notes"] == "watch the payroll"


def test_append_adds_a_line_and_clear_empties(env: ScratchpadMemory) -> None:
    env.step("scratchpad append --content a")
    observation, *_ = env.step("scratchpad append --content 'b; c'")
    assert observation["notes"] == "a\nb; c"
    observation, *_ = env.step("scratchpad clear")
    assert observation["notes"] == ""
    assert "Scratchpad" not in observation["text"].splitlines()[-1]


def test_a_quoted_note_is_kept_to_the_last_character(env: ScratchpadMemory) -> None:
    note = 'it\'s "fine" && `so` ; # not a comment\n\ttwo  blanks\u201d $HOME'
    escaped = note.replace("\\", "\\\\").replace('"', '\\"')
    observation, *_ = env.step(f'scratchpad write --content "{escaped}"')
    assert observation["notes"] == note


def test_the_first_observation_of_a_carried_over_episode_shows_the_notes(env: ScratchpadMemory) -> None:
    env.step("scratchpad write --content lesson")
    observation, _ = env.reset(seed=2, options={"keep_scratchpad": True})
    assert observation["notes"] == "lesson"
    assert observation["text"].endswith("lesson")
    observation, _ = env.reset(seed=2, options={"keep_scratchpad": False})
    assert observation["notes"] == ""


def test_a_refused_seed_keeps_the_notes(env: ScratchpadMemory) -> None:
    env.step("scratchpad write --content kept")
    with pytest.raises(ValueError, match="non-negative"):
        env.reset(seed=-1)
    assert env.notes == "kept"


@pytest.mark.parametrize("value", [1, "yes", None])
def test_keep_scratchpad_must_be_a_bool(env: ScratchpadMemory, value: object) -> None:
    env.step("scratchpad write --content kept")
    with pytest.raises(ConfigError, match="keep_scratchpad"):
        env.reset(seed=1, options={"keep_scratchpad": value})
    assert env.notes == "kept"


def test_other_options_are_passed_on_and_refused_there(env: ScratchpadMemory) -> None:
    with pytest.raises(ConfigError, match=r"\['colour'\]"):
        env.reset(seed=1, options={"keep_scratchpad": True, "colour": 3})


def test_notes_are_no_part_of_the_world(env: ScratchpadMemory) -> None:
    base: Any = env.unwrapped
    digest = base.state_hash()
    env.step("scratchpad write --content x")
    assert base.state_hash() == digest


def test_notes_end_at_their_limit_and_the_refusal_says_so() -> None:
    env = ScratchpadMemory(YCBenchEnv(), max_length=5)
    env.reset(seed=1)
    env.step("scratchpad write --content 12345")
    observation, *_, info = env.step("scratchpad append --content 6")
    assert info["results"][0]["output"]["error"] == (
        "notes would be 7 characters long, at most 5 are kept; nothing was changed"
    )
    assert observation["notes"] == "12345"
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize("limit", [0, -1, True])
def test_a_limit_that_is_none_is_refused(limit: int) -> None:
    with pytest.raises(ConfigError, match="max_length: got"):
        ScratchpadMemory(YCBenchEnv(), max_length=limit)


@pytest.mark.parametrize("limit", ["10", 1.5, None])
def test_a_limit_of_another_type_is_refused_too(limit: Any) -> None:
    with pytest.raises(ConfigError, match="max_length: got"):
        ScratchpadMemory(YCBenchEnv(), max_length=limit)


def test_a_second_scratchpad_is_refused(env: ScratchpadMemory) -> None:
    with pytest.raises(ConfigError, match="wrap it in ScratchpadMemory once"):
        ScratchpadMemory(env)


def test_without_the_wrapper_the_answer_names_it() -> None:
    bare: Any = YCBenchEnv()
    bare.reset(seed=1)
    results = bare.step("scratchpad read")[4]["results"]
    assert "ycbench_env.wrappers.ScratchpadMemory" in results[0]["output"]["error"]


def test_it_works_inside_and_outside_of_other_wrappers() -> None:
    for env in (TimeLimit(ScratchpadMemory(gym.make("YCBench-v0")), 5), ScratchpadMemory(TimeLimit(YCBenchEnv(), 5))):
        env.reset(seed=1)
        observation, *_ = env.step("scratchpad write --content x")
        assert observation["notes"] == "x"
        assert env.observation_space.contains(observation)


def test_its_space_is_that_of_the_environment_with_the_notes(env: ScratchpadMemory) -> None:
    inner: Any = env.env.observation_space
    outer: Any = env.observation_space
    assert set(outer.spaces) == {*inner.spaces, "notes"}
    assert env.action_space == env.env.action_space


@pytest.mark.parametrize(
    ("command", "notes"),
    [
        (ReadScratchpad(), "old"),
        (WriteScratchpad("new"), "new"),
        (AppendScratchpad("new"), "old\nnew"),
        (ClearScratchpad(), ""),
    ],
)
def test_edited_notes_is_a_pure_function(command: Any, notes: str) -> None:
    assert edited_notes("old", command) == notes


def test_appending_to_nothing_adds_no_empty_line() -> None:
    assert edited_notes("", AppendScratchpad("new")) == "new"


def test_a_refused_edit_changes_nothing() -> None:
    pad = Scratchpad(3, "abc")
    assert "error" in pad.answer(WriteScratchpad("abcd"))
    assert pad.notes == "abc"


@given(st.text(max_size=60))
@example("--content")
@example("-x\n\\\n\\\\\"'`$(rm) && ; # | \u2014\u201c")
@example("\U0001f680\r\n\t\x00\u2028\ufeff")
@example("\nScratchpad:\n> sim resume\n")
@settings(max_examples=60)
def test_any_text_goes_in_and_comes_out_the_same(content: str) -> None:
    env = ScratchpadMemory(YCBenchEnv())
    env.reset(seed=1)
    observation, *_, info = env.step([format_command(WriteScratchpad(content)), "scratchpad read"])
    assert observation["notes"] == content == env.notes
    assert [result["output"] for result in info["results"]] == [{"ok": True, "content": content}] * 2
    observation, *_ = env.step(format_command(AppendScratchpad(content)))
    assert observation["notes"] == (f"{content}\n{content}" if content else "")
    assert observation["text"].endswith(observation["notes"])


def test_lone_surrogates_are_replaced_and_all_else_is_kept(env: ScratchpadMemory) -> None:
    observation, *_ = env.step("scratchpad write --content 'a\ud83d \U0001f642 \udc00'")
    assert observation["notes"] == "a\ufffd \U0001f642 \ufffd"
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize("character", ["n", "\U0001f680"])
def test_the_longest_notes_are_kept_and_one_character_more_is_refused(env: ScratchpadMemory, character: str) -> None:
    longest = character * DEFAULT_MAX_LENGTH
    observation, *_ = env.step(f"scratchpad write --content {longest}")
    assert observation["notes"] == longest
    assert env.observation_space.contains(observation)
    for turn in (f"scratchpad write --content {longest}x", "scratchpad append --content ''"):
        observation, *_, info = env.step(turn)
        assert f"at most {DEFAULT_MAX_LENGTH} are kept" in info["results"][0]["output"]["error"]
        assert observation["notes"] == longest


def test_what_has_no_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="ScratchpadMemory: got an environment with the observation space"):
        ScratchpadMemory(gym.make("CartPole-v1"))
