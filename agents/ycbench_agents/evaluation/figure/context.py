"""Score against the number of turns that a model may look back on (figure 10 of the paper)."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.figure.column import means_by_seed, numbers, texts
from ycbench_agents.evaluation.figure.context_line import KEEP_TURNS, context_lines
from ycbench_agents.evaluation.figure.funds import label_curves
from ycbench_agents.evaluation.figure.lettering import LABEL_INCHES
from ycbench_agents.evaluation.figure.short_name import short_names
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle, looks
from ycbench_agents.evaluation.figure.wording import round_dollars
from ycbench_agents.evaluation.measurement import frames

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes

    from ycbench_agents.evaluation.episode import Episode, EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.old_suite import Suite

__all__ = ["draw_funds_by_context", "funds_by_context"]

_CENTS: Final = 100
_CLOSEST: Final = 0.08  # ticks, as a part of the width


def funds_by_context(
    suite: Suite, measures: Mapping[EpisodeKey, RunMeasures], episodes: Iterable[Episode] = ()
) -> pd.DataFrame:
    """Return ``frames.outcomes`` of the policies that are given a context window, with who asks whom and the window.

    Args:
        suite: The suite, whose rows have the parameter ``keep_turns``.
        measures: Measures of its finished episodes.
        episodes: ``evaluation.episodes``, whose records know the models that the command line named.

    Returns:
        The rows of ``frames.outcomes``, with the columns model and keep_turns; runs of rows without a whole number of
        turns to keep are left out. Policies of one model differ in nothing but keep_turns: where other things differ,
        what their labels begin with is written behind the model's name.
    """
    labels = {key.policy for key in measures}
    lines = context_lines(suite, labels, [each for each in episodes if each.key in measures])
    frame = frames.outcomes({key: run for key, run in measures.items() if key.policy in lines})
    policies = texts(frame, "policy")
    kept = {row.label: row.parameters.get(KEEP_TURNS) for row in suite.policies}
    frame["model"] = [lines[each] for each in policies]
    frame["keep_turns"] = [kept[each] for each in policies]
    return frame


def draw_funds_by_context(
    ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> None:
    """Draw the score of each model against the turns kept in context, means over seeds (appendix E).

    Args:
        ax: Where to draw.
        frame: Rows of policy, model, keep_turns, seed and final_funds_cents.
        style: Colours and letters.
        names: Short names by model, as ``short_names`` returns them; None for some of the frame alone.

    Raises:
        ValueError: Two policies would be one point.
    """
    lines = _lines(frame)
    look, short = looks(lines, style), short_names(lines, LABEL_INCHES, style.size - 0.5, names)
    for line, points in lines.items():
        turns, funds = list(points), list(points.values())
        ax.plot(turns, funds, color=look[line].colour, ls=look[line].dashes, marker="o", ms=5, clip_on=False)
    ax.set_ylim(0, max([max(points.values()) for points in lines.values()] + [1.0]) * 1.05)
    _mark_turns(ax, sorted({turns for points in lines.values() for turns in points}))
    ends = {line: list(points.items())[-1] for line, points in lines.items()}
    label_curves(ax, {short[line]: (*end, look[line].colour) for line, end in ends.items()}, style)
    ax.set_title("Mean final funds", loc="left", color=style.grey)
    ax.locator_params(axis="y", nbins=5)
    ax.yaxis.set_major_formatter(lambda amount, _: round_dollars(amount))
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=True, axis="y")


def _mark_turns(ax: Axes, turns: list[int]) -> None:
    """Mark the numbers of turns, but for those that have no room."""
    ax.set_xlabel("Turns kept in context")
    beside = 0.045 * max(turns[-1] - turns[0], 1)
    ax.set_xlim(turns[0] - beside, turns[-1] + beside)
    marked: list[int] = []
    for each in turns:
        if not marked or each - marked[-1] >= _CLOSEST * (turns[-1] - turns[0]):
            marked.append(each)
    ax.set_xticks(marked)


def _lines(frame: pd.DataFrame) -> dict[str, dict[int, float]]:
    """Return mean scores in dollars by line and turns kept, ascending.

    Raises:
        ValueError: Two policies would be one point.
    """
    policies = texts(frame, "policy")
    scores = [max(value or 0.0, 0.0) / _CENTS for value in numbers(frame, "final_funds_cents")]
    means = {policy: fmean(s.values()) for policy, s in means_by_seed(policies, texts(frame, "seed"), scores).items()}
    places = dict(zip(policies, zip(texts(frame, "model"), numbers(frame, "keep_turns"), strict=True), strict=True))
    lines: dict[str, dict[int, float]] = {line: {} for line, _ in places.values()}
    for policy, (line, turns) in sorted(places.items(), key=lambda item: item[1][1] or 0.0):
        if int(turns or 0) in lines[line]:
            msg = (
                f"frame: got {policy!r} and another policy with model {line!r} and {turns:.0f} turns, expected one; "
                "give them names of models of their own, as funds_by_context does"
            )
            raise ValueError(msg)
        lines[line][int(turns or 0)] = means[policy]
    return lines
