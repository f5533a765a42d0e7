"""Figures of an evaluation, one function each (docs/report.md); numbers of figures are those of the paper.

Each function takes a tidy frame and returns a new matplotlib figure: ``Evaluation.frame()`` (episodes) or one of
``metrics_table(runs, "months" | "clients" | "calls")``, of one preset. Policies are drawn in the order of the frame.
``svg_of`` and ``png_of`` of ``ycbench_agents.figure`` turn a figure into bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import attrs
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ycbench_agents.evaluation.failures import FAILURE_CAUSES
from ycbench_agents.evaluation.tables import seed_values
from ycbench_agents.figure import COLOURS, GREY, INK, dollars, figure_style, label_ends, labels_of, root_scale

_ACROSS: Final = 3  # panels beside each other
_ROOT_FROM: Final = 5  # times the starting capital, from which funds are drawn to a square-root scale
_RUN: Final = ["policy", "seed", "repeat"]


# ---------------------------------------------------------------- funds


@figure_style()
def funds_by_month(months: pd.DataFrame) -> Figure:
    """Draw mean funds by month, a line a policy (figure 2); a bankrupt company has 0 from its end on."""
    figure, curves = Figure(figsize=(6.4, 3.6)), _curves(months)
    last = curves.iloc[-1]
    curves.columns = [f"{name}  {dollars(last[policy])}" for policy, name in labels_of(curves.columns).items()]
    _draw_funds(figure.subplots(), curves, curves.to_numpy().max(), curves.index.max())
    label_ends(figure.axes[0])
    return figure


@figure_style()
def funds_by_seed(months: pd.DataFrame) -> Figure:
    """Draw funds by month in a panel a seed, means over repeats, all to one scale (figure 8)."""
    curves = {str(seed): _curves(part) for seed, part in months.groupby("seed", sort=False)}
    most = max(each.to_numpy().max() for each in curves.values())
    names = labels_of(months["policy"])
    across = min(_ACROSS, len(curves))
    down = -(-len(curves) // across)
    figure = Figure(figsize=(2.3 * across, 1.9 * down + 0.5))
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    for axes, (seed, title) in zip(panels.flat, labels_of(curves, 14).items(), strict=False):
        # A policy without a value for a seed has no line there, but its look all the same.
        _draw_funds(axes, curves[seed].reindex(columns=list(names)).rename(columns=names), most, months["month"].max())
        axes.set_title(f"Seed {title}")
        axes.label_outer()
    for axes in panels.flat[len(curves) :]:
        axes.set_axis_off()
    lines = [line for line in panels.flat[0].get_lines() if line.get_label() in names.values()]
    figure.legend(handles=lines, loc="outside lower center", ncols=min(4, len(lines)))
    return figure


def _curves(months: pd.DataFrame) -> pd.DataFrame:
    """Return mean funds in dollars: a row a month, a column a policy, bankrupt companies at 0 after their end."""
    funds = months["funds_cents"].clip(lower=0).astype(float) / 100
    dense = months.assign(funds=funds).pivot_table(index="month", columns=_RUN, values="funds")
    ends = months.groupby(_RUN)["funds_cents"].last()
    dense = dense.ffill().mask(dense.isna() & (ends < 0).reindex(dense.columns).to_numpy(), 0.0)
    means = dense.T.groupby(["policy", "seed"]).mean().groupby("policy").mean().T
    return means[months["policy"].unique().tolist()]


def _draw_funds(axes: Axes, curves: pd.DataFrame, most: float, last: int) -> None:
    start, limit = float(curves.iloc[0].max()), 1.05 * max(1.0, most)
    for name in curves.columns:
        axes.plot(curves.index, curves[name], label=name, clip_on=False)
    axes.axhline(start, color=GREY, linewidth=0.9, linestyle="dotted")
    if limit > _ROOT_FROM * start:
        root_scale(axes, limit)
    axes.set_ylim(0, limit)
    axes.set_xlim(0, max(1, last))
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("Month")
    axes.yaxis.set_major_formatter(lambda amount, _: dollars(amount))


# ---------------------------------------------------------------- bars


def final_funds(episodes: pd.DataFrame) -> Figure:
    """Draw the mean score of each policy with a dot a seed (figure 7); a bankrupt company counts 0."""
    return _bars(episodes.assign(score=episodes["score_cents"] / 100), "score", dollars)


def revenue_per_dollar(episodes: pd.DataFrame) -> Figure:
    """Draw simulated revenue for a dollar of cost (figure 5b); hatched where it is less, as some cost is unknown."""
    unknown = episodes.loc[episodes["unknown_cost_turns"].fillna(0) > 0, "policy"]
    return _bars(episodes, "revenue_per_usd", dollars, bounds=set(unknown))


def trusted_successes(episodes: pd.DataFrame) -> Figure:
    """Draw the share of the tasks completed in time whose offer required trust (figure 3a)."""
    return _bars(episodes, "trusted_success_fraction", "{:.0%}".format)


@figure_style()
def adversarial_share(episodes: pd.DataFrame) -> Figure:
    """Draw the share of accepted tasks of adversarial clients, and their share of the market (figure 4a)."""
    figure = _bars(episodes, "adversarial_fraction", "{:.0%}".format)
    by_policy = seed_values(episodes, "market_adversarial_fraction").values()
    share = float(pd.concat(by_policy).mean())
    figure.axes[0].axvline(share, color=INK, linewidth=1, linestyle="dashed", label=f"market {share:.0%}")
    figure.legend(loc="outside lower right")
    return figure


def _rows(labels: Iterable[str], room: float) -> tuple[Figure, Axes]:
    """Return a new figure with a row for each label, the first at the top, and so many inches below and above."""
    names = [*labels_of(labels).values()]
    figure = Figure(figsize=(6.4, room + 0.28 * len(names)))
    axes = figure.subplots()
    axes.grid(visible=False)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    return figure, axes


@figure_style()
def _bars(
    episodes: pd.DataFrame, column: str, show: Callable[[float], str], bounds: Collection[str] = frozenset()
) -> Figure:
    """Draw a bar a policy, the mean over seeds, with its value and a dot a seed; ``bounds`` are upper bounds."""
    values = {policy: some for policy, some in seed_values(episodes, column).items() if len(some)}
    figure, axes = _rows(values, 0.8)
    for row, (policy, some) in enumerate(values.items()):
        mean, is_bound = float(some.mean()), policy in bounds
        axes.barh(
            row, mean, height=0.66, color=COLOURS[0], alpha=0.35 if is_bound else 0.75, hatch="///" if is_bound else ""
        )
        axes.plot(some, np.full(len(some), row), "o", color=INK, ms=3, clip_on=False)
        text = f"\u2264 {show(mean)}" if is_bound else show(mean)
        axes.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), va="center", annotation_clip=False)
    axes.set_xlim(0, 1.02 * max(1e-9, *(some.max() for some in values.values())))
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: show(value))
    return figure


@figure_style()
def failure_causes(episodes: pd.DataFrame) -> Figure:
    """Draw why tasks failed, as shares of all failed tasks of a policy (figure 5a)."""
    counts = episodes.groupby("policy", sort=False)[[f"failed_{cause}" for cause in FAILURE_CAUSES]].sum()
    counts = counts[counts.sum(axis=1) > 0].astype(float)
    totals = counts.sum(axis=1)
    shares = counts.div(totals, axis=0)
    figure, axes = _rows(counts.index, 1.1)
    left = np.zeros(len(counts))
    for cause, colour in zip(FAILURE_CAUSES, COLOURS, strict=False):
        width, label = shares[f"failed_{cause}"].to_numpy(), cause.replace("_", " ")
        axes.barh(range(len(counts)), width, left=left, color=colour, edgecolor="white", height=0.7, label=label)
        left += width
    for row, total in enumerate(totals):
        axes.annotate(f"{total:.0f} tasks", (1.01, row), va="center", annotation_clip=False)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


# ---------------------------------------------------------------- grids


def final_trust(clients: pd.DataFrame) -> Figure:
    """Draw each client's trust at the end, means over seeds, adversarial clients marked (figure 3b).

    Clients are numbered in the order of each seed's world, honest ones first.
    """
    number = clients.groupby([*_RUN, "is_adversarial"]).cumcount() + 1
    trust = clients.assign(number=number, trust=clients["final_trust_milli"].astype(float) / 1000)
    grid = trust.pivot_table("trust", "policy", ["is_adversarial", "number"])
    grid.columns = [f"{'adv.' if is_adversarial else 'client'} {number}" for is_adversarial, number in grid.columns]
    return _grid(grid.reindex(clients["policy"].unique()), "{:.1f}".format)


def client_policy(episodes: pd.DataFrame) -> Figure:
    """Draw whether notes named clients to work with (select), to avoid (avoid), both or none, by seed (figure 4b)."""
    named = episodes[episodes["client_policy"].notna()]
    kinds = ("none", "avoid", "select", "both")
    level = named["client_policy"].map({kind: place for place, kind in enumerate(kinds)}).astype(float)
    grid = named.assign(level=level).pivot_table("level", "policy", "seed", sort=False, aggfunc="max")
    grid.columns = [f"seed {title}" for title in labels_of(grid.columns, 14).values()]
    return _grid(grid, lambda value: kinds[round(value)], highest=len(kinds) - 1)


def calls(counts: pd.DataFrame) -> Figure:
    """Draw how often each command was given in a run, refused ones included, means over seeds (figure 9)."""
    runs = counts.drop_duplicates(_RUN)["policy"].value_counts()
    totals = counts.pivot_table("calls", "policy", "command", aggfunc="sum", fill_value=0).astype(float)
    grid = totals.div(runs, axis=0).reindex(counts["policy"].unique())
    order = grid.max().sort_values(ascending=False, kind="stable").index
    return _grid(grid[order], "{:,.0f}".format, root=True)


@figure_style()
def _grid(
    grid: pd.DataFrame, show: Callable[[float], str], *, highest: float | None = None, root: bool = False
) -> Figure:
    """Draw a table of numbers whose cells are the darker the larger they are."""
    columns = labels_of(map(str, grid.columns), most=20)
    values = grid.to_numpy(dtype=float)
    shades = np.sqrt(values) if root else values
    figure, axes = _rows(grid.index, 1.2)
    # The darkest shade is one on which ink can be read.
    darkest = 1.6 * (highest or max(float(np.nanmax(shades)), 1e-9))
    axes.imshow(np.nan_to_num(shades), cmap="Blues", vmin=0, vmax=darkest, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            axes.text(column, row, show(value), ha="center", va="center", size=8)
    axes.set_xticks(range(len(columns)), list(columns.values()), rotation=30, ha="right")
    axes.tick_params(length=0)
    return figure


# ---------------------------------------------------------------- lines over turns kept


@figure_style()
def funds_by_context(episodes: pd.DataFrame) -> Figure:
    """Draw the score against the number of turns kept in context (figure 10).

    Episodes need the columns ``keep_turns`` and ``line``, what is drawn as one line; those without are left out.
    """
    kept = episodes.dropna(subset=["line", "keep_turns"])
    means = {policy: values.mean() for policy, values in seed_values(kept, "score_cents").items()}
    rows = kept.drop_duplicates("policy").set_index("policy")[["line", "keep_turns"]]
    rows = rows.assign(score=pd.Series(means) / 100).dropna().sort_values("keep_turns")
    figure = Figure(figsize=(6.4, 3.2))
    axes = figure.subplots()
    for line, name in labels_of(kept["line"]).items():
        points = rows[rows["line"] == line]
        axes.plot(points["keep_turns"].astype(float), points["score"], marker="o", ms=4, label=name)
    axes.set_xticks(sorted(set(rows["keep_turns"].astype(int))))
    axes.set_xlabel("Turns kept in context")
    axes.set_ylim(0, max(1.0, float(rows["score"].max())) * 1.05)
    axes.yaxis.set_major_formatter(lambda amount, _: dollars(amount))
    label_ends(axes)
    return figure


# ---------------------------------------------------------------- which figures a report has


@attrs.frozen
class FigurePlan:
    """A figure of a report."""

    draw: Callable[[pd.DataFrame], Figure]
    source: str  # the frame that it draws: episodes, months, clients or calls
    title: str
    note: str  # how to read it
    needs: str = ""  # column that must have a value above 0
    varies: str = ""  # column that must have several values

    @property
    def name(self) -> str:
        """Name of its file, after that of the preset."""
        return self.draw.__name__.replace("_", "-")


_FUNDS: Final = (
    "Means over seeds. A bankrupt company has 0 from then on, one that was cut off keeps what it had. Dotted: starting "
    "capital (paper, figure 2)."
)
_SEEDS: Final = "Means over repeats, all to one scale (paper, figure 8)."
_SCORE: Final = "Bars are means over seeds, dots are seeds; a bankrupt company counts 0 (paper, figure 7)."
_REVENUE: Final = (
    "Simulated revenue; hatched with \u2264: some turns have no known cost, so it is less (paper, figure 5b)."
)
_TRUSTED: Final = "Share of the tasks completed in time whose offer required trust (paper, figure 3a)."
_TRUST: Final = "Means over seeds; adv. marks adversarial clients (paper, figure 3b)."
_SHARE: Final = "Share of the accepted tasks; dashed: their share of the market (paper, figure 4a)."
_NOTES: Final = "Clients to work with (select), to avoid (avoid), both or none (paper, figure 4b)."
_CAUSES: Final = "All failed tasks, each with one cause (paper, figure 5a)."
_CALLS: Final = "Commands of a run, refused ones included, means over runs (paper, figure 9)."
_CONTEXT: Final = "Means over seeds; the policies of a line differ in nothing else (paper, figure 10)."
FIGURES: Final[Sequence[FigurePlan]] = (
    FigurePlan(funds_by_month, "months", "Funds by month", _FUNDS),
    FigurePlan(funds_by_seed, "months", "Funds by month, seed by seed", _SEEDS, varies="seed"),
    FigurePlan(final_funds, "episodes", "Score", _SCORE),
    FigurePlan(revenue_per_dollar, "episodes", "Revenue for a dollar of cost", _REVENUE, "revenue_per_usd"),
    FigurePlan(trusted_successes, "episodes", "Successes that needed trust", _TRUSTED, "trusted_success_fraction"),
    FigurePlan(final_trust, "clients", "Trust at the end", _TRUST),
    FigurePlan(adversarial_share, "episodes", "Tasks of adversarial clients", _SHARE, "adversarial_fraction"),
    FigurePlan(client_policy, "episodes", "Client policy in the notes", _NOTES, "scratchpad_writes"),
    FigurePlan(failure_causes, "episodes", "Why tasks failed", _CAUSES, "tasks_failed"),
    FigurePlan(calls, "calls", "Calls by command", _CALLS),
    FigurePlan(funds_by_context, "episodes", "Score against turns kept in context", _CONTEXT, varies="keep_turns"),
)
"""Figures of each preset of a report, in order."""
