"""Copies at any moment, saved states, and nothing shared between calls (B32)."""

# ruff: noqa: ANN401 -- answers are JSON of many shapes; pickles and draws are no secrets here

from __future__ import annotations

import copy
from typing import Any

import pytest

from ycbench_env import StateError, YCBenchEnv


def test_a_state_of_another_configuration_is_refused(env: Any) -> None:
    kept = env.get_state()
    other = YCBenchEnv("reference")
    other.reset(seed=1)
    with pytest.raises(StateError, match=r"make an environment with config=state\.config"):
        env.set_state(other.get_state())
    with pytest.raises(StateError, match=r"got bytes, expected a State; for bytes use State\.from_bytes"):
        env.set_state(kept.to_bytes())
    assert env.get_state() is kept


# ---- nothing is shared


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
