"""``ycbench report``, ``validate`` and ``export``: what is made of evaluations and recorded runs."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter
from rich.text import Text

from ycbench_agents.cli.live import counting
from ycbench_agents.cli.options import Flag, JsonFlag, TrustedPolicy, named_file
from ycbench_agents.cli.output import (
    STOPPED,
    UsageError,
    cell,
    new_table,
    print_json,
    print_parts,
    showing_warnings,
)
from ycbench_agents.evaluation.export import export as export_runs
from ycbench_agents.evaluation.factory import Trusted
from ycbench_agents.evaluation.results import read_evaluation
from ycbench_agents.evaluation.validate import PROVENANCE_FILE, load_rules
from ycbench_agents.evaluation.validate import validate as validate_evaluation
from ycbench_agents.files import to_json, write_record
from ycbench_agents.runs import RunError

_RULES: Final = Path("configs/validation")
_ANY_SUITE: Final = "development"
_SHOWN: Final = 20  # lines of one check
_NOT_CHECKED: Final = 3
_STYLES: Final = {"valid": "green", "not checked": "yellow", "invalid": "bold red"}

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
    png: Annotated[Flag, Parameter(help="Write each figure as PNG, too.")] = False,
    published: Annotated[Flag, Parameter(help="Show published results of language models, too.")] = False,
) -> int:
    """Write the report of the evaluation in a folder, print where it is, and return the exit code."""
    from ycbench_agents.evaluation.report import write_report  # noqa: PLC0415 -- slow to import

    with showing_warnings():
        html, markdown, *figures = write_report(folder, out, baseline=baseline, published=published, png=png)
    drawn = len({path.stem for path in figures})  # one may be there as SVG and as PNG
    print_parts(Text("\n").join(map(cell, (html, markdown, f"{drawn} figures in {html.parent / 'figures'}"))))
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
    trust_policies: Annotated[
        Flag, Parameter(help="Ask policies of other packages (module:Class) again, too, which runs their code.")
    ] = False,
    write: Annotated[bool, Parameter(help="Write provenance.json; --no-write changes nothing in the folder.")] = True,
    as_json: JsonFlag = False,
) -> int:
    """Validate an evaluation, print the outcome of each check and return the exit code.

    It is 0 for a valid evaluation, 1 for an invalid one, 3 where nothing is invalid and something was not checked.
    """
    if not folder.is_dir():
        msg = f"{folder}: there is no such folder, expected one that ycbench evaluate wrote"
        raise UsageError(msg)
    with showing_warnings():
        path = _default_rules(folder) if rules is None else named_file(rules, _RULES, "--rules", "rules")
        with counting() as progress:
            validation = validate_evaluation(folder, load_rules(path), trust_policies=trust_policies, progress=progress)
    is_written = write and validation.outcome != "invalid" and validation.provenance is not None
    if is_written:
        write_record(folder / PROVENANCE_FILE, to_json(validation.provenance, indent=2) + "\n")
    if as_json:
        print_json(validation.to_dict())
    else:
        table = new_table("check", "outcome", "checked", "not checked", "got", "expected")
        lines: list[str] = []
        for check in validation.checks:
            unchecked = f"{check.unchecked} {check.of}" if check.unchecked else ""
            rest = map(cell, (check.checked, unchecked, check.got, check.expected))
            table.add_row(cell(check.rule), cell(check.outcome, _STYLES[check.outcome]), *rest)
            more = ["...; --json has all"] if len(check.where) > _SHOWN else []
            lines += [f"{check.rule}: {where}" for where in (*check.where[:_SHOWN], *more)]
        written = f"; {PROVENANCE_FILE} written" if is_written else ""
        lines.append(f"{validation.outcome} under the rules {validation.rules.name}{written}")
        print_parts(table, Text("\n").join(map(cell, lines)))
    return {"valid": 0, "invalid": STOPPED, "not checked": _NOT_CHECKED}[validation.outcome]


def _default_rules(folder: Path) -> Path:
    """Return the rules named like the suite of an evaluation, or else those for any suite."""
    names = [_ANY_SUITE]
    with contextlib.suppress(RunError):  # the validation names it
        names.insert(0, read_evaluation(folder).suite.name)
    for name in names:
        if (path := _RULES / f"{name}.toml").is_file():
            return path
    msg = (
        f"no rules found, expected {_RULES}/{_ANY_SUITE}.toml in the working directory; run it in the checkout of the "
        f"project, whose {_RULES} holds them, or name a TOML file by --rules"
    )
    raise UsageError(msg)


def export(
    *folders: Annotated[Path, Parameter(help="Folders of runs, folders that hold such, or folders of evaluations.")],
    form: Annotated[
        Literal["jsonl", "parquet", "minari"],
        Parameter(
            name="--format",
            help="Form of the data: jsonl, parquet or minari; the last two need --out and take no --policy.",
        ),
    ] = "jsonl",
    policy: TrustedPolicy = None,
    out: Annotated[
        Path | None,
        Parameter(
            metavar="PATH",
            allow_leading_hyphen=True,  # - is standard output
            help="File to write, for jsonl stdout if none is named; for minari the folder of data sets.",
        ),
    ] = None,
    name: Annotated[
        str | None, Parameter(metavar="NAME-vN", help="Name of the data set, for minari, like ycbench/greedy-v0.")
    ] = None,
) -> int:
    """Write recorded turns in the form that is asked for and return the exit code."""
    if not folders:
        msg = "export: got no folder, expected at least one, like ycbench export runs"
        raise UsageError(msg)
    if form != "jsonl" and (policy is not None or out is None):
        msg = f"--format {form}: got {'--policy' if policy else 'no --out'}, expected --out and no --policy"
        raise UsageError(msg)
    with showing_warnings(), counting() as progress:
        rows = export_runs(folders, form, out or Path("-"), name=name, trusted=Trusted(policy), progress=progress)
    if out is not None and str(out) != "-":
        what = f"{out / name}; load it with MINARI_DATASETS_PATH={out}" if name else str(out)
        print_parts(cell(f"{rows} rows: {what}"))
    return 0
