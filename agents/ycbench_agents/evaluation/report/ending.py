"""How episodes ended, and the turn limits that can end them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.report.cell import count_cell, text_cell
from ycbench_agents.evaluation.report.part import Table, figures, words

if TYPE_CHECKING:
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.report.result import PolicyResults, PresetResults
    from ycbench_env import Config

__all__ = ["ENDING_READING", "cut_off_texts", "ending_table", "turn_limit"]

ENDING_READING: Final = (
    "Funds at a turn limit are not those of the whole horizon, say a year: the company was in business, and "
    "nobody knows what it would have had at the end. Such an episode counts as finished and as survived."
)
"""Of scores of episodes that a turn limit ended."""

_HORIZON: Final = "horizon_end"
_COLUMNS: Final = (
    words("Policy"),
    figures("Run", "Episodes played to their end; nothing else enters a mean"),
    figures("End of the horizon", "Episodes that lasted to the end of the simulated time"),
    figures("Bankrupt", "Episodes in which the company went bankrupt"),
    figures("Turn limit", "Episodes that the limit of the suite or of the configuration cut off before either"),
)


def turn_limit(suite: Suite, config: Config) -> int | None:
    """Return after how many turns an episode is cut off, by suite or configuration; None where nothing does it."""
    limits = (suite.limits.max_turns, config.loop.max_turns)
    return min((limit for limit in limits if limit is not None), default=None)


def ending_table(results: PresetResults) -> Table:
    """Return how the finished episodes of each policy ended."""
    return Table(
        f"Endings, preset {results.preset}",
        _COLUMNS,
        tuple(
            (
                text_cell(policy.policy),
                count_cell(len(policy.measures)),
                count_cell(_count(policy, _HORIZON)),
                count_cell(sum(run.ending.is_bankrupt for run in policy.measures.values())),
                count_cell(_cut_off(policy)),
            )
            for policy in results.policies
        ),
    )


def cut_off_texts(results: PresetResults) -> tuple[str, ...]:
    """Return a text where a turn limit ended episodes, for whoever reads their scores: () or one."""
    cut = sum(map(_cut_off, results.policies))
    if not cut:
        return ()
    runs = sum(len(policy.measures) for policy in results.policies)
    told = (
        f"A turn limit ended {cut:,} of {runs:,} runs: their funds are those of that moment, not of the whole horizon"
    )
    return (f"{told}. How episodes ended says whose.",)


def _count(policy: PolicyResults, reason: str) -> int:
    return sum(run.ending.terminal_reason == reason for run in policy.measures.values())


def _cut_off(policy: PolicyResults) -> int:
    return sum(_is_cut_off(run) for run in policy.measures.values())


def _is_cut_off(run: RunMeasures) -> bool:
    """Return whether a turn limit ended a finished run; the suite's, which cuts off from outside, leaves no reason."""
    return not run.ending.is_bankrupt and run.ending.terminal_reason != _HORIZON
