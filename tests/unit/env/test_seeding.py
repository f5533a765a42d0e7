"""Seeds of reset (B21), and what a reset must not keep (B22)."""

# ruff: noqa: ANN401 -- seeds of any type

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ycbench_env import SeedError, YCBenchEnv
from ycbench_env.wrappers import ScratchpadMemory

NO_SEEDS = (-1, np.int64(-1), True, False, np.bool_(True), 1.0, np.float64(1), "7", b"7", [7])  # noqa: FBT003 -- bools are no seeds


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**40, 2**200])
def test_non_negative_integers_are_seeds(seed: int) -> None:
    env = YCBenchEnv()
    assert env.reset(seed=seed)[1]["run_seed"] == seed
    assert env.get_state().run_seed == seed


@pytest.mark.parametrize("seed", NO_SEEDS, ids=repr)
@pytest.mark.parametrize("wrapped", [False, True])
def test_anything_else_is_a_typed_error_that_shows_it_and_changes_nothing(seed: Any, wrapped: bool) -> None:
    env: Any = gym.make("YCBench-v0")
    env = ScratchpadMemory(env) if wrapped else env.unwrapped
    env.reset(seed=5)
    kept = env.unwrapped.get_state()
    with pytest.raises(SeedError, match="expected a non-negative integer") as caught:
        env.reset(seed=seed)
    assert repr(seed) in str(caught.value)
    assert env.unwrapped.get_state() is kept
    assert env.reset()[1] == _after_five()


def _after_five() -> dict[str, Any]:
    env = YCBenchEnv()
    env.reset(seed=5)
    return dict(env.reset()[1])


def test_unseeded_resets_after_a_seeded_one_are_reproducible_and_differ() -> None:
    sequences = []
    for _ in range(2):
        env = YCBenchEnv()
        env.reset(seed=5)
        sequences.append([env.reset()[1]["run_seed"] for _ in range(6)])
    assert sequences[0] == sequences[1]
    assert len(set(sequences[0])) == 6


def test_global_generators_are_not_touched() -> None:
    def drawn() -> tuple[object, str]:
        return random.getstate(), repr(np.random.get_state())  # noqa: NPY002 -- the global one is what is looked at

    before = drawn()
    env = YCBenchEnv()
    env.reset(seed=1)
    env.step("task accept --task-id Task-1; market browse")
    env.reset()
    env.action_space.sample()
    env.observation_space.sample()
    assert drawn() == before


# ---- what a reset leaves behind


def play_to_bankruptcy(env: gym.Env[Any, Any]) -> None:
    """Note something in every turn, take on work, and wait until the money is gone."""
    env.reset(seed=4)
    env.step("task accept --task-id Task-1; task assign --task-id Task-1 --employees Emp_1")
    for number in range(200):
        if env.step(f"scratchpad append --content note{number}")[2]:
            return
    pytest.fail("nobody went bankrupt")


@pytest.mark.parametrize("seed", [4, 9])
def test_a_reset_equals_a_new_instance(seed: int) -> None:
    used, new = ScratchpadMemory(YCBenchEnv()), ScratchpadMemory(YCBenchEnv())
    play_to_bankruptcy(used)
    assert used.reset(seed=seed) == new.reset(seed=seed)
    assert used.notes == ""
    for turn in ("scratchpad read; task list; finance ledger; client history", "", "", "", "", "report monthly"):
        assert used.step(turn) == new.step(turn)
    assert used.unwrapped.get_state() == new.unwrapped.get_state()  # pyright: ignore[reportAttributeAccessIssue]
