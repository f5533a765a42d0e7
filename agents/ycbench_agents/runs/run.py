"""What a run is: its identity, origin, outcome and turns, and how the files run.json and turns.jsonl hold them."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import platform
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal, Self

import attrs

import ycbench_env
from ycbench_agents.base import Json, JsonObject, Policy
from ycbench_agents.files import FileError, from_json, open_record, read_record, structure, to_json, unstructure
from ycbench_agents.files import parse_json as _parse_json
from ycbench_env import Config, ConfigError, load_config

RUN_FILE: Final = "run.json"
TURNS_FILE: Final = "turns.jsonl"
FORMAT: Final = 2
"""Version of run.json and turns.jsonl. Format 1 has the same keys: it is read and replayed, but never gone on with,
because its policies were reset with the run seed itself."""

_READABLE: Final = (1, 2)
_MOST_RUN_BYTES: Final = 16 * 2**20
_MOST_LINE_BYTES: Final = 64 * 2**20
_MOST_TURNS: Final = 1_000_000
_MOST_DIFFERENCES: Final = 20


# ---------------------------------------------------------------- errors


class RunError(Exception):
    """A run cannot be read, written or played again; the message names the file and how to put it right."""


class RunMismatchError(RunError):
    """A folder holds another run than the one to play.

    Args:
        message: What cannot be done, with its place.
        differences: What differs, one text each.
    """

    def __init__(self, message: str, differences: Sequence[str]) -> None:
        super().__init__("\n  ".join((message, *differences)))
        self.differences = tuple(differences)


class RunBusyError(RunError):
    """Another process is writing the run."""


class RunWarning(UserWarning):
    """A record was cut short when it was written, or another version of this package wrote it."""


# ---------------------------------------------------------------- what a run is


@attrs.frozen
class RunIdentity:
    """What makes a run what it is: runs of equal identity have equal turns, as far as the policy is deterministic.

    Args:
        version: Version of ycbench-env.
        config: The resolved configuration, ``Config.to_dict()``.
        config_digest: Its digest, without name and description.
        seed: Run seed.
        policy: Name of the policy, or ``module:Class``.
        settings: The policy's public settings; of scripted policies ``{"parameters": {...}}``.
        model: Name of the model, None for a policy without.
        max_turns: Turns after which the run is cut off from outside, None for no limit.
        scratchpad: Whether the environment has a scratchpad.
    """

    version: str
    config: JsonObject
    config_digest: str
    seed: int
    policy: str
    settings: JsonObject
    model: str | None = None
    max_turns: int | None = None
    scratchpad: bool = True

    @classmethod
    def of(  # noqa: PLR0913 -- the fields
        cls,
        config: Config | JsonObject | Path | str,
        seed: int,
        name: str,
        policy: Policy | None = None,
        *,
        settings: JsonObject | None = None,
        model: str | None = None,
        max_turns: int | None = None,
        scratchpad: bool = True,
    ) -> Self:
        """Return the identity of a run that this version plays.

        Args:
            config: Anything that ``load_config`` takes.
            seed: Run seed, a non-negative integer.
            name: Name of the policy.
            policy: The policy, whose ``public_settings`` and ``model`` are recorded where it has them.
            settings: Its public settings, where the policy has none of its own.
            model: Name of its model, likewise.
            max_turns: Turns after which the run is cut off, None for no limit.
            scratchpad: Whether the environment has a scratchpad.

        Raises:
            ConfigError: The configuration cannot be used.
            RunError: The settings are no JSON values, or ``max_turns`` is no positive number.
        """
        if max_turns is not None and (type(max_turns) is not int or max_turns < 1):
            msg = f"max_turns: got {max_turns!r}, expected a positive whole number, or None for no limit"
            raise RunError(msg)
        loaded = load_config(config)
        public = plain_json(getattr(policy, "public_settings", {}) if settings is None else settings, "settings")
        resolved = plain_json(loaded.to_dict(), "config")
        if not isinstance(public, dict) or not isinstance(resolved, dict):
            msg = f"settings: got {type(public).__name__}, expected an object"
            raise RunError(msg)
        own_model: object = getattr(policy, "model", None)
        return cls(
            version=version(),
            config=resolved,
            config_digest=loaded.digest(),
            seed=int(seed),
            policy=name,
            settings=public,
            model=model or (own_model if isinstance(own_model, str) else None),
            max_turns=max_turns,
            scratchpad=scratchpad,
        )

    def folder_name(self, *labels: str) -> str:
        """Return a portable name for the run's folder; different runs and labels have different names.

        Args:
            *labels: For people to read, and to tell apart runs that are otherwise equal; by default the policy, its
                model, the configuration and the seed.
        """
        shown = labels or (self.policy, self.model or "", str(self.config.get("name", "")), f"seed{self.seed}")
        values = {**_fields(self), "config": self.config.get("name"), "version": None}
        digest = hashlib.sha256(to_json([FORMAT, list(labels), values], sort_keys=True).encode()).hexdigest()[:20]
        readable = [re.sub(r"[^a-z0-9_]+", "_", text.lower())[:24] for text in shown if text]
        return "-".join(["run", *readable, digest])


@attrs.frozen
class GitState:
    """The state of the checkout that the program came from: hash of the commit, and whether tracked files differ."""

    commit: str
    dirty: bool


@attrs.frozen
class RunOrigin:
    """Where a run was begun; it changes nothing about the turns.

    Args:
        python: Version of Python.
        packages: Versions of the packages in use that play: attrs, gymnasium, numpy, openai; None is unknown.
        git: State of the checkout, None without one.
        started: Wall-clock time, ISO 8601.
    """

    python: str
    packages: dict[str, str | None]
    git: GitState | None
    started: str

    @classmethod
    def here(cls, started: str) -> Self:
        """Return the origin of a run that begins in this process."""
        packages = {
            name: _version_of(name) for name in ("attrs", "gymnasium", "numpy", "openai") if name in sys.modules
        }
        return cls(platform.python_version(), packages, _git_state(Path(ycbench_env.__file__).parent), started)


@attrs.frozen
class RunOutcome:
    """What became of a run; all but the status is None or empty while it is running.

    Args:
        status: running (or killed while it was), finished, or stopped; all but a finished one can be resumed.
        ended: Wall-clock time of the end or stop, ISO 8601.
        terminal_reason: bankruptcy, horizon_end or max_turns; None when it was cut off from outside, or stopped.
        reason: Why it was stopped.
        turns: Turns played.
        final_funds_cents: Funds after the last of them, in cents.
        total_return: Sum of all rewards, in dollars.
        totals: Sum of each ``..._tokens``, ``..._calls``, ``..._replies`` and ``cost_...`` of the traces by name, as
            ``{"sum": number or null, "unknown_turns": turns whose trace does not hold it}``.
    """

    status: Literal["running", "finished", "stopped"]
    ended: str | None = None
    terminal_reason: str | None = None
    reason: str | None = None
    turns: int | None = None
    final_funds_cents: int | None = None
    total_return: float | None = None
    totals: JsonObject = attrs.field(factory=dict[str, Json])


@attrs.frozen
class TurnRecord:
    """One turn as it was played; a line of turns.jsonl.

    Args:
        turn: Its number, from 1.
        action: The policy's turn, a text or several.
        trace: How a deliberating policy came to it, None for a policy that only acts.
        results: Answers to its commands, as in ``info``.
        events: What happened, as in ``info``.
        reward: Reward, in dollars.
        funds_cents: Funds afterwards, in cents.
        funds_delta_cents: Their change, in cents.
        invalid_commands: How many commands were not grammatical.
        forced_advance: Whether the environment moved time by itself.
        terminated: Whether the world ended.
        truncated: Whether the configuration's turn limit was reached.
        terminal_reason: bankruptcy, horizon_end or max_turns; None while the episode goes on.
        sim_time: Simulated time afterwards, ISO 8601 without a zone.
        state_hash: SHA-256 of the world afterwards, as hex.
        notes_sha256: SHA-256 of the notes afterwards as hex, None without notes.
        transport: How the reply was got; may differ between equal runs. None for a policy that only acts.
        time: Wall-clock time afterwards, ISO 8601; may differ between equal runs.
    """

    turn: int
    action: str | list[str]
    trace: JsonObject | None
    results: list[Json]
    events: list[Json]
    reward: float
    funds_cents: int
    funds_delta_cents: int
    invalid_commands: int
    forced_advance: bool
    terminated: bool
    truncated: bool
    terminal_reason: str | None
    sim_time: str
    state_hash: str
    notes_sha256: str | None
    transport: JsonObject | None
    time: str

    @property
    def is_last(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated

    def to_line(self) -> bytes:
        """Return the line of turns.jsonl, its line break included."""
        return f"{to_json(_fields(self))}\n".encode("ascii")


@attrs.frozen
class Run:
    """A run as run.json held it; its turns are read when they are asked for.

    Args:
        folder: The folder.
        identity: What was to be played.
        origin: Where it was begun.
        outcome: What had become of it.
        format: Version of the files.
    """

    folder: Path
    identity: RunIdentity
    origin: RunOrigin
    outcome: RunOutcome
    format: int = FORMAT

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing left to play."""
        return self.outcome.status == "finished"

    def config(self) -> Config:
        """Return the configuration.

        Raises:
            RunError: This version cannot read it, or it is not the one that its digest names.
        """
        place = f"{self.folder / RUN_FILE}: config"
        if "extends" in self.identity.config:  # a record opens no other file
            msg = f"{place}: got extends, expected a resolved configuration; the file was changed"
            raise RunError(msg)
        try:
            config = load_config(self.identity.config, environ={})
        except ConfigError as error:
            msg = f"{place}: {error}"
            raise RunError(msg) from None
        if config.digest() != self.identity.config_digest:
            msg = f"{place}: its digest is {config.digest()}, expected {self.identity.config_digest}; it was changed"
            raise RunError(msg)
        return config

    def turns(self) -> Iterator[TurnRecord]:
        """Yield the turns in order, one in memory at a time.

        Raises:
            RunError: A line is damaged; the message names file and line.

        Warns:
            RunWarning: The last line was cut short while it was written and is left out, or turns are lost.
        """
        count = 0
        path = self.folder / TURNS_FILE
        for line in whole_lines(path):
            count += 1
            yield _turn(line, f"{path} line {count}", count)
        if count < (self.outcome.turns or 0):
            msg = f"{self.folder}: {RUN_FILE} tells of {self.outcome.turns} turns, {TURNS_FILE} has {count} whole lines"
            warnings.warn(msg, RunWarning, stacklevel=2)

    def lost_turns(self) -> int:
        """Return how many turns that run.json counts are not in turns.jsonl."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)
            present = sum(1 for _ in whole_lines(self.folder / TURNS_FILE))
        return max(0, (self.outcome.turns or 0) - present)

    def to_json(self) -> JsonObject:
        """Return the content of run.json."""
        parts = {"identity": _fields(self.identity), "origin": self.origin, "outcome": self.outcome}
        return {"format": self.format, **{name: unstructure(part) for name, part in parts.items()}}


def version() -> str:
    """Return the version of ycbench-env, "unknown" without metadata of the package."""
    return ycbench_env.__version__


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@functools.cache  # episodes are forked from a process that has asked already
def _git_state(folder: Path) -> GitState | None:
    """Return the state of the checkout that a package's folder is part of, None where it only lies in one."""

    def git(*arguments: str) -> str | None:
        command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
        try:
            done = subprocess.run(  # noqa: S603 -- fixed words and this package's own folder; no shell
                command, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False, timeout=10
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    if git("ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    commit, changes = git("rev-parse", "HEAD"), git("status", "--porcelain", "--untracked-files=no")
    return None if commit is None or changes is None else GitState(commit, dirty=bool(changes))


def _fields(value: attrs.AttrsInstance) -> dict[str, Any]:
    """Return the fields of a value whose fields are JSON values; cattrs would walk through all of them."""
    return {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}


# ---------------------------------------------------------------- reading


def read_run(folder: Path | str) -> Run:
    """Return the run in a folder, finished or not.

    Raises:
        RunError: There is none, or run.json is damaged or of an unknown format.
    """
    run = find_run(folder)
    if run is None:
        msg = f"{folder}: there is no {RUN_FILE}; expected the folder of a run"
        raise RunError(msg)
    return run


def find_run(folder: Path | str) -> Run | None:
    """Return the run in a folder, None where there is no run.json.

    Raises:
        RunError: run.json is damaged or of an unknown format.
    """
    folder = Path(folder)
    path = folder / RUN_FILE
    try:
        values = _parse_json(read_record(path, _MOST_RUN_BYTES), path)
        found = values.get("format") if isinstance(values, dict) else None
        if not isinstance(values, dict) or found not in _READABLE:
            msg = f"{path}: got format {found!r}, expected {FORMAT} or 1; another version of ycbench-env wrote it"
            raise RunError(msg)
        file = structure({key: value for key, value in values.items() if key != "format"}, _RunFile, path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except FileError as error:
        raise RunError(str(error)) from None
    if file.outcome.status == "finished" and file.outcome.turns is None:
        msg = f"{path}: outcome.turns: got nothing, expected the number of turns of a finished run"
        raise RunError(msg)
    return Run(folder, file.identity, file.origin, file.outcome, int(str(found)))


@attrs.frozen
class _RunFile:
    """run.json without its format."""

    identity: RunIdentity
    origin: RunOrigin
    outcome: RunOutcome


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines that were written to their end; a torn last line is warned about and left out."""
    try:
        descriptor = open_record(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except FileError as error:
        raise RunError(str(error)) from None
    with os.fdopen(descriptor, "rb") as file:
        for number in itertools.count(1):
            line = file.readline(_MOST_LINE_BYTES + 1)
            if not line:
                return
            if number > _MOST_TURNS or len(line) > _MOST_LINE_BYTES:
                msg = f"{path} line {number}: got more than {_MOST_TURNS:,} lines or {_MOST_LINE_BYTES:,} bytes in one"
                raise RunError(msg)
            if not line.endswith(b"\n") or (not line.rstrip().endswith(b"}") and not file.peek(1)):
                msg = f"{path}: the last line was cut short after {len(line)} bytes; the turn is left out"
                warnings.warn(msg, RunWarning, stacklevel=4)
                return
            yield line


def _turn(line: bytes, place: str, number: int) -> TurnRecord:
    try:
        turn = from_json(line, TurnRecord, place)
    except FileError as error:
        raise RunError(str(error)) from None
    if turn.turn != number:
        msg = f"{place}: got turn {turn.turn}, expected turn {number}; lines are lost or doubled"
        raise RunError(msg)
    return turn


# ---------------------------------------------------------------- comparing


def identity_differences(recorded: RunIdentity, asked: RunIdentity) -> list[str]:
    """Return what differs between two identities, one line each; names of configurations do not count."""
    first, second = _fields(recorded), _fields(asked)
    for values in (first, second):
        values["config"] = {k: v for k, v in values["config"].items() if k not in {"name", "description"}}
    return list(json_differences(first, second))


def turn_differences(first: TurnRecord, second: TurnRecord) -> list[str]:
    """Return what differs between two turns, one line each; times and transport do not count."""
    left, right = _fields(first), _fields(second)
    for name in ("transport", "time"):
        del left[name], right[name]
    return list(json_differences(left, right))


def same_run(first: Run, second: Run) -> list[str]:
    """Return how two runs differ, one line each, at most 20; [] for equal runs.

    Times, transport and the origin (versions of Python and openai, git) do not count; a configuration's name does not
    either.

    Raises:
        RunError: A record is damaged.
    """

    def differences() -> Iterator[str]:
        yield from identity_differences(first.identity, second.identity)
        one, other = (_fields(attrs.evolve(run.outcome, ended=None)) for run in (first, second))
        yield from json_differences(one, other, "outcome")
        for number, (left, right) in enumerate(itertools.zip_longest(first.turns(), second.turns()), 1):
            if left is None or right is None:
                yield f"turn {number}: only the {'second' if left is None else 'first'} run has it"
                return
            yield from (f"turn {number}: {line}" for line in turn_differences(left, right))

    return list(itertools.islice(differences(), _MOST_DIFFERENCES))


def json_differences(first: Json, second: Json, path: str = "", *, depth: int = 0) -> Iterator[str]:
    """Yield one line for each place where two JSON values differ: ``results[0].ok: true | false``.

    The order of an object's keys is no difference; a number's type is one, as is that of true and 1.

    Args:
        first: One value.
        second: The other.
        path: Name of the place.
        depth: How deep the place is; below 8 levels the values are shown whole.
    """
    one, other = to_json(first, sort_keys=True), to_json(second, sort_keys=True)
    if one == other:
        return
    if depth < 8 and isinstance(first, dict) and isinstance(second, dict):  # noqa: PLR2004 -- as documented
        for key in dict.fromkeys((*first, *second)):
            place = f"{path}.{key}" if path else key
            if key in first and key in second:
                yield from json_differences(first[key], second[key], place, depth=depth + 1)
            else:
                one = to_json(first[key]) if key in first else "nothing"
                other = to_json(second[key]) if key in second else "nothing"
                yield f"{place}: {_side_by_side(one, other)}"
    elif depth < 8 and isinstance(first, list) and isinstance(second, list) and len(first) == len(second):  # noqa: PLR2004
        for number, (left, right) in enumerate(zip(first, second, strict=True)):
            yield from json_differences(left, right, f"{path}[{number}]", depth=depth + 1)
    else:
        yield f"{path}: {_side_by_side(one, other)}"


def _side_by_side(one: str, other: str, most: int = 100) -> str:
    """Return two texts side by side; of long ones the part where they begin to differ."""
    start = 0
    if max(len(one), len(other)) > most:
        same = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
        start = max(0, same - most // 2)
    return " | ".join(
        f"{'...' * bool(start)}{text[start : start + most]}{'...' * (start + most < len(text))}"
        for text in (one, other)
    )


def plain_json(value: object, what: str) -> Json:
    """Return a value as it will be read back from a record: tuples become lists.

    Raises:
        RunError: JSON has no such value; the message names ``what``.
    """
    try:
        return _parse_json(to_json(value), what)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"{what}: cannot be recorded ({error}); expected plain JSON values"
        raise RunError(msg) from None


# ---------------------------------------------------------------- counting


@attrs.define
class Tally:
    """Sums over the turns of a run.

    Args:
        funds_cents: Funds, at first those of the start, in cents.
    """

    funds_cents: int
    turns: int = 0
    _delta_cents: int = 0
    _terminal_reason: str | None = None
    _sums: dict[str, Decimal] = attrs.field(factory=dict[str, Decimal], init=False)
    _known_turns: dict[str, int] = attrs.field(factory=dict[str, int], init=False)
    _floats: set[str] = attrs.field(factory=set[str], init=False)

    def add(self, turn: TurnRecord) -> None:
        """Count a turn."""
        self.turns = turn.turn
        self.funds_cents = turn.funds_cents
        self._delta_cents += turn.funds_delta_cents
        self._terminal_reason = turn.terminal_reason
        for name, number in _numbers(turn.trace or {}).items():
            # Decimals, so that a sum of costs reads as people would write it.
            self._sums[name] = self._sums.get(name, Decimal(0)) + Decimal(str(number or 0))
            self._known_turns[name] = self._known_turns.get(name, 0) + (number is not None)
            if isinstance(number, float):
                self._floats.add(name)

    def outcome(
        self, status: Literal["running", "finished", "stopped"], ended: str, reason: str | None = None
    ) -> RunOutcome:
        """Return the outcome of a run that ends or stops here at a wall-clock time."""
        return RunOutcome(
            status=status,
            ended=ended,
            terminal_reason=self._terminal_reason,
            reason=reason,
            turns=self.turns,
            final_funds_cents=self.funds_cents,
            total_return=self._delta_cents / 100,
            totals={name: self._total(name) for name in sorted(self._sums)},
        )

    def _total(self, name: str) -> Json:
        known = self._known_turns[name]
        total = float(self._sums[name]) if name in self._floats else int(self._sums[name])
        return {"sum": total if known else None, "unknown_turns": self.turns - known}


def _numbers(trace: Mapping[str, Json]) -> dict[str, int | float | None]:
    """Return the counts (``..._tokens``, ``..._calls``, ``..._replies``) and costs (``cost_...``) of a trace."""
    return {
        name: value
        for name, value in trace.items()
        if (name.endswith(("_tokens", "_calls", "_replies")) or name.startswith("cost_"))
        and (value is None or (isinstance(value, int | float) and not isinstance(value, bool)))
    }
