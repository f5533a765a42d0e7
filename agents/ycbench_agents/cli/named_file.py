"""Files that are named by their path, or by their name in a folder of the checkout."""

from __future__ import annotations

from pathlib import Path

from ycbench_agents.cli.failure import UsageError

__all__ = ["named_file"]


def named_file(text: str, folder: Path, option: str, what: str) -> Path:
    """Return the TOML file that a path, or a name in a folder, means.

    Args:
        text: What was given.
        folder: Where names are looked for.
        option: What it was given for, like ``--rules``.
        what: What such a file holds, like ``rules``.

    Raises:
        UsageError: There is no such file.
    """
    path, named = Path(text), folder / f"{text}.toml"
    if path.is_file():
        return path
    if named.is_file():
        return named
    there = sorted(each.stem for each in folder.glob("*.toml"))
    names = ", ".join(there) or "none is there"
    msg = (
        f"{option}: got {text!r}, expected the TOML file of {what}, or one of the names in {folder} of the working "
        f"directory: {names}"
    )
    raise UsageError(msg)
