"""Seeds of reset (B21), what a reset must not keep (B22), and what copies must not share (B32)."""

# ruff: noqa: ANN401 -- seeds of any type

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ycbench_env import SeedError, StateError, YCBenchEnv
from ycbench_env.wrappers import ScratchpadMemory

NO_SEEDS = (-1, np.int64(-1), True, False, np.bool_(True), 1.0, np.float64(1), "7", b"7", [7])  # noqa: FBT003 -- bools are no seeds


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**40, 2**200])
def test_non_negative_integers_are_seeds(seed: int) -> None:
    env = YCBenchEnv()
    assert env.reset(seed=seed)[1]["run_seed"] == env.get_state().run_seed == seed


@pytest.mark.parametrize("wrapped", [False, True])
def test_anything_else_is_a_typed_error_that_shows_it_and_changes_nothing(wrapped: bool) -> None:
    fresh = YCBenchEnv()
    fresh.reset(seed=5)
    env: Any = gym.make("YCBench-v0")
    env = ScratchpadMemory(env) if wrapped else env.unwrapped
    env.reset(seed=5)
    kept = env.unwrapped.get_state()
    for seed in NO_SEEDS:
        with pytest.raises(SeedError, match="expected a non-negative integer") as caught:
            env.reset(seed=seed)
        assert repr(seed) in str(caught.value)
    assert env.unwrapped.get_state() is kept
    assert env.reset()[1] == fresh.reset()[1]


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


@pytest.mark.parametrize("seed", [4, 9])
def test_a_reset_after_bankruptcy_equals_a_new_instance(seed: int) -> None:
    used, new = ScratchpadMemory(YCBenchEnv()), ScratchpadMemory(YCBenchEnv())
    used.reset(seed=4)
    used.step("task accept --task-id Task-1; task assign --task-id Task-1 --employees Emp_1")
    while not used.step("scratchpad append --content note")[2]:
        pass
    assert used.reset(seed=seed) == new.reset(seed=seed)
    assert used.notes == ""
    for turn in ("scratchpad read; task list; finance ledger; client history", "", "", "", "", "report monthly"):
        assert used.step(turn) == new.step(turn)


def test_a_state_of_another_configuration_is_refused(env: Any) -> None:
    kept = env.get_state()
    other = YCBenchEnv("reference")
    other.reset(seed=1)
    with pytest.raises(StateError, match=r"make an environment with config=state\.config"):
        env.set_state(other.get_state())
    with pytest.raises(StateError, match=r"got bytes, expected a State; for bytes use State\.from_bytes"):
        env.set_state(kept.to_bytes())
    assert env.get_state() is kept


def test_a_configuration_given_as_a_dict_is_not_kept_and_not_changed() -> None:
    tables: dict[str, Any] = {"world": {"num_employees": 3}}
    env = gym.make("YCBench-v0", config=tables)
    tables["world"]["num_employees"] = 5
    assert int(env.reset(seed=1)[0]["employees"]) == 3
    assert env.spec is not None
    assert env.spec.kwargs["config"] == {"world": {"num_employees": 3}}
    assert tables == {"world": {"num_employees": 5}}


def test_spaces_are_not_shared_between_environments() -> None:
    one, other = YCBenchEnv(), YCBenchEnv()
    one.action_space.seed(1)
    first = [one.action_space.sample() for _ in range(3)]
    other.action_space.seed(1)
    one.clone().action_space.sample()
    assert [other.action_space.sample() for _ in range(3)] == first
