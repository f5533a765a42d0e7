"""What a turn took: commands, tokens, money, time, faults; and sums of these that never take the unknown for 0."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final, Self

import attrs

from ycbench_agents.cli.old_live.fields import amount, count, objects, texts
from ycbench_agents.llm.pricing import TokenUsage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_agents.records import TurnRecord

__all__ = ["CostTotal", "TokenSum", "Totals", "TurnFigures", "UsageTotal"]

_OF_MODELS: Final = frozenset(["prompt_tokens", "completion_tokens", "cost_usd"])  # in traces of models alone
_FAULT_LENGTH: Final = 400  # what is kept of a fault's text


@attrs.frozen
class TurnFigures:
    """What one turn took; None is unknown.

    Args:
        ok: Commands that were carried out.
        refused: Commands that were not.
        refused_calls: Calls of the model that could not be run.
        is_unusable: Whether nothing in its reply could.
        by_model: Whether a model decided it; without one there are no tokens, costs or times to know.
        tokens: Tokens of the reply.
        cost_usd: What the reply cost, in dollars.
        latency_s: Seconds until the reply was there.
        attempts: Requests that it took.
        faults: What went wrong on the way.
    """

    ok: int
    refused: int
    by_model: bool = False
    refused_calls: int = 0
    is_unusable: bool = False
    tokens: TokenUsage = attrs.field(factory=TokenUsage)
    cost_usd: Decimal | None = None
    latency_s: float | None = None
    attempts: int | None = None
    faults: tuple[str, ...] = ()

    @classmethod
    def of(cls, turn: TurnRecord) -> Self:
        """Return the figures of a turn."""
        answers = objects(turn.results)
        ok = sum([answer.get("ok") is True for answer in answers])
        transport = turn.transport or {}
        if turn.trace is None or not (transport or _OF_MODELS & turn.trace.keys()):
            return cls(ok, len(answers) - ok)
        cost_usd = amount(turn.trace, "cost_usd")
        return cls(
            ok=ok,
            refused=len(answers) - ok,
            by_model=True,
            refused_calls=count(turn.trace, "refused_calls") or 0,
            is_unusable=bool(count(turn.trace, "unusable_replies")),
            tokens=TokenUsage(
                prompt=count(turn.trace, "prompt_tokens"),
                completion=count(turn.trace, "completion_tokens"),
                cached=count(turn.trace, "cached_tokens"),
                reasoning=count(turn.trace, "reasoning_tokens"),
            ),
            cost_usd=None if cost_usd is None else Decimal(str(cost_usd)),
            latency_s=amount(transport, "latency_s"),
            attempts=count(transport, "attempts"),
            faults=tuple(fault[:_FAULT_LENGTH] for fault in texts(transport.get("faults"))),
        )


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


@attrs.frozen
class CostTotal:
    """What several turns cost.

    Args:
        known_usd: Sum over the turns whose cost is known, in dollars.
        unknown_turns: Turns whose cost is not.
    """

    known_usd: Decimal = Decimal(0)
    unknown_turns: int = 0

    def plus(self, cost_usd: Decimal | None) -> CostTotal:
        """Return the total with one more turn."""
        if cost_usd is None:
            return attrs.evolve(self, unknown_turns=self.unknown_turns + 1)
        return attrs.evolve(self, known_usd=self.known_usd + cost_usd)


@attrs.frozen
class Totals:
    """What the turns of a run took together.

    Args:
        refused: Commands that were not carried out.
        tokens: Tokens; its turns are those of a model.
        cost: Costs.
        model_time_s: Seconds of waiting for replies, as far as they are known.
        retries: Requests beyond the first one of each turn, as far as they are known.
        faults: What went wrong on the way to replies.
        last_fault: The last of that, None without any.
    """

    refused: int = 0
    tokens: UsageTotal = attrs.field(factory=UsageTotal)
    cost: CostTotal = attrs.field(factory=CostTotal)
    model_time_s: float = 0.0
    retries: int = 0
    faults: int = 0
    last_fault: str | None = None

    def plus(self, turn: TurnFigures) -> Totals:
        """Return the totals with one more turn."""
        refused = self.refused + turn.refused
        if not turn.by_model:
            return attrs.evolve(self, refused=refused)
        return Totals(
            refused=refused,
            tokens=self.tokens.plus(turn.tokens),
            cost=self.cost.plus(turn.cost_usd),
            model_time_s=self.model_time_s + (turn.latency_s or 0.0),
            retries=self.retries + max(0, (turn.attempts or 1) - 1),
            faults=self.faults + len(turn.faults),
            last_fault=turn.faults[-1] if turn.faults else self.last_fault,
        )
