"""Configuration: frozen values in, TOML in and out, every setting checked when it is loaded.

``load_config`` is the way in; ``docs/configuration.md`` lists the settings.
"""

from ycbench_env.config.kinds import Setting
from ycbench_env.config.loading import (
    RESERVED_VARIABLES,
    ConfigSource,
    Difference,
    Origin,
    config_origins,
    diff_configs,
    load_config,
    preset_names,
    toml_value,
)
from ycbench_env.config.settings import (
    FIELDS,
    AgentConfig,
    Beta,
    Config,
    Constant,
    DistConfig,
    Distribution,
    LoopConfig,
    Normal,
    SalaryTier,
    SimConfig,
    Triangular,
    Uniform,
    WorldConfig,
)

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
    "LoopConfig",
    "Normal",
    "Origin",
    "SalaryTier",
    "Setting",
    "SimConfig",
    "Triangular",
    "Uniform",
    "WorldConfig",
    "config_origins",
    "diff_configs",
    "load_config",
    "preset_names",
    "toml_value",
]
