"""The options and the help of ``ycbench report``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from ycbench_agents.cli.options import NO_DEFAULT

__all__ = ["REPORTING_COMMANDS"]

_Folder = Annotated[Path, Parameter(metavar="DIR")]
_Baseline = Annotated[str | None, Parameter(metavar="NAME")]
_Out = Annotated[Path | None, Parameter(metavar="DIR")]
_Png = Annotated[bool, NO_DEFAULT, Parameter(name="--png", negative=())]


def _report(folder: _Folder, /, *, baseline: _Baseline = None, out: _Out = None, png: _Png = False) -> int:
    """Write the report of an evaluation: report.html, which holds all, report.md and figures.

    An evaluation that is not finished is reported as far as it goes.

    Args:
        folder: Folder that ycbench evaluate wrote.
        baseline: Label of the policy to compare with; greedy where none is named.
        out: Folder for the report; that of the evaluation where none is named.
        png: Write each figure as PNG, too.
    """
    from ycbench_agents.cli.report_writing import report  # noqa: PLC0415 -- slow to import

    return report(folder, baseline, out, with_png=png)


REPORTING_COMMANDS: Final[tuple[tuple[Callable[..., int], str], ...]] = ((_report, "report"),)
"""The functions of the commands about reports, by the names of the commands."""
