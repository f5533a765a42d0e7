"""The loopback server, seen from a plain HTTP client."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.base import JsonObject
from ycbench_agents.llm.loopback import (
    SOME_OF_EACH,
    Answer,
    Drop,
    FaultPlan,
    LoopbackServer,
    ScriptedReply,
    Stall,
    Status,
    Truncate,
    greedy_model,
    html_page,
    request_problems,
)
from ycbench_agents.llm.loopback.__main__ import main

SYSTEM: JsonObject = {"role": "system", "content": "Play."}
USER: JsonObject = {"role": "user", "content": "Turn 1"}
BODY: JsonObject = {"model": "m", "messages": [SYSTEM, USER]}


def hello(_: JsonObject) -> ScriptedReply:
    return ScriptedReply("Hello.")


class Line:
    """One connection that is kept."""

    def __init__(self, server: LoopbackServer) -> None:
        parts = urlsplit(server.base_url)
        self.http = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)

    def send(self, body: object, path: str = "/v1/chat/completions", method: str = "POST") -> tuple[int, str]:
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.http.request(method, path, body=text, headers={"Authorization": "Bearer k"})
        response = self.http.getresponse()
        return response.status, response.read().decode()

    def close(self) -> None:
        self.http.close()


def sent(
    server: LoopbackServer, body: object, path: str = "/v1/chat/completions", method: str = "POST"
) -> tuple[int, str]:
    line = Line(server)
    try:
        return line.send(body, path, method)
    finally:
        line.close()


# ---- answers


def test_a_reply_has_the_form_of_the_interface_and_counts_tokens() -> None:
    with LoopbackServer(hello) as server:
        status, text = sent(server, BODY)
    answer = json.loads(text)
    assert status == 200
    assert answer["object"] == "chat.completion"
    assert answer["model"] == "m"
    message = {"role": "assistant", "content": "Hello."}
    assert answer["choices"] == [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}]
    usage = answer["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert min(usage["prompt_tokens"], usage["completion_tokens"]) > 0


def test_equal_requests_have_equal_answers_on_one_connection_and_on_several() -> None:
    with LoopbackServer(greedy_model) as server:
        line = Line(server)
        answers = {line.send(BODY) for _ in range(3)} | {sent(server, BODY)}
        line.close()
    assert len(answers) == 1
    assert [logged.number for logged in server.requests] == [1, 2, 3, 4]


def test_a_model_may_answer_with_a_whole_body() -> None:
    with LoopbackServer(lambda _: {"choices": None}) as server:
        assert sent(server, BODY) == (200, '{"choices": null}')


def test_models_are_listed_and_other_paths_are_not_found() -> None:
    with LoopbackServer(hello) as server:
        status, text = sent(server, {}, "/v1/models", "GET")
        assert (status, json.loads(text)["object"]) == (200, "list")
        assert sent(server, BODY, "/v1/completions")[0] == 404
        assert sent(server, {}, "/", "GET")[0] == 404
        assert sent(server, BODY, "/v1/chat/completions?a=1")[0] == 200


def test_a_key_is_checked_where_one_is_set() -> None:
    with LoopbackServer(hello, api_key="k") as server:
        assert sent(server, BODY)[0] == 200
    with LoopbackServer(hello, api_key="other") as server:
        assert sent(server, BODY)[0] == 401
        assert server.requests == ()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"[" * 100_000, b"\xff"], ids=range(5))
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    with LoopbackServer(hello) as server:
        assert sent(server, body)[0] == 400


def test_a_body_of_unknown_length_is_refused_and_the_connection_closed() -> None:
    with LoopbackServer(hello) as server:
        line = Line(server)
        line.http.request("POST", "/v1/chat/completions", headers={"Content-Length": "many"})
        response = line.http.getresponse()
        assert (response.status, response.read() != b"") == (400, True)
        line.close()


def test_a_conversation_that_servers_refuse_is_refused_unless_that_is_switched_off() -> None:
    body = {**BODY, "messages": [SYSTEM, USER, USER]}
    with LoopbackServer(hello) as server:
        status, text = sent(server, body)
        assert status == 400
        assert "the user speaks twice" in json.loads(text)["error"]["message"]
        assert [logged.status for logged in server.requests] == [400]
    with LoopbackServer(hello, strict=False) as server:
        assert sent(server, body)[0] == 200


def test_a_request_that_is_too_long_is_refused() -> None:
    with LoopbackServer(hello, context_tokens=100) as server:
        assert sent(server, BODY)[0] == 200
        long = {"role": "user", "content": "word " * 100}
        status, text = sent(server, {**BODY, "messages": [SYSTEM, long]})
    assert (status, json.loads(text)["error"]["code"]) == (400, "context_length_exceeded")


def test_there_is_no_address_before_the_start() -> None:
    with pytest.raises(RuntimeError, match="with statement"):
        _ = LoopbackServer(hello).base_url


def test_the_end_ends_connections_and_threads() -> None:
    before = threading.active_count()
    with LoopbackServer(hello, FaultPlan({2: Stall(3600.0)})) as server:
        line, waiting = Line(server), Line(server)
        line.send(BODY)
        waiting.http.request("POST", "/v1/chat/completions", body=json.dumps(BODY))
        while len(server.requests) < 2:
            pass
    with pytest.raises((OSError, http.client.HTTPException)):
        waiting.http.getresponse()
    line.close()
    waiting.close()
    assert threading.active_count() == before


# ---- what is refused


def call(**function: object) -> dict[str, object]:
    return {"id": "a", "type": "function", "function": {"name": "n", "arguments": "{}", **function}}


def turn(calls: object) -> list[object]:
    return [SYSTEM, USER, {"role": "assistant", "content": None, "tool_calls": calls}]


ANSWER = {"role": "tool", "tool_call_id": "a", "content": "ok"}


def test_a_turn_with_calls_and_answers_is_right() -> None:
    tool = {"type": "function", "function": {"name": "n"}}
    body = {"model": "m", "messages": [*turn([call()]), ANSWER, USER], "tools": [tool]}
    assert request_problems(json.loads(json.dumps(body))) == []


@pytest.mark.parametrize(
    "change",
    [
        {"model": ""},
        {"model": None},
        {"messages": []},
        {"messages": None},
        {"messages": [SYSTEM, "hi"]},
        {"messages": [USER]},
        {"stream": True},
        {"tools": []},
        {"tools": [{"type": "function", "function": {"name": "a b"}}]},
        {"messages": [*turn([call(name="a b")]), ANSWER, USER]},
        {"messages": [*turn([call(arguments="{")]), ANSWER, USER]},
        {"messages": [*turn([call()]), USER]},
        {"messages": [*turn([{**call(), "id": str(n)} for n in range(129)]), USER]},
    ],
    ids=range(13),
)
def test_each_rule_refuses(change: dict[str, object]) -> None:
    assert request_problems(json.loads(json.dumps({**BODY, **change})))


# ---- faults


def test_faults_come_by_the_number_of_the_request() -> None:
    plan = FaultPlan({1: Status(429, retry_after="3"), 3: Answer(418, "tea")})
    with LoopbackServer(hello, plan) as server:
        line = Line(server)
        assert [line.send(BODY)[0] for _ in range(4)] == [429, 200, 418, 200]
        line.close()
    assert [logged.status for logged in server.requests] == [429, 200, 418, 200]


def test_a_page_is_a_page_and_a_cut_answer_is_no_json() -> None:
    with LoopbackServer(hello, FaultPlan({1: html_page(502), 2: Truncate()})) as server:
        assert sent(server, BODY)[1].startswith("<!DOCTYPE html>")
        status, text = sent(server, BODY)
    assert status == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


@pytest.mark.parametrize("fault", [Stall(0.01), Drop(), Drop(0.0), Drop(0.5)], ids=repr)
def test_a_dropped_connection_gives_no_whole_answer(fault: Stall | Drop) -> None:
    with LoopbackServer(hello, FaultPlan({1: fault})) as server:
        with pytest.raises((OSError, http.client.HTTPException)):
            sent(server, BODY)
        assert sent(server, BODY)[0] == 200


@given(seed=st.integers(0, 99), rate=st.floats(0, 1), digests=st.lists(st.text("0123456789abcdef"), max_size=20))
def test_a_plan_is_fixed_and_lets_each_request_through_in_the_end(seed: int, rate: float, digests: list[str]) -> None:
    plan, again = (FaultPlan(rate=rate, seed=seed, most_in_a_row=3) for _ in range(2))
    for number, digest in enumerate(digests, start=1):
        drawn = [plan.fault(number, digest, earlier) for earlier in range(5)]
        assert drawn == [again.fault(number + 7, digest, earlier) for earlier in range(5)]
        assert drawn[3:] == [None, None]


def test_a_rate_is_about_the_share_that_fails_and_reaches_every_kind() -> None:
    drawn = [FaultPlan(rate=0.3).fault(1, str(number), 0) for number in range(2_000)]
    failed = [fault for fault in drawn if fault]
    assert 500 < len(failed) < 700
    assert set(map(repr, failed)) == set(map(repr, SOME_OF_EACH))


# ---- from the command line


def test_the_command_serves_until_it_is_interrupted() -> None:
    command = [
        sys.executable,
        "-m",
        "ycbench_agents.llm.loopback",
        "--model",
        "greedy",
        "--port",
        "0",
        "--faults",
        "0.0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 -- this project's own
        assert process.stdout is not None
        address = next(word.rstrip(";") for word in process.stdout.readline().split() if word.startswith("http"))
        parts = urlsplit(address)
        line = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
        line.request("POST", f"{parts.path}/chat/completions", body=json.dumps(BODY))
        assert json.loads(line.getresponse().read())["model"] == "m"
        line.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_the_command_says_which_port_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["--port", str(port)]) == 1
    assert f"cannot listen on port {port}" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--port", "70000"], ["--model", "gpt"], ["--faults", "2"], ["--faults", "nan"]])
def test_the_command_refuses_what_it_cannot_do(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert arguments[1] in capsys.readouterr().err
