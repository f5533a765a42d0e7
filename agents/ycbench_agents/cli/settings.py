"""``ycbench config``: show, validate, diff and list configurations."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ycbench_agents.cli.failure import USAGE, UsageError
from ycbench_agents.cli.source import load, read_overrides
from ycbench_agents.cli.streams import complain, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["diff", "list_presets", "show", "validate"]


def show(source: str, settings: Sequence[str], *, with_origin: bool) -> int:
    """Print a resolved configuration as a TOML file and return the exit code.

    Raises:
        UsageError: It cannot be used.
    """
    overrides = read_overrides(settings)
    text = load(source, overrides).to_toml()
    if with_origin:
        from ycbench_agents.cli.origin import toml_with_origins  # noqa: PLC0415 -- rarely needed
        from ycbench_env.config import config_origins  # noqa: PLC0415 -- slow to import

        text = toml_with_origins(text, config_origins(source, overrides=overrides))
    sys.stdout.write(_in_stdout_encoding(text))
    return 0


def _in_stdout_encoding(toml: str) -> str:
    r"""Return TOML with characters that stdout cannot write as ``\uXXXX``, so that it stays a valid file."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        toml.encode(encoding)
    except UnicodeEncodeError:
        return "".join(character if character.isascii() else f"\\U{ord(character):08X}" for character in toml)
    return toml


def validate(sources: Sequence[str]) -> int:
    """Print for each file whether it can be used, every problem of those that cannot, and return the exit code.

    Environment variables do not count: a file is valid by itself.
    """
    code = 0
    for source in sources:
        try:
            load(Path(source), environ={})
        except UsageError as error:
            sys.stdout.flush()
            complain(f"error: {error}" if source in str(error) else f"error: {source}: {error}")
            code = USAGE
        else:
            sys.stdout.write(f"{one_line(source)}: valid\n")
    return code


def diff(left: str, right: str, settings: Sequence[str], *, as_json: bool) -> int:
    """Print in which settings two configurations differ, and return the exit code.

    Raises:
        UsageError: One of them cannot be used.
    """
    from ycbench_env.config import diff_configs  # noqa: PLC0415 -- slow to import, and --help does not need it

    overrides = read_overrides(settings)
    differences = diff_configs(load(left, overrides), load(right, overrides))
    if as_json:
        rows = [{"key": each.key, "left": each.left, "right": each.right} for each in differences]
        sys.stdout.write(json.dumps(rows, indent=2, allow_nan=False) + "\n")
    elif not differences:
        sys.stdout.write("no setting differs\n")
    else:
        from ycbench_agents.cli.console import cell, new_table, print_parts  # noqa: PLC0415 -- imports rich

        table = new_table("setting", left, right)
        for each in differences:
            table.add_row(cell(each.key), cell(_value(each.left)), cell(_value(each.right)))
        print_parts(table)
    return 0


def _value(value: object) -> str:
    """Return a setting's value as TOML writes it, a dash where there is none."""
    return "-" if value is None else json.dumps(value, ensure_ascii=False)


def list_presets() -> int:
    """Print the presets with their descriptions and return the exit code."""
    from ycbench_agents.cli.console import cell, new_table, print_parts  # noqa: PLC0415 -- imports rich
    from ycbench_env import preset_names  # noqa: PLC0415 -- slow to import, and --help does not need it

    table = new_table("preset", "description")
    for name in preset_names():
        table.add_row(cell(name), cell(load(name, environ={}).description))
    print_parts(table)
    return 0
