"""LoopbackServer: a real HTTP server on 127.0.0.1 that speaks the chat-completions interface."""

from __future__ import annotations

import hmac
import json
import socket
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, ClassVar, Final, Self, cast

import attrs

from ycbench_agents.llm.loopback.fault import Answer, Drop, FaultPlan, LoopbackFault, Stall, Status, Trickle, Truncate
from ycbench_agents.llm.loopback.request import request_problems
from ycbench_agents.llm.loopback.scripted import ScriptedReply, completion_body, digest, prompt_tokens

if TYPE_CHECKING:
    from types import TracebackType

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.llm.loopback.scripted import Model

__all__ = ["LoggedRequest", "LoopbackServer"]

_HOST: Final = "127.0.0.1"
_LONGEST_BODY: Final = 64 * 1024 * 1024
_INVALID: Final = "invalid_request_error"


@attrs.frozen
class LoggedRequest:
    """A request for a completion; the log holds no header, and so no key.

    Args:
        number: Its number, from 1, in the order of arrival.
        body: Its body.
        fault: What happened to it, None if it was answered.
        status: HTTP status of the answer; None if the connection was dropped or kept without one.
    """

    number: int
    body: JsonObject
    fault: LoopbackFault | None
    status: int | None


class _Http(ThreadingHTTPServer):
    """The socket, and a thread for each connection; ``desk`` answers."""

    daemon_threads = False  # so that closing waits for them
    request_queue_size = 256

    def __init__(self, port: int, desk: LoopbackServer) -> None:
        self.desk = desk
        self.open: set[socket.socket] = set()
        super().__init__((_HOST, port), _Handler)

    def process_request(self, request: socket.socket, client_address: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Note the connection before its thread exists, so that none is missed in the end."""
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Close a connection."""
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Do nothing: clients that go away are what this server is for."""


class LoopbackServer:
    """Serves a scripted model under ``/v1/chat/completions``; a context manager that runs in threads of its own.

    A request is answered in this order: 404 for another path, 401 for a wrong key, 400 for a body or a conversation
    that servers refuse, the fault that the plan has for it, 400 for one that is too long, and the model's reply.

    Args:
        model: What answers: a pure function of the request's body.
        faults: When what goes wrong, None for never.
        port: Port to listen on, 0 for any free one.
        api_key: Key that must be sent, None if anything will do.
        context_tokens: Longest request, in tokens as they are counted here, None for no limit.
        strict: Whether conversations are checked; see ``request_problems``.
    """

    def __init__(  # noqa: PLR0913 -- by name; each is a trait of some real server
        self,
        model: Model,
        faults: FaultPlan | None = None,
        *,
        port: int = 0,
        api_key: str | None = None,
        context_tokens: int | None = None,
        strict: bool = True,
    ) -> None:
        self._model = model
        self._plan = faults or FaultPlan()
        self._port = port
        self._api_key = api_key
        self._context_tokens = context_tokens
        self._strict = strict
        self._lock = threading.Lock()
        self._log: list[LoggedRequest] = []
        self._seen: Counter[str] = Counter()
        self._stopping = threading.Event()
        self._http: _Http | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Start to listen."""
        self._stopping.clear()
        self._http = _Http(self._port, self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drop all connections and stop to listen."""
        self._stopping.set()
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._thread.join()
            for connection in list(self._http.open):
                _hang_up(connection)
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

    # ---- what the handler asks

    def pause(self, seconds: float) -> bool:
        """Wait, and return whether the server goes on; the wait ends at once when it stops."""
        return not self._stopping.wait(seconds)

    def admits(self, authorization: str | None) -> bool:
        """Return whether a request has the key that is asked for."""
        expected = f"Bearer {self._api_key}".encode()
        given = (authorization or "").encode("utf-8", "surrogateescape")
        return self._api_key is None or hmac.compare_digest(given, expected)

    def answer(self, body: JsonObject) -> tuple[Answer, LoopbackFault | None]:
        """Return what is sent for a request and what goes wrong with it, and log it."""
        problem = "; ".join(request_problems(body)) if self._strict else ""
        request_digest, undisturbed = digest(body), self._undisturbed(body, problem)
        with self._lock:
            number, earlier = len(self._log) + 1, self._seen[request_digest]
            fault = None if problem else self._plan.fault(number, request_digest, earlier)
            self._seen[request_digest] += 1
            answer = _said(fault) if isinstance(fault, Answer | Status) else undisturbed
            status = None if isinstance(fault, Stall | Trickle) or fault == Drop() else answer.status
            self._log.append(LoggedRequest(number, body, fault, status))
        return answer, fault

    def _undisturbed(self, body: JsonObject, problem: str) -> Answer:
        """Return the answer to a request to which nothing happens."""
        if problem:
            return Status(400, message=problem, code=_INVALID).answer()
        tokens = prompt_tokens(body)
        if self._context_tokens is not None and tokens > self._context_tokens:
            message = f"This model's maximum context length is {self._context_tokens} tokens, but there are {tokens}."
            return Status(400, message=message, code="context_length_exceeded").answer()
        reply = self._model(body)
        whole = completion_body(body, reply) if isinstance(reply, ScriptedReply) else reply
        return Answer(200, json.dumps(whole))


def _said(fault: Answer | Status) -> Answer:
    return fault.answer() if isinstance(fault, Status) else fault


def _hang_up(connection: socket.socket) -> None:
    """End a connection in both directions; its thread notices."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # the client was faster
        return


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize: ClassVar[int] = -1  # headers and body in one piece

    @property
    def desk(self) -> LoopbackServer:
        return cast("_Http", self.server).desk

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class has this name
        """Log nothing: headers hold keys."""

    def do_GET(self) -> None:
        """Answer ``/v1/models``, for programs that look for a sign of life."""
        if self.path.partition("?")[0] != "/v1/models":
            self._send(_not_found(self.path))
            return
        models = {"object": "list", "data": [{"id": "loopback", "object": "model", "owned_by": "loopback"}]}
        self._send(Answer(200, json.dumps(models)))

    def do_POST(self) -> None:
        """Answer a request for a completion."""
        body = self._body()
        if self.path.partition("?")[0] != "/v1/chat/completions":
            self._send(_not_found(self.path))
        elif not self.desk.admits(self.headers.get("Authorization")):
            self._send(Status(401, message="Incorrect API key provided", code="invalid_api_key").answer())
        elif body is None:
            self._send(Status(400, message="the body is no JSON object", code=_INVALID).answer())
        else:
            answer, fault = self.desk.answer(body)
            self._send_disturbed(answer, fault)

    def _body(self) -> JsonObject | None:
        """Return the body of the request, None if it is no JSON object."""
        length = self.headers.get("Content-Length") or "0"
        if not (length.isascii() and length.isdigit()) or int(length) > _LONGEST_BODY:
            self.close_connection = True
            return None
        try:
            body: Json = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return None
        return body if isinstance(body, dict) else None

    def _send_disturbed(self, answer: Answer, fault: LoopbackFault | None) -> None:
        match fault:
            case Stall(seconds):
                self.desk.pause(seconds)
                self.close_connection = True
            case Drop(sent_fraction):
                self._send_part(answer, sent_fraction)
            case Trickle(interval_s):
                self._trickle(interval_s)
            case Truncate():
                self._send(attrs.evolve(answer, body=answer.body[: len(answer.body) // 2]))
            case Answer() | Status() | None:
                self._send(answer)

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode("utf-8", "surrogatepass")
        self._send_head(answer, len(body))
        self.wfile.write(body)

    def _send_head(self, answer: Answer, length: int) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(length))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_part(self, answer: Answer, fraction: float | None) -> None:
        """Send the head and a part of the body, or nothing, and end the connection."""
        self.close_connection = True
        if fraction is not None:
            body = answer.body.encode("utf-8", "surrogatepass")
            self._send_head(answer, len(body))
            self.wfile.write(body[: int(len(body) * fraction)])
            self.wfile.flush()

    def _trickle(self, interval_s: float) -> None:
        """Send blanks, which JSON may begin with, until the client or the server goes away."""
        self.close_connection = True
        self._send_head(Answer(200, ""), _LONGEST_BODY)
        while self.desk.pause(interval_s):
            self.wfile.write(b" ")
            self.wfile.flush()


def _not_found(path: str) -> Answer:
    message = f"no such path: {path[:200]!r}; there are /v1/chat/completions and /v1/models"
    return Status(404, message=message, code=_INVALID).answer()
