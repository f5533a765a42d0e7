"""What was paid for runs that have no result, which no table of means can show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_agents.evaluation.report.cell import cost_cell
from ycbench_agents.evaluation.spending import spending_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.evaluation.spending import Spending

__all__ = ["paid_texts"]


def paid_texts(episodes: Sequence[Episode]) -> tuple[str, ...]:
    """Return a paragraph on replies that came to no result, and on all replies; () where there were none such.

    Args:
        episodes: Planned episodes.
    """
    lost = spending_of(episodes, with_result=False)
    if lost is None:
        return ()
    done = spending_of(episodes, with_result=True)
    total = lost if done is None else lost.plus(done)
    text = f"Paid for without a result, in runs that failed or are not finished, and in no table: {_told(lost)}."
    return (f"{text} All recorded replies: {_told(total)}.",)


def _told(spent: Spending) -> str:
    runs = "1 run" if spent.runs == 1 else f"{spent.runs:,} runs"
    turns = "1 turn" if spent.turns == 1 else f"{spent.turns:,} turns"
    return f"{runs}, {turns}, {_tokens(spent)}, {_cost(spent)}"


def _tokens(spent: Spending) -> str:
    if spent.tokens is None:
        return "tokens unknown"
    return f"{_at_least(spent.unknown_turns)}{spent.tokens:,} tokens"


def _cost(spent: Spending) -> str:
    if spent.cost_usd is None:
        return "cost unknown"
    return f"{_at_least(spent.unknown_cost_turns)}${cost_cell(float(spent.cost_usd), None).text}"


def _at_least(unknown_turns: int) -> str:
    return "at least " if unknown_turns else ""
