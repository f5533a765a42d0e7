"""A server with the chat-completions interface on this machine: scripted replies, and a list of faults.

It needs no key and no network: for tests of agents over real connections, and to try everything before paying for a
model::

    with LoopbackServer(greedy_model) as server:
        policy = make_policy("llm", model="greedy", base_url=server.base_url)

``python -m ycbench_agents.llm.loopback --model greedy --port 8080`` serves a model until it is interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final, Self, TypeAlias, cast

import attrs

from ycbench_agents.base import Json, JsonObject

_LONGEST_BODY: Final = 64 * 2**20
_MOST_CALLS: Final = 128
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


# ---------------------------------------------------------------- scripted replies


@attrs.frozen
class ScriptedReply:
    """One reply. Fields are sent as they are, also where the interface would not allow them."""

    content: Any = None
    tool_calls: Any = None  # None leaves the field out
    finish_reason: str | None = None  # None for the reason that the interface has for such a reply
    more: dict[str, Any] = attrs.field(factory=dict[str, Any])  # further fields, such as ``reasoning_content``


Model: TypeAlias = Callable[[JsonObject], "ScriptedReply | JsonObject"]
"""Answers the body of a request with a reply, or with a whole body; a pure function, so that a request that is sent
again is answered the same."""


def tool_call(call_id: str, name: str, arguments: Json) -> JsonObject:
    """Return a call in the interface's own form; arguments that are an object become JSON text."""
    text = json.dumps(arguments) if isinstance(arguments, dict) else arguments
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def greedy_model(request: JsonObject) -> ScriptedReply:
    """Take the best-paid task on the market, put everybody on it, let time pass until it is done.

    With a tool, each command is a call of its own, all in one reply; without one, each is a line of text.
    """
    commands = _greedy_commands(request)
    tools = cast("list[dict[str, Any]]", request.get("tools") or [])
    if not tools:
        return ScriptedReply("\n".join(commands))
    name = str(tools[0]["function"]["name"])
    calls = [tool_call(f"call_{number}", name, {"command": command}) for number, command in enumerate(commands, 1)]
    return ScriptedReply(None, calls)


def text_model(request: JsonObject) -> ScriptedReply:
    """Play the same in writing: as bare commands, in a code fence, with prose or thoughts before it, by turns."""
    commands = "\n".join(_greedy_commands(request))
    fenced = f"```bash\n{commands}\n```"
    manners = (
        commands,
        fenced,
        f"Let me see what the market has and keep everybody at work.\n\n{fenced}\n\nThen I shall look again.",
        f"<think>sim resume is for later; don't waste time.</think>\n{fenced}",
    )
    return ScriptedReply(manners[int(_digest(request), 16) % len(manners)])


def _greedy_commands(request: JsonObject) -> list[str]:
    """Return the commands of a turn; the last is a look at what the next turn needs to know."""
    listed = cast("list[JsonObject]", request["messages"])
    place = max(at for at, message in enumerate(listed) if message["role"] in {"assistant", "system"})
    text = "\n".join(str(message.get("content")) for message in listed[place:])  # since the model's last reply
    active, employees = re.findall(r"\b(\d+) active\b", text), re.findall(r"\bemployees: (\d+)\b", text)
    tasks = re.findall(r'"tasks":\[(?:\{"task_id":"(Task-\d+)")?', text)
    look = "market browse --limit 1"
    if active and int(active[-1]):
        return ["sim resume", look]
    if not tasks or not tasks[-1] or not employees:
        return [look]
    best, everybody = tasks[-1], ",".join(f"Emp_{number}" for number in range(1, int(employees[-1]) + 1))
    assign = f"task assign --task-id {best} --employees {everybody}"
    return [f"task accept --task-id {best}", assign, f"task dispatch --task-id {best}", "sim resume", look]


def _digest(value: Json) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _count_tokens(value: Json) -> int:
    return len(json.dumps(value)) // 4


def _completion(request: JsonObject, reply: ScriptedReply) -> JsonObject:
    """Return the body that sends a reply; equal for equal requests, to the byte."""
    message: JsonObject = {"role": "assistant", "content": reply.content, **reply.more}
    if reply.tool_calls is not None:
        message["tool_calls"] = reply.tool_calls
    reason = reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")
    prompt, completion = _count_tokens([request.get("messages"), request.get("tools")]), _count_tokens(message)
    return {
        "id": f"chatcmpl-{_digest(request)[:24]}",
        "object": "chat.completion",
        "created": 1_735_689_600,
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


# ---------------------------------------------------------------- faults


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


# ---------------------------------------------------------------- what servers refuse


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


# ---------------------------------------------------------------- the server


@attrs.frozen
class LoggedRequest:
    """The body of a request, and what happened to it: None if it was answered. Headers, and so keys, are not kept."""

    body: JsonObject
    fault: Fault | None


class LoopbackServer(ThreadingHTTPServer):
    """Serves a scripted model under ``/v1/chat/completions`` while its context is open, in threads of its own.

    A request is answered in this order: 404 for another path, 401 for a wrong key, 400 for a body or a conversation
    that servers refuse (``request_problems``), the fault for it, 400 for one that is too long, and the model's reply.
    ``requests`` lists the requests for completions in the order of arrival, ``base_url`` is the address for a client.

    Args:
        model: What answers: a pure function of the request's body.
        faults: What goes wrong, by the number of the request from 1 in the order of arrival.
        every: Each request of such a number fails with one of ``SOME_OF_EACH`` in turn; 0 for none.
        port: Port to listen on, 0 for any free one.
        api_key: Key that must be sent, None if anything will do.
        context_tokens: Longest request, in tokens as they are counted here, None for no limit.

    Raises:
        OSError: The port cannot be listened on.
    """

    request_queue_size = 256

    def __init__(  # noqa: PLR0913 -- by name; each is a trait of some real server
        self,
        model: Model,
        faults: Mapping[int, Fault] | None = None,
        *,
        every: int = 0,
        port: int = 0,
        api_key: str | None = None,
        context_tokens: int | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self._model, self._faults, self._every = model, dict(faults or {}), every
        self._api_key, self._context_tokens = api_key, context_tokens
        self._lock = threading.Lock()
        self.requests: list[LoggedRequest] = []
        self.stopping = threading.Event()
        self.base_url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- the base class has them
        """Do nothing: clients that go away are what this server is for."""

    def answer(self, authorization: str | None, body: Json) -> Fault:
        """Return what is sent for a request, and log it."""
        if self._api_key is not None and authorization != f"Bearer {self._api_key}":
            return error_fault(401, message="Incorrect API key provided", code="invalid_api_key")
        problems = request_problems(body) if isinstance(body, dict) else ["the body is no JSON object"]
        if not isinstance(body, dict) or problems:
            return error_fault(400, message="; ".join(problems), code="invalid_request_error")
        with self._lock:
            number = len(self.requests) + 1
            fault = self._faults.get(number)
            if fault is None and self._every and number % self._every == 0:
                fault = SOME_OF_EACH[number // self._every % len(SOME_OF_EACH)]
            self.requests.append(LoggedRequest(body, fault))
        if fault is not None:
            return fault
        tokens = _count_tokens([body.get("messages"), body.get("tools")])
        if self._context_tokens is not None and tokens > self._context_tokens:
            message = f"This model's maximum context length is {self._context_tokens} tokens, but there are {tokens}."
            return error_fault(400, message=message, code="context_length_exceeded")
        reply = self._model(body)
        return Fault(200, json.dumps(_completion(body, reply) if isinstance(reply, ScriptedReply) else reply))


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: LoopbackServer  # pyright: ignore[reportIncompatibleVariableOverride] -- the only one
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize: ClassVar[int] = -1  # headers and body in one piece

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class has this name
        """Log nothing: headers hold keys."""

    def do_POST(self) -> None:
        """Answer a request for a completion."""
        length = int(self.headers.get("Content-Length") or 0)
        body: Json = None
        if length <= _LONGEST_BODY:
            with contextlib.suppress(ValueError, RecursionError):
                body = json.loads(self.rfile.read(length))
        if self.path == "/v1/chat/completions":
            answer = self.server.answer(self.headers.get("Authorization"), body)
        else:
            answer = error_fault(404, message=f"no such path: {self.path[:200]!r}; there is /v1/chat/completions")
        self.server.stopping.wait(answer.stall_s)
        self.close_connection = answer.status is None or answer.cut
        if answer.status is None:
            return
        data = answer.body.encode("utf-8", "surrogatepass")
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted, and return the exit status.

    Args:
        arguments: The command line without the program's name, None for the process's own.
    """
    models: dict[str, Model] = {"greedy": greedy_model, "text": text_model}
    parser = argparse.ArgumentParser(
        prog="python -m ycbench_agents.llm.loopback",
        description="Serve a scripted model on this machine, with the chat-completions interface. It takes any key.",
    )
    parser.add_argument("--model", choices=models, default="greedy", help="what answers (default: greedy)")
    parser.add_argument("--port", type=int, default=8080, help="port to listen on, 0 for any free one")
    parser.add_argument(
        "--fail-every", type=int, default=0, metavar="N", help="every Nth request fails (default: none)"
    )
    given = parser.parse_args(arguments)
    try:
        server = LoopbackServer(models[given.model], every=given.fail_every, port=given.port)
    except (OSError, OverflowError) as error:
        print(f"cannot listen on port {given.port} ({error}); choose another --port")  # noqa: T201 -- its output
        return 1
    with server, contextlib.suppress(KeyboardInterrupt):
        print(f"{given.model} listens on {server.base_url}; Ctrl-C ends it", flush=True)  # noqa: T201 -- its output
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
