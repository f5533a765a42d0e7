"""The options and the help of ``ycbench validate``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from ycbench_agents.cli.options import NO_DEFAULT

__all__ = ["VALIDATING_COMMANDS"]

_Folder = Annotated[Path, Parameter(metavar="DIR")]
_Rules = Annotated[str | None, Parameter(metavar="RULES")]
_Json = Annotated[bool, NO_DEFAULT, Parameter(name="--json", negative=())]


def _validate(folder: _Folder, /, *, rules: _Rules = None, write: bool = True, as_json: _Json = False) -> int:
    """Check whether an evaluation may be published, rule by rule.

    A valid one is given a provenance.json. The exit code is 1 where a rule is broken.

    Args:
        folder: Folder that ycbench evaluate wrote, with its runs.
        rules: TOML file of rules, or the name of one in configs/validation; where none is named those that are called
            like the suite, or else development.
        write: Write provenance.json; --no-write changes nothing in the folder.
        as_json: Print strict JSON instead of the table.
    """
    from ycbench_agents.cli.validate import validate_folder  # noqa: PLC0415 -- slow to import

    return validate_folder(folder, rules, write=write, as_json=as_json)


VALIDATING_COMMANDS: Final[tuple[tuple[Callable[..., int], str], ...]] = ((_validate, "validate"),)
"""The functions of the commands about validity, by the names of the commands."""
