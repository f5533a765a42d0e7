"""The options and the help of ``ycbench export``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter

__all__ = ["EXPORTING_COMMANDS"]

_Trusted = Annotated[str | None, Parameter(name="--policy", metavar="MODULE:CLASS")]
_Out = Annotated[Path | None, Parameter(metavar="PATH")]
_Form = Annotated[Literal["jsonl", "parquet", "minari"], Parameter(name="--format")]
_Name = Annotated[str | None, Parameter(metavar="NAME-vN")]


def _export(
    *folders: Path, form: _Form = "jsonl", policy: _Trusted = None, out: _Out = None, name: _Name = None
) -> int:
    """Write recorded turns as data: lines of JSON for training, a table in Parquet, or a data set of Minari.

    A line of JSON has prompt, completion and reward. Every record is played again and must turn out as recorded.

    Args:
        folders: Folders of runs, folders with such in them, or folders of evaluations.
        form: Form of the data: jsonl, parquet or minari.
        policy: Policy module:Class of your own that the record names, and whose code may run; for jsonl.
        out: File to write, for jsonl stdout where none is named; for minari the folder of data sets.
        name: Name of the data set, for minari, like ycbench/greedy-v0.
    """
    from ycbench_agents.cli.export import ExportRequest, export_records  # noqa: PLC0415 -- slow to import

    return export_records(ExportRequest(folders, form, policy, out, name))


EXPORTING_COMMANDS: Final[tuple[tuple[Callable[..., int], str], ...]] = ((_export, "export"),)
"""The functions of the commands about data, by the names of the commands."""
