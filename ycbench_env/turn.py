"""One turn: any number of commands, answered in order, and the forced advance. Source: Y-9."""

from __future__ import annotations

import logging
from typing import Final, Protocol

import attrs

from ycbench_env.actions import grammar_for, help_text, parse_turn
from ycbench_env.observation import Answer, TurnReport, encoded_answer
from ycbench_env.text import JsonObject, to_json
from ycbench_env.transition import advance, refusal_after_end, transition
from ycbench_env.types.command import Command, Help, MemoryCommand
from ycbench_env.types.event import Event
from ycbench_env.types.state import State, evolve

MAX_ANSWERS_LENGTH: Final = 2_000_000
"""Characters of JSON that a turn's answers may have; commands after that are carried out and answered briefly."""

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
    """The state after a turn, its answers and events, and how many of its commands were not grammatical."""

    state: State
    report: TurnReport
    invalid_commands: int


def play_turn(state: State, action: object, scratchpad: ScratchpadHandler | None = None) -> PlayedTurn:
    """Return the state and the report after a turn; no text of an agent raises.

    A fault of this program is logged for the operator and answered without a trace; the world stays as it was.

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
        answers = tuple(_reply(parsed.text, {"error": reason}) for parsed in commands)
        return PlayedTurn(state, TurnReport(answers), sum([parsed.command is None for parsed in commands]))
    before = state
    replies: list[Answer] = []
    events: list[Event] = []
    invalid = length = 0
    failed = False
    for parsed in commands:
        if parsed.chained and failed:
            reply = _reply(parsed.text, {"error": _SKIPPED})
        elif parsed.command is None:
            invalid += 1
            reply = _reply(parsed.text, {"error": parsed.error})
        else:
            try:
                brief = length > MAX_ANSWERS_LENGTH
                state, reply, happened = _carry_out(state, parsed.text, parsed.command, scratchpad, brief=brief)
                events.extend(happened)
            except Exception:  # noqa: BLE001 -- the documented rule for internal faults (docs/rules.md, Y-9)
                _log.exception("internal error in command %r", parsed.text[:200])
                reply = _reply(parsed.text, {"error": _INTERNAL})
        replies.append(reply)
        length += len(reply.output_json)
        failed = not reply.ok  # a skipped command counts, so that a chain stops as a whole
    idle = 0 if state.now_us != before.now_us else before.idle_turns + 1
    # The world's own end counts, not the turn limit's: the last turn allowed has its forced advance, too.
    forced = 0 < state.config.loop.auto_advance_after_turns <= idle and state.terminal_reason is None
    state = evolve(state, turns_played=state.turns_played + 1, idle_turns=0 if forced else idle)
    if forced:
        try:
            outcome = advance(state)
            state = outcome.state
            events.extend(outcome.events)
        except Exception:  # noqa: BLE001 -- as above
            _log.exception("internal error in a forced advance")
    return PlayedTurn(state, TurnReport(tuple(replies), tuple(events), forced), invalid)


def _carry_out(
    state: State, text: str, command: Command, scratchpad: ScratchpadHandler | None, *, brief: bool
) -> tuple[State, Answer, tuple[Event, ...]]:
    """Return the state after a command, its answer (only whether it was carried out, when brief) and what happened."""
    # A command earlier in the turn may have ended the episode; then help and notes are refused like everything else.
    goes_on = state.end_reason is None
    output: JsonObject
    if goes_on and isinstance(command, Help):
        output = {"help": help_text(command.topic, grammar_for(state.config.world))}
    elif goes_on and isinstance(command, MemoryCommand):
        output = {"error": _NO_SCRATCHPAD} if scratchpad is None else scratchpad.answer(command)
    else:
        outcome = transition(state, command)
        if brief and outcome.refusal is None:
            return outcome.state, _reply(text, {"cut": _CUT}), outcome.events
        output, output_json = encoded_answer(state, command, outcome)
        return outcome.state, Answer(text, outcome.refusal is None, output, output_json), outcome.events
    return state, _reply(text, {"cut": _CUT} if brief and "error" not in output else output), ()


def _reply(text: str, output: JsonObject) -> Answer:
    return Answer(text, "error" not in output, output, to_json(output))
