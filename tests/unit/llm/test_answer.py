"""What a server's answer holds: a reply, or a fault; servers differ, and so do the shapes understood here (B43)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.llm.client import read_answer
from ycbench_agents.llm.pricing import TokenUsage
from ycbench_agents.llm.reply import ChatReply, ToolCall, read_usage, reply_from_json, reply_to_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def reply_in(message: dict[str, Any], **body: Any) -> ChatReply:  # noqa: ANN401 -- fields of many types
    answer = read_answer(200, json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], **body}))
    assert isinstance(answer, ChatReply)
    return answer


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("text", "text"),
        (None, None),
        ("", ""),
        ([{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "b"}, "c"], "ac"),
        ({"text": "a"}, "a"),
        (3, "3"),
    ],
)
def test_content_of_any_shape_is_text(content: object, expected: str | None) -> None:
    assert reply_in({"content": content}).content == expected


def test_a_refusal_is_the_text_and_other_fields_are_kept() -> None:
    sent = {"content": None, "refusal": "No.", "reasoning": "r", "reasoning_details": [1], "reasoning_content": None}
    reply = reply_in(sent, model="m-1")
    assert reply.content == "No."
    assert reply.reasoning == {"reasoning": "r", "reasoning_details": [1]}
    assert (reply.model, reply.finish_reason) == ("m-1", "stop")
    assert reply_in({}, model=3).model is None


def function(name: Any, arguments: Any) -> dict[str, Any]:  # noqa: ANN401 -- whatever was sent
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([{"id": "a", "function": function("f", "{}")}], (ToolCall("a", "f", "{}"),)),
        ([{"id": 7, "function": function("f", {"x": 1})}], (ToolCall("7", "f", {"x": 1}),)),
        ([{"id": None, "function": function(None, None)}, "x"], (ToolCall("", "", None), ToolCall("", "", "x"))),
        ([{"id": "c", "custom": {"name": "g", "input": "y"}}], (ToolCall("c", "g", "y"),)),
        ({"id": "a", "name": "f", "arguments": "{}"}, (ToolCall("a", "f", "{}"),)),
        ("calls", ()),
        ([], ()),
    ],
)
def test_calls_of_any_shape_keep_their_place(calls: object, expected: tuple[ToolCall, ...]) -> None:
    assert reply_in({"content": "x", "tool_calls": calls}).tool_calls == expected


def test_the_older_function_call_is_a_call_without_an_id() -> None:
    legacy = {"content": None, "function_call": function("f", "{}")}
    assert reply_in(legacy).tool_calls == (ToolCall("", "f", "{}"),)
    newer = [{"id": "a", "function": function("g", "{}")}]
    assert reply_in({**legacy, "tool_calls": newer}).tool_calls == (ToolCall("a", "g", "{}"),)


def test_values_that_no_record_holds_are_replaced_and_a_byte_order_mark_is_ignored() -> None:
    deep = "[" * 300 + "]" * 300
    body = f'{{"choices": [{{"message": {{"content": "a\\ud800", "reasoning_details": [NaN, 1e999, {deep}]}}}}]}}'
    reply = read_answer(200, body)
    assert isinstance(reply, ChatReply)
    assert reply.content == "a\ufffd"
    assert reply.reasoning["reasoning_details"][:2] == [None, None]
    assert "nested too deep" in json.dumps(reply.reasoning)


@pytest.mark.parametrize(
    ("status", "body", "expected", "text"),
    [
        (200, "", 502, "no JSON: an empty body"),
        (200, "<!doctype html><p>Log in", 502, "an HTML page instead of JSON"),
        (200, '{"choices": [', 502, "no JSON"),
        (200, '{"choices": []}', 502, "no reply under a status of success"),
        (200, '{"choices": null}', 502, "choices"),
        (200, '{"choices": [{"message": null}]}', 502, "message"),
        (200, '{"choices": [{"error": {"code": 503, "message": "busy"}, "message": {}}]}', 503, "busy"),
        (200, '{"error": {"code": 401, "message": "No auth"}}', 401, "No auth"),
        (200, '{"error": {"message": "prompt is too long"}}', 400, "prompt is too long"),
        (400, '{"error": {"message": "Bad", "type": "t"}}', 400, "HTTP 400: Bad"),
        (400, '{"error": {"message": "Too long", "code": "context_length_exceeded"}}', 400, "context_length_exceeded"),
        (422, '{"detail": [{"loc": ["body"], "msg": "field required"}]}', 422, "field required"),
        (429, '[{"error": {"code": 429, "message": "Slow down", "status": "RESOURCE_EXHAUSTED"}}]', 429, "Slow down"),
        (400, '{"error": {"message": "Provider", "metadata": {"raw": "upstream"}}}', 400, "Provider (upstream)"),
        (500, '{"error": "sad"}', 500, "HTTP 500: sad"),
        (500, "<html>", 500, "HTML page"),
        (400, '"' + "x" * 5000 + '"', 400, "..."),
    ],
)
def test_an_answer_without_a_reply_is_a_fault_with_its_status(status: int, body: str, expected: int, text: str) -> None:
    answer = read_answer(status, body)
    assert not isinstance(answer, ChatReply)
    assert answer[0] == expected
    assert text in answer[1]
    assert len(answer[1]) < 450


def test_a_fault_is_one_printable_line() -> None:
    answer = read_answer(400, json.dumps({"error": {"message": "a\nb\x1b[31m\u202e" + "y" * 9000}}))
    assert not isinstance(answer, ChatReply)
    assert answer[1].startswith("HTTP 400: a b\\x1b[31m\\u202eyy")
    assert answer[1].isprintable()


@given(JSON, st.text(), st.sampled_from([200, 400, 500]))
def test_no_answer_raises(body: Any, text: str, status: int) -> None:  # noqa: ANN401 -- any JSON
    read_answer(status, text)
    for value in (body, {"choices": [body]}, {"choices": [{"message": body}]}, {"error": body, "usage": body}):
        read_answer(status, json.dumps(value))


@given(st.dictionaries(st.sampled_from(["content", "tool_calls", "function_call", "reasoning", "refusal"]), JSON), JSON)
def test_every_message_is_a_reply_that_a_record_holds(message: dict[str, Any], usage: Any) -> None:  # noqa: ANN401 -- any JSON
    reply = reply_in(message, usage=usage)
    assert reply_from_json(json.loads(json.dumps(reply_to_json(reply), allow_nan=False))) == reply


# ---- tokens


def usage(prompt: Any, completion: Any, total: Any = None, **more: Any) -> TokenUsage:  # noqa: ANN401 -- as sent
    return read_usage({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total, **more})


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (usage(9, 4, 13), TokenUsage(9, 4)),
        (
            usage(9, 4, prompt_tokens_details={"cached_tokens": 5}, completion_tokens_details={"reasoning_tokens": 0}),
            TokenUsage(9, 4, 5, 0),
        ),
        (usage(9, 4, prompt_cache_hit_tokens=5), TokenUsage(9, 4, 5)),  # DeepSeek
        (usage(9, 4, cached_tokens=5, reasoning_tokens=1), TokenUsage(9, 4, 5, 1)),  # Moonshot
        (usage(9, 4, 20, reasoning_tokens=7), TokenUsage(9, 11, None, 7)),  # xAI counts it beside the completion
        (usage(9, 4, 30, reasoning_tokens=7), TokenUsage(9, None, None, 7)),
        (usage(9, 4, reasoning_tokens=7), TokenUsage(9, None, None, 7)),
        (usage(9, 4, cached_tokens=10), TokenUsage(None, 4, 10)),
        (usage(prompt=True, completion="4"), TokenUsage()),
        (usage(-1, 2.0), TokenUsage()),
        (usage(2**63, 0), TokenUsage(None, 0)),
        (read_usage(None), TokenUsage()),
        (read_usage([1]), TokenUsage()),
    ],
)
def test_counts_are_read_as_servers_send_them_or_unknown(read: TokenUsage, expected: TokenUsage) -> None:
    assert read == expected
