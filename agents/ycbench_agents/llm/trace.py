"""Replies and decisions as JSON, exactly there and back, so that a recorded decision can be recalled.

Invariants, each of them a test:

- ``reply_from_json(json.loads(json.dumps(reply_to_json(reply))))`` is ``normalised(reply)``, for any reply.
- ``normalised`` changes only what JSON cannot hold: halves of a character that stand side by side become the character,
  numbers that are not finite become text, and what is nested too deep becomes a text that says so.
- Equal messages have equal hashes, whatever the order of their keys.

Lone surrogates, which a model may send as escapes, are kept; they go to a file as the ASCII escapes of ``json.dumps``.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Final, cast

import attrs

from ycbench_agents.llm.message import ChatReply, TokenUsage, ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.llm.reply import Plan

__all__ = [
    "RecordedDecision",
    "decision_trace",
    "messages_sha256",
    "normalised",
    "read_trace",
    "reply_from_json",
    "reply_to_json",
]

_MAX_DEPTH: Final = 128  # deeper than what the client lets through
_TOO_DEEP: Final = "[nested too deep to be kept]"
_SHA256_LENGTH: Final = 64
_MAX_SHOWN: Final = 80


def reply_to_json(reply: ChatReply) -> JsonObject:
    """Return a reply as a fresh JSON object."""
    return {
        "content": _plain(reply.content),
        "tool_calls": [
            {"id": _joined(call.id), "name": _joined(call.name), "arguments": _plain(call.arguments)}
            for call in reply.tool_calls
        ],
        "finish_reason": _plain(reply.finish_reason),
        "reasoning": _plain_object(reply.reasoning, _MAX_DEPTH),
        "usage": {
            "prompt": reply.usage.prompt,
            "completion": reply.usage.completion,
            "cached": reply.usage.cached,
            "reasoning": reply.usage.reasoning,
        },
        "model": _plain(reply.model),
    }


def reply_from_json(value: Json) -> ChatReply:
    """Return the reply that ``reply_to_json`` described.

    Raises:
        ValueError: The value describes none; the message names the place.
    """
    fields = _object("reply", value)
    return ChatReply(
        content=_text_or_none("reply.content", fields.get("content")),
        tool_calls=tuple(
            _tool_call(f"reply.tool_calls[{index}]", call)
            for index, call in enumerate(_list("reply.tool_calls", fields.get("tool_calls")))
        ),
        finish_reason=_text_or_none("reply.finish_reason", fields.get("finish_reason")),
        reasoning=_plain_object(_object("reply.reasoning", fields.get("reasoning")), _MAX_DEPTH),
        usage=_usage(_object("reply.usage", fields.get("usage"))),
        model=_text_or_none("reply.model", fields.get("model")),
    )


def normalised(reply: ChatReply) -> ChatReply:
    """Return the reply as it comes back from a record; equal to the reply for all that a well-behaved server sends."""
    return reply_from_json(reply_to_json(reply))


def messages_sha256(messages: Sequence[JsonObject]) -> str:
    """Return the SHA-256 of messages as hex."""
    text = json.dumps(list(messages), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@attrs.frozen
class RecordedDecision:
    """What ``recall`` needs of a trace.

    Args:
        reply: What the model said.
        messages_sha256: Hash of what it was asked.
        shrunk_to: How many earlier turns it was shown at most after its context had been too small; None before.
    """

    reply: ChatReply
    messages_sha256: str
    shrunk_to: int | None


def decision_trace(decision: RecordedDecision, plan: Plan, cost_usd: float | None) -> JsonObject:
    """Return the trace of a decision.

    Args:
        decision: What was asked and said.
        plan: What becomes of the reply.
        cost_usd: What it cost, in dollars; None where that is unknown.

    Returns:
        ``reply``, ``messages_sha256`` and ``shrunk_to`` for ``recall``; for readers ``prompt_tokens``,
        ``completion_tokens``, ``cached_tokens``, ``reasoning_tokens`` (None is unknown), ``cost_usd``,
        ``refused_calls`` and ``unusable_replies`` (1 for a reply of which nothing was run).
    """
    usage = decision.reply.usage
    return {
        "reply": reply_to_json(decision.reply),
        "messages_sha256": decision.messages_sha256,
        "shrunk_to": decision.shrunk_to,
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cached_tokens": usage.cached,
        "reasoning_tokens": usage.reasoning,
        "cost_usd": cost_usd,
        "refused_calls": sum(call.refusal is not None for call in plan.calls),
        "unusable_replies": int(not plan.turn),
    }


def read_trace(trace: JsonObject) -> RecordedDecision:
    """Return what ``decision_trace`` wrote down for ``recall``.

    Raises:
        ValueError: It is no such trace; the message names the place.
    """
    fields = _object("trace", trace)
    sha256 = fields.get("messages_sha256")
    if not isinstance(sha256, str) or len(sha256) != _SHA256_LENGTH:
        place = "messages_sha256"
        raise _unfit(place, sha256, "a SHA-256 as 64 hex digits")
    return RecordedDecision(
        reply=reply_from_json(fields.get("reply")),
        messages_sha256=sha256,
        shrunk_to=_count_or_none("shrunk_to", fields.get("shrunk_to")),
    )


# ---- out: what JSON can hold


def _joined(text: str) -> str:
    """Return a text in which two halves of a character are that character, as JSON's escapes join them."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _plain(value: Json, depth: int = _MAX_DEPTH) -> Json:
    """Return a fresh copy that goes through strict JSON unchanged; ``depth`` is how many levels may follow."""
    if isinstance(value, str):
        return _joined(value)
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, list | dict) and not depth:
        return _TOO_DEEP
    if isinstance(value, list):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return _plain_object(value, depth)
    return value


def _plain_object(value: Mapping[str, Json], depth: int) -> JsonObject:
    return {_joined(key): _plain(item, depth - 1) for key, item in value.items()}


# ---- in: checked, since a record may have been edited


def _unfit(place: str, got: object, expected: str) -> ValueError:
    shown = repr(got)
    shown = shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}..."
    return ValueError(f"trace of a decision, {place}: got {shown}, expected {expected}")


def _object(place: str, value: object) -> JsonObject:
    if not isinstance(value, dict):
        raise _unfit(place, value, "a JSON object")
    return cast("JsonObject", value)


def _list(place: str, value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise _unfit(place, value, "a JSON list")
    return value


def _text(place: str, value: Json) -> str:
    if not isinstance(value, str):
        raise _unfit(place, value, "a text")
    return value


def _text_or_none(place: str, value: Json) -> str | None:
    return None if value is None else _text(place, value)


def _count_or_none(place: str, value: Json) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise _unfit(place, value, "a whole number from 0, or null")


def _tool_call(place: str, value: Json) -> ToolCall:
    fields = _object(place, value)
    return ToolCall(
        id=_text(f"{place}.id", fields.get("id")),
        name=_text(f"{place}.name", fields.get("name")),
        arguments=_plain(fields.get("arguments")),
    )


def _usage(fields: JsonObject) -> TokenUsage:
    return TokenUsage(
        prompt=_count_or_none("reply.usage.prompt", fields.get("prompt")),
        completion=_count_or_none("reply.usage.completion", fields.get("completion")),
        cached=_count_or_none("reply.usage.cached", fields.get("cached")),
        reasoning=_count_or_none("reply.usage.reasoning", fields.get("reasoning")),
    )
