"""What is too much, too long or no number is answered in bounds, cut with a mark, or refused (B29)."""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

import json
from typing import Any

import gymnasium
import pytest

from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.observation import MAX_JSON_LENGTH, MAX_TEXT_LENGTH
from ycbench_env.turn import MAX_ANSWERS_LENGTH
from ycbench_env.wrappers import ScratchpadMemory

STILL = {"loop": {"auto_advance_after_turns": 0}}
LARGE = {"world": {"num_market_tasks": 5_000, "initial_prestige_level": 10.0, "trust_gating_fraction": 0.0}}
MAX_ERROR = 1_000


def checked(env: Any, action: object) -> tuple[Any, dict[str, Any]]:
    """Observation and info of a turn; the observation is in its space, and its texts are JSON."""
    observation, _, _, _, info = env.step(action)
    assert env.observation_space.contains(observation)
    json.loads(observation["results"])
    json.loads(observation["events"])
    json.dumps(info, allow_nan=False)
    return observation, info


@pytest.mark.parametrize(
    "turn",
    [
        "scratchpad write --content '" + "\x01" * 32_768 + "'" + "\nscratchpad read" * 200,
        "market browse --limit 200\n" * 200,
        "--help\n" * 3_000,
    ],
    ids=["notes", "market", "help"],
)
def test_the_answers_of_one_turn_stay_in_bounds_and_say_so(turn: str) -> None:
    env = ScratchpadMemory(YCBenchEnv(STILL))
    env.reset(seed=1)
    _, info = checked(env, turn)
    assert len(info["results"]) == len(turn.splitlines())
    assert all(result["ok"] for result in info["results"])
    assert "cut" in info["results"][-1]["output"]
    assert sum(len(json.dumps(result["output"])) for result in info["results"]) < 2 * MAX_ANSWERS_LENGTH


def test_a_command_that_is_answered_briefly_is_carried_out_all_the_same() -> None:
    env: Any = YCBenchEnv(STILL)
    env.reset(seed=1)
    lead = "market browse --limit 200\n" * 200
    *_, info = env.step(f"{lead}task accept --task-id Task-10\ntask accept --task-id Task-10")
    assert info["results"][-2]["ok"]
    assert list(info["results"][-2]["output"]) == ["cut"]
    assert info["results"][-1]["output"] == {"error": "Task-10 is already accepted"}
    assert [task.task_id for task in env.get_state().tasks] == ["Task-10"]


def test_the_longest_listing_is_cut_with_a_mark() -> None:
    env = YCBenchEnv(LARGE)
    env.reset(seed=1)
    observation, info = checked(env, "market browse --limit 5000")
    output = info["results"][0]["output"]
    assert (output["total"], len(output["tasks"])) == (5_000, 5_000)
    assert len(observation["results"]) <= MAX_JSON_LENGTH
    assert json.loads(observation["results"])[0]["output"]["cut"] > MAX_JSON_LENGTH
    assert len(observation["text"]) == MAX_TEXT_LENGTH
    assert "… [cut: " in observation["text"]
    assert observation["text"].endswith("characters and more]")


def test_ten_thousand_commands_in_a_turn_are_answered(env: Any) -> None:
    digest = env.state_hash()
    observation, info = checked(env, "\n".join(["task list"] * 10_000))
    assert env.state_hash() == digest
    assert len(info["results"]) == 10_000
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
def test_an_argument_of_two_megabytes_gets_a_short_error(env: Any, turn: str) -> None:
    for filling in ("x", "\U0001f642", "Emp_1,", "9", "\u201c"):
        twin = env.clone()
        observation, info = checked(twin, turn.format(filling * (2 * 1024 * 1024 // len(filling.encode()))))
        assert twin.state_hash() == env.state_hash()
        assert all(list(result["output"]) == ["error"] for result in info["results"])
        assert all(len(result["output"]["error"]) < MAX_ERROR for result in info["results"])
        assert len(observation["text"]) < 10_000


@pytest.mark.parametrize(
    "turn", ["dance", "task accept --task-idd Task-1", "task accept", "task inspect --task-id 'no"]
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
    error = answer["output"]["error"]
    assert len(error) < MAX_ERROR
    assert not any(sign in error for sign in ("Traceback", ".py", 'File "', "\n", "\x1b", "\u2500", "\u256d"))
    assert capfd.readouterr() == ("", "")


def test_the_largest_seed_fits_into_a_vector_environment() -> None:
    envs: Any = gymnasium.make_vec("YCBench-v0", num_envs=2, vectorization_mode="sync")
    assert list(envs.reset(seed=[2**63 - 1, 1])[1]["run_seed"]) == [2**63 - 1, 1]
    envs.close()


def test_mistakes_of_a_caller_are_typed_errors() -> None:
    with pytest.raises(ConfigError, match="reset options: got int, expected none"):
        YCBenchEnv().reset(seed=1, options=5)  # pyright: ignore[reportArgumentType]
    for limit in (-1, 1.5, True):
        with pytest.raises(ConfigError, match="max_turns"):
            YCBenchEnv({"loop": {"max_turns": limit}})


@pytest.mark.parametrize("mode", ["ansi", "human", "rgb_array"])
def test_a_company_without_prestige_can_be_looked_at(mode: str) -> None:
    config = {"world": {"prestige_min": 0, "prestige_max": 0, "initial_prestige_level": 0}}
    env = YCBenchEnv(config, render_mode=mode)
    env.reset(seed=1)
    env.render()
