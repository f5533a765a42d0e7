"""Tokens of replies: read from what servers send, and summed without taking the unknown for 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self, cast

import attrs

from ycbench_agents.llm.message import TokenUsage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ycbench_agents.base import JsonObject

__all__ = ["TokenSum", "UsageTotal", "read_usage"]

_LARGEST: Final = 2**63 - 1
_FIGURES: Final = ("prompt", "completion", "cached", "reasoning")

# Where servers put a figure; the first one that holds a count is taken.
_CACHED: Final = (
    ("prompt_tokens_details", "cached_tokens"),
    ("prompt_cache_hit_tokens",),  # DeepSeek
    ("cached_tokens",),  # Moonshot
)
_REASONING: Final = (("completion_tokens_details", "reasoning_tokens"), ("reasoning_tokens",))


def read_usage(raw: object) -> TokenUsage:
    """Return the tokens that a server reports.

    Never raises: a figure that is missing or no count (a bool, a text, a float, below 0) is unknown. So is a whole that
    is smaller than its part, or smaller than the total leaves for it: such a server counts in another way. Where the
    total shows that reasoning was counted beside the completion (xAI), it is added to it.

    Args:
        raw: ``usage`` of a reply: an object of the ``openai`` package, a dict, or anything else.
    """
    cached = _first(raw, _CACHED)
    reasoning = _first(raw, _REASONING)
    prompt = _at_least(_count(_field(raw, "prompt_tokens")), cached)
    completion = _count(_field(raw, "completion_tokens"))
    total = _count(_field(raw, "total_tokens"))
    return TokenUsage(prompt, _whole_completion(prompt, completion, reasoning, total), cached, reasoning)


def _whole_completion(
    prompt: int | None, completion: int | None, reasoning: int | None, total: int | None
) -> int | None:
    """Return the tokens of the reply with reasoning in them; None where that cannot be told."""
    if prompt is None or completion is None or total is None or total <= prompt + completion:
        return _at_least(completion, reasoning)
    return completion + reasoning if reasoning and total == prompt + completion + reasoning else None


def _at_least(whole: int | None, part: int | None) -> int | None:
    """Return a whole that can hold its part, else None."""
    return None if whole is None or (part is not None and part > whole) else whole


def _first(raw: object, paths: tuple[tuple[str, ...], ...]) -> int | None:
    """Return the count at the first path that leads to one."""
    for path in paths:
        value = raw
        for name in path:
            value = _field(value, name)
        if (count := _count(value)) is not None:
            return count
    return None


def _field(raw: object, name: str) -> object:
    """Return a field of a dict or of an object, None without it."""
    if isinstance(raw, dict):
        return cast("dict[object, object]", raw).get(name)
    return cast("object", getattr(raw, name, None))


def _count(value: object) -> int | None:
    """Return a number of tokens, None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST:
        return int(value)
    return None


@attrs.frozen
class TokenSum:
    """The sum of one figure over turns.

    Args:
        known: Sum over the turns for which the figure is known.
        unknown_turns: Turns for which it is not.
    """

    known: int = 0
    unknown_turns: int = 0

    @property
    def total(self) -> int | None:
        """The sum over all turns, None if it is unknown for any of them."""
        return None if self.unknown_turns else self.known

    def plus(self, count: int | None) -> TokenSum:
        """Return the sum with one more turn."""
        if count is None:
            return attrs.evolve(self, unknown_turns=self.unknown_turns + 1)
        return attrs.evolve(self, known=self.known + count)


@attrs.frozen
class UsageTotal:
    """Tokens of several turns.

    Args:
        turns: How many.
        prompt: Tokens of prompts, cached ones included.
        completion: Tokens of replies, reasoning included.
        cached: Those of prompts that were read from a cache.
        reasoning: Those of replies that were reasoning.
    """

    turns: int = 0
    prompt: TokenSum = TokenSum()
    completion: TokenSum = TokenSum()
    cached: TokenSum = TokenSum()
    reasoning: TokenSum = TokenSum()

    @classmethod
    def of(cls, usages: Iterable[TokenUsage]) -> Self:
        """Return the total of turns."""
        total = cls()
        for usage in usages:
            total = total.plus(usage)
        return total

    def plus(self, usage: TokenUsage) -> Self:
        """Return the total with one more turn."""
        return attrs.evolve(
            self,
            turns=self.turns + 1,
            prompt=self.prompt.plus(usage.prompt),
            completion=self.completion.plus(usage.completion),
            cached=self.cached.plus(usage.cached),
            reasoning=self.reasoning.plus(usage.reasoning),
        )

    @property
    def usage(self) -> TokenUsage:
        """The sums as the usage of one reply, for a price: None where any turn is unknown."""
        return TokenUsage(self.prompt.total, self.completion.total, self.cached.total, self.reasoning.total)

    def to_json(self) -> JsonObject:
        """Return a JSON object from which ``from_json`` makes an equal total."""
        return cast("JsonObject", attrs.asdict(self))

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> Self:
        """Return the total that a JSON object holds.

        Raises:
            ValueError: It holds none; the message names the field.
        """
        _check_keys("usage", record, ("turns", *_FIGURES))
        turns = _recorded("usage.turns", record["turns"])
        return cls(turns, *(_sum(f"usage.{name}", record[name], turns) for name in _FIGURES))


def _sum(place: str, value: object, turns: int) -> TokenSum:
    """Return a recorded sum."""
    keys = ("known", "unknown_turns")
    _check_keys(place, value, keys)
    fields = cast("Mapping[str, object]", value)
    known, unknown = (_recorded(f"{place}.{key}", fields[key]) for key in keys)
    if unknown > turns:
        msg = f"{place}.unknown_turns: got {unknown}, expected at most {turns}, the number of turns"
        raise ValueError(msg)
    return TokenSum(known, unknown)


def _check_keys(place: str, value: object, keys: tuple[str, ...]) -> None:
    """Refuse what is no object with exactly these keys."""
    if not isinstance(value, dict):
        msg = f"{place}: got a {type(value).__name__}, expected an object with {', '.join(keys)}"
        raise ValueError(msg)  # noqa: TRY004 -- a record is text from outside
    found = cast("dict[object, object]", value).keys()
    if found != set(keys):
        got = ", ".join(str(key)[:40] for key in found) or "nothing"
        msg = f"{place}: got an object with {got}, expected {', '.join(keys)}"
        raise ValueError(msg)


def _recorded(place: str, value: object) -> int:
    """Return a recorded number; a sum may be larger than any count."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        msg = f"{place}: got {value!r:.80}, expected a whole number of at least 0"
        raise ValueError(msg)
    return value
