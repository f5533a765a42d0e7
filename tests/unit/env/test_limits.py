"""What is too much, too large or no number is answered in bounds, or refused with a typed error."""

# ruff: noqa: ANN401 -- seeds and answers of any type

from __future__ import annotations

import json
from typing import Any

import gymnasium
import pytest

from ycbench_env import ConfigError, YCBenchEnv, initial_state, load_config, transition
from ycbench_env.turn import MAX_ANSWERS_LENGTH
from ycbench_env.wrappers import ScratchpadMemory

STILL = {"loop": {"auto_advance_after_turns": 0}}


def answers_length(info: Any) -> int:
    return sum(len(json.dumps(result["output"])) for result in info["results"])


@pytest.mark.parametrize(
    "turn",
    [
        "scratchpad write --content '" + "\x01" * 32_768 + "'" + "\nscratchpad read" * 3_000,
        "market browse --limit 200\n" * 3_000,
        "--help\n" * 20_000,
    ],
    ids=["notes", "market", "help"],
)
def test_the_answers_of_one_turn_stay_in_bounds_and_say_so(turn: str) -> None:
    env = ScratchpadMemory(YCBenchEnv(STILL))
    env.reset(seed=1)
    observation, *_, info = env.step(turn)
    assert len(info["results"]) == len(turn.splitlines())
    assert all(result["ok"] for result in info["results"])
    assert "cut" in info["results"][-1]["output"]
    assert answers_length(info) < 2 * MAX_ANSWERS_LENGTH
    assert env.observation_space.contains(observation)


def test_a_command_that_is_answered_briefly_is_carried_out_all_the_same() -> None:
    env: Any = YCBenchEnv(STILL)
    env.reset(seed=1)
    lead = "market browse --limit 200\n" * 200
    *_, info = env.step(f"{lead}task accept --task-id Task-10\ntask accept --task-id Task-10")
    assert info["results"][-2]["ok"]
    assert list(info["results"][-2]["output"]) == ["cut"]
    assert info["results"][-1]["output"] == {"error": "Task-10 is already accepted"}
    assert [task.task_id for task in env.get_state().tasks] == ["Task-10"]


def test_the_largest_seed_fits_into_a_vector_environment() -> None:
    envs: Any = gymnasium.make_vec("YCBench-v0", num_envs=2, vectorization_mode="sync")
    assert list(envs.reset(seed=[2**63 - 1, 1])[1]["run_seed"]) == [2**63 - 1, 1]
    envs.close()


def test_options_that_are_no_dict_are_refused_with_a_typed_error() -> None:
    with pytest.raises(ConfigError, match="reset options: got int, expected none"):
        YCBenchEnv().reset(seed=1, options=5)  # pyright: ignore[reportArgumentType]


def test_a_spec_does_not_follow_a_dict_that_is_changed_later() -> None:
    config = {"world": {"num_employees": 3}}
    env = gymnasium.make("YCBench-v0", config=config)
    config["world"]["num_employees"] = 5
    assert env.spec is not None
    assert env.spec.kwargs["config"] == {"world": {"num_employees": 3}}


@pytest.mark.parametrize("mode", ["ansi", "human", "rgb_array"])
def test_a_company_without_prestige_can_be_looked_at(mode: str) -> None:
    config = {"world": {"prestige_min": 0, "prestige_max": 0, "initial_prestige_level": 0}}
    env = YCBenchEnv(config, render_mode=mode)
    env.reset(seed=1)
    env.render()


def test_what_is_no_command_is_a_programmers_mistake() -> None:
    state = initial_state(load_config("default"), 1)
    with pytest.raises(TypeError, match="command: got str, expected a Command"):
        transition(state, "sim resume")  # pyright: ignore[reportArgumentType]
