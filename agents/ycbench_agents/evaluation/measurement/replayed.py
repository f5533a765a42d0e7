"""A record's actions played again, command by command, so that the states between them can be looked at.

Only what changes the world is carried out: commands that the record says were, and forced advances. After each turn the
clock, the funds and the notes must be as recorded, and the world must have the recorded hash, so what is measured is
what was played. An environment is asked for the hash, since from one state to the next it keeps what stays as bytes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, cast

import attrs

import ycbench_env
from ycbench_agents.evaluation.measurement.error import MeasurementError
from ycbench_agents.records.playing import recorded_config
from ycbench_env import YCBenchEnv, advance, initial_state
from ycbench_env.actions import grammar_for, parse_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ycbench_agents.base import Json
    from ycbench_agents.records import RunRecord, TurnRecord
    from ycbench_env import State
    from ycbench_env.actions import Grammar, ParsedCommand
    from ycbench_env.types import Command

__all__ = [
    "ACCEPT",
    "ACTIONS",
    "APPEND",
    "CANCEL",
    "DISPATCH",
    "WRITE",
    "ReplayedTurn",
    "SaidCommand",
    "replayed_turns",
    "start_of",
    "task_id_of",
]

ACCEPT: Final = "task accept"
DISPATCH: Final = "task dispatch"
CANCEL: Final = "task cancel"
WRITE: Final = "scratchpad write"
APPEND: Final = "scratchpad append"
_WORLD: Final = frozenset({ACCEPT, "task assign", DISPATCH, CANCEL, "sim resume"})
_CLEAR: Final = "scratchpad clear"
ACTIONS: Final = _WORLD | {WRITE, APPEND, _CLEAR}
"""Commands that act on the world or the notes; all others only ask."""

_HELP: Final = "help"  # no line of the grammar's table


class _OfTask(Protocol):
    @property
    def task_id(self) -> str: ...


class _WithContent(Protocol):
    @property
    def content(self) -> str: ...


def task_id_of(command: Command | None) -> str:
    """Return the task that a command of the group ``task`` names."""
    return cast("_OfTask", command).task_id


@attrs.frozen
class SaidCommand:
    """One command of a recorded turn.

    Args:
        name: Its words, such as ``task accept``; None where it was not grammatical.
        command: What it means; None likewise.
        ok: Whether it was carried out.
        skipped: Whether it was skipped since the one before ``&&`` had failed.
        before: The world before it.
        after: The world after it; the same object if nothing changed.
        notes: The notes after it.
    """

    name: str | None
    command: Command | None
    ok: bool
    skipped: bool
    before: State
    after: State
    notes: str

    @property
    def is_invalid(self) -> bool:
        """Whether it was answered as not grammatical; what is skipped is not looked at."""
        return self.name is None and not self.skipped


@attrs.frozen
class ReplayedTurn:
    """A turn played again.

    Args:
        record: Its record.
        commands: Its commands in order.
        before: The world before it.
        after_commands: The world after its commands, before a forced advance.
        after: The world after it.
        notes: The notes after it.
    """

    record: TurnRecord
    commands: tuple[SaidCommand, ...]
    before: State
    after_commands: State
    after: State
    notes: str

    def steps(self) -> Iterator[tuple[State, State]]:
        """Yield the world before and after each change, the forced advance last."""
        for said in self.commands:
            if said.after is not said.before:
                yield said.before, said.after
        if self.after is not self.after_commands:
            yield self.after_commands, self.after


def start_of(record: RunRecord) -> State:
    """Return the world in which a recorded run began.

    Raises:
        RecordError: The record's configuration cannot be used.
    """
    return initial_state(recorded_config(record), record.identity.seed)


def replayed_turns(record: RunRecord, start: State) -> Iterator[ReplayedTurn]:
    """Yield the turns of a record, played again from its start, one in memory at a time.

    Args:
        record: The record, of a finished run or not.
        start: ``start_of(record)``.

    Raises:
        MeasurementError: A turn turns out otherwise than recorded; the message names it.
        RecordError: A line is damaged.

    Warns:
        RecordWarning: The last line was cut short, or turns are lost.
    """
    names = {spec.command_type: spec.name for spec in _grammar_of(start).commands}
    replay = _Replay(record.folder, start, names, YCBenchEnv(start.config))
    for turn in record.turns():
        yield replay.play(turn)


def _grammar_of(state: State) -> Grammar:
    return grammar_for(state.config.world)


@attrs.define
class _Replay:
    """The world and the notes, and how far they are; the environment hashes the worlds, and plays nothing."""

    folder: Path
    state: State
    names: Mapping[type, str]
    hashing: YCBenchEnv
    notes: str = ""
    is_over: bool = False
    _hash: str | None = None

    def play(self, turn: TurnRecord) -> ReplayedTurn:
        """Play a turn and check what came of it."""
        before = self.state
        commands = tuple(self._carry_out(turn))
        after_commands = self.state
        if turn.forced_advance:
            self.state = advance(self.state).state
        self._check(turn, before)
        self._check_answers(turn, commands)
        self.is_over = turn.terminal_reason is not None
        return ReplayedTurn(turn, commands, before, after_commands, self.state, self.notes)

    def _carry_out(self, turn: TurnRecord) -> Iterator[SaidCommand]:
        parsed = parse_turn(turn.action, _grammar_of(self.state))
        if len(parsed) != len(turn.results):
            self._refuse(turn, f"{len(turn.results)} answers are recorded, its action has {len(parsed)} commands")
        failed = False
        for one, result in zip(parsed, turn.results, strict=True):
            ok = _ok(result)
            # In the turn that ends the episode commands are skipped as before; after it all are refused alike.
            skipped = one.chained and failed and not self.is_over
            yield self._said(turn, one, ok=ok, skipped=skipped)
            failed = not ok

    def _said(self, turn: TurnRecord, parsed: ParsedCommand, *, ok: bool, skipped: bool) -> SaidCommand:
        command, before = parsed.command, self.state
        name = None if command is None else self.names.get(type(command), _HELP)
        if ok and command is not None:
            if name in _WORLD:
                outcome = ycbench_env.transition(before, command)
                if outcome.refusal is not None:
                    self._refuse(turn, f"{parsed.text[:80]!r} is recorded as carried out, now: {outcome.refusal}")
                self.state = outcome.state
            elif name in ACTIONS:
                self._edit(name, command)
        return SaidCommand(name, command, ok, skipped, before, self.state, self.notes)

    def _edit(self, name: str, command: Command) -> None:
        """Change the notes as the scratchpad does."""
        content = "" if name == _CLEAR else cast("_WithContent", command).content
        self.notes = f"{self.notes}\n{content}" if name == APPEND and self.notes else content

    def _check(self, turn: TurnRecord, before: State) -> None:
        """Refuse a turn that does not lead to the recorded world and notes; an unchanged world is not hashed anew."""
        if self.state is not before:
            self._hash = None
        came_to, recorded = (self.state.sim_time, self.state.funds_cents), (turn.sim_time, turn.funds_cents)
        if came_to != recorded:
            self._refuse(turn, f"clock and funds in cents are {came_to}, recorded are {recorded}")
        self._check_hash(turn)
        notes = hashlib.sha256(self.notes.encode("utf-8", "surrogatepass")).hexdigest() if self.notes else None
        if notes != turn.notes_sha256:
            self._refuse(turn, "the notes have another hash than recorded")

    def _check_answers(self, turn: TurnRecord, commands: tuple[SaidCommand, ...]) -> None:
        """Refuse a turn of which the record counts other commands as not grammatical."""
        invalid = sum(said.is_invalid for said in commands)
        if invalid != turn.invalid_commands:
            self._refuse(turn, f"{invalid} of its commands are not grammatical, recorded are {turn.invalid_commands}")

    def _check_hash(self, turn: TurnRecord) -> None:
        """Refuse a turn after which the world is not the recorded one."""
        if self._hash is None:
            self.hashing.set_state(self.state)
            self._hash = self.hashing.state_hash()
        if self._hash != turn.state_hash:
            self._refuse(turn, f"the world has the hash {self._hash[:12]}, recorded is {turn.state_hash[:12]}")

    def _refuse(self, turn: TurnRecord, why: str) -> NoReturn:
        msg = (
            f"{self.folder}: turn {turn.turn} is not as it was recorded: {why}; "
            "measure it with the version of ycbench-env that played it, or play the run anew"
        )
        raise MeasurementError(msg)


def _ok(result: Json) -> bool:
    """Return whether a recorded answer says that its command was carried out."""
    return isinstance(result, dict) and result.get("ok") is True
