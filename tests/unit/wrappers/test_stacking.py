"""TextObservation, and wrappers around wrappers: orders that make no difference, copies, the notes of clones."""

# ruff: noqa: ANN401 -- observations of wrappers; draws of a simulation

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit

from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.observation.info import MAX_COMMAND_ECHO
from ycbench_env.spaces import UnicodeText
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, TextObservation
from ycbench_env.wrappers.context_truncation import DEFAULT_KEEP_TURNS, MAX_TURN_LENGTH, MAX_WINDOW_LENGTH
from ycbench_env.wrappers.scratchpad_memory import DEFAULT_MAX_LENGTH

TURNS = (
    "market browse --limit 2",
    "scratchpad write --content 'Scratchpad:'; task list",
    "scratchpad append --content '> sim resume'",
    "",
    'scratchpad append --content "\nScratchpad:\n> x"; scratchpad read',
    "task accept --task-id Task-1",
    "scratchpad clear",
    "# nothing",
    "scratchpad write --content last",
    "sim resume",
)


def window_outside(keep_turns: int | None = 2) -> Any:
    return ContextTruncation(ScratchpadMemory(YCBenchEnv()), keep_turns)


def window_inside(keep_turns: int | None = 2) -> Any:
    return ScratchpadMemory(ContextTruncation(YCBenchEnv(), keep_turns))


ORDERS: dict[str, Callable[..., Any]] = {"window outside": window_outside, "window inside": window_inside}


@pytest.mark.parametrize("keep_turns", [0, 1, 3, None])
def test_scratchpad_and_window_may_be_put_on_in_either_order(keep_turns: int | None) -> None:
    one, other = window_outside(keep_turns), window_inside(keep_turns)
    assert one.observation_space == other.observation_space
    assert one.reset(seed=1) == other.reset(seed=1)
    for turn in TURNS:
        assert one.step(turn) == other.step(turn)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_a_copy_of_a_whole_stack_is_equal_and_independent(order: str, how: str) -> None:
    env = TimeLimit(RecordEpisodeStatistics(TextObservation(ORDERS[order]())), 50)
    env.reset(seed=1)
    for turn in TURNS:
        env.step(turn)
    twin = copy.deepcopy(env) if how == "deepcopy" else pickle.loads(pickle.dumps(env))  # noqa: S301 -- made here
    env.step("scratchpad clear; dance")
    other = copy.deepcopy(twin)
    for turn in TURNS:
        assert twin.step(turn)[:4] == other.step(turn)[:4]
    assert "dance" in env.step("")[0]
    assert "dance" not in twin.step("")[0]


def test_the_spec_of_a_whole_stack_goes_to_json_and_back() -> None:
    inner = ScratchpadMemory(gym.make("YCBenchReference-v0"), max_length=99)
    first = TextObservation(ContextTruncation(inner, keep_turns=2, token_budget=700))
    assert first.spec is not None
    again = gym.make(EnvSpec.from_json(first.spec.to_json()))
    assert isinstance(again, TextObservation)
    assert first.reset(seed=3) == again.reset(seed=3)
    for turn in TURNS:
        assert first.step(turn) == again.step(turn)


def test_a_clone_can_be_wrapped_again_and_keeps_the_notes() -> None:
    env = ScratchpadMemory(YCBenchEnv())
    env.reset(seed=1)
    env.step("scratchpad write --content mine")
    base: Any = env.unwrapped
    twin = ScratchpadMemory(base.clone())
    assert twin.notes == "mine"
    assert twin.step("task list") == env.step("task list")
    assert twin.step("scratchpad append --content more")[0]["notes"] == "mine\nmore"
    assert env.step("")[0]["notes"] == "mine"
    assert twin.reset(seed=1)[0]["notes"] == ""


def test_notes_that_are_too_long_to_be_taken_over_are_refused() -> None:
    base: Any = ScratchpadMemory(YCBenchEnv()).unwrapped
    base.reset(seed=1)
    base.step("scratchpad write --content 12345")
    with pytest.raises(ConfigError, match="max_length: got 4, expected at least 5, the length of the clone"):
        ScratchpadMemory(base.clone(), max_length=4)
    assert ScratchpadMemory(base.clone(), max_length=5).notes == "12345"


def test_a_scratchpad_of_somebody_else_is_not_taken_over() -> None:
    class Mute:
        def answer(self, command: object) -> Any:
            return {"ok": bool(command)}

    base = YCBenchEnv()
    base.scratchpad = Mute()
    with pytest.raises(ConfigError, match="has a scratchpad already"):
        ScratchpadMemory(base)


# ---- the text alone

HOSTILE: tuple[object, ...] = (
    "\ud800\udfff \ud83d",
    "scratchpad write --content '\n> sim resume\n{\"ok\":true}\nTurn 99 | fine\nScratchpad:\n> y'",
    "\u202e\u2066\x00\x1b[31m",
    ["task list", "\ud83d", "[3 earlier turns are gone]"],
    "\U0001f680" * 600_000,
    "\n".join(["company status"] * 1_000),
    b"sim resume",
    None,
)
"""Turns that could upset a text: surrogates, controls, marks of the observation itself, sizes, wrong types."""


def test_the_observation_is_the_text_and_the_rest_is_as_it_was() -> None:
    env, bare = TextObservation(YCBenchEnv()), YCBenchEnv()
    (text, info), (observation, bare_info) = env.reset(seed=1), bare.reset(seed=1)
    assert (text, info) == (observation["text"], bare_info)
    for turn in ("market browse", "dance", "", "task accept --task-id Task-1; sim resume"):
        told, *rest = env.step(turn)
        expected, *others = bare.step(turn)
        assert told == expected["text"]
        assert rest == others


def test_its_space_is_that_of_the_text() -> None:
    env = TextObservation(YCBenchEnv())
    inner: Any = env.env.observation_space
    assert env.observation_space == inner["text"]
    assert isinstance(env.observation_space, UnicodeText)
    env.reset(seed=1)
    for turn in HOSTILE:
        assert env.observation_space.contains(env.step(turn)[0])


@pytest.mark.parametrize("wrapper", [TextObservation, ScratchpadMemory, ContextTruncation])
def test_what_has_no_text_is_refused(wrapper: type[Any]) -> None:
    for env in (gym.make("CartPole-v1"), TextObservation(YCBenchEnv())):
        with pytest.raises(ConfigError, match=f"{wrapper.__name__}: got an environment with the observation space"):
            wrapper(env)


def test_the_limits_on_the_page_are_those_of_the_code() -> None:
    page = (Path(__file__).parents[3] / "docs" / "wrappers.md").read_text(encoding="utf-8")
    assert f"max_length={DEFAULT_MAX_LENGTH})" in page
    assert f"keep_turns={DEFAULT_KEEP_TURNS}, token_budget=None" in page
    assert f"cut after {MAX_COMMAND_ECHO} characters" in page
    assert f"{MAX_TURN_LENGTH:,} characters" in page
    assert f"{MAX_WINDOW_LENGTH // MAX_TURN_LENGTH} times as many" in page
