"""Which faults are tried again, and after how long."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.llm.retry import Fault, FaultKind, fault_kind, next_wait, read_retry_after
from ycbench_agents.llm.settings import LLMSettings

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
BUSY = Fault(FaultKind.TEMPORARY, "HTTP 503")
SETTINGS = LLMSettings(model="m", max_retries=5, backoff_s=1, retry_after_cap_s=10)

TOO_LONG = {
    "OpenAI": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "OpenAI responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "llama.cpp": "the request exceeds the available context size. try increasing the context size",
    "llama.cpp, newer": "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "vLLM": "The decoder prompt (length 9000) is longer than the maximum model length of 4096.",
    "Ollama": "input length exceeds the context length",
    "Ollama, newer": "prompt too long; exceeded max context length by 12 tokens",
    "Anthropic": "prompt is too long: 210000 tokens > 200000 maximum",
    "Bedrock": "Input is too long for requested model.",
    "Gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Mistral": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "xAI": "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "Cohere": "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Groq": "Please reduce the length of the messages or completion.",
    "text-generation-inference": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens",
    "LM Studio": "The number of tokens to keep from the prompt is greater than the context length",
    "OpenRouter": "This endpoint's maximum context length is 32768 tokens. However, you requested about 50000 tokens",
}
OTHER_REFUSALS = (
    "Incorrect API key provided",
    "max_tokens is too large: 999999. This model supports at most 16384 completion tokens",
    "Invalid 'messages[2].tool_calls[0].id': string too long",
    "The model `gpt-9` does not exist",
    "messages: context must be an object",
    "Unsupported value: 'temperature' does not support 0",
    "deadline exceeded: context canceled",
    "queue too large for context",
)
TOO_FAST = (
    "Too many tokens, please wait before trying again.",
    "Rate limit exceeded: too many input tokens per minute",
    "Request was throttled: input is too long for the queue",
)


@pytest.mark.parametrize("wording", TOO_LONG.values(), ids=TOO_LONG)
@pytest.mark.parametrize("status", [200, 400, 422])
def test_context_errors_are_known_in_the_words_of_many_servers(wording: str, status: int) -> None:
    assert fault_kind(status, (), wording) is FaultKind.CONTEXT_LENGTH


@pytest.mark.parametrize("code", ["context_length_exceeded", "exceed_context_size_error"])
def test_context_errors_are_known_by_their_codes(code: str) -> None:
    assert fault_kind(400, ("400", code), "") is FaultKind.CONTEXT_LENGTH


def test_a_payload_that_is_too_large_is_a_context_error() -> None:
    assert fault_kind(413, (), "Request Entity Too Large") is FaultKind.CONTEXT_LENGTH


@pytest.mark.parametrize("wording", OTHER_REFUSALS)
def test_other_refusals_are_permanent(wording: str) -> None:
    assert fault_kind(400, ("invalid_request_error",), wording) is FaultKind.PERMANENT


@pytest.mark.parametrize("status", [401, 403, 404, 408, 429, 500, 502, 503, 504])
@pytest.mark.parametrize("wording", [*TOO_LONG.values(), "timeout exceeded, context canceled"])
def test_a_refusal_for_another_reason_is_no_context_error(status: int, wording: str) -> None:
    expected = FaultKind.TEMPORARY if status >= 429 else FaultKind.PERMANENT
    assert fault_kind(status, (), wording) is expected


@pytest.mark.parametrize("wording", TOO_FAST)
@pytest.mark.parametrize("status", [200, 400, 422])
def test_what_comes_too_fast_is_not_too_long(status: int, wording: str) -> None:
    assert fault_kind(status, (), wording) is not FaultKind.CONTEXT_LENGTH
    assert fault_kind(400, ("ThrottlingException",), wording) is FaultKind.TEMPORARY


@pytest.mark.parametrize("status", range(300, 600))
def test_429_and_5xx_are_the_only_statuses_that_are_tried_again(status: int) -> None:
    expected = FaultKind.TEMPORARY if status == 429 or status >= 500 else FaultKind.PERMANENT
    assert fault_kind(status, (), "") is (FaultKind.CONTEXT_LENGTH if status == 413 else expected)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 0 "}, 0.0),
        ({"retry-after": "1.25"}, 1.25),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:00 GMT"}, 60.0),
        ({"retry-after": "Mon, 30 Nov 2026 14:01:00 +0200"}, 60.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:00 -0000"}, 60.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 99 Nov 2026 11:00:00 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e3"}, None),
        ({"retry-after": "\u0663"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "9" * 19}, None),
    ],
    ids=repr,
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], expected: float | None) -> None:
    assert read_retry_after(headers, NOW) == expected


@given(asked=st.text() | st.from_regex(r"[A-Za-z]{3}, [0-9]{1,6} [A-Z][a-z]{2} [0-9]{1,9} [0-9:]{1,9} [A-Z+0-9-]*"))
def test_no_retry_after_raises_or_is_negative(asked: str) -> None:
    seconds = read_retry_after({"retry-after": asked}, NOW)
    assert seconds is None or seconds >= 0


def test_waits_double_up_to_the_cap_and_end_after_the_last_retry() -> None:
    assert [next_wait(attempt, BUSY, SETTINGS) for attempt in range(1, 8)] == [1, 2, 4, 8, 10, None, None]


def test_jitter_shortens_a_wait_by_up_to_a_half_and_no_wait_that_the_server_asks_for() -> None:
    assert [next_wait(3, BUSY, SETTINGS, jitter=jitter) for jitter in (0, 0.5, 1)] == [2, 3, 4]
    asked = Fault(FaultKind.TEMPORARY, "HTTP 429", 4.0)
    assert [next_wait(1, asked, SETTINGS, jitter=jitter) for jitter in (0, 1)] == [4, 4]


@pytest.mark.parametrize("kind", [FaultKind.PERMANENT, FaultKind.CONTEXT_LENGTH])
def test_only_temporary_faults_are_tried_again(kind: FaultKind) -> None:
    assert next_wait(1, Fault(kind, "no", 1.0), SETTINGS) is None


def test_a_wait_up_to_the_deadline_is_not_begun() -> None:
    settings = LLMSettings(model="m", backoff_s=2, deadline_s=10)
    assert next_wait(1, BUSY, settings, elapsed_s=7.9) == 2
    assert next_wait(1, BUSY, settings, elapsed_s=8) is None


@given(
    attempt=st.integers(1, 100_000),
    asked=st.none() | st.floats(0, 1e18),
    backoff=st.floats(0, 1e9),
    cap=st.floats(0, 1e9),
    jitter=st.floats(0, 1),
)
def test_no_wait_is_negative_or_above_the_cap(
    attempt: int, asked: float | None, backoff: float, cap: float, jitter: float
) -> None:
    settings = LLMSettings(model="m", max_retries=100_000, backoff_s=backoff, retry_after_cap_s=cap)
    wait = next_wait(attempt, Fault(FaultKind.TEMPORARY, "busy", asked), settings, jitter=jitter)
    assert wait is not None
    assert 0 <= wait <= cap
