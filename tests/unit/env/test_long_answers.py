"""Texts of any size and kind are answered, within the space and with a visible mark where something is cut (B29)."""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

import json
from typing import Any

import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.observation import MAX_JSON_LENGTH, MAX_TEXT_LENGTH

MEGABYTES_2 = 2 * 1024 * 1024
MAX_ERROR = 1_000
LARGE = {"world": {"num_market_tasks": 5_000, "initial_prestige_level": 10.0, "trust_gating_fraction": 0.0}}


@pytest.fixture(scope="module")
def large() -> YCBenchEnv:
    """A world with 5,000 tasks on the market, all of them acceptable."""
    env: Any = YCBenchEnv(LARGE)
    env.reset(seed=1)
    return env


def checked(env: Any, action: object) -> tuple[Any, dict[str, Any]]:
    """Observation and info of a turn; the observation is in its space, and its texts are JSON."""
    observation, _, _, _, info = env.step(action)
    assert env.observation_space.contains(observation)
    json.loads(observation["results"])
    json.loads(observation["events"])
    json.dumps(info, allow_nan=False)
    return observation, info


def test_the_longest_listing_is_cut_with_a_mark(large: YCBenchEnv) -> None:
    observation, info = checked(large, "market browse --limit 5000")
    output = info["results"][0]["output"]
    assert (output["total"], len(output["tasks"])) == (5_000, 5_000)
    assert len(observation["results"]) <= MAX_JSON_LENGTH
    cut = json.loads(observation["results"])[0]["output"]["cut"]
    assert cut > MAX_JSON_LENGTH
    assert len(observation["text"]) == MAX_TEXT_LENGTH
    assert observation["text"].endswith("characters and more]")
    assert "… [cut: " in observation["text"]


def test_ten_thousand_commands_in_a_turn_are_answered(env: Any) -> None:
    digest = env.state_hash()
    observation, info = checked(env, "\n".join(["task list"] * 10_000))
    assert env.state_hash() == digest
    assert len(info["results"]) in {1, 10_000}
    if len(info["results"]) == 1:  # refused as a whole: nothing ran
        assert "Nothing was run" in info["results"][0]["output"]["error"]
    assert len(observation["results"]) <= MAX_JSON_LENGTH


@pytest.mark.parametrize(
    "turn",
    [
        "task inspect --task-id {}",
        "task accept --task-id={}",
        "task assign --task-id Task-1 --employees {}",
        "task cancel --task-id Task-1 --reason '{}'",
        "market browse --domain {}",
        "market browse --limit {}",
        "finance ledger --from {}",
        "{}",
        "--{}",
        "task {}",
        "help {}",
    ],
)
@pytest.mark.parametrize("filling", ["x", "\U0001f642", "Emp_1,", "9", "\u201c"], ids=ascii)
def test_an_argument_of_two_megabytes_gets_a_short_error(env: Any, turn: str, filling: str) -> None:
    digest = env.state_hash()
    observation, info = checked(env, turn.format(filling * (MEGABYTES_2 // len(filling.encode()))))
    assert env.state_hash() == digest
    assert not any(result["ok"] for result in info["results"])
    for result in info["results"]:
        assert list(result["output"]) == ["error"]
        assert len(result["output"]["error"]) < MAX_ERROR
    assert len(observation["text"]) < 10_000


@pytest.mark.parametrize(
    "turn",
    [
        "dance",
        "task accept --task-idd Task-1",
        "task accept --task-id",
        "task accept --task-id Task-0",
        "task inspect --task-id 'never closed",
        "market browse --limit 0",
    ],
)
@pytest.mark.parametrize("columns", ["20", "500"])
def test_an_error_is_one_json_object_without_paths_frames_or_boxes(
    turn: str, columns: str, env: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    usual = env.clone().step(turn)
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = env.step(turn)
    assert result == usual
    (answer,) = json.loads(result[0]["results"])
    assert answer["ok"] is False
    error = answer["output"]["error"]
    assert len(error) < MAX_ERROR
    assert not any(sign in error for sign in ("Traceback", ".py", 'File "', "\n", "\x1b", "\u2500", "\u256d"))
    assert capfd.readouterr() == ("", "")
