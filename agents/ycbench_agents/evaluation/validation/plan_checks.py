"""Rules about what was planned and where it was played: suite, seeds, configurations, version, checkout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.provenance import counted_commits
from ycbench_agents.evaluation.validation.check import judged, not_applicable
from ycbench_agents.records.origin import package_version
from ycbench_env import load_config, preset_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.old_suite import Suite, SuitePreset
    from ycbench_agents.evaluation.validation.check import Check
    from ycbench_agents.evaluation.validation.evidence import Evidence
    from ycbench_agents.evaluation.validation.rules import Rules, SuiteRule
    from ycbench_agents.records import RunOrigin, RunRecord
    from ycbench_agents.records.record import GitState

__all__ = ["checkout_check", "presets_check", "seeds_check", "suite_check", "version_check"]

_SHORT: Final = 12  # digits of a digest, where people compare


def suite_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether the suite is the one that the rules ask for, and suite.json names its digest."""
    suite = evidence.evaluation.suite
    faults = [*_own_digest_faults(evidence)]
    if rules.suite is not None:
        faults += _suite_faults(suite, rules.suite)
    expected = "any suite" if rules.suite is None else _told_suite(rules.suite)
    return judged("suite", f"{suite.name} {suite.digest()[:_SHORT]}", expected, faults)


def _told_suite(rule: SuiteRule) -> str:
    who = "its policies" if rule.policies == "same" else "any policies"
    return f"{rule.suite.name} with {who} ({rule.digest_of(rule.suite)[:_SHORT]})"


def _own_digest_faults(evidence: Evidence) -> Iterator[str]:
    told: object = json.loads(evidence.folder.suite.read_bytes()).get("digest")
    digest = evidence.evaluation.suite.digest()
    if told != digest:
        yield f"suite.json: digest: got {told!r}, expected {digest}; the file was changed"


def _suite_faults(suite: Suite, rule: SuiteRule) -> Iterator[str]:
    got, expected = rule.digest_of(suite), rule.digest_of(rule.suite)
    if got != expected:
        yield f"suite.json: got the digest {got}, expected {expected}"
    if rule.digest is not None and suite.digest() != rule.digest:
        yield f"suite.json: got the digest {suite.digest()}, expected {rule.digest}, which the rules name"


def seeds_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether every seed was planned, as often as the rules' suite has it, and none beside."""
    suite = evidence.evaluation.suite
    got = _count(suite)
    if rules.suite is None:
        return not_applicable("seeds", got, "any seeds")
    asked = rules.suite.suite
    missing = [f"seed {seed} is missing" for seed in asked.seeds if seed not in suite.seeds]
    beside = [f"seed {seed} is none of the suite" for seed in suite.seeds if seed not in asked.seeds]
    repeats = [] if suite.repeats == asked.repeats else [f"repeats: got {suite.repeats}, expected {asked.repeats}"]
    return judged("seeds", got, f"{_count(asked)}, as {asked.name} has them", [*missing, *beside, *repeats])


def _count(suite: Suite) -> str:
    return f"seeds: {len(suite.seeds)}, repeats: {suite.repeats}"


def presets_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether configurations that are called like presets are those presets."""
    presets = evidence.evaluation.suite.presets
    got = ", ".join(f"{preset.label} {preset.config.digest()[:_SHORT]}" for preset in presets)
    if rules.presets == "any":
        return not_applicable("presets", got, "any configuration")
    faults = [fault for preset in presets for fault in _preset_faults(preset)]
    return judged("presets", got, "presets of this version, as they are", faults)


def _preset_faults(preset: SuitePreset) -> Iterator[str]:
    if preset.label not in preset_names():
        yield f"{preset.label}: is no preset; expected one of {', '.join(preset_names())}"
        return
    expected = load_config(preset.label, environ={}).digest()
    if preset.config.digest() != expected:
        yield f"{preset.label}: got the digest {preset.config.digest()}, expected {expected}; settings were changed"


def version_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether all records are of one version, and of the one that the rules ask for."""
    version = evidence.evaluation.provenance.version
    asked = package_version() if rules.version == "this" else version
    faults = [] if version == asked else [f"suite.json: got {version}, expected {asked}"]
    names = {each.name: str(each.key) for each in evidence.planned}
    found = [each for each in evidence.found.values() if each.record is not None]
    for each in found:
        got = "" if each.record is None else each.record.identity.version
        if got != asked and (each.name in names or rules.runs == "planned"):
            where = names.get(each.name) or evidence.told(each.name)
            faults.append(f"{where}: got {got}, expected {asked}")
    expected = f"{asked}, which validates" if rules.version == "this" else "one version"
    return judged("version", f"{version}, {_told_number(evidence)}", expected, faults)


def checkout_check(evidence: Evidence, rules: Rules) -> Check:
    """Return whether the finished runs were begun at one commit, with no tracked file changed.

    What suite.json tells of does not count: results rest on the runs. An installed package has no checkout, its version
    tells.
    """
    runs = evidence.finished()
    got = _told_commits(record.origin for _, record in runs)
    if rules.checkout == "any":
        return not_applicable("checkout", got, "any checkout")
    faults = [
        f"{key}: {_told_checkout(run.origin.git)}" for key, run in runs if run.origin.git and run.origin.git.dirty
    ]
    expected = "one commit for all runs, no tracked file changed; else commit, and play all in another folder"
    return judged("checkout", got, expected, [*faults, *_mixed_faults(runs)])


def _mixed_faults(runs: Sequence[tuple[EpisodeKey, RunRecord]]) -> Iterator[str]:
    """Yield each commit, with a run of it, where there are several: nobody can check out two at once."""
    groups: dict[str | None, list[tuple[EpisodeKey, GitState | None]]] = {}
    for key, run in runs:
        groups.setdefault(run.origin.git and run.origin.git.commit, []).append((key, run.origin.git))
    for (key, git), *others in groups.values() if len(groups) > 1 else ():
        told = _told_checkout(git and attrs.evolve(git, dirty=False))
        yield f"{told}: {_told_runs(1 + len(others))}, the first of them {key}"


def _told_number(evidence: Evidence) -> str:
    """Return at how many commits the finished runs were begun; an installed package has none."""
    number = len({run.origin.git.commit for _, run in evidence.finished() if run.origin.git is not None})
    return {0: "no commit", 1: "1 commit"}.get(number, f"{number} commits")


def _told_commits(origins: Iterable[RunOrigin]) -> str:
    counts = counted_commits(origins)
    if len(counts) == 1:
        return _told_checkout(next(iter(counts)))
    return "; ".join(f"{_told_checkout(git)} ({_told_runs(runs)})" for git, runs in counts.items()) or "no finished run"


def _told_runs(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"


def _told_checkout(git: GitState | None) -> str:
    if git is None:
        return "an installed package"
    return f"commit {git.commit[:_SHORT]}{', with changed files' if git.dirty else ''}"
