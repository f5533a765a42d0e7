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
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Final, Self, TypeAlias, cast

import attrs

from ycbench_agents.base import Json, JsonObject

_HOST: Final = "127.0.0.1"
_LONGEST_BODY: Final = 64 * 2**20
_CREATED: Final = 1_735_689_600  # a fixed moment: equal requests have equal answers, to the byte
_CHARACTERS_A_TOKEN: Final = 4
_MOST_CALLS: Final = 128
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


# ---------------------------------------------------------------- scripted replies


@attrs.frozen
class ScriptedReply:
    """One reply. Fields are sent as they are, also where the interface would not allow them.

    Args:
        content: Text, or whatever else is to stand there.
        tool_calls: Calls, or whatever else; None leaves the field out.
        finish_reason: Why it ended; None for the reason that the interface has for such a reply.
        more: Further fields of the message, such as ``reasoning_content``.
    """

    content: Any = None
    tool_calls: Any = None
    finish_reason: str | None = None
    more: dict[str, Any] = attrs.field(factory=dict[str, Any])


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
    """Return the commands of a turn; the last is a look at what the next turn needs to know.

    Only the messages since the model's last reply are read, so a window of any size will do.
    """
    texts: list[str] = []
    for message in reversed(cast("list[JsonObject]", request["messages"])):
        if message.get("role") in {"assistant", "system"}:
            break
        texts.insert(0, str(message.get("content")))
    text = "\n".join(texts)
    active, employees = re.findall(r"\b(\d+) active\b", text), re.findall(r"\bemployees: (\d+)\b", text)
    tasks = re.findall(r'"tasks":\[(?:\{"task_id":"(Task-\d+)")?', text)
    if active and int(active[-1]):
        return ["sim resume", "market browse --limit 1"]
    if not tasks or not tasks[-1] or not employees:
        return ["market browse --limit 1"]
    best = tasks[-1]
    everybody = ",".join(f"Emp_{number}" for number in range(1, int(employees[-1]) + 1))
    return [
        f"task accept --task-id {best}",
        f"task assign --task-id {best} --employees {everybody}",
        f"task dispatch --task-id {best}",
        "sim resume",
        "market browse --limit 1",
    ]


def _digest(value: Json) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _prompt_tokens(request: JsonObject) -> int:
    """Return how many tokens a request has here: a quarter of its characters."""
    return len(json.dumps([request.get("messages"), request.get("tools")])) // _CHARACTERS_A_TOKEN


def _completion_body(request: JsonObject, reply: ScriptedReply) -> JsonObject:
    """Return the body that sends a reply; usage is counted, and equal for equal requests."""
    message: JsonObject = {"role": "assistant", "content": reply.content, **reply.more}
    if reply.tool_calls is not None:
        message["tool_calls"] = reply.tool_calls
    reason = reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")
    prompt, completion = _prompt_tokens(request), len(json.dumps(message)) // _CHARACTERS_A_TOKEN
    return {
        "id": f"chatcmpl-{_digest(request)[:24]}",
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


# ---------------------------------------------------------------- faults


@attrs.frozen
class Answer:
    """Another answer in place of the model's.

    Args:
        status: HTTP status.
        body: Body.
        headers: Further headers.
    """

    status: int
    body: str
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])


def Status(  # noqa: N802 -- beside the classes of other faults
    status: int, retry_after: str | None = None, message: str = "a fault to order", code: str | None = None
) -> Answer:
    """Return an error in the interface's own form, with a header ``Retry-After`` if that is given."""
    error = {"message": message, "type": "loopback_fault", "param": None, "code": code}
    return Answer(status, json.dumps({"error": error}), {} if retry_after is None else {"Retry-After": retry_after})


@attrs.frozen
class Stall:
    """No answer for a number of seconds, then the connection is dropped."""

    seconds: float


@attrs.frozen
class Drop:
    """The connection ends before the answer does: after a part of the body, or (None) before anything is sent."""

    sent_fraction: float | None = None


@attrs.frozen
class Trickle:
    """An answer that comes byte by byte, with so many seconds between them, and never ends."""

    interval_s: float = 0.01


Fault: TypeAlias = Answer | Stall | Drop | Trickle
"""What may happen to a request instead of a reply."""

SOME_OF_EACH: Final[tuple[Fault, ...]] = (
    Status(429, retry_after="0"),
    Status(500),
    Status(503, retry_after="0"),
    Stall(0.05),
    Drop(),
    Drop(0.5),
    Answer(200, '{"choices": [{"mess'),
    Answer(200, "<!DOCTYPE html><html><body>Please log in.</body></html>"),
    Answer(200, '{"choices": null}'),
    Answer(200, '{"error": {"code": 502, "message": "Provider returned error"}}'),
)
"""One fault of each kind that goes away when the request is sent again."""


# ---------------------------------------------------------------- what servers refuse


def request_problems(request: JsonObject) -> list[str]:
    """Return what is wrong with the body of a request, nothing for a valid one.

    The rules are those that strict servers share: one system message, first; then user and model in turn, beginning and
    ending with the user; each call of a message answered once, in order, directly after it; at most 128 calls, whose
    ids are not empty and differ within a message; arguments that are a JSON object; no blank text; no lone surrogate.
    """
    messages = request.get("messages")
    problems: list[str] = []
    if not isinstance(request.get("model"), str) or request.get("stream"):
        problems.append("model: expected a text, and no stream")
    if "tools" in request and not _are_functions(request["tools"]):
        problems.append(f"tools: expected functions with names like {_NAME.pattern}, or no such field")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return [*problems, "messages: expected a list of objects"]
    listed = cast("list[dict[str, Any]]", messages)
    roles = [str(message.get("role")) for message in listed if message.get("role") != "tool"]
    expected = ["system", *("user" if place % 2 == 0 else "assistant" for place in range(len(roles) - 1))]
    if roles != expected or len(roles) % 2:
        problems.append(f"roles: got {', '.join(roles)}, expected system, then user and assistant in turn, user last")
    for place, message in enumerate(listed):
        problems += [f"message {place}: {text}" for text in _text_and_call_problems(message)]
    return problems + list(_answer_problems(listed))


def _text_and_call_problems(message: dict[str, Any]) -> Iterator[str]:
    content: Any = message.get("content")
    calls: Any = message.get("tool_calls")
    if not (isinstance(content, str) and content.strip()) and not (content is None and calls):
        yield "its text is blank or no text"
    if re.search("[\ud800-\udfff]", json.dumps(message, ensure_ascii=False)):
        yield "UTF-8 cannot hold it"
    if "tool_calls" not in message:
        return
    if message.get("role") != "assistant" or not _are_functions(calls) or len(calls) > _MOST_CALLS:
        yield "its tool_calls are no list of at most 128 calls, or are not the model's"
        return
    ids = [call.get("id") for call in calls]
    if not all(isinstance(call_id, str) and call_id.strip() for call_id in ids):
        yield "a call has no id"
    elif len(set(ids)) < len(ids):
        yield "two calls have one id"
    for call in calls:
        try:
            arguments: object = json.loads(call["function"].get("arguments"))
        except (TypeError, ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            yield "the arguments of a call are not the text of a JSON object"


def _answer_problems(messages: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the answers: they follow the message with their calls, one for each, in order."""
    waiting: list[Any] = []
    for place, message in enumerate([*messages, {"role": "end"}]):
        if message.get("role") == "tool":
            if not waiting or message.get("tool_call_id") != waiting.pop(0):
                yield f"message {place}: an answer to {message.get('tool_call_id')!r}, which is not the next call"
            continue
        if waiting:
            yield f"message {place}: before it, there is no answer to the calls {waiting!r}"
        calls: Any = message.get("tool_calls")
        waiting = [call.get("id") if isinstance(call, dict) else None for call in calls or []]


def _are_functions(value: Any) -> bool:  # noqa: ANN401 -- of any request
    """Return whether a value is a list, not empty, of functions with legal names."""
    if not isinstance(value, list) or not value:
        return False
    functions = [item.get("function") if isinstance(item, dict) else None for item in cast("list[Any]", value)]
    return all(isinstance(it, dict) and _NAME.fullmatch(str(it.get("name"))) is not None for it in functions)


# ---------------------------------------------------------------- the server


@attrs.frozen
class LoggedRequest:
    """A request for a completion; the log holds no header, and so no key.

    Args:
        number: Its number, from 1, in the order of arrival.
        body: Its body.
        fault: What happened to it, None if it was answered.
    """

    number: int
    body: JsonObject
    fault: Fault | None


class LoopbackServer:
    """Serves a scripted model under ``/v1/chat/completions``; a context manager that runs in threads of its own.

    A request is answered in this order: 404 for another path, 401 for a wrong key, 400 for a body or a conversation
    that servers refuse (``request_problems``), the fault for it, 400 for one that is too long, and the model's reply.

    Args:
        model: What answers: a pure function of the request's body.
        faults: What goes wrong, by the number of the request from 1 in the order of arrival.
        every: Each request of such a number fails with one of ``SOME_OF_EACH`` in turn; 0 for none.
        port: Port to listen on, 0 for any free one.
        api_key: Key that must be sent, None if anything will do.
        context_tokens: Longest request, in tokens as they are counted here, None for no limit.
    """

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
        self._model = model
        self._faults = dict(faults or {})
        self._every = every
        self._port = port
        self._api_key = api_key
        self._context_tokens = context_tokens
        self._lock = threading.Lock()
        self._log: list[LoggedRequest] = []
        self.stopping = threading.Event()
        self._http: _Http | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Start to listen."""
        self.stopping.clear()
        self._http = _Http(self._port, self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drop all connections and stop to listen."""
        self.stopping.set()
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            for connection in list(self._http.open):
                with contextlib.suppress(OSError):  # the client was faster
                    connection.shutdown(socket.SHUT_RDWR)
            self._http.server_close()

    @property
    def base_url(self) -> str:
        """The address to give to a client.

        Raises:
            RuntimeError: The server was not started.
        """
        if self._http is None:
            msg = "the server has no address before it is started; use it in a with statement"
            raise RuntimeError(msg)
        return f"http://{_HOST}:{self._http.server_address[1]}/v1"

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """The requests for completions so far, in the order of arrival."""
        with self._lock:
            return tuple(self._log)

    def answer(self, authorization: str | None, body: JsonObject | None) -> Fault:
        """Return what is sent for a request, and log it."""
        if self._api_key is not None and authorization != f"Bearer {self._api_key}":
            return Status(401, message="Incorrect API key provided", code="invalid_api_key")
        problems = ["the body is no JSON object"] if body is None else request_problems(body)
        if body is None or problems:
            return Status(400, message="; ".join(problems), code="invalid_request_error")
        with self._lock:
            number = len(self._log) + 1
            fault = self._faults.get(number)
            if fault is None and self._every and number % self._every == 0:
                fault = SOME_OF_EACH[number // self._every % len(SOME_OF_EACH)]
            self._log.append(LoggedRequest(number, body, fault))
        tokens = _prompt_tokens(body)
        if fault is not None:
            return fault
        if self._context_tokens is not None and tokens > self._context_tokens:
            message = f"This model's maximum context length is {self._context_tokens} tokens, but there are {tokens}."
            return Status(400, message=message, code="context_length_exceeded")
        reply = self._model(body)
        return Answer(200, json.dumps(_completion_body(body, reply) if isinstance(reply, ScriptedReply) else reply))


class _Http(ThreadingHTTPServer):
    """The socket, and a thread for each connection; ``desk`` answers."""

    daemon_threads = False  # so that closing waits for them
    request_queue_size = 256

    def __init__(self, port: int, desk: LoopbackServer) -> None:
        self.desk = desk
        self.open: set[socket.socket] = set()
        super().__init__((_HOST, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- the base class has them
        """Note the connection before its thread exists, so that none is missed in the end."""
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 -- as above
        """Close a connection."""
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 -- as above
        """Say nothing: clients that go away are what this server is for."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize: ClassVar[int] = -1  # headers and body in one piece

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class has this name
        """Log nothing: headers hold keys."""

    def do_POST(self) -> None:
        """Answer a request for a completion."""
        desk = cast("_Http", self.server).desk
        length = self.headers.get("Content-Length") or "0"
        body: Json = None
        if length.isascii() and length.isdigit() and int(length) <= _LONGEST_BODY:
            with contextlib.suppress(ValueError, RecursionError):
                body = json.loads(self.rfile.read(int(length)))
        if self.path != "/v1/chat/completions":
            self._send(Status(404, message=f"no such path: {self.path[:200]!r}; there is /v1/chat/completions"))
            return
        answer = desk.answer(self.headers.get("Authorization"), body if isinstance(body, dict) else None)
        if isinstance(answer, Answer):
            self._send(answer)
            return
        self.close_connection = True
        if isinstance(answer, Stall):
            desk.stopping.wait(answer.seconds)
        elif isinstance(answer, Trickle):
            self._send(Answer(200, ""), _LONGEST_BODY)
            while not desk.stopping.wait(answer.interval_s):
                self.wfile.write(b" ")  # blanks, which JSON may begin with
                self.wfile.flush()
        elif answer.sent_fraction is not None:
            text = json.dumps({"choices": "x" * 1000})
            self._send(Answer(200, text[: int(len(text) * answer.sent_fraction)]), len(text))

    def _send(self, answer: Answer, length: int | None = None) -> None:
        body = answer.body.encode("utf-8", "surrogatepass")
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
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
        with server, contextlib.suppress(KeyboardInterrupt):
            print(f"{given.model} listens on {server.base_url}; Ctrl-C ends it", flush=True)  # noqa: T201 -- its output
            threading.Event().wait()
    except (OSError, OverflowError) as error:
        print(f"cannot listen on port {given.port} ({error}); choose another --port")  # noqa: T201 -- its output
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
