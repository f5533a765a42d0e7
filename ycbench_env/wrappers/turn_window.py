"""The window: which of the turns so far an agent still sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypeVar

import attrs

from ycbench_env.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DEFAULT_KEEP_TURNS", "Window", "estimate_tokens", "gone_marker", "window"]

T = TypeVar("T")

DEFAULT_KEEP_TURNS: Final = 20
"""How many turns stay when nothing else is said."""

_BYTES_PER_TOKEN: Final = 4


@attrs.frozen
class Window(Generic[T]):
    """The turns that stay.

    Args:
        turns: The last whole turns, oldest first.
        dropped: How many earlier ones are gone.
    """

    turns: tuple[T, ...]
    dropped: int


def window(
    turns: Sequence[T],
    *,
    keep_turns: int | None = DEFAULT_KEEP_TURNS,
    token_budget: int | None = None,
    count_tokens: Callable[[T], int] | None = None,
) -> Window[T]:
    """Return the longest run of last whole turns within both limits; no turn is ever kept in part.

    Args:
        turns: All turns so far, oldest first.
        keep_turns: Most turns that stay, 0 for none; None for no such limit.
        token_budget: Most tokens that the turns that stay have together, from 0; None for no such limit. A marker or
            anything else that is shown beside the turns is not counted.
        count_tokens: Tokens of one turn, from 0; needed with ``token_budget`` and called for no more turns than it
            takes to know.

    Raises:
        ConfigError: A limit is no whole number from 0, or there is a budget and nothing to count with.
    """
    _check_limit("keep_turns", keep_turns)
    _check_limit("token_budget", token_budget)
    _check_counter(count_tokens, needed=token_budget is not None)
    kept = len(turns) if keep_turns is None else min(keep_turns, len(turns))
    if token_budget is not None and count_tokens is not None:
        kept = _most_that_fit(turns[len(turns) - kept :], token_budget, count_tokens)
    start = len(turns) - kept
    return Window(turns=tuple(turns[start:]), dropped=start)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, where no tokenizer is at hand: its bytes in UTF-8 / 4, rounded up.

    A rule of thumb for English and JSON; a real tokenizer may find twice as many or half. Any text has an estimate,
    lone surrogates (three bytes each) included.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def gone_marker(dropped: int) -> str:
    """Return one line that says how many earlier turns are gone; the empty text for 0."""
    if not dropped:
        return ""
    return "[1 earlier turn is gone]" if dropped == 1 else f"[{dropped} earlier turns are gone]"


def _most_that_fit(turns: Sequence[T], token_budget: int, count_tokens: Callable[[T], int]) -> int:
    """Return how many of the last turns fit."""
    left = token_budget
    for kept, turn in enumerate(reversed(turns)):
        left -= _checked_count(count_tokens(turn))
        if left < 0:
            return kept
    return len(turns)


def _check_limit(name: str, limit: object) -> None:
    if limit is not None and not _is_count(limit):
        msg = f"{name}: got {limit!r}, expected a whole number from 0, or None for no limit"
        raise ConfigError(msg)


def _check_counter(count_tokens: object, *, needed: bool) -> None:
    if callable(count_tokens) or (count_tokens is None and not needed):
        return
    msg = (
        f"count_tokens: got {count_tokens!r}, expected a function from a turn to its number of tokens, which "
        "token_budget needs; estimate_tokens serves where turns are texts"
    )
    raise ConfigError(msg)


def _checked_count(count: int) -> int:
    if not _is_count(count):
        msg = f"count_tokens: got {count!r} for one turn, expected a whole number from 0"
        raise ConfigError(msg)
    return count


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
