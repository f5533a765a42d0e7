"""Tables of an evaluation: pandas frames, and how each of their columns is shown (docs/report.md).

Every function takes ``Evaluation.frame()``: one row an episode with policy, preset, seed, repeat, status,
final_funds_cents, score_cents and the metrics.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import attrs
import pandas as pd

from ycbench_agents.evaluation.statistics import (
    ALPHA,
    compare,
    holm,
    pairs_needed,
    proportion_interval,
    summarise,
    tiers,
    within_deviation,
)
from ycbench_agents.figure import dollars
from ycbench_env.text import printable

DEFAULT_BASELINE: Final = "greedy"
"""The paper's baseline (section 4.1)."""

_DASH: Final = "\u2013"
_MINUS: Final = "\u2212"
_UNITS_S: Final = (("h", 3600.0), ("min", 60.0), ("s", 1.0), ("ms", 0.001))
_INTERVAL: Final = ("low_cents", "high_cents")


# ---------------------------------------------------------------- frames


def seed_values(frame: pd.DataFrame, column: str) -> pd.Series:
    """Return the mean over repeats of a column for each policy and seed; a seed without a value is missing.

    Args:
        frame: Episodes of one preset.
        column: Numbers; missing ones enter no mean.
    """
    return frame.groupby(["policy", "seed"], sort=False)[column].mean().astype("Float64").dropna().astype(float)


def seed_scores(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the score in cents by seed of each policy, a failed episode counting 0 and a missing one nothing.

    Args:
        frame: Episodes of one preset.
    """
    scores = frame["score_cents"].mask(frame["status"] == "failed", 0)
    by_seed = seed_values(frame.assign(score_cents=scores), "score_cents")
    return {policy: _of_policy(by_seed, policy) for policy in frame["policy"].unique()}


def _seed_survival(frame: pd.DataFrame) -> pd.Series:
    """Return the share of episodes that survived for each policy and seed; failed ones did not."""
    survived = (frame["final_funds_cents"] >= 0).astype("Float64").mask(frame["status"] == "failed", 0.0)
    return seed_values(frame.assign(survived=survived), "survived")


def _of_policy(values: pd.Series, policy: str) -> pd.Series:
    """Return the values by seed of one policy, none if it has none."""
    return values[values.index.get_level_values("policy") == policy].droplevel("policy")


def leaderboard_frame(frame: pd.DataFrame, baseline: str = DEFAULT_BASELINE) -> pd.DataFrame:
    """Return one row a preset and policy, in the order of ``results.leaderboard``.

    Columns: preset, policy; planned, finished, failed, missing (episodes); score_cents, the mean over the seeds'
    finished episodes; score_failed_as_zero_cents, the same with failed episodes counted as 0, on which interval
    (low_cents, high_cents), median_cents, deviation_cents, tier, lift_cents and p_holm are based; within_cents, the
    deviation between repeats of a seed; final_funds_cents, the mean of the raw funds; survival_fraction with
    survival_low and survival_high, a failed episode counting as not survived. What is not defined is missing.

    Args:
        frame: ``Evaluation.frame()``.
        baseline: Policy that lift and p refer to; without it they are missing.
    """
    table: list[dict[str, Any]] = []
    for preset, part in frame.groupby("preset", sort=False):
        scores, survival = seed_scores(part), _seed_survival(part)
        missing = set(part.loc[part["status"] == "missing", "policy"])
        placed = tiers({policy: values for policy, values in scores.items() if policy not in missing})
        compared = comparison_frame(part, baseline).set_index("policy")[["lift_cents", "p_holm"]]
        lifts: dict[Any, dict[Any, Any]] = compared.to_dict("index")
        rows = [
            {
                "preset": preset,
                "policy": policy,
                **_result(part[part["policy"] == policy], values, _of_policy(survival, policy).tolist()),
                "tier": placed.get(policy),
                **lifts.get(policy, {"lift_cents": None, "p_holm": None}),
            }
            for policy, values in scores.items()
        ]
        table += sorted(rows, key=_place)
    return pd.DataFrame(table).convert_dtypes()


def _place(row: dict[str, Any]) -> tuple[bool, bool, int, str]:
    score = row["score_failed_as_zero_cents"]
    return row["missing"] > 0, score is None, -round(score or 0), row["policy"]


def _result(episodes: pd.DataFrame, scores: pd.Series, survival: list[float]) -> dict[str, Any]:
    """Return the figures of one policy."""
    status = episodes["status"]
    summary = summarise(scores.tolist())
    share = sum(survival) / len(survival) if survival else None
    interval = proportion_interval(share or 0.0, len(survival))
    finished, funds = seed_values(episodes, "score_cents"), seed_values(episodes, "final_funds_cents")
    repeats = [group.dropna().astype(float).tolist() for _, group in episodes.groupby("seed")["score_cents"]]
    return {
        "planned": len(episodes),
        **{name: int((status == name).sum()) for name in ("finished", "failed", "missing")},
        "score_cents": finished.mean() if len(finished) else None,
        "score_failed_as_zero_cents": summary.mean,
        "low_cents": summary.interval.low,
        "high_cents": summary.interval.high,
        "median_cents": summary.median,
        "deviation_cents": summary.deviation,
        "within_cents": within_deviation(repeats),
        "final_funds_cents": funds.mean() if len(funds) else None,
        "survival_fraction": share,
        "survival_low": interval.low,
        "survival_high": interval.high,
    }


def comparison_frame(frame: pd.DataFrame, baseline: str = DEFAULT_BASELINE) -> pd.DataFrame:
    """Return each policy against the baseline on the same seeds, failed episodes counting 0; one row a policy.

    Columns: policy, seeds (with a value of both), lift_cents with low_cents and high_cents, median_cents, percent,
    wins, ties, losses, win_rate, p (sign flips), floor, p_holm (over all policies), survival_lift. No rows without the
    baseline.

    Args:
        frame: Episodes of one preset.
        baseline: The policy to compare with.
    """
    scores, survival = seed_scores(frame), _seed_survival(frame)
    usual = scores.pop(baseline, None)
    found = {} if usual is None else {policy: compare(values, usual) for policy, values in scores.items()}
    adjusted = holm({policy: each.test.p for policy, each in found.items()})
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
            "survival_lift": (_of_policy(survival, policy) - _of_policy(survival, baseline)).mean(),
        }
        for policy, each in found.items()
    ]
    columns = dict.fromkeys(key for column in COMPARISON for key in column.keys)
    return pd.DataFrame(rows, columns=None if rows else list(columns)).convert_dtypes()


def endings_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Return how the finished episodes of each policy ended: finished, horizon_end, bankruptcy, turn_limit.

    Args:
        frame: Episodes of one preset.
    """
    done = frame["status"] == "finished"
    ends = {
        "finished": done,
        "horizon_end": done & (frame["ending"] == "horizon_end"),
        "bankruptcy": done & (frame["final_funds_cents"] < 0),
    }
    # The suite's limit cuts an episode off from outside and leaves no ending.
    ends["turn_limit"] = done & ~ends["horizon_end"] & ~ends["bankruptcy"]
    counted = pd.DataFrame({name: mask.fillna(value=False).astype(int) for name, mask in ends.items()})
    return counted.groupby(frame["policy"], sort=False).sum().reset_index()


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


def totals_frame(frame: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return sums of metrics over all finished episodes, by policy; missing where no episode has a value."""
    done = frame[frame["status"] == "finished"]
    return done.groupby("policy", sort=False)[list(columns)].sum(min_count=1).reset_index()


# ---------------------------------------------------------------- notes


def leaderboard_notes(board: pd.DataFrame) -> Iterator[str]:
    """Yield what must be known to read one preset's leaderboard."""
    complete = board[board["missing"] == 0]
    pairs = len(complete) * (len(complete) - 1) // 2
    if pairs and len(set(complete["tier"])) == 1:
        yield (
            f"All in one tier: no two of these {len(complete)} policies are shown to differ. It takes at least "
            f"{pairs_needed(ALPHA / pairs)} seeds to show a difference among so many."
        )
    failed = board.loc[board["failed"] > 0, "policy"].tolist()
    if failed:
        yield (
            f"Failed episodes of {_listed(failed)} count as 0 and as not survived in every column but Score (in "
            "brackets) and Final funds, which are means of the finished episodes alone."
        )
    missing = board.loc[board["missing"] > 0, "policy"].tolist()
    if missing:
        yield f"Below the others and without a tier, because episodes are missing: {_listed(missing)}."


def comparison_notes(comparison: pd.DataFrame) -> Iterator[str]:
    """Yield which p-values could not have been significant, whatever the lift."""
    size = len(comparison)
    alone = pairs_needed(ALPHA / max(1, size))
    known = comparison.dropna(subset=["floor"])
    for untied, group in known.groupby(known["seeds"] - known["ties"]):
        floor, names = float(group["floor"].iloc[0]), _listed(group["policy"].tolist())
        seeds = f"{untied} seed{'' if untied == 1 else 's'} without a tie"
        if floor > ALPHA:
            yield (
                f"{seeds} cannot reach p < {ALPHA:g}, whatever the lift (p is at least {floor:.3g}): {names}. "
                f"It takes {pairs_needed(ALPHA)}{f', and {alone} for Holm p of {size} policies' if size > 1 else ''}."
            )
        elif floor * size > ALPHA:
            yield (
                f"{seeds} can reach p < {ALPHA:g}, but Holm p of {size} policies only beside smaller ones: {names}. It "
                f"takes {alone} to reach it alone."
            )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(printable, names))


# ---------------------------------------------------------------- what people read


@attrs.frozen
class Cell:
    """A cell: its text on one line, and the number or text that sorting goes by (None comes last)."""

    text: str
    order: float | str | None = None


@attrs.frozen
class Column:
    """How columns of a frame are shown as one column of a table.

    Args:
        title: Heading.
        keys: Columns of the frame; a dash stands where the first is missing.
        show: Makes the text of their values.
        note: What it means.
    """

    title: str
    keys: tuple[str, ...]
    show: Callable[..., str]
    note: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it is aligned right and sorted by size."""
        return self.show is not str

    def cell(self, row: pd.Series) -> Cell:
        """Return the cell of a row."""
        values = [None if pd.isna(row[key]) else row[key] for key in self.keys]
        if values[0] is None:
            return Cell(_DASH)
        order = values[0].casefold() if isinstance(values[0], str) else float(values[0])
        return Cell(printable(self.show(*values)), order)


@attrs.frozen
class Table:
    """A table for people: title, columns, rows of cells and notes below."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def make_table(title: str, frame: pd.DataFrame, columns: Sequence[Column], notes: Sequence[str] = ()) -> Table:
    """Return a frame as a table; columns of which every value is missing are left out."""
    shown = [each for each in columns if len(frame) == 0 or frame[each.keys[0]].notna().any()]
    rows = tuple(tuple(column.cell(row) for column in shown) for _, row in frame.iterrows())
    return Table(title, tuple(shown), rows, tuple(notes))


def _signed(number: float, form: str) -> str:
    """Return a number with a proper minus sign, and none before a zero."""
    size = format(abs(number), form)
    return f"{_MINUS}{size}" if number < 0 and re.search("[1-9]", size) else size


def _short(cents: float) -> str:
    return dollars(cents / 100)


def _range(low: float, high: float) -> str:
    return f"{_short(low)} to {_short(high)}"


def _score(cents: float, *unfinished: int) -> str:
    amount = f"${round(cents) / 100:,.2f}"
    return f"({amount})" if any(unfinished) else amount


def _percent(fraction: float) -> str:
    """Return a share in percent, with two digits more where it would look like none or all and is not."""
    percent = 100 * fraction
    return _signed(percent, ".0f" if percent in {0.0, 100.0} or round(percent) not in {0, 100} else ".2f") + "%"


def _shares(low: float, high: float) -> str:
    return f"{100 * low:.0f}% to {100 * high:.0f}%"


def _p(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.0e}"  # noqa: PLR2004 -- four digits


def _digits(count: int) -> Callable[..., str]:
    return lambda number: _signed(number, f",.{count}f")


_count, _one, _two = _digits(0), _digits(1), _digits(2)


def _with_deviation(mean: float, deviation: float | None) -> str:
    """Return a mean to the cent, below a dollar to three digits, with the deviation behind it."""
    digits = max(2, 2 - math.floor(math.log10(abs(mean)))) if mean else 2
    return f"{mean:,.{digits}f}" + ("" if deviation is None else f" \u00b1 {deviation:,.{digits}f}")


def _duration(mean_s: float, deviation_s: float | None) -> str:
    name, unit = next((each for each in _UNITS_S if mean_s >= each[1]), _UNITS_S[-1])
    return f"{_with_deviation(mean_s / unit, None if deviation_s is None else deviation_s / unit)} {name}"


_POLICY: Final = Column("Policy", ("policy",), str)
LEADERBOARD: Final = (
    _POLICY,
    Column(
        "Score",
        ("score_cents", "failed", "missing"),
        _score,
        "Mean over seeds of the final funds of finished episodes, a bankrupt company counting 0; in brackets if "
        "episodes failed or are missing",
    ),
    Column(
        "Failed as 0",
        ("score_failed_as_zero_cents", "missing"),
        _score,
        "The score with failed episodes counted as 0; all columns to the right up to Survival are based on it",
    ),
    Column("95% interval", _INTERVAL, _range, "Student's, from 20 seeds on by resampling (BCa)"),
    Column("Tier", ("tier",), _count, "Policies of a tier are not shown to differ from its first"),
    Column("Lift", ("lift_cents",), _short, "Mean over seeds of the score less the baseline's on the same seed"),
    Column("Holm p", ("p_holm",), _p, "Sign-flip test of the lift, adjusted for the number of policies"),
    Column("Median", ("median_cents",), _short, "Of the seeds' scores"),
    Column("Spread", ("deviation_cents",), _short, "Standard deviation of the seeds' scores"),
    Column("Within seeds", ("within_cents",), _short, "Standard deviation of the repeats of a seed"),
    Column("Final funds", ("final_funds_cents",), _short, "Mean over seeds of the raw funds, debts included"),
    Column("Survival", ("survival_fraction",), _percent, "Mean share not bankrupt; failed episodes did not survive"),
    Column("Survival interval", ("survival_low", "survival_high"), _shares, "95%, Clopper and Pearson's"),
    *(Column(name.capitalize(), (name,), _count) for name in ("planned", "finished", "failed", "missing")),
)
COMPARISON: Final = (
    _POLICY,
    Column("Lift", ("lift_cents",), _short, "Mean over seeds of the score less the baseline's on the same seed"),
    Column("95% interval", _INTERVAL, _range, "Of the lift: Student's, from 20 seeds on by resampling (BCa)"),
    Column("Median lift", ("median_cents",), _short, "Of the seeds' lifts"),
    Column("Lift, %", ("percent",), _count, "Of the baseline's mean, if that is above 0"),
    Column("p", ("p",), _p, "Two-sided sign-flip test: exact up to 16 seeds without a tie, of more by random flips"),
    Column("Floor of p", ("floor",), _p, "The smallest p that so many seeds without a tie can have"),
    Column("Holm p", ("p_holm",), _p, "The p adjusted for all policies of this table"),
    Column("Win rate", ("win_rate",), _percent, "Share of the seeds won, a tie counting half"),
    Column("Won, tied, lost", ("wins", "ties", "losses"), lambda *counts: ", ".join(map(str, counts)), "Seeds"),
    Column("Seeds", ("seeds",), _count, "With a value of both"),
    Column("Survival lift", ("survival_lift",), _percent, "Survival less the baseline's, in percentage points"),
)
ENDINGS: Final = (
    _POLICY,
    Column("Finished", ("finished",), _count, "Episodes"),
    Column("End of the horizon", ("horizon_end",), _count, "Reached the end of the simulated time"),
    Column("Bankrupt", ("bankruptcy",), _count, "Funds fell below 0"),
    Column("Turn limit", ("turn_limit",), _count, "Cut off by the limit of the suite or the configuration"),
)
TASKS: Final = (
    _POLICY,
    Column("Accepted", ("tasks_accepted",), _one, "Tasks; mean over seeds, as are all columns"),
    Column("In time", ("tasks_succeeded",), _one, "Completed by the deadline"),
    Column("Late", ("tasks_failed",), _one, "Completed after it"),
    Column("Cancelled", ("tasks_cancelled",), _one),
    Column("Unfinished", ("tasks_unfinished",), _one, "Planned or active at the end"),
    Column("Overdue", ("tasks_overdue",), _one, "Unfinished with a deadline in the past: in no win rate"),
    Column("Never dispatched", ("tasks_never_dispatched",), _one, "Accepted, and never worked on"),
    Column("Win rate", ("win_rate_fraction",), _percent, "Share of the completed tasks that were in time"),
    Column("Adversarial", ("adversarial_fraction",), _percent, "Share of the accepted tasks (paper, figure 4a)"),
    Column("Needed trust", ("trusted_success_fraction",), _percent, "Share of the successes (paper, figure 3a)"),
    Column("Revenue", ("revenue_cents",), _short),
    Column("Fees", ("fees_cents",), _short, "For late tasks"),
    Column("Payroll", ("payroll_cents",), _short),
    Column("Months survived", ("survived_months",), _one),
)
BEHAVIOUR: Final = (
    _POLICY,
    Column("Notes per 100 turns", ("writes_per_100_turns",), _one, "Scratchpad writes and appends (paper, table 3)"),
    Column("Inspects per accept", ("inspects_per_accept",), _two, "Paper, table 3"),
    Column("Concurrency", ("mean_concurrency",), _one, "Active tasks while any is active (paper, table 3)"),
    Column("Most at once", ("max_concurrency",), _one, "Active tasks (paper, section 5)"),
    Column("Commands per turn", ("commands_per_turn",), _two, "Paper, table 3"),
    Column("Turns", ("turns",), _one, "Replies of the agent"),
    Column("Commands", ("commands",), _one, "Grammatical ones, refused ones included"),
)
COST: Final = (
    _POLICY,
    Column("Cost, $", ("cost_usd", "cost_usd_deviation"), _with_deviation, "An episode: mean ± deviation over seeds"),
    Column("Tokens", ("total_tokens",), _count, "Of prompts and replies, an episode"),
    Column("Completion tokens", ("completion_tokens",), _count, "Of replies, an episode"),
    Column("Revenue per $", ("revenue_per_usd",), _two, "Simulated dollars for a dollar of cost (paper, figure 5b)"),
    Column("Turns of unknown cost", ("unknown_cost_turns",), _one, "An episode; sums are too low by those"),
)
RELIABILITY: Final = (
    _POLICY,
    Column("Invalid commands", ("invalid_commands",), _count, "Not grammatical"),
    Column("Skipped", ("skipped_commands",), _count, "Not tried, because the one before && failed"),
    Column("Refused actions", ("refused_actions",), _count, "Grammatical commands that act and were refused"),
    Column("Failed queries", ("failed_queries",), _count, "Grammatical commands that only ask and were refused"),
    Column("Empty turns", ("empty_turns",), _count, "Without a command"),
    Column("Forced advances", ("forced_advances",), _count, "Turns in which the environment moved time"),
    Column("Malformed calls", ("refused_calls",), _count, "Unreadable tool calls of a model"),
    Column("Unusable replies", ("unusable_replies",), _count, "Replies of a model of which nothing was run"),
    Column("Commands", ("commands",), _count, "Grammatical ones, to compare with"),
    Column("Turns", ("turns",), _count, "To compare with"),
)
PUBLISHED: Final = (
    Column("Model", ("policy",), str),
    Column("December", ("december",), _short, "Mean funds over seeds 1 to 3, a bankrupt company counting 0"),
    Column("Figure 7", ("figure7",), _short, "Final funds as the paper's figure 7 prints them"),
    Column("Bankrupt of 3", ("bankrupt",), _count, "Paper, table 4"),
    Column("Cost, $", ("cost_usd_mean", "cost_usd_sd"), _with_deviation, "A run (paper, table 4)"),
    Column("Tokens, M", ("tokens_millions",), _one, "A run (paper, table 4)"),
    Column("Minutes", ("runtime_min_mean", "runtime_min_sd"), _with_deviation, "A run (paper, table 4)"),
    Column("Notes per 100 turns", ("scratchpad_writes_per_100_turns",), _one, "Paper, table 3"),
    Column("Inspects per accept", ("inspects_per_accept",), _two, "Paper, table 3"),
    Column("Concurrency", ("mean_concurrency",), _one, "Paper, table 3"),
    Column("Commands per turn", ("commands_per_turn",), _two, "Paper, table 3"),
)
TIMES: Final = (
    _POLICY,
    Column("Runtime", ("wall_s", "wall_s_deviation"), _duration, "First turn to last; mean ± deviation over seeds"),
    Column("Waiting", ("latency_s", "latency_s_deviation"), _duration, "For a model's replies, an episode"),
    Column("Retries", ("retries",), _one, "Requests that were sent again, an episode"),
    Column("Faults", ("faults",), _one, "On the way, an episode"),
)
