"""TextObservation: the text, the whole text, and nothing but the text."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from ycbench_env import ConfigError, YCBenchEnv
from ycbench_env.spaces import UnicodeText
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, TextObservation


def test_the_observation_is_the_text_and_the_rest_is_as_it_was() -> None:
    env, bare = TextObservation(YCBenchEnv()), YCBenchEnv()
    (text, info), (observation, bare_info) = env.reset(seed=1), bare.reset(seed=1)
    assert (text, info) == (observation["text"], bare_info)
    for turn in ("market browse", "dance", "", "task accept --task-id Task-1; sim resume"):
        told, *rest = env.step(turn)
        expected, *others = bare.step(turn)
        assert told == expected["text"]
        assert rest == others


def test_its_space_is_that_of_the_text(hostile_turns: list[object]) -> None:
    env = TextObservation(YCBenchEnv())
    inner: Any = env.env.observation_space
    assert env.observation_space == inner["text"]
    assert isinstance(env.observation_space, UnicodeText)
    env.reset(seed=1)
    for turn in hostile_turns:
        assert env.observation_space.contains(env.step(turn)[0])


@pytest.mark.parametrize("wrapper", [TextObservation, ScratchpadMemory, ContextTruncation])
def test_what_has_no_text_is_refused(wrapper: type[Any]) -> None:
    for env in (gym.make("CartPole-v1"), TextObservation(YCBenchEnv())):
        with pytest.raises(ConfigError, match=f"{wrapper.__name__}: got an environment with the observation space"):
            wrapper(env)
