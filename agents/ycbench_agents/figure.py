"""How figures look, and the figure of funds over time (extra ``cli``, ``render`` or ``evaluation``).

pyplot is never touched: no window is opened and no global state changes. Every figure starts from matplotlib's own
defaults, so a user's matplotlibrc changes nothing.
"""

from __future__ import annotations

import datetime as dt
import io
import itertools
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from ycbench_agents.rollout import Trajectory
from ycbench_env.errors import needs_extra
from ycbench_env.text import printable, short_dollars

with needs_extra("cli", "figures need matplotlib"):
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.dates import ConciseDateFormatter
    from matplotlib.figure import Figure

_STYLE: Final = mpl.rc_params_from_file(Path(__file__).with_suffix(".mplstyle"), use_default_template=False)
INK: Final[str] = _STYLE["text.color"]
GREY: Final[str] = _STYLE["axes.labelcolor"]
COLOURS: Final[Sequence[str]] = list(dict.fromkeys(_STYLE["axes.prop_cycle"].by_key()["color"]))


@contextmanager
def figure_style() -> Generator[None]:
    """Draw with the style of this project: matplotlib's defaults and figure.mplstyle, whatever the user has set."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def svg_of(figure: Figure) -> bytes:
    """Return a figure as SVG: the same bytes for the same figure."""
    return _saved(figure, format="svg", metadata={"Date": None, "Creator": None})


def png_of(figure: Figure, dpi: int = 200) -> bytes:
    """Return a figure as PNG with so many dots an inch: the same bytes for the same figure."""
    return _saved(figure, format="png", dpi=dpi, metadata={"Software": None})


@figure_style()
def _saved(figure: Figure, **options: Any) -> bytes:  # noqa: ANN401 -- of savefig
    buffer = io.BytesIO()
    figure.savefig(buffer, **options)
    return buffer.getvalue()


def dollars(amount: float) -> str:
    """Return an amount in dollars as ``short_dollars`` does, with a typographic minus."""
    return short_dollars(amount).replace("-", "\u2212")


def labels_of(names: Iterable[str], most: int = 30) -> dict[str, str]:
    """Return printable labels of at most so many characters, no two alike: long names lose their middle.

    >>> labels_of(["greedy", "a" * 20 + "b" * 20], most=9)
    {'greedy': 'greedy', 'aaaaaaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbb': 'aaaa\u2026bbbb'}
    """
    labels: dict[str, str] = {}
    for name in dict.fromkeys(names):
        text = printable(name)
        short = text if len(text) <= most else f"{text[: most // 2]}\u2026{text[len(text) - (most - 1) // 2 :]}"
        numbered = (f"{short} ({number})" for number in itertools.count(2))
        labels[name] = next(label for label in itertools.chain([short], numbered) if label not in labels.values())
    return labels


def root_scale(axes: Axes, limit: float) -> None:
    """Draw to a square-root scale, so that small and large funds can be seen in one figure."""
    axes.set_yscale("function", functions=(lambda y: np.sqrt(np.maximum(y, 0)), np.square))
    axes.set_yticks([float(f"{tick:.0e}") for tick in np.linspace(0, limit**0.5, 6) ** 2])
    axes.set_ylabel("square-root scale")


def label_ends(axes: Axes, gap: float = 0.06) -> None:
    """Write the label of each line that has one at the right edge, near the line's end; a thin line leads to it.

    Args:
        axes: With the limits of its vertical axis set.
        gap: Least distance of two labels, as a part of the height.
    """
    to_fraction = axes.transData + axes.transAxes.inverted()
    ends = [
        (float(to_fraction.transform((0, np.asarray(line.get_ydata())[-1]))[1]), line)
        for line in axes.get_lines()
        if not str(line.get_label()).startswith("_child")  # matplotlib's name of a line without a label
    ]
    ends.sort(key=lambda end: end[0])
    # The middle between labels that are pushed up only and labels that are pushed down only, none below the axis.
    steps = gap * np.arange(len(ends))
    apart = np.asarray([end for end, _ in ends]) - steps
    middle = (np.maximum.accumulate(apart) + np.minimum.accumulate(apart[::-1])[::-1]) / 2
    for (end, line), height in zip(ends, np.maximum(middle, 0) + steps, strict=True):
        axes.annotate(
            str(line.get_label()),
            (1.0, end),
            (1.06, float(height)),
            xycoords="axes fraction",
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "-", "linewidth": 0.6, "relpos": (0, 0.5), "color": line.get_color()},
            color=line.get_color(),
            va="center",
            annotation_clip=False,
        )


# ---------------------------------------------------------------- funds over time


FundsCurve: TypeAlias = tuple[Sequence[dt.datetime], Sequence[float]]
"""Simulated times of an episode, in order, and funds in dollars at these times."""


def funds_curve(trajectory: Trajectory) -> FundsCurve:
    """Return the funds of a trajectory, as the policy saw them."""
    seen = trajectory.observations
    times = [dt.datetime.fromisoformat(each["sim_time"]) for each in seen]
    return times, [int(each["funds_cents"]) / 100 for each in seen]


@figure_style()
def plot_funds(curves: Mapping[str, Sequence[FundsCurve]], title: str = "") -> Figure:
    """Return a figure of funds over time: a colour a label, a line a curve, a cross at each bankruptcy.

    Args:
        curves: Curves by label, at least one of each.
        title: Title of the figure.
    """
    figure = Figure(figsize=(7.5, 3.6))
    axes = figure.subplots()
    names, looks = labels_of(curves, 24), mpl.rcParams["axes.prop_cycle"]()
    for (label, some), look in zip(curves.items(), looks, strict=False):
        ordered, middle = sorted(some, key=lambda curve: curve[1][-1]), len(some) // 2
        outcome = "median " * (len(some) > 1) + dollars(ordered[middle][1][-1])
        if bankrupt := sum(funds[-1] < 0 for _, funds in some):
            outcome += f", {bankrupt} bankrupt"
        for place, (times, funds) in enumerate(ordered):
            text = f"{names[label]}  {outcome}" if place == middle else None
            # Funds stay as they are until something happens, so the line is a staircase.
            axes.step(np.asarray(times), funds, where="post", label=text, **look)
            if funds[-1] < 0:
                axes.plot(np.asarray(times[-1:]), funds[-1:], "X", color=look["color"], ms=8, mec="white")
    start = next(iter(curves.values()))[0][1][0]
    axes.axhline(start, color=GREY, linewidth=0.9, linestyle="dotted")
    axes.margins(x=0)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.xaxis.set_major_formatter(ConciseDateFormatter(axes.xaxis.get_major_locator(), show_offset=False))
    axes.yaxis.set_major_formatter(lambda amount, _: dollars(amount))
    axes.set_title(title)
    label_ends(axes)
    return figure
