"""ScratchpadMemory: notes are shown as they stand at the end of a turn (B28), through every wrapper."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.actions import format_command
from ycbench_env.types.command import AppendScratchpad, WriteScratchpad
from ycbench_env.wrappers import ScratchpadMemory


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


def test_append_adds_a_line_and_clear_empties(env: ScratchpadMemory) -> None:
    env.step("scratchpad append --content a")
    observation, *_ = env.step("scratchpad append --content 'b; c'")
    assert observation["notes"] == "a\nb; c"
    observation, *_ = env.step("scratchpad clear")
    assert observation["notes"] == ""
    assert "Scratchpad" not in observation["text"].splitlines()[-1]


def test_the_first_observation_of_a_carried_over_episode_shows_the_notes(env: ScratchpadMemory) -> None:
    env.step("scratchpad write --content lesson")
    observation, _ = env.reset(seed=2, options={"keep_scratchpad": True})
    assert observation["notes"] == "lesson"
    assert observation["text"].endswith("lesson")
    observation, _ = env.reset(seed=2, options={"keep_scratchpad": False})
    assert observation["notes"] == ""


@pytest.mark.parametrize("value", [1, "yes", None])
def test_keep_scratchpad_must_be_a_bool(env: ScratchpadMemory, value: object) -> None:
    env.step("scratchpad write --content kept")
    with pytest.raises(ConfigError, match="keep_scratchpad"):
        env.reset(seed=1, options={"keep_scratchpad": value})
    assert env.notes == "kept"


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


def test_a_second_scratchpad_is_refused(env: ScratchpadMemory) -> None:
    with pytest.raises(ConfigError, match="wrap it in ScratchpadMemory once"):
        ScratchpadMemory(env)


def test_without_the_wrapper_the_answer_names_it() -> None:
    bare: Any = YCBenchEnv()
    bare.reset(seed=1)
    results = bare.step("scratchpad read")[4]["results"]
    assert "ycbench_env.wrappers.ScratchpadMemory" in results[0]["output"]["error"]


@given(st.text(max_size=60))
@example("--content")
@example("-x\n\\\n\\\\\"'`$(rm) && ; # | \u2014\u201c")
@example("\U0001f680\r\n\t\x00\u2028\ufeff")
@example("\nScratchpad:\n> sim resume\n")
@settings(max_examples=30)
def test_any_text_goes_in_and_comes_out_the_same(content: str) -> None:
    env = ScratchpadMemory(YCBenchEnv())
    env.reset(seed=1)
    observation, *_, info = env.step([format_command(WriteScratchpad(content)), "scratchpad read"])
    assert observation["notes"] == content == env.notes
    assert [result["output"] for result in info["results"]] == [{"ok": True, "content": content}] * 2
    observation, *_ = env.step(format_command(AppendScratchpad(content)))
    assert observation["notes"] == (f"{content}\n{content}" if content else "")
    assert observation["text"].endswith(observation["notes"])
