"""Validation of an evaluation: everything that its records make recomputable is recomputed (docs/validation.md).

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
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
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
    Evaluation,
    PlannedEpisode,
    planned_episodes,
    read_evaluation,
    results_document,
)
from ycbench_agents.evaluation.suite import LLM, EpisodeKey, Suite, load_suite
from ycbench_agents.files import FileError, parse_json, read_file, read_record, structure, to_json, unstructure
from ycbench_agents.registry import policy_names
from ycbench_agents.runs import Driver, Run, RunError, RunWarning, TurnRecord, find_run, replay_turn
from ycbench_agents.runs.run import TURNS_FILE, Tally, identity_differences, json_differences, version
from ycbench_agents.scripted.mixture import named_policies
from ycbench_env import ConfigError, MissingExtraError, load_config, preset_names
from ycbench_env.text import printable, shown

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
        values = suite.to_dict()
        presets: list[Json] = [preset.config.digest() for preset in suite.presets]
        return _json_digest(
            [presets, *(values[name] for name in ("seeds", "held_out", "repeats")), suite.limits.max_turns]
        )


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
class Rules:
    """Rules of a valid evaluation; docs/validation.md has the values of each key."""

    name: str
    description: str = "no description"
    version: Literal["this", "one"] = "this"  # the version that validates, or any one version
    presets: Literal["named", "any"] = "named"  # whether a configuration must be the preset that it is called after
    runs: Literal["planned", "any"] = "planned"  # whether only runs of planned episodes may be there
    checkout: Literal["any", "clean"] = "any"  # clean: all runs are of one commit, with no tracked file changed
    replay: Replay = attrs.field(factory=Replay)
    limits: Limits = attrs.field(factory=Limits)
    telemetry: Telemetry = attrs.field(factory=Telemetry)
    suite: SuiteRule | None = None  # which suite must have been played; None for any

    def digest(self) -> str:
        """Return the SHA-256, as hex, of the fields that decide what is valid; name and description do not count."""
        rule = self.suite
        suite = None if rule is None else [rule.digest_of(rule.suite), rule.policies, rule.digest]
        values = {field.name: getattr(self, field.name) for field in attrs.fields(Rules)}
        values = {name: unstructure(values[name]) for name in values.keys() - {"name", "description", "suite"}}
        return _json_digest({**values, "suite": suite})


@attrs.frozen
class _SuiteTable:
    file: str
    policies: Literal["same", "any"] = "same"
    digest: str | None = None


def load_rules(path: Path, environ: Mapping[str, str] = os.environ) -> Rules:
    """Return the rules in a TOML file.

    The suite that they name is resolved without settings from options or the environment, whose only part in it are
    the secret seeds of a held-out suite.

    Raises:
        FileError: It cannot be read or is not valid; the message names file, key and value.
        SuiteError: Its suite is not valid.
        ConfigError: A configuration of its suite cannot be used.
    """
    try:
        values: dict[str, Any] = tomllib.loads(read_file(path).decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{path}: not valid TOML ({error}), expected the file of rules"
        raise FileError(msg) from None
    suite, replay = values.pop("suite", None), values.get("replay")
    if isinstance(replay, dict) and replay.get("runs") == "all":
        del replay["runs"]
    rules = structure(values, Rules, path)
    if suite is None:
        return rules
    table = structure(suite, _SuiteTable, f"{path}: suite")
    if table.digest is not None and not re.fullmatch(r"[0-9a-f]{64}", table.digest):
        msg = f"{path}: suite.digest: got {shown(table.digest)}, expected 64 hexadecimal digits, as in suite.json"
        raise FileError(msg)
    rule = SuiteRule(load_suite(path.parent / table.file, environ=environ), table.policies, table.digest)
    return attrs.evolve(rules, suite=rule)


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
        names = ("rule", "outcome", "checked", "unchecked", "of", "got", "expected")
        return {**{name: getattr(self, name) for name in names}, "where": [*self.where]}


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
        return "invalid" if "invalid" in outcomes else "not checked" if "not checked" in outcomes else "valid"

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


def _head(run: Run) -> bytes:
    """Return the lines of identity and outcome of a run, as its digest has them."""
    identity = attrs.asdict(run.identity, recurse=False)
    identity["config"] = {k: v for k, v in run.identity.config.items() if k not in {"name", "description"}}
    return _line(identity) + _line(unstructure(attrs.evolve(run.outcome, ended=None)))


def _turn(turn: TurnRecord) -> bytes:
    """Return the line of a turn, as the digest of its run has it."""
    fields = attrs.asdict(turn, recurse=False)
    del fields["transport"], fields["time"]
    return _line(fields)


def _line(values: dict[str, Any]) -> bytes:
    return f"{to_json(values, sort_keys=True)}\n".encode("ascii")


def record_digest(run: Run) -> str:
    """Return the SHA-256, as hex, over identity, outcome and turns of a run, without times, transport and origin.

    Two runs have equal digests exactly where ``same_run`` finds no difference.

    Raises:
        RunError: The record is damaged.
    """
    digest = hashlib.sha256(_head(run))
    for turn in run.turns():
        digest.update(_turn(turn))
    return digest.hexdigest()


# ---------------------------------------------------------------- one pass over a run


@attrs.define
class _Pass:
    """What one pass over a finished run found."""

    key: EpisodeKey
    run: Run
    replayed: bool  # whether it was played again
    not_asked: str = ""  # why its policy was not asked again; empty where it was
    faults: dict[str, list[str]] = attrs.field(factory=lambda: defaultdict[str, list[str]](list))  # by check
    digest: str | None = None  # digest of the record; None where it cannot be read to its end
    turns_digest: str = ""  # SHA-256 of the turns, times included
    metrics: RunMetrics | None = None  # metrics as they are measured now; None where it was not played again or differs
    turns: int = 0  # turns that were read
    models: Counter[str] = attrs.field(factory=Counter[str])  # how many replies name a model, by model; "" is none

    @property
    def rule_of_policy(self) -> str:
        """The check of what its policy did."""
        return "replies" if self.run.identity.policy == LLM else "policies"

    def known_metrics(self) -> RunMetrics | None:
        """Return the metrics as measured now, or else as stored."""
        return self.metrics or read_metrics(self.run.folder)


def _examine(key: EpisodeKey, run: Run, replay: Replay, *, drawn: bool, trust_policies: bool) -> _Pass:
    """Read a run from end to end, once, and play it again on the way if it was drawn; its sums are always checked."""
    found = _Pass(key, run, replayed=drawn)
    records = found.faults["records"]
    policy = _policy_to_ask(found, replay, trust_policies=trust_policies)
    try:
        driver = Driver.of_run(run)
        meter = Meter(run, hashes=False) if drawn else None
        if policy is not None:
            policy.reset(policy_seed(run.identity.seed))
        tally, digest, every_byte = Tally(driver.initial_funds_cents), hashlib.sha256(_head(run)), hashlib.sha256()
        for turn in run.turns():
            every_byte.update(turn.to_line())
            digest.update(_turn(turn))
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
            if meter is not None:
                policy = _replay(found, driver, turn, policy)
                meter.add(turn)
        found.turns = tally.turns
        outcome = run.outcome
        counted = tally.outcome(outcome.status, outcome.ended or "", outcome.reason)
        lines = json_differences(unstructure(outcome), unstructure(counted), "run.json: outcome")
        records += [f"{line} (recorded | from the turns)" for line in lines]
        if drawn and not driver.is_over and tally.turns != run.identity.max_turns:
            records.append(f"run.json: it is finished, but the episode goes on after turn {tally.turns}")
        found.digest, found.turns_digest = digest.hexdigest(), every_byte.hexdigest()
        found.metrics = None if meter is None else meter.metrics()
    except (ConfigError, RunError, MetricsError) as error:
        records.append(str(error))
    return found


def _replay(found: _Pass, driver: Driver, turn: TurnRecord, policy: Policy | None) -> Policy | None:
    """Play a turn again; return the policy, None after its first turn that differs."""
    own = found.rule_of_policy
    try:
        lines = replay_turn(driver, turn, policy)
    except Exception as error:
        if policy is None:
            raise
        found.faults[own].append(f"turn {turn.turn}: asking again failed: {type(error).__name__}: {error}")
        lines, policy = replay_turn(driver, turn), None
    for line in lines:
        of_policy = line.startswith(("action", "trace"))
        found.faults[own if of_policy else "records"].append(f"turn {turn.turn}: {line} (recorded | now)")
        policy = None if of_policy else policy
    return policy


def _policy_to_ask(found: _Pass, replay: Replay, *, trust_policies: bool) -> Policy | None:
    """Return a policy like the one that played a run; None, and why in ``not_asked``, where it is not asked again."""
    run = found.run
    name, parameters = run.identity.policy, run.identity.settings.get("parameters", {})
    names = {name, *(named_policies(parameters) if isinstance(parameters, dict) else ())}
    foreign = sorted(names - set(policy_names()))
    if not found.replayed:
        found.not_asked = "it was not drawn"
    elif not replay.policies:
        found.not_asked = "the rules do not ask policies"
    elif name != LLM and names & _NEVER_ASKED:
        found.not_asked = f"{', '.join(sorted(names & _NEVER_ASKED))} would ask somebody or read a file"
    elif foreign and not trust_policies:
        found.not_asked = f"{', '.join(foreign)} is code from elsewhere; --trust-policies runs it"
    else:
        try:
            run.config()  # refuses one that would open other files
            return build_policy(run.identity)
        except Exception as error:  # noqa: BLE001 -- recorded parameters may be anything
            found.not_asked = f"its policy cannot be made again: {type(error).__name__}: {error}"
            found.faults[found.rule_of_policy].append(found.not_asked)
    return None


# ---------------------------------------------------------------- validating


@attrs.frozen
class _Evidence:
    """What the checks look at."""

    evaluation: Evaluation
    rules: Rules
    planned: Mapping[str, PlannedEpisode]  # episodes whose seed is known, by the name of their folder
    folders: Mapping[str, Run | str]  # the run in each folder, or why it cannot be read, by the folder's name
    passes: tuple[_Pass, ...]  # one a finished episode

    def detail(self, text: object) -> str:
        """Return a detail; of a held-out evaluation nothing, because it may tell of a world or name a seed."""
        return "details are shown for public seeds only" if self.evaluation.suite.is_held_out else str(text)

    def lines(self, rule: str) -> list[str]:
        """Return what the passes found for a check, at most 10 lines each."""
        found = ((each, line) for each in self.passes for line in each.faults.get(rule, ())[:_MOST_LINES])
        return [f"{each.key}: {self.detail(line)}" for each, line in found]

    def commits(self) -> Counter[str | None]:
        """Return how many finished runs were begun at each commit; None for an installed package."""
        gits = [each.run.origin.git for each in self.passes]
        return Counter(None if git is None else git.commit for git in gits)

    def compare(self, check: Check, now: JsonObject, *, free: tuple[str, ...] = ()) -> Check:
        """Compare the file of a check with what it should be now; free keys may differ."""
        check.checked = 1
        name = check.rule + ".json"
        try:
            stored = _stored_json(self.evaluation.folder / name)
        except FileError as error:
            check.faults.append(str(error))
            return check
        if stored.get("format") != now["format"]:
            got = shown(stored.get("format"))
            check.faults.append(
                f"{name}: got format {got}, expected {now['format']}; remove it, so that it is made anew"
            )
            return check
        lines = json_differences({**stored, **{key: now[key] for key in free}}, now)
        check.faults += [f"{name}: {line} (stored | from the records)" for line in itertools.islice(lines, _MOST_LINES)]
        return check


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
        if os.path.lexists(folder / PROVENANCE_FILE):
            checks.append(_check_provenance(evidence, provenance))
        return Validation(folder, rules, tuple(check for check in checks if check is not None), provenance)


def _stored_json(path: Path) -> JsonObject:
    """Return the object in a file of the evaluation, or raise FileError."""
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
            folders[path.name] = (None if path.is_symlink() else find_run(path)) or "there is no run in it"
        except RunError as error:
            folders[path.name] = str(error)
    finished = {each.key: each.run for each in evaluation.episodes if each.status == "finished" and each.run}
    drawn, number = [*finished], rules.replay.runs
    if number is not None and number < len(drawn):
        drawn = random.Random(rules.replay.seed).sample(drawn, number)  # noqa: S311 -- no secret
    if progress is not None:
        progress.begin(len(drawn))
    passes: list[_Pass] = []
    for key, run in finished.items():
        if progress is not None and key in drawn:
            progress.step(str(key))
        passes.append(_examine(key, run, rules.replay, drawn=key in drawn, trust_policies=trust_policies))
    planned = planned_episodes(evaluation.suite, evaluation.players, evaluation.version)
    return _Evidence(evaluation, rules, {each.folder_name: each for each in planned}, folders, tuple(passes))


# ---------------------------------------------------------------- checks of the plan


def _check_suite(evidence: _Evidence, stored_digest: Json) -> Check:
    suite, rule = evidence.evaluation.suite, evidence.rules.suite
    digest = suite.digest()
    check = Check("suite", "suites", "any suite", f"{suite.name} {digest[:_SHORT]}", checked=1)
    if stored_digest != digest:
        check.faults.append(f"suite.json: digest: got {shown(stored_digest)}, expected {digest}; the file was changed")
    if rule is not None:
        who = "its policies" if rule.policies == "same" else "any policies"
        got, asked = rule.digest_of(suite), rule.digest_of(rule.suite)
        check.expected = f"{rule.suite.name} with {who} ({asked[:_SHORT]})"
        if got != asked:
            check.faults.append(f"suite.json: got the digest {got}, expected {asked}")
        if rule.digest not in {None, digest}:
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
    known = [seed for name in suite.seeds if (seed := suite.seed_of(name)) is not None]
    if asked.is_held_out and not asked.secret_seeds:
        check.unchecked, check.checked = len(suite.seeds), 0
        check.remarks.append(f"the seeds are not in {asked.held_out}, so nobody can compare them")
    elif asked.is_held_out and known != list(asked.secret_seeds):
        check.faults.append("seeds.json: the seeds are not those of the rules")
    return check


def _check_presets(evidence: _Evidence) -> Check | None:
    if evidence.rules.presets == "any":
        return None
    digests = {preset.label: preset.config.digest() for preset in evidence.evaluation.suite.presets}
    got = ", ".join(f"{label} {digest[:_SHORT]}" for label, digest in digests.items())
    check = Check("presets", "presets", "presets of this version, as they are", got, checked=len(digests))
    for label, digest in digests.items():
        if label not in preset_names():
            check.faults.append(f"{label}: is no preset; expected one of {', '.join(preset_names())}")
        elif (own := load_config(label, environ={}).digest()) != digest:
            check.faults.append(f"{label}: got the digest {digest}, expected {own}; settings were changed")
    return check


def _check_version(evidence: _Evidence) -> Check:
    is_this, own = evidence.rules.version == "this", evidence.evaluation.version
    asked = version() if is_this else own
    commits = evidence.commits().keys() - {None}
    expected = f"{asked}, which validates" if is_this else "one version"
    check = Check("version", "runs", expected, f"{own}, {len(commits)} commits", checked=len(evidence.folders))
    if own != asked:
        check.faults.append(f"suite.json: got {shown(own)}, expected {asked}")
    for name, run in evidence.folders.items():
        planned = evidence.planned.get(name)
        counts = planned is not None or evidence.rules.runs == "planned"
        if isinstance(run, Run) and run.identity.version != asked and counts:
            where = planned.key if planned is not None else evidence.detail(name)
            check.faults.append(f"{where}: got {shown(run.identity.version)}, expected {asked}")
    return check


def _check_checkout(evidence: _Evidence) -> Check | None:
    """Check where the finished runs were begun; an installed package has no checkout, its version tells."""
    if evidence.rules.checkout == "any":
        return None
    commits = evidence.commits()
    got = "; ".join(
        f"{'an installed package' if commit is None else f'commit {shown(commit[:_SHORT])}'} ({count} runs)"
        for commit, count in commits.items()
    )
    expected = "all runs state one commit, no tracked file changed; else commit, and play all in another folder"
    check = Check("checkout", "statements", expected, got or "no finished run", checked=len(evidence.passes))
    for found in evidence.passes:
        git = found.run.origin.git
        if git is not None and git.dirty:
            check.faults.append(f"{found.key}: begun with changed files")
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
        lines = [
            f"{each.key}: {status}" + ("" if each.reason is None else f": {evidence.detail(each.reason)}")
            for each in episodes
            if each.status == status
        ]
        if len(lines) > limit * len(episodes):
            check.faults += lines
        elif status == "failed":
            check.remarks += lines
    return check


def _check_runs(evidence: _Evidence) -> Check:
    only_planned, folders = evidence.rules.runs == "planned", evidence.folders
    beside = [name for name in folders if name not in evidence.planned]
    expected = "each run in the folder of its episode" + (", nothing else" if only_planned else "")
    got = f"{len(folders)} folders, {len(beside)} of no episode"
    check = Check("runs", "folders", expected, got, checked=len(folders))
    for name, planned in evidence.planned.items():
        run = folders.get(name)
        lines = [run] if isinstance(run, str) else []
        if isinstance(run, Run):
            differences = identity_differences(run.identity, planned.identity)[:_MOST_LINES]
            lines = [f"run.json: {line} (recorded | planned)" for line in differences]
        check.faults += [f"{planned.key}: {evidence.detail(line)}" for line in lines]
    if only_planned:
        belongs = "the folder belongs to no planned episode; remove it"
        check.faults += [f"{evidence.detail(name)}: {belongs}" for name in beside]
    return check


def _check_copies(evidence: _Evidence) -> Check:
    groups: dict[str, list[str]] = defaultdict(list)
    for found in evidence.passes:
        if found.turns:
            groups[found.turns_digest].append(str(found.key))
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
    passes = [found for found in evidence.passes if found.rule_of_policy == "policies"]
    check = Check("policies", "runs", "the same turns when the policies are asked again")
    check.unchecked = sum(bool(found.not_asked) for found in passes)
    check.checked = len(passes) - check.unchecked
    check.faults = evidence.lines("policies")
    reasons = Counter(f"{found.key.policy}: {found.not_asked}" for found in passes if found.not_asked)
    check.remarks = [f"{reason} ({count} runs)" for reason, count in reasons.items()]
    return check if passes else None


def _check_replies(evidence: _Evidence) -> Check | None:
    """Check everything that follows from the recorded replies of language models."""
    passes = [found for found in evidence.passes if found.rule_of_policy == "replies"]
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
    return check if passes else None


def _check_models(evidence: _Evidence) -> Check | None:
    """Count the statements about language models that no record can prove."""
    check = Check("models", "replies", "replies of the named model, with the tokens that its server counted")
    check.unchecked = sum(found.models.total() for found in evidence.passes)
    check.remarks = ["replies are not signed: their text, model and counted tokens, and the price, are as stated"]
    for found in evidence.passes:
        asked = found.run.identity.model or ""
        others = [name for name in found.models if name != asked and not _DATED.fullmatch(name.removeprefix(asked))]
        check.remarks += [f"{found.key}: asked for {shown(asked)}, the replies name {shown(name)}" for name in others]
    return check if check.unchecked else None


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
            lines = json_differences(unstructure(stored), unstructure(found.metrics))
            details = (evidence.detail(f"{line} (stored | measured)") for line in itertools.islice(lines, _MOST_LINES))
            check.faults += [f"{found.key}: {METRICS_FILE}: {detail}" for detail in details]
    return check


def _check_invalid_commands(evidence: _Evidence) -> Check | None:
    limit = evidence.rules.limits.invalid_commands
    if limit is None:
        return None
    invalid, given = Counter[str](), Counter[str]()
    check = Check("invalid_commands", "runs", f"at most {limit:.2%} of a policy's commands")
    check.remarks = ["runs that are not played again count as their metrics say"]
    check.checked = sum(found.metrics is not None for found in evidence.passes)
    check.unchecked = len(evidence.passes) - check.checked
    for found in evidence.passes:
        if (metrics := found.known_metrics()) is not None:
            invalid[found.key.policy] += metrics.invalid_commands
            given[found.key.policy] += metrics.invalid_commands + metrics.commands
    check.faults = [
        f"{policy}: {invalid[policy]} of {total} commands ({invalid[policy] / total:.2%})"
        for policy, total in given.items()
        if invalid[policy] > limit * total
    ]
    return check


def _check_telemetry(evidence: _Evidence) -> Check | None:
    asked = [name for name in ("tokens", "cost") if getattr(evidence.rules.telemetry, name)]
    passes = [found for found in evidence.passes if found.run.identity.model is not None]
    if not asked or not passes:
        return None
    check = Check("telemetry", "runs", f"{' and '.join(asked)} of every turn", checked=len(passes))
    for found in passes:
        metrics = found.known_metrics()
        unknown = {} if metrics is None else {"tokens": metrics.unknown_token_turns, "cost": metrics.unknown_cost_turns}
        check.faults += [
            f"{found.key}: {name} of {unknown.get(name, found.turns)} turns unknown"
            for name in asked
            if unknown.get(name, 1)
        ]
    return check


# ---------------------------------------------------------------- checks of what is published


def _check_results(evidence: _Evidence) -> Check:
    check = Check("results", "files", "the results of the records; ycbench evaluate writes them")
    return evidence.compare(check, results_document(evidence.evaluation))


def _published(evidence: _Evidence, check: Check, names: tuple[str, ...]) -> dict[str, bytes]:
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


def _check_report(evidence: _Evidence) -> Check | None:
    """Check the report in the folder, if there is one, against one that is rendered from the records now."""
    evaluation = evidence.evaluation
    figures = sorted(path.relative_to(evaluation.folder).as_posix() for path in evaluation.folder.glob("figures/*"))
    check = Check("report", "files", "the report of the records; ycbench report writes it")
    stored = _published(evidence, check, (*_REPORTS, *figures))
    if not stored:
        return check if check.faults else None
    try:
        rendered = _rendered_report(evaluation, stored)
    except MissingExtraError as error:
        check.unchecked, check.remarks = len(stored), [str(error)]
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
    if not evidence.evaluation.suite.is_held_out:
        return None
    seeds = {each.identity.seed for each in evidence.planned.values()}
    check = Check("held_out", "files", "no secret seed in a file that may be published, and none that can be guessed")
    stored = _published(evidence, check, (RESULTS_FILE, PROVENANCE_FILE, *_REPORTS))
    check.checked = len(stored)
    for name, data in stored.items():
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
    origins = [unstructure(found.run.origin) for found in evidence.passes]
    places = Counter(to_json({k: v for k, v in origin.items() if k != "started"}) for origin in origins)
    return {
        "format": _PROVENANCE_FORMAT,
        "rules": rules.name,
        "rules_digest": rules.digest(),
        "suite": evaluation.suite.name,
        "suite_digest": evaluation.suite.digest(),
        "version": evaluation.version,
        "metrics_format": METRICS_FORMAT,
        "origins": [
            {**cast("JsonObject", parse_json(place, "origin")), "runs": count} for place, count in places.items()
        ],
        "config_digests": {preset.label: preset.config.digest() for preset in evaluation.suite.presets},
        "results_digest": _json_digest(results_document(evaluation)),
        "records": [
            {**attrs.asdict(found.key), "digest": found.digest} for found in evidence.passes if found.digest is not None
        ],
    }


def _check_provenance(evidence: _Evidence, now: JsonObject) -> Check:
    """Check the digests that are there; under which rules they were made is free."""
    check = Check("provenance", "files", "digests of the records; remove it where they were changed on purpose")
    return evidence.compare(check, now, free=("rules", "rules_digest"))
