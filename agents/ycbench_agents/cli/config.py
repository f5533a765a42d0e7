"""``ycbench config``: show, validate, diff and list configurations."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ycbench_agents.cli.options import Flag, JsonFlag, Settings, load, origin_label, read_overrides
from ycbench_agents.cli.output import USAGE, UsageError, cell, new_table, print_json, print_message, print_parts
from ycbench_env import ConfigError, preset_names
from ycbench_env.config import config_origins, diff_configs
from ycbench_env.text import printable

_Source = Annotated[str, Parameter(help="Name of a preset, or path of a TOML file.")]


def show_config(
    source: _Source = "default",
    /,
    *,
    settings: Settings = (),
    origin: Annotated[Flag, Parameter(help="Say behind each setting where it comes from.")] = False,
) -> int:
    """Print a resolved configuration as a TOML file and return the exit code."""
    overrides = read_overrides(settings)
    lines = load(source, overrides).to_toml().splitlines()
    if origin:
        origins, table = config_origins(source, overrides=overrides), ""
        for number, line in enumerate(lines):
            key = f"{table}{line.partition(' = ')[0]}"
            if line.startswith("["):
                table = line.strip("[]") + "."
            if key in origins:
                lines[number] = f"{line}  # {ascii(origin_label(origins[key]))[1:-1]}"
    text = "\n".join(lines) + "\n"
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # TOML's own escapes keep it a valid file
        text = "".join(char if char.isascii() else f"\\U{ord(char):08X}" for char in text)
    sys.stdout.write(text)
    return 0


def validate_config(*files: Annotated[str, Parameter(help="TOML files.")]) -> int:
    """Print for each file whether it can be used, name every problem of those that cannot; return the exit code.

    Environment variables do not count: a file is valid by itself.
    """
    if not files:
        msg = "config validate: got no file, expected at least one, like ycbench config validate my.toml"
        raise UsageError(msg)
    code = 0
    for source in files:
        try:
            load(Path(source), environ={})
        except ConfigError as error:
            sys.stdout.flush()
            print_message(f"error: {error}" if source in str(error) else f"error: {source}: {error}")
            code = USAGE
        else:
            sys.stdout.write(f"{printable(source)}: valid\n")
    return code


def diff_config(left: _Source, right: _Source, /, *, settings: Settings = (), as_json: JsonFlag = False) -> int:
    """Print in which settings two configurations differ, and return the exit code."""
    overrides = read_overrides(settings)
    differences = diff_configs(load(left, overrides), load(right, overrides))
    if as_json:
        print_json([{"key": each.key, "left": each.left, "right": each.right} for each in differences])
    elif not differences:
        sys.stdout.write("no setting differs\n")
    else:
        table = new_table("setting", left, right)
        for each in differences:
            both = (each.left, each.right)
            values = ["-" if value is None else json.dumps(value, ensure_ascii=False) for value in both]
            table.add_row(*map(cell, (each.key, *values)))
        print_parts(table)
    return 0


def list_config() -> int:
    """Print the presets with their descriptions and return the exit code."""
    table = new_table("preset", "description")
    for name in preset_names():
        table.add_row(cell(name), cell(load(name, environ={}).description))
    print_parts(table)
    return 0
