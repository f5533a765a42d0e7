"""The conversation so far, and the messages that it makes at any window.

- The messages are valid for the chat interface at every window: one system message, at the beginning, then whole
  turns, then the present; each call is answered once, in order, directly after the message that holds it; two messages
  of the user or the model never follow one another; no message of the model is empty.
- A turn is shown whole or not at all. Where the last one is not shown, a message states it.
- A call never gets the answer to another call's command.
- Only fields of reasoning that the settings name are sent back; thoughts in the text never are.
- What is sent back of a turn is bounded: the model's text, its reasoning, the arguments of its calls, and the answers.

A turn is: a message of the user with status and events, the model's message, and the answers to its calls. Answers
stand in messages of the role ``tool``, for a model without tools in the user's next message.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import attrs

from ycbench_agents import files
from ycbench_agents.llm.reply import ChatReply, Plan, without_thoughts
from ycbench_agents.llm.settings import Mode
from ycbench_env import Observation
from ycbench_env.actions import parse_turn
from ycbench_env.text import Json, JsonObject, shown, to_json
from ycbench_env.wrappers import Window, estimate_tokens, gone_marker

MAX_ANSWERS_LENGTH: Final = 65_536
"""Characters that the answers of a turn have in a conversation; what no longer fits is counted."""

_MAX_TEXT_LENGTH: Final = 65_536  # of the model's text, and of its reasoning
_CERTAIN_ECHO: Final = 300  # characters of a command that the environment repeats in any case


@attrs.frozen
class CommandAnswer:
    """An answer as it is shown."""

    command: str | None  # None where it answers a call as a whole
    output: str  # compact JSON
    commands: int = 1  # that it stands for


@attrs.frozen
class Exchange:
    """One turn of the conversation."""

    status: str  # with events; the user's message before the model's
    reply: ChatReply
    plan: Plan
    answers: tuple[tuple[CommandAnswer, ...], ...]  # of each call of the plan, in order


def status_text(observation: Observation) -> str:
    """Return the part of an observation with status and events, without answers and notes."""
    return re.split(r"^(?:> |Scratchpad:$)", observation["text"], maxsplit=1, flags=re.MULTILINE)[0].removesuffix("\n")


def messages(  # noqa: PLR0913 -- each changes the messages
    system: str,
    exchanges: Window[Exchange],
    status: str,
    last: Exchange | None = None,
    *,
    mode: Mode,
    replay_reasoning: Sequence[str] = (),
) -> tuple[JsonObject, ...]:
    """Return the messages of a request, fresh.

    Args:
        system: System prompt.
        exchanges: The turns that the model is shown.
        status: Status and events now, for the last message.
        last: The turn before, also where the window does not hold it; None at the start of an episode.
        mode: Whether answers go to a model with tools or to one without.
        replay_reasoning: Names of the fields of reasoning that are sent back.
    """
    listed: list[JsonObject] = [{"role": "system", "content": system}]
    before = ""
    for exchange in exchanges.turns:
        listed += [_user(before, exchange.status), *_turn(exchange, mode, replay_reasoning)]
        before = _left_over(exchange, mode)
    if not exchanges.turns and last is not None:
        not_shown = "The answers to your last turn are not shown here." if last.answers else ""
        before = "\n\n".join(filter(None, (last.plan.note, not_shown)))
    listed.append(_user(before, status))
    listed[1] = _user(gone_marker(exchanges.dropped), str(listed[1]["content"]))
    return tuple(listed)


def exchange_tokens(exchange: Exchange, mode: Mode, replay_reasoning: Sequence[str]) -> int:
    """Return about how many tokens a turn adds to a request, by estimate and rather too many than too few."""
    listed = [_user("", exchange.status), *_turn(exchange, mode, replay_reasoning)]
    return count_tokens(listed) + estimate_tokens(json.dumps(f"{_left_over(exchange, mode)}\n\n"))


def count_tokens(listed: Sequence[Json]) -> int:
    """Return about how many tokens messages or tools have, by estimate."""
    return estimate_tokens(json.dumps(list(listed), ensure_ascii=False))


def prompt_sha256(listed: Sequence[JsonObject]) -> str:
    """Return the SHA-256 of the messages of a request as 64 hex digits, whatever the order of their keys."""
    return hashlib.sha256(files.to_json(list(listed), sort_keys=True).encode("ascii")).hexdigest()


def _user(before: str, status: str) -> JsonObject:
    return {"role": "user", "content": f"{before}\n\n{status}" if before else status}


def _turn(exchange: Exchange, mode: Mode, replay_reasoning: Sequence[str]) -> Iterator[JsonObject]:
    """Yield the model's message and the answers that follow it directly."""
    calls = exchange.plan.calls if mode == "tools" else ()
    text = without_thoughts(exchange.reply.content or "")
    message: JsonObject = {"role": "assistant", "content": None}  # servers refuse blank texts
    if text.strip():
        message["content"] = _cut(text, _MAX_TEXT_LENGTH)
    elif not calls:
        message["content"] = "(nothing)"
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    room = _MAX_TEXT_LENGTH
    for name in replay_reasoning:
        value: Json = exchange.reply.reasoning.get(name)
        if isinstance(value, str):
            value = _cut(value, room)
        length = len(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        if value is not None and (isinstance(value, str) or length <= room):
            message[name] = copy.deepcopy(value)
            room = max(0, room - length)
    yield message
    for call, answers in zip(calls, exchange.answers, strict=bool(calls)):
        output = answers[0].output if len(answers) == 1 else _lines(answers)
        yield {"role": "tool", "tool_call_id": call.id, "content": output}


def _left_over(last: Exchange, mode: Mode) -> str:
    """Return what the user's next message repeats of a turn, since no answer to a call holds it."""
    parts = [last.plan.note] if last.plan.note else []
    if mode == "text" and last.answers:
        parts.append("Answers to your last turn:\n" + "\n".join(map(_lines, last.answers)))
    return "\n\n".join(parts)


def _lines(answers: tuple[CommandAnswer, ...]) -> str:
    return "\n".join(
        answer.output if answer.command is None else f"> {answer.command}\n{answer.output}" for answer in answers
    )


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room]}... [cut: {len(text) - room} characters more]"


# ---------------------------------------------------------------- which answers belong to which call


def answers_by_call(plan: Plan, results: str) -> tuple[tuple[CommandAnswer, ...], ...]:
    """Return the answers of each call of a plan, in order; each call has at least one.

    Args:
        plan: What was run and refused.
        results: ``results`` of the observation after the turn: JSON list of {"command", "ok", "output"}; a last element
            {"cut_results": number} counts answers that had no room.

    Raises:
        ValueError: ``results`` is no such list, or answers other commands.
    """
    return _fitting(_matched(plan, _answers(plan, results)))


def _answers(plan: Plan, results: str) -> list[CommandAnswer]:
    """Return the answers to the commands of a turn, checked; the last ones may be missing."""
    entries: Any = json.loads(results)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        msg = f"observation: got results {shown(results)}, expected a JSON list of objects"
        raise ValueError(msg)
    cut = entries.pop().get("cut_results", 0) if entries and "command" not in entries[-1] else 0
    commands = [parsed.text[:_CERTAIN_ECHO] for parsed in parse_turn(plan.turn)]
    echoes = [str(entry.get("command", ""))[:_CERTAIN_ECHO] for entry in entries]
    if len(echoes) + cut != len(commands) or echoes != commands[: len(echoes)]:
        msg = f"observation: got results {shown(results)}, which do not answer the commands of the last turn"
        raise ValueError(msg)
    return [CommandAnswer(str(entry["command"]), to_json(entry.get("output"))) for entry in entries]


def _matched(plan: Plan, answers: list[CommandAnswer]) -> list[tuple[CommandAnswer, ...]]:
    """Return the answers of each call."""
    counts = [sum(len(parse_turn(text)) for text in call.texts) for call in plan.calls]
    is_refused_whole = len(parse_turn(plan.turn)) != sum(counts)  # with one answer for all of it
    matched: list[tuple[CommandAnswer, ...]] = []
    for call, count in zip(plan.calls, counts, strict=True):
        if not call.texts:
            matched.append((CommandAnswer(None, to_json({"error": call.refusal or ""})),))
        elif is_refused_whole:
            matched.append(tuple(answers))
        else:
            own, answers = answers[:count], answers[count:]
            missing = count - len(own)
            matched.append((*own, _cut_answers(missing)) if missing else tuple(own))
    return matched


def _fitting(matched: list[tuple[CommandAnswer, ...]]) -> tuple[tuple[CommandAnswer, ...], ...]:
    """Return as much of the answers as has room; what has none is counted."""
    room = MAX_ANSWERS_LENGTH
    fitting: list[tuple[CommandAnswer, ...]] = []
    for answers in matched:
        kept: list[CommandAnswer] = []
        for index, whole in enumerate(answers):
            command_length, answer = len(whole.command or ""), whole
            if command_length + len(whole.output) > room:
                answer = attrs.evolve(whole, output=to_json({"cut": len(whole.output)}))
            room -= command_length + len(answer.output)
            if room < 0:
                room = 0
                kept.append(_cut_answers(sum(cut.commands for cut in answers[index:])))
                break
            kept.append(answer)
        fitting.append(tuple(kept))
    return tuple(fitting)


def _cut_answers(count: int) -> CommandAnswer:
    return CommandAnswer(None, to_json({"cut_results": count}), count)
