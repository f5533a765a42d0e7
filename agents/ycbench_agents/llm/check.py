"""What is wrong with the messages of a request; for tests, and for servers that stand in for a strict one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, cast

from ycbench_agents.llm.characters import is_utf8

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ycbench_agents.base import Json, JsonObject

__all__ = ["check_messages"]

_ROLES: Final = ("system", "user", "assistant", "tool")


def check_messages(messages: Sequence[JsonObject]) -> list[str]:
    """Return what is wrong with the messages of a request, nothing for a valid one.

    The rules are those that strict servers share: one system message, first; then user and model in turn, beginning and
    ending with the user; each call of a message answered once, in order, directly after it; ids that are not empty and
    differ within a message; arguments that are a JSON object; no blank text; nothing that UTF-8 cannot hold.
    """
    roles = [message.get("role") for message in messages]
    problems = list(_order_problems(roles))
    for index, message in enumerate(messages):
        problems += [f"message {index}: {text}" for text in (*_text_problems(message), *_call_problems(message))]
    return problems + list(_answer_problems(messages))


def _order_problems(roles: Sequence[Json]) -> Iterator[str]:
    if not roles or roles[0] != "system":
        yield "the first message is not the system's"
    if not roles or roles[-1] != "user":
        yield "the last message is not the user's"
    speaker: Json = "system"
    for index, role in enumerate(roles):
        if role not in _ROLES:
            yield f"message {index}: there is no role {role!r}"
        if role == "system" and index:
            yield f"message {index}: a second system message"
        if role == "user" and speaker == "user":
            yield f"message {index}: the user speaks twice in a row"
        if role == "assistant" and speaker != "user":
            yield f"message {index}: the model speaks without being asked"
        speaker = speaker if role == "tool" else role


def _text_problems(message: JsonObject) -> Iterator[str]:
    content = message.get("content")
    if content is None and message.get("role") == "assistant":
        if not message.get("tool_calls"):
            yield "it has neither text nor calls"
    elif not isinstance(content, str):
        yield f"its content is of type {type(content).__name__}, not a text"
    elif not content.strip():
        yield "its text is blank"
    if not is_utf8(json.dumps(message, ensure_ascii=False)):
        yield "UTF-8 cannot hold it"


def _call_problems(message: JsonObject) -> Iterator[str]:
    if "tool_calls" not in message:
        return
    calls = message["tool_calls"]
    if message.get("role") != "assistant" or not isinstance(calls, list) or not calls:
        yield "its tool_calls are no list of calls, or are not the model's"
        return
    ids = _ids(calls)
    if not all(isinstance(call_id, str) and call_id.strip() for call_id in ids):
        yield "a call has no id"
    if len(set(map(repr, ids))) < len(ids):
        yield "two calls have one id"
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or call.get("type") != "function" or not isinstance(function, dict):
            yield "a call is no call of a function"
        elif not isinstance(function.get("name"), str) or not function["name"]:
            yield "a call names no function"
        elif not _is_object(function.get("arguments")):
            yield "the arguments of a call are not the text of a JSON object"


def _ids(calls: Sequence[Json]) -> list[Json]:
    return [call.get("id") if isinstance(call, dict) else None for call in calls]


def _is_object(arguments: Json) -> bool:
    try:
        return isinstance(arguments, str) and isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _answer_problems(messages: Sequence[JsonObject]) -> Iterator[str]:
    """Yield what is wrong with the answers: they follow the message with their calls, one for each, in order."""
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            continue
        calls = message.get("tool_calls")
        expected = _ids(cast("list[Json]", calls)) if isinstance(calls, list) else []
        given: list[Json] = []
        for follower in messages[index + 1 :]:
            if follower.get("role") != "tool":
                break
            given.append(follower.get("tool_call_id"))
        if given != expected:
            yield f"message {index}: its calls are {expected!r}, the answers after it are for {given!r}"
    if messages and messages[0].get("role") == "tool":
        yield "message 0: an answer without a call"
