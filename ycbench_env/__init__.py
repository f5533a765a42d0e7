"""YC-Bench as a Gymnasium environment: a simulated startup, run by text commands.

``gymnasium.make("YCBench-v0")`` plays the documents' rules, ``"YCBenchReference-v0"`` those of the public
implementation, ``"YCBenchClassicHard-v0"`` and its like the classic rules. The POMDP as pure functions:
``initial_state``, ``transition``, ``observe``, ``reward``, ``is_terminated``.
"""

from typing import TYPE_CHECKING

from ycbench_env.config import Config, load_config, preset_names
from ycbench_env.env import YCBenchEnv
from ycbench_env.errors import ConfigError, ConfigWarning, MissingExtraError, SeedError, StateError, YCBenchError
from ycbench_env.generator import initial_state
from ycbench_env.observation import Observation, observe
from ycbench_env.observation.info import Info
from ycbench_env.registration import register_envs
from ycbench_env.reward import reward
from ycbench_env.spaces import CommandSpace, UnicodeText
from ycbench_env.termination import is_terminated, is_truncated
from ycbench_env.transition import advance, transition
from ycbench_env.turn import play_turn
from ycbench_env.types.state import State

__all__ = [
    "CommandSpace",
    "Config",
    "ConfigError",
    "ConfigWarning",
    "Info",
    "MissingExtraError",
    "Observation",
    "SeedError",
    "State",
    "StateError",
    "UnicodeText",
    "YCBenchEnv",
    "YCBenchError",
    "__version__",
    "advance",
    "initial_state",
    "is_terminated",
    "is_truncated",
    "load_config",
    "observe",
    "play_turn",
    "preset_names",
    "register_envs",
    "reward",
    "transition",
]

register_envs()

if TYPE_CHECKING:  # so that other names that are not there stay errors for a type checker
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """Look the version up when it is asked for: reading the metadata takes longer than all of this module."""
        if name != "__version__":
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        from importlib import metadata  # noqa: PLC0415 -- slow to import, and rarely needed

        try:
            return metadata.version("ycbench-env")
        except metadata.PackageNotFoundError:  # used from a folder on the path, without an installation
            return "unknown"
