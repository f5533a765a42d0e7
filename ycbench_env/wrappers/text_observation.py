"""TextObservation: the text of the observation alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from ycbench_env.errors import ConfigError
from ycbench_env.spaces import UnicodeText


class TextObservation(gym.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """Makes the observation one text with everything in it, for agents that read nothing else.

    It goes around the other wrappers, since they add to a dict; what they add to its text is there.
    """

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        """Wrap an environment.

        Args:
            env: A YCBenchEnv, or one wrapped in anything that keeps its observation a dict.

        Raises:
            ConfigError: The observation is no dict with a text.
        """
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self.observation_space = checked_spaces(env, "TextObservation")["text"]

    def observation(self, observation: dict[str, Any]) -> str:
        """Return the text of an observation."""
        return observation["text"]


def checked_spaces(env: gym.Env[Any, Any], wrapper: str) -> dict[str, gym.spaces.Space[Any]]:
    """Return the spaces of an environment's observation by key.

    Args:
        env: The environment to wrap.
        wrapper: Name of the wrapper, for the message.

    Raises:
        ConfigError: The observation is no dict with a ``text``.
    """
    space: Any = env.observation_space
    spaces: dict[str, gym.spaces.Space[Any]] = dict(space.spaces) if isinstance(space, gym.spaces.Dict) else {}
    if isinstance(spaces.get("text"), UnicodeText):
        return spaces
    msg = (
        f"{wrapper}: got an environment with the observation space {space}, expected that of YCBenchEnv, a dict with a "
        f"text; TextObservation goes around {wrapper}, not inside"
    )
    raise ConfigError(msg)


def text_length(spaces: Mapping[str, gym.spaces.Space[Any]]) -> int:
    """Return how long the ``text`` of an observation may be, in characters."""
    return cast("UnicodeText", spaces["text"]).max_length
