"""The window: whole turns, the last ones, never one too many (B42)."""

# ruff: noqa: ANN401 -- wrong types on purpose

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_env import ConfigError
from ycbench_env.wrappers import Window, estimate_tokens, gone_marker, window

LIMITS = st.none() | st.integers(0, 12)
TURNS = st.lists(st.integers(0, 9), max_size=12)  # a turn is its own count of tokens


def own_count(turn: int) -> int:
    """Tokens of a turn."""
    return turn


def no_counter(turn: int) -> int:
    """Fails: nothing should be counted."""
    message = f"turn {turn} was counted"
    raise AssertionError(message)


def test_twenty_turns_stay_when_nothing_else_is_said() -> None:
    assert window(range(100)) == Window(turns=tuple(range(80, 100)), dropped=80)


@given(turns=TURNS, keep_turns=LIMITS, token_budget=LIMITS)
def test_the_window_is_the_longest_run_of_last_turns_within_both_limits(
    turns: list[int], keep_turns: int | None, token_budget: int | None
) -> None:
    view = window(turns, keep_turns=keep_turns, token_budget=token_budget, count_tokens=own_count)

    def allowed(kept: list[int]) -> bool:
        few = keep_turns is None or len(kept) <= keep_turns
        return few and (token_budget is None or sum(kept) <= token_budget)

    assert list(view.turns) == turns[view.dropped :]
    assert allowed(list(view.turns))
    assert view.dropped == 0 or not allowed(turns[view.dropped - 1 :])


def test_only_as_many_turns_are_counted_as_it_takes() -> None:
    counted: list[int] = []

    def count(turn: int) -> int:
        counted.append(turn)
        return 1

    window(range(100), keep_turns=None, token_budget=2, count_tokens=count)
    assert counted == [99, 98, 97]
    window(range(100), keep_turns=1, token_budget=50, count_tokens=count)
    assert counted == [99, 98, 97, 99]
    window(range(100), count_tokens=no_counter)


@pytest.mark.parametrize("limit", [True, -1, 1.0, "3", [3]], ids=repr)
@pytest.mark.parametrize("name", ["keep_turns", "token_budget"])
def test_what_is_no_limit_is_refused(name: str, limit: Any) -> None:
    limits: dict[str, Any] = {name: limit}
    with pytest.raises(ConfigError, match=rf"{name}: got .*, expected a whole number from 0, or None for no limit"):
        window((), **limits, count_tokens=own_count)


def test_a_budget_needs_a_counter() -> None:
    with pytest.raises(ConfigError, match="token_budget needs a function"):
        window((), token_budget=5)


def test_the_estimate_is_a_quarter_of_the_bytes_rounded_up() -> None:
    assert [estimate_tokens(text) for text in ("", "a", "abcd", "abcde", "\u20ac\u20ac", "\U0001f642")] == [
        0, 1, 1, 2, 2, 1,
    ]  # fmt: skip


def test_the_marker_is_one_line_and_says_how_many_turns_are_gone() -> None:
    assert gone_marker(0) == ""
    assert gone_marker(1) == "[1 earlier turn is gone]"
    assert gone_marker(17) == "[17 earlier turns are gone]"
