"""Tokens: what servers report, in every shape, and sums in which the unknown stays unknown (B46)."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import CompletionUsage

from ycbench_agents.llm.message import TokenUsage
from ycbench_agents.llm.usage import TokenSum, UsageTotal, read_usage

SERVERS: Final = {
    "OpenAI": (
        {
            "prompt_tokens": 1117,
            "completion_tokens": 146,
            "total_tokens": 1263,
            "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 128, "accepted_prediction_tokens": 0},
        },
        TokenUsage(1117, 146, 1024, 128),
    ),
    "OpenRouter": (
        {
            "prompt_tokens": 194,
            "completion_tokens": 2,
            "total_tokens": 196,
            "cost": 0.95,
            "is_byok": False,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        TokenUsage(194, 2, 0, 0),
    ),
    "vLLM": (
        {"prompt_tokens": 31, "total_tokens": 48, "completion_tokens": 17, "prompt_tokens_details": None},
        TokenUsage(31, 17),
    ),
    "Ollama": ({"prompt_tokens": 26, "completion_tokens": 298, "total_tokens": 324}, TokenUsage(26, 298)),
    "llama.cpp": (
        {
            "completion_tokens": 9,
            "prompt_tokens": 40,
            "total_tokens": 49,
            "prompt_tokens_details": {"cached_tokens": 32},
        },
        TokenUsage(40, 9, 32),
    ),
    "DeepSeek": (
        {
            "prompt_tokens": 16,
            "completion_tokens": 10,
            "total_tokens": 26,
            "prompt_cache_hit_tokens": 12,
            "prompt_cache_miss_tokens": 4,
            "completion_tokens_details": {"reasoning_tokens": 7},
        },
        TokenUsage(16, 10, 12, 7),
    ),
    "Moonshot": (
        {"prompt_tokens": 19, "completion_tokens": 21, "total_tokens": 40, "cached_tokens": 10},
        TokenUsage(19, 21, 10),
    ),
    "xAI": (  # counts reasoning beside the completion
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "total_tokens": 135,
            "prompt_tokens_details": {"cached_tokens": 8},
            "completion_tokens_details": {"reasoning_tokens": 94},
        },
        TokenUsage(32, 103, 8, 94),
    ),
}

NO_COUNT: Final = [None, "12", -1, True, False, 12.0, float("nan"), [12], {"a": 12}, 2**63, b"12"]

JSON_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
COUNTS: Final = st.none() | st.integers(0, 10**6)
USAGES: Final = st.lists(st.builds(TokenUsage, COUNTS, COUNTS, COUNTS, COUNTS), max_size=8)
FIGURES: Final = ("prompt", "completion", "cached", "reasoning")


def same(usage: dict[str, Any]) -> tuple[object, ...]:
    """Return the same report as a dict, as the package makes it of an answer, and as a plain object."""
    details = {key: SimpleNamespace(**value) if isinstance(value, dict) else value for key, value in usage.items()}
    return usage, CompletionUsage.construct(**usage), SimpleNamespace(**details)


@pytest.mark.parametrize("server", SERVERS)
def test_every_server_is_understood(server: str) -> None:
    sent, expected = SERVERS[server]
    for raw in same(sent):
        assert read_usage(raw) == expected


@pytest.mark.parametrize("raw", [None, "usage", 7, [], {}, [{"prompt_tokens": 3}], object(), {"usage": {}}, {3: 4}])
def test_what_is_no_usage_is_unknown(raw: object) -> None:
    assert read_usage(raw) == TokenUsage()


@pytest.mark.parametrize("value", NO_COUNT, ids=repr)
@pytest.mark.parametrize("figure", ["prompt_tokens", "completion_tokens"])
def test_a_figure_that_is_no_count_is_unknown_and_the_other_is_kept(figure: str, value: object) -> None:
    sent = {"prompt_tokens": 5, "completion_tokens": 6}
    expected = {"prompt_tokens": TokenUsage(None, 6), "completion_tokens": TokenUsage(5, None)}
    for raw in same({**sent, figure: value}):
        assert read_usage(raw) == expected[figure]


@pytest.mark.parametrize("value", NO_COUNT, ids=repr)
def test_details_that_are_no_counts_are_unknown(value: object) -> None:
    sent = {
        "prompt_tokens": 5,
        "completion_tokens": 6,
        "total_tokens": value,
        "prompt_tokens_details": {"cached_tokens": value},
        "completion_tokens_details": {"reasoning_tokens": value},
    }
    as_sent, _, plain = same(sent)  # the package turns a "12" in details into 12 before anybody sees it
    assert read_usage(as_sent) == read_usage(plain) == TokenUsage(5, 6)
    assert read_usage({**sent, "prompt_tokens_details": value, "completion_tokens_details": value}) == TokenUsage(5, 6)


def test_none_used_is_known_and_differs_from_unknown() -> None:
    assert read_usage({"prompt_tokens": 0, "completion_tokens": 0}) == TokenUsage(0, 0)


def test_a_figure_at_its_first_place_wins_over_a_further_one() -> None:
    sent = {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 3}, "prompt_cache_hit_tokens": 4}
    assert read_usage(sent).cached == 3
    assert read_usage({**sent, "prompt_tokens_details": {"cached_tokens": "3"}}).cached == 4


def test_a_whole_that_is_smaller_than_its_part_is_unknown() -> None:
    assert read_usage({"prompt_tokens": 5, "cached_tokens": 6}) == TokenUsage(cached=6)
    assert read_usage({"completion_tokens": 5, "reasoning_tokens": 6}) == TokenUsage(reasoning=6)
    assert read_usage({"completion_tokens": 5, "reasoning_tokens": 5}) == TokenUsage(completion=5, reasoning=5)


@pytest.mark.parametrize(
    ("total", "reasoning", "completion"),
    [
        (15, 3, 5),  # reasoning within the completion
        (18, 3, 8),  # beside it
        (17, 3, None),  # neither
        (18, None, None),  # something that nobody names
        (15, None, 5),
        (15, 0, 5),
        (3, 3, 5),  # a total that cannot be one says nothing
    ],
)
def test_the_total_shows_whether_reasoning_is_in_the_completion(
    total: int, reasoning: int | None, completion: int | None
) -> None:
    sent = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": total, "reasoning_tokens": reasoning}
    assert read_usage(sent) == TokenUsage(10, completion, None, reasoning)


@given(
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            (
                "prompt_tokens",
                "completion_tokens",
                "total_tokens",
                "prompt_tokens_details",
                "completion_tokens_details",
                "prompt_cache_hit_tokens",
                "cached_tokens",
                "reasoning_tokens",
            ),
            JSON_VALUES | st.fixed_dictionaries({}, optional={"cached_tokens": JSON_VALUES}),
        ),
    )
    | JSON_VALUES
)
def test_no_shape_raises_and_every_figure_is_a_count_or_unknown(raw: object) -> None:
    usage = read_usage(raw)
    for figure in FIGURES:
        count = getattr(usage, figure)
        assert count is None or (type(count) is int and count >= 0)
    assert usage.prompt is None or usage.cached is None or usage.cached <= usage.prompt
    assert usage.completion is None or usage.reasoning is None or usage.reasoning <= usage.completion


# ---------------------------------------------------------------- sums


def test_an_unknown_turn_makes_the_total_unknown_and_leaves_what_is_known() -> None:
    total = UsageTotal.of([TokenUsage(10, 1, 0), TokenUsage(20, None, 5), TokenUsage(30, 3, 7)])
    assert total.turns == 3
    assert total.prompt == TokenSum(60, 0)
    assert total.completion == TokenSum(4, 1)
    assert total.reasoning == TokenSum(0, 3)
    assert total.usage == TokenUsage(60, None, 12, None)


def test_no_turns_are_known_to_have_used_nothing() -> None:
    assert UsageTotal.of([]).usage == TokenUsage(0, 0, 0, 0)


@given(USAGES)
def test_a_total_is_the_sum_of_what_is_known_or_unknown(usages: list[TokenUsage]) -> None:
    total = UsageTotal.of(usages)
    for figure in FIGURES:
        counts = [getattr(usage, figure) for usage in usages]
        part: TokenSum = getattr(total, figure)
        assert part.known == sum(count for count in counts if count is not None)
        assert part.unknown_turns == counts.count(None)
        assert part.total == (None if None in counts else sum(counts))


@given(USAGES)
def test_a_total_goes_through_json_unchanged(usages: list[TokenUsage]) -> None:
    total = UsageTotal.of(usages)
    assert UsageTotal.from_json(json.loads(json.dumps(total.to_json()))) == total


@given(USAGES, USAGES)
def test_a_total_can_be_gone_on_with_after_a_resume(first: list[TokenUsage], second: list[TokenUsage]) -> None:
    total = UsageTotal.from_json(UsageTotal.of(first).to_json())
    for usage in second:
        total = total.plus(usage)
    assert total == UsageTotal.of([*first, *second])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"turns": -1}, r"usage\.turns: got -1, expected a whole number"),
        ({"turns": True}, r"usage\.turns: got True"),
        ({"turns": None}, r"usage\.turns: got None"),
        ({"prompt": 5}, r"usage\.prompt: got a int, expected an object with known, unknown_turns"),
        ({"prompt": {"known": 5}}, r"usage\.prompt: got an object with known, expected known, unknown_turns"),
        ({"cached": {"known": 1.5, "unknown_turns": 0}}, r"usage\.cached\.known: got 1\.5"),
        (
            {"cached": {"known": 1, "unknown_turns": 3}},
            r"unknown_turns: got 3, expected at most 2, the number of turns",
        ),
        ({"extra": 1}, r"usage: got an object with .*extra, expected turns, prompt"),
    ],
)
def test_a_record_that_holds_no_total_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    record: dict[str, Any] = {**UsageTotal.of([TokenUsage(1, 2), TokenUsage(3)]).to_json(), **change}
    with pytest.raises(ValueError, match=message):
        UsageTotal.from_json(record)


def test_a_record_without_a_figure_is_refused() -> None:
    with pytest.raises(ValueError, match=r"usage: got an object with nothing, expected turns"):
        UsageTotal.from_json({})
