"""The parts of a run record: frozen values, to JSON and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

import attrs

from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.strict_json import Table, decode, encode
from ycbench_env import ConfigError, load_config

if TYPE_CHECKING:
    from ycbench_agents.base import Json, JsonObject

__all__ = [
    "FORMAT",
    "GitState",
    "RunIdentity",
    "RunOrigin",
    "RunOutcome",
    "TurnRecord",
    "fields_of",
    "identity_differences",
    "turn_differences",
]

FORMAT: Final = 1
"""Version of the form of run.json and turns.jsonl."""

_STATUSES: Final = ("running", "finished", "stopped")
_MAY_DIFFER: Final = ("transport", "time")
_NO_MATTER: Final = ("name", "description")  # of a configuration; its digest leaves them out too


def fields_of(value: attrs.AttrsInstance) -> JsonObject:
    """Return the fields of a value whose fields are JSON values, by name."""
    return {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}


@attrs.frozen
class RunIdentity:
    """What makes a run what it is: runs of equal identity have equal turns, as far as the policy is deterministic.

    Args:
        version: Version of ycbench-env.
        config: The resolved configuration, ``Config.to_dict()``.
        config_digest: Its digest, without name and description.
        seed: Run seed.
        policy: Name of the policy.
        settings: The policy's public settings.
        model: Name of the model, None for a policy without.
        max_turns: Turns after which the run is cut off from outside, None for no limit.
        scratchpad: Whether there is a scratchpad.
    """

    version: str
    config: JsonObject
    config_digest: str
    seed: int
    policy: str
    settings: JsonObject
    model: str | None
    max_turns: int | None
    scratchpad: bool

    def to_json(self) -> JsonObject:
        """Return the identity as JSON values."""
        return fields_of(self)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the identity that ``to_json`` wrote.

        Raises:
            RecordError: A value is missing or of another type.
        """
        return cls(
            version=table.get("version", str),
            config=table.table("config").values,
            config_digest=table.get("config_digest", str),
            seed=table.get("seed", int),
            policy=table.get("policy", str),
            settings=table.table("settings").values,
            model=table.optional("model", str),
            max_turns=table.optional("max_turns", int),
            scratchpad=table.get("scratchpad", bool),
        )


@attrs.frozen
class GitState:
    """The state of the checkout that the program came from.

    Args:
        commit: Hash of the commit.
        dirty: Whether tracked files were changed.
    """

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
    packages: JsonObject
    git: GitState | None
    started: str

    def to_json(self) -> JsonObject:
        """Return the origin as JSON values."""
        return cast("JsonObject", attrs.asdict(self))

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the origin that ``to_json`` wrote.

        Raises:
            RecordError: A value is missing or of another type.
        """
        git = table.optional_table("git")
        return cls(
            python=table.get("python", str),
            packages=table.table("packages").values,
            git=None if git is None else GitState(git.get("commit", str), git.get("dirty", bool)),
            started=table.get("started", str),
        )


@attrs.frozen
class RunOutcome:
    """What has become of a run; all but the status is None or empty while it is running.

    Args:
        status: running (or killed while it was), finished, or stopped; all but a finished one can be resumed.
        ended: Wall-clock time of the end or stop, ISO 8601.
        terminal_reason: bankruptcy, horizon_end or max_turns; None when it was cut off from outside, or stopped.
        reason: Why it was stopped.
        turns: Turns played.
        final_funds_cents: Funds after the last of them, in cents.
        total_return: Sum of all rewards, in dollars.
        totals: Sum of each ``..._tokens``, ``..._calls``, ``..._replies`` and ``cost_...`` of the traces by name, as
            ``{"sum": number or null, "unknown_turns": turns that did not tell}``.
    """

    status: str
    ended: str | None = None
    terminal_reason: str | None = None
    reason: str | None = None
    turns: int | None = None
    final_funds_cents: int | None = None
    total_return: float | None = None
    totals: JsonObject = attrs.field(factory=dict)  # pyright: ignore[reportUnknownVariableType] -- attrs' factory

    def to_json(self) -> JsonObject:
        """Return the outcome as JSON values."""
        return fields_of(self)

    @classmethod
    def from_table(cls, table: Table) -> Self:
        """Return the outcome that ``to_json`` wrote.

        Raises:
            RecordError: A value is missing or of another type.
        """
        status = table.get("status", str)
        if status not in _STATUSES:
            table.refuse("status", f"one of {', '.join(_STATUSES)}")
        turns = table.optional("turns", int)
        if status == "finished" and turns is None:
            table.refuse("turns", "the number of turns of a finished run")
        return cls(
            status=status,
            ended=table.optional("ended", str),
            terminal_reason=table.optional("terminal_reason", str),
            reason=table.optional("reason", str),
            turns=turns,
            final_funds_cents=table.optional("final_funds_cents", int),
            total_return=table.optional("total_return", float),
            totals=table.table("totals").values,
        )


@attrs.frozen
class TurnRecord:
    """One turn as it was played; a line of turns.jsonl.

    Args:
        turn: Its number, from 1.
        action: What the policy said, a text or several.
        trace: How a deliberating policy came to say it, None for a policy that only acts.
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
    action: str | list[Json]
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

    def to_json(self) -> JsonObject:
        """Return the turn as JSON values."""
        return fields_of(self)

    def to_line(self) -> bytes:
        """Return the turn as a line of turns.jsonl, its line break included."""
        return f"{encode(self.to_json())}\n".encode("ascii")

    @classmethod
    def from_line(cls, line: bytes, place: str) -> Self:
        """Return the turn that ``to_line`` wrote.

        Args:
            line: The line, with or without its line break.
            place: Where it stands, for errors.

        Raises:
            RecordError: It is no such line.
        """
        table = Table.of(decode(line, place), place)
        trace, transport = table.optional_table("trace"), table.optional_table("transport")
        return cls(
            turn=table.get("turn", int),
            action=_action(table),
            trace=trace and trace.values,
            results=table.items("results"),
            events=table.items("events"),
            reward=table.get("reward", float),
            funds_cents=table.get("funds_cents", int),
            funds_delta_cents=table.get("funds_delta_cents", int),
            invalid_commands=table.get("invalid_commands", int),
            forced_advance=table.get("forced_advance", bool),
            terminated=table.get("terminated", bool),
            truncated=table.get("truncated", bool),
            terminal_reason=table.optional("terminal_reason", str),
            sim_time=table.get("sim_time", str),
            state_hash=table.get("state_hash", str),
            notes_sha256=table.optional("notes_sha256", str),
            transport=transport and transport.values,
            time=table.get("time", str),
        )


def _action(table: Table) -> str | list[Json]:
    """Return a turn's text or texts."""
    value = table.values.get("action")
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return table.refuse("action", "a text or a list of texts")


def identity_differences(recorded: RunIdentity, asked: RunIdentity) -> list[str]:
    """Return what differs between two runs' identities, one line each.

    A configuration's name does not count, and settings do not where both are what the same digest says: one of them may
    be of a version that did not know the other's latest settings, which then have their neutral values.
    """
    first, second = recorded.to_json(), asked.to_json()
    if recorded.config_digest == asked.config_digest == _digest_of(recorded.config):
        del first["config"], second["config"]
        return list(json_differences(first, second))
    for values in (first, second):
        config = cast("JsonObject", values["config"])
        values["config"] = {key: value for key, value in config.items() if key not in _NO_MATTER}
    return list(json_differences(first, second))


def _digest_of(config: JsonObject) -> str | None:
    """Return the digest of a recorded configuration as it stands there, None where it is none."""
    try:
        return load_config(config, environ={}).digest()
    except ConfigError:
        return None


def turn_differences(first: TurnRecord, second: TurnRecord) -> list[str]:
    """Return what differs between two turns, one line each; times and transport do not count."""
    left, right = first.to_json(), second.to_json()
    for name in _MAY_DIFFER:
        del left[name], right[name]
    return list(json_differences(left, right))
