"""Validation of an evaluation: everything that its records make recomputable is recomputed (docs/validation.md).

A folder may come from anybody: its files are opened by ``files.read_record`` alone, and no code that it names is run
unless the caller trusts it.
"""

from __future__ import annotations

import hashlib
import html
import itertools
import os
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import attrs

from ycbench_agents.base import Policy, policy_seed
from ycbench_agents.evaluation.factory import build_policy, parameters_of
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
    Evaluation,
    read_evaluation,
    results_document,
    run_folder,
)
from ycbench_agents.evaluation.suite import LLM, EpisodeKey, Suite, load_suite
from ycbench_agents.files import FileError, parse_json, read_record, read_toml, structure, to_json, unstructure
from ycbench_agents.registry import policy_names
from ycbench_agents.runs import (
    Driver,
    Run,
    RunError,
    RunIdentity,
    RunOutcome,
    RunWarning,
    TurnRecord,
    find_run,
    replay_turn,
)
from ycbench_agents.runs.replay import outcome_differences
from ycbench_agents.runs.run import TURNS_FILE, Tally, json_differences, version
from ycbench_agents.scripted.mixture import named_policies
from ycbench_env import ConfigError, load_config, preset_names
from ycbench_env.text import Json, JsonObject, printable, shown

Outcome: TypeAlias = Literal["valid", "not checked", "invalid"]
Track: TypeAlias = Callable[[Sequence[Any]], Iterable[Any]]
"""Yields the items of a sequence, such as ``rich.progress.track``."""

PROVENANCE_FILE: Final = "provenance.json"
"""In the folder of an evaluation in which nothing was found invalid."""

_PROVENANCE_FORMAT: Final = 3
_NEVER_ASKED: Final = frozenset({"replay", LLM})
"""Policies that read files or ask somebody; a language model's own recorded replies are recalled instead."""
_REPORTS: Final = ("report.md", "report.html")
_PICTURE: Final = re.compile(rb"data:image/[a-z+]+;base64,[A-Za-z0-9+/=]*")
_MANY_TO_GUESS: Final = 2**40
_MOST_FILE_BYTES: Final = 256 * 2**20
_MOST_LINES: Final = 10
_DATED: Final = re.compile(r"-(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8})")


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
        values, presets = suite.to_dict(), [preset.config.digest() for preset in suite.presets]
        return _digest([presets, *(values[name] for name in ("seeds", "held_out", "repeats")), suite.limits.max_turns])


_FRACTION: Any = attrs.validators.optional([attrs.validators.ge(0), attrs.validators.le(1)])
_DIGEST: Any = attrs.validators.optional(attrs.validators.matches_re("[0-9a-f]{64}"))


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
class Rules:
    """Rules of a valid evaluation; docs/validation.md has the values of each key."""

    name: str
    description: str = "no description"
    version: Literal["this", "one"] = "this"  # the version that validates, or any one version
    presets: Literal["named", "any"] = "named"  # whether a configuration must be the preset that it is called after
    runs: Literal["planned", "any"] = "planned"  # whether only runs of planned episodes may be there
    checkout: Literal["any", "clean"] = "any"  # clean: all runs are of one commit, with no tracked file changed
    limits: Limits = attrs.field(factory=Limits)
    telemetry: Telemetry = attrs.field(factory=Telemetry)
    suite: SuiteRule | None = None  # which suite must have been played; None for any

    def digest(self) -> str:
        """Return the SHA-256, as hex, of the fields that decide what is valid; name and description do not count."""
        rule, values = self.suite, unstructure(attrs.evolve(self, suite=None))
        del values["name"], values["description"]
        return _digest(values | {"suite": rule and [rule.digest_of(rule.suite), rule.policies, rule.digest]})


@attrs.frozen
class _SuiteTable:
    file: str
    policies: Literal["same", "any"] = "same"
    digest: str | None = attrs.field(default=None, validator=_DIGEST)


def load_rules(path: Path, environ: Mapping[str, str] = os.environ) -> Rules:
    """Return the rules in a TOML file; of the environment their suite takes the secret seeds alone.

    Raises:
        FileError: It cannot be read or is not valid; the message names file, key and value.
        SuiteError: Its suite is not valid.
        ConfigError: A configuration of its suite cannot be used.
    """
    values = read_toml(path)
    suite = values.pop("suite", None)
    rules = structure(values, Rules, path)
    if suite is None:
        return rules
    table = structure(suite, _SuiteTable, f"{path}: suite")
    rule = SuiteRule(load_suite(path.parent / table.file, environ=environ), table.policies, table.digest)
    return attrs.evolve(rules, suite=rule)


# ---------------------------------------------------------------- outcomes


@attrs.define
class Check:
    """The outcome of one check."""

    rule: str  # name of the check
    of: str  # kind of things that are counted
    expected: str  # what the rules ask for, and how to put it right
    got: str = ""  # what there is
    checked: int = 0  # how many things were recomputed
    unchecked: int = 0  # how many could not be
    faults: list[str] = attrs.field(factory=list[str])  # each place that disagrees, one line each
    remarks: list[str] = attrs.field(factory=list[str])  # why something was not checked, one line each

    @property
    def outcome(self) -> Outcome:
        """Whether something disagrees, or could not be checked."""
        return "invalid" if self.faults else "not checked" if self.unchecked else "valid"

    @property
    def where(self) -> tuple[str, ...]:
        """Printable lines: the faults, or why something was not checked."""
        return tuple(printable(line) for line in self.faults or (self.remarks if self.unchecked else ()))

    def count(self, were_checked: Iterable[bool]) -> None:
        """Count things that were checked, or could not be."""
        for was_checked in were_checked:
            self.checked += was_checked
            self.unchecked += not was_checked


@attrs.frozen
class Validation:
    """The outcome of a validation."""

    folder: Path  # folder of the evaluation
    rules: Rules
    checks: tuple[Check, ...]
    provenance: JsonObject | None = attrs.field(repr=False)  # digests of the evaluation; None where it cannot be read

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the checks."""
        outcomes = {check.outcome for check in self.checks}
        return "invalid" if "invalid" in outcomes else "not checked" if "not checked" in outcomes else "valid"

    def to_dict(self) -> JsonObject:
        """Return it as JSON values, the same wherever the folder lies."""
        names = ("rule", "outcome", "checked", "unchecked", "of", "got", "expected")
        checks: list[Json] = [{**{n: getattr(each, n) for n in names}, "where": [*each.where]} for each in self.checks]
        return {
            "rules": self.rules.name,
            "rules_digest": self.rules.digest(),
            "outcome": self.outcome,
            "checks": checks,
            "provenance": None if self.outcome == "invalid" else self.provenance,
        }


def _digest(value: Any) -> str:  # noqa: ANN401 -- any JSON value
    """Return the SHA-256, as hex, of a JSON value; the order of keys does not count."""
    return hashlib.sha256(to_json(value, sort_keys=True).encode("ascii")).hexdigest()


def _line(part: RunIdentity | RunOutcome | TurnRecord) -> bytes:
    """Return a part of a run as its digest has it."""
    return f"{to_json(part.comparable(), sort_keys=True)}\n".encode("ascii")


def record_digest(run: Run) -> str:
    """Return the SHA-256, as hex, over identity, outcome and turns of a run, without times, transport and origin.

    Two runs have equal digests exactly where ``same_run`` finds no difference.

    Raises:
        RunError: The record is damaged.
    """
    digest = hashlib.sha256(_line(run.identity) + _line(run.outcome))
    for turn in run.turns():
        digest.update(_line(turn))
    return digest.hexdigest()


# ---------------------------------------------------------------- one pass over a run


@attrs.define
class _Pass:
    """What one pass over a finished run found."""

    key: EpisodeKey
    run: Run
    of_policy: str  # the check of what its policy did
    not_asked: str = "it was not played again"  # why its policy was not asked again; empty where it was
    faults: dict[str, list[str]] = attrs.field(factory=lambda: defaultdict[str, list[str]](list))  # by check
    digest: str | None = None  # digest of the record; None where it cannot be read to its end
    turns_digest: str = ""  # SHA-256 of the turns, times included
    metrics: RunMetrics | None = None  # as they are measured now; None where that is impossible
    turns: int = 0  # turns that were read
    models: Counter[str] = attrs.field(factory=Counter[str])  # how many replies name a model, by model; "" is none


def _examine(found: _Pass, policy: Policy | None) -> None:
    """Read a run from end to end, once, and play it again on the way."""
    run, records = found.run, found.faults["records"]
    try:
        driver, meter = Driver(run), Meter(run)
        if policy is not None:
            policy.reset(policy_seed(run.identity.seed))
        tally, every_byte = Tally(driver.initial_funds_cents), hashlib.sha256()
        digest = hashlib.sha256(_line(run.identity) + _line(run.outcome))
        for turn in run.turns():
            every_byte.update(turn.to_line())
            digest.update(_line(turn))
            for name, got, expected in (
                ("reward in cents", round(turn.reward * 100), turn.funds_delta_cents),
                ("funds_cents", turn.funds_cents, tally.funds_cents + turn.funds_delta_cents),
            ):
                if got != expected:
                    records.append(f"turn {turn.turn}: {name}: got {got}, expected {expected}")
            tally.add(turn)
            reply = (turn.trace or {}).get("reply")
            if isinstance(reply, dict):
                found.models[str(reply.get("model") or "")] += 1
            policy = _replay(found, driver, turn, policy)
            meter.add(turn)
        found.turns = tally.turns
        records += [f"{line} (recorded | from the turns)" for line in outcome_differences(run, tally, driver)]
        found.digest, found.turns_digest = digest.hexdigest(), every_byte.hexdigest()
        found.metrics = meter.metrics()
    except (ConfigError, RunError, MetricsError) as error:
        records.append(str(error))


def _replay(found: _Pass, driver: Driver, turn: TurnRecord, policy: Policy | None) -> Policy | None:
    """Play a turn again; return the policy, None after its first turn that differs."""
    own = found.faults[found.of_policy]
    try:
        lines = replay_turn(driver, turn, policy)
    except Exception as error:
        if policy is None:
            raise
        own.append(f"turn {turn.turn}: asking again failed: {type(error).__name__}: {error}")
        lines, policy = replay_turn(driver, turn), None
    for line in lines:
        of_policy = line.startswith(("action", "trace"))
        (own if of_policy else found.faults["records"]).append(f"turn {turn.turn}: {line} (recorded | now)")
        policy = None if of_policy else policy
    return policy


def _policy_to_ask(found: _Pass, *, trust_policies: bool) -> Policy | None:
    """Return a policy like the one that played a run; None, and why in ``not_asked``, where it is not asked again."""
    identity = found.run.identity
    names = {identity.policy, *named_policies(parameters_of(identity))}
    foreign, never = (", ".join(sorted(each)) for each in (names - {*policy_names()}, names & _NEVER_ASKED))
    if identity.policy != LLM and never:
        found.not_asked = f"{never} would ask somebody or read a file"
    elif foreign and not trust_policies:
        found.not_asked = f"{foreign} is code from elsewhere; --trust-policies runs it"
    else:
        try:
            found.run.config()  # refuses one that would open other files
            policy = build_policy(identity)
        except Exception as error:  # noqa: BLE001 -- recorded parameters may be anything
            found.not_asked = f"its policy cannot be made again: {type(error).__name__}: {error}"
            found.faults[found.of_policy].append(found.not_asked)
        else:
            found.not_asked = ""
            return policy
    return None


# ---------------------------------------------------------------- validating


@attrs.frozen
class _Evidence:
    """What the checks look at."""

    evaluation: Evaluation
    rules: Rules
    planned: Mapping[str, tuple[EpisodeKey, RunIdentity]]  # episodes whose seed is known, by the name of their folder
    folders: Mapping[str, Run | str]  # the run in each folder, or why it cannot be read, by the folder's name
    passes: tuple[_Pass, ...]  # one a finished episode

    def detail(self, text: object) -> str:
        """Return a detail; of a held-out evaluation nothing, because it may reveal a world or a seed."""
        return "details are shown for public seeds only" if self.evaluation.suite.is_held_out else str(text)

    def lines(self, check: Check) -> Iterator[str]:
        """Yield what the passes found for a check, at most 10 lines each."""
        for found in self.passes:
            yield from (f"{found.key}: {self.detail(line)}" for line in found.faults.get(check.rule, ())[:_MOST_LINES])

    def asked_again(self, check: Check) -> list[_Pass]:
        """Return the passes that a check of policies is about; why one was not asked again becomes a remark."""
        passes = [found for found in self.passes if found.of_policy == check.rule]
        check.remarks = sorted({f"{found.key.policy}: {found.not_asked}" for found in passes if found.not_asked})
        return passes

    def json(self, name: str) -> JsonObject:
        """Return the object in a file of the evaluation, or raise FileError."""
        try:
            value = parse_json(read_record(self.evaluation.folder / name, _MOST_FILE_BYTES), name)
        except FileNotFoundError:
            msg = f"{name}: there is no such file"
            raise FileError(msg) from None
        if not isinstance(value, dict):
            msg = f"{name}: expected an object"
            raise FileError(msg)
        return value


def validate(folder: Path | str, rules: Rules, *, trust_policies: bool = False, progress: Track = iter) -> Validation:
    """Return the outcome of every check that has something to look at; nothing is written.

    Args:
        folder: Folder of an evaluation with its runs, as ``ycbench evaluate`` left it.
        rules: The rules that it must meet.
        trust_policies: Whether policies of other packages (``module:Class``) are asked again, which runs their code.
        progress: Yields the runs, and may show how far they are.

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
        except (RunError, ValueError) as error:  # ValueError: files that do not fit together
            line = f"{type(error).__name__}: {error}"
            check = Check("readable", "evaluations", "readable files", "damaged files", unchecked=1, faults=[line])
            return Validation(folder, rules, (check,), None)
        known = [(each.key, each.identity) for each in evaluation.episodes if each.identity is not None]
        folders: dict[str, Run | str] = {}
        for path in sorted(folder.glob("run-*")):
            try:
                folders[path.name] = (None if path.is_symlink() else find_run(path)) or "there is no run in it"
            except RunError as error:
                folders[path.name] = str(error)
        finished = [(each.key, each.run) for each in evaluation.episodes if each.status == "finished" and each.run]
        kinds = ["replies" if run.identity.policy == LLM else "policies" for _, run in finished]
        passes = tuple(_Pass(key, run, kind) for (key, run), kind in zip(finished, kinds, strict=True))
        for found in progress(passes):
            _examine(found, _policy_to_ask(found, trust_policies=trust_policies))
        planned = {run_folder(*each): each for each in known}
        evidence = _Evidence(evaluation, rules, planned, folders, passes)
        checks: list[Check] = []
        for rule, of, expected, function in _CHECKS:
            check = Check(rule, of, expected)
            check.faults += [*function(evidence, check)]
            check.got = check.got or f"{check.checked} of {check.checked + check.unchecked} {of} checked"
            checks += [check] if check.checked or check.unchecked or check.faults else []
        return Validation(folder, rules, tuple(checks), _provenance_of(evidence))


def _provenance_of(evidence: _Evidence) -> JsonObject:
    """Return the digests of the evaluation; they hold no time, and no secret seed."""
    evaluation, rules, passes = evidence.evaluation, evidence.rules, evidence.passes
    origins = [{**unstructure(found.run.origin), "started": None} for found in passes]
    counts = Counter(to_json(origin) for origin in origins)
    places = {to_json(origin): {k: v for k, v in origin.items() if k != "started"} for origin in origins}
    return {
        "format": _PROVENANCE_FORMAT,
        "rules": rules.name,
        "rules_digest": rules.digest(),
        "suite": evaluation.suite.name,
        "suite_digest": evaluation.suite.digest(),
        "version": evaluation.version,
        "metrics_format": METRICS_FORMAT,
        "origins": [{**place, "runs": counts[text]} for text, place in places.items()],
        "config_digests": {preset.label: preset.config.digest() for preset in evaluation.suite.presets},
        "results_digest": _digest(results_document(evaluation)),
        "records": [{**attrs.asdict(each.key), "digest": each.digest} for each in passes if each.digest is not None],
    }


# ---------------------------------------------------------------- checks
# In the order of the outcome. Each yields its faults and counts what it has checked, and as unchecked what it could
# not; one that counts nothing is left out.


_Function: TypeAlias = Callable[[_Evidence, Check], Iterator[str]]
_CHECKS: Final[list[tuple[str, str, str, _Function]]] = []


def _check(rule: str, of: str, expected: str) -> Callable[[_Function], _Function]:
    """Make a function a check, with the first three fields of its ``Check``."""

    def add(function: _Function) -> _Function:
        _CHECKS.append((rule, of, expected, function))
        return function

    return add


@_check("suite", "suites", "the digest that suite.json names, and the rules' suite")
def _suite(evidence: _Evidence, check: Check) -> Iterator[str]:
    suite, rule = evidence.evaluation.suite, evidence.rules.suite
    digest, stored = suite.digest(), evidence.json(SUITE_FILE).get("digest")
    check.got, check.checked = f"{suite.name} {digest[:12]}", 1
    if stored != digest:
        yield f"suite.json: digest: got {shown(stored)}, expected {digest}; the file was changed"
    if rule is not None:
        got, asked = rule.digest_of(suite), rule.digest_of(rule.suite)
        if got != asked:
            ours, theirs = ({**each.to_dict(), "max_turns": each.limits.max_turns} for each in (suite, rule.suite))
            names = ("policies", "presets", "seeds", "held_out", "repeats", "max_turns")
            others = " and ".join(name for name in names[rule.policies == "any" :] if ours[name] != theirs[name])
            yield f"suite.json: {others}: not as in the rules' suite: got the digest {got}, expected {asked}"
        if rule.digest not in {None, digest}:
            yield f"suite.json: got the digest {digest}, expected {rule.digest}, which the rules name"


@_check("seeds", "seeds", "the seeds of the rules' suite, as often")
def _seeds(evidence: _Evidence, check: Check) -> Iterator[str]:
    rule, suite = evidence.rules.suite, evidence.evaluation.suite
    if rule is None:
        return
    asked = rule.suite
    is_known = not asked.is_held_out or bool(asked.secret_seeds)
    check.count(is_known for _ in suite.seeds)
    check.remarks = [f"the seeds are not in {asked.held_out}, so nobody can compare them"]
    yield from (f"seed {seed} is missing" for seed in asked.seeds if seed not in suite.seeds)
    yield from (f"seed {seed} is none of the suite" for seed in suite.seeds if seed not in asked.seeds)
    if suite.repeats != asked.repeats:
        yield f"repeats: got {suite.repeats}, expected {asked.repeats}"
    known = [seed for name in suite.seeds if (seed := suite.seed_of(name)) is not None]
    if asked.is_held_out and is_known and known != [*asked.secret_seeds]:
        yield "seeds.json: the seeds are not those of the rules"


@_check("presets", "presets", "presets of this version, as they are")
def _presets(evidence: _Evidence, check: Check) -> Iterator[str]:
    presets = evidence.evaluation.suite.presets if evidence.rules.presets == "named" else ()
    digests = {preset.label: preset.config.digest() for preset in presets}
    check.checked = len(digests)
    for label, digest in digests.items():
        if label not in preset_names():
            yield f"{label}: is no preset; expected one of {', '.join(preset_names())}"
        elif (own := load_config(label, environ={}).digest()) != digest:
            yield f"{label}: got the digest {digest}, expected {own}; settings were changed"


@_check("version", "runs", "one version; this one, if the rules say so")
def _version(evidence: _Evidence, check: Check) -> Iterator[str]:
    own = evidence.evaluation.version
    asked = version() if evidence.rules.version == "this" else own
    check.got, check.checked = own, len(evidence.folders)
    if own != asked:
        yield f"suite.json: got {shown(own)}, expected {asked}"
    for name, run in evidence.folders.items():
        planned = evidence.planned.get(name)
        counts = planned is not None or evidence.rules.runs == "planned"
        if isinstance(run, Run) and run.identity.version != asked and counts:
            where = planned[0] if planned is not None else evidence.detail(name)
            yield f"{where}: got {shown(run.identity.version)}, expected {asked}"


@_check("checkout", "statements", "one commit, no file changed; else commit, and play all anew")
def _checkout(evidence: _Evidence, check: Check) -> Iterator[str]:
    """Check where the finished runs were begun; an installed package has a version only."""
    gits = [(found.key, found.run.origin.git) for found in evidence.passes if evidence.rules.checkout == "clean"]
    commits = Counter(f"commit {shown(git.commit[:12])}" if git else "an installed package" for _, git in gits)
    check.checked, check.got = len(gits), "; ".join(f"{commit} ({runs} runs)" for commit, runs in commits.items())
    yield from (f"{key}: begun with changed files" for key, git in gits if git is not None and git.dirty)
    if len({git and git.commit for _, git in gits}) > 1:
        yield check.got


@_check("episodes", "episodes", "as few failed and missing episodes as the rules demand")
def _episodes(evidence: _Evidence, check: Check) -> Iterator[str]:
    episodes, limits = evidence.evaluation.episodes, evidence.rules.limits
    counts = Counter(each.status for each in episodes)
    check.checked, check.unchecked = counts["finished"], counts["failed"]
    check.got = ", ".join(f"{counts[status]} {status}" for status in ("finished", "failed", "missing"))
    for status, limit in (("failed", limits.failed), ("missing", limits.missing)):
        reasons = {each.key: each.reason and evidence.detail(each.reason) for each in episodes if each.status == status}
        lines = [f"{key}: {status}{f': {reason}' if reason else ''}" for key, reason in reasons.items()]
        if len(lines) > limit * len(episodes):
            yield from lines
        check.remarks += lines


@_check("runs", "folders", "each run in the folder of its episode; if the rules say so, nothing else")
def _runs(evidence: _Evidence, check: Check) -> Iterator[str]:
    check.checked = len(evidence.folders)
    for name, (key, identity) in evidence.planned.items():
        run = evidence.folders.get(name)
        lines = [run] if isinstance(run, str) else []
        if isinstance(run, Run):
            differences = json_differences(run.identity.comparable(), identity.comparable())
            lines = [f"run.json: {line} (recorded | planned)" for line in itertools.islice(differences, _MOST_LINES)]
        yield from (f"{key}: {evidence.detail(line)}" for line in lines)
    beside = [name for name in evidence.folders if name not in evidence.planned]
    if evidence.rules.runs == "planned":
        yield from (f"{evidence.detail(each)}: the folder belongs to no planned episode; remove it" for each in beside)


@_check("copies", "runs", "each run played by itself, so that times differ")
def _copies(evidence: _Evidence, check: Check) -> Iterator[str]:
    check.checked = len(evidence.passes)
    groups = defaultdict[str, list[str]](list)
    for found in evidence.passes:
        groups[found.turns_digest if found.turns else str(found.key)].append(str(found.key))
    yield from (f"{'; '.join(keys)}: the same {TURNS_FILE}" for keys in groups.values() if len(keys) > 1)


@_check("records", "runs", "every line as it is played again, sums to the cent, outcomes of the turns")
def _records(evidence: _Evidence, check: Check) -> Iterator[str]:
    check.count(found.digest is not None or bool(found.faults["records"]) for found in evidence.passes)
    return evidence.lines(check)


@_check("policies", "runs", "the same turns when the policies are asked again")
def _policies(evidence: _Evidence, check: Check) -> Iterator[str]:
    check.count(not found.not_asked for found in evidence.asked_again(check))
    return evidence.lines(check)


@_check("replies", "turns", "prompt, turn, tokens and cost that follow from the recorded replies")
def _replies(evidence: _Evidence, check: Check) -> Iterator[str]:
    passes = evidence.asked_again(check)
    check.count(not found.not_asked for found in passes for _ in range(found.turns))
    yield from evidence.lines(check)
    for found in passes:
        if len(found.models) > 1:
            names = ", ".join(f"{shown(name)} ({turns} turns)" for name, turns in found.models.items())
            yield f"{found.key}: its replies name several models: {names}"


@_check("models", "replies", "replies of the named model, with the tokens that its server counted")
def _models(evidence: _Evidence, check: Check) -> Iterator[str]:
    """Count the statements about language models that no record can prove."""
    check.unchecked = sum(found.models.total() for found in evidence.passes)
    check.remarks = ["replies are not signed: their text, model and counted tokens, and the price, are as stated"]
    for found in evidence.passes:
        asked = found.run.identity.model or ""
        others = [name for name in found.models if name != asked and not _DATED.fullmatch(name.removeprefix(asked))]
        check.remarks += [f"{found.key}: asked for {shown(asked)}, the replies name {shown(name)}" for name in others]
    return iter(())


@_check("metrics", "runs", f"{METRICS_FILE} as it is measured again; ycbench evaluate writes it")
def _metrics(evidence: _Evidence, check: Check) -> Iterator[str]:
    check.remarks = ["runs that cannot be played again cannot be measured again"]
    for found in evidence.passes:
        stored = read_metrics(found.run.folder)
        if stored is None:
            yield f"{found.key}: no {METRICS_FILE} of this version and of these turns"
            continue
        check.count([found.metrics is not None])
        lines = json_differences(unstructure(stored), unstructure(found.metrics or stored))
        for line in itertools.islice(lines, _MOST_LINES):
            yield f"{found.key}: {METRICS_FILE}: {evidence.detail(f'{line} (stored | measured)')}"


@_check("invalid_commands", "runs", "no larger share of a policy's commands than the rules allow")
def _invalid_commands(evidence: _Evidence, check: Check) -> Iterator[str]:
    limit = evidence.rules.limits.invalid_commands
    if limit is None:
        return
    check.remarks = ["runs that cannot be played again count with the figures of their metrics.json"]
    check.count(found.metrics is not None for found in evidence.passes)
    invalid, given = Counter[str](), Counter[str]()
    for found in evidence.passes:
        if (metrics := found.metrics or read_metrics(found.run.folder)) is not None:
            invalid[found.key.policy] += metrics.invalid_commands
            given[found.key.policy] += metrics.invalid_commands + metrics.commands
    for policy, total in given.items():
        if invalid[policy] > limit * total:
            yield f"{policy}: {invalid[policy]} of {total} commands ({invalid[policy] / total:.2%})"


@_check("telemetry", "runs", "tokens and cost of every turn, as the rules ask for them")
def _telemetry(evidence: _Evidence, check: Check) -> Iterator[str]:
    asked = [name for name, is_asked in attrs.asdict(evidence.rules.telemetry).items() if is_asked]
    passes = [found for found in evidence.passes if asked and found.run.identity.model is not None]
    check.checked = len(passes)
    for found in passes:
        metrics = found.metrics or read_metrics(found.run.folder)
        for name in asked:
            turns = found.turns if metrics is None else getattr(metrics, f"unknown_{name.removesuffix('s')}_turns")
            if turns or metrics is None:
                yield f"{found.key}: {name} of {turns} turns unknown"


@_check("results", "files", "the results of the records; ycbench evaluate writes them")
def _results(evidence: _Evidence, check: Check) -> Iterator[str]:
    return _compared(evidence, check, RESULTS_FILE, results_document(evidence.evaluation))


def _compared(evidence: _Evidence, check: Check, name: str, now: JsonObject) -> Iterator[str]:
    """Compare a file with what it should be now; under which rules it was made is free."""
    check.checked = 1
    try:
        stored = evidence.json(name)
    except FileError as error:
        yield str(error)
        return
    if stored.get("format") != now["format"]:
        got = f"got format {shown(stored.get('format'))}, expected {now['format']}"
        yield f"{name}: {got}; remove it, so that it is made anew"
        return
    lines = json_differences({**stored, **{key: now[key] for key in ("rules", "rules_digest") if key in now}}, now)
    yield from (f"{name}: {line} (stored | from the records)" for line in itertools.islice(lines, _MOST_LINES))


@_check("report", "files", "the report of the records; ycbench report writes it")
def _report(evidence: _Evidence, check: Check) -> Iterator[str]:
    """Render the report that lies in the folder, with the options that its headings show, from the records again."""
    evaluation = evidence.evaluation
    figures = sorted(path.relative_to(evaluation.folder).as_posix() for path in evaluation.folder.glob("figures/*"))
    stored = _stored(evidence, check, *_REPORTS, *figures)
    if not stored:
        return
    text = html.unescape(b"".join(stored.get(name, b"") for name in _REPORTS).decode("utf-8", "replace"))
    labels = [policy.label for policy in evaluation.suite.policies]
    named = [label for label in labels if f"Against {printable(label)}" in text.replace("\\", "")]
    baseline = max(named, key=len, default=None)  # of labels that begin with another one both are found
    published, png = "Published results" in text, any(name.endswith(".png") for name in stored)
    try:
        from ycbench_agents.evaluation.report import render_report  # noqa: PLC0415 -- of an extra, slow to import

        rendered = render_report(evaluation, baseline=baseline, published=published, png=png)
    except ImportError as error:
        check.unchecked, check.remarks = len(stored), [str(error)]
        return
    for name, data in stored.items():
        now = rendered.get(name)
        was, made = (_PICTURE.sub(b"", each or b"").splitlines() for each in (data, now))
        if now is not None and name in _REPORTS and was != made:
            pairs = enumerate(itertools.zip_longest(was, made, fillvalue=b""), 1)
            line = next(f"line {n}: {shown(one)} | {shown(other)}" for n, (one, other) in pairs if one != other)
            yield f"{name}: {evidence.detail(f'{line} (stored | from the records)')}"
        else:
            check.count([data == now])
            if data != now:
                check.remarks.append(f"{name}: its figures differ from those that this version of matplotlib draws")


def _stored(evidence: _Evidence, check: Check, *names: str) -> dict[str, bytes]:
    """Return the contents of the files that are there; one that cannot be read is a fault."""
    stored: dict[str, bytes] = {}
    for name in names:
        try:
            stored[name] = read_record(evidence.evaluation.folder / name, _MOST_FILE_BYTES)
        except FileNotFoundError:
            continue
        except FileError as error:
            check.faults.append(evidence.detail(error))
    return stored


@_check("held_out", "files", "no secret seed in a file that may be published, and none that can be guessed")
def _held_out(evidence: _Evidence, check: Check) -> Iterator[str]:
    """Check that no secret seed can be read in, or guessed from, a file that may be published."""
    if not evidence.evaluation.suite.is_held_out:
        return
    seeds = {identity.seed for _, identity in evidence.planned.values()}
    stored = _stored(evidence, check, RESULTS_FILE, PROVENANCE_FILE, *_REPORTS)
    check.checked = len(stored)
    for name, data in stored.items():
        if any(re.search(rb"(?<![0-9])%d(?![0-9])" % seed, data) for seed in seeds):
            yield f"{name}: names a secret seed"
    if small := sum(seed < _MANY_TO_GUESS for seed in seeds):
        yield f"{small} seeds are below 2^40, so that playing finds them; draw larger ones"


@_check("provenance", "files", "digests of the records; remove it where they were changed on purpose")
def _provenance(evidence: _Evidence, check: Check) -> Iterator[str]:
    if os.path.lexists(evidence.evaluation.folder / PROVENANCE_FILE):
        yield from _compared(evidence, check, PROVENANCE_FILE, _provenance_of(evidence))
