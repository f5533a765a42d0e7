"""From legal values by dotted key to the configuration's classes."""

from collections.abc import Mapping
from typing import TypeVar

import attrs

from ycbench_env.config.distribution import DISTRIBUTION_TYPES, Distribution
from ycbench_env.config.kind import SettingValue
from ycbench_env.config.model import Config
from ycbench_env.config.schema import PARAMETERS
from ycbench_env.config.setting import DistributionSetting, annotation_of

__all__ = ["build"]

_Table = TypeVar("_Table")


def build(values: Mapping[str, SettingValue]) -> Config:
    """Returns the configuration that holds the values, which must be complete, legal and in agreement."""
    return _table(Config, "", values)


def _table(cls: type[_Table], prefix: str, values: Mapping[str, SettingValue]) -> _Table:
    """Returns an instance of the class of one table."""
    arguments: dict[str, object] = {}
    for field in attrs.fields(cls):
        held, setting = annotation_of(field)
        key = prefix + field.name
        if setting is None:
            arguments[field.name] = _table(held, key + ".", values)
        elif isinstance(setting, DistributionSetting):
            arguments[field.name] = _distribution(key, values)
        else:
            arguments[field.name] = values[key]
    return cls(**arguments)


def _distribution(key: str, values: Mapping[str, SettingValue]) -> Distribution:
    """Returns the distribution of one knob."""
    word = str(values[f"{key}.type"])
    parameters = {name: values[f"{key}.{name}"] for name in PARAMETERS[word]}
    return DISTRIBUTION_TYPES[word](**parameters)  # pyright: ignore[reportArgumentType] - names and kinds come from the class itself
