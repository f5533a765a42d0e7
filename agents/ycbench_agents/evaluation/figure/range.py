"""One figure a policy: a bar for the mean over seeds, a dot for each seed (figures 3a, 4a, 5b and 7 of the paper)."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.figure.column import SeedMeans, means_by_seed, numbers, texts
from ycbench_agents.evaluation.figure.lettering import LABEL_INCHES
from ycbench_agents.evaluation.figure.short_name import short_names
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle, PolicyLook, looks
from ycbench_agents.evaluation.figure.wording import dollars, percent, round_dollars

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes

__all__ = [
    "draw_adversarial_share",
    "draw_final_funds",
    "draw_revenue_per_dollar",
    "draw_trusted_share",
    "upper_bounds",
]

_CENTS: Final = 100
_BAR: Final = 0.62
_ROOM: Final = 1.05
_PAD: Final = 6.0  # points between names and rows, so that dots at 0 keep clear
_AT_MOST: Final = "\u2264\u2009"  # and a thin space


def draw_final_funds(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw each policy's score, the mean final funds with a bankrupt company counting 0 (figure 7).

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, final_funds_cents and initial_funds_cents; of one preset.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    funds = [max(value or 0.0, 0.0) / _CENTS for value in numbers(frame, "final_funds_cents")]
    _draw_bars(ax, means_by_seed(texts(frame, "policy"), texts(frame, "seed"), funds), dollars, style, names)
    ax.set_xlabel("Final funds: mean (bar) and seeds (dots)")
    starts = {value for value in numbers(frame, "initial_funds_cents") if value is not None}
    if len(starts) == 1:
        start = starts.pop() / _CENTS
        _draw_reference(ax, start, f"start {dollars(start)}", style)


def draw_adversarial_share(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw how many of the accepted tasks came from adversarial clients, beside their share of the market (figure 4a).

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, adversarial_fraction and market_adversarial_fraction.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    _draw_bars(ax, _means(frame, "adversarial_fraction"), percent, style, names, top=1.0)
    ax.set_xlabel("Adversarial among accepted: mean (bar) and seeds (dots)")
    market = [value for value in numbers(frame, "market_adversarial_fraction") if value is not None]
    if market:
        _draw_reference(ax, fmean(market), f"market {percent(fmean(market))}", style)


def draw_trusted_share(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw how many of the successes needed trust (figure 3a).

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed and trusted_success_fraction, which is the run's in each of its rows.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    _draw_bars(ax, _means(frame, "trusted_success_fraction"), percent, style, names, top=1.0)
    ax.set_xlabel("Needed trust: mean (bar) and seeds (dots)")


def draw_revenue_per_dollar(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw simulated revenue for each dollar that the model cost (figure 5b).

    Where the cost of some turns is not known, the known cost is too small and the revenue an upper bound: such bars are
    hollow, and a sign stands before their value.

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, revenue_per_usd and unknown_cost_turns.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    bounds = upper_bounds(frame)
    _draw_bars(ax, _means(frame, "revenue_per_usd"), dollars, style, names, bounds=bounds)
    ax.set_xlabel("Revenue for a dollar: mean (bar) and seeds (dots)")


def upper_bounds(frame: pd.DataFrame) -> frozenset[str]:
    """Return the policies with a value to which a run contributes that had turns of unknown cost.

    Args:
        frame: As in ``draw_revenue_per_dollar``.
    """
    unknown, revenue = numbers(frame, "unknown_cost_turns"), numbers(frame, "revenue_per_usd")
    rows = zip(texts(frame, "policy"), unknown, revenue, strict=True)
    return frozenset(policy for policy, turns, value in rows if turns and value is not None)


def _means(frame: pd.DataFrame, column: str) -> SeedMeans:
    return means_by_seed(texts(frame, "policy"), texts(frame, "seed"), numbers(frame, column))


def _draw_bars(  # noqa: PLR0913 -- what a figure of bars differs in
    ax: Axes,
    means: SeedMeans,
    words: Callable[[float], str],
    style: FigureStyle,
    names: Mapping[str, str] | None,
    *,
    top: float | None = None,
    bounds: frozenset[str] = frozenset(),
) -> None:
    """Draw a row for each policy that has a value, from the first one down; values are written behind the rows."""
    rows: Mapping[str, list[float]] = {policy: list(seeds.values()) for policy, seeds in means.items() if seeds}
    look = looks(means, style)
    most = top or max([max(values) for values in rows.values()], default=1.0) or 1.0
    for place, (policy, values) in enumerate(rows.items()):
        mean = fmean(values)
        _draw_bar(ax, (place, mean), look[policy], is_bound=policy in bounds)
        colour = look[policy].colour
        dots = {"ls": "none", "marker": "o", "ms": 4.5, "mec": style.paper, "mew": 0.6}
        ax.plot(values, [place] * len(values), color=colour, clip_on=False, **dots)  # pyright: ignore[reportArgumentType] -- untyped keywords
        said = f"{_AT_MOST if policy in bounds else ''}{words(mean)}"
        ax.text(most * _ROOM * 1.03, place, said, color=style.ink, va="center_baseline", clip_on=False)
    ax.set_xlim(0, most * _ROOM)
    ax.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    short = short_names(rows, LABEL_INCHES, style.size, names)
    ax.set_yticks(range(len(rows)), [short[policy] for policy in rows])
    ax.tick_params(axis="y", length=0, labelcolor=style.ink, pad=_PAD)
    ax.xaxis.set_major_formatter(lambda value, _: (round_dollars if words is dollars else words)(value))
    ax.locator_params(axis="x", nbins=4)
    ax.grid(visible=True, axis="x")
    ax.spines["bottom"].set_visible(False)


def _draw_bar(ax: Axes, end: tuple[int, float], look: PolicyLook, *, is_bound: bool) -> None:
    """Draw a bar in a row up to a value; hollow where that is but a bound."""
    (place, value), colour = end, look.colour
    if is_bound:
        ax.barh(place, value, height=_BAR, facecolor="none", edgecolor=colour, linewidth=1.0, linestyle=(0, (3, 2)))
        return
    ax.barh(place, value, height=_BAR, color=colour, alpha=0.45, linewidth=0)
    if look.hatch:  # a bar of its own: an SVG has no lighter ground below a hatch
        ax.barh(place, value, height=_BAR, facecolor="none", edgecolor=colour, alpha=0.6, linewidth=0, hatch=look.hatch)


def _draw_reference(ax: Axes, value: float, words: str, style: FigureStyle) -> None:
    """Draw a line across the rows, with its name above."""
    if value > ax.get_xlim()[1]:
        return
    ax.axvline(value, color=style.grey, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1)
    ax.text(value, -0.62, words, color=style.grey, size=style.size - 1, va="bottom", ha="center", clip_on=False)
