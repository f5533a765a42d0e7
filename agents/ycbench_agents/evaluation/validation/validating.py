"""Validating an evaluation: every rule is checked, whatever came of the others."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.evaluation_file import EvaluationFile
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.redaction import NOT_SHOWN
from ycbench_agents.evaluation.replay_watcher import NOBODY
from ycbench_agents.evaluation.validation.check import judged
from ycbench_agents.evaluation.validation.evidence import read_evidence
from ycbench_agents.evaluation.validation.plan_checks import (
    checkout_check,
    presets_check,
    seeds_check,
    suite_check,
    version_check,
)
from ycbench_agents.evaluation.validation.provenance_block import provenance_check, provenance_document
from ycbench_agents.evaluation.validation.result_checks import held_out_check, invalid_commands_check, results_check
from ycbench_agents.evaluation.validation.run_checks import (
    copies_check,
    episodes_check,
    measures_check,
    outcomes_check,
    replay_check,
    runs_check,
    telemetry_check,
)
from ycbench_agents.records import RecordError, RecordWarning

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.replay_watcher import ReplayWatcher
    from ycbench_agents.evaluation.validation.check import Check
    from ycbench_agents.evaluation.validation.evidence import Evidence
    from ycbench_agents.evaluation.validation.rules import Rules

__all__ = ["Validation", "validate"]


@attrs.frozen
class Validation:
    """What came of validating an evaluation.

    Args:
        folder: Folder of the evaluation.
        rules: The rules.
        checks: What came of each.
        provenance: The provenance block of what is there; None where it cannot be read.
    """

    folder: Path
    rules: Rules
    checks: tuple[Check, ...]
    provenance: JsonObject | None = attrs.field(repr=False)

    @property
    def is_valid(self) -> bool:
        """Whether no rule is broken."""
        return not any(check.is_failed for check in self.checks)

    def to_dict(self) -> JsonObject:
        """Return it as JSON values, the same wherever the folder lies."""
        checks: list[Json] = [check.to_dict() for check in self.checks]
        return {
            "rules": self.rules.name,
            "rules_digest": self.rules.digest(),
            "is_valid": self.is_valid,
            "checks": checks,
            "provenance": self.provenance if self.is_valid else None,
        }


def validate(folder: Path | str, rules: Rules, watcher: ReplayWatcher = NOBODY) -> Validation:
    """Return what came of each rule; nothing is written.

    Args:
        folder: Folder of an evaluation, as ``ycbench evaluate`` left it, with its runs.
        rules: What it must be like.
        watcher: Is told how far it is.

    Raises:
        RecordError: There is no suite.json, so it is no evaluation at all.
    """
    place = EvaluationFolder(folder)
    if not place.suite.exists():
        msg = f"{place.path}: there is no {place.suite.name}; expected the folder that ycbench evaluate wrote"
        raise RecordError(msg)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordWarning)  # what they tell is what the rules look for
        try:
            evidence = read_evidence(place.path)
        except (RecordError, KeyError, ValueError) as error:  # the last two: files that fit together no more
            check = judged("readable", "damaged files", "an evaluation that can be read", [_told(place, error)])
            return Validation(place.path, rules, (check,), None)
        return Validation(place.path, rules, _checks(evidence, rules, watcher), provenance_document(evidence, rules))


def _told(place: EvaluationFolder, error: Exception) -> str:
    """Return what an error says, but of a held-out evaluation: the name of a run's folder holds its seed."""
    try:
        is_held_out = EvaluationFile.read(place).suite.is_held_out
    except RecordError as damage:  # of suite.json, which names no run
        return str(damage)
    what = f"{NOT_SHOWN}; ycbench evaluate writes suite.json and failures.json again" if is_held_out else error
    return f"{type(error).__name__}: {what}"


def _checks(evidence: Evidence, rules: Rules, watcher: ReplayWatcher) -> tuple[Check, ...]:
    watcher.begin(2 * len(evidence.drawn(rules.replay)))  # as it was recorded, and to be measured
    return (
        suite_check(evidence, rules),
        seeds_check(evidence, rules),
        presets_check(evidence, rules),
        version_check(evidence, rules),
        checkout_check(evidence, rules),
        episodes_check(evidence, rules),
        runs_check(evidence, rules),
        copies_check(evidence),
        outcomes_check(evidence),
        results_check(evidence),
        replay_check(evidence, rules, watcher),
        measures_check(evidence, rules, watcher),
        invalid_commands_check(evidence, rules),
        telemetry_check(evidence, rules),
        held_out_check(evidence),
        provenance_check(evidence, rules),
    )
