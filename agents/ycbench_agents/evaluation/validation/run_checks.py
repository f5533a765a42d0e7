"""Rules about runs: all there, each in its own folder, each adding up, and each the same when played again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.folder import MEASURES_FILE
from ycbench_agents.evaluation.measurement import MeasurementError, measure_run
from ycbench_agents.evaluation.validation.check import judged, not_applicable
from ycbench_agents.evaluation.validation.evidence import RunFacts
from ycbench_agents.records import RecordError, replay_run
from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.record import identity_differences
from ycbench_agents.registry import PolicyError, make_policy, policy_names
from ycbench_env import ConfigError, load_config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.base import Json, Policy
    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.planned import PlannedEpisode
    from ycbench_agents.evaluation.replay_watcher import ReplayWatcher
    from ycbench_agents.evaluation.validation.check import Check
    from ycbench_agents.evaluation.validation.evidence import Evidence, Found
    from ycbench_agents.evaluation.validation.rules import Rules
    from ycbench_agents.records import RunRecord

__all__ = [
    "copies_check",
    "episodes_check",
    "measures_check",
    "outcomes_check",
    "replay_check",
    "runs_check",
    "telemetry_check",
]

_NOT_ASKED: Final = frozenset({"human", "llm", "mixture", "replay"})  # they ask somebody else, or read files
_SHOWN: Final = 5  # differences of one run
_CENTS: Final = 100


def episodes_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether few enough episodes failed or are missing."""
    episodes = evidence.evaluation.episodes
    faults: list[str] = []
    told: list[str] = []
    for status, limit in (("failed", rules.limits.failed), ("missing", rules.limits.missing)):
        those = [each for each in episodes if each.status == status]
        told.append(f"{len(those)} {status}")
        if len(those) > limit * len(episodes):
            faults += [f"{each.key}: {status}{_why(evidence, each.reason)}" for each in those]
    finished = len(evidence.finished())
    expected = f"at most {_percent(rules.limits.failed)} failed and {_percent(rules.limits.missing)} missing"
    return judged("episodes", f"{finished} of {len(episodes)} finished, {', '.join(told)}", expected, faults)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.4g} %"


def _why(evidence: Evidence, reason: str | None) -> str:
    return "" if reason is None else f": {evidence.told(reason)}"


def runs_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether each folder holds the run that its name says, and there is no other folder."""
    planned = {each.name: each for each in evidence.planned}
    faults = [
        f"{each.key}: {line}"
        for each in evidence.planned
        if each.name in evidence.found
        for line in _run_faults(evidence, each, evidence.found[each.name])
    ]
    beside = [name for name in evidence.found if name not in planned]
    if rules.runs == "planned":
        faults += [f"{evidence.told(name)}: the folder belongs to no planned episode; remove it" for name in beside]
    expected = "each run in the folder of its episode" + (", nothing else" if rules.runs == "planned" else "")
    return judged("runs", f"{len(evidence.found)} folders, {len(beside)} of no episode", expected, faults)


def _run_faults(evidence: Evidence, planned: PlannedEpisode, found: Found) -> Iterator[str]:
    if found.record is None:
        yield evidence.told(found.error or "")
        return
    for line in identity_differences(found.record.identity, planned.identity)[:_SHOWN]:
        yield f"run.json: {evidence.told(f'{line} (recorded | planned)')}"


def copies_check(evidence: Evidence) -> Check:
    """Return whether no run is a copy of another: two that were played differ in their times."""
    groups: dict[str, list[str]] = {}
    for key, facts in evidence.facts.items():
        if isinstance(facts, RunFacts) and facts.turns:
            groups.setdefault(facts.file_digest, []).append(str(key))
    faults = [f"{'; '.join(keys)}: their turns.jsonl is the same file" for keys in groups.values() if len(keys) > 1]
    return judged("copies", f"{len(groups)} different files of turns", "each run played by itself", faults)


def outcomes_check(evidence: Evidence) -> Check:
    """Return whether rewards, changes of funds and outcomes agree to the cent in every finished run."""
    faults = [
        f"{key}: {line}"
        for key, record in evidence.finished()
        for line in _outcome_faults(evidence, record, evidence.facts[key])
    ]
    expected = "sum of rewards = final funds - initial funds, to the cent"
    return judged("outcomes", f"{len(evidence.facts)} runs added up", expected, faults)


def _outcome_faults(evidence: Evidence, record: RunRecord, facts: RunFacts | str) -> Iterator[str]:
    if isinstance(facts, str):
        yield evidence.told(facts)
        return
    outcome = record.outcome
    total = round((outcome.total_return or 0.0) * _CENTS)
    initial = _initial_funds_cents(record)
    final = initial if facts.funds_cents is None else facts.funds_cents
    pairs = (
        ("turns.jsonl: turns", facts.turns, outcome.turns),
        ("turns.jsonl: sum of rewards in cents", facts.reward_cents, final - initial),
        ("turns.jsonl: sum of funds_delta_cents", facts.delta_cents, final - initial),
        ("run.json: final_funds_cents", outcome.final_funds_cents, final),
        ("run.json: total_return in cents", total, final - initial),
    )
    for what, got, expected in pairs:
        if got != expected:
            yield f"{what}: {evidence.told(f'got {got}, expected {expected}')}"


def _initial_funds_cents(record: RunRecord) -> int:
    return load_config(record.identity.config, environ={}).world.initial_funds_cents


def replay_check(evidence: Evidence, rules: Rules, watcher: ReplayWatcher) -> Check:
    """Return whether records turn out as recorded when they are played again; the watcher is told of each."""
    drawn = evidence.drawn(rules.replay)
    asked = rules.replay.policies
    faults: list[str] = []
    for key, record in drawn:
        watcher.play(key)
        faults += [f"{key}: {line}" for line in _replay_faults(evidence, record, asked=asked)]
    which = "all runs" if rules.replay.runs is None else f"{rules.replay.runs} runs drawn with seed {rules.replay.seed}"
    expected = f"{which} as recorded{', their policies asked again' if asked else ''}"
    return judged("replay", f"{len(drawn)} runs played again", expected, faults)


def _replay_faults(evidence: Evidence, record: RunRecord, *, asked: bool) -> Iterator[str]:
    try:
        report = replay_run(record.folder, _policy(record) if asked else None)
    except (ConfigError, OSError, PolicyError, RecordError) as error:
        yield evidence.told(str(error))
        return
    for line in report.differences[:_SHOWN]:
        yield evidence.told(f"{line} (recorded | now)")


def _policy(record: RunRecord) -> Policy | None:
    """Return the policy of a run, None where it asks somebody, reads a file, or its code is not this package's.

    Raises:
        PolicyError: It refuses the recorded parameters.
    """
    name, parameters = record.identity.policy, record.identity.settings.get("parameters")
    if name not in policy_names() or name in _NOT_ASKED:
        return None
    return make_policy(name, **(parameters if isinstance(parameters, dict) else {}))


def measures_check(evidence: Evidence, rules: Rules, watcher: ReplayWatcher) -> Check:
    """Return whether measures of this version are there, and those of the runs that are played again are right.

    The watcher is told of each of these.
    """
    finished = evidence.finished()
    lacking = [f"{key}: no measures of this version" for key, _ in finished if evidence.measures[key] is None]
    drawn = evidence.drawn(rules.replay)
    wrong: list[str] = []
    for key, record in drawn:
        watcher.play(key)
        wrong += [f"{key}: {line}" for line in _measure_faults(evidence, key, record)]
    got = f"{len(finished) - len(lacking)} of {len(finished)} runs measured, {len(drawn)} measured again"
    return judged("measures", got, "measures of this version; ycbench evaluate makes them", [*lacking, *wrong])


def _measure_faults(evidence: Evidence, key: EpisodeKey, record: RunRecord) -> Iterator[str]:
    stored = evidence.measures[key]
    if stored is None:
        return
    try:
        measured = measure_run(record)
    except (MeasurementError, OSError, RecordError) as error:
        yield evidence.told(str(error))
        return
    values: list[Json] = []
    for each in (stored, measured):
        fields = each.to_json()
        del fields["transport"]  # times may differ between equal runs
        values.append(fields)
    for line in [*json_differences(values[0], values[1])][:_SHOWN]:
        yield evidence.told(f"{MEASURES_FILE}: {line} (stored | measured)")


def telemetry_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether tokens and cost of language models are known, turn by turn."""
    asked = [
        name for name, is_asked in (("tokens", rules.telemetry.tokens), ("cost", rules.telemetry.cost)) if is_asked
    ]
    models = [key for key, record in evidence.finished() if record.identity.model is not None]
    expected = " and ".join(asked) + " of every turn" if asked else "nothing"
    got = f"{len(models)} runs of language models"
    if not asked or not models:
        return not_applicable("telemetry", got, expected)
    faults = [f"{key}: {line}" for key in models for line in _unknown(evidence, key, asked)]
    return judged("telemetry", got, expected, faults)


def _unknown(evidence: Evidence, key: EpisodeKey, asked: list[str]) -> Iterator[str]:
    measures = evidence.measures[key]
    if measures is None:
        yield "no measures of this version"
        return
    tokens = measures.tokens
    unknown = {"tokens": tokens.unknown_turns, "cost": tokens.unknown_cost_turns}
    yield from (f"{name} of {unknown[name]} turns not known" for name in asked if unknown[name])
