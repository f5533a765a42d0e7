"""Options that several commands take alike, and how their values become seeds, settings and configurations."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Final, cast

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.text import Text

from ycbench_agents.cli.output import UsageError, cell, print_parts, warn
from ycbench_agents.runs.run import plain_json
from ycbench_env import Config, ConfigError, ConfigWarning, load_config
from ycbench_env.config import Origin, config_origins, toml_value
from ycbench_env.text import JsonObject, shown

# ---------------------------------------------------------------- types of options

SEVERAL: Final = Parameter(consume_multiple=(1, None), negative=(), show_default=" ".join)
NO_DEFAULT: Final = Parameter(show_default=False)
_Words = Annotated[tuple[str, ...], SEVERAL, NO_DEFAULT]
_Paths = Annotated[tuple[Path, ...], SEVERAL, NO_DEFAULT]

Presets = Annotated[
    _Words, Parameter("--preset", metavar="NAME...", help="Names of presets; the preset default if none is named.")
]
Files = Annotated[_Paths, Parameter("--config", metavar="FILE...", help="TOML files of configurations.")]
Preset = Annotated[
    str | None, Parameter("--preset", metavar="NAME", help="Name of a preset; default if none is named.")
]
File = Annotated[Path | None, Parameter("--config", metavar="FILE", help="TOML file of a configuration.")]
Seeds = Annotated[tuple[str, ...], SEVERAL, Parameter(metavar="SEED...", help="Run seeds, like 1 2 3 or 1-3.")]
Seed = Annotated[str, Parameter(metavar="SEED", help="Run seed.")]
Settings = Annotated[
    _Words,
    Parameter(
        "--set",
        metavar="KEY=VALUE...",
        help="Settings that override files, presets and variables, like world.num_employees=9.",
    ),
]
Parameters = Annotated[
    _Words,
    Parameter("--param", metavar="KEY=VALUE...", help="Parameters of the policies, like keep_turns=10 of llm."),
]
Model = Annotated[str | None, Parameter(metavar="NAME", help="Model of policy llm, as its server knows it.")]
BaseUrl = Annotated[str | None, Parameter("--base-url", metavar="URL", help="Address of the model's server.")]
Prices = Annotated[_Paths, Parameter("--prices", metavar="FILE...", help="TOML files with prices of models.")]
Headers = Annotated[
    _Words,
    Parameter(
        "--header", metavar="'NAME: VALUE'...", help="HTTP headers for the model's server; values are never recorded."
    ),
]
TrustedPolicy = Annotated[
    str | None,
    Parameter(
        "--policy", metavar="MODULE:CLASS", help="Policy module:Class that the record names, if its code may run."
    ),
]
Count = Annotated[int, Parameter(validator=Number(gte=1), metavar="N")]
Workers = Annotated[
    Count | None, NO_DEFAULT, Parameter(help="Episodes to play at once; by default as many as there are processors.")
]
Live = Annotated[bool, Parameter(help="Show episodes as they go; --no-live writes lines instead.")]
Flag = Annotated[bool, Parameter(negative=(), show_default=False)]
JsonFlag = Annotated[Flag, Parameter("--json", help="Print strict JSON instead of the table.")]
Quiet = Annotated[Flag, Parameter("--quiet", help="Show no progress.")]

# ---------------------------------------------------------------- seeds


def read_seed(text: str) -> int:
    """Return the one seed that a text names."""
    if not re.fullmatch(r"[0-9]{1,30}", text):  # Python refuses to read thousands of digits
        msg = f"--seed: got {shown(text)}, expected one whole number of at least 0, like 1"
        raise UsageError(msg)
    return int(text)


def read_seeds(texts: Sequence[str]) -> tuple[int, ...]:
    """Return the seeds that the values of ``--seeds`` name: numbers and ranges, also with commas between."""
    from ycbench_agents.evaluation import suite  # noqa: PLC0415 -- slow to import, and few commands have seeds

    try:
        return suite.read_seeds(texts)
    except ValueError as error:
        msg = f"--seeds: {error}"
        raise UsageError(msg) from None


# ---------------------------------------------------------------- settings and parameters

Tables = dict[str, object]
"""Nested tables, as in a TOML file."""


def read_overrides(settings: Iterable[str]) -> Tables:
    """Return the nested tables that values of ``--set`` describe; for a key given twice the last one counts."""
    tables: Tables = {}
    for text in settings:
        key, equals, written = text.partition("=")
        key = key.strip()
        if not equals or not key:
            msg = f"--set: got {shown(text)}, expected KEY=VALUE, like world.num_employees=9"
            raise UsageError(msg)
        *path, name = key.split(".")
        table = tables
        for step in path:
            below = table.setdefault(step, {})
            if not isinstance(below, dict):
                msg = f"--set: got {shown(text)}, but {step} was set to {shown(below)} before; leave one of them out"
                raise UsageError(msg)
            table = cast("Tables", below)
        table[name] = toml_value(written, key)
    return tables


def read_parameters(texts: Iterable[str]) -> JsonObject:
    """Return the policy parameters that the values of ``--param`` describe."""
    parameters: dict[str, object] = {}
    for text in texts:
        name, equals, written = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name.isidentifier():
            msg = f"--param: got {shown(text)}, expected NAME=VALUE, like keep_turns=10"
            raise UsageError(msg)
        if name in parameters:
            msg = f"--param: got {name} twice, expected each parameter once"
            raise UsageError(msg)
        parameters[name] = toml_value(written)
    return cast("JsonObject", plain_json(parameters, "--param"))  # TOML knows dates and nan, JSON does not


def read_headers(texts: Sequence[str]) -> dict[str, str]:
    """Return the headers that the values of ``--header`` describe; values are shown in no error."""
    headers: dict[str, str] = {}
    for number, text in enumerate(texts, 1):
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            msg = f"--header: got a text without a name and a colon (number {number}), expected 'NAME: VALUE'"
            raise UsageError(msg)
        headers[name.strip()] = value.strip()
    return headers


# ---------------------------------------------------------------- configurations


def load(
    source: str | Path, overrides: Mapping[str, object] | None = None, environ: Mapping[str, str] | None = None
) -> Config:
    """Return the configuration of a preset's name or a file's path; keys without effect are named on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConfigWarning)
        try:
            config = load_config(source, overrides=overrides or None, environ=environ)
        except ConfigError as error:  # whose arguments are the values of --set here
            raise ConfigError(re.sub(r"^(- )?argument: ", r"\1--set ", str(error), flags=re.MULTILINE)) from None
    for warning in caught:
        warn(str(warning.message))
    return config


def load_one(preset: str | None, file: Path | None, settings: Sequence[str]) -> Config:
    """Return the one configuration that options name, the preset ``default`` if they name none."""
    if preset is not None and file is not None:
        msg = f"got --preset {preset} and --config {file}, expected one of them"
        raise UsageError(msg)
    return load(file or preset or "default", read_overrides(settings))


def load_all(presets: Sequence[str], files: Sequence[Path], settings: Sequence[str]) -> dict[str, Config]:
    """Return the configurations that options name, by the label that results give them, in order."""
    configs: dict[str, Config] = {}
    sources: list[str | Path] = [*presets, *files] or ["default"]
    for source in sources:
        config = load(source, read_overrides(settings))
        # A file may carry the name of a preset; then its path tells the rows of the results apart.
        label = config.name if config.name not in configs else str(source)
        if label in configs or sources.count(source) > 1:
            msg = f"got the configuration {shown(label)} twice, expected each once, with a `name` of its own"
            raise UsageError(msg)
        configs[label] = config
    return configs


# ---------------------------------------------------------------- where settings come from


def origin_label(origin: Origin) -> str:
    """Return how the command line names the origin of a setting: its option, the variable, the file or the preset."""
    if origin.kind == "argument":
        return "--set"
    return origin.name if origin.kind == "environment" else str(origin)


def overrides_in_force(
    sources: Iterable[str | Path], settings: Sequence[str], configs: Iterable[Config]
) -> list[JsonObject]:
    """Return the settings that options and variables decided, in their order: key, value and origin.

    Args:
        sources: Presets and files that options name; the first one stands for all, which agree in these.
        settings: Values of ``--set``.
        configs: What was loaded from both.
    """
    origins = config_origins(next(iter(sources), "default"), overrides=read_overrides(settings) or None)
    values = next(iter(configs)).to_dict()
    return [
        {
            "key": key,
            "value": reduce(lambda table, name: table[name], key.split("."), values),
            "origin": origin_label(origin),
        }
        for key, origin in origins.items()
        if origin.kind in {"argument", "environment"}
    ]


def print_overrides(overrides: Sequence[JsonObject]) -> None:
    """Print which settings options and variables decided, one a line, and an empty line; nothing for none."""
    if overrides:
        lines = [f"in force: {each['key']} = {json.dumps(each['value'])} ({each['origin']})" for each in overrides]
        print_parts(Text("\n").join(map(cell, lines)), Text())


def named_file(text: str, folder: Path, option: str, what: str) -> Path:
    """Return the TOML file that a path means, or its name without suffix in a folder.

    Args:
        text: The path or name.
        folder: Where names are looked for.
        option: Option or command for the message, like ``--rules``.
        what: What such a file holds, like ``rules``.
    """
    for path in (Path(text), folder / f"{text}.toml"):
        if path.is_file():
            return path
    names = ", ".join(sorted(each.stem for each in folder.glob("*.toml"))) or "none"
    msg = (
        f"{option}: got {shown(text)}, expected the TOML file of {what}, or one of the names in {folder} of the "
        f"working directory: {names}"
    )
    raise UsageError(msg)
