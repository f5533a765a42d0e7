"""``ycbench report``, ``validate`` and ``export``: what is made of evaluations and recorded runs."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter
from rich.text import Text

from ycbench_agents.cli.live import counting
from ycbench_agents.cli.options import JsonFlag, TrustedPolicy, named_file
from ycbench_agents.cli.output import (
    STOPPED,
    UsageError,
    cell,
    new_table,
    print_json,
    print_parts,
    telling_warnings,
)
from ycbench_agents.cli.run import runs_in
from ycbench_agents.evaluation.evaluation_file import EvaluationFile
from ycbench_agents.evaluation.export import refuse_held_out
from ycbench_agents.evaluation.factory import Trusted, replaying_policy
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.validation import Validation, load_rules
from ycbench_agents.evaluation.validation import validate as validate_evaluation
from ycbench_agents.evaluation.validation.provenance_block import PROVENANCE_FILE
from ycbench_agents.files import FileError, to_json, write_file
from ycbench_agents.records import RecordError, RunRecord, export_turns

__all__ = ["export", "report", "validate"]

_RULES: Final = Path("configs/validation")
_ANY_SUITE: Final = "development"
_SHOWN: Final = 20  # places that break one rule
_STYLES: Final = {"passed": "green", "failed": "bold red", "not applicable": "dim"}

_Evaluation = Annotated[Path, Parameter(metavar="DIR", help="Folder that ycbench evaluate wrote, with its runs.")]


def report(
    folder: _Evaluation,
    /,
    *,
    baseline: Annotated[
        str | None, Parameter(metavar="NAME", help="Label of the policy to compare with; greedy if none is named.")
    ] = None,
    out: Annotated[
        Path | None, Parameter(metavar="DIR", help="Folder for the report; that of the evaluation if none is named.")
    ] = None,
    png: Annotated[bool, Parameter(negative=(), show_default=False, help="Write each figure as PNG, too.")] = False,
) -> int:
    """Write the report of the evaluation in a folder, print where it is, and return the exit code.

    Raises:
        FileError: The report cannot be written.
        ReportError: There is no such evaluation, or it has no such baseline.
        MissingExtraError: A library of the extra ``evaluation`` is not installed.
    """
    from ycbench_agents.evaluation.reading import read_evaluation  # noqa: PLC0415 -- slow to import
    from ycbench_agents.evaluation.report import write_report  # noqa: PLC0415 -- as above

    target = out or folder
    with telling_warnings(), counting() as progress:
        _make_folder(target)
        written = write_report(read_evaluation(folder), target, baseline, with_png=png, watcher=progress)
    drawn = len({path.stem for path in written.figures})  # one may be there as SVG and as PNG
    print_parts(
        Text("\n").join(
            cell(line) for line in (written.html, written.markdown, f"{drawn} figures in {target / 'figures'}")
        )
    )
    return 0


def validate(
    folder: _Evaluation,
    /,
    *,
    rules: Annotated[
        str | None,
        Parameter(
            metavar="RULES",
            help="TOML file of rules, or the name of one in configs/validation; by default the one named like the "
            "suite, or else development.",
        ),
    ] = None,
    write: Annotated[bool, Parameter(help="Write provenance.json; --no-write changes nothing in the folder.")] = True,
    as_json: JsonFlag = False,
) -> int:
    """Validate an evaluation, print the result of each rule and return the exit code.

    Raises:
        FileError: provenance.json cannot be written.
        RecordError: The folder holds no evaluation.
        UsageError: The rules cannot be read.
    """
    with telling_warnings():
        path = _default_rules(folder) if rules is None else named_file(rules, _RULES, "--rules", "rules")
        with counting() as progress:
            validation = validate_evaluation(folder, load_rules(path, os.environ), progress)
    if write and validation.is_valid and validation.provenance is not None:
        write_file(folder / PROVENANCE_FILE, to_json(validation.provenance, indent=2) + "\n")
    if as_json:
        print_json(validation.to_dict())
    else:
        table = new_table("rule", "status", "got", "expected")
        for check in validation.checks:
            status = cell(check.status, _STYLES[check.status])
            table.add_row(cell(check.rule), status, cell(check.got), cell(check.expected))
        print_parts(table, Text("\n").join([cell(line) for line in _findings(validation, is_written=write)]))
    return 0 if validation.is_valid else STOPPED


def _default_rules(folder: Path) -> Path:
    """Return the rules named like the suite of an evaluation, or else those for any suite.

    Raises:
        UsageError: The working directory has neither.
    """
    names = [_ANY_SUITE]
    with contextlib.suppress(RecordError):  # the validation says so
        names.insert(0, EvaluationFile.read(EvaluationFolder(folder)).suite.name)
    for name in names:
        if (path := _RULES / f"{name}.toml").is_file():
            return path
    msg = f"--rules: got nothing, expected the TOML file of rules, since {_RULES} of the working directory has none"
    raise UsageError(msg)


def _findings(validation: Validation, *, is_written: bool) -> Iterator[str]:
    """Yield where rules are broken, and the verdict last."""
    for check in validation.checks:
        yield from (f"{check.rule}: {where}" for where in check.where[:_SHOWN])
        if len(check.where) > _SHOWN:
            yield f"{check.rule}: {len(check.where) - _SHOWN} more; --json has all"
    broken = sum(check.is_failed for check in validation.checks)
    if broken:
        yield f"not valid under the rules {validation.rules.name}: {broken} of {len(validation.checks)} rules broken"
    else:
        written = f"; {PROVENANCE_FILE} written" if is_written else ""
        yield f"valid under the rules {validation.rules.name}{written}"


def export(
    *folders: Annotated[Path, Parameter(help="Folders of runs, folders that hold such, or folders of evaluations.")],
    form: Annotated[
        Literal["jsonl", "parquet", "minari"],
        Parameter(name="--format", help="Form of the data: jsonl, parquet or minari."),
    ] = "jsonl",
    policy: TrustedPolicy = None,
    out: Annotated[
        Path | None,
        Parameter(
            metavar="PATH",
            help="File to write, for jsonl stdout if none is named; for minari the folder of data sets.",
        ),
    ] = None,
    name: Annotated[
        str | None, Parameter(metavar="NAME-vN", help="Name of the data set, for minari, like ycbench/greedy-v0.")
    ] = None,
) -> int:
    """Write recorded turns in the form that is asked for and return the exit code.

    Raises:
        ExportError: A record is held out, or has what the form cannot hold.
        RecordError: A folder holds no run, or one that turns out differently.
        UsageError: Options do not go together.
        MissingExtraError: A library of an extra is not installed.
    """
    if form != "minari" and name is not None:
        msg = f"--name: got {name!r}, expected it with --format minari alone"
        raise UsageError(msg)
    if form != "jsonl" and policy is not None:
        msg = f"--policy: got {policy!r}, expected it with --format jsonl alone; other forms ask no policy"
        raise UsageError(msg)
    with telling_warnings(), counting() as progress:
        records = [*runs_in([_folder_of_runs(folder) for folder in folders], "export")]
        progress.begin(len(records))
        if form == "jsonl":
            refuse_held_out(records, "a line of JSON")
            rows, what = _export_lines(records, out, Trusted(policy), progress.step), str(out)
        elif out is None:
            msg = f"--out: got nothing, expected where to write, since --format {form} is no text"
            raise UsageError(msg)
        elif form == "parquet":
            from ycbench_agents.evaluation.export.parquet import write_parquet  # noqa: PLC0415 -- of an extra

            rows, what = write_parquet(records, out, progress.step), str(out)
        elif name is None:
            msg = "--name: got nothing, expected the name of the data set, like ycbench/greedy-v0"
            raise UsageError(msg)
        else:
            from ycbench_agents.evaluation.export.minari_dataset import write_minari  # noqa: PLC0415 -- of an extra

            _make_folder(out)
            rows = write_minari(records, out, name, progress.step)
            what = f"{out / name}; load it with MINARI_DATASETS_PATH={out}"
    if out is not None and str(out) != "-":
        runs = "1 run" if len(records) == 1 else f"{len(records)} runs"
        print_parts(cell(f"{rows} turns of {runs}: {what}"))
    return 0


def _folder_of_runs(folder: Path) -> Path:
    """Return the folder of the runs of an evaluation, and any other folder as it is."""
    place = EvaluationFolder(folder)
    return place.runs if place.suite.is_file() and place.runs.is_dir() else folder


def _export_lines(records: Sequence[RunRecord], out: Path | None, trusted: Trusted, step: Callable[[], None]) -> int:
    """Write the turns of runs as lines of JSON and return how many there are."""
    lines: list[str] = []
    for record in records:
        step()
        lines.extend(turn.to_line() + "\n" for turn in export_turns(record.folder, replaying_policy(record, trusted)))
    write_file(out or "-", "".join(lines))
    return len(lines)


def _make_folder(folder: Path) -> None:
    """Make the folder that ``--out`` names.

    Raises:
        FileError: It cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"--out {folder}: cannot make this folder: {error.strerror}; name another"
        raise FileError(msg) from None
