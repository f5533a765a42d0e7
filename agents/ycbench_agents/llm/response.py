"""What a server's answer says: a reply, or a fault. Servers differ, and so do the shapes that are understood here."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.llm.characters import without_surrogates
from ycbench_agents.llm.message import ChatReply, ToolCall
from ycbench_agents.llm.retry import Fault, FaultKind, fault_kind, read_retry_after
from ycbench_agents.llm.settings import REASONING_FIELDS
from ycbench_agents.llm.usage import read_usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from ycbench_agents.base import Json, JsonObject

__all__ = ["HttpAnswer", "read_answer", "short"]

_LONGEST_MESSAGE: Final = 300
_DEEPEST: Final = 100  # of nested JSON; what is recorded must be readable with the recursion that Python allows
_SUCCESS: Final = range(200, 300)
_STATUSES: Final = range(100, 600)


@attrs.frozen
class HttpAnswer:
    """An answer as it came.

    Args:
        status: HTTP status.
        headers: Headers, in a mapping that ignores case or has lower-case names.
        text: Body.
    """

    status: int
    headers: Mapping[str, str]
    text: str


def short(text: str) -> str:
    """Return a text for an error message: one line, printable, cut if it is long."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= _LONGEST_MESSAGE else line[:_LONGEST_MESSAGE] + "..."


def read_answer(answer: HttpAnswer, now: datetime) -> ChatReply | Fault:
    """Return the reply in an answer, or why there is none; never raises.

    A status of success alone makes no reply: a page, broken JSON, an error, no choice or a choice without a message
    under status 200 are faults, too. Whatever stands in a message is a reply.

    Args:
        answer: The answer.
        now: The time, with a zone.
    """
    try:
        body = _decode(answer.text)
    except (ValueError, RecursionError):
        return _unreadable(answer, now)
    if answer.status not in _SUCCESS:
        return _fault(answer, body, now)
    choice = _first(_get(body, "choices"))
    for holder in (choice, body):
        if _get(holder, "error"):
            return _fault(answer, holder, now)
    message = _get(choice, "message")
    if not isinstance(message, dict):
        return Fault(FaultKind.TEMPORARY, f"HTTP {answer.status}, but no reply in it: {short(answer.text[:200])}")
    return _reply(message, choice, body)


# ---------------------------------------------------------------- JSON that can be kept


def _decode(text: str) -> Json:
    """Return the value of a JSON text, without what no record can hold: infinities, NaN, lone surrogates.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    value: Json = json.loads(text.removeprefix("\ufeff"), parse_float=_finite, parse_constant=lambda _: None)
    return _plain(value, _DEEPEST)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def _plain(value: Json, depth: int) -> Json:
    if depth == 0:
        msg = "nested too deeply"
        raise ValueError(msg)
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): _plain(item, depth - 1) for key, item in value.items()}
    return value


def _get(value: Json, name: str) -> Json:
    """Return a field, None if there is no such field or no object."""
    return value.get(name) if isinstance(value, dict) else None


def _first(value: Json) -> Json:
    """Return the first item, None if there is none or no list."""
    return value[0] if isinstance(value, list) and value else None


# ---------------------------------------------------------------- replies


def _reply(message: JsonObject, choice: Json, body: Json) -> ChatReply:
    """Return a message as a reply, whatever its fields hold."""
    return ChatReply(
        content=_content(message),
        tool_calls=tuple(_tool_calls(message)),
        finish_reason=_text_or_none(_get(choice, "finish_reason")),
        reasoning={name: message[name] for name in REASONING_FIELDS if message.get(name) is not None},
        usage=read_usage(_get(body, "usage")),
        model=_text_or_none(_get(body, "model")),
    )


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _content(message: JsonObject) -> str | None:
    """Return the text of a message; a refusal is what the model says, too."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(_part(part) for part in content)
    if isinstance(content, dict):
        return _part(content)
    if content is None:
        return _text_or_none(message.get("refusal"))
    return content if isinstance(content, str) else json.dumps(content)


def _part(part: Json) -> str:
    """Return the text of one part of a content; parts of other kinds, such as thoughts, have none."""
    text = part if isinstance(part, str) else _get(part, "text")
    return text if isinstance(text, str) else ""


def _tool_calls(message: JsonObject) -> Iterator[ToolCall]:
    """Yield the calls of a message; the older ``function_call`` is one without an id."""
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, list) else [calls] if isinstance(calls, dict) else []
    yield from map(_tool_call, listed)
    legacy = message.get("function_call")
    if not listed and isinstance(legacy, dict):
        yield _tool_call({"function": legacy})


def _tool_call(call: Json) -> ToolCall:
    """Return a call; one that is no call at all keeps its place, with what was sent as its arguments."""
    if not isinstance(call, dict):
        return ToolCall("", "", call)
    inner = call.get("function") or call.get("custom") or call
    name = _get(inner, "name")
    arguments = _get(inner, "arguments")
    return ToolCall(
        id=_id(call.get("id")),
        name=name if isinstance(name, str) else "",
        arguments=_get(inner, "input") if arguments is None else arguments,
    )


def _id(value: Json) -> str:
    """Return an id as text; some servers count."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


# ---------------------------------------------------------------- faults


def _unreadable(answer: HttpAnswer, now: datetime) -> Fault:
    """Return the fault of an answer that is no JSON."""
    start = answer.text.lstrip()[:2000]
    is_page = re.match(r"<(!doctype|html|\?xml|head|body)", start, re.IGNORECASE) is not None
    said = "an HTML page instead of JSON" if is_page else short(start) or "an empty body"
    text = (
        f"HTTP {answer.status}: {said}" if answer.status not in _SUCCESS else f"HTTP {answer.status}, no JSON: {said}"
    )
    kind = fault_kind(answer.status, (), "" if answer.status in _SUCCESS else start)
    return Fault(kind, text, read_retry_after(answer.headers, now))


def _fault(answer: HttpAnswer, body: Json, now: datetime) -> Fault:
    """Return the fault that an error answer describes; an error inside an answer of status 200 has its own status."""
    holder = _first(body) or body  # Gemini sends a list of one
    error = _get(holder, "error") or holder
    message = _message(error) or _message(holder)
    codes = tuple(
        str(code)
        for code in (_get(error, name) for name in ("code", "type", "status"))
        if isinstance(code, str | int) and code is not True and code is not False
    )
    status = answer.status
    if status in _SUCCESS:
        status = next((int(code) for code in codes if _is_status(code)), status)
    raw = _text_or_none(_get(_get(error, "metadata"), "raw")) or ""  # what OpenRouter's upstream said
    told = f"{message} ({raw})" if raw else message
    place = f"HTTP {status}" if status == answer.status else f"HTTP {answer.status} with error {status} in it"
    text = f"{place}: {short(told)}" if told else f"{place}, without a message"
    return Fault(fault_kind(status, codes, told), text, read_retry_after(answer.headers, now))


def _is_status(code: str) -> bool:
    return re.fullmatch("[0-9]{3}", code) is not None and int(code) in _STATUSES


def _message(error: Json) -> str:
    """Return the wording of an error: a text, or what stands where servers put one."""
    if isinstance(error, str):
        return error
    for name in ("message", "msg", "detail", "error_description"):
        found = _get(error, name)
        if isinstance(found, list | dict):  # a list of problems, as validating frameworks send it
            found = _message(_first(found) or found)
        if isinstance(found, str) and found:
            return found
    return ""
