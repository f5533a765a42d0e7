"""What is too much, too large or no number is answered in bounds, or refused with a typed error."""

# ruff: noqa: ANN401 -- seeds and answers of any type

from __future__ import annotations

import json
from typing import Any

import gymnasium
import numpy as np
import pytest

from ycbench_env import ConfigError, SeedError, State, StateError, YCBenchEnv, initial_state, load_config, transition
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


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError

    def __index__(self) -> int:
        raise RuntimeError


NO_SEEDS = {
    "negative": -1,
    "bool": True,
    "text": "7",
    "float": 1.5,
    "huge": 10**5000,
    "huge negative": -(10**5000),
    "array": np.array([5]),
    "array of two": np.array([1, 2]),
    "array of bool": np.array([True])[0],
    "type": int,
    "unprintable": Unprintable(),
}


@pytest.mark.parametrize("seed", NO_SEEDS.values(), ids=NO_SEEDS)
def test_what_is_no_seed_is_refused_with_a_typed_error(seed: Any) -> None:
    env = YCBenchEnv()
    with pytest.raises(SeedError, match=r"seed: got .*expected a non-negative integer"):
        env.reset(seed=seed)


@pytest.mark.parametrize("seed", [0, np.int64(7), np.uint8(3), 2**40, 2**63 - 1, 10**30], ids=str)
def test_seeds_of_every_integer_type_make_a_world(seed: Any) -> None:
    assert YCBenchEnv().reset(seed=seed)[1]["run_seed"] == int(seed)


def test_the_largest_seed_fits_into_a_vector_environment() -> None:
    envs: Any = gymnasium.make_vec("YCBench-v0", num_envs=2, vectorization_mode="sync")
    assert list(envs.reset(seed=[2**63 - 1, 1])[1]["run_seed"]) == [2**63 - 1, 1]
    envs.close()


@pytest.mark.parametrize("data", [None, 5, "YCBS", b"", b"YCBS"], ids=repr)
def test_what_is_no_saved_state_is_refused_with_a_typed_error(data: Any) -> None:
    with pytest.raises(StateError, match="saved state"):
        State.from_bytes(data)


def test_options_that_are_no_dict_are_refused_with_a_typed_error() -> None:
    with pytest.raises(ConfigError, match="reset options: got int, expected none"):
        YCBenchEnv().reset(seed=1, options=5)  # pyright: ignore[reportArgumentType]


def test_a_spec_does_not_follow_a_dict_that_is_changed_later() -> None:
    config = {"world": {"num_employees": 3}}
    env = gymnasium.make("YCBench-v0", config=config)
    config["world"]["num_employees"] = 5
    assert env.spec is not None
    assert env.spec.kwargs["config"] == {"world": {"num_employees": 3}}


def test_a_company_with_more_than_a_hundred_active_tasks_is_saved_in_under_50_kilobytes() -> None:
    env: Any = YCBenchEnv(STILL)
    env.reset(seed=1)
    everybody = ",".join(f"Emp_{number}" for number in range(1, 9))
    for round_number in range(30):
        env.step(
            "\n".join(
                f"task accept --task-id {task.task_id} && task assign --task-id {task.task_id} --employees {everybody}"
                f" && task dispatch --task-id {task.task_id}"
                for task in env.get_state().market[:60]
            )
        )
        if round_number % 10 == 0:
            env.step("sim resume")
    state = env.get_state()
    assert len(state.tasks) > 100
    assert len(state.to_bytes()) < 50_000
    assert State.from_bytes(state.to_bytes()) == state


@pytest.mark.parametrize("mode", ["ansi", "human", "rgb_array"])
def test_a_company_without_prestige_can_be_looked_at(mode: str) -> None:
    config = {"world": {"prestige_min": 0, "prestige_max": 0, "initial_prestige_level": 0}}
    env = YCBenchEnv(config, render_mode=mode)
    env.reset(seed=1)
    env.render()


def test_a_refused_reset_leaves_no_trace() -> None:
    env = gymnasium.make("YCBench-v0")
    with pytest.raises(SeedError):
        env.reset(seed="1")  # pyright: ignore[reportArgumentType]
    env.reset(seed=1)
    assert env.step("company status")[4]["results"][0]["ok"]


def test_what_is_no_command_is_a_programmers_mistake() -> None:
    state = initial_state(load_config("default"), 1)
    with pytest.raises(TypeError, match="command: got str, expected a Command"):
        transition(state, "sim resume")  # pyright: ignore[reportArgumentType]
