"""Funds by month, as curves (figures 2 and 8 of the paper)."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.figure.column import means_by_seed, numbers, texts
from ycbench_agents.evaluation.figure.lettering import LABEL_INCHES, text_width
from ycbench_agents.evaluation.figure.short_name import short_names
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle, PolicyLook, looks
from ycbench_agents.evaluation.figure.wording import dollars, round_dollars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes

__all__ = ["FundsScale", "draw_funds_by_month", "draw_legend", "funds_scale", "label_curves"]

_CENTS: Final = 100
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOST_TICKS: Final = 5
_TICK_ROOM: Final = 1.6  # heights of letters that a tick of funds needs
_STEPS: Final = (1, 2, 3, 4, 6, 12, 24, 60, 120)
_HEADROOM: Final = 1.05
_WIDE: Final = 5  # times the starting capital, from which on a square-root scale is easier to read
_NICE: Final = (1, 2.5, 5, 10)
_TICK_GAP: Final = 0.13  # likewise of ticks
_LEGEND_COLUMNS: Final = 3
_NEAR: Final = 0.9  # of the width, from which on a curve ends beside its label
_GAP: Final = 0.072  # least distance of labels, as a part of the height


@attrs.frozen
class FundsScale:
    """What the axes of funds span, so that several panels agree.

    Args:
        top: Largest amount, in dollars.
        is_root: Whether heights are square roots of amounts.
        months: Number of months.
    """

    top: float
    is_root: bool
    months: int

    def ticks(self, gap: float = _TICK_GAP) -> list[float]:
        """Return amounts to mark, in dollars: even steps, or about as many that grow quadratically.

        Args:
            gap: Distance that they need, as a part of the height.
        """
        if not self.is_root:
            step = next(
                step for parts in (4, 3, 2, 1) if (step := _nice(self.top / parts)) / self.top >= gap or parts == 1
            )
            return [step * place for place in range(int(self.top / step) + 1)]
        ticks = [0.0]
        for place in range(1, 5):
            tick = _nice(self.top * (place / 4) ** 2)
            if math.sqrt(tick / self.top) - math.sqrt(ticks[-1] / self.top) > gap:
                ticks.append(tick)
        return ticks


def _nice(amount: float) -> float:
    """Return the largest of 1, 2.5 and 5 times a power of ten within an amount."""
    power = 10.0 ** math.floor(math.log10(max(amount, 1.0)))
    return max(step * power for step in _NICE if step * power <= max(amount, 1.0) * (1 + 1e-9))


def funds_scale(frame: pd.DataFrame) -> FundsScale:
    """Return a scale that all curves of a frame fit into, one for each run or for their means.

    Args:
        frame: As in ``draw_funds_by_month``.
    """
    funds, months = numbers(frame, "funds_cents"), numbers(frame, "month")
    start = max([value or 0.0 for value, month in zip(funds, months, strict=True) if month == 0], default=0.0)
    top = max([value or 0.0 for value in funds], default=0.0)
    return FundsScale(
        max(top, 100.0) / _CENTS * _HEADROOM, top > _WIDE * start, int(max([m or 0 for m in months], default=1))
    )


def draw_funds_by_month(  # noqa: PLR0913 -- as panels differ in
    ax: Axes,
    frame: pd.DataFrame,
    style: FigureStyle = HOUSE_STYLE,
    *,
    scale: FundsScale | None = None,
    labels: bool = True,
    names: Mapping[str, str] | None = None,
) -> None:
    """Draw the mean funds of each policy at the end of each month, over the seeds of the frame.

    As in the score, a bankrupt company has 0; a run that ended before the horizon keeps what it ended with.

    Args:
        ax: Where to draw.
        frame: Rows of policy, seed, repeat, month (0 is the start), label and funds_cents; of one preset.
        style: Colours and letters.
        scale: What the axes span; None for what the frame needs.
        labels: Whether to write each policy's name and final funds at the end of its curve.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    curves = _mean_curves(frame)
    span = scale or _scale_of_means(curves, frame)
    _draw_axes(ax, frame, span, style)
    look = looks(curves, style)
    for policy, curve in curves.items():
        dashes = look[policy].dashes
        ax.plot(range(len(curve)), curve, color=look[policy].colour, ls=dashes, solid_capstyle="round", clip_on=False)
    _draw_start(ax, frame, style)
    if labels:
        _draw_labels(ax, {policy: curve[-1] for policy, curve in curves.items()}, look, style, names)


def _mean_curves(frame: pd.DataFrame) -> dict[str, list[float]]:
    """Return mean funds by policy and month, in dollars."""
    last = int(max([month or 0 for month in numbers(frame, "month")], default=0))
    runs: dict[tuple[str, str, str], dict[int, float]] = {}
    names = zip(texts(frame, "policy"), texts(frame, "seed"), texts(frame, "repeat"), strict=True)
    for key, month, funds in zip(names, numbers(frame, "month"), numbers(frame, "funds_cents"), strict=True):
        runs.setdefault(key, {})[int(month or 0)] = max(funds or 0.0, 0.0) / _CENTS
    policies, seeds = [key[0] for key in runs], [key[1] for key in runs]
    curves = [[run[min(month, max(run))] for month in range(last + 1)] for run in runs.values()]
    means = [means_by_seed(policies, seeds, [curve[month] for curve in curves]) for month in range(last + 1)]
    return {policy: [fmean(month[policy].values()) for month in means] for policy in dict.fromkeys(policies)}


def _scale_of_means(curves: Mapping[str, Sequence[float]], frame: pd.DataFrame) -> FundsScale:
    top = max([max(curve) for curve in curves.values()], default=1.0)
    start = max([curve[0] for curve in curves.values()], default=0.0)
    return FundsScale(max(top, 1.0) * _HEADROOM, top > _WIDE * start, funds_scale(frame).months)


def _draw_axes(ax: Axes, frame: pd.DataFrame, scale: FundsScale, style: FigureStyle) -> None:
    if scale.is_root:
        ax.set_yscale("function", functions=(_root, _square))
    ax.set_xlim(0, scale.months)
    ax.set_ylim(0, scale.top)
    width, height = _inches(ax)
    ticks = scale.ticks(max(_TICK_GAP, _TICK_ROOM * style.size / 72 / height))
    ax.set_yticks(ticks, [round_dollars(tick) for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=True, axis="y")
    labels = _month_labels(frame)
    most = min(_MOST_TICKS, 1 + int(width / (text_width("Start", style.size) + 0.08)))
    step = next((step for step in _STEPS if scale.months <= step * (most - 1)), _STEPS[-1])
    places = range(0, scale.months + 1, step)
    ax.set_xticks(list(places), [labels.get(place, "") for place in places])
    ax.set_xlabel("End of month")
    ax.set_title("Mean funds, square-root scale" if scale.is_root else "Mean funds", loc="left", color=style.grey)
    ax.spines["bottom"].set_color(style.grey)


def _inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes, in inches."""
    figure, box = ax.get_figure(root=True), ax.get_window_extent()
    dots = 72.0 if figure is None else figure.dpi
    return box.width / dots, box.height / dots


def _month_labels(frame: pd.DataFrame) -> dict[int, str]:
    """Return short names of the months of a frame, by their numbers."""
    labels = {
        int(month or 0): label for month, label in zip(numbers(frame, "month"), texts(frame, "label"), strict=True)
    }
    return {number: "Start" if number == 0 else _MONTHS[int(label[-2:]) - 1] for number, label in labels.items()}


def _root(values: Sequence[float]) -> object:
    import numpy as np  # noqa: PLC0415 -- beside its use

    return np.sqrt(np.maximum(values, 0.0))


def _square(values: Sequence[float]) -> object:
    import numpy as np  # noqa: PLC0415 -- as above

    return np.square(values)


def _draw_start(ax: Axes, frame: pd.DataFrame, style: FigureStyle) -> None:
    """Draw the starting capital, where the runs agree on one."""
    both = zip(numbers(frame, "month"), numbers(frame, "funds_cents"), strict=True)
    starts = {funds for month, funds in both if month == 0 and funds is not None}
    if len(starts) == 1:
        ax.axhline(starts.pop() / _CENTS, color=style.grey, linewidth=0.9, linestyle=(0, (2, 3)), zorder=1)


def _draw_labels(
    ax: Axes,
    finals: Mapping[str, float],
    look: Mapping[str, PolicyLook],
    style: FigureStyle,
    names: Mapping[str, str] | None,
) -> None:
    short, end = short_names(finals, LABEL_INCHES, style.size - 0.5, names), ax.get_xlim()[1]
    labels = {
        f"{short[policy]}  {dollars(final)}": (end, final, look[policy].colour) for policy, final in finals.items()
    }
    label_curves(ax, labels, style)


def label_curves(ax: Axes, ends: Mapping[str, tuple[float, float, str]], style: FigureStyle = HOUSE_STYLE) -> None:
    """Write each label beside the axes, as near to its curve's end as the others leave room, with a line to it.

    Args:
        ax: The axes, whose limits are set.
        ends: Where curves end, and their colours, by label.
        style: Letters.
    """
    to_axes = ax.transData + ax.transAxes.inverted()
    ordered = sorted(ends, key=lambda label: ends[label][1])
    points = [to_axes.transform(ends[label][:2]) for label in ordered]
    heights = _spread_apart([float(y) for _, y in points], _GAP)
    for label, (x, y), height in zip(ordered, points, heights, strict=True):
        # What leads past other curves is not one of them.
        dots, colour = ((0, (1, 3)), ends[label][2]) if x < _NEAR else ("solid", style.grey)
        path = {"transform": ax.transAxes, "color": colour, "ls": dots, "lw": 0.7, "clip_on": False, "zorder": 1}
        ax.plot([float(x), 1.03], [float(y), height], **path)  # pyright: ignore[reportArgumentType] -- untyped keywords
        look = {"color": ends[label][2], "size": style.size - 0.5, "va": "center"}
        ax.text(1.04, height, label, transform=ax.transAxes, **look)  # pyright: ignore[reportArgumentType] -- untyped keywords


def draw_legend(
    ax: Axes, policies: Sequence[str], style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw which policy has which curve, in three columns; for panels without room for names.

    Args:
        ax: Where to draw.
        policies: Their names, by columns.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of these alone.
    """
    ax.set_axis_off()
    ax.set_xlim(0, _LEGEND_COLUMNS)
    rows = max(1, -(-len(policies) // _LEGEND_COLUMNS))
    ax.set_ylim(rows, 0)
    look, size = looks(policies, style), style.size - 0.5
    short = short_names(policies, min(LABEL_INCHES, 0.8 * _inches(ax)[0] / _LEGEND_COLUMNS), size, names)
    for place, policy in enumerate(policies):
        column, row = divmod(place, rows)
        ax.plot([column, column + 0.12], [row + 0.5] * 2, color=look[policy].colour, ls=look[policy].dashes)
        ax.text(column + 0.15, row + 0.5, short[policy], size=size, va="center")


def _spread_apart(heights: Sequence[float], least_gap: float) -> list[float]:
    """Return ascending heights (parts of the whole) moved apart, as little as possible upwards and then down again.

    Args:
        heights: Where labels belong, ascending, from 0 to 1.
        least_gap: Distance that they need; less where there is no room for it.
    """
    gap = min(least_gap, 1 / max(len(heights), 1))
    spread: list[float] = []
    for height in heights:
        spread.append(max(height, spread[-1] + gap) if spread else height)
    ceiling = 1.0
    for place in reversed(range(len(spread))):
        spread[place] = min(spread[place], ceiling)
        ceiling = spread[place] - gap
    return spread
