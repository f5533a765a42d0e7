"""Whether a request is one that servers take: the strictest rules of those in use, together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ycbench_agents.llm.check import check_messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.base import Json, JsonObject

__all__ = ["request_problems"]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOST_CALLS: Final = 128


def request_problems(request: JsonObject) -> list[str]:
    """Return what is wrong with the body of a request, nothing for a valid one.

    ``check_messages`` has the rules of a conversation. Beside them a model is named, nothing is to be streamed, names
    of functions are those that the interface allows, lists are not empty, and a message has at most 128 calls.
    """
    messages = request.get("messages")
    problems = list(_head_problems(request))
    if not isinstance(messages, list) or not messages:
        return [*problems, "messages: expected a list that is not empty"]
    objects = [message for message in messages if isinstance(message, dict)]
    if len(objects) < len(messages):
        return [*problems, "messages: expected objects only"]
    return [*problems, *check_messages(objects), *_call_problems(objects)]


def _head_problems(request: JsonObject) -> Iterator[str]:
    model = request.get("model")
    if not isinstance(model, str) or not model:
        yield "model: expected a text that is not empty"
    if request.get("stream"):
        yield "stream: this server does not stream"
    if "tools" in request:
        tools = request["tools"]
        if not isinstance(tools, list) or not tools:
            yield "tools: expected a list that is not empty, or no such field"
        elif not all(_is_name(_function_name(tool)) for tool in tools):
            yield f"tools: expected functions whose names are of the form {_NAME.pattern}"


def _call_problems(messages: list[JsonObject]) -> Iterator[str]:
    for place, message in enumerate(messages):
        calls = message.get("tool_calls")
        if not isinstance(calls, list):
            continue
        if len(calls) > _MOST_CALLS:
            yield f"message {place}: it has {len(calls)} calls, at most {_MOST_CALLS} are taken"
        if not all(_is_name(_function_name(call)) for call in calls):
            yield f"message {place}: the name of a function is not of the form {_NAME.pattern}"


def _function_name(holder: Json) -> Json:
    """Return the name in a tool or a call, None where there is none."""
    function = holder.get("function") if isinstance(holder, dict) else None
    return function.get("name") if isinstance(function, dict) else None


def _is_name(name: Json) -> bool:
    return isinstance(name, str) and _NAME.fullmatch(name) is not None
