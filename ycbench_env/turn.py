"""One turn: any number of commands, answered in order, and the forced advance. Source: Y-9."""

from __future__ import annotations

import logging
from typing import Final, Protocol

import attrs

from ycbench_env.actions import ParsedCommand, grammar_for, help_text, parse_turn
from ycbench_env.observation import Answer, TurnReport, encoded_answer
from ycbench_env.text import JsonObject, to_json
from ycbench_env.transition import advance, refusal_after_end, transition
from ycbench_env.types.command import AppendScratchpad, ClearScratchpad, Help, ReadScratchpad, WriteScratchpad
from ycbench_env.types.event import Event
from ycbench_env.types.state import State, evolve

MAX_ANSWERS_LENGTH: Final = 2_000_000
"""Characters of JSON that a turn's answers may have; commands after that are carried out and answered briefly."""

MemoryCommand = ReadScratchpad | WriteScratchpad | AppendScratchpad | ClearScratchpad
"""Commands that a scratchpad wrapper answers."""

_MEMORY_COMMANDS: Final = (ReadScratchpad, WriteScratchpad, AppendScratchpad, ClearScratchpad)
_SKIPPED: Final = "skipped: the command before && failed"
_NO_SCRATCHPAD: Final = "there is no scratchpad in this environment (wrap it in ycbench_env.wrappers.ScratchpadMemory)"
_CUT: Final = "not shown: the answers of this turn are long enough; ask again in another turn"
_INTERNAL: Final = "internal error, reported to the operator; nothing was changed"
_log: Final = logging.getLogger("ycbench_env")


class ScratchpadHandler(Protocol):
    """Answers the scratchpad's commands in their place within a turn; it is no part of the world."""

    def answer(self, command: MemoryCommand) -> JsonObject:
        """Carry a command out and return its answer, ``{"error": text}`` when it is refused."""
        ...


@attrs.frozen(slots=False)
class PlayedTurn:
    """A turn and what came of it.

    Args:
        state: The state after the turn.
        report: Answers and events, for the observation.
        invalid_commands: How many commands were not grammatical.
    """

    state: State
    report: TurnReport
    invalid_commands: int


def play_turn(state: State, action: object, scratchpad: ScratchpadHandler | None = None) -> PlayedTurn:
    """Return the state and the report after a turn; no text of an agent raises.

    Args:
        state: The state before the turn.
        action: A text with any number of commands, or a sequence of such texts.
        scratchpad: Who answers the scratchpad's commands, None for a refusal.

    Source: Y-9.
    """
    # Also after the end: what is no command is counted then, too.
    commands = parse_turn(action, grammar_for(state.config.world))
    if state.end_reason is not None:
        reason = refusal_after_end(state)
        answers = tuple(_refusal(parsed.text, reason) for parsed in commands)
        return PlayedTurn(state, TurnReport(answers), sum([parsed.command is None for parsed in commands]))
    before = state
    replies: list[Answer] = []
    events: list[Event] = []
    invalid = length = 0
    failed = False
    for parsed in commands:
        if parsed.chained and failed:
            reply = _refusal(parsed.text, _SKIPPED)
        elif parsed.command is None:
            invalid += 1
            reply = _refusal(parsed.text, parsed.error or "")
        else:
            state, reply, happened = _carry_out(state, parsed, scratchpad, brief=length > MAX_ANSWERS_LENGTH)
            events.extend(happened)
        replies.append(reply)
        length += len(reply.output_json)
        failed = not reply.ok  # a skipped command counts, so that a chain stops as a whole
    state, forced = _count_turn(before, state)
    if forced:
        state, happened = _force(state)
        events.extend(happened)
    return PlayedTurn(state, TurnReport(tuple(replies), tuple(events), forced), invalid)


def _count_turn(before: State, state: State) -> tuple[State, bool]:
    """Return the state with its turn counters moved on, and whether time must be moved by force. Source: Y-9."""
    idle = 0 if state.now_us != before.now_us else before.idle_turns + 1
    limit = state.config.loop.auto_advance_after_turns
    # The world's own end, not the turn limit's: the last turn allowed has its forced advance, too.
    forced = 0 < limit <= idle and state.terminal_reason is None
    counted = evolve(state, turns_played=state.turns_played + 1, idle_turns=0 if forced else idle)
    return counted, forced


def _force(state: State) -> tuple[State, tuple[Event, ...]]:
    """Move time on; an internal fault is logged and leaves the world as it was, as in a command."""
    try:
        outcome = advance(state)
    except Exception:  # noqa: BLE001 -- the documented rule for internal faults (docs/rules.md, Y-9)
        _log.exception("internal error in a forced advance")
        return state, ()
    return outcome.state, outcome.events


def _carry_out(
    state: State, parsed: ParsedCommand, scratchpad: ScratchpadHandler | None, *, brief: bool
) -> tuple[State, Answer, tuple[Event, ...]]:
    """Return the state after a command, its answer (only whether it was carried out, when brief) and what happened.

    A fault of this program is logged for the operator and answered without a trace; the world stays as it was.
    """
    try:
        return _answered(state, parsed, scratchpad, brief=brief)
    except Exception:  # noqa: BLE001 -- the documented rule for internal faults (docs/rules.md, Y-9)
        _log.exception("internal error in command %r", parsed.text[:200])
        return state, _refusal(parsed.text, _INTERNAL), ()


def _answered(
    state: State, parsed: ParsedCommand, scratchpad: ScratchpadHandler | None, *, brief: bool
) -> tuple[State, Answer, tuple[Event, ...]]:
    command = parsed.command
    # A command earlier in the turn may have ended the episode; then help and notes are refused like everything else.
    if isinstance(command, Help) and state.end_reason is None:
        grammar = grammar_for(state.config.world)
        return state, _reply(parsed.text, {"cut": _CUT} if brief else {"help": help_text(command.topic, grammar)}), ()
    if isinstance(command, _MEMORY_COMMANDS) and state.end_reason is None:
        output: JsonObject = {"error": _NO_SCRATCHPAD} if scratchpad is None else scratchpad.answer(command)
        return state, _reply(parsed.text, {"cut": _CUT} if brief and "error" not in output else output), ()
    assert command is not None  # noqa: S101 -- the caller has looked
    outcome = transition(state, command)
    if brief and outcome.refusal is None:
        return outcome.state, _reply(parsed.text, {"cut": _CUT}), outcome.events
    output, output_json = encoded_answer(state, command, outcome)
    return outcome.state, Answer(parsed.text, outcome.refusal is None, output, output_json), outcome.events


def _reply(text: str, output: JsonObject) -> Answer:
    return Answer(text, "error" not in output, output, to_json(output))


def _refusal(text: str, reason: str) -> Answer:
    return _reply(text, {"error": reason})
