"""Configuration: frozen values in, TOML in and out, every setting checked when it is loaded.

``load_config`` is the way in; ``docs/configuration.md`` lists the settings.
"""

from ycbench_env.config.difference import Difference, diff_configs
from ycbench_env.config.distribution import Beta, Constant, Distribution, Normal, Triangular, Uniform
from ycbench_env.config.environment import RESERVED_VARIABLES
from ycbench_env.config.loading import ConfigSource, config_origins, load_config
from ycbench_env.config.model import AgentConfig, Config, LoopConfig, SimConfig
from ycbench_env.config.origin import Origin
from ycbench_env.config.schema import FIELDS, Field
from ycbench_env.config.source import preset_names
from ycbench_env.config.world import WorldConfig
from ycbench_env.config.world_table import DistConfig, SalaryTier

__all__ = [
    "FIELDS",
    "RESERVED_VARIABLES",
    "AgentConfig",
    "Beta",
    "Config",
    "ConfigSource",
    "Constant",
    "Difference",
    "DistConfig",
    "Distribution",
    "Field",
    "LoopConfig",
    "Normal",
    "Origin",
    "SalaryTier",
    "SimConfig",
    "Triangular",
    "Uniform",
    "WorldConfig",
    "config_origins",
    "diff_configs",
    "load_config",
    "preset_names",
]
