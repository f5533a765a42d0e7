"""Figures of an evaluation, one function each (docs/report.md); numbers of figures are those of the paper.

Each function takes a tidy frame and returns a new matplotlib figure: ``Evaluation.frame()`` (episodes) or one of
``metrics_table(runs, "months" | "clients" | "calls")``, of one preset. Policies are drawn in the order of the frame.
``svg_of`` and ``png_of`` of ``ycbench_agents.figure`` turn a figure into bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs
import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ycbench_agents.evaluation.failures import FAILURE_CAUSES
from ycbench_agents.evaluation.published import PublishedModel
from ycbench_agents.evaluation.tables import seed_values
from ycbench_agents.figure import COLOURS, GREY, INK, dollars, figure_style, label_ends, labels_of, line_looks

_ACROSS: Final = 3  # panels beside each other
_ROOT_FROM: Final = 5  # times the starting capital, from which funds are drawn to a square-root scale
_RUN: Final = ["policy", "seed", "repeat"]
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


# ---------------------------------------------------------------- funds


@figure_style()
def funds_by_month(months: pd.DataFrame) -> Figure:
    """Draw mean funds by month, a line a policy (figure 2); a bankrupt company has 0 from its end on.

    Args:
        months: ``metrics_table(runs, "months")``.
    """
    figure = Figure(figsize=(6.4, 3.6))
    axes, curves = figure.subplots(), _curves(months)
    looks, names = line_looks(curves.columns), labels_of(curves.columns)
    _draw_funds(axes, curves, looks, _funds_limit(curves))
    last = curves.iloc[-1]
    label_ends(axes, [(last[p], f"{names[p]}  {dollars(last[p])}", looks[p][0]) for p in curves.columns])
    return figure


@figure_style()
def funds_by_seed(months: pd.DataFrame) -> Figure:
    """Draw funds by month in a panel a seed, means over repeats, all to one scale (figure 8).

    Args:
        months: ``metrics_table(runs, "months")``.
    """
    curves = {seed: _curves(months[months["seed"] == seed]) for seed in months["seed"].unique()}
    limit = max(map(_funds_limit, curves.values()))
    looks, titles = line_looks(months["policy"]), labels_of(curves, 14)
    across = min(_ACROSS, len(curves))
    down = -(-len(curves) // across)
    figure = Figure(figsize=(2.3 * across, 1.9 * down + 0.5))
    panels = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).flat
    for axes, seed in zip(panels, curves, strict=False):
        _draw_funds(axes, curves[seed], looks, limit)
        axes.set_title(f"Seed {titles[seed]}")
        axes.label_outer()
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    figure.axes[0].set_xlim(0, max(1, int(months["month"].max())))
    names = labels_of(looks)
    handles = [figure.axes[0].plot([], [], color=c, linestyle=d, label=names[p])[0] for p, (c, d) in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(4, len(handles)))
    return figure


def _curves(months: pd.DataFrame) -> pd.DataFrame:
    """Return mean funds in dollars: a row a month, a column a policy, bankrupt companies at 0 after their end."""
    funds = months["funds_cents"].clip(lower=0).astype(float) / 100
    dense = months.assign(funds=funds).pivot_table(index="month", columns=_RUN, values="funds")
    ends = months.groupby(_RUN)["funds_cents"].last()
    dense = dense.ffill().mask(dense.isna() & (ends < 0).reindex(dense.columns).to_numpy(), 0.0)
    means = dense.T.groupby(["policy", "seed"]).mean().groupby("policy").mean().T
    return means[months["policy"].unique().tolist()]


def _funds_limit(curves: pd.DataFrame) -> float:
    return max(1.0, float(curves.to_numpy().max())) * 1.05


def _draw_funds(axes: Axes, curves: pd.DataFrame, looks: Mapping[str, tuple[str, str]], limit: float) -> None:
    start = float(curves.iloc[0].max())
    if limit > _ROOT_FROM * start:
        _root_scale(axes, limit)
    axes.set_ylim(0, limit)
    axes.axhline(start, color=GREY, linewidth=0.9, linestyle="dotted")
    for policy in curves.columns:
        colour, dashes = looks[policy]
        axes.plot(curves.index, curves[policy], color=colour, linestyle=dashes, clip_on=False)
    axes.set_xlim(0, max(1, int(curves.index.max())))
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("Month")
    axes.yaxis.set_major_formatter(lambda amount, _: dollars(amount))


def _root_scale(axes: Axes, limit: float) -> None:
    """Draw to a square-root scale, so that small and large funds can be seen in one figure."""
    axes.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0)), np.square))
    ticks = [0.0]
    for step in (base * 10.0**power for power in range(4, 12) for base in (1, 2.5, 5)):
        if step <= limit and np.sqrt(step / limit) - np.sqrt(ticks[-1] / limit) >= 0.1:  # noqa: PLR2004 -- room
            ticks.append(step)
    axes.set_yticks(ticks)
    axes.set_ylabel("square-root scale")


# ---------------------------------------------------------------- bars


def final_funds(episodes: pd.DataFrame) -> Figure:
    """Draw the mean score of each policy with a dot a seed (figure 7); a bankrupt company counts 0."""
    values = seed_values(episodes.assign(value=episodes["score_cents"] / 100), "value")
    return _bars(values, dollars)


def revenue_per_dollar(episodes: pd.DataFrame) -> Figure:
    """Draw simulated revenue for a dollar of cost (figure 5b); hatched where turns tell no cost, so it is less."""
    unknown = episodes.loc[episodes["unknown_cost_turns"].fillna(0) > 0, "policy"]
    return _bars(seed_values(episodes, "revenue_per_usd"), dollars, bounds=frozenset(unknown))


def trusted_successes(episodes: pd.DataFrame) -> Figure:
    """Draw the share of the tasks completed in time whose offer required trust (figure 3a)."""
    return _bars(seed_values(episodes, "trusted_success_fraction"), "{:.0%}".format)


@figure_style()
def adversarial_share(episodes: pd.DataFrame) -> Figure:
    """Draw the share of accepted tasks of adversarial clients, and their share of the market (figure 4a)."""
    figure = _bars(seed_values(episodes, "adversarial_fraction"), "{:.0%}".format)
    share = float(seed_values(episodes, "market_adversarial_fraction").mean())
    figure.axes[0].axvline(share, color=INK, linewidth=1, linestyle="dashed", label=f"market {share:.0%}")
    figure.legend(loc="outside lower right")
    return figure


def _rows(count: int, room: float) -> tuple[Figure, Axes]:
    """Return a new figure with a row for each policy, and so many inches below and above."""
    figure = Figure(figsize=(6.4, room + 0.28 * count))
    axes = figure.subplots()
    axes.grid(visible=False)
    return figure, axes


@figure_style()
def _bars(values: pd.Series, show: Callable[[float], str], bounds: frozenset[str] = frozenset()) -> Figure:
    """Draw a bar a policy, the mean over seeds, with its value and a dot a seed.

    Args:
        values: Values by policy and seed.
        show: Makes the text of a value.
        bounds: Policies whose values are upper bounds.
    """
    names = labels_of(values.index.get_level_values("policy"))
    figure, axes = _rows(len(names), 0.8)
    for row, policy in enumerate(names):
        some = values.loc[policy]
        mean, is_bound = float(some.mean()), policy in bounds
        bar = axes.barh(row, mean, color=COLOURS[0], alpha=0.35 if is_bound else 0.75, height=0.66)
        if is_bound:
            bar[0].set_hatch("///")
        axes.plot(some, np.full(len(some), row), "o", color=INK, ms=3, clip_on=False)
        text = f"\u2264 {show(mean)}" if is_bound else show(mean)
        axes.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), va="center", annotation_clip=False)
    axes.set_yticks(range(len(names)), list(names.values()))
    axes.invert_yaxis()
    axes.set_xlim(0, 1.02 * max(float(values.max()), 1e-9))
    axes.locator_params(axis="x", nbins=5)
    axes.xaxis.set_major_formatter(lambda value, _: show(value))
    return figure


@figure_style()
def failure_causes(episodes: pd.DataFrame) -> Figure:
    """Draw why tasks failed, as shares of all failed tasks of a policy (figure 5a)."""
    counts = episodes.groupby("policy", sort=False)[[f"failed_{cause}" for cause in FAILURE_CAUSES]].sum()
    counts = counts[counts.sum(axis=1) > 0].astype(float)
    rows, totals = range(len(counts)), counts.sum(axis=1).to_numpy()
    figure, axes = _rows(len(counts), 1.1)
    left = np.zeros(len(counts))
    for cause, colour in zip(FAILURE_CAUSES, COLOURS, strict=False):
        shares = counts[f"failed_{cause}"].to_numpy() / totals
        axes.barh(rows, shares, left=left, color=colour, edgecolor="white", height=0.7, label=cause.replace("_", " "))
        left += shares
    for row, total in enumerate(totals):
        axes.annotate(f"{total:.0f} tasks", (1.01, row), va="center", annotation_clip=False)
    axes.set_yticks(rows, list(labels_of(counts.index).values()))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


# ---------------------------------------------------------------- grids


def final_trust(clients: pd.DataFrame) -> Figure:
    """Draw each client's trust at the end, means over seeds, adversarial clients marked (figure 3b).

    Clients are numbered in the order of each seed's world, honest ones first.

    Args:
        clients: ``metrics_table(runs, "clients")``.
    """
    ordered = clients.sort_values("is_adversarial", kind="stable")
    place = (ordered.groupby([*_RUN, "is_adversarial"]).cumcount() + 1).astype(str)
    title = ordered["is_adversarial"].map({True: "adv. ", False: "client "}).astype(str) + place
    trust = ordered.assign(title=title, trust=ordered["final_trust_milli"].astype(float) / 1000)
    grid = trust.pivot_table(index="policy", columns="title", values="trust", sort=False)
    order = sorted(grid.columns, key=lambda name: (name.startswith("adv"), name))
    return _grid(grid[order].reindex(clients["policy"].unique()), "{:.1f}".format)


def client_policy(episodes: pd.DataFrame) -> Figure:
    """Draw whether notes named clients to work with (select), to avoid (avoid), both or none, by seed (figure 4b)."""
    named = episodes[episodes["client_policy"].notna()]
    kinds = ("none", "avoid", "select", "both")
    level = named["client_policy"].map({kind: place for place, kind in enumerate(kinds)}).astype(float)
    grid = named.assign(level=level).pivot_table("level", "policy", "seed", sort=False, aggfunc="max")
    grid.columns = [f"seed {title}" for title in labels_of(grid.columns, 14).values()]
    return _grid(grid, lambda value: kinds[round(value)], highest=len(kinds) - 1)


def calls(counts: pd.DataFrame) -> Figure:
    """Draw how often each command was given in a run, refused ones included, means over seeds (figure 9).

    Args:
        counts: ``metrics_table(runs, "calls")``.
    """
    runs = counts.groupby("policy")[["seed", "repeat"]].apply(lambda rows: len(rows.drop_duplicates()))
    totals = counts.pivot_table(index="command", columns="policy", values="calls", aggfunc="sum", fill_value=0)
    grid = (totals.astype(float) / runs)[counts["policy"].unique().tolist()]
    order = grid.max(axis=1).sort_values(ascending=False, kind="stable").index
    return _grid(grid.loc[order].T, "{:,.0f}".format, root=True)


@figure_style()
def _grid(
    grid: pd.DataFrame, show: Callable[[float], str], *, highest: float | None = None, root: bool = False
) -> Figure:
    """Draw a table of numbers whose cells are the darker the larger they are."""
    rows, columns = labels_of(grid.index), labels_of(map(str, grid.columns), most=20)
    values = grid.to_numpy(dtype=float)
    shades = np.sqrt(values) if root else values
    most = highest or max(float(np.nanmax(shades)), 1e-9)
    figure, axes = _rows(len(grid), 1.2)
    # The darkest shade is one on which ink can be read.
    axes.imshow(np.nan_to_num(shades), cmap="Blues", vmin=0, vmax=1.6 * most, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            axes.text(column, row, show(value), ha="center", va="center", size=8)
    axes.set_yticks(range(len(rows)), list(rows.values()))
    axes.set_xticks(range(len(columns)), list(columns.values()), rotation=30, ha="right")
    axes.tick_params(length=0)
    return figure


# ---------------------------------------------------------------- lines over turns kept


@figure_style()
def funds_by_context(episodes: pd.DataFrame) -> Figure:
    """Draw the score against the number of turns kept in context, a line a model (figure 10).

    Args:
        episodes: ``Evaluation.frame()`` with the columns ``line``, what is drawn as one line, and ``keep_turns``.
    """
    scores = seed_values(episodes.assign(value=episodes["score_cents"] / 100), "value").groupby("policy").mean()
    rows = episodes.drop_duplicates("policy").set_index("policy")[["line", "keep_turns"]].assign(score=scores).dropna()
    looks, names = line_looks(rows["line"]), labels_of(rows["line"])
    figure = Figure(figsize=(6.4, 3.2))
    axes = figure.subplots()
    ends: list[tuple[float, str, str]] = []
    for line, points in rows.sort_values("keep_turns").groupby("line", sort=False):
        colour, dashes = looks[str(line)]
        axes.plot(points["keep_turns"].astype(float), points["score"], "o", color=colour, linestyle=dashes, ms=4)
        ends.append((float(points["score"].iloc[-1]), names[str(line)], colour))
    axes.set_xticks(sorted(set(rows["keep_turns"].astype(int))))
    axes.set_xlabel("Turns kept in context")
    axes.set_ylim(0, max(1.0, float(rows["score"].max())) * 1.05)
    axes.yaxis.set_major_formatter(lambda amount, _: dollars(amount))
    label_ends(axes, ends)
    return figure


# ---------------------------------------------------------------- which figures an evaluation has


@attrs.frozen
class FigurePlan:
    """A figure of a report.

    Args:
        name: Name of its file, after that of the preset.
        title: What it shows.
        note: How to read it.
        source: episodes, months, clients or calls: the frame that it draws.
        column: Column without whose values (above 0) there is nothing to draw.
        draw: Draws it.
    """

    name: str
    title: str
    note: str
    source: str
    column: str
    draw: Callable[[pd.DataFrame], Figure]


_DOTS: Final = "Bars are means over seeds, dots are seeds"
FIGURES: Final[Sequence[FigurePlan]] = (
    FigurePlan(
        "funds",
        "Funds by month",
        "Means over seeds; a bankrupt company has 0 from then on, a run that was cut off keeps what it had. Dotted: "
        "starting capital (paper, figure 2).",
        "months",
        "funds_cents",
        funds_by_month,
    ),
    FigurePlan(
        "funds-by-seed",
        "Funds by month, seed by seed",
        "Means over repeats, all to one scale (paper, figure 8).",
        "months",
        "funds_cents",
        funds_by_seed,
    ),
    FigurePlan(
        "final-funds",
        "Score",
        f"{_DOTS}; a bankrupt company counts 0 (paper, figure 7).",
        "episodes",
        "score_cents",
        final_funds,
    ),
    FigurePlan(
        "revenue-per-dollar",
        "Revenue for a dollar of cost",
        f"Simulated rewards by the model's cost. {_DOTS}. Hatched with \u2264: some turns tell no cost, so it is less "
        "(paper, figure 5b).",
        "episodes",
        "revenue_per_usd",
        revenue_per_dollar,
    ),
    FigurePlan(
        "trusted-successes",
        "Successes that needed trust",
        f"Share of the tasks completed in time whose offer required trust. {_DOTS} (paper, figure 3a).",
        "episodes",
        "trusted_success_fraction",
        trusted_successes,
    ),
    FigurePlan(
        "final-trust",
        "Trust at the end",
        "Means over seeds; adv. marks adversarial clients (paper, figure 3b).",
        "clients",
        "final_trust_milli",
        final_trust,
    ),
    FigurePlan(
        "adversarial-share",
        "Tasks of adversarial clients",
        f"Share of the accepted tasks; dashed: their share of the market. {_DOTS} (paper, figure 4a).",
        "episodes",
        "adversarial_fraction",
        adversarial_share,
    ),
    FigurePlan(
        "client-policy",
        "Client policy in the notes",
        "Clients to work with (select), to avoid (avoid), both or none (paper, figure 4b).",
        "episodes",
        "scratchpad_writes",
        client_policy,
    ),
    FigurePlan(
        "failure-causes",
        "Why tasks failed",
        "All failed tasks, each with one cause (paper, figure 5a).",
        "episodes",
        "tasks_failed",
        failure_causes,
    ),
    FigurePlan(
        "calls",
        "Calls by command",
        "Commands of a run, refused ones included, means over runs (paper, figure 9).",
        "calls",
        "calls",
        calls,
    ),
)
"""Figures of each preset of a report, in order; figure 10 (``funds_by_context``) stands by itself."""


# ---------------------------------------------------------------- the picture of the README


@figure_style()
def story(
    ours: Mapping[str, Sequence[float]], published: Iterable[PublishedModel], bound_dollars: float, title: str
) -> Figure:
    """Draw published models, policies of this project and the upper bound over the year, every line named.

    Args:
        ours: Mean funds in dollars by month of each policy, twelve values.
        published: Published models with a row of twelve months.
        bound_dollars: Upper bound of the final funds.
        title: Title of the figure.
    """
    figure = Figure(figsize=(9.2, 6.2))
    axes = figure.subplots()
    top = 1.04 * bound_dollars
    _root_scale(axes, top)
    axes.set_ylim(0, top)
    axes.axhline(bound_dollars, color=INK, linewidth=1.2, linestyle="dashed")
    labels = [(bound_dollars, f"upper bound  {dollars(bound_dollars)}", INK)]
    for model in published:
        axes.plot(range(12), model.funds_usd, color="#9aa5ae", linewidth=1)
        labels.append((model.funds_usd[-1], f"{model.name}  {dollars(model.funds_usd[-1])}", GREY))
    for (name, funds), colour in zip(ours.items(), COLOURS, strict=False):
        axes.plot(range(12), funds, color=colour, linewidth=2.4, clip_on=False)
        labels.append((funds[-1], f"{name}  {dollars(funds[-1])}", colour))
    mpl.rcParams["font.size"] = 8
    label_ends(axes, labels, gap=0.028)
    axes.set_xlim(0, 11)
    axes.set_xticks(range(12), _MONTHS)
    axes.yaxis.set_major_formatter(lambda amount, _: dollars(amount))
    axes.set_title(title)
    return figure
