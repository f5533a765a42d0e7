"""What a scripted model says, and the body in which the interface sends it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Final, TypeAlias

import attrs

from ycbench_agents.base import Json, JsonObject

__all__ = ["Model", "ScriptedReply", "completion_body", "digest", "prompt_tokens", "tool_call"]

_CHARACTERS_A_TOKEN: Final = 4
_CREATED: Final = 1_735_689_600  # a fixed moment: equal requests have equal answers, to the byte


@attrs.frozen
class ScriptedReply:
    """One reply. Fields are sent as they are, also where the interface would not allow them.

    Args:
        content: Text, or whatever else is to stand there.
        tool_calls: Calls, or whatever else; None leaves the field out.
        finish_reason: Why it ended; None for the reason that the interface has for such a reply.
        more: Further fields of the message, such as ``reasoning_content``.
    """

    content: Json = None
    tool_calls: Json = None
    finish_reason: str | None = None
    more: JsonObject = attrs.field(factory=dict[str, "Json"])


Model: TypeAlias = Callable[[JsonObject], "ScriptedReply | JsonObject"]
"""Answers the body of a request with a reply, or with a whole body; a pure function, so that a request that is sent
again is answered the same."""


def digest(*values: Json) -> str:
    """Return a text that is equal for equal values, on every machine."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def tool_call(call_id: str, name: str, arguments: Json) -> JsonObject:
    """Return a call in the interface's own form; arguments that are an object become JSON text."""
    text = json.dumps(arguments) if isinstance(arguments, dict) else arguments
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def prompt_tokens(request: JsonObject) -> int:
    """Return how many tokens a request has here: a quarter of its characters."""
    return len(json.dumps([request.get("messages"), request.get("tools")])) // _CHARACTERS_A_TOKEN


def completion_body(request: JsonObject, reply: ScriptedReply) -> JsonObject:
    """Return the body that sends a reply; usage is counted, and equal for equal requests."""
    message: JsonObject = {"role": "assistant", "content": reply.content, **reply.more}
    if reply.tool_calls is not None:
        message["tool_calls"] = reply.tool_calls
    reason = reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")
    prompt, completion = prompt_tokens(request), len(json.dumps(message)) // _CHARACTERS_A_TOKEN
    return {
        "id": f"chatcmpl-{digest(request)[:24]}",
        "object": "chat.completion",
        "created": _CREATED,
        "model": request.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }
