"""ContextTruncation: exactly the last whole turns (B42), nothing of an earlier episode (B22), always in its space."""

# ruff: noqa: ANN401 -- observations of wrappers; draws of a simulation

from __future__ import annotations

import json
import re
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.testing import hostile_actions
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, Window, estimate_tokens, gone_marker, window
from ycbench_env.wrappers.context_truncation import MAX_TURN_LENGTH, MAX_WINDOW_LENGTH

ENDLESS = {"loop": {"auto_advance_after_turns": 0}}
HEADING = re.compile(r"^Turn (\d+):$", re.MULTILINE)
LARGE = {"world": {"num_market_tasks": 5_000, "initial_prestige_level": 10.0, "trust_gating_fraction": 0.0}}


def made(keep_turns: int | None = 3, **kwargs: Any) -> Any:
    """A window around the default world of seed 1."""
    env = ContextTruncation(YCBenchEnv(), keep_turns, **kwargs)
    env.reset(seed=1)
    return env


def observed(env: Any, turn: object) -> Any:
    """The observation after a turn, which is in its space."""
    observation = env.step(turn)[0]
    assert env.observation_space.contains(observation)
    return observation


def shown(observation: Any) -> list[int]:
    """Numbers of the turns in the window."""
    return [int(number) for number in HEADING.findall(observation["window"])]


# ---- which turns


@pytest.mark.parametrize("keep_turns", [1, 2, 3, 20, 50, None])
def test_the_last_turns_are_there_and_no_other(keep_turns: int | None) -> None:
    env = made(keep_turns)
    for number in range(1, 11):
        observation = observed(env, f"task inspect --task-id Task-{number}")
        first = 1 if keep_turns is None else max(1, number - keep_turns + 1)
        assert shown(observation) == list(range(first, number + 1))
        said = re.findall(r"^> task inspect --task-id Task-(\d+)$", observation["window"], re.MULTILINE)
        assert [int(task) for task in said] == list(range(first, number + 1))
        gone = re.findall(r"^\[(\d+) earlier turns? (?:is|are) gone\]$", observation["window"], re.MULTILINE)
        assert gone == ([str(first - 1)] if first > 1 else [])
        assert observation["window"].startswith("[") == (first > 1)


def test_a_turn_is_whole_with_each_command_and_its_answer() -> None:
    env = made()
    turn = "company status\ntask accept --task-id Task-1; dance # a comment"
    results = env.step(turn)[4]["results"]
    observation = observed(env, "")
    lines = observation["window"].splitlines()
    assert lines[0] == "Turn 1:"
    assert lines[1:7:2] == ["> company status", "> task accept --task-id Task-1", "> dance"]
    assert [json.loads(line) for line in lines[2:8:2]] == [result["output"] for result in results]
    assert lines[7:] == ["Turn 2:", "(no command)"]


def test_the_text_is_the_window_and_then_the_status() -> None:
    env, bare = made(2), YCBenchEnv()
    status = bare.reset(seed=1)[0]["text"]
    for _ in range(4):
        observation = observed(env, "market browse --limit 1")
        status = status.replace(f"Turn {int(observation['turn']) - 1} |", f"Turn {int(observation['turn'])} |")
        assert observation["text"] == f"{observation['window']}\n{status}"


def test_a_forced_advance_stays_in_the_window() -> None:
    env = made(9)
    for _ in range(env.unwrapped.config.loop.auto_advance_after_turns - 1):
        env.step("")
    observation = observed(env, "")
    assert observation["text"].count("Time was moved on by itself") == 2  # in its turn, and in the status of now
    events = observation["events"]
    assert json.loads(events)[0]["type"] == "monthly_payroll"
    observation = observed(env, "task list")
    assert observation["text"].count(f"Time was moved on by itself: {events}") == 1


# ---- nothing, and a budget


def test_a_budget_counts_turns_as_they_are_shown_and_not_the_marker() -> None:
    first = observed(made(None), "task list")["window"]
    size = estimate_tokens(first)  # turns 1 to 9 have equally many
    env = made(None, token_budget=2 * size)
    assert [shown(observed(env, "task list")) for _ in range(4)] == [[1], [1, 2], [2, 3], [3, 4]]
    env = made(None, token_budget=2 * size - 1)
    assert [shown(observed(env, "task list")) for _ in range(4)] == [[1], [2], [3], [4]]


def test_a_last_turn_beyond_the_budget_is_nowhere_in_the_observation() -> None:
    env = made(token_budget=30)
    observed(env, "dance")
    observation = observed(env, "market browse")
    assert (observation["window"], observation["results"]) == ("[2 earlier turns are gone]", "[]")
    assert "market browse" not in observation["text"]


# ---- sizes and hostile texts


@given(st.lists(hostile_actions(), max_size=6), st.none() | st.integers(0, 3), st.none() | st.integers(0, 300))
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_is_said_the_observation_is_in_its_space(
    actions: list[object], keep_turns: int | None, token_budget: int | None
) -> None:
    env = ContextTruncation(ScratchpadMemory(YCBenchEnv(), 50), keep_turns, token_budget)
    env.reset(seed=1)
    for action in actions:
        observation = observed(env, action)
        assert len(env._view.turns) + env._view.dropped == int(observation["turn"]) - 1


def test_a_long_turn_is_cut_with_a_mark_and_the_status_is_not() -> None:
    env = ContextTruncation(YCBenchEnv(LARGE), 2)
    env.reset(seed=1)
    observed(env, "market browse --limit 5000")
    observation = observed(env, "task list")
    head, _, rest = observation["window"].partition("\nTurn 2:\n")
    assert len(head) == MAX_TURN_LENGTH
    assert re.search(r"… \[cut: \d+ characters and more\]$", head)
    assert rest.startswith("> task list\n")
    assert observation["text"].splitlines()[-1].startswith("Turn 3 | ")


@pytest.mark.parametrize("keep_turns", [None, 10**30], ids=["None", "10**30"])
def test_a_window_without_end_lets_the_oldest_whole_turns_go(keep_turns: int | None) -> None:
    env = ContextTruncation(ScratchpadMemory(YCBenchEnv(ENDLESS), 60_000), keep_turns)
    env.reset(seed=1)
    env.step(f"scratchpad write --content {'n' * 60_000}")
    last = MAX_WINDOW_LENGTH // 60_000 + 5
    for _ in range(last - 2):
        env.step("scratchpad read")
    observation = observed(env, "scratchpad read")
    gone = last - len(shown(observation))
    assert shown(observation) == list(range(gone + 1, last + 1))
    assert observation["window"].startswith(f"[{gone} earlier turns are gone]\nTurn {gone + 1}:\n")
    assert MAX_WINDOW_LENGTH - 60_100 < len(observation["window"]) <= MAX_WINDOW_LENGTH + 64


# ---- copies, specs, arguments


def test_a_counter_of_ones_own_is_in_the_spec_and_keeps_it_from_json() -> None:
    first = ContextTruncation(gym.make("YCBench-v0"), None, 2, count_tokens=lambda _: 1)
    assert first.spec is not None
    again = gym.make(first.spec)
    again.reset(seed=1)
    assert shown([observed(again, "") for _ in range(5)][-1]) == [4, 5]
    with pytest.raises((TypeError, ValueError)):
        first.spec.to_json()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"keep_turns": -1}, "keep_turns: got -1"),
        ({"keep_turns": True}, "keep_turns: got True"),
        ({"keep_turns": 2.0}, r"keep_turns: got 2\.0"),
        ({"token_budget": "9"}, "token_budget: got '9'"),
        ({"token_budget": -9}, "token_budget: got -9"),
    ],
)
def test_bad_arguments_are_refused_when_it_is_made(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ContextTruncation(YCBenchEnv(), **kwargs)


def test_a_second_window_is_refused() -> None:
    with pytest.raises(ConfigError, match="wrap it in ContextTruncation once"):
        ContextTruncation(ScratchpadMemory(ContextTruncation(YCBenchEnv())))


# ---- the window itself

LIMITS = st.none() | st.integers(0, 12)
TURNS = st.lists(st.integers(0, 9), max_size=12)  # a turn is its own count of tokens


def test_twenty_turns_stay_when_nothing_else_is_said() -> None:
    assert window(range(100)) == Window(turns=tuple(range(80, 100)), dropped=80)


@given(turns=TURNS, keep_turns=LIMITS, token_budget=LIMITS)
def test_the_window_is_the_longest_run_of_last_turns_within_both_limits(
    turns: list[int], keep_turns: int | None, token_budget: int | None
) -> None:
    view = window(turns, keep_turns=keep_turns, token_budget=token_budget, count_tokens=int)

    def allowed(kept: list[int]) -> bool:
        few = keep_turns is None or len(kept) <= keep_turns
        return few and (token_budget is None or sum(kept) <= token_budget)

    assert list(view.turns) == turns[view.dropped :]
    assert allowed(list(view.turns))
    assert view.dropped == 0 or not allowed(turns[view.dropped - 1 :])


def test_only_as_many_turns_are_counted_as_it_takes() -> None:
    counted: list[int] = []

    def count(turn: int) -> int:
        counted.append(turn)
        return 1

    window(range(100), keep_turns=None, token_budget=2, count_tokens=count)
    assert counted == [99, 98, 97]
    window(range(100), keep_turns=1, token_budget=50, count_tokens=count)
    assert counted == [99, 98, 97, 99]
    window(range(100), count_tokens=count)
    assert len(counted) == 4


@pytest.mark.parametrize("limit", [True, -1, 1.0, "3", [3]], ids=repr)
@pytest.mark.parametrize("name", ["keep_turns", "token_budget"])
def test_what_is_no_limit_is_refused(name: str, limit: Any) -> None:
    limits: dict[str, Any] = {name: limit}
    with pytest.raises(ConfigError, match=rf"{name}: got .*, expected a whole number of at least 0"):
        window((), **limits, count_tokens=int)


def test_a_budget_needs_a_counter() -> None:
    with pytest.raises(ConfigError, match="token_budget needs a function"):
        window((), token_budget=5)


def test_the_estimate_is_a_quarter_of_the_bytes_rounded_up() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "\u20ac\u20ac", "\U0001f642")] == [
        0, 1, 1, 2, 2, 1,
    ]  # fmt: skip


def test_the_marker_is_one_line_and_says_how_many_turns_are_gone() -> None:
    assert gone_marker(0) == ""
    assert gone_marker(1) == "[1 earlier turn is gone]"
    assert gone_marker(17) == "[17 earlier turns are gone]"
