"""How figures look, and the figure of funds over time (extra ``cli``, ``render`` or ``evaluation``).

pyplot is never touched: no window is opened and no global state changes. Every figure starts from matplotlib's own
defaults, so a user's matplotlibrc changes nothing.
"""

from __future__ import annotations

import datetime as dt
import io
import itertools
import statistics
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np

from ycbench_agents.files import write_file
from ycbench_agents.rollout import Trajectory
from ycbench_env.errors import MissingExtraError
from ycbench_env.text import printable

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.dates import ConciseDateFormatter, MonthLocator
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType
except ImportError as error:
    _MISSING = f"figures need matplotlib ({error}): pip install '.[cli]' in the folder of this project"
    raise MissingExtraError(_MISSING) from error


INK: Final = "#1c252c"
GREY: Final = "#5b6670"
COLOURS: Final = ("#0072b2", "#d55e00", "#00795c", "#a14f80", "#b07400", "#2f9bd6", "#5b6670")  # after Okabe and Ito
_MINUS: Final = "\u2212"
_UNITS: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))
_DASHES: Final = ("solid", "dashed", "dotted", "dashdot")
_STYLE: Final[Mapping[RcKeyType, Any]] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#c3cad0",
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.labelcolor": GREY,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "grid.color": "#e6eaee",
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "svg.fonttype": "none",  # letters stay text
    "svg.hashsalt": "ycbench",
    "text.color": INK,
    "text.parse_math": False,  # a dollar is a dollar
    "xtick.color": GREY,
    "ytick.color": GREY,
    "ytick.left": False,
}


@contextmanager
def figure_style() -> Generator[None]:
    """Draw with the style of this project: matplotlib's defaults and a few settings, whatever the user has set."""
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
    r"""Return an amount as $950, $84K, $1.27M: three digits at most.

    >>> [dollars(amount) for amount in (0, -950, 84_049.9, 999_999, 1_269_734)]
    ['$0', '\u2212$950', '$84K', '$1M', '$1.27M']
    """
    size = float(f"{abs(amount):.3g}")
    unit, letter = next((each for each in _UNITS if size >= each[0]), (1.0, ""))
    digits = f"{size / unit:.3g}" if letter else f"{size:.0f}"
    return f"{_MINUS if amount < 0 and digits != '0' else ''}${digits}{letter}"


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


def line_looks(names: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return colour and dashes of each name's line, by place: seven colours, then the same dashed."""
    return {
        name: (COLOURS[place % len(COLOURS)], _DASHES[place // len(COLOURS) % len(_DASHES)])
        for place, name in enumerate(dict.fromkeys(names))
    }


def label_ends(axes: Axes, labels: Iterable[tuple[float, str, str]], gap: float = 0.06) -> None:
    """Write labels at the right edge, as near to their heights as the others allow; a thin line leads to each.

    Args:
        axes: With the limits of its vertical axis set.
        labels: Height in data, text and colour of each.
        gap: Least distance of two labels, as a part of the height.
    """
    ordered = sorted(labels, key=lambda label: label[0])
    to_fraction = axes.transData + axes.transAxes.inverted()
    ends = [float(to_fraction.transform((0, height))[1]) for height, _, _ in ordered]
    groups: list[tuple[float, int]] = []  # middle and number of labels that touch, from below
    for end in ends:
        middle, count = end, 1
        while groups and groups[-1][0] + (groups[-1][1] + count) * gap / 2 > middle:
            below, others = groups.pop()
            middle, count = (below * others + middle * count) / (others + count), others + count
            middle = max(middle, (count - 1) * gap / 2)
        groups.append((middle, count))
    heights = [middle + (i - (count - 1) / 2) * gap for middle, count in groups for i in range(count)]
    line = {"arrowstyle": "-", "linewidth": 0.6, "shrinkA": 1, "shrinkB": 1, "relpos": (0, 0.5)}
    for (_, text, colour), end, height in zip(ordered, ends, heights, strict=True):
        axes.annotate(
            text,
            (1.0, end),
            (1.06, height),
            xycoords="axes fraction",
            textcoords="axes fraction",
            arrowprops={**line, "color": colour},
            color=colour,
            va="center",
            annotation_clip=False,
        )


# ---------------------------------------------------------------- funds over time


@attrs.frozen
class FundsCurve:
    """Funds over an episode.

    Args:
        label: Name of the curve; curves of one label look alike and are labelled once.
        times: Simulated times, in order.
        funds_dollars: Funds at these times.
        bankrupt: Whether the episode ended in bankruptcy.
        preset: Name of the configuration; each has a panel of its own in ``save_funds_figure``.
    """

    label: str
    times: tuple[dt.datetime, ...]
    funds_dollars: tuple[float, ...]
    bankrupt: bool = False
    preset: str = ""


def funds_curve(trajectory: Trajectory, preset: str, policy: str) -> FundsCurve:
    """Return the funds of a trajectory, as the policy saw them; the policy's name is the label."""
    return FundsCurve(
        label=policy,
        times=tuple(dt.datetime.fromisoformat(seen["sim_time"]) for seen in trajectory.observations),
        funds_dollars=tuple(int(seen["funds_cents"]) / 100 for seen in trajectory.observations),
        bankrupt=trajectory.terminal_reason == "bankruptcy",
        preset=preset,
    )


@figure_style()
def plot_funds(curves_by_label: Mapping[str, Sequence[FundsCurve]], ax: Axes | None = None) -> Axes:
    """Draw funds over time: a colour for each label, a line for each curve, a cross at each bankruptcy.

    Args:
        curves_by_label: Curves by label; a label without curves keeps its colour free, so that panels agree.
        ax: Where to draw; None for a new figure, ``ax.figure``.

    Returns:
        The axes, for a title and other additions.
    """
    axes = Figure(figsize=(7, 3.6)).subplots() if ax is None else ax
    curves = [curve for some in curves_by_label.values() for curve in some]
    looks, names, ends = line_looks(curves_by_label), labels_of(curves_by_label, 24), list[tuple[float, str, str]]()
    for label, some in curves_by_label.items():
        colour, dashes = looks[label]
        for curve in some:  # funds stay as they are until something happens, so the line is a staircase
            times = np.asarray(curve.times, dtype="datetime64[us]")
            axes.step(times, curve.funds_dollars, where="post", color=colour, linestyle=dashes)
            if curve.bankrupt:
                axes.plot(times[-1:], curve.funds_dollars[-1:], "X", color=colour, ms=8, mec="white")
        if some:
            final = statistics.median(curve.funds_dollars[-1] for curve in some)
            ends.append((final, f"{names[label]}  {_outcome(some, final)}", colour))
    start = {curve.funds_dollars[0] for curve in curves}
    if len(start) == 1:
        axes.axhline(start.pop(), color=GREY, linewidth=0.9, linestyle="dashed")
    highest = max((max(curve.funds_dollars) for curve in curves), default=1.0)
    lowest = min((min(curve.funds_dollars) for curve in curves), default=0.0)
    axes.set_ylim(min(lowest, 0) - 0.04 * highest, 1.05 * max(highest, 1))
    axes.margins(x=0)
    times = [time for curve in curves for time in (curve.times[0], curve.times[-1])]
    months = (max(times) - min(times)).days // 30 if times else 0
    axes.xaxis.set_major_locator(locator := MonthLocator(interval=1 + months // 9))
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, show_offset=False))
    axes.yaxis.set_major_formatter(lambda amount, _: dollars(amount))
    label_ends(axes, ends)
    return axes


def _outcome(curves: Sequence[FundsCurve], final: float) -> str:
    bankrupt, count = sum(curve.bankrupt for curve in curves), len(curves)
    if bankrupt == count:
        return "bankrupt" if count == 1 else f"all {count} bankrupt"
    amount = f"median {dollars(final)}" if count > 1 else dollars(final)
    return f"{amount}, {bankrupt} of {count} bankrupt" if bankrupt else amount


@figure_style()
def save_funds_figure(curves: Iterable[FundsCurve], path: Path | str) -> Path:
    """Draw a panel for each preset, all to one scale, write them as PNG and return the path.

    Args:
        curves: The curves, in the order in which presets and labels shall appear; at least one.
        path: File to write.

    Raises:
        FileError: It cannot be written.
    """
    found = list(curves)
    presets, labels = labels_of((each.preset for each in found), 24), dict.fromkeys(each.label for each in found)
    figure = Figure(figsize=(max(7.5, 5.6 * len(presets)), 3.4))
    panels = figure.subplots(1, len(presets), squeeze=False)[0]
    for axes, (preset, name) in zip(panels, presets.items(), strict=True):
        plot_funds({each: [c for c in found if (c.preset, c.label) == (preset, each)] for each in labels}, axes)
        axes.set_title(f"Preset {name}" if preset else "Funds")
    low, high = zip(*(axes.get_ylim() for axes in panels), strict=True)
    for axes in panels:
        axes.set_ylim(min(low), max(high))
    write_file(path, png_of(figure, dpi=110))
    return Path(path)
