"""Wrappers around wrappers: orders that make no difference, copies, the notes of clones, several episodes."""

# ruff: noqa: ANN401, S311 -- observations of wrappers; draws of a simulation

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.testing import sample_turn
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, TextObservation
from ycbench_env.wrappers.scratchpad_memory import notes_section

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


def window_outside(keep_turns: int | None = 2, **kwargs: Any) -> Any:
    """A window around a scratchpad."""
    return ContextTruncation(ScratchpadMemory(YCBenchEnv(**kwargs)), keep_turns)


def window_inside(keep_turns: int | None = 2, **kwargs: Any) -> Any:
    """A scratchpad around a window."""
    return ScratchpadMemory(ContextTruncation(YCBenchEnv(**kwargs), keep_turns))


ORDERS: dict[str, Callable[..., Any]] = {"window outside": window_outside, "window inside": window_inside}


@pytest.mark.parametrize("keep_turns", [0, 1, 3, None])
def test_scratchpad_and_window_may_be_put_on_in_either_order(keep_turns: int | None) -> None:
    one, other = window_outside(keep_turns), window_inside(keep_turns)
    assert one.observation_space == other.observation_space
    assert one.reset(seed=1) == other.reset(seed=1)
    for turn in TURNS:
        assert one.step(turn) == other.step(turn)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("keep_turns", [0, 1, 4])
def test_notes_are_shown_as_they_stand_at_any_size_of_the_window(keep_turns: int, order: str) -> None:
    env = ORDERS[order](keep_turns)
    env.reset(seed=1)
    for number in range(9):
        turn = f"scratchpad write --content draft{number}; scratchpad append --content note{number}; sim resume"
        observation = env.step(turn)[0]
        assert observation["notes"] == f"draft{number}\nnote{number}"
        assert observation["text"].endswith(f"\nScratchpad:\ndraft{number}\nnote{number}")
        assert env.observation_space.contains(observation)
        assert ("note0" in observation["text"]) == (number == 0 or number < keep_turns)


@pytest.mark.parametrize("order", ORDERS)
def test_hostile_turns_stay_inside_the_space_of_the_whole_stack(order: str, hostile_turns: list[object]) -> None:
    env = TextObservation(ORDERS[order](5))
    env.reset(seed=1)
    for turn in hostile_turns:
        assert env.observation_space.contains(env.step(turn)[0])


@pytest.mark.parametrize("order", ORDERS)
def test_the_text_alone_holds_window_status_and_notes(order: str) -> None:
    env, full = TextObservation(ORDERS[order]()), ORDERS[order]()
    assert env.reset(seed=1)[0] == full.reset(seed=1)[0]["text"]
    for turn in TURNS:
        text, observation = env.step(turn)[0], full.step(turn)[0]
        assert text == observation["text"]
        assert text.startswith(f"{observation['window']}\nTurn {int(observation['turn'])} | ")
        assert text.endswith(notes_section(observation["notes"]))


def test_a_scratchpad_around_a_text_is_refused_and_leaves_the_environment_alone() -> None:
    base = YCBenchEnv()
    with pytest.raises(ConfigError, match="TextObservation goes around ScratchpadMemory, not inside"):
        ScratchpadMemory(TextObservation(base))
    assert ScratchpadMemory(base).notes == ""


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


def test_windows_of_a_vector_are_their_own_and_begin_anew(poor: Any) -> None:
    def make() -> Any:
        return TextObservation(window_outside(3, config=poor))

    envs = SyncVectorEnv([make, make], autoreset_mode=AutoresetMode.SAME_STEP)
    envs.reset(seed=5)
    envs.step(("task list", ""))
    texts, _, terminated, _, infos = envs.step(("company status", ""))
    assert list(terminated) == [True, True]
    assert [text.startswith("Turn 1 |") for text in texts] == [True, True]
    first, second = infos["final_obs"]
    assert ("> task list" in first, "> task list" in second) == (True, False)
    assert "The episode is over: bankruptcy." in first


# ---- several episodes with one memory


@pytest.mark.parametrize("order", ORDERS)
@given(seeds=st.tuples(st.integers(0, 99), st.integers(0, 99)), notes=st.text(max_size=40), draws=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_with_the_carry_over_everything_but_the_notes_is_new(
    order: str, seeds: tuple[int, int], notes: str, draws: int
) -> None:
    used, fresh = ORDERS[order](), ORDERS[order]()
    used.reset(seed=seeds[0])
    rng = random.Random(draws)
    for _ in range(8):
        used.step(sample_turn(used.unwrapped.get_state(), rng))
    used.unwrapped.scratchpad.notes = notes
    carried, new = used.reset(seed=seeds[1], options={"keep_scratchpad": True}), fresh.reset(seed=seeds[1])
    for _ in range(8):
        assert carried[0]["notes"] == notes
        assert without_notes(carried) == without_notes(new)
        assert used.unwrapped.get_state() == fresh.unwrapped.get_state()
        turn = sample_turn(fresh.unwrapped.get_state(), rng)
        carried, new = used.step(turn), fresh.step(turn)
    assert used.reset() == fresh.reset()


def without_notes(returned: tuple[Any, ...]) -> tuple[Any, ...]:
    """What reset or step returned, as if there were no notes."""
    observation, *rest = returned
    text = observation["text"].removesuffix(notes_section(observation["notes"]))
    return ({**observation, "text": text, "notes": ""}, *rest)


def test_a_company_that_went_bankrupt_begins_again_with_its_lessons(poor: Any) -> None:
    env = window_outside(5, config=poor)
    env.reset(seed=1)
    env.step("scratchpad write --content 'payroll comes before the first reward'")
    terminated = env.step("")[2]
    assert terminated
    observation, info = env.reset(seed=1, options={"keep_scratchpad": True})
    assert observation["notes"] == "payroll comes before the first reward"
    assert (observation["window"], int(observation["turn"]), info["terminal_reason"]) == ("", 1, None)


# ---- notes of clones


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


def test_a_clone_with_a_scratchpad_on_is_as_taken_as_any() -> None:
    base: Any = ScratchpadMemory(YCBenchEnv()).unwrapped
    twin = base.clone()
    ScratchpadMemory(twin)
    for taken in (base, twin):
        with pytest.raises(ConfigError, match="wrap it in ScratchpadMemory once"):
            ScratchpadMemory(taken)
    assert ScratchpadMemory(copy.deepcopy(twin.clone())).notes == ""


def test_a_clone_answers_from_its_notes_until_it_is_wrapped() -> None:
    base: Any = ScratchpadMemory(YCBenchEnv()).unwrapped
    base.reset(seed=1)
    base.step("scratchpad write --content mine")
    twin = base.clone()
    assert twin.step("scratchpad read")[4]["results"][0]["output"]["content"] == "mine"


def test_notes_that_are_too_long_to_be_taken_over_are_refused() -> None:
    base: Any = ScratchpadMemory(YCBenchEnv()).unwrapped
    base.reset(seed=1)
    base.step("scratchpad write --content 12345")
    with pytest.raises(ConfigError, match="max_length: got 4, expected at least 5, since the clone has notes"):
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
