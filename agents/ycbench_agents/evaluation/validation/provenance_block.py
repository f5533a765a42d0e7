"""provenance.json: what a valid evaluation was, by digests; whoever has the records can make it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.evaluation_file import key_dict
from ycbench_agents.evaluation.results import results_document
from ycbench_agents.evaluation.validation.check import judged, not_applicable
from ycbench_agents.evaluation.validation.digest import json_digest
from ycbench_agents.evaluation.validation.evidence import RunFacts
from ycbench_agents.records import RecordError
from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.strict_json import decode

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.validation.check import Check
    from ycbench_agents.evaluation.validation.evidence import Evidence
    from ycbench_agents.evaluation.validation.rules import Rules

__all__ = ["PROVENANCE_FILE", "provenance_check", "provenance_document"]

PROVENANCE_FILE: Final = "provenance.json"
"""In the folder of an evaluation that was found valid."""

_FORMAT: Final = 1
_OF_RULES: Final = ("rules", "rules_digest")


def provenance_document(evidence: Evidence, rules: Rules) -> JsonObject:
    """Return the provenance block as JSON values; it holds no time, and no secret seed."""
    evaluation = evidence.evaluation
    origin = evaluation.provenance.origin.to_json()
    configs: JsonObject = {preset.label: preset.config.digest() for preset in evaluation.suite.presets}
    records: list[Json] = [
        {**key_dict(key), "digest": facts.digest}
        for key, facts in evidence.facts.items()
        if isinstance(facts, RunFacts)
    ]
    return {
        "format": _FORMAT,
        "rules": rules.name,
        "rules_digest": rules.digest(),
        "suite": evaluation.suite.name,
        "suite_digest": evaluation.suite.digest(),
        "version": evaluation.provenance.version,
        "measures_version": evaluation.provenance.measures_version,
        "python": origin["python"],
        "packages": origin["packages"],
        "git": origin["git"],
        "config_digests": configs,
        "results_digest": json_digest(results_document(evaluation)),
        "records": records,
    }


def provenance_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether the provenance block that is there, if any, is that of the records; under which rules is free."""
    path = evidence.folder.path / PROVENANCE_FILE
    expected = "that of the records; remove it where they were changed on purpose"
    if not path.exists():
        return not_applicable("provenance", "none yet", expected)
    return judged("provenance", PROVENANCE_FILE, expected, _faults(path, provenance_document(evidence, rules)))


def _faults(path: Path, now: JsonObject) -> list[str]:
    try:
        stored = decode(path.read_bytes(), path.name)
    except (OSError, RecordError) as error:
        return [f"cannot be read: {error}"]
    if isinstance(stored, dict):
        stored = {**stored, **{name: now[name] for name in _OF_RULES}}
    return [f"{path.name}: {line} (stored | from the records)" for line in json_differences(stored, now)]
