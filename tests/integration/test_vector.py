"""Gymnasium's vector environments: seeds, final observations, keys of info (B34)."""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from ycbench_env.wrappers import ScratchpadMemory

KEYS = {"results", "events", "funds_delta_cents", "invalid_commands", "forced_advance", "terminal_reason", "run_seed"}
POOR = {"world": {"initial_funds_cents": 3_000_000}, "loop": {"auto_advance_after_turns": 2}}
RICH = {"world": {"initial_funds_cents": 10**10}, "loop": {"auto_advance_after_turns": 2}}


def make_rich() -> gym.Env[Any, Any]:
    """A company that lasts."""
    return ScratchpadMemory(gym.make("YCBench-v0", config=RICH))


def make_poor() -> gym.Env[Any, Any]:
    """A company that cannot pay its first payroll, in the second turn."""
    return ScratchpadMemory(gym.make("YCBench-v0", config=POOR))


MAKERS = [make_rich, make_poor, make_rich]


@pytest.fixture(scope="module", params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which of gymnasium's two vector environments."""
    return request.param


def vector(kind: str, mode: AutoresetMode) -> Any:
    """Three companies, the second of which goes bankrupt."""
    if kind == "sync":
        return SyncVectorEnv(MAKERS, autoreset_mode=mode)
    return AsyncVectorEnv(MAKERS, shared_memory=False, context="spawn", autoreset_mode=mode)


@pytest.fixture(scope="module", params=list(AutoresetMode), ids=lambda mode: mode.name.lower())
def played(kind: str, request: pytest.FixtureRequest) -> Iterator[tuple[AutoresetMode, list[Any], Any]]:
    """The mode, what reset and two steps returned, and the environment after them."""
    envs = vector(kind, request.param)
    returned = [envs.reset(seed=5), envs.step(("", "scratchpad write --content x", "task list"))]
    returned.append(envs.step(("company status", "sim resume", "dance")))
    yield request.param, returned, envs
    envs.close()


def keys(info: dict[str, Any]) -> set[str]:
    """Keys of a vector's info without its masks."""
    return {key for key in info if not key.startswith("_")}


def test_a_bankrupt_worker_ends_as_its_mode_says(played: tuple[AutoresetMode, list[Any], Any]) -> None:
    mode, returned, envs = played
    (first, first_info), (_, _, _, _, second_info), (last, rewards, terminated, truncated, info) = returned
    # Worker i plays seed 5 + i; every key of info is there from the first moment on.
    assert first_info["run_seed"].tolist() == [5, 6, 7]
    assert keys(first_info) == keys(second_info) == KEYS
    assert terminated.tolist() == [False, True, False]
    assert not truncated.any()
    assert rewards[1] < 0
    if mode is AutoresetMode.SAME_STEP:
        assert keys(info) == KEYS | {"final_obs", "final_info"}
        final, reason = info["final_obs"][1], info["final_info"]["terminal_reason"][1]
        assert (final["notes"], last["notes"][1]) == ("x", "")
        assert last["sim_time"][1] == first["sim_time"][1]
        assert info["terminal_reason"].tolist() == [None, None, None]
    else:
        assert keys(info) == KEYS
        final, reason = {key: value[1] for key, value in last.items()}, info["terminal_reason"][1]
    assert reason == "bankruptcy"
    assert final["funds_cents"] < 0
    assert "The episode is over: bankruptcy." in final["text"]
    assert final["sim_time"] == "2025-02-03T09:00:00"
    if mode is AutoresetMode.DISABLED:
        observation, info = envs.reset(options={"reset_mask": terminated})
    else:
        observation, _, _, _, info = envs.step(("", "", ""))
    assert int(observation["funds_cents"][1]) == 3_000_000
    assert keys(info) == KEYS
    # The worker's own generator gives the next world: another one, and a reproducible one.
    alone = make_poor()
    alone.reset(seed=6)
    following = alone.reset()[1]["run_seed"]
    assert info["run_seed"][1] == following != 6


def test_what_a_worker_says_is_what_it_says_alone(played: tuple[AutoresetMode, list[Any], Any]) -> None:
    _, returned, _ = played
    alone = make_rich()
    expected = [alone.reset(seed=7)[0], alone.step("task list")[0], alone.step("dance")[0]]
    for got, single in zip(returned, expected, strict=True):
        assert {key: np.asarray(value[2]).item() for key, value in got[0].items()} == {
            key: np.asarray(value).item() for key, value in single.items()
        }


def test_a_list_of_seeds_gives_each_worker_its_own(kind: str) -> None:
    envs = vector(kind, AutoresetMode.NEXT_STEP)
    observation, info = envs.reset(seed=[9, 0, 9])
    assert info["run_seed"].tolist() == [9, 0, 9]
    listed, _, _, _, info = envs.step(["market browse --limit 2"] * 3)
    assert listed["results"][0] == listed["results"][2] != listed["results"][1]
    assert envs.observation_space.contains(observation)
    envs.close()


def test_shared_memory_is_refused_with_the_way_out() -> None:
    # Texts have no shape; gymnasium's own message names the argument that helps.
    with pytest.raises(ValueError, match="you can disable this feature with `shared_memory=False`"):
        AsyncVectorEnv(MAKERS, shared_memory=True, context="spawn")


def test_make_vec_builds_them_by_id() -> None:
    envs: Any = gym.make_vec("YCBench-v0", num_envs=2, vectorization_mode="sync", config=POOR)
    _, info = envs.reset(seed=3)
    assert info["run_seed"].tolist() == [3, 4]
    envs.close()
