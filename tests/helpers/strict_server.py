"""A server that fails to order and refuses what strict servers refuse."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from typing import Any, Final

import attrs

from ycbench_agents.llm.loopback import (
    Handler,
    LoopbackServer,
    Model,
    ScriptedReply,
    completion,
    count_tokens,
    greedy_model,
)
from ycbench_env.text import Json, JsonObject

_MOST_CALLS: Final = 128
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def text_model(request: JsonObject) -> ScriptedReply:
    """Play like ``greedy_model``: by bare commands, in a code fence, with prose or thoughts before it, by turns."""
    commands = str(greedy_model(request).content)
    fenced = f"```bash\n{commands}\n```"
    manners = (
        commands,
        fenced,
        f"Let me see what the market has and keep everybody at work.\n\n{fenced}\n\nThen I shall look again.",
        f"<think>sim resume is for later; don't waste time.</think>\n{fenced}",
    )
    return ScriptedReply(manners[len(json.dumps(request)) % len(manners)])


@attrs.frozen
class Fault:
    """What happens to a request instead of a reply."""

    status: int | None = None  # HTTP status; without one, the connection ends without an answer
    body: str = ""
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    stall_s: float = 0.0  # silence before the answer
    interval_s: float = 0.0  # silence before each byte of the body
    cut: bool = False  # the connection ends before the length of the body that the headers give


def error_fault(
    status: int, retry_after: str | None = None, message: str = "a fault to order", code: str | None = None
) -> Fault:
    """Return an error in the interface's own form, with a header ``Retry-After`` if that is given."""
    error = {"message": message, "type": "loopback_fault", "param": None, "code": code}
    return Fault(status, json.dumps({"error": error}), {} if retry_after is None else {"Retry-After": retry_after})


SOME_OF_EACH: Final = (
    error_fault(429, retry_after="0"),
    error_fault(500),
    error_fault(503, retry_after="0"),
    Fault(stall_s=0.05),
    Fault(),
    Fault(200, '{"choices": "', cut=True),
    Fault(200, '{"choices": [{"mess'),
    Fault(200, "<!DOCTYPE html><html><body>Please log in.</body></html>"),
    Fault(200, '{"choices": null}'),
    Fault(200, '{"error": {"code": 502, "message": "Provider returned error"}}'),
)
"""One fault of each kind that goes away when the request is sent again."""


def request_problems(request: JsonObject) -> list[str]:
    """Return what is wrong with the body of a request, nothing for a valid one.

    The rules are those that strict servers share: one system message, first; then user and model in turn, beginning and
    ending with the user; each call of a message answered once, in order, directly after it; at most 128 calls, whose
    ids are not empty and differ within a message; arguments that are a JSON object; no blank text; no lone surrogate.
    """
    problems: list[str] = []
    if not isinstance(request.get("model"), str) or request.get("stream"):
        problems.append("model: expected a text, and no stream")
    if "tools" in request and not _are_functions(request["tools"]):
        problems.append(f"tools: expected functions with names like {_NAME.pattern}, or no such field")
    messages: Any = request.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return [*problems, "messages: expected a list of objects"]
    roles = [message.get("role") for message in messages if message.get("role") != "tool"]
    expected = ["system", *(("user", "assistant")[place % 2] for place in range(len(roles) - 1))]
    if roles != expected or len(roles) % 2:
        problems.append(f"roles: got {roles}, expected system, then user and assistant in turn, user last")
    unasked = len(messages) - len(roles)
    for place, message in enumerate(messages):
        calls: Any = message.get("tool_calls") if _are_functions(message.get("tool_calls")) else []
        ids = [call.get("id") for call in calls]
        following = messages[place + 1 : place + 1 + len(ids)]
        after = [each.get("tool_call_id") for each in following if each.get("role") == "tool"]
        unasked -= len(after)
        content = message.get("content")
        is_text = isinstance(content, str) and content.strip() != ""
        may_call = message.get("role") == "assistant" and 1 <= len(calls) <= _MOST_CALLS
        are_ids = all(isinstance(each, str) and each.strip() for each in ids) and len(set(ids)) == len(ids)
        wrong = {
            f"got answers to {after} after it, expected answers to its calls {ids}": after != ids,
            "its text is blank or no text": not is_text and not (content is None and calls),
            "UTF-8 cannot hold it": re.search("[\ud800-\udfff]", json.dumps(message, ensure_ascii=False)),
            f"its tool_calls are no list of at most {_MOST_CALLS} calls, or are not the model's": (
                "tool_calls" in message and not may_call
            ),
            "two calls have one id, or one has none": not are_ids,
            "the arguments of a call are not the text of a JSON object": not all(map(_has_arguments, calls)),
        }
        problems += [f"message {place}: {text}" for text, is_wrong in wrong.items() if is_wrong]
    return [*problems, "a message of the role tool answers no call"] if unasked else problems


def _has_arguments(call: dict[str, Any]) -> bool:
    try:
        return isinstance(json.loads(call["function"].get("arguments")), dict)
    except (TypeError, ValueError, RecursionError):
        return False


def _are_functions(value: Any) -> bool:  # noqa: ANN401 -- of any request
    """Return whether a value is a list, not empty, of functions with legal names."""
    try:
        return isinstance(value, list) and bool(value) and all(_NAME.fullmatch(it["function"]["name"]) for it in value)
    except (KeyError, TypeError):
        return False


class StrictServer(LoopbackServer):
    """Refuses what ``request_problems`` finds, requests with another key and long ones, and fails to order.

    ``met`` lists, beside ``requests``, what happened to each of them: None if it was answered.

    Args:
        model: What answers.
        faults: What goes wrong, by the number of the request from 1 in the order of arrival.
        api_key: Key that must be sent, None if anything will do.
        context_tokens: Longest request, in tokens as the server counts them, None for no limit.
    """

    def __init__(
        self,
        model: Model,
        faults: Mapping[int, Fault] | None = None,
        *,
        api_key: str | None = None,
        context_tokens: int | None = None,
    ) -> None:
        super().__init__(model)
        self.RequestHandlerClass = _Handler
        self.faults, self.api_key, self.context_tokens = faults or {}, api_key, context_tokens
        self.met: list[Fault | None] = []
        self.stopping = threading.Event()

    def __exit__(self, *error: object) -> None:
        self.stopping.set()
        super().__exit__(*error)

    def fault_or_reply(self, authorization: str | None, body: Json) -> Fault:
        """What is sent for a request."""
        if self.api_key is not None and authorization != f"Bearer {self.api_key}":
            return error_fault(401, message="Incorrect API key provided", code="invalid_api_key")
        problems = request_problems(body) if isinstance(body, dict) else ["the body is no JSON object"]
        if not isinstance(body, dict) or problems:
            return error_fault(400, message="; ".join(problems), code="invalid_request_error")
        with self.lock:
            self.requests.append(body)
            fault = self.faults.get(len(self.requests))
            self.met.append(fault)
        if fault is not None:
            return fault
        tokens = count_tokens([body.get("messages"), body.get("tools")])
        if self.context_tokens is not None and tokens > self.context_tokens:
            message = f"This model's maximum context length is {self.context_tokens} tokens, but there are {tokens}."
            return error_fault(400, message=message, code="context_length_exceeded")
        return Fault(200, json.dumps(completion(body, self.model(body))))


class _Handler(Handler):
    server: StrictServer  # pyright: ignore[reportIncompatibleVariableOverride] -- the only one

    def do_POST(self) -> None:  # noqa: N802 -- the base class has this name
        if self.path != "/v1/chat/completions":
            super().do_POST()
            return
        answer = self.server.fault_or_reply(self.headers.get("Authorization"), self.body())
        self.server.stopping.wait(answer.stall_s)
        self.close_connection = answer.status is None or answer.cut
        if answer.status is None:
            return
        data = answer.body.encode()
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": len(data) + answer.cut, **answer.headers}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        for part in [data[at : at + 1] for at in range(len(data))] if answer.interval_s else [data]:
            if answer.interval_s and self.server.stopping.wait(answer.interval_s):
                break
            self.wfile.write(part)
            self.wfile.flush()
