"""What a server's answer says, in whatever shape it comes."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.base import Json
from ycbench_agents.llm.message import ChatReply, TokenUsage, ToolCall
from ycbench_agents.llm.response import HttpAnswer, read_answer
from ycbench_agents.llm.retry import Fault, FaultKind

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def read(body: object, status: int = 200) -> ChatReply | Fault:
    text = body if isinstance(body, str) else json.dumps(body)
    return read_answer(HttpAnswer(status, {}, text), NOW)


def reply(message: dict[str, object], **fields: object) -> ChatReply:
    outcome = read({"choices": [{"message": message, **fields}]})
    assert isinstance(outcome, ChatReply)
    return outcome


def fault(body: object, status: int = 200) -> Fault:
    outcome = read(body, status)
    assert isinstance(outcome, Fault)
    return outcome


# ---- replies


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("text", "text"),
        ("", ""),
        (None, None),
        (["a", {"type": "text", "text": "b"}, {"type": "thinking", "thinking": "c"}, None, {"text": 3}], "ab"),
        ([], ""),
        ({"text": "a"}, "a"),
        (7, "7"),
        (False, "false"),
    ],
    ids=repr,
)
def test_content_of_any_shape_is_a_text(content: object, expected: str | None) -> None:
    assert reply({"content": content}).content == expected


def test_a_refusal_is_what_the_model_says() -> None:
    assert reply({"content": None, "refusal": "I cannot."}).content == "I cannot."


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (None, ()),
        ([], ()),
        ("run", ()),
        ([{"id": "a", "function": {"name": "n", "arguments": "{}"}}], (ToolCall("a", "n", "{}"),)),
        ({"id": "a", "function": {"name": "n", "arguments": "{}"}}, (ToolCall("a", "n", "{}"),)),
        ([{"id": "a", "function": {"name": "n", "arguments": {"x": 1}}}], (ToolCall("a", "n", {"x": 1}),)),
        ([{"id": None, "function": None}], (ToolCall("", "", None),)),
        ([{"id": 7, "name": "n", "arguments": "{}"}], (ToolCall("7", "n", "{}"),)),
        ([{"id": True, "function": {"name": 5}}], (ToolCall("", "", None),)),
        ([{"id": "a", "function": "run"}], (ToolCall("a", "", None),)),
        ([{"id": "a", "custom": {"name": "n", "input": "x"}}], (ToolCall("a", "n", "x"),)),
        (["run", None], (ToolCall("", "", "run"), ToolCall("", "", None))),
        ([{"id": "a", "function": {"name": "n"}}, {"id": "a"}], (ToolCall("a", "n", None), ToolCall("a", "", None))),
    ],
    ids=repr,
)
def test_calls_of_any_shape_keep_their_place_and_what_was_sent(calls: object, expected: tuple[ToolCall, ...]) -> None:
    assert reply({"tool_calls": calls}).tool_calls == expected


def test_the_older_call_is_a_call_without_an_id_unless_there_are_newer_ones() -> None:
    legacy = {"name": "n", "arguments": "{}"}
    assert reply({"function_call": legacy}).tool_calls == (ToolCall("", "n", "{}"),)
    assert reply({"function_call": legacy, "tool_calls": [{"id": "a"}]}).tool_calls == (ToolCall("a", "", None),)


def test_reasoning_is_kept_as_sent_by_the_name_of_its_field() -> None:
    message = {"content": "x", "reasoning": "hm", "reasoning_details": [{"text": "hm"}], "reasoning_content": None}
    assert reply(message).reasoning == {"reasoning": "hm", "reasoning_details": [{"text": "hm"}]}


def test_what_is_missing_or_of_another_kind_is_unknown() -> None:
    assert reply({}, finish_reason=3) == ChatReply(None, usage=TokenUsage())
    outcome = read({"choices": [{"message": {}}], "model": 5, "usage": "many", "error": None})
    assert outcome == ChatReply(None)


def test_the_first_choice_counts() -> None:
    outcome = read({"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}], "model": "m"})
    assert outcome == ChatReply("a", model="m")


def test_numbers_that_no_record_holds_are_null_and_a_byte_order_mark_is_no_text() -> None:
    outcome = read('\ufeff{"choices": [{"message": {"reasoning_details": [NaN, -Infinity, 1e999, 1.5]}}]}')
    assert isinstance(outcome, ChatReply)
    assert outcome.reasoning == {"reasoning_details": [None, None, None, 1.5]}


# ---- no reply


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "7",
        "{}",
        "data: {}",
        '{"choices": [{"message"',
        "<html></html>",
        "[" * 100_000,
        '{"choices": ' + "[" * 150 + "]" * 150 + "}",
        "1" * 5_000,
        {"choices": None},
        {"choices": []},
        {"choices": {}},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "text"}]},
        {"error": "overloaded"},
        {"error": {"message": "Provider returned error", "code": 502}},
        {"error": {"message": "slow down", "code": "429"}, "choices": []},
        {"choices": [{"message": {"content": "half"}, "error": {"code": 503, "message": "lost"}}]},
    ],
    ids=lambda body: repr(body)[:60],
)
def test_success_without_a_reply_is_a_temporary_fault(body: object) -> None:
    assert fault(body).kind is FaultKind.TEMPORARY


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"error": {"message": "no"}}, 400, "HTTP 400: no"),
        ({"error": "no"}, 400, "HTTP 400: no"),
        ({"message": "no"}, 404, "HTTP 404: no"),
        ({"detail": "no"}, 422, "HTTP 422: no"),
        ({"detail": [{"loc": ["body"], "msg": "no"}]}, 422, "HTTP 422: no"),
        ([{"error": {"message": "no", "code": 400}}], 400, "HTTP 400: no"),
        ({"error": {"message": "Provider returned error", "metadata": {"raw": "no"}}}, 400, "returned error (no)"),
        ("no", 403, "HTTP 403: no"),
        ("", 403, "HTTP 403: an empty body"),
        ("<!DOCTYPE html><p>no", 403, "HTTP 403: an HTML page instead of JSON"),
        ({}, 403, "HTTP 403, without a message"),
        ("null", 403, "HTTP 403, without a message"),
        ({"error": {"message": "no", "code": 403}}, 200, "HTTP 200 with error 403 in it: no"),
    ],
    ids=repr,
)
def test_a_refusal_says_what_the_server_said(body: object, status: int, text: str) -> None:
    outcome = fault(body, status)
    assert outcome.kind is FaultKind.PERMANENT
    assert text in outcome.text


def test_a_context_error_is_known_behind_a_gateway() -> None:
    raw = '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}'
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}
    assert fault(body).kind is FaultKind.CONTEXT_LENGTH


def test_a_fault_is_one_short_printable_line() -> None:
    text = fault({"error": {"message": "a\r\nb\x1b[2Jc\u2028d" + "e" * 5_000}}, 500).text
    assert text.isprintable()
    assert len(text) < 400


FIELDS = [
    *("arguments", "choices", "code", "content", "custom", "detail", "error", "finish_reason", "function", "id"),
    *("function_call", "message", "metadata", "model", "name", "raw", "tool_calls", "usage"),
]
TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates as well
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(body=JSON, status=st.sampled_from([200, 201, 302, 400, 429, 503]))
def test_no_json_raises(body: Json, status: int) -> None:
    read(body, status)


@given(message=JSON, choice=st.dictionaries(st.sampled_from(["finish_reason", "index"]), JSON))
def test_every_message_that_is_an_object_is_a_reply_of_values_that_a_record_holds(
    message: Json, choice: dict[str, Json]
) -> None:
    outcome = read({"choices": [{**choice, "message": {"m": message, "content": message, "tool_calls": [message]}}]})
    assert isinstance(outcome, ChatReply)
    assert len(outcome.tool_calls) == 1
    held = [outcome.content, outcome.reasoning, *(call.arguments for call in outcome.tool_calls)]
    json.dumps(held, allow_nan=False, ensure_ascii=False).encode("utf-8")


@given(text=st.text(), status=st.sampled_from([200, 400, 503]))
def test_no_text_raises(text: str, status: int) -> None:
    read(text, status)
