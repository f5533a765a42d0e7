"""Validation of an evaluation: everything that its records make recomputable is recomputed (docs/validation.md).

Each check has one of three outcomes: "valid" where all of it was recomputed and agrees, "invalid" where something
disagrees, "not checked" where nothing disagrees but part of it cannot be recomputed. A check counts both parts, and
the validation as a whole has the worst outcome of its checks.

A folder may come from anybody: its files are opened by ``files.read_record`` alone, and no code that it names is run
unless the caller trusts it.
"""

from __future__ import annotations

import hashlib
import html
import itertools
import os
import random
import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

import attrs

from ycbench_agents.base import Json, JsonObject, Policy, policy_seed
from ycbench_agents.evaluation.factory import build_policy
from ycbench_agents.evaluation.metrics import (
    METRICS_FILE,
    METRICS_FORMAT,
    Meter,
    MetricsError,
    RunMetrics,
    read_metrics,
)
from ycbench_agents.evaluation.results import (
    RESULTS_FILE,
    SUITE_FILE,
    Episode,
    Evaluation,
    PlannedEpisode,
    planned_episodes,
    read_evaluation,
    results_document,
)
from ycbench_agents.evaluation.suite import LLM, EpisodeKey, Suite, load_suite
from ycbench_agents.files import FileError, parse_json, read_file, read_record, structure, to_json, unstructure
from ycbench_agents.registry import policy_names
from ycbench_agents.runs import Driver, Run, RunError, RunOrigin, RunWarning, TurnRecord, find_run, replay_turn
from ycbench_agents.runs.run import TURNS_FILE, Tally, identity_differences, json_differences, version
from ycbench_agents.scripted.mixture import named_policies
from ycbench_env import ConfigError, MissingExtraError, load_config, preset_names
from ycbench_env.text import printable, shown

__all__ = [
    "PROVENANCE_FILE",
    "Check",
    "Counting",
    "Limits",
    "Outcome",
    "Replay",
    "Rules",
    "SuiteRule",
    "Telemetry",
    "Validation",
    "load_rules",
    "record_digest",
    "validate",
]

Outcome: TypeAlias = Literal["valid", "not checked", "invalid"]

PROVENANCE_FILE: Final = "provenance.json"
"""In the folder of an evaluation in which nothing was found invalid."""

_PROVENANCE_FORMAT: Final = 3
_NEVER_ASKED: Final = frozenset({"human", "replay", LLM})
"""Policies that read files or ask somebody; a language model's own recorded replies are recalled instead."""
_REPORTS: Final = ("report.md", "report.html")
_PICTURE: Final = re.compile(rb"data:image/[a-z+]+;base64,[A-Za-z0-9+/=]*")
_MANY_TO_GUESS: Final = 2**40
_MOST_FILE_BYTES: Final = 256 * 2**20
_MOST_LINES: Final = 10
_SHORT: Final = 12  # digits of a digest, where people compare
_DATED: Final = re.compile(r"-(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})")
_HIDDEN: Final = "details are shown for public seeds only"


# ---------------------------------------------------------------- rules


@attrs.frozen
class SuiteRule:
    """Which suite must have been played."""

    suite: Suite
    policies: Literal["same", "any"] = "same"  # by the suite's own, or by any on its presets and seeds, as often
    digest: str | None = None  # digest that the evaluation's suite must have besides; None for no such pin

    def digest_of(self, suite: Suite) -> str:
        """Return the digest of the fields that must match."""
        if self.policies == "same":
            return suite.digest()
        values = {**suite.to_dict(), "policies": [], "presets": [each.config.digest() for each in suite.presets]}
        decisive = [values[name] for name in ("presets", "seeds", "held_out", "repeats")]
        return _json_digest([*decisive, suite.limits.max_turns])


_AT_LEAST_0: Any = attrs.validators.optional(attrs.validators.ge(0))
_FRACTION: Any = attrs.validators.optional([attrs.validators.ge(0), attrs.validators.le(1)])


@attrs.frozen
class Replay:
    """Which records are played again."""

    runs: int | None = attrs.field(default=None, validator=_AT_LEAST_0)  # how many, drawn at random; None for all
    seed: int = 1  # seed of the draw
    policies: bool = True  # whether policies are asked again, and recorded replies recalled


@attrs.frozen
class Limits:
    """Limits, as fractions from 0 to 1."""

    failed: float = attrs.field(default=0.0, validator=_FRACTION)  # failed episodes among the planned ones
    missing: float = attrs.field(default=0.0, validator=_FRACTION)  # episodes that were not played, likewise
    invalid_commands: float | None = attrs.field(default=None, validator=_FRACTION)  # of a policy; None for no limit


@attrs.frozen
class Telemetry:
    """Whether tokens and cost of every turn of a language model must be known."""

    tokens: bool = False
    cost: bool = False


@attrs.frozen
class _RulesTable:
    """The keys of a file of rules but the suite."""

    name: str
    description: str = "no description"
    version: Literal["this", "one"] = "this"  # the version that validates, or any one version
    presets: Literal["named", "any"] = "named"  # whether a configuration must be the preset that it is called after
    runs: Literal["planned", "any"] = "planned"  # whether only runs of planned episodes may be there
    checkout: Literal["any", "clean"] = "any"  # clean: all runs are of one commit, with no tracked file changed
    replay: Replay = attrs.field(factory=Replay)
    limits: Limits = attrs.field(factory=Limits)
    telemetry: Telemetry = attrs.field(factory=Telemetry)


@attrs.frozen
class Rules(_RulesTable):
    """Rules of a valid evaluation; docs/validation.md has the values of each key."""

    suite: SuiteRule | None = None  # which suite must have been played; None for any

    def digest(self) -> str:
        """Return the SHA-256, as hex, of the fields that decide what is valid; name and description do not count."""
        values = {field.name: getattr(self, field.name) for field in attrs.fields(_RulesTable)}
        rule = self.suite
        suite = None if rule is None else [rule.digest_of(rule.suite), rule.policies, rule.digest]
        decisive = {name: unstructure(value) for name, value in values.items() if name not in {"name", "description"}}
        return _json_digest({**decisive, "suite": suite})


def load_rules(path: Path, environ: Mapping[str, str] = os.environ) -> Rules:
    """Return the rules in a TOML file.

    The suite that they name is resolved without settings from options or the environment, whose only part in it are
    the secret seeds of a held-out suite.

    Args:
        path: The file.
        environ: Environment variables.

    Raises:
        FileError: It cannot be read or is not valid; the message names file, key and value.
        SuiteError: Its suite is not valid.
        ConfigError: A configuration of its suite cannot be used.
    """
    data = read_file(path)
    try:
        values: dict[str, Any] = tomllib.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        msg = f"{path}: not valid TOML ({error}), expected the file of rules"
        raise FileError(msg) from None
    replay = values.get("replay")
    if isinstance(replay, dict) and cast("dict[str, Any]", replay).get("runs") == "all":
        values["replay"] = {key: value for key, value in cast("dict[str, Any]", replay).items() if key != "runs"}
    suite = values.pop("suite", None)
    table = structure(values, _RulesTable, path)
    fields = {field.name: getattr(table, field.name) for field in attrs.fields(_RulesTable)}
    return Rules(**fields, suite=None if suite is None else _suite_rule(suite, path, environ))


@attrs.frozen
class _SuiteTable:
    file: str
    policies: Literal["same", "any"] = "same"
    digest: str | None = None


def _suite_rule(values: Json, path: Path, environ: Mapping[str, str]) -> SuiteRule:
    table = structure(values, _SuiteTable, f"{path}: suite")
    if table.digest is not None and not re.fullmatch(r"[0-9a-f]{64}", table.digest):
        msg = f"{path}: suite.digest: got {shown(table.digest)}, expected 64 hexadecimal digits, as in suite.json"
        raise FileError(msg)
    return SuiteRule(load_suite(path.parent / table.file, environ=environ), table.policies, table.digest)


# ---------------------------------------------------------------- outcomes


@attrs.define
class Check:
    """The outcome of one check."""

    rule: str  # name of the check
    of: str  # kind of things that are counted
    expected: str  # what the rules ask for, and how to put it right
    _got: str = ""  # what there is; by default how many things were checked
    checked: int = 0  # how many things were recomputed
    unchecked: int = 0  # how many could not be
    faults: list[str] = attrs.field(factory=list[str])  # each place that disagrees, one line each
    remarks: list[str] = attrs.field(factory=list[str])  # why something was not checked, one line each

    @property
    def outcome(self) -> Outcome:
        """Whether something disagrees, or could not be checked."""
        return "invalid" if self.faults else "not checked" if self.unchecked else "valid"

    @property
    def got(self) -> str:
        """What there is."""
        return self._got or f"{self.checked} of {self.checked + self.unchecked} {self.of} checked"

    @property
    def where(self) -> tuple[str, ...]:
        """Printable lines: the faults, or why something was not checked."""
        return tuple(printable(line) for line in self.faults or (self.remarks if self.unchecked else ()))

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {
            "rule": self.rule,
            "outcome": self.outcome,
            "checked": self.checked,
            "unchecked": self.unchecked,
            "of": self.of,
            "got": self.got,
            "expected": self.expected,
            "where": [*self.where],
        }


@attrs.frozen
class Validation:
    """The outcome of a validation."""

    folder: Path  # folder of the evaluation
    rules: Rules  # the rules
    checks: tuple[Check, ...]  # the outcome of each check
    provenance: JsonObject | None = attrs.field(repr=False)  # digests of the evaluation; None where it cannot be read

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the checks."""
        outcomes = {check.outcome for check in self.checks}
        order: tuple[Outcome, ...] = ("invalid", "not checked", "valid")
        return next(outcome for outcome in order if outcome in outcomes)

    def to_dict(self) -> JsonObject:
        """Return it as JSON values, the same wherever the folder lies."""
        return {
            "rules": self.rules.name,
            "rules_digest": self.rules.digest(),
            "outcome": self.outcome,
            "checks": [check.to_dict() for check in self.checks],
            "provenance": None if self.outcome == "invalid" else self.provenance,
        }


class Counting(Protocol):
    """Progress callbacks for runs that are played again."""

    def begin(self, total: int, /) -> None:
        """Start, with the number of runs."""
        ...

    def step(self, name: str, /) -> None:
        """Start one of them."""
        ...


# ---------------------------------------------------------------- digests


def _json_digest(value: Any) -> str:  # noqa: ANN401 -- any JSON value
    """Return the SHA-256, as hex, of a JSON value; the order of keys does not count."""
    return hashlib.sha256(to_json(value, sort_keys=True).encode("ascii")).hexdigest()


class _RecordDigest:
    """The digest of a run whose turns are handed over one by one."""

    def __init__(self, run: Run) -> None:
        identity: JsonObject = {
            field.name: getattr(run.identity, field.name) for field in attrs.fields(type(run.identity))
        }
        config = run.identity.config
        identity["config"] = {key: value for key, value in config.items() if key not in {"name", "description"}}
        self._hash = hashlib.sha256()
        self._add(identity)
        self._add(unstructure(attrs.evolve(run.outcome, ended=None)))

    def add(self, turn: TurnRecord) -> None:
        fields: JsonObject = {field.name: getattr(turn, field.name) for field in attrs.fields(TurnRecord)}
        del fields["transport"], fields["time"]
        self._add(fields)

    def hex(self) -> str:
        return self._hash.hexdigest()

    def _add(self, value: JsonObject) -> None:
        self._hash.update(f"{to_json(value, sort_keys=True)}\n".encode("ascii"))


def record_digest(run: Run) -> str:
    """Return the SHA-256, as hex, over identity, outcome and turns of a run, without times, transport and origin.

    Two runs have equal digests exactly where ``same_run`` finds no difference.

    Raises:
        RunError: The record is damaged.
    """
    digest = _RecordDigest(run)
    for turn in run.turns():
        digest.add(turn)
    return digest.hex()


# ---------------------------------------------------------------- one pass over a run


@attrs.define
class _Pass:
    """What one pass over a finished run found."""

    key: EpisodeKey  # its episode
    run: Run  # the run
    replayed: bool  # whether it was played again
    not_asked: str = ""  # why its policy was not asked again; empty where it was
    faults: dict[str, list[str]] = attrs.field(factory=dict[str, list[str]])  # faults by check
    digest: str | None = None  # digest of the record; None where it cannot be read to its end
    turns_digest: str = ""  # SHA-256 of the turns, times included
    metrics: RunMetrics | None = None  # metrics as they are measured now; None where it was not played again or differs
    turns: int = 0  # turns that were read
    models: Counter[str] = attrs.field(factory=Counter[str])  # how many replies name a model, by model; "" is none

    def fault(self, rule: str, line: str) -> None:
        lines = self.faults.setdefault(rule, [])
        if len(lines) < _MOST_LINES:
            lines.append(line)


def _examine(key: EpisodeKey, run: Run, replay: Replay, *, drawn: bool, trust_policies: bool) -> _Pass:
    """Read a run from end to end, once, and play it again on the way if it was drawn; its sums are always checked."""
    found = _Pass(key, run, replayed=drawn)
    policy = _policy_to_ask(found, replay, trust_policies=trust_policies)
    try:
        driver = Driver.of_run(run)
        meter = Meter(run, hashes=False) if drawn else None
        if policy is not None:
            policy.reset(policy_seed(run.identity.seed))
        tally, digest, every_byte = Tally(driver.initial_funds_cents), _RecordDigest(run), hashlib.sha256()
        for turn in run.turns():
            every_byte.update(turn.to_line())
            digest.add(turn)
            _check_sums(found, turn, tally.funds_cents)
            tally.add(turn)
            reply = (turn.trace or {}).get("reply")
            if isinstance(reply, dict):
                found.models[str(reply.get("model") or "")] += 1
            if meter is not None:
                policy = _replay(found, driver, turn, policy)
                meter.add(turn)
        found.turns = tally.turns
        _check_outcome(found, tally, driver if drawn else None)
        found.digest, found.turns_digest = digest.hex(), every_byte.hexdigest()
        found.metrics = None if meter is None else meter.metrics()
    except (ConfigError, RunError, MetricsError) as error:
        found.fault("records", str(error))
    return found


def _check_sums(found: _Pass, turn: TurnRecord, funds_cents: int) -> None:
    """Check that reward, change and funds of a turn agree to the cent."""
    for name, got, expected in (
        ("reward in cents", round(turn.reward * 100), turn.funds_delta_cents),
        ("funds_cents", turn.funds_cents, funds_cents + turn.funds_delta_cents),
    ):
        if got != expected:
            found.fault("records", f"turn {turn.turn}: {name}: got {got}, expected {expected}")


def _check_outcome(found: _Pass, tally: Tally, driver: Driver | None) -> None:
    """Check that run.json has the outcome of the turns."""
    outcome = found.run.outcome
    counted = tally.outcome(outcome.status, outcome.ended or "", outcome.reason)
    for line in json_differences(unstructure(outcome), unstructure(counted), "run.json: outcome"):
        found.fault("records", f"{line} (recorded | from the turns)")
    if driver is not None and not driver.is_over and tally.turns != found.run.identity.max_turns:
        found.fault("records", f"run.json: it is finished, but the episode goes on after turn {tally.turns}")


def _replay(found: _Pass, driver: Driver, turn: TurnRecord, policy: Policy | None) -> Policy | None:
    """Play a turn again; return the policy, None after its first turn that differs."""
    own = _rule_of_policy(found.run)
    try:
        lines = replay_turn(driver, turn, policy)
    except Exception as error:
        if policy is None:
            raise
        found.fault(own, f"turn {turn.turn}: asking again failed: {type(error).__name__}: {error}")
        lines, policy = replay_turn(driver, turn), None
    for line in lines:
        of_policy = line.startswith(("action", "trace"))
        found.fault(own if of_policy else "records", f"turn {turn.turn}: {line} (recorded | now)")
        policy = None if of_policy else policy
    return policy


def _rule_of_policy(run: Run) -> str:
    return "replies" if run.identity.policy == LLM else "policies"


def _policy_to_ask(found: _Pass, replay: Replay, *, trust_policies: bool) -> Policy | None:
    """Return a policy like the one that played a run; None, and why in ``not_asked``, where it is not asked again."""
    run = found.run
    name, parameters = run.identity.policy, run.identity.settings.get("parameters", {})
    inner = named_policies(parameters) if isinstance(parameters, dict) else ()
    asking = sorted(_NEVER_ASKED.intersection((name, *inner)))
    foreign = sorted({each for each in (name, *inner) if each not in policy_names()})
    if not found.replayed:
        found.not_asked = "it was not drawn"
    elif not replay.policies:
        found.not_asked = "the rules do not ask policies"
    elif asking and name != LLM:
        found.not_asked = f"{', '.join(asking)} would ask somebody or read a file"
    elif foreign and not trust_policies:
        found.not_asked = f"{', '.join(foreign)} is code from elsewhere; --trust-policies runs it"
    else:
        try:
            run.config()  # refuses one that would open other files
            return build_policy(run.identity)
        except Exception as error:  # noqa: BLE001 -- recorded parameters may be anything
            found.not_asked = f"its policy cannot be made again: {type(error).__name__}: {error}"
            found.fault(_rule_of_policy(run), found.not_asked)
    return None


# ---------------------------------------------------------------- validating


@attrs.frozen
class _Evidence:
    """What the checks look at: the evaluation, planned episodes and folders of runs by name, and the passes.

    A folder is the run in it, or why it cannot be read; a planned episode is there where its seed is known.
    """

    evaluation: Evaluation
    rules: Rules
    planned: Mapping[str, PlannedEpisode]
    folders: Mapping[str, Run | str]
    passes: tuple[_Pass, ...]

    def detail(self, text: object) -> str:
        """Return a detail; of a held-out evaluation nothing, because it may tell of a world or name a seed."""
        return _HIDDEN if self.evaluation.suite.is_held_out else str(text)

    def lines(self, rule: str) -> list[str]:
        """Return what the passes found for a check."""
        return [f"{found.key}: {self.detail(line)}" for found in self.passes for line in found.faults.get(rule, ())]


def validate(
    folder: Path | str, rules: Rules, *, trust_policies: bool = False, progress: Counting | None = None
) -> Validation:
    """Return the outcome of every check; nothing is written.

    Args:
        folder: Folder of an evaluation with its runs, as ``ycbench evaluate`` left it.
        rules: The rules.
        trust_policies: Whether policies of other packages (``module:Class``) are asked again, which runs their code.
        progress: Progress callbacks.

    Raises:
        RunError: There is no suite.json, so it is no evaluation at all.
    """
    folder = Path(folder)
    if not (folder / SUITE_FILE).exists():
        msg = f"{folder}: there is no {SUITE_FILE}; expected the folder that ycbench evaluate wrote"
        raise RunError(msg)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)  # lost turns are among what is checked
        try:
            evaluation = read_evaluation(folder)
            digest = _stored_json(folder / SUITE_FILE).get("digest")
        except (RunError, ValueError) as error:  # ValueError: files that do not fit together
            check = Check("readable", "evaluations", "readable files", "damaged files", unchecked=1)
            check.faults.append(f"{type(error).__name__}: {error}")
            return Validation(folder, rules, (check,), None)
        evidence = _gather(evaluation, rules, progress, trust_policies=trust_policies)
        provenance = _provenance(evidence)
        checks = [_check_suite(evidence, digest), *(check(evidence) for check in _CHECKS)]
        checks.append(_check_provenance(evidence, provenance))
        return Validation(folder, rules, tuple(check for check in checks if check is not None), provenance)


def _stored_json(path: Path) -> JsonObject:
    """Return the object in a file.

    Raises:
        FileError: It cannot be read, or holds something else.
    """
    try:
        value = parse_json(read_record(path, _MOST_FILE_BYTES), path.name)
    except FileNotFoundError:
        msg = f"{path.name}: there is no such file"
        raise FileError(msg) from None
    if not isinstance(value, dict):
        msg = f"{path.name}: expected an object"
        raise FileError(msg)
    return value


def _gather(evaluation: Evaluation, rules: Rules, progress: Counting | None, *, trust_policies: bool) -> _Evidence:
    """Read every run once, and play those again that the rules name."""
    folders: dict[str, Run | str] = {}
    for path in sorted(evaluation.folder.glob("run-*")):
        try:
            run = None if path.is_symlink() else find_run(path)
            folders[path.name] = run or "there is no run in it"
        except RunError as error:
            folders[path.name] = str(error)
    finished = _finished(evaluation)
    drawn = {key for key, _ in finished}
    if rules.replay.runs is not None and rules.replay.runs < len(finished):
        drawn = {key for key, _ in random.Random(rules.replay.seed).sample(finished, rules.replay.runs)}  # noqa: S311 -- no secret
    if progress is not None:
        progress.begin(len(drawn))
    passes: list[_Pass] = []
    for key, run in finished:
        if progress is not None and key in drawn:
            progress.step(str(key))
        passes.append(_examine(key, run, rules.replay, drawn=key in drawn, trust_policies=trust_policies))
    planned = planned_episodes(evaluation.suite, evaluation.players, evaluation.version)
    return _Evidence(evaluation, rules, {each.folder_name: each for each in planned}, folders, tuple(passes))


def _finished(evaluation: Evaluation) -> list[tuple[EpisodeKey, Run]]:
    return [(each.key, each.run) for each in evaluation.episodes if each.status == "finished" and each.run is not None]


# ---------------------------------------------------------------- checks of the plan


def _check_suite(evidence: _Evidence, stored_digest: Json) -> Check:
    suite, rule = evidence.evaluation.suite, evidence.rules.suite
    digest = suite.digest()
    expected = "any suite"
    if rule is not None:
        who = "its policies" if rule.policies == "same" else "any policies"
        expected = f"{rule.suite.name} with {who} ({rule.digest_of(rule.suite)[:_SHORT]})"
    check = Check("suite", "suites", expected, f"{suite.name} {digest[:_SHORT]}", checked=1)
    if stored_digest != digest:
        check.faults.append(f"suite.json: digest: got {shown(stored_digest)}, expected {digest}; the file was changed")
    if rule is not None:
        got, asked = rule.digest_of(suite), rule.digest_of(rule.suite)
        if got != asked:
            check.faults.append(f"suite.json: got the digest {got}, expected {asked}")
        if rule.digest is not None and digest != rule.digest:
            check.faults.append(f"suite.json: got the digest {digest}, expected {rule.digest}, which the rules name")
    return check


def _check_seeds(evidence: _Evidence) -> Check | None:
    rule, suite = evidence.rules.suite, evidence.evaluation.suite
    if rule is None:
        return None
    asked = rule.suite
    expected = f"{len(asked.seeds)} seeds, {asked.repeats} repeats, as {asked.name} has them"
    got = f"{len(suite.seeds)} seeds, {suite.repeats} repeats"
    check = Check("seeds", "seeds", expected, got, checked=len(suite.seeds))
    check.faults += [f"seed {seed} is missing" for seed in asked.seeds if seed not in suite.seeds]
    check.faults += [f"seed {seed} is none of the suite" for seed in suite.seeds if seed not in asked.seeds]
    if suite.repeats != asked.repeats:
        check.faults.append(f"repeats: got {suite.repeats}, expected {asked.repeats}")
    known = [name for name in suite.seeds if suite.seed_of(name) is not None]
    if asked.is_held_out and not asked.secret_seeds:
        check.unchecked, check.checked = len(suite.seeds), 0
        check.remarks.append(f"the seeds are not in {asked.held_out}, so nobody can compare them")
    elif asked.is_held_out and [suite.seed_of(name) for name in known] != list(asked.secret_seeds):
        check.faults.append("seeds.json: the seeds are not those of the rules")
    return check


def _check_presets(evidence: _Evidence) -> Check | None:
    presets = evidence.evaluation.suite.presets
    if evidence.rules.presets == "any":
        return None
    got = ", ".join(f"{preset.label} {preset.config.digest()[:_SHORT]}" for preset in presets)
    check = Check("presets", "presets", "presets of this version, as they are", got, checked=len(presets))
    for preset in presets:
        if preset.label not in preset_names():
            check.faults.append(f"{preset.label}: is no preset; expected one of {', '.join(preset_names())}")
        elif (digest := load_config(preset.label, environ={}).digest()) != preset.config.digest():
            got = f"{preset.label}: got the digest {preset.config.digest()}, expected {digest}; settings were changed"
            check.faults.append(got)
    return check


def _check_version(evidence: _Evidence) -> Check:
    is_this = evidence.rules.version == "this"
    asked = version() if is_this else evidence.evaluation.version
    commits = {run.origin.git.commit for _, run in _finished(evidence.evaluation) if run.origin.git is not None}
    check = Check(
        "version",
        "runs",
        f"{asked}, which validates" if is_this else "one version",
        f"{evidence.evaluation.version}, {len(commits)} commits",
        checked=len(evidence.folders),
    )
    if evidence.evaluation.version != asked:
        check.faults.append(f"suite.json: got {shown(evidence.evaluation.version)}, expected {asked}")
    for name, run in evidence.folders.items():
        planned = evidence.planned.get(name)
        counts = planned is not None or evidence.rules.runs == "planned"
        if isinstance(run, Run) and run.identity.version != asked and counts:
            where = str(planned.key) if planned is not None else evidence.detail(name)
            check.faults.append(f"{where}: got {shown(run.identity.version)}, expected {asked}")
    return check


def _check_checkout(evidence: _Evidence) -> Check | None:
    """Check where the finished runs were begun; an installed package has no checkout, its version tells."""
    if evidence.rules.checkout == "any":
        return None
    finished = _finished(evidence.evaluation)
    commits = Counter(None if run.origin.git is None else run.origin.git.commit for _, run in finished)
    names = {
        commit: "an installed package" if commit is None else f"commit {shown(commit[:_SHORT])}" for commit in commits
    }
    got = "; ".join(f"{names[commit]} ({count} runs)" for commit, count in commits.items()) or "no finished run"
    expected = "all runs state one commit, no tracked file changed; else commit, and play all in another folder"
    check = Check("checkout", "statements", expected, got, checked=len(finished))
    check.faults += [
        f"{key}: begun with changed files"
        for key, run in finished
        if run.origin.git is not None and run.origin.git.dirty
    ]
    if len(commits) > 1:
        check.faults.append(got)
    return check


# ---------------------------------------------------------------- checks of the runs


def _check_episodes(evidence: _Evidence) -> Check:
    episodes, limits = evidence.evaluation.episodes, evidence.rules.limits
    counts = Counter(each.status for each in episodes)
    check = Check(
        "episodes",
        "episodes",
        f"at most {limits.failed:.4%} failed and {limits.missing:.4%} missing",
        f"{counts['finished']} of {len(episodes)} finished, {counts['failed']} failed, {counts['missing']} missing",
        checked=counts["finished"],
        unchecked=counts["failed"],
    )
    for status, limit in (("failed", limits.failed), ("missing", limits.missing)):
        those = [each for each in episodes if each.status == status]
        lines = [f"{each.key}: {status}{_reason(evidence, each)}" for each in those]
        if len(those) > limit * len(episodes):
            check.faults += lines
        elif status == "failed":
            check.remarks += lines
    return check


def _reason(evidence: _Evidence, episode: Episode) -> str:
    return "" if episode.reason is None else f": {evidence.detail(episode.reason)}"


def _check_runs(evidence: _Evidence) -> Check:
    only_planned = evidence.rules.runs == "planned"
    beside = [name for name in evidence.folders if name not in evidence.planned]
    check = Check(
        "runs",
        "folders",
        "each run in the folder of its episode" + (", nothing else" if only_planned else ""),
        f"{len(evidence.folders)} folders, {len(beside)} of no episode",
        checked=len(evidence.folders),
    )
    for name, planned in evidence.planned.items():
        run = evidence.folders.get(name)
        if isinstance(run, Run):
            lines = identity_differences(run.identity, planned.identity)[:_MOST_LINES]
            check.faults += [
                f"{planned.key}: run.json: {evidence.detail(f'{line} (recorded | planned)')}" for line in lines
            ]
        elif run is not None:
            check.faults.append(f"{planned.key}: {evidence.detail(run)}")
    if only_planned:
        check.faults += [
            f"{evidence.detail(name)}: the folder belongs to no planned episode; remove it" for name in beside
        ]
    return check


def _check_copies(evidence: _Evidence) -> Check:
    groups: dict[str, list[str]] = {}
    for found in evidence.passes:
        if found.turns:
            groups.setdefault(found.turns_digest, []).append(str(found.key))
    copies = [f"{'; '.join(keys)}: the same {TURNS_FILE}" for keys in groups.values() if len(keys) > 1]
    expected = "each run played by itself, so that times differ"
    return Check("copies", "runs", expected, checked=len(evidence.passes), faults=copies)


def _check_records(evidence: _Evidence) -> Check:
    check = Check("records", "runs", "every line as it is played again, sums to the cent, outcomes of the turns")
    check.checked = sum(found.replayed for found in evidence.passes)
    check.unchecked = len(evidence.passes) - check.checked
    check.faults = evidence.lines("records")
    check.remarks = [f"{check.unchecked} runs were only added up, as the rules have it"]
    return check


def _check_policies(evidence: _Evidence) -> Check | None:
    """Check that policies give the same turns again; ``_check_replies`` does so for language models."""
    passes = [found for found in evidence.passes if found.run.identity.policy != LLM]
    if not passes:
        return None
    check = Check("policies", "runs", "the same turns when the policies are asked again")
    check.unchecked = sum(bool(found.not_asked) for found in passes)
    check.checked = len(passes) - check.unchecked
    check.faults = evidence.lines("policies")
    reasons = Counter(f"{found.key.policy}: {found.not_asked}" for found in passes if found.not_asked)
    check.remarks = [f"{reason} ({count} runs)" for reason, count in reasons.items()]
    return check


def _check_replies(evidence: _Evidence) -> Check | None:
    """Check everything that follows from the recorded replies of language models."""
    passes = [found for found in evidence.passes if found.run.identity.policy == LLM]
    if not passes:
        return None
    expected = "prompt, turn, tokens and cost that follow from the recorded replies, the settings and the price"
    check = Check("replies", "turns", expected)
    check.unchecked = sum(found.turns for found in passes if found.not_asked)
    check.checked = sum(found.turns for found in passes) - check.unchecked
    check.faults = evidence.lines("replies")
    check.remarks = sorted({f"{found.key.policy}: {found.not_asked}" for found in passes if found.not_asked})
    for found in passes:
        if len(found.models) > 1:
            names = ", ".join(f"{shown(name)} ({turns} turns)" for name, turns in found.models.items())
            check.faults.append(f"{found.key}: its replies name several models: {names}")
    return check


def _check_models(evidence: _Evidence) -> Check | None:
    """Count the statements about language models that no record can prove."""
    check = Check("models", "replies", "replies of the named model, with the tokens that its server counted")
    check.unchecked = sum(found.models.total() for found in evidence.passes)
    if not check.unchecked:
        return None
    check.remarks = ["replies are not signed: their text, model and counted tokens, and the price, are as stated"]
    for found in evidence.passes:
        asked = found.run.identity.model or ""
        others = [name for name in found.models if name != asked and not _DATED.fullmatch(name.removeprefix(asked))]
        check.remarks += [f"{found.key}: asked for {shown(asked)}, the replies name {shown(name)}" for name in others]
    return check


def _check_metrics(evidence: _Evidence) -> Check:
    check = Check("metrics", "runs", f"{METRICS_FILE} as it is measured again; ycbench evaluate writes it")
    check.remarks = ["runs that are not played again are not measured again"]
    for found in evidence.passes:
        stored = read_metrics(found.run.folder)
        if stored is None:
            check.faults.append(f"{found.key}: no {METRICS_FILE} of this version and of these turns")
        elif found.metrics is None:
            check.unchecked += 1
        else:
            check.checked += 1
            lines = [*json_differences(unstructure(stored), unstructure(found.metrics))][:_MOST_LINES]
            check.faults += [
                f"{found.key}: {METRICS_FILE}: {evidence.detail(f'{line} (stored | measured)')}" for line in lines
            ]
    return check


def _check_invalid_commands(evidence: _Evidence) -> Check | None:
    limit = evidence.rules.limits.invalid_commands
    if limit is None:
        return None
    invalid: Counter[str] = Counter()
    given: Counter[str] = Counter()
    check = Check("invalid_commands", "runs", f"at most {limit:.2%} of a policy's commands")
    for found in evidence.passes:
        metrics = found.metrics or read_metrics(found.run.folder)
        check.checked += found.metrics is not None
        check.unchecked += found.metrics is None
        if metrics is not None:
            invalid[found.key.policy] += metrics.invalid_commands
            given[found.key.policy] += metrics.invalid_commands + metrics.commands
    check.remarks = ["runs that are not played again count as their metrics say"]
    check.faults = [
        f"{policy}: {invalid[policy]} of {total} commands ({invalid[policy] / total:.2%})"
        for policy, total in given.items()
        if total and invalid[policy] > limit * total
    ]
    return check


def _check_telemetry(evidence: _Evidence) -> Check | None:
    asked = [name for name in ("tokens", "cost") if getattr(evidence.rules.telemetry, name)]
    passes = [found for found in evidence.passes if found.run.identity.model is not None]
    if not asked or not passes:
        return None
    check = Check("telemetry", "runs", f"{' and '.join(asked)} of every turn", checked=len(passes))
    for found in passes:
        metrics = found.metrics or read_metrics(found.run.folder)
        unknown = {} if metrics is None else {"tokens": metrics.unknown_token_turns, "cost": metrics.unknown_cost_turns}
        check.faults += [
            f"{found.key}: {name} of {unknown.get(name, found.turns)} turns unknown"
            for name in asked
            if unknown.get(name, 1)
        ]
    return check


# ---------------------------------------------------------------- checks of what is published


def _check_results(evidence: _Evidence) -> Check:
    check = Check("results", "files", "the results of the records; ycbench evaluate writes them", checked=1)
    try:
        stored = _stored_json(evidence.evaluation.folder / RESULTS_FILE)
    except FileError as error:
        check.faults.append(str(error))
        return check
    lines = [*json_differences(stored, results_document(evidence.evaluation))][:_MOST_LINES]
    check.faults = [f"{RESULTS_FILE}: {line} (stored | from the records)" for line in lines]
    return check


def _check_report(evidence: _Evidence) -> Check | None:
    """Check the report in the folder, if there is one, against one that is rendered from the records now."""
    evaluation = evidence.evaluation
    figures = sorted(path.relative_to(evaluation.folder).as_posix() for path in evaluation.folder.glob("figures/*"))
    check = Check("report", "files", "the report of the records; ycbench report writes it")
    stored: dict[str, bytes] = {}
    for name in (*_REPORTS, *figures):
        try:
            stored[name] = read_record(evaluation.folder / name, _MOST_FILE_BYTES)
        except FileNotFoundError:
            continue
        except FileError as error:
            check.faults.append(evidence.detail(error))
    if not stored:
        return check if check.faults else None
    try:
        rendered = _rendered_report(evaluation, stored)
    except MissingExtraError as error:
        check.unchecked = len(stored)
        check.remarks = [str(error)]
        return check
    for name, data in stored.items():
        now = rendered.get(name)
        if data == now:
            check.checked += 1
        elif now is not None and name in _REPORTS and _text_of(data) != _text_of(now):
            check.faults.append(f"{name}: {evidence.detail(_first_difference(_text_of(data), _text_of(now)))}")
        else:
            check.unchecked += 1
            check.remarks.append(f"{name}: its figures differ from those that this version of matplotlib draws")
    return check


def _rendered_report(evaluation: Evaluation, stored: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Return the files of a report with the options of a stored one, as its headings show them."""
    from ycbench_agents.evaluation.report import render_report  # noqa: PLC0415 -- of an extra, slow to import

    text = html.unescape(b"".join(stored.get(name, b"") for name in _REPORTS).decode("utf-8", "replace"))
    labels = [policy.label for policy in evaluation.suite.policies]
    named = [label for label in labels if f"Against {printable(label)}" in text.replace("\\", "")]
    options = {"published": "Published results" in text, "png": any(name.endswith(".png") for name in stored)}
    rendered: Mapping[str, bytes] = {}
    for baseline in named[:3] or [None]:  # of labels that begin with another one all are found
        rendered = render_report(evaluation, baseline=baseline, **options)
        if all(_text_of(rendered[name]) == _text_of(stored[name]) for name in _REPORTS if name in stored):
            break
    return rendered


def _text_of(report: bytes) -> bytes:
    """Return a report without the figures that it holds."""
    return _PICTURE.sub(b"", report)


def _first_difference(stored: bytes, rendered: bytes) -> str:
    pairs = itertools.zip_longest(stored.splitlines(), rendered.splitlines(), fillvalue=b"")
    number, (one, other) = next((place, pair) for place, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"line {number}: {shown(one)} | {shown(other)} (stored | from the records)"


def _check_held_out(evidence: _Evidence) -> Check | None:
    """Check that no secret seed can be read in, or guessed from, a file that may be published."""
    evaluation = evidence.evaluation
    if not evaluation.suite.is_held_out:
        return None
    seeds = sorted({each.identity.seed for each in evidence.planned.values()})
    check = Check("held_out", "files", "no secret seed in a file that may be published, and none that can be guessed")
    for name in (RESULTS_FILE, PROVENANCE_FILE, *_REPORTS):
        try:
            data = read_record(evaluation.folder / name, _MOST_FILE_BYTES)
        except FileNotFoundError:
            continue
        except FileError as error:
            check.faults.append(str(error))
            continue
        check.checked += 1
        if any(re.search(rb"(?<![0-9])%d(?![0-9])" % seed, data) for seed in seeds):
            check.faults.append(f"{name}: names a secret seed")
    if small := sum(seed < _MANY_TO_GUESS for seed in seeds):
        check.faults.append(f"{small} seeds are below 2^40, so that playing finds them; draw larger ones")
    return check


_CHECKS: Final[tuple[Callable[[_Evidence], Check | None], ...]] = (
    _check_seeds,
    _check_presets,
    _check_version,
    _check_checkout,
    _check_episodes,
    _check_runs,
    _check_copies,
    _check_records,
    _check_policies,
    _check_replies,
    _check_models,
    _check_metrics,
    _check_invalid_commands,
    _check_telemetry,
    _check_results,
    _check_report,
    _check_held_out,
)


# ---------------------------------------------------------------- provenance.json


def _provenance(evidence: _Evidence) -> JsonObject:
    """Return the digests of the evaluation; they hold no time, and no secret seed."""
    evaluation, rules = evidence.evaluation, evidence.rules
    configs: JsonObject = {preset.label: preset.config.digest() for preset in evaluation.suite.presets}
    records: list[Json] = [
        {**attrs.asdict(found.key), "digest": found.digest} for found in evidence.passes if found.digest is not None
    ]
    return {
        "format": _PROVENANCE_FORMAT,
        "rules": rules.name,
        "rules_digest": rules.digest(),
        "suite": evaluation.suite.name,
        "suite_digest": evaluation.suite.digest(),
        "version": evaluation.version,
        "metrics_format": METRICS_FORMAT,
        "origins": _origins(run.origin for _, run in _finished(evaluation)),
        "config_digests": configs,
        "results_digest": _json_digest(results_document(evaluation)),
        "records": records,
    }


def _origins(origins: Iterable[RunOrigin]) -> list[Json]:
    """Return where the finished runs were begun, each place once with how many were."""
    places = [to_json({k: v for k, v in unstructure(origin).items() if k != "started"}) for origin in origins]
    return [
        {**cast("JsonObject", parse_json(place, "origin")), "runs": count} for place, count in Counter(places).items()
    ]


def _check_provenance(evidence: _Evidence, now: JsonObject) -> Check | None:
    """Check the digests that are there, if any; under which rules they were made is free."""
    path = evidence.evaluation.folder / PROVENANCE_FILE
    if not os.path.lexists(path):
        return None
    check = Check("provenance", "files", "digests of the records; remove it where they were changed on purpose")
    check.checked = 1
    try:
        stored = _stored_json(path)
    except FileError as error:
        check.faults.append(str(error))
        return check
    if stored.get("format") != _PROVENANCE_FORMAT:
        got = shown(stored.get("format"))
        check.faults.append(
            f"{path.name}: got format {got}, expected {_PROVENANCE_FORMAT}; remove it and validate again"
        )
        return check
    stored = {**stored, **{name: now[name] for name in ("rules", "rules_digest")}}
    lines = [*json_differences(stored, now)][:_MOST_LINES]
    check.faults = [f"{path.name}: {line} (stored | from the records)" for line in lines]
    return check
