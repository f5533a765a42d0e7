"""What a run is: its identity, origin, outcome and turns, and how the files run.json and turns.jsonl hold them.

docs/runs.md describes the fields.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import platform
import re
import subprocess
import sys
import warnings
from collections.abc import Generator, Iterator, Sequence
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any, Final, Literal, Self

import attrs

import ycbench_env
from ycbench_agents.base import Policy
from ycbench_agents.files import (
    MOST_BYTES,
    FileError,
    from_json,
    open_record,
    parse_json,
    read_record,
    structure,
    to_json,
)
from ycbench_env import Config, ConfigError, load_config
from ycbench_env.errors import whole_number
from ycbench_env.text import Json, JsonObject

RUN_FILE: Final = "run.json"
TURNS_FILE: Final = "turns.jsonl"
FORMAT: Final = 2
"""Version of run.json and turns.jsonl. Format 1 has the same keys: it is read and replayed, but never resumed,
because its policies were reset with the run seed itself."""

_MOST_RUN_BYTES: Final = 16 * 2**20
_MOST_LINE_BYTES: Final = 64 * 2**20
_MOST_TURNS: Final = 1_000_000
_MOST_DIFFERENCES: Final = 20
_MOST_DEPTH: Final = 8  # deeper values are compared and shown whole


class RunError(Exception):
    """A run cannot be read, written or played again; the message names the file and how to put it right."""


class RunMismatchError(RunError):
    """A folder holds another run than the one to play, or files of another version; ``differences`` names each."""

    def __init__(self, message: str, differences: Sequence[str] = ()) -> None:
        super().__init__("\n  ".join((message, *differences)))
        self.differences = tuple(differences)


class RunBusyError(RunError):
    """Another process is writing the run."""


class RunWarning(UserWarning):
    """A record was cut short when it was written, or another version of this package wrote it."""


@contextlib.contextmanager
def run_errors() -> Generator[None]:
    """Turn an error of a file into one of the run."""
    try:
        yield
    except FileError as error:
        raise RunError(str(error)) from None


# ---------------------------------------------------------------- what a run is


def _positive(_: object, field: attrs.Attribute[Any], value: int | None) -> None:
    if value is not None:
        whole_number(field.name, value, 1, error=RunError)


@attrs.frozen
class RunIdentity:
    """What makes a run what it is: runs of equal identity have equal turns, if the policy is deterministic."""

    version: str  # of ycbench-env
    config: JsonObject  # resolved, Config.to_dict()
    config_digest: str  # without name and description
    seed: int
    policy: str  # name of the policy, or module:Class
    settings: JsonObject  # its public settings; of scripted policies {"parameters": {...}}
    model: str | None = None
    max_turns: int | None = attrs.field(default=None, validator=_positive)  # turns after which the run is cut off
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
            config: Anything that ``load_config`` takes; it may raise a ConfigError.
            seed: Run seed, a non-negative integer.
            name: Name of the policy.
            policy: The policy; its ``public_settings`` and ``model`` are recorded where it has them.
            settings: Its public settings, where the policy has none of its own.
            model: Name of its model, likewise.
            max_turns: Turns after which the run is cut off; a RunError if it is no positive number.
            scratchpad: Whether the environment has a scratchpad.
        """
        loaded = load_config(config)
        public = plain_json(getattr(policy, "public_settings", {}) if settings is None else settings, "settings")
        if not isinstance(public, dict):
            msg = f"settings: got {type(public).__name__}, expected an object"
            raise RunError(msg)
        own_model: object = getattr(policy, "model", None)
        return cls(
            version=version(),
            config=loaded.to_dict(),
            config_digest=loaded.digest(),
            seed=int(seed),
            policy=name,
            settings=public,
            model=model or (own_model if isinstance(own_model, str) else None),
            max_turns=max_turns,
            scratchpad=scratchpad,
        )

    def comparable(self) -> JsonObject:
        """Return the fields that must be equal in equal runs: all but name and description of the configuration."""
        config = {name: value for name, value in self.config.items() if name not in {"name", "description"}}
        return {**attrs.asdict(self, recurse=False), "config": config}

    def folder_name(self, *labels: str) -> str:
        """Return a portable name for the run's folder; different runs and labels have different names.

        Args:
            *labels: For people to read, and to tell apart runs that are otherwise equal; by default the policy, its
                model, the configuration and the seed.
        """
        shown = labels or (self.policy, self.model or "", str(self.config.get("name", "")), f"seed{self.seed}")
        values = {**attrs.asdict(self, recurse=False), "config": self.config.get("name"), "version": None}
        digest = hashlib.sha256(to_json([FORMAT, list(labels), values], sort_keys=True).encode()).hexdigest()[:20]
        readable = [re.sub(r"[^a-z0-9_]+", "_", text.lower())[:24] for text in shown if text]
        return "-".join(["run", *readable, digest])


@attrs.frozen
class GitState:
    """The state of the checkout that the program came from."""

    commit: str
    dirty: bool  # whether tracked files differ


@attrs.frozen
class RunOrigin:
    """Where a run was begun; it changes nothing about the turns."""

    python: str
    packages: dict[str, str | None]  # versions of those in use; None is unknown
    git: GitState | None  # None without a checkout
    started: str  # wall-clock time, ISO 8601

    @classmethod
    def here(cls, started: str) -> Self:
        """Return the origin of a run that begins in this process."""
        used = [name for name in ("attrs", "gymnasium", "numpy", "openai") if name in sys.modules]
        git = _git_state(Path(ycbench_env.__file__).parent)
        return cls(platform.python_version(), {name: _version_of(name) for name in used}, git, started)


def _version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@functools.cache  # episodes are forked from a process that has asked already
def _git_state(folder: Path) -> GitState | None:
    """Return the state of the checkout that a package's folder is part of, None where it only lies in one."""

    def git(*arguments: str) -> str:
        command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=10).stdout.strip()  # noqa: S603 -- fixed words and this package's own folder; no shell

    try:
        git("ls-files", "--error-unmatch", "__init__.py")
        return GitState(git("rev-parse", "HEAD"), dirty=bool(git("status", "--porcelain", "--untracked-files=no")))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


@attrs.frozen
class RunOutcome:
    """What became of a run; all but the status is None or empty while it is running."""

    status: Literal["running", "finished", "stopped"]  # running, or killed while it was
    ended: str | None = None  # wall-clock time of the end or stop, ISO 8601
    terminal_reason: str | None = None  # bankruptcy, horizon_end or max_turns; None when cut off from outside
    reason: str | None = None  # why it was stopped
    turns: int | None = None
    final_funds_cents: int | None = None
    total_return: float | None = None  # sum of all rewards, in dollars
    totals: JsonObject = attrs.field(factory=dict[str, Json])  # of the traces, see Tally

    def comparable(self) -> JsonObject:
        """Return the fields that must be equal in equal runs: all but the time."""
        return {**attrs.asdict(self), "ended": None}


@attrs.frozen
class TurnRecord:
    """One turn as it was played; a line of turns.jsonl."""

    turn: int  # from 1
    action: str | list[str]
    trace: JsonObject | None  # how a deliberating policy came to it, None for a policy that only acts
    results: list[Json]  # answers to its commands, as in info
    events: list[Json]  # as in info
    reward: float  # dollars
    funds_cents: int  # afterwards
    funds_delta_cents: int
    invalid_commands: int
    forced_advance: bool
    terminated: bool
    truncated: bool
    terminal_reason: str | None  # None while the episode goes on
    sim_time: str  # simulated time afterwards, ISO 8601 without a zone
    state_hash: str  # SHA-256 of the world afterwards, as hex
    notes_sha256: str | None  # of the notes afterwards, None without notes
    transport: JsonObject | None  # how the reply was got; may differ between equal runs
    time: str  # wall-clock time afterwards, ISO 8601; may differ between equal runs

    @property
    def is_last(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated

    def comparable(self) -> JsonObject:
        """Return the fields that must be equal in equal runs: all but transport and time."""
        return attrs.asdict(self, recurse=False, filter=attrs.filters.exclude("transport", "time"))

    def to_line(self) -> bytes:
        """Return the line of turns.jsonl, its line break included."""
        return f"{to_json(attrs.asdict(self, recurse=False))}\n".encode("ascii")


@attrs.frozen
class Run:
    """A run as run.json held it; its turns are read when they are asked for."""

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
        """Return the configuration; RunError if this version cannot read it, or it was changed."""
        return recorded_config(self.identity.config, self.identity.config_digest, f"{self.folder / RUN_FILE}: config")

    def turns(self) -> Iterator[TurnRecord]:
        """Yield the turns in order, one in memory at a time.

        Raises:
            RunError: A line is damaged; the message names file and line.

        Warns:
            RunWarning: The last line was cut short while it was written and is left out, or turns are lost.
        """
        count, path = 0, self.folder / TURNS_FILE
        for count, line in enumerate(whole_lines(path), 1):
            place = f"{path} line {count}"
            with run_errors():
                turn = from_json(line, TurnRecord, place)
            if turn.turn != count:
                msg = f"{place}: got turn {turn.turn}, expected turn {count}; lines are lost or doubled"
                raise RunError(msg)
            yield turn
        if count < (self.outcome.turns or 0):
            msg = f"{self.folder}: {RUN_FILE} has {self.outcome.turns} turns, {TURNS_FILE} has {count} whole lines"
            warnings.warn(msg, RunWarning, stacklevel=2)

    def lost_turns(self) -> int:
        """Return how many turns that run.json counts are not in turns.jsonl."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)
            present = sum(1 for _ in whole_lines(self.folder / TURNS_FILE))
        return max(0, (self.outcome.turns or 0) - present)

    def to_json(self) -> JsonObject:
        """Return the content of run.json."""
        return {"format": self.format, **attrs.asdict(self, filter=attrs.filters.exclude("folder", "format"))}


def version() -> str:
    """Return the version of ycbench-env, "unknown" without metadata of the package."""
    return ycbench_env.__version__


# ---------------------------------------------------------------- reading


def read_object(path: Path, formats: Sequence[int], advice: str, most: int = MOST_BYTES) -> JsonObject:
    """Return the object in a JSON file of a record; RunMismatchError with advice if its ``format`` is another."""
    values = parse_json(read_record(path, most), path)
    found = values.get("format") if isinstance(values, dict) else None
    if not isinstance(values, dict) or found not in formats:
        writer = "ycbench-env 0.1.0 before format 2" if found == 1 else "another version of ycbench-env"
        msg = f"{path}: got format {found!r}, expected {formats[0]}; {writer} wrote it: {advice}"
        raise RunMismatchError(msg)
    return values


def recorded_config(values: JsonObject, digest: str, place: object) -> Config:
    """Return the configuration in a record; RunError if it would open another file or has another digest."""
    if "extends" in values:
        msg = f"{place}: got extends, expected a resolved configuration; the file was changed"
        raise RunError(msg)
    try:
        config = load_config(values, environ={})
    except ConfigError as error:
        msg = f"{place}: {error}"
        raise RunError(msg) from None
    if config.digest() != digest:
        msg = f"{place}: digest: got {config.digest()}, expected {digest}; the file was changed"
        raise RunError(msg)
    return config


def read_run(folder: Path | str) -> Run:
    """Return the run in a folder, finished or not; RunError if there is none, or a damaged one."""
    run = find_run(folder)
    if run is None:
        msg = f"{folder}: there is no {RUN_FILE}; expected the folder of a run"
        raise RunError(msg)
    return run


def find_run(folder: Path | str) -> Run | None:
    """Return the run in a folder, None where there is no run.json; RunError if it is damaged."""
    path = Path(folder, RUN_FILE)
    with contextlib.suppress(FileNotFoundError), run_errors():
        values = read_object(path, (FORMAT, 1), "play the run again in another folder", _MOST_RUN_BYTES)
        run = structure({**values, "folder": str(folder)}, Run, path)
        if run.is_finished and run.outcome.turns is None:
            msg = f"{path}: outcome.turns: got nothing, expected the number of turns of a finished run"
            raise RunError(msg)
        return run
    return None


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines that were written to their end; a torn last line is warned about and left out."""
    try:
        with run_errors():
            file = os.fdopen(open_record(path), "rb")
    except FileNotFoundError:
        return
    with file:
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


def plain_json(value: object, what: str) -> Json:
    """Return a value as it will be read back from a record: tuples become lists; RunError if JSON has none such."""
    try:
        return parse_json(to_json(value), what)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"{what}: cannot be recorded ({error}); expected plain JSON values"
        raise RunError(msg) from None


# ---------------------------------------------------------------- comparing


def same_run(first: Run, second: Run) -> list[str]:
    """Return how two runs differ, one line each, at most 20; [] for equal runs.

    Times, transport, the origin (versions of Python and openai, git) and a configuration's name do not count.
    """

    def differences() -> Iterator[str]:
        yield from json_differences(first.identity.comparable(), second.identity.comparable())
        yield from json_differences(first.outcome.comparable(), second.outcome.comparable(), "outcome")
        for number, (left, right) in enumerate(itertools.zip_longest(first.turns(), second.turns()), 1):
            if left is None or right is None:
                yield f"turn {number}: only the {'second' if left is None else 'first'} run has it"
                return
            yield from (f"turn {number}: {line}" for line in json_differences(left.comparable(), right.comparable()))

    return list(itertools.islice(differences(), _MOST_DIFFERENCES))


def json_differences(first: Json, second: Json, path: str = "", *, depth: int = 0) -> Iterator[str]:
    """Yield one line for each place where two JSON values differ: ``results[0].ok: true | false``.

    The order of an object's keys is no difference; a number's type is one, as is that of true and 1.
    """
    one, other = to_json(first, sort_keys=True), to_json(second, sort_keys=True)
    if one == other:
        return
    if depth < _MOST_DEPTH and isinstance(first, dict) and isinstance(second, dict):
        for key in dict.fromkeys((*first, *second)):
            place = f"{path}.{key}" if path else key
            if key in first and key in second:
                yield from json_differences(first[key], second[key], place, depth=depth + 1)
            else:
                one, other = (to_json(side[key]) if key in side else "nothing" for side in (first, second))
                yield f"{place}: {_side_by_side(one, other)}"
    elif depth < _MOST_DEPTH and isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (left, right) in enumerate(zip(first, second, strict=True)):
            yield from json_differences(left, right, f"{path}[{number}]", depth=depth + 1)
    else:
        yield f"{path}: {_side_by_side(one, other)}"


def _side_by_side(one: str, other: str, most: int = 100) -> str:
    """Return two texts side by side; of long ones the part where they begin to differ."""
    same = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    start = max(0, same - most // 2) if max(len(one), len(other)) > most else 0
    cut = (f"{'...' * bool(start)}{t[start : start + most]}{'...' * (start + most < len(t))}" for t in (one, other))
    return " | ".join(cut)


# ---------------------------------------------------------------- counting


@attrs.define
class Tally:
    """Sums over the turns of a run.

    ``totals`` of its outcome has, for each ``..._tokens``, ``..._calls``, ``..._replies`` and ``cost_...`` of the
    traces, ``{"sum": number or null, "unknown_turns": turns whose trace does not hold it}``.
    """

    funds_cents: int  # at first those of the start
    turns: int = 0
    _delta_cents: int = 0
    _terminal_reason: str | None = None
    _known: dict[str, list[int | float]] = attrs.field(factory=dict[str, list[int | float]])

    def add(self, turn: TurnRecord) -> None:
        """Count a turn."""
        self.turns = turn.turn
        self.funds_cents = turn.funds_cents
        self._delta_cents += turn.funds_delta_cents
        self._terminal_reason = turn.terminal_reason
        for name, value in (turn.trace or {}).items():
            if not name.endswith(("_tokens", "_calls", "_replies")) and not name.startswith("cost_"):
                continue
            if value is None:
                self._known.setdefault(name, [])
            elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63:
                self._known.setdefault(name, []).append(value)  # a file from elsewhere may hold 1e999

    def total(self, name: str) -> tuple[int | float | None, int]:
        """Return the sum of a number in the traces, None if no turn has it, and how many turns lack it."""
        values = self._known.get(name, [])
        total = sum(Decimal(str(value)) for value in values)  # so that a sum of costs reads as people write it
        number = float(total) if any(isinstance(value, float) for value in values) else int(total)
        return number if values else None, self.turns - len(values)

    def outcome(
        self, status: Literal["running", "finished", "stopped"], ended: str, reason: str | None = None
    ) -> RunOutcome:
        """Return the outcome of a run that ends or stops here at a wall-clock time."""
        totals: JsonObject = {}
        for name in sorted(self._known):
            total, unknown_turns = self.total(name)
            totals[name] = {"sum": total, "unknown_turns": unknown_turns}
        return RunOutcome(
            status=status,
            ended=ended,
            terminal_reason=self._terminal_reason,
            reason=reason,
            turns=self.turns,
            final_funds_cents=self.funds_cents,
            total_return=self._delta_cents / 100,
            totals=totals,
        )
