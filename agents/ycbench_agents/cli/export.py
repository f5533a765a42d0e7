"""``ycbench export``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.files import replace_file
from ycbench_agents.cli.folder import make_out_folder
from ycbench_agents.cli.progress import watching_runs
from ycbench_agents.cli.recorded.command import export, records_in
from ycbench_agents.cli.recorded.model import Trusted
from ycbench_agents.cli.streams import shown
from ycbench_agents.cli.telling import telling_of
from ycbench_agents.evaluation.export import refuse_held_out
from ycbench_agents.evaluation.folder import EvaluationFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ycbench_agents.records import RunRecord

__all__ = ["ExportRequest", "export_records"]


@attrs.frozen
class ExportRequest:
    """What ``ycbench export`` is asked for: the values of its options as they were written."""

    folders: Sequence[Path]
    form: Literal["jsonl", "parquet", "minari"]
    policy: str | None
    out: Path | None
    name: str | None


def export_records(request: ExportRequest) -> int:
    """Write recorded turns in the form that is asked for and return the exit code.

    Nothing that is told of held-out runs names a seed.

    Raises:
        UsageError: A folder holds no run, or one that differs or is held out, or nothing can be written.
        MissingExtraError: A library of an extra is not installed.
    """
    if request.form != "minari" and request.name is not None:
        msg = f"--name: got {request.name!r}, expected it with --format minari alone"
        raise UsageError(msg)
    if request.form != "jsonl" and request.policy is not None:
        msg = f"--policy: got {request.policy!r}, expected it with --format jsonl alone; other forms ask no policy"
        raise UsageError(msg)
    with telling_of(request.folders):
        records = [*records_in([_folder_of_runs(folder) for folder in request.folders], "export")]
        if request.form == "jsonl":
            refuse_held_out(records, "a line of JSON")
            _lines(request, records)
        else:
            _write(request, records)
    return 0


def _folder_of_runs(folder: Path) -> Path:
    """Return the folder of the runs of an evaluation, and any other folder as it is."""
    place = EvaluationFolder(folder)
    return place.runs if place.suite.is_file() and place.runs.is_dir() else folder


def _lines(request: ExportRequest, records: Sequence[RunRecord]) -> None:
    """Write lines of JSON, which are the output themselves where no file is named."""
    trusted = Trusted(request.policy)
    if request.out is None:
        export(records, None, trusted)
        return
    with watching_runs(len(records)) as begin:
        lines = export(records, request.out, trusted, begin)
    _tell(lines, records, str(request.out))


def _tell(turns: int, records: Sequence[RunRecord], what: str) -> None:
    runs = "1 run" if len(records) == 1 else f"{len(records)} runs"
    print(shown(f"{turns} turns of {runs}: {what}"))  # noqa: T201 -- this is the command line


def _write(request: ExportRequest, records: Sequence[RunRecord]) -> None:
    if request.out is None:
        msg = f"--out: got nothing, expected where to write, since --format {request.form} is no text"
        raise UsageError(msg)
    try:
        with watching_runs(len(records)) as begin:
            rows, what = (
                _minari(request, request.out, records, begin)
                if request.form == "minari"
                else _parquet(request.out, records, begin)
            )
    except OSError as error:
        msg = f"--out {request.out}: cannot be written: {error.strerror or error}"
        raise UsageError(msg) from None
    _tell(rows, records, what)


def _parquet(out: Path, records: Sequence[RunRecord], begin: Callable[[], None]) -> tuple[int, str]:
    from ycbench_agents.evaluation.export.parquet import write_parquet  # noqa: PLC0415 -- slow to import

    rows: list[int] = []
    replace_file(out, lambda part: rows.append(write_parquet(records, part, begin)))
    return sum(rows), str(out)


def _minari(
    request: ExportRequest, out: Path, records: Sequence[RunRecord], begin: Callable[[], None]
) -> tuple[int, str]:
    from ycbench_agents.evaluation.export.minari_dataset import write_minari  # noqa: PLC0415 -- slow to import

    if request.name is None:
        msg = "--name: got nothing, expected the name of the data set, like ycbench/greedy-v0"
        raise UsageError(msg)
    make_out_folder(out)
    steps = write_minari(records, out, request.name, begin)
    return steps, f"{out / request.name}; load it with MINARI_DATASETS_PATH={out}"
