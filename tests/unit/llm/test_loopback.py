"""The server on this machine, and the strict one of these tests."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

import pytest
from strict_server import StrictServer, error_fault, request_problems, text_model

from ycbench_agents import make_policy, rollout
from ycbench_agents.llm.loopback import LoopbackServer, Model, ScriptedReply, greedy_model, main
from ycbench_env import YCBenchEnv
from ycbench_env.text import Json, JsonObject

START: list[Any] = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
END: Any = {"role": "user", "content": "e"}
REQUEST: JsonObject = {"model": "m", "messages": START}


def posted(server: LoopbackServer, body: Any, path: str = "/chat/completions", key: str = "") -> tuple[int, Any]:  # noqa: ANN401 -- any
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.base_url + path, data, {"Authorization": f"Bearer {key}"})  # noqa: S310 -- here
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)["error"]["message"]


def test_a_reply_has_the_form_of_the_interface_and_equal_requests_equal_answers() -> None:
    with LoopbackServer(lambda _: ScriptedReply("x", more={"reasoning": "r"})) as server:
        status, body = posted(server, REQUEST)
        assert posted(server, REQUEST) == (status, body)
        assert server.requests == [REQUEST, REQUEST]
    assert body["choices"][0]["message"] == {"role": "assistant", "content": "x", "reasoning": "r"}
    assert body["choices"][0]["finish_reason"] == "stop"
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]


def test_wrong_requests_are_refused() -> None:
    with LoopbackServer(greedy_model) as server:
        assert posted(server, REQUEST, "/models")[0] == 404
        assert posted(server, b"[1")[0] == posted(server, {"model": "m"})[0] == 400
        assert server.requests == []
    with StrictServer(greedy_model, {1: error_fault(429)}, api_key="k", context_tokens=40) as server:
        assert posted(server, REQUEST)[0] == 401
        assert "roles" in posted(server, {**REQUEST, "messages": START[:1]}, key="k")[1]
        assert server.requests == []
        assert posted(server, REQUEST, key="k")[0] == 429
        assert posted(server, REQUEST, key="k")[0] == 200
        long = [*START[:1], {"role": "user", "content": "x" * 400}]
        assert "maximum context length is 40" in posted(server, {**REQUEST, "messages": long}, key="k")[1]


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize(("mode", "model"), [("tools", greedy_model), ("text", greedy_model), ("text", text_model)])
def test_the_scripted_models_play_with_the_tool_and_in_writing(mode: str, model: Model) -> None:
    with LoopbackServer(model, fail_every=9) as server:
        policy: Any = make_policy("llm", model="m", base_url=server.base_url, mode=mode)
        trajectory = rollout(YCBenchEnv({"loop": {"max_turns": 12}}), policy, 1)
        policy.close()
    answers: list[Any] = [entry for seen in trajectory.observations for entry in json.loads(seen["results"])]
    assert all(answer["ok"] for answer in answers)
    assert sum(answer["command"].startswith("task dispatch") for answer in answers) > 2
    assert len(server.requests) == 13  # the ninth once more


def called(*ids: Json, arguments: Json = "{}", name: Json = "f") -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": name, "arguments": arguments}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answered(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "content": "x", "tool_call_id": call_id}


SAID: dict[str, Any] = {"role": "assistant", "content": "a"}


def test_a_valid_request_has_no_problems() -> None:
    whole = [*START, called("a", "b"), answered("a"), answered("b"), END, SAID, END]
    assert request_problems({"model": "m", "messages": whole}) == []
    assert request_problems(REQUEST) == []
    assert "model" in request_problems({"messages": START})[0]
    assert "tools" in request_problems({**REQUEST, "tools": []})[0]


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "roles"),
        (3, "expected a list of objects"),
        (START[1:], "roles"),
        ([*START, SAID], "roles"),
        ([*START, END], "roles"),
        ([*START, SAID, SAID, END], "roles"),
        ([*START, SAID, START[0], END], "roles"),
        ([*START, called("a", "b"), answered("a"), END], "expected answers to its calls ['a', 'b']"),
        ([*START, called("a", "b"), answered("b"), answered("a"), END], "got answers to ['b', 'a']"),
        ([*START, called("a"), answered("a"), answered("a"), END], "answers no call"),
        ([answered("a"), *START], "answers no call"),
        ([*START, called("a", "a"), answered("a"), answered("a"), END], "two calls have one id"),
        ([*START, called(""), answered(""), END], "or one has none"),
        ([*START, called("a", arguments="{"), answered("a"), END], "not the text of a JSON object"),
        ([*START, called("a", arguments="[]"), answered("a"), END], "not the text of a JSON object"),
        ([*START, called("a", name="a b"), answered("a"), END], "no list of at most 128 calls"),
        ([*START, called(*map(str, range(129))), *(answered(str(n)) for n in range(129)), END], "at most 128 calls"),
        ([*START, {**called("a"), "role": "user"}, answered("a"), END], "not the model's"),
        ([*START, {**SAID, "content": " "}, END], "its text is blank"),
        ([START[0], {"role": "user", "content": [{"text": "x"}]}], "its text is blank or no text"),
        ([START[0], {"role": "user", "content": "\ud800"}], "UTF-8"),
    ],
)
def test_what_strict_servers_refuse_is_found(messages: Any, problem: str) -> None:  # noqa: ANN401 -- any
    assert [text for text in request_problems({"model": "m", "messages": messages}) if problem in text]


def test_the_program_serves_until_it_is_ended_and_tells_a_port_that_is_taken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = [sys.executable, "-m", "ycbench_agents.llm.loopback", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 -- this program
        assert process.stdout is not None
        address = process.stdout.readline().split()[2].rstrip(";")
        assert address.startswith("http://127.0.0.1:")
        assert main(["--port", address.rpartition(":")[2].partition("/")[0]]) == 1
        process.terminate()
    assert "choose another --port" in capsys.readouterr().out
    assert main(["--port", "99999"]) == 1
