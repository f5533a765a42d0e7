"""The conversation so far, and the messages that it makes at any window.

Invariants, each of them a test:

- The messages are valid for the chat interface at every window: the system message first and only there, then whole
  turns, then the present; each call is answered once, in order, directly after the message that holds it; two messages
  of the user or the model never follow one another; no message of the model is empty.
- A turn is shown whole or not at all. Where the last one is not shown, the model is told so.
- Reasoning is sent back only where that is asked for: fields by their name, thoughts in the text never.
- All text can be written in UTF-8.
- What is sent back of one reply is bounded: its text, its reasoning and the arguments of its calls each on their own.

A turn is: what the user said, the model's message, and the answers to its calls. Answers stand in messages of the role
``tool``, for a model without tools in the user's next message.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal

import attrs

from ycbench_agents.llm.characters import utf8_text
from ycbench_agents.llm.thoughts import without_thoughts
from ycbench_env.wrappers import Window, estimate_tokens, gone_marker

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.llm.answers import CommandAnswer
    from ycbench_agents.llm.message import ChatReply
    from ycbench_agents.llm.reply import Plan
    from ycbench_env import Observation

__all__ = ["Exchange", "Present", "count_tokens", "exchange_tokens", "messages", "status_text"]

_MAX_CONTENT_LENGTH: Final = 65_536
_MAX_REASONING_LENGTH: Final = 65_536
_NOTHING_SAID: Final = "(nothing)"
_NOT_SHOWN: Final = "The answers to your last turn are not shown here."
_OWN_KEYS: Final = frozenset({"role", "content", "tool_calls", "name", "refusal", "function_call", "audio"})


@attrs.frozen
class Exchange:
    """One turn of the conversation.

    Args:
        said: What the user said of the world before it: status and events.
        reply: What the model said.
        plan: What became of the reply.
        answers: Answers of each call of the plan, in order.
    """

    said: str
    reply: ChatReply
    plan: Plan
    answers: tuple[tuple[CommandAnswer, ...], ...]


@attrs.frozen
class Present:
    """What the user says now.

    Args:
        said: Status and events.
        last: The turn before, also where the window does not hold it; None at the start of an episode.
    """

    said: str
    last: Exchange | None = None


def status_text(observation: Observation) -> str:
    """Return what an observation says of the world and of what happened, without answers and notes."""
    lines: list[str] = []
    for line in observation["text"].split("\n"):
        if line.startswith("> ") or line == "Scratchpad:":
            break
        lines.append(line)
    return "\n".join(lines)


def messages(
    system: str,
    exchanges: Window[Exchange],
    present: Present,
    *,
    mode: Literal["tools", "text"],
    replay_reasoning: Sequence[str] = (),
) -> tuple[JsonObject, ...]:
    """Return the messages of a request, fresh.

    Args:
        system: System prompt.
        exchanges: The turns that the model is shown.
        present: What the user says now.
        mode: Whether answers go to a model with tools or to one without.
        replay_reasoning: Names of the fields of reasoning that are sent back.
    """
    listed: list[JsonObject] = [{"role": "system", "content": utf8_text(system)}]
    last: Exchange | None = None
    for exchange in exchanges.turns:
        listed.append(_user(exchange.said, _unheard(last, mode)))
        listed += _turn(exchange, mode, replay_reasoning)
        last = exchange
    listed.append(_user(present.said, _unheard(last, mode) if last else _unshown(present.last)))
    marker = gone_marker(exchanges.dropped)
    if marker:
        listed[1]["content"] = f"{marker}\n\n{listed[1]['content']}"
    return tuple(listed)


def exchange_tokens(exchange: Exchange, mode: Literal["tools", "text"], replay_reasoning: Sequence[str]) -> int:
    """Return about how many tokens a turn adds to a request, by estimate and rather too many than too few."""
    listed = [_user(exchange.said, None), *_turn(exchange, mode, replay_reasoning)]
    return count_tokens(listed) + estimate_tokens(json.dumps(f"{_unheard(exchange, mode)}\n\n"))


def count_tokens(listed: Sequence[Json]) -> int:
    """Return about how many tokens messages or tools have, by estimate."""
    return estimate_tokens(json.dumps(list(listed), ensure_ascii=False))


def _turn(exchange: Exchange, mode: Literal["tools", "text"], replay_reasoning: Sequence[str]) -> Iterator[JsonObject]:
    """Yield the model's message and the answers that follow it directly."""
    yield _assistant(exchange, mode, replay_reasoning)
    if mode == "tools":
        for call, answers in zip(exchange.plan.calls, exchange.answers, strict=True):
            yield {"role": "tool", "tool_call_id": call.id, "content": utf8_text(_tool_text(answers))}


def _user(said: str, unheard: str | None) -> JsonObject:
    return {"role": "user", "content": utf8_text(f"{unheard}\n\n{said}" if unheard else said)}


def _unheard(last: Exchange | None, mode: Literal["tools", "text"]) -> str | None:
    """Return what the user has to say of the turn before: what no answer to a call says."""
    if last is None:
        return None
    parts = [last.plan.note] if last.plan.note else []
    if mode == "text" and last.answers:
        parts.append("Answers to your last turn:\n" + "\n".join(map(_lines, last.answers)))
    return "\n\n".join(parts)


def _unshown(last: Exchange | None) -> str | None:
    """Return what the user has to say of a turn before that is not in the window."""
    if last is None:
        return None
    parts = [last.plan.note, _NOT_SHOWN if last.answers else None]
    return "\n\n".join(part for part in parts if part)


def _tool_text(answers: tuple[CommandAnswer, ...]) -> str:
    """Return the answers of a call: the JSON of a single one, several with the commands that they answer."""
    return answers[0].output if len(answers) == 1 else _lines(answers)


def _lines(answers: tuple[CommandAnswer, ...]) -> str:
    return "\n".join(
        answer.output if answer.command is None else f"> {answer.command}\n{answer.output}" for answer in answers
    )


def _assistant(exchange: Exchange, mode: Literal["tools", "text"], replay_reasoning: Sequence[str]) -> JsonObject:
    content = _content(exchange.reply.content)
    message: JsonObject = {"role": "assistant", "content": content}
    if mode == "tools" and exchange.plan.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in exchange.plan.calls
        ]
    elif content is None:
        message["content"] = _NOTHING_SAID
    return message | _reasoning(exchange.reply.reasoning, replay_reasoning)


def _content(content: str | None) -> str | None:
    """Return the model's text as it is sent back; None for none, since servers refuse blank texts."""
    text = without_thoughts(utf8_text(content or ""))
    if not text.strip():
        return None
    return _cut(text, _MAX_CONTENT_LENGTH)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[:room]}... [cut: {len(text) - room} characters more]"


def _reasoning(fields: Mapping[str, Json], names: Sequence[str]) -> JsonObject:
    """Return the fields that are sent back, as far as there is room: texts are cut, others left out."""
    sent: JsonObject = {}
    room = _MAX_REASONING_LENGTH
    for name in names:
        if name not in fields or name in _OWN_KEYS or name in sent:
            continue
        value = _utf8(fields[name])
        if isinstance(value, str):
            value = _cut(value, room)
        length = len(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        if isinstance(value, str) or length <= room:
            sent[name] = value
            room = max(0, room - length)
    return sent


def _utf8(value: Json) -> Json:
    """Return a fresh copy in which all text can be written in UTF-8; replies are normalised, so this ends."""
    if isinstance(value, str):
        return utf8_text(value)
    if isinstance(value, list):
        return [_utf8(item) for item in value]
    if isinstance(value, dict):
        return {utf8_text(key): _utf8(item) for key, item in value.items()}
    return value
