"""What a wrapper finds beneath it: an observation that is a dict with a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import gymnasium as gym

from ycbench_env.errors import ConfigError
from ycbench_env.spaces import UnicodeText

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["checked_spaces", "text_length"]


def checked_spaces(env: gym.Env[Any, Any], wrapper: str) -> dict[str, gym.spaces.Space[Any]]:
    """Return the spaces of an environment's observation by key.

    Args:
        env: The environment to wrap.
        wrapper: Name of the wrapper, for the message.

    Raises:
        ConfigError: The observation is no dict with a ``text``.
    """
    space: Any = env.observation_space
    spaces: dict[str, gym.spaces.Space[Any]] = dict(space.spaces) if _is_dict(space) else {}
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


def _is_dict(space: object) -> bool:
    return isinstance(space, gym.spaces.Dict)
