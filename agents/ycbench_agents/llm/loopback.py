"""A server on this machine with the chat-completions interface and scripted replies.

It needs no key and no network: for tests of agents over real connections, and to try everything before paying for a
model::

    with LoopbackServer(greedy_model) as server:
        policy = make_policy("llm", model="greedy", base_url=server.base_url)

``python -m ycbench_agents.llm.loopback --port 8080`` serves ``greedy_model`` until it is interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import re
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self, TypeAlias, cast

import attrs

from ycbench_env.text import Json, JsonObject

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


def count_tokens(value: Json) -> int:
    """Return how many tokens this server counts in a value."""
    return len(json.dumps(value)) // 4


def completion(request: JsonObject, reply: ScriptedReply | JsonObject) -> JsonObject:
    """Return the body that sends a reply; equal for equal requests, to the byte."""
    if not isinstance(reply, ScriptedReply):
        return reply
    message: JsonObject = {"role": "assistant", "content": reply.content, **reply.more}
    if reply.tool_calls is not None:
        message["tool_calls"] = reply.tool_calls
    reason = reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")
    prompt, written = count_tokens([request.get("messages"), request.get("tools")]), count_tokens(message)
    return {
        "id": f"chatcmpl-{hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 1_735_689_600,
        "model": request.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
    }


# ---------------------------------------------------------------- the server


class LoopbackServer(ThreadingHTTPServer):
    """Serves a scripted model under ``/v1/chat/completions`` while its context is open, in threads of its own.

    ``requests`` lists the bodies of requests in the order of arrival, ``base_url`` is the address for a client.

    Args:
        model: What answers: a pure function of the request's body.
        fail_every: Each request of such a number, counted from 1, fails with HTTP 503; 0 for none.
        port: Port to listen on, 0 for any free one.

    Raises:
        OSError: The port cannot be listened on.
    """

    request_queue_size = 256

    def __init__(self, model: Model, *, fail_every: int = 0, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.model, self.fail_every = model, fail_every
        self.lock = threading.Lock()
        self.requests: list[JsonObject] = []
        self.base_url = f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- the base class has them
        """Do nothing: clients that go away are what this server is for."""

    def answer(self, body: Json) -> tuple[int, JsonObject]:
        """Return status and body of the answer to a request, and log it."""
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            return 400, {"error": {"message": "expected a JSON object with a list of messages"}}
        with self.lock:
            self.requests.append(body)
            number = len(self.requests)
        if self.fail_every and number % self.fail_every == 0:
            return 503, {"error": {"message": f"request {number} fails, as --fail-every asks for"}}
        return 200, completion(body, self.model(body))


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: LoopbackServer  # pyright: ignore[reportIncompatibleVariableOverride] -- the only one
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize: ClassVar[int] = -1  # headers and body in one piece

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class has this name
        """Log nothing: headers hold keys."""

    def body(self) -> Json:
        """Return the request's body, None if it is no JSON."""
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return None

    def do_POST(self) -> None:
        """Answer a request for a completion."""
        body, status = self.body(), 404
        answer: JsonObject = {"error": {"message": "no such path; there is /v1/chat/completions"}}
        if self.path == "/v1/chat/completions":
            status, answer = self.server.answer(body)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted, and return the exit status.

    Args:
        arguments: The command line without the program's name, None for the process's own.
    """
    parser = argparse.ArgumentParser(
        prog="python -m ycbench_agents.llm.loopback",
        description="Serve a scripted model on this machine, with the chat-completions interface. It takes any key.",
    )
    parser.add_argument("--port", type=int, default=8080, help="port to listen on, 0 for any free one")
    parser.add_argument(
        "--fail-every", type=int, default=0, metavar="N", help="every Nth request fails (default: none)"
    )
    given = parser.parse_args(arguments)
    try:
        server = LoopbackServer(greedy_model, fail_every=given.fail_every, port=given.port)
    except (OSError, OverflowError) as error:
        print(f"cannot listen on port {given.port} ({error}); choose another --port")  # noqa: T201 -- its output
        return 1
    with server, contextlib.suppress(KeyboardInterrupt):
        print(f"listening on {server.base_url}; Ctrl-C ends it", flush=True)  # noqa: T201 -- its output
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
