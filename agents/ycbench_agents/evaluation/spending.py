"""What language models were paid for, also in runs that came to no result: sums of what the turns' traces tell."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Self, TypeVar

import attrs

from ycbench_agents.records import RecordError, RecordWarning
from ycbench_agents.records.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.records import RunRecord

__all__ = ["Spending", "spending_of"]

_Number = TypeVar("_Number", int, Decimal)
_TOKENS: Final = ("prompt_tokens", "completion_tokens")
_COST: Final = "cost_usd"


@attrs.frozen
class Spending:
    """What some runs asked of language models; a sum is None where no turn tells.

    Args:
        runs: How many runs.
        turns: Their recorded turns; each is a reply.
        prompt_tokens: Tokens of prompts.
        completion_tokens: Tokens of replies.
        unknown_turns: Turns that do not tell their tokens; the sums are too low by those.
        cost_usd: Cost, in dollars.
        unknown_cost_turns: Turns that do not tell their cost.
    """

    runs: int
    turns: int
    prompt_tokens: int | None
    completion_tokens: int | None
    unknown_turns: int
    cost_usd: Decimal | None
    unknown_cost_turns: int

    @property
    def tokens(self) -> int | None:
        """Tokens of prompts and replies; None if no turn tells of both."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    def plus(self, other: Self) -> Self:
        """Return what both were paid for."""
        return attrs.evolve(
            self,
            runs=self.runs + other.runs,
            turns=self.turns + other.turns,
            prompt_tokens=_sum(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=_sum(self.completion_tokens, other.completion_tokens),
            unknown_turns=self.unknown_turns + other.unknown_turns,
            cost_usd=_sum(self.cost_usd, other.cost_usd),
            unknown_cost_turns=self.unknown_cost_turns + other.unknown_cost_turns,
        )

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        cost = None if self.cost_usd is None else float(self.cost_usd)
        return {**attrs.asdict(self), "cost_usd": cost}


def _sum(one: _Number | None, other: _Number | None) -> _Number | None:
    return other if one is None else one if other is None else one + other


def spending_of(episodes: Iterable[Episode], *, with_result: bool) -> Spending | None:
    """Return what the runs of episodes were paid for; None where none of them asked a model.

    Args:
        episodes: Planned episodes.
        with_result: Whether the finished ones count, or those that failed or are not finished: replies were paid for
            until they stopped.
    """
    records = [each.record for each in episodes if (each.status == "finished") == with_result]
    found = [spent for record in records if record is not None and (spent := _of(record)) is not None]
    if not found:
        return None
    total, *others = found
    for each in others:
        total = total.plus(each)
    return total


def _of(record: RunRecord) -> Spending | None:
    """Return what a run was paid for, None for one that asked nobody, or of whose turns no number is told."""
    turns, totals = record.outcome.turns, record.outcome.totals
    if not record.is_finished:
        turns, totals = _counted(record)
    if not turns or not any(name in totals for name in (*_TOKENS, _COST)):
        return None
    prompt, completion, cost = (_total(totals, name, turns) for name in (*_TOKENS, _COST))
    return Spending(
        runs=1,
        turns=turns,
        prompt_tokens=None if prompt[0] is None else int(prompt[0]),
        completion_tokens=None if completion[0] is None else int(completion[0]),
        unknown_turns=max(prompt[1], completion[1]),
        cost_usd=cost[0],
        unknown_cost_turns=cost[1],
    )


def _counted(record: RunRecord) -> tuple[int, JsonObject]:
    """Return the turns of a run that has no result, and what their traces add up to, as far as they can be read."""
    tally = Tally(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordWarning)  # of a last line that was cut short
        try:
            for turn in record.turns():
                if turn.trace is None:  # as of every turn of a policy that asks nobody
                    break
                tally.add(turn)
        except (RecordError, OSError):
            pass
    return tally.turns, tally.outcome("stopped", "").totals


def _total(totals: JsonObject, name: str, turns: int) -> tuple[Decimal | None, int]:
    """Return a sum over the turns of a run, and how many of them do not tell."""
    total = totals.get(name)
    fields = total if isinstance(total, dict) else {}
    value, unknown = fields.get("sum"), fields.get("unknown_turns")
    if not isinstance(value, int | float) or not isinstance(unknown, int):
        return None, turns
    return Decimal(str(value)), unknown
