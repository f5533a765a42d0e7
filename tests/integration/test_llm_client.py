"""OpenAIChat over real connections: a server on this machine that fails to order."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import gzip
import json
import logging
import socket
import threading
import time
import traceback
import tracemalloc
import zlib
from datetime import UTC, datetime
from typing import NoReturn, Self

import pytest

from ycbench_agents.llm.client import OpenAIChat
from ycbench_agents.llm.connection import account_of, new_client
from ycbench_agents.llm.loopback import (
    SOME_OF_EACH,
    Answer,
    Drop,
    FaultPlan,
    LoopbackFault,
    LoopbackServer,
    ScriptedReply,
    Stall,
    Status,
    Trickle,
    html_page,
)
from ycbench_agents.llm.message import (
    ChatReply,
    ChatRequest,
    Completion,
    ContextLengthError,
    ModelError,
    TokenUsage,
    ToolCall,
)
from ycbench_agents.llm.settings import LLMSettings

KEY = "sk-proj-0123456789abcdefSECRETghijkl"
HEADER = "header-value-5f3c1b"
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
TOOL = {"type": "function", "function": {"name": "run_command", "parameters": {"type": "object"}}}
REQUEST = ChatRequest(({"role": "system", "content": "Play."}, {"role": "user", "content": "Turn 1"}), (TOOL,))


def ready(_: object) -> ScriptedReply:
    call = {"id": "call_7", "type": "function", "function": {"name": "run_command", "arguments": '{"command": "x"}'}}
    return ScriptedReply("Ready.", [call], more={"reasoning_content": "hm"})


def always(fault: LoopbackFault) -> FaultPlan:
    return FaultPlan(rate=1.0, kinds=(fault,), most_in_a_row=1_000_000)


def first(*faults: LoopbackFault) -> FaultPlan:
    return FaultPlan(dict(enumerate(faults, start=1)))


class Sleeps:
    """Waits nothing and notes how long it was asked to."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


def client(server: LoopbackServer, *, sleeps: Sleeps | None = None, **settings: object) -> OpenAIChat:
    given = {"model": "m", "base_url": server.base_url, "timeout_s": 30.0, "max_retries": 3, **settings}
    return OpenAIChat(
        LLMSettings.from_mapping(given),
        environ={"OPENAI_API_KEY": KEY},
        sleep=sleeps or Sleeps(),
        now=lambda: NOW,
        jitter=lambda: 1.0,
    )


def completed(chat: OpenAIChat, request: ChatRequest = REQUEST) -> Completion:
    async def ask() -> Completion:
        return await asyncio.wait_for(chat.complete(request), 60)  # a test that hangs fails

    return asyncio.run(ask())


def refused(chat: OpenAIChat, request: ChatRequest = REQUEST) -> ModelError:
    with pytest.raises(ModelError) as caught:
        completed(chat, request)
    return caught.value


# ---- what is asked and answered


def test_a_reply_comes_with_its_calls_reasoning_usage_and_model() -> None:
    with LoopbackServer(ready) as server:
        completion = completed(client(server))
    usage = completion.reply.usage
    assert usage.prompt and usage.completion and usage.reasoning == 0  # noqa: PT018 -- one thing: it was counted
    expected = ChatReply(
        content="Ready.",
        tool_calls=(ToolCall("call_7", "run_command", '{"command": "x"}'),),
        finish_reason="tool_calls",
        reasoning={"reasoning_content": "hm"},
        usage=TokenUsage(usage.prompt, usage.completion, usage.prompt // 2, 0),
        model="m",
    )
    assert completion.reply == expected
    assert completion.transport.attempts == 1
    assert completion.transport.faults == ()


def test_a_request_holds_the_settings_that_are_set_and_no_others() -> None:
    with LoopbackServer(ready) as server:
        completed(client(server))
        settings = {"temperature": 0, "max_tokens": 5, "seed": 0, "top_p": 1.0, "extra_body": {"top_k": 3}}
        completed(client(server, **settings), ChatRequest(REQUEST.messages))
    plain, full = (logged.body for logged in server.requests)
    assert plain == {"model": "m", "messages": list(REQUEST.messages), "tools": [TOOL]}
    expected = {"temperature": 0.0, "top_p": 1.0, "max_completion_tokens": 5, "seed": 0, "top_k": 3}
    assert full == {"model": "m", "messages": list(REQUEST.messages), **expected}


def test_lone_surrogates_are_sent_and_read_as_replacement_characters() -> None:
    with LoopbackServer(lambda _: ScriptedReply("a\ud800b \U0001f4b8")) as server:
        request = ChatRequest((REQUEST.messages[0], {"role": "user", "content": "x\udfffy \U0001f4b8"}))
        completion = completed(client(server), request)
    assert server.requests[0].body["messages"] == [
        REQUEST.messages[0],
        {"role": "user", "content": "x\ufffdy \U0001f4b8"},
    ]
    assert completion.reply.content == "a\ufffdb \U0001f4b8"


def test_a_proxy_for_the_world_is_not_asked_for_a_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with LoopbackServer(ready) as server:
        assert completed(client(server)).reply.content == "Ready."
        named = client(server, base_url=server.base_url.replace("//127.0.0.1", "//localhost", 1))
        assert completed(named).reply.content == "Ready."
        elsewhere = client(server, base_url="http://example.invalid/v1", max_retries=0)
        assert "ConnectError" in str(refused(elsewhere))


# ---- faults that go away


@pytest.mark.parametrize("fault", SOME_OF_EACH, ids=repr)
def test_a_temporary_fault_is_tried_again_with_the_same_request(fault: LoopbackFault) -> None:
    with LoopbackServer(ready, first(fault, fault)) as server:
        completion = completed(client(server))
    assert completion.reply.content == "Ready."
    assert completion.transport.attempts == 3
    assert len(completion.transport.faults) == 2
    assert all(completion.transport.faults)
    assert [logged.fault for logged in server.requests] == [fault, fault, None]
    assert len({json.dumps(logged.body) for logged in server.requests}) == 1


@pytest.mark.parametrize("fault", [Status(429), Status(500), Drop(), html_page()], ids=repr)
def test_attempts_are_limited(fault: LoopbackFault) -> None:
    sleeps = Sleeps()
    with LoopbackServer(ready, always(fault)) as server:
        error = refused(client(server, sleeps=sleeps, max_retries=2))
    assert len(server.requests) == error.transport.attempts == len(error.transport.faults) == 3
    assert sleeps.asked == [1.0, 2.0]
    assert "after 3 attempts" in str(error)
    assert error.transport.faults[-1] in str(error)


def test_without_retries_a_request_is_sent_once() -> None:
    with LoopbackServer(ready, always(Status(503))) as server:
        error = refused(client(server, max_retries=0))
    assert len(server.requests) == 1
    assert "HTTP 503: a fault to order" in str(error)


def test_waits_are_those_the_server_asks_for_up_to_the_cap() -> None:
    dates = ("Mon, 30 Nov 2026 12:00:09 GMT", "Mon, 30 Nov 2026 11:00:00 GMT", "Mon, 30 Nov 2099 12:00:09 GMT")
    dated = (Status(429, retry_after=asked) for asked in ("7", "0", "2.5", "86400", *dates))
    faults = (*dated, Answer(503, "{}", {"retry-after-ms": "1500", "Retry-After": "9"}))
    sleeps = Sleeps()
    with LoopbackServer(ready, first(*faults)) as server:
        completed(client(server, sleeps=sleeps, max_retries=8, retry_after_cap_s=20))
    assert sleeps.asked == [7, 0, 2.5, 20, 9, 0, 20, 1.5]


def test_waits_double_where_the_server_does_not_say() -> None:
    sleeps = Sleeps()
    faults = (Status(429, retry_after="soon"), Status(500), Status(429, retry_after="-3"), Status(502), Status(500))
    with LoopbackServer(ready, first(*faults)) as server:
        completed(client(server, sleeps=sleeps, max_retries=5, backoff_s=0.5, retry_after_cap_s=6))
    assert sleeps.asked == [0.5, 1, 2, 4, 6]


def test_a_refused_connection_is_tried_again_and_then_told() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        settings = LLMSettings(model="m", base_url=f"{address}/v1", max_retries=2)
        sleeps = Sleeps()
        error = refused(OpenAIChat(settings, environ={}, sleep=sleeps))
    assert error.transport.attempts == 3
    assert len(sleeps.asked) == 2
    assert str(error).endswith("connection failed (ConnectError)")
    assert str(error) == f"no reply of m at {address} after 3 attempts; the last: connection failed (ConnectError)"


# ---- time


@pytest.mark.parametrize("fault", [Trickle(0.005), Stall(60.0)], ids=repr)
def test_an_attempt_is_bounded_in_wall_time_however_slowly_bytes_come(fault: LoopbackFault) -> None:
    with LoopbackServer(ready, first(fault)) as server:
        completion = completed(client(server, timeout_s=1.5))
    assert completion.transport.faults == ("no reply within 1.5 s",)
    assert completion.reply.content == "Ready."


def test_a_late_reply_is_not_taken_for_the_answer_to_the_next_attempt() -> None:
    again, asked = threading.Event(), [0]

    def late_at_first(_: object) -> ScriptedReply:
        asked[0] += 1
        if asked[0] == 1:
            again.wait(60)
            return ScriptedReply("late")
        again.set()
        return ScriptedReply("on time")

    with LoopbackServer(late_at_first) as server:
        completion = completed(client(server, timeout_s=1.0, max_retries=8))
    assert completion.transport.faults[0] == "no reply within 1 s"
    assert completion.reply.content == "on time"


def test_no_wait_is_begun_that_would_reach_the_deadline() -> None:
    time_s = [100.0]

    async def sleep(seconds: float) -> None:
        time_s[0] += seconds

    with LoopbackServer(ready, always(Status(429, retry_after="20"))) as server:
        settings = LLMSettings(model="m", base_url=server.base_url, deadline_s=50)
        chat = OpenAIChat(settings, environ={}, sleep=sleep, clock=lambda: time_s[0])
        error = refused(chat)
    assert error.transport.attempts == 3
    assert error.transport.latency_s == 40
    assert " before the deadline of 50 s; the last: HTTP 429" in str(error)


def test_the_deadline_bounds_the_last_attempt() -> None:
    with LoopbackServer(ready, always(Stall(60.0))) as server:
        error = refused(client(server, timeout_s=600, deadline_s=0.5))
    assert error.transport.faults == ("no reply before the deadline of 0.5 s",)
    assert str(error).endswith(" before the deadline of 0.5 s; the last: no reply before the deadline of 0.5 s")


def test_latency_holds_the_waits() -> None:
    time_s = [0.0]

    async def sleep(seconds: float) -> None:
        time_s[0] += seconds

    with LoopbackServer(ready, first(Status(429, retry_after="20"))) as server:
        settings = LLMSettings(model="m", base_url=server.base_url)
        completion = completed(OpenAIChat(settings, environ={}, sleep=sleep, clock=lambda: time_s[0]))
    assert completion.transport.latency_s == 20


# ---- faults that stay


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 408, 409, 410, 422, 451])
def test_a_refusal_is_told_at_once_with_status_and_message(status: int) -> None:
    with LoopbackServer(ready, always(Status(status, retry_after="1", message="Not\n for \x1b[31myou"))) as server:
        error = refused(client(server))
    assert type(error) is ModelError
    assert len(server.requests) == error.transport.attempts == 1
    assert f"HTTP {status}: Not for [31myou" in str(error)


def test_a_long_message_is_shortened() -> None:
    with LoopbackServer(ready, always(Status(400, message="why " * 10_000))) as server:
        assert len(str(refused(client(server)))) < 500


def test_a_used_up_quota_is_not_waited_for() -> None:
    with LoopbackServer(ready, always(Status(429, code="insufficient_quota"))) as server:
        refused(client(server))
    assert len(server.requests) == 1


def test_an_error_under_status_200_counts_by_its_own_status() -> None:
    gone = Answer(200, '{"error": {"code": 401, "message": "No auth"}}')
    with LoopbackServer(ready, always(gone)) as server:
        error = refused(client(server))
    assert len(server.requests) == 1
    assert "HTTP 200 with error 401 in it: No auth" in str(error)


def test_a_request_beyond_the_context_is_told_from_other_refusals() -> None:
    with LoopbackServer(ready, context_tokens=10) as server:
        error = refused(client(server))
    assert type(error) is ContextLengthError
    assert len(server.requests) == 1
    assert "maximum context length is 10 tokens" in str(error)


# ---- many at a time, cancelled, in several loops


def test_a_hundred_completions_keep_to_the_limit() -> None:
    lock, under_way, most = threading.Lock(), [0], [0]

    def counting(_: object) -> ScriptedReply:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.005)
        with lock:
            under_way[0] -= 1
        return ScriptedReply("Ready.")

    async def ask_all(chat: OpenAIChat) -> list[Completion]:
        return await asyncio.gather(*(chat.complete(REQUEST) for _ in range(100)))

    with LoopbackServer(counting, first(*[Status(429)] * 20)) as server:
        settings = LLMSettings(model="m", base_url=server.base_url)
        completions = asyncio.run(ask_all(OpenAIChat(settings, concurrency=4, environ={}, sleep=Sleeps())))
    assert [completion.reply.content for completion in completions] == ["Ready."] * 100
    assert sum(len(completion.transport.faults) for completion in completions) == 20
    assert 2 <= most[0] <= 4


@pytest.mark.parametrize("concurrency", [0, -1, True, 1.5, "2"])
def test_a_limit_that_is_none_is_refused(concurrency: object) -> None:
    with pytest.raises(ValueError, match="expected a positive whole number"):
        OpenAIChat(LLMSettings(model="m"), concurrency=concurrency)  # pyright: ignore[reportArgumentType]


def test_cancellation_passes_through_a_request_at_once() -> None:
    async def cancel() -> None:
        task = asyncio.create_task(chat.complete(REQUEST))
        while not server.requests:  # noqa: ASYNC110 -- the server is a thread and has no event to wait for
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await chat.complete(REQUEST)).reply.content == "Ready."

    with LoopbackServer(ready, first(Stall(600.0))) as server:
        chat = client(server)
        asyncio.run(cancel())
    assert len(server.requests) == 2


def test_cancellation_passes_through_a_wait() -> None:
    class Interrupting(Sleeps):
        async def __call__(self, seconds: float) -> None:
            await super().__call__(seconds)
            raise asyncio.CancelledError

    sleeps = Interrupting()
    with LoopbackServer(ready, always(Status(503))) as server, pytest.raises(asyncio.CancelledError):
        completed(client(server, sleeps=sleeps))
    assert len(server.requests) == len(sleeps.asked) == 1


def test_one_client_serves_several_event_loops_and_leaves_no_connection_open() -> None:
    with LoopbackServer(ready) as server:
        chat = client(server)
        for _ in range(3):
            assert completed(chat).reply.content == "Ready."
            gc.collect()  # a connection that is still open would warn, and warnings are errors
        assert len(server.requests) == 3


def test_a_client_that_is_dropped_leaves_no_connection_open() -> None:
    async def ask(chats: list[OpenAIChat]) -> None:
        await chats.pop().complete(REQUEST)

    with LoopbackServer(ready) as server:
        asyncio.run(ask([client(server)]))
        gc.collect()
        assert len(server.requests) == 1


def test_a_closed_client_opens_new_connections() -> None:
    async def twice() -> None:
        await chat.aclose()
        for _ in range(2):
            assert (await chat.complete(REQUEST)).reply.content == "Ready."
            await chat.aclose()
        await chat.aclose()

    with LoopbackServer(ready) as server:
        chat = client(server)
        asyncio.run(twice())


# ---- keys


def test_the_key_is_sent_as_the_bearer() -> None:
    with LoopbackServer(ready, api_key=KEY) as server:
        assert completed(client(server)).reply.content == "Ready."
        other = client(server, api_key_variable="OTHER_KEY")
        assert "HTTP 401: Incorrect API key provided" in str(refused(other))


def test_blanks_around_a_key_are_left_out() -> None:
    with LoopbackServer(ready, api_key=KEY) as server:
        settings = LLMSettings(model="m", base_url=server.base_url, api_key_variable="MY_KEY")
        assert completed(OpenAIChat(settings, environ={"MY_KEY": f" {KEY}\r\n"})).reply.content == "Ready."


@pytest.mark.parametrize("key", ["two words", "schl\u00fcssel", "a\x00b"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(key: str) -> None:
    settings = LLMSettings(model="m", base_url="http://127.0.0.1:9/v1", api_key_variable="MY_KEY")
    error = refused(OpenAIChat(settings, environ={"MY_KEY": key}))
    assert "MY_KEY" in str(error)
    assert key not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("base_url", [None, "https://api.openai.com/v1", "https://eu.api.openai.com/v1"])
def test_openai_without_a_key_names_the_variable(base_url: str | None) -> None:
    settings = LLMSettings(model="m", base_url=base_url, api_key_variable="MY_KEY")
    error = refused(OpenAIChat(settings, environ={"MY_KEY": " "}))
    assert "environment variable MY_KEY is not set" in str(error)
    assert error.transport.attempts == 0


def test_another_server_gets_a_placeholder_where_there_is_no_key() -> None:
    with LoopbackServer(ready, api_key="none") as server:
        settings = LLMSettings(model="m", base_url=server.base_url)
        assert completed(OpenAIChat(settings, environ={})).reply.content == "Ready."
        unset = LLMSettings(model="m")  # the package's own variable says where the default server is
        assert completed(OpenAIChat(unset, environ={"OPENAI_BASE_URL": server.base_url})).reply.content == "Ready."


ECHOES = [
    Status(401, message=f"Incorrect API key provided: {KEY}. Headers: {HEADER}"),
    Status(500, message=f"Bearer {KEY}"),
    Status(400, message=f"cut: {KEY[:-6]}*** and {KEY[4:]}"),
    Answer(400, f"Authorization: Bearer {KEY}", content_type="text/plain"),
    Answer(502, f"upstream got {KEY}", content_type="text/html"),
    Answer(200, json.dumps({"error": {"code": 400, "message": f"{HEADER} {KEY}"}})),
    Answer(200, json.dumps({"you sent": KEY})),
    Drop(),
    Trickle(),
]


@pytest.mark.parametrize("fault", ECHOES, ids=range(len(ECHOES)))
def test_no_secret_is_in_an_error_its_traceback_the_log_or_the_client(
    fault: LoopbackFault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "httpx", "httpx2", "httpcore", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    with LoopbackServer(ready, always(fault)) as server:
        address = server.base_url + "?sig=query-value-88#fragment-99"
        headers = {"X-Own": f"Token {HEADER}"}
        chat = client(server, base_url=address, extra_headers=headers, max_retries=1, timeout_s=1.5)
        error = refused(chat)
    assert caplog.records
    assert ("[redacted]" in str(error)) == (KEY in repr(fault) or KEY[:-6] in repr(fault))
    shown = [str(error), repr(error), *error.transport.faults, repr(chat), repr(vars(error)), caplog.text]
    shown += traceback.format_exception(error)
    for text in shown:
        for secret in (KEY, KEY[:12], KEY[10:24], HEADER, "query-value-88", "fragment-99"):
            assert secret not in text
    assert error.__cause__ is None
    assert error.__context__ is None


def test_the_libraries_loggers_are_left_as_they_were() -> None:
    def filters() -> list[object]:
        return [list(logging.getLogger(name).filters) for name in ("httpx", "httpx2", "openai._base_client")]

    before = filters()
    with LoopbackServer(ready) as server:
        completed(client(server))
    assert filters() == before


def test_a_key_in_a_reply_is_not_recorded() -> None:
    with LoopbackServer(lambda _: ScriptedReply(f"Your key is {KEY}, ha.")) as server:
        assert completed(client(server)).reply.content == "Your key is [redacted], ha."


@pytest.mark.parametrize(("sign", "escaped"), [("/", r"\/"), ("s", r"\u0073"), ("+", r"\u002B")])
def test_a_key_in_a_reply_is_not_recorded_however_the_server_escapes_it(sign: str, escaped: str) -> None:
    key = "sk-abc/def+ghi-0123456789/x"
    message = {"content": f"k {key}", "tool_calls": [{"id": "a", "function": {"name": "n", "arguments": f"k {key}"}}]}
    body = json.dumps({"choices": [{"message": message}], "usage": {"completion_tokens": 7}}).replace(sign, escaped)
    with LoopbackServer(ready, always(Answer(200, body))) as server:
        settings = LLMSettings(model="m", base_url=server.base_url)
        reply = completed(OpenAIChat(settings, environ={"OPENAI_API_KEY": key})).reply
    assert reply.content == reply.tool_calls[0].arguments == "k [redacted]"
    assert reply.usage.completion == 7


def test_a_word_of_a_public_header_is_kept_in_a_reply_and_in_the_usage() -> None:
    with LoopbackServer(lambda _: ScriptedReply("data_environment and completion_tokens")) as server:
        headers = {"X-Title": "data_environment", "X-App": "completion_tokens"}
        reply = completed(client(server, extra_headers=headers)).reply
    assert reply.content == "data_environment and completion_tokens"
    assert reply.usage.completion is not None


# ---- whom a request reaches, and what it holds


class RawServer:
    """Answers every request with the bytes that it is told, and keeps the heads of the requests."""

    def __init__(self, *answer: bytes, endless: bool = False) -> None:
        self.answer, self.endless = answer, endless
        self.heads: list[str] = []
        self.sent = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(30)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(30)
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65536) or b"\r\n\r\n"
        head, _, body = received.partition(b"\r\n\r\n")
        self.heads.append(head.decode("latin-1"))
        length = int(next((line[15:] for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), b"0"))
        while len(body) < length:
            body += connection.recv(65536)
        for part in self.answer:
            connection.sendall(part)
        while self.endless:
            connection.sendall(self.answer[-1])
            self.sent += len(self.answer[-1])

    def values(self, name: str) -> list[str]:
        """Return the values of a header in the only request."""
        (head,) = self.heads
        lines = (line.partition(": ") for line in head.split("\r\n"))
        return [value for key, _, value in lines if key.lower() == name.lower()]


GOOD = json.dumps({"choices": [{"message": {"content": "Ready."}}]}).encode()


def http(body: bytes = GOOD, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_redirect_is_not_followed_and_told_by_its_host_only(status: int, host: str) -> None:
    with RawServer(http()) as other:
        location = other.base_url.replace("127.0.0.1", f"user:password-77@{host}") + "?sig=query-value-88"
        with RawServer(http(b"{}", f"Location: {location}", status=f"{status} Moved")) as server:
            settings = LLMSettings(model="m", base_url=server.base_url, extra_headers={"X-Own": HEADER})
            error = refused(OpenAIChat(settings, environ={"OPENAI_API_KEY": KEY}, sleep=Sleeps()))
        assert other.heads == []
    assert len(server.heads) == 1
    assert f"HTTP {status}: a redirect to {host}, not followed" in str(error)
    assert "password" not in str(error)
    assert "query" not in str(error)


@pytest.mark.parametrize("location", ["http://127.0.0.1:99999/", "http://[::1", "file:///x", "//", "", "\x01", "/v1"])
def test_a_redirect_to_nowhere_is_a_refusal(location: str) -> None:
    with RawServer(http(b"{}", f"Location: {location}", status="307 Moved")) as server:
        refused(OpenAIChat(LLMSettings(model="m", base_url=server.base_url), environ={}, sleep=Sleeps()))


def test_a_request_that_cannot_be_sent_is_refused_once() -> None:
    with LoopbackServer(ready) as server:
        error = refused(client(server, extra_headers={"Content-Length": "5"}))
    assert error.transport.faults == (
        "the request cannot be sent (LocalProtocolError); check base_url and extra_headers",
    )


class Broken(OpenAIChat):
    """Fails below the package."""

    def __init__(self, settings: LLMSettings, error: BaseException) -> None:
        super().__init__(settings, environ={}, sleep=Sleeps())
        self.error = error

    async def _send(self, session: object, request: ChatRequest) -> NoReturn:  # noqa: ARG002 -- as its parent
        raise self.error


@pytest.mark.parametrize(
    "error", [ExceptionGroup("g", [OSError(KEY)]), OSError(KEY), RuntimeError(KEY), KeyError(KEY)], ids=repr
)
def test_whatever_the_libraries_raise_is_a_fault_without_its_text(error: Exception) -> None:
    told = refused(Broken(LLMSettings(model="m", base_url="http://127.0.0.1:9/v1", max_retries=1), error))
    assert told.transport.faults == (f"connection failed ({type(error).__name__})",) * 2


@pytest.mark.parametrize("interruption", [asyncio.CancelledError, KeyboardInterrupt])
def test_interruptions_pass_through(interruption: type[BaseException]) -> None:
    with pytest.raises(interruption):
        completed(Broken(LLMSettings(model="m", base_url="http://127.0.0.1:9/v1"), interruption()))


@pytest.mark.parametrize("status", ["200 OK", "500 Oops"])
def test_an_endless_answer_is_cut_off(status: str) -> None:
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    with RawServer(head, chunk, endless=True) as server:
        settings = LLMSettings(model="m", base_url=server.base_url, max_retries=0)
        error = refused(OpenAIChat(settings, environ={}))
    assert "an answer longer than 16 MiB" in str(error)
    assert 16 * 2**20 <= server.sent < 64 * 2**20


@pytest.mark.parametrize("status", ["200 OK", "400 No"])
def test_an_answer_that_unpacks_to_more_than_the_limit_is_not_unpacked(status: str) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(b" " * 2**20) for _ in range(200)) + packer.flush()
    tracemalloc.start()
    try:
        with RawServer(http(bomb, "Content-Encoding: gzip", status=status)) as server:
            settings = LLMSettings(model="m", base_url=server.base_url, max_retries=0)
            error = refused(OpenAIChat(settings, environ={}))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "an answer longer than 16 MiB" in str(error)
    assert peak < 64 * 2**20


PACKED = {
    "gzip": gzip.compress(GOOD),
    "deflate": zlib.compress(GOOD),
    "Deflate": zlib.compress(GOOD)[2:-4],
    "utf-8": GOOD,
}


@pytest.mark.parametrize("encoding", PACKED)
def test_packed_answers_are_unpacked(encoding: str) -> None:
    with RawServer(http(PACKED[encoding], f"Content-Encoding: {encoding}")) as server:
        settings = LLMSettings(model="m", base_url=server.base_url)
        assert completed(OpenAIChat(settings, environ={})).reply.content == "Ready."
    assert server.values("Accept-Encoding") == ["gzip, deflate"]


def test_an_answer_that_is_not_packed_as_it_says_is_a_temporary_fault() -> None:
    with RawServer(http(GOOD, "Content-Encoding: gzip")) as server:
        settings = LLMSettings(model="m", base_url=server.base_url, max_retries=1)
        error = refused(OpenAIChat(settings, environ={}, sleep=Sleeps()))
    assert error.transport.faults == ("HTTP 200: a body that is not the gzip it is said to be",) * 2


def test_a_user_and_password_are_sent_as_such_and_shown_nowhere() -> None:
    header = base64.b64encode(b"us@er:password-77").decode()
    body = json.dumps({"error": {"message": f"not you: Basic {header} {header[:-4]}"}}).encode()
    with RawServer(http(body, status="401 Unauthorized")) as server:
        address = server.base_url.replace("//", "//us%40er:password-77@", 1)
        error = refused(OpenAIChat(LLMSettings(model="m", base_url=address), environ={}))
    assert server.values("Authorization") == [f"Basic {header}"]
    assert "us" not in server.heads[0].split("\r\n")[0].replace("completions", "")
    assert header[:10] not in str(error)
    assert "password-77" not in str(error)
    assert "HTTP 401: not you: Basic [redacted]" in str(error)


def test_a_key_beside_a_password_is_refused_before_anything_is_sent() -> None:
    settings = LLMSettings(model="m", base_url="http://user:password-77@127.0.0.1:9/v1", api_key_variable="MY_KEY")
    error = refused(OpenAIChat(settings, environ={"MY_KEY": KEY}))
    assert "variable MY_KEY a key" in str(error)
    assert error.transport.attempts == 0
    assert "password-77" not in str(error)


def test_a_header_of_ones_own_wins_over_the_key_whatever_its_case() -> None:
    with RawServer(http()) as server:
        settings = LLMSettings(model="m", base_url=server.base_url, extra_headers={"authorization": "Token x"})
        completed(OpenAIChat(settings, environ={"OPENAI_API_KEY": KEY}))
    assert server.values("Authorization") == ["Token x"]


def test_what_the_package_reads_from_the_environment_is_sent_to_no_server_that_it_does_not_concern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS",
        "X-Env: env-secret\nauthorization: Bearer env-secret\ncontent-type: text/env-secret\nX-MINE: env-secret\n:\nx",
    )
    for name in ("ORG_ID", "PROJECT_ID", "ADMIN_KEY", "API_KEY", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", "env-secret")
    with RawServer(http()) as server:
        settings = LLMSettings(model="m", base_url=server.base_url, extra_headers={"X-Mine": "mine"})
        completed(OpenAIChat(settings, environ={"OPENAI_API_KEY": KEY, "OPENAI_ORG_ID": "env-secret"}))
    assert "env-secret" not in server.heads[0]
    assert server.values("Authorization") == [f"Bearer {KEY}"]
    assert server.values("Content-Type") == ["application/json"]
    assert server.values("X-Mine") == ["mine"]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.openai.com/v1", ("org-1", "p-1")),
        ("https://eu.api.openai.com/v1", ("org-1", "p-1")),
        ("https://api.openai.com.example.org/v1", (None, None)),
        ("http://127.0.0.1:9/v1", (None, None)),
    ],
)
def test_organization_and_project_are_for_openai_only(url: str, expected: tuple[str | None, str | None]) -> None:
    environ = {"OPENAI_ORG_ID": "org-1\r", "OPENAI_PROJECT_ID": "p-1"}
    made = new_client(LLMSettings(model="m"), KEY, url, environ)
    assert (made.organization, made.project) == expected
    assert KEY in made.auth_headers["Authorization"]
    assert account_of(url, {}) == (None, None)
