"""``load_config``: one configuration from a preset, file, mapping or value, the environment and arguments."""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path

from ycbench_env.config.build import build
from ycbench_env.config.environment import environment_layers
from ycbench_env.config.kind import SettingValue
from ycbench_env.config.layer import Layer, Merger, raise_problems
from ycbench_env.config.model import Config
from ycbench_env.config.origin import ARGUMENT, Origin
from ycbench_env.config.setting import show
from ycbench_env.config.source import Document, chain_of, open_document
from ycbench_env.errors import ConfigError, ConfigWarning

__all__ = ["ConfigSource", "config_origins", "load_config"]

ConfigSource = str | os.PathLike[str] | Mapping[str, object] | Config
"""Whatever a configuration can be loaded from."""


def load_config(
    source: ConfigSource = "default",
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    base_dir: str | os.PathLike[str] | None = None,
) -> Config:
    """Returns the checked configuration of a source.

    From the strongest to the weakest: ``overrides``, a mapping given as ``source``, environment variables
    ``YCBENCH_<TABLE>__<KEY>``, the file or preset, what it extends, and so on to the preset ``default``.

    Args:
        source: Name of a preset; path of a TOML file; nested tables as in such a file; or a configuration, which the
            environment does not touch. Text that names a preset is that preset.
        overrides: Nested tables that go before everything else.
        environ: Environment variables; None for those of the process, ``{}`` for none.
        base_dir: Where relative paths in ``source`` start; None for the working directory.

    Raises:
        ConfigError: There is no such source, or it holds illegal, unknown or inconsistent settings. The message lists
            all of them with place, dotted key, value and what was expected.

    Warns:
        ConfigWarning: A key of the public implementation has no effect here; one warning for each such key.
    """
    if isinstance(source, Config) and not overrides:
        return source
    merger, values = _merge(source, overrides, environ, base_dir)
    for message in merger.ignored.values():
        warnings.warn(message, ConfigWarning, stacklevel=2)
    return build(values)


def config_origins(
    source: ConfigSource = "default",
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    base_dir: str | os.PathLike[str] | None = None,
) -> dict[str, Origin]:
    """Returns where each value of ``load_config`` with the same arguments comes from: the strongest that gives it.

    Args:
        source: As of ``load_config``, and so are all arguments.
        overrides: Tables that go before everything else.
        environ: Environment variables; None for those of the process, ``{}`` for none.
        base_dir: Where relative paths in ``source`` start; None for the working directory.

    Returns:
        The place of each single value by its dotted key, such as ``world.dist.required_qty.low``, in the order of the
        list of settings.

    Raises:
        ConfigError: As ``load_config`` does; it alone warns of keys without effect.
    """
    merger, _ = _merge(source, overrides, environ, base_dir)
    return merger.origins()


def _merge(
    source: ConfigSource,
    overrides: Mapping[str, object] | None,
    environ: Mapping[str, str] | None,
    base_dir: str | os.PathLike[str] | None,
) -> tuple[Merger, Mapping[str, SettingValue]]:
    """Returns all layers laid over each other, and the legal values by dotted key.

    Raises:
        ConfigError: There are problems; the message lists all of them.
    """
    merger = Merger()
    layers = _layers(source, environ, Path() if base_dir is None else Path(base_dir), merger)
    if overrides is not None:
        layers.append(Layer(ARGUMENT, _tables(overrides, "overrides")))
    merger.add(layers)
    values = merger.finish()
    raise_problems(merger.problems)
    return merger, values


def _layers(source: object, environ: Mapping[str, str] | None, base: Path, merger: Merger) -> list[Layer]:
    """Returns the layers of a source, lowest first, and notes what is wrong with the chain and the environment."""
    if isinstance(source, Config):
        return [Layer(Origin("configuration", source.name), source.to_dict())]
    document = _document(source, base)
    chain = chain_of(document)
    variables, unknown = environment_layers(os.environ if environ is None else environ)
    merger.problems.extend([*chain.problems, *unknown])
    if isinstance(source, Mapping):
        *below, top = chain.layers
        return [*below, *variables, top]  # a mapping is an explicit argument, so it beats the environment
    return [*chain.layers, *variables]


def _document(source: object, base: Path) -> Document:
    """Returns what a source that is no configuration declares."""
    if isinstance(source, str | os.PathLike):
        return open_document(source, base)  # pyright: ignore[reportUnknownArgumentType] - a path of bytes is refused there
    return Document(ARGUMENT, str(ARGUMENT), base, _tables(source, "source"))


def _tables(value: object, parameter: str) -> Mapping[str, object]:
    """Returns a value that must be a mapping.

    Raises:
        ConfigError: It is none.
    """
    if isinstance(value, Mapping):
        return value  # pyright: ignore[reportUnknownVariableType] - keys and values are read one by one
    also = "a preset name, a path, a Config or " if parameter == "source" else ""
    message = f"argument: {parameter} = {show(value)}: expected {also}a mapping of nested tables"
    raise ConfigError(message)
