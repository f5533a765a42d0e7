"""Copies at any moment, saved states, and nothing shared between calls (B32)."""

# ruff: noqa: ANN401, S311 -- answers are JSON of many shapes; pickles and draws are no secrets here

from __future__ import annotations

import copy
import random
from typing import Any

import attrs
import gymnasium as gym
import pytest

from ycbench_env import State, StateError, YCBenchEnv
from ycbench_env.testing import sample_turn
from ycbench_env.wrappers import ScratchpadMemory


def busy(seed: int = 1, turns: int = 25) -> Any:
    """A wrapped environment in the middle of an episode, with work, history and notes."""
    env: Any = ScratchpadMemory(gym.make("YCBench-v0", config={"world": {"task_progress_milestones": [0.3]}}))
    env.reset(seed=seed)
    rng = random.Random(seed)
    for _ in range(turns):
        env.step(sample_turn(env.unwrapped.get_state(), rng))
    env.step("scratchpad write --content 'remember; this'")
    assert env.unwrapped.get_state().end_reason is None
    return env


def test_a_saved_state_goes_on_like_the_original_in_another_environment() -> None:
    env = busy()
    data = env.unwrapped.get_state().to_bytes()
    other = YCBenchEnv(env.unwrapped.config)
    other.reset(seed=77)
    other.step("sim resume")
    other.set_state(State.from_bytes(data))
    assert other.get_state().to_bytes() == data
    for turn in ("company status", "sim resume", "", "task list; finance ledger"):
        one, two = env.step(turn), other.step(turn)
        assert one[1:] == two[1:]
        assert one[0]["results"] == two[0]["results"]


def test_a_state_of_another_configuration_is_refused(env: Any) -> None:
    kept = env.get_state()
    other = YCBenchEnv("reference")
    other.reset(seed=1)
    with pytest.raises(StateError, match=r"make an environment with config=state\.config"):
        env.set_state(other.get_state())
    with pytest.raises(StateError, match=r"got bytes, expected a State; for bytes use State\.from_bytes"):
        env.set_state(kept.to_bytes())
    assert env.get_state() is kept


# One change of each kind; the state hash must see all of them.


def _changed_fields(one: Any, other: Any) -> set[str]:
    """Which fields differ, those of the first employee, client and task among them."""
    kind = type(one).__name__
    found = {f"{kind}.{f.name}" for f in attrs.fields(type(one)) if getattr(one, f.name) != getattr(other, f.name)}
    for name in ("employees", "clients", "tasks"):
        if f"State.{name}" in found:
            found |= _changed_fields(getattr(one, name)[0], getattr(other, name)[0])
    return found


# ---- nothing is shared


def test_changing_what_was_returned_changes_nothing_inside(env: Any) -> None:
    clean = YCBenchEnv()  # not a clone, which may share what cannot change
    clean.reset(seed=1)
    turn = "employee list; market browse; client list; company status; task list; report monthly"
    for _ in range(3):
        observation: Any
        observation, *_, info = env.step(turn)
        for array in observation.values():
            if not isinstance(array, str):
                array[...] = 7
        for result in info["results"]:
            _clear(result["output"])
        info["results"].clear()
        info["run_seed"] = 12345
        info["events"].append({"type": "invented"})
        clean.step(turn)
    assert env.step(turn) == clean.step(turn)
    assert env.get_state().run_seed == 1


def _clear(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            _clear(inner)
        value.clear()
    elif isinstance(value, list):
        for inner in value:
            _clear(inner)
        value.clear()


def test_the_configuration_given_as_a_dict_is_not_kept_and_not_changed() -> None:
    tables = {"world": {"num_employees": 3, "dist": {"domain_count": {"type": "constant", "value": 2}}}}
    before = copy.deepcopy(tables)
    env: Any = YCBenchEnv(tables)
    tables["world"]["num_employees"] = 5
    assert int(env.reset(seed=1)[0]["employees"]) == 3
    tables["world"]["num_employees"] = 3
    assert tables == before


def test_spaces_are_not_shared_between_environments() -> None:
    one, other = YCBenchEnv(), YCBenchEnv()
    one.action_space.seed(1)
    first = [one.action_space.sample() for _ in range(3)]
    other.action_space.seed(1)
    one.clone().action_space.sample()
    assert [other.action_space.sample() for _ in range(3)] == first
