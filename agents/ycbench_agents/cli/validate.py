"""``ycbench validate``."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.text import Text

from ycbench_agents.cli.console import cell, new_table, print_parts
from ycbench_agents.cli.evaluation_progress import watching_validation
from ycbench_agents.cli.failure import STOPPED, UsageError
from ycbench_agents.cli.named_file import named_file
from ycbench_agents.cli.telling import telling_of
from ycbench_agents.evaluation.evaluation_file import EvaluationFile
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.storing import store_json
from ycbench_agents.evaluation.validation import load_rules, validate
from ycbench_agents.evaluation.validation.provenance_block import PROVENANCE_FILE
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from ycbench_agents.evaluation.validation import Validation

__all__ = ["validate_folder"]

_RULES: Final = Path("configs/validation")
_ANY_SUITE: Final = "development"
_SHOWN: Final = 20  # places that break one rule
_STYLES: Final = {"passed": "green", "failed": "bold red", "not applicable": "dim"}


def validate_folder(folder: Path, rules: str | None, *, write: bool, as_json: bool) -> int:
    """Validate an evaluation, print what came of each rule and return the exit code.

    Raises:
        UsageError: The rules cannot be read, the folder holds no evaluation, or provenance.json cannot be written.
    """
    with telling_of([folder]):
        path = _rules_of(folder) if rules is None else named_file(rules, _RULES, "--rules", "rules")
        with watching_validation() as watcher:
            validation = validate(folder, load_rules(path, os.environ), watcher)
    if write and validation.is_valid and validation.provenance is not None:
        _store(folder / PROVENANCE_FILE, validation)
    if as_json:
        sys.stdout.write(encode(validation.to_dict(), indent=2) + "\n")
    else:
        print_parts(_table(validation), Text("\n").join([cell(line) for line in _lines(validation, is_written=write)]))
    return 0 if validation.is_valid else STOPPED


def _rules_of(folder: Path) -> Path:
    """Return the rules for an evaluation: those that are called like its suite, if there are such.

    Raises:
        UsageError: There are none of the working directory.
    """
    names = [_ANY_SUITE]
    with contextlib.suppress(RecordError):  # which is told by whoever validates it
        names.insert(0, EvaluationFile.read(EvaluationFolder(folder)).suite.name)
    there = [path for name in names if (path := _RULES / f"{name}.toml").is_file()]
    if not there:
        msg = f"--rules: got nothing, expected the TOML file of rules, since {_RULES} of the working directory has none"
        raise UsageError(msg)
    return there[0]


def _store(path: Path, validation: Validation) -> None:
    try:
        store_json(path, validation.provenance)
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror or error}; --no-write leaves it out"
        raise UsageError(msg) from None


def _table(validation: Validation) -> Table:
    table = new_table("rule", "status", "got", "expected")
    for check in validation.checks:
        style = _STYLES[check.status]
        table.add_row(cell(check.rule), cell(check.status, style), cell(check.got), cell(check.expected))
    return table


def _lines(validation: Validation, *, is_written: bool) -> Iterator[str]:
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
