"""TextObservation: the text of the observation alone."""

from __future__ import annotations

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
        """Wrap a YCBenchEnv, or one wrapped in anything that keeps its observation a dict; ConfigError for others."""
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self.observation_space = spaces_with_text(env, "TextObservation")[0]["text"]

    def observation(self, observation: dict[str, Any]) -> str:
        """Return the text of an observation."""
        return observation["text"]


def spaces_with_text(env: gym.Env[Any, Any], wrapper: str) -> tuple[dict[str, gym.spaces.Space[Any]], int]:
    """Return the spaces of an environment's observation by key, and how long its ``text`` may be, in characters.

    Raises:
        ConfigError: The observation is no dict with a ``text``; the message names the wrapper.
    """
    space: Any = env.observation_space
    spaces: dict[str, gym.spaces.Space[Any]] = dict(space.spaces) if isinstance(space, gym.spaces.Dict) else {}
    if isinstance(spaces.get("text"), UnicodeText):
        return spaces, cast("UnicodeText", spaces["text"]).max_length
    msg = (
        f"{wrapper}: got an environment with the observation space {space}, expected that of YCBenchEnv, a dict with a "
        f"text; TextObservation goes around {wrapper}, not inside"
    )
    raise ConfigError(msg)
