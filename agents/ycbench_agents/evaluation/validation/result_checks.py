"""Rules about what is published: results, invalid commands, secret seeds."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.heldout import MANY_TO_GUESS
from ycbench_agents.evaluation.old_results import results_document
from ycbench_agents.evaluation.validation.check import judged, not_applicable
from ycbench_agents.records import RecordError
from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.strict_json import decode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ycbench_agents.evaluation.validation.check import Check
    from ycbench_agents.evaluation.validation.evidence import Evidence
    from ycbench_agents.evaluation.validation.rules import Rules

__all__ = ["held_out_check", "invalid_commands_check", "results_check"]

_SHOWN: Final = 10
_FIGURES: Final = "figures"


def results_check(evidence: Evidence) -> Check:
    """Return whether results.json is what the records give."""
    faults = list(islice(_results_faults(evidence), _SHOWN))
    expected = "what the records give; ycbench evaluate writes it"
    return judged("results", evidence.folder.results.name, expected, faults)


def _results_faults(evidence: Evidence) -> Iterator[str]:
    path = evidence.folder.results
    try:
        stored = decode(path.read_bytes(), path.name)
    except (OSError, RecordError) as error:
        yield f"{path.name}: cannot be read: {error.strerror if isinstance(error, OSError) else error}"
        return
    for line in json_differences(stored, results_document(evidence.evaluation)):
        yield f"{path.name}: {line} (stored | from the records)"


def invalid_commands_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether the commands of each policy are grammatical often enough."""
    counts: dict[str, tuple[int, int]] = {}
    for key, measures in evidence.measures.items():
        if measures is not None:
            invalid, commands = counts.get(key.policy, (0, 0))
            more = measures.reliability.invalid_commands
            counts[key.policy] = (invalid + more, commands + more + measures.behaviour.commands)
    fractions = {policy: invalid / max(1, commands) for policy, (invalid, commands) in counts.items()}
    worst = max(fractions.items(), key=lambda row: row[1], default=("nobody", 0.0))
    got = f"at most {worst[1]:.2%}, by {worst[0]}" if worst[1] else "none"
    limit = rules.limits.invalid_commands
    if limit is None:
        return not_applicable("invalid_commands", got, "reported only")
    faults = [
        f"{policy}: {counts[policy][0]} of {counts[policy][1]} commands ({fraction:.2%})"
        for policy, fraction in fractions.items()
        if fraction > limit
    ]
    return judged("invalid_commands", got, f"at most {limit:.2%} of a policy's commands", faults)


def held_out_check(evidence: Evidence) -> Check:
    """Return whether no secret seed can be read, or guessed, from what is published of a held-out evaluation.

    That is every file in the evaluation's folder and its figures, but failures.json, which stays where it was played,
    as the runs do.
    """
    expected = "no secret seed in a file that is published, and none that can be guessed"
    if not evidence.is_held_out:
        return not_applicable("held_out", "public seeds", expected)
    seeds = sorted({each.identity.seed for each in evidence.planned})
    files = _published(evidence)
    faults = [f"{path.name}: names a secret seed" for path in files if _names_one(path, seeds)]
    small = sum(seed < MANY_TO_GUESS for seed in seeds)
    if small:
        faults.append(f"{small} seeds are below 2^40, so that their hashes can be found by trying; draw larger ones")
    return judged("held_out", f"{len(files)} files that may be published", expected, faults)


def _published(evidence: Evidence) -> list[Path]:
    folder = evidence.folder
    kept = {folder.failures, folder.lock}
    paths = [*folder.path.glob("*"), *(folder.path / _FIGURES).rglob("*")]
    return sorted(path for path in paths if path.is_file() and path not in kept)


def _names_one(path: Path, seeds: list[int]) -> bool:
    """Return whether a file holds a seed as a number of its own."""
    data = path.read_bytes()
    return any(re.search(rb"(?<![0-9])%d(?![0-9])" % seed, data) for seed in seeds)
