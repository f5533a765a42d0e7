"""Funds by month, a panel for each seed (figure 8 of the paper)."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ycbench_agents.evaluation.figure.canvas import Frame, Shared, new_panels
from ycbench_agents.evaluation.figure.column import seed_names, seeds_of, texts
from ycbench_agents.evaluation.figure.funds import draw_funds_by_month, draw_legend, funds_scale
from ycbench_agents.evaluation.figure.lettering import text_width
from ycbench_agents.evaluation.figure.short_name import short_names
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["funds_by_seed"]

_WIDTH: Final = 4.97  # of the figure
_LABELS: Final = Shared(left=0.62, below=0.48)
_BESIDE: Final = 0.07  # a panel
_ABOVE: Final = 0.28
_BELOW: Final = 0.08
_LEGEND_ROW: Final = 0.22
_SHAPES: Final = ((4, 2, 1.4), (9, 3, 1.15), (24, 4, 0.85))  # up to so many panels: columns, and height of a panel
_MOST: Final = (5, 0.75)


def funds_by_seed(
    frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> Figure:
    """Return a figure with a panel for each seed, all to one scale, and below them which curve is whose.

    The more seeds there are, the more panels stand beside each other; amounts are marked on the left, months below.

    Args:
        frame: As in ``draw_funds_by_month``; to be called within ``applied``.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    seeds, policies = seeds_of(frame), list(dict.fromkeys(texts(frame, "policy")))
    across, height = next(((columns, high) for most, columns, high in _SHAPES if len(seeds) <= most), _MOST)
    width = (_WIDTH - _LABELS.left) / across - 2 * _BESIDE
    legend = _LEGEND_ROW * -(-len(policies) // 3) + 0.1
    room = Frame(width, height, _BESIDE, _BESIDE, _ABOVE, _BELOW)
    panels = new_panels(room, len(seeds), across, legend, _LABELS)
    scale, titles = funds_scale(frame), _titles(seeds, width, style)
    for place, (axes, seed) in enumerate(zip(panels.axes, seeds, strict=True)):
        here = cast("pd.DataFrame", frame[frame["seed"] == seed])
        draw_funds_by_month(axes, here, style, scale=scale, labels=False)
        axes.set_title(titles[seed], loc="left", color=style.ink)
        is_last = place + across >= len(seeds)
        if is_last:
            _keep_months_within(axes, width, style)
        axes.tick_params(labelleft=place % across == 0, labelbottom=is_last)
        axes.set_xlabel("End of month" if is_last and place % across == 0 else "")
    if panels.foot is not None:
        draw_legend(panels.foot, policies, style, names=names)
    return panels.figure


def _titles(seeds: Sequence[str], width: float, style: FigureStyle) -> dict[str, str]:
    """Return a title for the panel of each seed, as wide as a panel at most, in inches."""
    named = dict(zip(seeds, seed_names(seeds), strict=True))
    short = short_names(named.values(), width - text_width("Seed ", style.size), style.size)
    return {seed: f"Seed {short[name]}" for seed, name in named.items()}


def _keep_months_within(axes: Axes, width: float, style: FigureStyle) -> None:
    """Draw the names of months within a panel of a width in inches, so that they keep clear of the next one's."""
    ticks, names = [float(tick) for tick in axes.get_xticks()], [name.get_text() for name in axes.get_xticklabels()]
    if 1.5 * len(ticks) * max(text_width(name, style.size) for name in names) > width:
        ticks, names = [ticks[0], ticks[-1]], [names[0], names[-1]]
    axes.set_xticks(ticks, names)
    labels = axes.get_xticklabels()
    labels[-1].set_horizontalalignment("right")
    labels[0].set_horizontalalignment("left")
