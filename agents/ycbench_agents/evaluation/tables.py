"""Tables of an evaluation: pandas frames, and how each of their columns is shown (docs/report.md).

A frame of episodes is ``Evaluation.frame()``, or the rows of one preset of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

import attrs
import pandas as pd

from ycbench_agents.evaluation import statistics
from ycbench_agents.evaluation.statistics import ALPHA, pairs_needed
from ycbench_agents.figure import dollars

DEFAULT_BASELINE: Final = "greedy"
"""The paper's baseline (section 4.1)."""

_DASH: Final = "\u2013"
_MINUS: Final = "\u2212"
_CUT_OFF: Final = ("cut_off", "max_turns")  # by the limit of the suite, of the configuration


# ---------------------------------------------------------------- frames


def seed_values(frame: pd.DataFrame, column: str, failed: float | None = None) -> dict[str, pd.Series]:
    """Return the mean over repeats of a column by seed, for each policy; a seed without a value is left out.

    Args:
        frame: Episodes of one preset.
        column: Numbers; missing ones enter no mean.
        failed: Value of a failed episode, None to leave its value.
    """
    values = frame[column].astype("Float64")
    if failed is not None:
        values = values.mask(frame["status"] == "failed", failed)
    return {
        str(policy): part.groupby("seed", sort=False)["value"].mean().dropna().astype(float)
        for policy, part in frame.assign(value=values).groupby("policy", sort=False)
    }


def seed_scores(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the score in cents by seed of each policy, a failed episode counting 0 and a missing one nothing.

    Args:
        frame: Episodes of one preset.
    """
    return seed_values(frame, "score_cents", failed=0)


def _seed_survival(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the share of episodes that survived by seed of each policy; failed ones did not."""
    return seed_values(frame.assign(survived=frame["final_funds_cents"] >= 0), "survived", failed=0)


def leaderboard_frame(frame: pd.DataFrame, baseline: str = DEFAULT_BASELINE) -> pd.DataFrame:
    """Return one row a preset and policy, in the order of ``results.leaderboard``.

    Columns: preset, policy; planned, finished, failed, missing (episodes); bankrupt and cut_off (by a turn limit) among
    the finished; score_cents, the mean over the seeds' finished episodes; score_failed_as_zero_cents, with failed
    episodes counted as 0, on which interval (low_cents, high_cents), median_cents, deviation_cents, tier, lift_cents
    and p_holm are based; within_cents, the deviation between repeats of a seed; final_funds_cents, the mean of the raw
    funds; survival_fraction with survival_low and survival_high, a failed episode counting as not survived. What is
    not defined is missing.

    Args:
        frame: ``Evaluation.frame()``.
        baseline: Policy that lift and p refer to; without it they are missing.
    """
    table: list[dict[str, Any]] = []
    for preset, part in frame.groupby("preset", sort=False):
        finished, funds = seed_values(part, "score_cents"), seed_values(part, "final_funds_cents")
        scores, survival = seed_scores(part), _seed_survival(part)
        incomplete = set(part.loc[part["status"] == "missing", "policy"])
        placed = statistics.tiers({policy: each for policy, each in scores.items() if policy not in incomplete})
        compared = {row["policy"]: row for row in comparison_frame(part, baseline).to_dict("records")}
        rows: list[dict[str, Any]] = []
        for policy in scores:
            episodes = part[part["policy"] == policy]
            status = episodes["status"].value_counts()
            summary = statistics.summarise(scores[policy].tolist())
            share = survival[policy].mean()
            interval = statistics.proportion_interval(share, len(survival[policy]))
            repeats = [seed["score_cents"].dropna().astype(float).tolist() for _, seed in episodes.groupby("seed")]
            rows.append(
                {
                    "preset": preset,
                    "policy": policy,
                    "planned": len(episodes),
                    **{each: int(status.get(each, 0)) for each in ("finished", "failed", "missing")},
                    "bankrupt": int((episodes["final_funds_cents"] < 0).sum()),
                    "cut_off": int(episodes["ending"].isin(_CUT_OFF).sum()),
                    "score_cents": finished[policy].mean(),
                    "score_failed_as_zero_cents": summary.mean,
                    "low_cents": summary.interval.low,
                    "high_cents": summary.interval.high,
                    "median_cents": summary.median,
                    "deviation_cents": summary.deviation,
                    "within_cents": statistics.within_deviation(repeats),
                    "final_funds_cents": funds[policy].mean(),
                    "survival_fraction": share,
                    "survival_low": interval.low,
                    "survival_high": interval.high,
                    "tier": placed.get(policy),
                    **{each: compared.get(policy, {}).get(each) for each in ("lift_cents", "p_holm")},
                }
            )

        def place(row: dict[str, Any]) -> tuple[bool, bool, int, str]:
            score = row["score_failed_as_zero_cents"]
            return row["missing"] > 0, score is None, -round(score or 0), row["policy"]

        table += sorted(rows, key=place)
    return pd.DataFrame(table).convert_dtypes()


def comparison_frame(frame: pd.DataFrame, baseline: str = DEFAULT_BASELINE) -> pd.DataFrame:
    """Return each policy against the baseline on the same seeds, failed episodes counting 0; one row a policy.

    Columns: policy, seeds (with a value of both), lift_cents with low_cents and high_cents, median_cents, percent,
    wins, ties, losses, win_rate, p (sign flips), floor, p_holm (over all policies), survival_lift. Empty without the
    baseline.

    Args:
        frame: Episodes of one preset.
        baseline: The policy to compare with.
    """
    scores, survival = seed_scores(frame), _seed_survival(frame)
    usual = scores.pop(baseline, None)
    found = {} if usual is None else {policy: statistics.compare(values, usual) for policy, values in scores.items()}
    adjusted = statistics.holm({policy: each.test.p for policy, each in found.items()})
    rows = [
        {
            "policy": policy,
            "seeds": each.difference.n,
            "lift_cents": each.difference.mean,
            "low_cents": each.difference.interval.low,
            "high_cents": each.difference.interval.high,
            "median_cents": each.difference.median,
            **{name: getattr(each, name) for name in ("percent", "wins", "ties", "losses", "win_rate")},
            "p": each.test.p,
            "floor": each.test.floor,
            "p_holm": adjusted[policy],
            "survival_lift": (survival[policy] - survival[baseline]).mean(),
        }
        for policy, each in found.items()
    ]
    return pd.DataFrame(rows).convert_dtypes()


def means_frame(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return the mean over seeds of metrics, by policy, with the standard deviation over seeds as ``NAME_deviation``.

    Only finished episodes count; a seed on which a metric is not defined does not enter its mean.

    Args:
        frame: Episodes of one preset.
        columns: Names of metrics.
    """
    done = frame[frame["status"] == "finished"]
    by_seed = done.groupby(["policy", "seed"], sort=False)[list(columns)].mean().astype("Float64")
    by_policy = by_seed.groupby("policy", sort=False)
    return by_policy.mean().join(by_policy.std().add_suffix("_deviation")).reset_index()


# ---------------------------------------------------------------- notes


def leaderboard_notes(board: pd.DataFrame) -> Iterator[str]:
    """Yield that one preset's leaderboard shows no differences, if that is so."""
    complete = board[board["missing"] == 0]
    pairs = math.comb(len(complete), 2)
    if pairs and set(complete["tier"]) == {1}:
        yield (
            f"All {len(complete)} policies share a tier: no two are shown to differ. With {len(complete)} policies, "
            f"fewer than {pairs_needed(ALPHA / pairs)} seeds cannot show a difference."
        )


def comparison_notes(comparison: pd.DataFrame) -> Iterator[str]:
    """Yield which p-values could not have been significant, whatever the lift."""
    never = comparison.loc[comparison["floor"].fillna(0) > ALPHA, "policy"]
    if len(never):
        yield (
            f"p cannot be below {ALPHA:g} with so few seeds, whatever the lift; it takes {pairs_needed(ALPHA)} without "
            f"a tie, and {pairs_needed(ALPHA / len(comparison))} for Holm p: {', '.join(never)}."
        )


# ---------------------------------------------------------------- what people read


Cell: TypeAlias = tuple[str, float | str | None]
"""Text of a cell, and the number or text by which its column is sorted; None comes last."""


@attrs.frozen
class Column:
    """How columns of a frame are shown as one column of a table."""

    title: str
    keys: list[str] = attrs.field(converter=str.split)  # columns of the frame; a dash stands where the first is missing
    show: Callable[..., str] = str  # makes the text of their values; ``str`` for texts, all others show numbers
    note: str = ""  # what it means

    @property
    def is_number(self) -> bool:
        """Whether it is aligned right and sorted by size."""
        return self.show is not str

    def cell(self, row: pd.Series) -> Cell:
        """Return the cell of a row."""
        values = [None if pd.isna(row[key]) else row[key] for key in self.keys]
        if values[0] is None:
            return _DASH, None
        text = self.show(*values)
        return (text.replace("-", _MINUS), float(values[0])) if self.is_number else (text, text.casefold())


@attrs.frozen
class Table:
    """A table for people."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str]  # stand below it


def make_table(title: str, frame: pd.DataFrame, columns: Iterable[Column], notes: Iterable[str] = ()) -> Table:
    """Return a frame as a table; columns of which every value is missing are left out."""
    shown = [column for column in columns if frame.empty or frame[column.keys[0]].notna().any()]
    return Table(title, shown, [[column.cell(row) for column in shown] for _, row in frame.iterrows()], [*notes])


def _short(cents: float) -> str:
    return dollars(cents / 100)


def _range(low: float, high: float) -> str:
    return f"{_short(low)} to {_short(high)}"


def _score(cents: float, *unfinished: int) -> str:
    amount = f"${round(cents) / 100:,.2f}"
    return f"({amount})" if any(unfinished) else amount


def _deviating(mean: float, deviation: float | None, digits: int | None = None) -> str:
    """Return a mean and the deviation behind it; by default to the cent, below a dollar to three digits."""
    if digits is None:
        digits = max(2, 2 - math.floor(math.log10(abs(mean)))) if mean else 2
    return f"{mean:,.{digits}f}" + ("" if deviation is None else f" \u00b1 {deviation:,.{digits}f}")


_COUNT, _ONE, _TWO = "{:z,.0f}".format, "{:z,.1f}".format, "{:z,.2f}".format  # z: no minus before a zero
_PERCENT, _P = "{:z.1%}".format, "{:.3g}".format
_SECONDS, _MINUTES = partial(_deviating, digits=2), partial(_deviating, digits=0)
_POLICY: Final = Column("Policy", "policy")
_LIFT: Final = Column("Lift", "lift_cents", _short, "Mean over seeds of the score less the baseline's on the same seed")
_SCORE_NOTE: Final = "Mean over seeds of final funds, a bankrupt company counting 0; in brackets if not all is finished"
_INTERVAL_NOTE: Final = "Student's, from 20 seeds on by resampling (BCa)"
LEADERBOARD: Final = (
    _POLICY,
    Column("Score", "score_cents failed missing", _score, _SCORE_NOTE),
    Column(
        "Failed as 0", "score_failed_as_zero_cents missing", _score, "Failed episodes count 0; basis of what follows"
    ),
    Column("95% interval", "low_cents high_cents", _range, _INTERVAL_NOTE),
    Column("Tier", "tier", _COUNT, "Policies of a tier are not shown to differ from its first"),
    _LIFT,
    Column("Holm p", "p_holm", _P, "Sign-flip test of the lift, adjusted for the number of policies"),
    Column("Survival", "survival_fraction", _PERCENT, "Mean share not bankrupt; failed episodes did not survive"),
    Column("Finished", "finished planned", "{} of {}".format, "Episodes"),
)
SPREAD: Final = (
    _POLICY,
    Column("Median", "median_cents", _short, "Of the seeds' scores"),
    Column("Spread", "deviation_cents", _short, "Standard deviation of the seeds' scores"),
    Column("Within seeds", "within_cents", _short, "Standard deviation of the repeats of a seed"),
    Column("Final funds", "final_funds_cents", _short, "Mean over seeds of the raw funds, debts included"),
    Column("Survival interval", "survival_low survival_high", "{:.0%} to {:.0%}".format, "95%, Clopper and Pearson's"),
    Column("Failed", "failed", _COUNT, "Episodes ended by an error or a limit of time or memory"),
    Column("Missing", "missing", _COUNT, "Not played, or not to their end"),
    Column("Bankrupt", "bankrupt", _COUNT, "Finished episodes whose funds fell below 0"),
    Column("Cut off", "cut_off", _COUNT, "Finished episodes that a turn limit ended before the horizon"),
)
COMPARISON: Final = (
    _POLICY,
    _LIFT,
    Column("95% interval", "low_cents high_cents", _range, f"Of the lift: {_INTERVAL_NOTE}"),
    Column("Median lift", "median_cents", _short, "Of the seeds' lifts"),
    Column("Lift, %", "percent", _COUNT, "Of the baseline's mean, if that is above 0"),
    Column("p", "p", _P, "Two-sided sign-flip test: exact up to 16 seeds without a tie, of more by random flips"),
    Column("Floor of p", "floor", _P, "The smallest p that so many seeds without a tie can have"),
    Column("Holm p", "p_holm", _P, "The p adjusted for all policies of this table"),
    Column("Win rate", "win_rate", _PERCENT, "Share of the seeds won, a tie counting half"),
    Column("Won, tied, lost", "wins ties losses", lambda *counts: ", ".join(map(str, counts)), "Seeds"),
    Column("Seeds", "seeds", _COUNT, "With a value of both"),
    Column("Survival lift", "survival_lift", _PERCENT, "Survival less the baseline's, in percentage points"),
)
TASKS: Final = (
    _POLICY,
    Column("Accepted", "tasks_accepted", _ONE, "Tasks; mean over seeds, as are all columns"),
    Column("In time", "tasks_succeeded", _ONE, "Completed by the deadline"),
    Column("Late", "tasks_failed", _ONE, "Completed after it"),
    Column("Cancelled", "tasks_cancelled", _ONE),
    Column("Unfinished", "tasks_unfinished", _ONE, "Planned or active at the end"),
    Column("Overdue", "tasks_overdue", _ONE, "Unfinished with a deadline in the past: in no win rate"),
    Column("Never dispatched", "tasks_never_dispatched", _ONE, "Accepted, and never worked on"),
    Column("Win rate", "win_rate_fraction", _PERCENT, "Share of the completed tasks that were in time"),
    Column("Adversarial", "adversarial_fraction", _PERCENT, "Share of the accepted tasks (paper, figure 4a)"),
    Column("Needed trust", "trusted_success_fraction", _PERCENT, "Share of the successes (paper, figure 3a)"),
    Column("Revenue", "revenue_cents", _short),
    Column("Fees", "fees_cents", _short, "For late tasks"),
    Column("Payroll", "payroll_cents", _short),
    Column("Months survived", "survived_months", _ONE),
)
_TABLE_3: Final = (
    Column("Notes per 100 turns", "writes_per_100_turns", _ONE, "Scratchpad writes and appends (paper, table 3)"),
    Column("Inspects per accept", "inspects_per_accept", _TWO, "Paper, table 3"),
    Column("Concurrency", "mean_concurrency", _ONE, "Active tasks while any is active (paper, table 3)"),
    Column("Commands per turn", "commands_per_turn", _TWO, "Paper, table 3"),
)
BEHAVIOUR: Final = (
    _POLICY,
    *_TABLE_3,
    Column("Most at once", "max_concurrency", _ONE, "Active tasks (paper, section 5)"),
    Column("Turns", "turns", _ONE, "Replies of the agent"),
    Column("Commands", "commands", _ONE, "Grammatical ones, refused ones included"),
)
COST: Final = (
    _POLICY,
    Column("Cost, $", "cost_usd cost_usd_deviation", _deviating, "An episode: mean ± deviation over seeds"),
    Column("Tokens", "total_tokens", _COUNT, "Of prompts and replies, an episode"),
    Column("Completion tokens", "completion_tokens", _COUNT, "Of replies, an episode"),
    Column("Revenue per $", "revenue_per_usd", _TWO, "Simulated dollars for a dollar of cost (paper, figure 5b)"),
    Column("Turns of unknown cost", "unknown_cost_turns", _ONE, "An episode; sums are too low by those"),
)
RELIABILITY: Final = (
    _POLICY,
    Column("Invalid commands", "invalid_commands", _COUNT, "Not grammatical"),
    Column("Skipped", "skipped_commands", _COUNT, "Not tried, because the one before && failed"),
    Column("Refused actions", "refused_actions", _COUNT, "Grammatical commands that act and were refused"),
    Column("Failed queries", "failed_queries", _COUNT, "Grammatical commands that only ask and were refused"),
    Column("Empty turns", "empty_turns", _COUNT, "Without a command"),
    Column("Forced advances", "forced_advances", _COUNT, "Turns in which the environment moved time"),
    Column("Malformed calls", "refused_calls", _COUNT, "Unreadable tool calls of a model"),
    Column("Unusable replies", "unusable_replies", _COUNT, "Replies of a model of which nothing was run"),
    Column("Commands", "commands", _COUNT, "Grammatical ones, to compare with"),
    Column("Turns", "turns", _COUNT, "To compare with"),
)
TIMES: Final = (
    _POLICY,
    Column("Runtime, s", "wall_s wall_s_deviation", _SECONDS, "First turn to last; mean ± deviation over seeds"),
    Column("Waiting, s", "latency_s latency_s_deviation", _SECONDS, "For a model's replies, an episode"),
    Column("Retries", "retries", _ONE, "Requests that were sent again, an episode"),
    Column("Faults", "faults", _ONE, "On the way, an episode"),
)
PUBLISHED: Final = (
    Column("Model", "name"),
    Column("December", "december", _short, "Mean funds over seeds 1 to 3, a bankrupt company counting 0"),
    Column("Figure 7", "figure7", _short, "Final funds as the paper's figure 7 prints them"),
    Column("Bankrupt of 3", "bankrupt", _COUNT, "Paper, table 4"),
    Column("Cost, $", "cost_usd_mean cost_usd_sd", _deviating, "A run (paper, table 4)"),
    Column("Tokens, M", "tokens_millions", _ONE, "A run (paper, table 4)"),
    Column("Minutes", "runtime_min_mean runtime_min_sd", _MINUTES, "A run (paper, table 4)"),
    *_TABLE_3,
)
