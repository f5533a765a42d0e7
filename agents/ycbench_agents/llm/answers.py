"""Which of a turn's answers belong to which call.

Invariants, each of them a test:

- A call is never given the answer to another call's command. Where answers and commands do not match, which only
  something between policy and environment can bring about, all answers stand with the first call that was run.
- Each call has at least one answer, and those of a turn have at most ``MAX_ANSWERS_LENGTH`` characters and a few more
  for each call, however long the environment's are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

import attrs

from ycbench_env.actions import parse_turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.llm.reply import Plan, PlannedCall

__all__ = ["MAX_ANSWERS_LENGTH", "CommandAnswer", "answers_by_call"]

MAX_ANSWERS_LENGTH: Final = 65_536
"""Characters that the answers of a turn have in a conversation; what no longer fits is counted."""

_CERTAIN_ECHO: Final = 300  # characters of a command that the environment repeats in any case
_UNMATCHED: Final = (
    "the answers of this turn do not match its commands; they all stand with the first call that was run"
)


@attrs.frozen
class CommandAnswer:
    """An answer as it is shown.

    Args:
        command: The command that it answers, None where it answers a call as a whole.
        output: The answer, as compact JSON.
        commands: How many commands it stands for.
    """

    command: str | None
    output: str
    commands: int = 1


def answers_by_call(plan: Plan, results: str) -> tuple[tuple[CommandAnswer, ...], ...]:
    """Return the answers of each call of a plan, in order.

    Args:
        plan: What was run and refused.
        results: ``results`` of the observation after the turn: JSON list of {"command", "ok", "output"}; a last element
            {"cut_results": number} counts answers that had no room.

    Raises:
        ValueError: ``results`` is no such list.
    """
    entries = _entries(results)
    shares = iter(_shares([call for call in plan.calls if call.texts], plan.turn, entries))
    room = MAX_ANSWERS_LENGTH
    answered: list[tuple[CommandAnswer, ...]] = []
    for call in plan.calls:
        share, room = _fitting(next(shares) if call.texts else (_refusal(call.refusal or ""),), room)
        answered.append(share)
    return tuple(answered)


def _entries(results: str) -> list[JsonObject]:
    decoded: object = json.loads(results)
    if isinstance(decoded, list):
        entries = cast("list[object]", decoded)
        if all(isinstance(entry, dict) for entry in entries):
            return cast("list[JsonObject]", entries)
    msg = f"observation: got results that begin with {results[:80]!r}, expected a JSON list of objects"
    raise ValueError(msg)


def _shares(
    calls: Sequence[PlannedCall], turn: tuple[str, ...], entries: list[JsonObject]
) -> list[tuple[CommandAnswer, ...]]:
    """Return the answers of each call that was run."""
    counts = [sum(len(parse_turn(text)) for text in call.texts) for call in calls]
    commands = [parsed.text for parsed in parse_turn(turn)]
    cut = _cut(entries)
    shown = entries[:-1] if cut else entries
    if len(shown) + cut != len(commands) or not all(map(_echoes, shown, commands)):
        return _unmatched(len(calls), entries)
    if len(commands) != sum(counts):  # refused as a whole, with one answer for all of it
        return [tuple(map(_answer, shown)) for _ in calls]
    shares: list[tuple[CommandAnswer, ...]] = []
    for count in counts:
        own, shown = shown[:count], shown[count:]
        missing = count - len(own)
        shares.append((*map(_answer, own), *([_cut_answer(missing)] if missing else [])))
    return shares


def _cut(entries: list[JsonObject]) -> int:
    """Return how many answers the environment had no room for."""
    count = entries[-1].get("cut_results") if entries else None
    return count if isinstance(count, int) and "command" not in entries[-1] else 0


def _echoes(entry: JsonObject, command: str) -> bool:
    echo = entry.get("command")
    return isinstance(echo, str) and echo[:_CERTAIN_ECHO] == command[:_CERTAIN_ECHO]


def _unmatched(calls: int, entries: list[JsonObject]) -> list[tuple[CommandAnswer, ...]]:
    note = CommandAnswer(None, _json({"error": _UNMATCHED}))
    everything = (note, *(_answer(entry) for entry in entries if "output" in entry))
    return [everything if number == 0 else (note,) for number in range(calls)]


def _answer(entry: JsonObject) -> CommandAnswer:
    return CommandAnswer(str(entry.get("command", "")), _json(entry.get("output")))


def _refusal(reason: str) -> CommandAnswer:
    return CommandAnswer(None, _json({"error": reason}))


def _cut_answer(count: int) -> CommandAnswer:
    return CommandAnswer(None, _json({"cut_results": count}), count)


def _fitting(answers: tuple[CommandAnswer, ...], room: int) -> tuple[tuple[CommandAnswer, ...], int]:
    """Return what fits of a call's answers, and the room that is left; what does not is said and counted."""
    fitting: list[CommandAnswer] = []
    for index, answer in enumerate(answers):
        answer = _shortened(answer, room)  # noqa: PLW2901 -- the same answer, as far as there is room
        room -= _length(answer)
        if room < 0:
            return (*fitting, _cut_answer(sum(cut.commands for cut in answers[index:]))), 0
        fitting.append(answer)
    return tuple(fitting), room


def _shortened(answer: CommandAnswer, room: int) -> CommandAnswer:
    if _length(answer) <= room:
        return answer
    return attrs.evolve(answer, output=_json({"cut": len(answer.output)}))


def _length(answer: CommandAnswer) -> int:
    return len(answer.command or "") + len(answer.output)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
