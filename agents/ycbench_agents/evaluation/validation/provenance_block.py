"""provenance.json: what a valid evaluation was, by digests; whoever has the records can make it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.evaluation_file import key_dict
from ycbench_agents.evaluation.old_results import results_document
from ycbench_agents.evaluation.provenance import run_origins
from ycbench_agents.evaluation.validation.check import judged, not_applicable
from ycbench_agents.evaluation.validation.digest import json_digest
from ycbench_agents.evaluation.validation.evidence import RunFacts
from ycbench_agents.records import RecordError
from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.strict_json import decode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.validation.check import Check
    from ycbench_agents.evaluation.validation.evidence import Evidence
    from ycbench_agents.evaluation.validation.rules import Rules
    from ycbench_agents.records import RunOrigin

__all__ = ["PROVENANCE_FILE", "provenance_check", "provenance_document"]

PROVENANCE_FILE: Final = "provenance.json"
"""In the folder of an evaluation that was found valid."""

_FORMAT: Final = 2  # 1 told one place for all runs
_TIME_OF_ORIGIN: Final = "started"
_OF_RULES: Final = ("rules", "rules_digest")


def provenance_document(evidence: Evidence, rules: Rules) -> JsonObject:
    """Return the provenance block as JSON values; it holds no time, and no secret seed."""
    evaluation = evidence.evaluation
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
        "origins": _origins(run_origins(evaluation.episodes)),
        "config_digests": configs,
        "results_digest": json_digest(results_document(evaluation)),
        "records": records,
    }


def _origins(origins: Sequence[RunOrigin]) -> list[Json]:
    """Return where the finished runs were begun, each place once with how many were, in the order of the first."""
    places = [
        {name: value for name, value in origin.to_json().items() if name != _TIME_OF_ORIGIN} for origin in origins
    ]
    distinct: list[JsonObject] = []
    for place in places:
        if place not in distinct:
            distinct.append(place)
    return [{**place, "runs": places.count(place)} for place in distinct]


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
        if stored.get("format") != _FORMAT:
            got = json.dumps(stored.get("format"))
            return [f"{path.name}: got the format {got}, expected {_FORMAT}; remove the file and validate again"]
        stored = {**stored, **{name: now[name] for name in _OF_RULES}}
    return [f"{path.name}: {line} (stored | from the records)" for line in json_differences(stored, now)]
