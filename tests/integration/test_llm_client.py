"""OpenAIChat over real connections: a server on this machine that fails to order (B41, B42)."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import socket
import traceback

import openai._base_client
import pytest
from strict_server import SOME_OF_EACH, Fault, StrictServer, error_fault

from ycbench_agents.llm.client import ChatRequest, Completion, ContextLengthError, ModelError, OpenAIChat
from ycbench_agents.llm.loopback import LoopbackServer, ScriptedReply, tool_call
from ycbench_agents.llm.pricing import TokenUsage
from ycbench_agents.llm.reply import ChatReply, ToolCall
from ycbench_agents.llm.settings import LLMSettings
from ycbench_env.text import JsonObject

KEY = "sk-proj-0123456789abcdefSECRETghijkl"
HEADER = "header-value-5f3c1b"
TOOL: JsonObject = {"type": "function", "function": {"name": "run_command", "parameters": {"type": "object"}}}
REQUEST = ChatRequest(({"role": "system", "content": "Play."}, {"role": "user", "content": "Turn 1"}), (TOOL,))


def ready(_: object) -> ScriptedReply:
    return ScriptedReply(
        "Ready.", [tool_call("call_7", "run_command", {"command": "x"})], more={"reasoning_content": "hm"}
    )


@pytest.fixture(autouse=True)
def a_key_and_no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.001)
    monkeypatch.setattr(openai._base_client, "random", lambda: 0.0)  # the global generator stays as it is


def client(server: LoopbackServer | str, **settings: object) -> OpenAIChat:
    url = server if isinstance(server, str) else server.base_url
    given = {"model": "m", "base_url": url, "timeout_s": 30.0, "max_retries": 3, **settings}
    return OpenAIChat(LLMSettings(**given))  # pyright: ignore[reportArgumentType] -- checked by itself


def completed(chat: OpenAIChat, request: ChatRequest = REQUEST) -> Completion:
    async def ask() -> Completion:
        return await asyncio.wait_for(chat.complete(request), 60)  # a test that hangs fails

    return asyncio.run(ask())


def refused(chat: OpenAIChat, request: ChatRequest = REQUEST) -> ModelError:
    with pytest.raises(ModelError) as caught:
        completed(chat, request)
    return caught.value


def always(fault: Fault) -> dict[int, Fault]:
    return dict.fromkeys(range(1, 100), fault)


# ---- what is asked and answered


def test_a_reply_comes_with_its_calls_reasoning_usage_and_model() -> None:
    with StrictServer(ready) as server:
        completion = completed(client(server))
    usage = completion.reply.usage
    assert usage.prompt is not None
    expected = ChatReply(
        content="Ready.",
        tool_calls=(ToolCall("call_7", "run_command", '{"command": "x"}'),),
        finish_reason="tool_calls",
        reasoning={"reasoning_content": "hm"},
        usage=TokenUsage(usage.prompt, usage.completion, usage.prompt // 2, 0),
        model="m",
    )
    assert completion.reply == expected
    assert (completion.transport.attempts, completion.transport.faults) == (1, ())


def test_a_request_holds_the_settings_that_are_set_and_no_others() -> None:
    with StrictServer(ready) as server:
        completed(client(server))
        settings = {"temperature": 0, "max_tokens": 5, "seed": 0, "top_p": 1.0, "extra_body": {"top_k": 3}}
        completed(client(server, **settings), ChatRequest(REQUEST.messages))
    plain, full = server.requests
    assert plain == {"model": "m", "messages": list(REQUEST.messages), "tools": [TOOL]}
    expected = {"temperature": 0.0, "top_p": 1.0, "max_completion_tokens": 5, "seed": 0, "top_k": 3}
    assert full == {"model": "m", "messages": list(REQUEST.messages), **expected}


def test_a_proxy_for_the_world_is_not_asked_for_a_server_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with StrictServer(ready) as server:
        assert completed(client(server)).reply.content == "Ready."


# ---- what goes wrong


@pytest.mark.parametrize("fault", SOME_OF_EACH, ids=lambda fault: repr(fault)[:60])
def test_a_temporary_fault_is_tried_again_with_the_same_request(fault: Fault) -> None:
    with StrictServer(ready, {1: fault, 2: fault}) as server:
        completion = completed(client(server, timeout_s=5))
    assert completion.reply.content == "Ready."
    assert completion.transport.attempts == 3
    assert len(completion.transport.faults) == 2
    assert server.requests == [server.requests[0]] * 3


def test_attempts_are_limited_and_the_last_fault_is_shown() -> None:
    with StrictServer(ready, always(error_fault(503, message="busy"))) as server:
        error = refused(client(server, max_retries=2))
    assert len(server.requests) == 3
    assert str(error) == f"no reply of m at {server.base_url} after 3 attempts: HTTP 503: busy"
    assert error.transport.attempts == 3
    assert error.transport.faults == ("HTTP 503: busy",) * 3


@pytest.mark.parametrize(
    "fault", [Fault(stall_s=60), Fault(200, " " * 10_000, interval_s=0.01, cut=True)], ids=["stall", "trickle"]
)
def test_an_attempt_is_bounded_in_wall_time_however_slowly_bytes_come(fault: Fault) -> None:
    with StrictServer(ready, {1: fault}) as server:
        completion = completed(client(server, timeout_s=0.5))
    assert completion.transport.faults == ("no reply within 0.5 s",)
    assert completion.reply.content == "Ready."


def test_the_deadline_bounds_all_attempts_and_waits() -> None:
    with StrictServer(ready, always(Fault(stall_s=60))) as server:
        error = refused(client(server, timeout_s=0.2, max_retries=1000, deadline_s=0.7))
    assert "no reply before the deadline of 0.7 s" in str(error)
    assert len(server.requests) < 10


def test_a_refused_connection_is_tried_again() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        error = refused(client(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", max_retries=1))
    assert error.transport.faults == ("connection failed (ConnectError)",) * 2


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (error_fault(400, message="no such field"), "HTTP 400: no such field"),
        (error_fault(401, message="wrong key"), "(the key is taken from the environment variable OPENAI_API_KEY)"),
        (error_fault(404, message="no such model"), "no such model (check the settings model and base_url)"),
        (Fault(200, '{"error": {"code": 402, "message": "no credit"}}'), "no credit"),
        (Fault(302, "", {"Location": "http://127.0.0.1:1/v1"}), "a redirect is not followed"),
        (Fault(307, "", {"Location": "/v1/elsewhere"}), "a redirect is not followed"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_refusal_for_good_is_not_tried_again(fault: Fault, text: str) -> None:
    with StrictServer(ready, always(fault)) as server:
        error = refused(client(server))
    assert text in str(error)
    assert len(server.requests) == 1
    assert not isinstance(error, ContextLengthError)


@pytest.mark.parametrize(
    "fault",
    [
        None,
        error_fault(413, message="Payload too large"),
        error_fault(400, message="Input is too long for requested model", code="context_length_exceeded"),
        Fault(200, '{"error": {"message": "the prompt is too long: 9 tokens"}}'),
    ],
)
def test_a_request_beyond_the_context_differs_from_other_refusals(fault: Fault | None) -> None:
    with StrictServer(ready, {1: fault} if fault else None, context_tokens=5) as server:
        assert isinstance(refused(client(server)), ContextLengthError)
    assert len(server.requests) == 1


# ---- event loops, copies


def test_one_client_serves_several_loops_and_episodes_and_leaves_no_connection_open() -> None:
    async def several(chat: OpenAIChat) -> list[Completion]:
        await chat.aclose()  # a closed client opens new connections
        return await asyncio.gather(*(chat.complete(REQUEST) for _ in range(20)))

    with StrictServer(ready, {3: Fault(), 25: error_fault(500)}) as server:
        chat = client(server)
        for _ in range(2):
            replies = asyncio.run(several(chat))
            assert {completion.reply.content for completion in replies} == {"Ready."}
            assert sorted(completion.transport.attempts for completion in replies) == [1] * 19 + [2]
        asyncio.run(several(client(server)))  # a client that is dropped
        gc.collect()  # what was left open warns, which fails the test


# ---- keys and secrets


def test_the_key_is_sent_as_the_bearer_and_a_placeholder_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", f" {KEY}\n")  # read from a file that ends in a line break
    with StrictServer(ready, api_key=KEY) as server:
        assert completed(client(server)).reply.content == "Ready."
        assert completed(client(server, api_key_variable="OTHER_KEY")).reply.content == "Ready."
    with StrictServer(ready, api_key="none") as server:
        assert completed(client(server, api_key_variable="NO_KEY_AT_ALL")).reply.content == "Ready."


@pytest.mark.parametrize("key", ["two words", "a\nb", "kéy"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    error = refused(client("http://127.0.0.1:1/v1"))
    assert "OPENAI_API_KEY holds blanks" in str(error)
    assert key not in str(error)


def test_the_address_may_come_from_the_variable_and_must_hold_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    with StrictServer(ready) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert completed(OpenAIChat(LLMSettings(model="m"))).reply.content == "Ready."
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://user:{KEY}@127.0.0.1:1/v1")
    error = refused(OpenAIChat(LLMSettings(model="m")))
    assert "OPENAI_BASE_URL: expected an address" in str(error)
    assert KEY not in str(error)


ECHO = json.dumps({"error": {"message": f"Bearer {KEY} with {HEADER} is wrong"}})


@pytest.mark.parametrize("status", [401, 503, 200])
def test_no_secret_is_in_an_error_its_traceback_or_the_log(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with StrictServer(ready, always(Fault(status, ECHO, {"X-Echo": "1"}))) as server:
        error = refused(client(server, extra_headers={"X-Own": f"Token {HEADER}"}, max_retries=1))
    shown = "".join([*traceback.format_exception(error), repr(error.transport), caplog.text])
    assert "[redacted]" in shown
    assert KEY not in shown
    assert HEADER not in shown


def test_a_key_that_a_server_repeats_in_a_reply_is_not_kept() -> None:
    with StrictServer(lambda _: ScriptedReply(f"your key is {KEY}")) as server:
        assert completed(client(server)).reply.content == "your key is [redacted]"


def test_organization_and_project_are_sent_to_openai_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")

    async def account(url: str) -> tuple[object, object]:
        package = await client(url)._client()
        return package.organization, package.project

    assert asyncio.run(account("https://api.openai.com/v1")) == ("org-1", "proj-1")
    assert asyncio.run(account("http://127.0.0.1:1/v1")) == (None, None)
