"""TextObservation: the text of the observation alone."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from ycbench_env.wrappers.text_spaces import checked_spaces

__all__ = ["TextObservation"]


class TextObservation(gym.ObservationWrapper[Any, Any, Any], RecordConstructorArgs):
    """Makes the observation one text, all that an agent is told, for those that read nothing else.

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
