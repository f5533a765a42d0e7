"""Why tasks failed, as shares of all failures (figure 5a of the paper)."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.figure.column import numbers, texts
from ycbench_agents.evaluation.figure.lettering import LABEL_INCHES
from ycbench_agents.evaluation.figure.short_name import short_names
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle
from ycbench_agents.evaluation.figure.wording import percent
from ycbench_agents.evaluation.measurement import FAILURE_CAUSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

__all__ = ["CauseLook", "cause_looks", "draw_failure_causes"]

_WORDS: Final = {
    "adversarial_client": "adversarial client",
    "over_committed": "over-committed",
    "late_dispatch": "late dispatch",
    "understaffed": "understaffed",
    "out_of_reach": "out of reach",
}
_WORTH_A_NUMBER: Final = 0.09  # of the width
_HEIGHT: Final = 0.66  # of a row


def draw_failure_causes(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw the causes of all failed tasks of each policy; each failed task has one cause.

    Args:
        ax: Where to draw.
        frame: Rows of policy, cause and failures, the number of a run's tasks that failed for the cause.
        style: Colours and letters.
        names: Short names by name, as ``short_names`` returns them; None for some of the frame alone.
    """
    counts = _counts(frame)
    for place, by_cause in enumerate(counts.values()):
        _draw_row(ax, place, by_cause, style)
    ax.set_xlim(0, 1)
    ax.set_ylim(max(len(counts), 1) - 0.5, -0.5)
    short = short_names(counts, LABEL_INCHES, style.size, names)
    ax.set_yticks(range(len(counts)), [short[policy] for policy in counts])
    ax.tick_params(axis="y", length=0, labelcolor=style.ink)
    ax.xaxis.set_major_formatter(lambda value, _: percent(value))
    ax.set_xlabel("Share of failed tasks, their number behind")
    ax.spines["bottom"].set_visible(False)
    _draw_key(ax, style)


def _counts(frame: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return failures by policy and cause; a policy without any is left out."""
    counts: dict[str, dict[str, int]] = {}
    rows = zip(texts(frame, "policy"), texts(frame, "cause"), numbers(frame, "failures"), strict=True)
    for policy, cause, failures in rows:
        by_cause = counts.setdefault(policy, dict.fromkeys(FAILURE_CAUSES, 0))
        by_cause[cause] += int(failures or 0)
    return {policy: by_cause for policy, by_cause in counts.items() if any(by_cause.values())}


@attrs.frozen
class CauseLook:
    """How one cause is drawn: a fill of some strength, a hatch and an edge in the full colour."""

    colour: str
    strength: float
    hatch: str = ""


def cause_looks(style: FigureStyle = HOUSE_STYLE) -> dict[str, CauseLook]:
    """Return how each cause is drawn: told apart in any kind of sight, letters on it readable, light and dark.

    The three kinds of teams that were not able to make it are paler, or hatched.
    """
    looks = (
        CauseLook(style.warning, 0.6),
        CauseLook(style.accent, 0.6),
        CauseLook(style.colours[4], 0.3),
        CauseLook(style.accent, 0.3, "////"),
        CauseLook(style.grey, 0.5, "...."),
    )
    return dict(zip(FAILURE_CAUSES, looks, strict=True))


def _draw_row(ax: Axes, place: int, by_cause: dict[str, int], style: FigureStyle) -> None:
    total, left, looks = sum(by_cause.values()), 0.0, cause_looks(style)
    for cause in (each for each in FAILURE_CAUSES if by_cause[each]):
        share = by_cause[cause] / total
        _draw_piece(ax, (left, place - _HEIGHT / 2), (share, _HEIGHT), looks[cause])
        if share > _WORTH_A_NUMBER:
            middle = left + share / 2
            ax.text(
                middle, place, percent(share), size=style.size - 1, color=style.ink, ha="center", va="center_baseline"
            )
        left += share
    ax.text(1.03, place, f"{total:,}", color=style.ink, va="center_baseline", clip_on=False)


def _draw_piece(
    ax: Axes,
    corner: tuple[float, float],
    size: tuple[float, float],
    look: CauseLook,
    transform: Transform | None = None,
) -> None:
    """Draw a rectangle that stands for a cause; in the axes' data, or as a transform has it."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 -- an extra, and slow to import

    edges = {"facecolor": "none", "edgecolor": look.colour, "linewidth": 0.8}
    hatches = {"facecolor": "none", "edgecolor": look.colour, "alpha": 0.45, "linewidth": 0, "hatch": look.hatch}
    # One on the other: an SVG has no lighter ground below a hatch.
    fills = [{"color": look.colour, "alpha": look.strength, "linewidth": 0}, *[hatches] * bool(look.hatch), edges]
    for fill in fills:
        piece = Rectangle(corner, *size, clip_on=False, transform=transform or ax.transData, **fill)  # pyright: ignore[reportArgumentType] -- untyped keywords
        ax.add_patch(piece)


def _draw_key(ax: Axes, style: FigureStyle) -> None:
    """Draw which colour is which cause above the rows, in inches from the top of the axes."""
    dots = ax.get_figure(root=True).dpi  # pyright: ignore[reportOptionalMemberAccess] -- axes are on a figure
    width, height = ax.get_window_extent().width / dots, ax.get_window_extent().height / dots
    for number, (cause, look) in enumerate(cause_looks(style).items()):
        x, y = ((number % 3) * 1.5 - 1.25) / width, 1 + (0.28 - 0.2 * (number // 3)) / height
        _draw_piece(ax, (x, y), (0.17 / width, 0.11 / height), look, ax.transAxes)
        middle = y + 0.055 / height
        ax.text(x + 0.23 / width, middle, _WORDS[cause], size=style.size - 0.5, va="center", transform=ax.transAxes)
