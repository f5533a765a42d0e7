"""From the options that name configurations to the configurations."""

from __future__ import annotations

import warnings
from functools import reduce
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.origin import label
from ycbench_agents.cli.streams import complain
from ycbench_agents.cli.values import Tables, read_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ycbench_env import Config

__all__ = ["Override", "load", "load_all", "load_one", "overrides_for_all", "overrides_in_force", "read_overrides"]


@attrs.frozen
class Override:
    """A setting that an option or a variable decided, whatever file or preset is played.

    Args:
        key: Its dotted key.
        value: Its value, as JSON has it.
        place: ``--set``, or the name of the variable.
    """

    key: str
    value: object
    place: str


def read_overrides(settings: Sequence[str]) -> Tables:
    """Return the tables that the values of ``--set`` describe.

    Raises:
        UsageError: One is no assignment.
    """
    from ycbench_env.config import FIELDS  # noqa: PLC0415 -- slow to import, and --help does not need it

    words = frozenset(field.key for field in FIELDS if field.kind.label in {"text", "choice"})
    return read_settings(settings, words)


def load(
    source: str | Path,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Config:
    """Return a configuration; what has no effect in it is said on stderr.

    Args:
        source: Name of a preset, or path of a file.
        overrides: Tables that go before everything else.
        environ: Environment variables, None for those of the process.

    Raises:
        UsageError: It cannot be used; the message names every problem.
    """
    from ycbench_env import ConfigError, ConfigWarning, load_config  # noqa: PLC0415 -- slow to import

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConfigWarning)
        try:
            config = load_config(source, overrides=overrides or None, environ=environ)
        except ConfigError as error:
            raise UsageError(str(error)) from None
    for warning in caught:
        complain(f"warning: {warning.message}")
    return config


def load_all(
    presets: Sequence[str], files: Sequence[Path], settings: Sequence[str], fallback: Sequence[str] = ("default",)
) -> dict[str, Config]:
    """Return the configurations that options name, by the label under which results list them, in order.

    Args:
        presets: Values of ``--preset``.
        files: Values of ``--config``.
        settings: Values of ``--set``, which hold for all of them.
        fallback: Presets where nothing is named.

    Raises:
        UsageError: One cannot be used, or is named twice.
    """
    sources: list[str | Path] = [*presets, *files] or [*fallback]
    overrides = read_overrides(settings)
    configs: dict[str, Config] = {}
    for source in sources:
        if sources.count(source) > 1:
            msg = f"got the configuration {str(source)!r} twice, expected each once"
            raise UsageError(msg)
        config = load(source, overrides)
        # A file may carry the name of a preset; then its path tells the rows of the results apart.
        label = config.name if config.name not in configs else str(source)
        if label in configs:
            msg = f"got two configurations with the name {label!r}; give one of them another `name`"
            raise UsageError(msg)
        configs[label] = config
    return configs


def load_one(preset: str | None, file: Path | None, settings: Sequence[str]) -> Config:
    """Return the one configuration that options name, the preset ``default`` where they name none.

    Raises:
        UsageError: It cannot be used, or both a preset and a file are named.
    """
    if preset is not None and file is not None:
        msg = f"got --preset {preset} and --config {file}, expected one of them"
        raise UsageError(msg)
    return load(file or preset or "default", read_overrides(settings))


def overrides_for_all(
    presets: Sequence[str], files: Sequence[Path], settings: Sequence[str], configs: Mapping[str, Config]
) -> tuple[Override, ...]:
    """Return what options and variables decided in all of the configurations that options name.

    Args:
        presets: Values of ``--preset``.
        files: Values of ``--config``.
        settings: Values of ``--set``.
        configs: What ``load_all`` returned for these.
    """
    first = next(iter([*presets, *files]), "default")
    return overrides_in_force(first, settings, next(iter(configs.values())))


def overrides_in_force(source: str | Path, settings: Sequence[str], config: Config) -> tuple[Override, ...]:
    """Return what options and variables decided, in the order of the settings; it is the same whatever is loaded.

    Args:
        source: Name of a preset, or path of a file.
        settings: Values of ``--set``.
        config: What was loaded from both.
    """
    from ycbench_env.config import config_origins  # noqa: PLC0415 -- slow to import, and --help does not need it

    values = config.to_dict()
    origins = config_origins(source, overrides=read_overrides(settings) or None)
    return tuple(
        Override(key, reduce(lambda table, name: table[name], key.split("."), values), label(origin))
        for key, origin in origins.items()
        if origin.kind in {"argument", "environment"}
    )
