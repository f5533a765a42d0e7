"""``ycbench report``: write the report of an evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_agents.cli.evaluation_progress import watching_measuring
from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.folder import make_out_folder
from ycbench_agents.cli.streams import shown
from ycbench_agents.cli.telling import telling_of

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.evaluation.report import WrittenReport

__all__ = ["report"]


def report(folder: Path, baseline: str | None, out: Path | None, *, with_png: bool) -> int:
    """Write the report of the evaluation in a folder, say where it is, and return the exit code.

    Raises:
        UsageError: There is no such evaluation, it has no such baseline, or the report cannot be written.
        MissingExtraError: A library of the extra ``evaluation`` is not installed.
    """
    target = folder if out is None else out
    written = _written(folder, baseline, target, with_png=with_png)
    for path in (written.html, written.markdown):
        print(shown(str(path)))  # noqa: T201 -- this is the command line
    drawn = len({path.stem for path in written.figures})  # one may be there as SVG and as PNG
    print(shown(f"{drawn} figures in {target / 'figures'}"))  # noqa: T201 -- as above
    return 0


def _written(folder: Path, baseline: str | None, target: Path, *, with_png: bool) -> WrittenReport:
    from ycbench_agents.evaluation.reading import read_evaluation  # noqa: PLC0415 -- slow to import
    from ycbench_agents.evaluation.report import ReportError, write_report  # noqa: PLC0415 -- as above

    try:
        with telling_of([folder]):
            evaluation = read_evaluation(folder)
            make_out_folder(target)
            with watching_measuring() as watcher:
                return write_report(evaluation, target, baseline, with_png=with_png, watcher=watcher)
    except ReportError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        msg = f"--out: cannot write {error.filename or target}: {error.strerror or error}; name a folder that can be "
        raise UsageError(msg + "written to") from None
