"""The conformance kit accepts every environment of this project, and refuses broken ones."""

# ruff: noqa: ANN401 -- wrappers of any environment

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.testing import check_conformance, tiny_config
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, TextObservation

WORLDS: dict[str, Callable[[], gym.Env[Any, Any]]] = {
    "documents' rules": lambda: gym.make("YCBench-v0"),
    "reference rules": lambda: gym.make("YCBenchReference-v0"),
    "unwrapped": lambda: gym.make("YCBench-v0").unwrapped,
    "with a scratchpad": lambda: ScratchpadMemory(gym.make("YCBench-v0")),
    "with a window": lambda: ContextTruncation(gym.make("YCBench-v0"), keep_turns=3),
    "with all wrappers": lambda: TextObservation(ContextTruncation(ScratchpadMemory(gym.make("YCBench-v0")))),
    "with a turn limit": lambda: gym.make("YCBench-v0", config={"loop": {"max_turns": 40}}),
    "world of the run seed": lambda: gym.make("YCBench-v0", config={"world": {"world_seed": "run"}}),
    "tiny": lambda: YCBenchEnv(tiny_config()),
    "classic rules": lambda: YCBenchEnv({"extends": "classic-hard", "world": {"num_market_tasks": 30}}),
    "without staff": lambda: YCBenchEnv({"world": {"num_employees": 0}}),
}


@pytest.mark.parametrize("world", WORLDS)
def test_every_environment_keeps_the_contract(world: str) -> None:
    check_conformance(WORLDS[world], seeds=(0, 1), turns=40)


class Broken(gym.Wrapper[Any, Any, Any, Any]):
    """An environment to spoil."""


class Leaky(Broken):
    """Hands out one and the same list each time."""

    shared: list[object]

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(**kwargs)
        self.shared = info["results"]
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        *others, info = self.env.step(action)
        self.shared[:] = info["results"]
        return (*others, {**info, "results": self.shared})  # pyright: ignore[reportReturnType] -- the same five


class Chancy(Broken):
    """Draws something that no seed decides."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, *others = self.env.step(action)
        luck = random.SystemRandom().getrandbits(60)
        return ({**observation, "turn": np.array(luck, dtype=np.int64)}, *others)  # pyright: ignore[reportReturnType]


class Outside(Broken):
    """Returns a longer text than it promises."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, *others = self.env.step(action)
        return ({**observation, "text": "x" * 70_000}, *others)  # pyright: ignore[reportReturnType]


class Forgetful(Broken):
    """Leaves a key of the contract out of the info of some turns."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        *others, info = self.env.step(action)
        kept = {key: value for key, value in info.items() if key != "forced_advance" or not info["events"]}
        return (*others, kept)  # pyright: ignore[reportReturnType]


class Numpy(Broken):
    """Puts into info what JSON does not know."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        *others, info = self.env.step(action)
        return (*others, {**info, "invalid_commands": np.int64(0)})  # pyright: ignore[reportReturnType]


class Hasty(Broken):
    """Plays the first turn of every episode by itself."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        first = self.env.reset(**kwargs)
        self.env.step("task accept --task-id Task-1")
        return first

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        *others, info = self.env.step(action)
        return (*others, {**info, "funds_delta_cents": 1})  # pyright: ignore[reportReturnType]


class Immortal(Broken):
    """Goes on after the end."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        base: Any = self.unwrapped
        if base.get_state().end_reason is not None:
            self.env.reset(seed=1)
        return self.env.step(action)


class Mutable(Broken):
    """Lets a refused command leave a trace."""

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        base: Any = self.unwrapped
        if action == "dance":
            base.set_state(YCBenchEnv.get_state(_other_world(base.config)))
        return self.env.step(action)


def _other_world(config: Any) -> YCBenchEnv:
    env = YCBenchEnv(config)
    env.reset(seed=99)
    return env


@pytest.mark.parametrize(
    ("wrapper", "message"),
    [
        (Leaky, "changed later|two instances|through JSON|after the caller changed"),
        (Chancy, "two instances"),
        (Outside, r"outside observation_space, wrong or missing: \['text'\]"),
        (Forgetful, r"info lacks \['forced_advance'\]"),
        (Numpy, "no JSON"),
        (Hasty, "funds_delta_cents"),
        (Immortal, "after the end"),
        (Mutable, "state_hash after the refusal of 'dance'"),
    ],
)
def test_the_kit_says_what_is_wrong_with_a_broken_environment(wrapper: type[Broken], message: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check_conformance(lambda: wrapper(YCBenchEnv()), seeds=(1,), turns=30)
    assert re.search(message, str(caught.value))
