"""Figures of funds over time, for reports: what the policies saw of their own funds, nothing else.

matplotlib is imported when a figure is made, so that commands which make none start fast. pyplot is never touched: no
window is opened and no global state changes.
"""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import datetime as dt
import math
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.errors import MissingExtraError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ycbench_agents.rollout import Trajectory

__all__ = ["FundsCurve", "funds_curve", "plot_funds", "save_funds_figure", "spread_apart"]

_CENTS: Final = 100
_INK: Final = "#1c252c"
_GREY: Final = "#5b6670"
_GRID: Final = "#e6eaee"
_COLOURS: Final = ("#0072b2", "#d55e00", "#00795c", "#a14f80", "#b07400", "#2f9bd6", "#5b6670")
_DASHES: Final = ("solid", "dashed", "dotted", "dashdot")  # the colours' second round is dashed, and so on
_FONT: Final = "DejaVu Sans"  # ships with matplotlib
_MILLION: Final = 1e6
_THOUSAND: Final = 1e3
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_YEAR: Final = 12
_MOST_TICKS: Final = 13
_TICK_STEPS: Final = (1, 2, 3, 6, 12, 24, 60, 120, 1200)
_HEADROOM: Final = 1.06
_FOOTROOM: Final = 0.04  # of the height above zero, so that zero line and crosses stand clear of the months
_DPI: Final = 200
_ACROSS: Final = 2  # panels beside each other
_PLOT_INCHES: Final = (4.8, 3.2)
_MARGIN_INCHES: Final = (0.8, 2.15, 0.45, 0.55)  # left, right (for the labels), above, below
_TITLE_LENGTH: Final = 22  # characters for which there is room
_LABEL_LENGTH: Final = 22
_LABEL_GAP: Final = 0.115  # least distance of labels, as a part of the height


@attrs.frozen
class FundsCurve:
    """Funds over an episode, as the policy saw them after each turn.

    Args:
        label: What to call the curve; curves of one label are drawn alike and labelled once.
        preset: Name of the configuration; each has a panel of its own.
        policy: Name of the policy.
        seed: Run seed.
        times: Simulated times, in order.
        funds_dollars: Funds at these times, in dollars.
        bankrupt: Whether the episode ended in bankruptcy.
        horizon: End of the simulated time, None where it is not known: the axis then ends with the curves.
    """

    label: str
    preset: str
    policy: str
    seed: int
    times: tuple[dt.datetime, ...]
    funds_dollars: tuple[float, ...]
    bankrupt: bool
    horizon: dt.datetime | None = None

    @property
    def end(self) -> dt.datetime:
        """Where the axis of time has to reach."""
        return self.times[-1] if self.horizon is None else max(self.times[-1], self.horizon)


@attrs.frozen
class _Group:
    """Curves of one label in one panel, and how they are drawn."""

    label: str
    colour: str
    dashes: str
    curves: tuple[FundsCurve, ...]

    @property
    def final_dollars(self) -> float:
        """Median of the funds at the end."""
        return statistics.median(curve.funds_dollars[-1] for curve in self.curves)

    @property
    def summary(self) -> str:
        """How the curves ended, in a few words."""
        count, bankrupt = len(self.curves), sum(curve.bankrupt for curve in self.curves)
        if bankrupt == count:
            return "bankrupt" if count == 1 else f"all {count} bankrupt"
        median = f"{'' if count == 1 else 'median '}{_dollars(self.final_dollars)}"
        return f"{median}, {bankrupt} of {count} bankrupt" if bankrupt else median


@attrs.frozen
class _Frame:
    """What the axes span: times, and funds in dollars."""

    start: dt.datetime
    end: dt.datetime
    low: float
    high: float


def funds_curve(trajectory: Trajectory, preset: str, policy: str) -> FundsCurve:
    """Return the funds of a trajectory, from its observations; the policy's name is the label."""
    seen = trajectory.observations
    return FundsCurve(
        label=policy,
        preset=preset,
        policy=policy,
        seed=trajectory.seed,
        times=tuple(dt.datetime.fromisoformat(observation["sim_time"]) for observation in seen),
        funds_dollars=tuple(int(observation["funds_cents"]) / _CENTS for observation in seen),
        bankrupt=trajectory.terminal_reason == "bankruptcy",
        horizon=dt.datetime.fromisoformat(seen[-1]["horizon_end"]),
    )


def plot_funds(trajectories_by_label: Mapping[str, Sequence[FundsCurve]], ax: Axes | None = None) -> Axes:
    """Draw funds over time: a colour for each label, a line for each curve, a cross where one went bankrupt.

    Args:
        trajectories_by_label: Curves to draw in the same way, by what to call them; at least one curve in all. A label
            without curves keeps its colour free, so that panels agree.
        ax: Where to draw; None makes a figure of its own, ``ax.figure``.

    Returns:
        The axes, for a title and other additions.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    axes = _new_panels(1)[1][0] if ax is None else ax
    _draw_panel(
        axes, trajectories_by_label, _frame([curve for some in trajectories_by_label.values() for curve in some])
    )
    return axes


def save_funds_figure(runs: Iterable[FundsCurve], path: str | os.PathLike[str]) -> Path:
    """Draw a panel for each preset, all to the same scale, and save them as a PNG of 200 dots an inch.

    Args:
        runs: The curves, in the order in which presets and labels shall appear.
        path: Where to save; missing directories are made.

    Returns:
        The path.

    Raises:
        ValueError: There are no runs.
        MissingExtraError: matplotlib is not installed.
    """
    curves = list(runs)
    if not curves:
        msg = "save_funds_figure: got no runs, expected at least one FundsCurve"
        raise ValueError(msg)
    presets = list(dict.fromkeys(curve.preset for curve in curves))
    labels = list(dict.fromkeys(curve.label for curve in curves))
    figure, panels = _new_panels(len(presets))
    for axes, preset in zip(panels, presets, strict=True):
        here = [curve for curve in curves if curve.preset == preset]
        _draw_panel(
            axes, {label: [curve for curve in here if curve.label == label] for label in labels}, _frame(curves)
        )
        _draw_title(axes, f"preset {preset}", "one line a seed, x bankrupt, dashed: starting capital")
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=_DPI, facecolor="white", format="png")
    return target


def _new_panels(count: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with empty axes, with room for labels; sizes are fixed, so nothing overlaps."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 -- an extra, and slow to import
        from matplotlib.figure import Figure  # noqa: PLC0415 -- as above
    except ImportError as error:
        msg = f"figures need matplotlib ({error}); install it with: pip install 'ycbench-env[render]'"
        raise MissingExtraError(msg) from error
    across, down = min(count, _ACROSS), math.ceil(count / _ACROSS)
    left, right, above, below = _MARGIN_INCHES
    cell = (left + _PLOT_INCHES[0] + right, above + _PLOT_INCHES[1] + below)
    width, height = across * cell[0], down * cell[1]
    figure = Figure((width, height), facecolor="white")
    figure.set_layout_engine("none")
    FigureCanvasAgg(figure)
    panels: list[Axes] = []
    for place in range(count):
        row, column = divmod(place, _ACROSS)
        x, y = column * cell[0] + left, height - (row + 1) * cell[1] + below
        box = (x / width, y / height, _PLOT_INCHES[0] / width, _PLOT_INCHES[1] / height)
        panels.append(figure.add_axes(box))
    return figure, panels


def _draw_title(axes: Axes, title: str, note: str) -> None:
    title = _shortened(title, _TITLE_LENGTH)
    axes.set_title(title, loc="left", color=_INK, weight="bold", size=11, family=_FONT, parse_math=False)
    axes.set_title(note, loc="right", color=_GREY, weight="normal", size=8, family=_FONT, parse_math=False)


def _shortened(text: str, limit: int) -> str:
    line = "".join(sign if sign.isprintable() else "?" for sign in text)
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def _frame(curves: Sequence[FundsCurve]) -> _Frame:
    most = max(max(curve.funds_dollars) for curve in curves)
    least = min(0.0, *(min(curve.funds_dollars) for curve in curves))
    high = max(most, -least, 1.0) * _HEADROOM
    return _Frame(
        start=min(curve.times[0] for curve in curves),
        end=max(curve.end for curve in curves),
        low=least - _FOOTROOM * high,
        high=high,
    )


def _draw_panel(axes: Axes, curves_by_label: Mapping[str, Sequence[FundsCurve]], frame: _Frame) -> None:
    groups = [
        _Group(label, _COLOURS[place % len(_COLOURS)], _DASHES[place // len(_COLOURS) % len(_DASHES)], tuple(curves))
        for place, (label, curves) in enumerate(curves_by_label.items())
        if curves
    ]
    _style_axes(axes, frame)
    _draw_start(axes, [curve for group in groups for curve in group.curves])
    for group in groups:
        _draw_curves(axes, group)
    _draw_labels(axes, groups, frame)


def _style_axes(axes: Axes, frame: _Frame) -> None:
    axes.set_xlim(_days(frame.start), _days(frame.end))
    axes.set_ylim(frame.low, frame.high)
    ticks = _month_ticks(frame)
    axes.set_xticks([_days(time) for time, _ in ticks], [label for _, label in ticks])
    axes.yaxis.set_major_formatter(lambda dollars, _: _dollars(dollars))
    axes.set_facecolor("white")
    axes.grid(visible=False)
    axes.grid(visible=True, axis="y", color=_GRID, linewidth=0.8, linestyle="solid")
    axes.set_axisbelow(True)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(side == "bottom")
    axes.spines["bottom"].set_color(_GRID)
    axes.tick_params(color=_GRID, labelcolor=_GREY, labelsize=9, labelfontfamily=_FONT)
    axes.tick_params(axis="y", length=0)
    axes.axhline(0, color=_GREY, linewidth=1.0, linestyle="solid")
    axes.set_ylabel("Funds", color=_GREY, size=9, family=_FONT)


def _draw_start(axes: Axes, curves: Sequence[FundsCurve]) -> None:
    """Draw the starting capital, where the curves agree on one."""
    starts = {curve.funds_dollars[0] for curve in curves}
    if len(starts) == 1:
        axes.axhline(starts.pop(), color=_GREY, linewidth=0.9, linestyle=(0, (3, 3)))


def _draw_curves(axes: Axes, group: _Group) -> None:
    for curve in group.curves:
        days, funds = [_days(time) for time in curve.times], curve.funds_dollars
        # Funds stay as they are until the next thing happens, so the line is a staircase.
        axes.plot(days, funds, color=group.colour, ls=group.dashes, lw=1.6, drawstyle="steps-post", marker="none")
        if curve.bankrupt:
            axes.plot(days[-1], funds[-1], color=group.colour, marker="X", ms=9, mec="white", mew=1, clip_on=False)


def _draw_labels(axes: Axes, groups: Sequence[_Group], frame: _Frame) -> None:
    """Write each label where its curves end, or as near as the other labels leave room."""
    ordered = sorted(groups, key=lambda group: group.final_dollars)
    ends = [(group.final_dollars - frame.low) / (frame.high - frame.low) for group in ordered]
    heights = spread_apart(ends, _LABEL_GAP)
    for group, height in zip(ordered, heights, strict=True):
        label = _shortened(group.label, _LABEL_LENGTH)
        _write(axes, height, label, color=group.colour, size=9.5, weight="bold", verticalalignment="bottom")
        _write(axes, height, group.summary, color=_GREY, size=8.0, weight="normal", verticalalignment="top")


def _write(axes: Axes, height: float, words: str, **look: str | float) -> None:
    axes.text(1.02, height, words, transform=axes.transAxes, family=_FONT, parse_math=False, clip_on=False, **look)  # pyright: ignore[reportArgumentType] -- fontdict is not among them


def spread_apart(heights: Sequence[float], least_gap: float) -> list[float]:
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


def _month_ticks(frame: _Frame) -> list[tuple[dt.datetime, str]]:
    """Return first days of months with their labels, thinned out where the horizon is long."""
    begin = frame.start.year * _YEAR + frame.start.month - 1 + (frame.start.day > 1)
    numbers = range(begin, frame.end.year * _YEAR + frame.end.month)
    step = next(step for step in _TICK_STEPS if len(numbers) <= step * _MOST_TICKS)
    ticks: list[tuple[dt.datetime, str]] = []
    for number in numbers:
        year, month = divmod(number, _YEAR)
        if number % step == 0:
            label = _MONTHS[month] if ticks and month else f"{_MONTHS[month]}\n{year}"
            ticks.append((max(dt.datetime(year, month + 1, 1), frame.start), label))  # noqa: DTZ001 -- simulated time
    return ticks


def _days(time: dt.datetime) -> float:
    return time.toordinal() + (time - dt.datetime.combine(time.date(), dt.time())) / dt.timedelta(days=1)


def _dollars(dollars: float) -> str:
    """Return an amount as $950, $200K, $1.0M."""
    sign, amount = "-" if dollars < 0 else "", abs(dollars)
    if amount >= _MILLION - 500:  # what would round to 1000K
        figure = f"{amount / _MILLION:.2f}".rstrip("0")
        return f"{sign}${figure}{'0' if figure.endswith('.') else ''}M"
    return f"{sign}${amount / _THOUSAND:.3g}K" if amount >= _THOUSAND else f"{sign}${amount:.3g}"
