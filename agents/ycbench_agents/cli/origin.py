"""Where each setting of a configuration comes from, in the words of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_env.config import Origin

__all__ = ["label", "toml_with_origins"]


def label(origin: Origin) -> str:
    """Return what the command line calls a place: its own option, the variable, the file or the preset."""
    match origin.kind:
        case "argument":
            return "--set"
        case "environment":
            return origin.name
        case _:
            return str(origin)


def toml_with_origins(toml: str, origins: Mapping[str, Origin]) -> str:
    """Return TOML text with the place of each setting as a comment behind it; it reads as the same values.

    Args:
        toml: As ``Config.to_toml`` writes it: one table a header, one setting a line or a list of lines.
        origins: Place by dotted key.
    """
    lines: list[str] = []
    table = ""
    for line in toml.splitlines():
        key = f"{table}{line.partition(' = ')[0]}"
        if line.startswith("["):
            table = line.strip("[]") + "."
        lines.append(f"{line}  # {ascii(label(origins[key]))[1:-1]}" if key in origins else line)
    return "\n".join(lines) + "\n"
