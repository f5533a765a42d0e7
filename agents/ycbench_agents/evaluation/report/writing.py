"""Writing a report: report.html, report.md and the figures."""

from __future__ import annotations

import os
import re
import warnings
from functools import partial
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.replay_watcher import NOBODY
from ycbench_agents.evaluation.report.content import report_of, require_policy
from ycbench_agents.evaluation.report.drawing import drawn_figures
from ycbench_agents.evaluation.report.html import html_of
from ycbench_agents.evaluation.report.markdown import FIGURES, markdown_of
from ycbench_agents.evaluation.report.results_file import results_remarks
from ycbench_agents.records import RecordWarning

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.evaluation.reading import Evaluation
    from ycbench_agents.evaluation.replay_watcher import ReplayWatcher

__all__ = ["WrittenReport", "write_report"]

_HTML: Final = "report.html"
_MARKDOWN: Final = "report.md"
_FIGURE: Final = re.compile(r"[0-9]+-[a-z0-9-]+\.(svg|png)")  # as drawing.py names them


@attrs.frozen
class WrittenReport:
    """The files of a report.

    Args:
        html: The one file that holds all.
        markdown: The same as Markdown.
        figures: Each figure.
    """

    html: Path
    markdown: Path
    figures: tuple[Path, ...]


def write_report(
    evaluation: Evaluation,
    out: Path,
    baseline: str | None = None,
    *,
    with_png: bool = False,
    watcher: ReplayWatcher = NOBODY,
) -> WrittenReport:
    """Write the report of an evaluation into a folder, in place of an older one, and return its files.

    Args:
        evaluation: The evaluation, finished or not.
        out: The folder; it is made where it is not there.
        baseline: Label of the policy to compare with; None for greedy, as far as the suite has it.
        with_png: Whether figures are written as PNG, too.
        watcher: Is told of runs without measures of this version, which are measured first; nothing of it is written.

    Raises:
        ReportError: The suite has no such baseline.
        MissingExtraError: jinja2, matplotlib, pandas or scipy is not installed.
        OSError: A file cannot be written.

    Warns:
        RecordWarning: An episode cannot be measured, or turns are lost; results.json tells otherwise than the report.
    """
    require_policy(evaluation.suite, baseline)
    measured = evaluation.measured(watcher)
    draw = partial(drawn_figures, with_png=with_png, episodes=measured.evaluation.episodes)
    remarks = results_remarks(measured)
    for remark in remarks:
        warnings.warn(remark, RecordWarning, stacklevel=2)
    report = report_of(measured.evaluation, measured.measures, baseline, draw, remarks)
    html, markdown = html_of(report), markdown_of(report)
    folder = out / FIGURES
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for drawing in (each for section in report.sections for part in section.parts for each in part.drawings):
        written.append(_write(folder / f"{drawing.name}.svg", drawing.svg.encode("utf-8", "replace")))
        if drawing.png is not None:
            written.append(_write(folder / f"{drawing.name}.png", drawing.png))
    for path in sorted(folder.iterdir()):
        if _FIGURE.fullmatch(path.name) and path not in written:  # of an older report
            path.unlink()
    return WrittenReport(
        _write(out / _HTML, html.encode("utf-8", "replace")),
        _write(out / _MARKDOWN, markdown.encode("utf-8", "replace")),
        tuple(written),
    )


def _write(path: Path, data: bytes) -> Path:
    """Replace a file in one step, so that nobody sees half of it."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
