"""Where each setting of a configuration comes from: an option, an environment variable, a file or a preset."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ycbench_agents.cli.values import Tables

__all__ = ["origins", "toml_with_origins"]


@attrs.frozen
class _Layer:
    """Settings of one place, which its label names."""

    label: str
    keys: frozenset[str]


def origins(
    source: str | Path, overrides: Mapping[str, object], environ: Mapping[str, str], keys: frozenset[str]
) -> dict[str, str]:
    """Return the place that decided each setting: the highest one that sets it.

    Args:
        source: Name of a preset or path of a file that ``load_config`` takes without complaint.
        overrides: Tables of the options.
        environ: Environment variables.
        keys: Dotted keys of all settings.
    """
    layers = [_Layer("--set", frozenset(_leaves(overrides))), *_variables(environ, keys), *_documents(source)]
    return {key: next(layer.label for layer in layers if key in layer.keys) for key in keys}


def _variables(environ: Mapping[str, str], keys: frozenset[str]) -> Iterator[_Layer]:
    for key in keys:
        name = f"YCBENCH_{key.upper().replace('.', '__')}"
        if "." in key and name in environ:
            yield _Layer(name, frozenset({key}))


def _documents(source: str | Path) -> list[_Layer]:
    """Return the preset or file and all that it extends, highest first."""
    from ycbench_env import preset_names  # noqa: PLC0415 -- slow to import, and --help does not need it

    layers: list[_Layer] = []
    folder, reference = Path(), source
    while True:
        is_preset = isinstance(reference, str) and reference in preset_names()
        if is_preset:
            data = resources.files("ycbench_env").joinpath("presets", f"{reference}.toml").read_bytes()
            label = f"preset {reference}"
        else:
            path = folder / reference
            data, label, folder = path.read_bytes(), str(path), path.parent
        tree: Tables = tomllib.loads(data.decode("utf-8-sig"))
        layers.append(_Layer(label, frozenset({"name", *_leaves(tree)})))  # without a name it is called after itself
        if reference == "default" and is_preset:
            return layers
        reference = str(tree.get("extends", "default"))


def _leaves(table: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys of nested tables."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(cast("Tables", value), f"{prefix}{name}.")
        else:
            yield prefix + name


def toml_with_origins(toml: str, places: Mapping[str, str]) -> str:
    """Return TOML text with the place of each setting as a comment behind it; it reads as the same values.

    Args:
        toml: As ``Config.to_toml`` writes it: one table a header, one setting a line or a list of lines.
        places: Label by dotted key.
    """
    lines: list[str] = []
    table = ""
    for line in toml.splitlines():
        key = f"{table}{line.partition(' = ')[0]}"
        if line.startswith("["):
            table = line.strip("[]") + "."
        lines.append(f"{line}  # {ascii(places[key])[1:-1]}" if key in places else line)
    return "\n".join(lines) + "\n"
