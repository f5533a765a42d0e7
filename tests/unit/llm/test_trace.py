"""Replies and decisions as JSON: exactly there and back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.llm.message import ChatReply, TokenUsage, ToolCall
from ycbench_agents.llm.reply import Plan, PlannedCall
from ycbench_agents.llm.trace import (
    RecordedDecision,
    decision_trace,
    messages_sha256,
    normalised,
    read_trace,
    reply_from_json,
    reply_to_json,
)

TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("\ud800\udbff\udc00\udfff"), max_size=8)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
COUNTS = st.none() | st.integers(0, 10**9)
REPLIES = st.builds(
    ChatReply,
    content=st.none() | TEXTS,
    tool_calls=st.lists(st.builds(ToolCall, TEXTS, TEXTS, JSON), max_size=3).map(tuple),
    finish_reason=st.none() | TEXTS,
    reasoning=st.dictionaries(TEXTS, JSON, max_size=3),
    usage=st.builds(TokenUsage, COUNTS, COUNTS, COUNTS, COUNTS),
    model=st.none() | TEXTS,
)
REPLY = ChatReply(
    "it\u2019s \ud800 \U0001f642",
    (ToolCall("", "run_command", {"a": [1, 1.5, None]}), ToolCall("x", "y", "{")),
    "tool_calls",
    {"reasoning_details": [{"text": "t", "index": 0}]},
    TokenUsage(10, 5, None, 0),
    "some-model",
)

PLAN = Plan(
    (
        PlannedCall("a", "run_command", "{}", ("sim resume",), None),
        PlannedCall("b", "run_command", "{}", (), "broken"),
    )
)


@given(REPLIES)
def test_every_reply_survives_strict_json_as_its_normal_form(reply: ChatReply) -> None:
    text = json.dumps(reply_to_json(reply), allow_nan=False)
    assert text.isascii()
    assert reply_from_json(json.loads(text)) == normalised(reply) == normalised(normalised(reply))


def test_a_usual_reply_is_its_own_normal_form() -> None:
    assert normalised(REPLY) == REPLY
    assert reply_from_json(json.loads(json.dumps(reply_to_json(REPLY)))) == REPLY


def test_the_normal_form_joins_halves_and_names_what_json_cannot_hold() -> None:
    nested: Any = "x"
    for _ in range(5_000):
        nested = [nested]
    reply = normalised(ChatReply("\ud83d\ude42", (ToolCall("", "", math.inf),), reasoning={"a": nested}))
    assert (reply.content, reply.tool_calls[0].arguments) == ("\U0001f642", "inf")
    assert "nested too deep" in json.dumps(reply.reasoning)


def test_json_of_a_reply_shares_nothing_with_it() -> None:
    reply = normalised(REPLY)
    written: Any = reply_to_json(reply)
    written["reasoning"]["reasoning_details"][0]["text"] = "changed"
    written["tool_calls"][0]["arguments"]["a"].append(9)
    assert reply == REPLY


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("reply",), None, "reply: got None, expected a JSON object"),
        (("reply", "content"), 3, "reply.content: got 3, expected a text"),
        (("reply", "tool_calls"), {}, "reply.tool_calls: got {}, expected a JSON list"),
        (("reply", "tool_calls", 1), "x", r"reply.tool_calls\[1\]: got 'x'"),
        (("reply", "tool_calls", 0, "id"), None, r"reply.tool_calls\[0\].id: got None"),
        (("reply", "usage", "prompt"), -1, "reply.usage.prompt: got -1"),
        (("reply", "usage", "prompt"), True, "reply.usage.prompt: got True"),
        (("reply", "reasoning"), [], "reply.reasoning"),
        (("messages_sha256",), "ab", "messages_sha256: got 'ab'"),
        (("messages_sha256",), ["x"] * 99, "got .{80}[.]{3}, expected a SHA-256"),
        (("shrunk_to",), "3", "shrunk_to: got '3'"),
    ],
)
def test_a_damaged_trace_is_refused_with_the_place(path: tuple[Any, ...], value: object, told: str) -> None:
    trace: Any = decision_trace(RecordedDecision(REPLY, "0" * 64, None), PLAN, None)
    place = trace
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=told):
        read_trace(trace)


def test_a_trace_that_is_no_object_is_refused() -> None:
    wrong: Any = "x"
    with pytest.raises(ValueError, match="trace: got 'x', expected a JSON object"):
        read_trace(wrong)


def test_a_trace_holds_what_recall_needs_and_what_a_reader_wants() -> None:
    recorded = RecordedDecision(REPLY, "0" * 64, 4)
    trace = decision_trace(recorded, PLAN, 0.25)
    assert read_trace(json.loads(json.dumps(trace))) == recorded
    assert {name: value for name, value in trace.items() if name != "reply"} == {
        "messages_sha256": "0" * 64,
        "shrunk_to": 4,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "cached_tokens": None,
        "reasoning_tokens": 0,
        "cost_usd": 0.25,
        "refused_calls": 1,
        "unusable_replies": 0,
    }
    assert decision_trace(recorded, Plan((), "say something"), None)["unusable_replies"] == 1


def test_the_hash_of_messages_depends_on_all_of_them_and_on_no_order_of_keys() -> None:
    assert messages_sha256([{"a": 1, "b": "\ud800"}]) == messages_sha256([{"b": "\ud800", "a": 1}])
    assert messages_sha256([{"a": 1}]) != messages_sha256([{"a": 2}])
    assert messages_sha256([]) == "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
