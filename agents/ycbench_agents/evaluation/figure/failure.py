"""Why tasks failed, as shares of all failures (figure 5a of the paper)."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.figure.column import numbers, texts
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle
from ycbench_agents.evaluation.figure.wording import percent, shortened
from ycbench_agents.evaluation.measurement import FAILURE_CAUSES

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes

__all__ = ["draw_failure_causes"]

_WORDS: Final = {
    "adversarial_client": "adversarial client",
    "over_committed": "over-committed",
    "late_dispatch": "late dispatch",
    "understaffed": "understaffed",
    "out_of_reach": "out of reach",
}
_WORTH_A_NUMBER: Final = 0.09  # of the width


def draw_failure_causes(ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE) -> None:
    """Draw the causes of all failed tasks of each policy; each failed task has one cause.

    Args:
        ax: Where to draw.
        frame: Rows of policy, cause and failures, the number of a run's tasks that failed for the cause.
        style: Colours and letters.
    """
    counts = _counts(frame)
    for place, by_cause in enumerate(counts.values()):
        _draw_row(ax, place, by_cause, style)
    ax.set_xlim(0, 1)
    ax.set_ylim(max(len(counts), 1) - 0.5, -0.5)
    ax.set_yticks(range(len(counts)), [shortened(policy) for policy in counts])
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


def _colours(style: FigureStyle) -> dict[str, tuple[str, float]]:
    """Return colour and strength of each cause; the kinds of incapable teams share a colour."""
    return {
        "adversarial_client": (style.warning, 0.55),
        "over_committed": (style.accent, 0.55),
        "late_dispatch": (style.grey, 0.5),
        "understaffed": (style.grey, 0.32),
        "out_of_reach": (style.grey, 0.16),
    }


def _draw_row(ax: Axes, place: int, by_cause: dict[str, int], style: FigureStyle) -> None:
    total, left = sum(by_cause.values()), 0.0
    for cause in FAILURE_CAUSES:
        share = by_cause[cause] / total
        colour, strength = _colours(style)[cause]
        ax.barh(place, share, left=left, height=0.66, color=colour, alpha=strength, linewidth=0)
        if share > _WORTH_A_NUMBER:
            middle = left + share / 2
            ax.text(middle, place, percent(share), size=style.size - 1, color=style.ink, ha="center", va="center")
        left += share
    ax.text(1.03, place, f"{total:,}", color=style.ink, va="center", clip_on=False)


def _draw_key(ax: Axes, style: FigureStyle) -> None:
    """Draw which colour is which cause above the rows, in inches from the top of the axes."""
    height = ax.get_window_extent().height / ax.get_figure(root=True).dpi  # pyright: ignore[reportOptionalMemberAccess] -- axes are on a figure
    for number, cause in enumerate(FAILURE_CAUSES):
        colour, strength = _colours(style)[cause]
        x, y = (number % 3) * 0.5 - 0.4, 1 + (0.34 - 0.2 * (number // 3)) / height
        ax.plot(x, y, "s", ms=7, color=colour, alpha=strength, mew=0, transform=ax.transAxes, clip_on=False)
        ax.text(x + 0.03, y, _WORDS[cause], size=style.size - 0.5, va="center", transform=ax.transAxes)
