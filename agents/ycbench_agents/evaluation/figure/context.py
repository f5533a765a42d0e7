"""Score against the number of turns that a model may look back on (figure 10 of the paper)."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.figure.column import means_by_seed, numbers, texts
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle, looks
from ycbench_agents.evaluation.figure.wording import round_dollars, shortened
from ycbench_agents.evaluation.measurement import frames

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.suite import Suite

__all__ = ["draw_funds_by_context", "funds_by_context"]

_CENTS: Final = 100
_KEEP_TURNS: Final = "keep_turns"


def funds_by_context(suite: Suite, measures: Mapping[EpisodeKey, RunMeasures]) -> pd.DataFrame:
    """Return ``frames.outcomes`` of the policies that are given a context window, with who asks whom and the window.

    Args:
        suite: The suite, whose rows have the parameter ``keep_turns``.
        measures: Measures of its finished episodes.

    Returns:
        The rows of ``frames.outcomes``, with the columns model (the row's, else its policy's name) and keep_turns;
        runs of rows without a whole number of turns to keep are left out.
    """
    rows = {policy.label: policy for policy in suite.policies}
    kept = {label: turns for label, row in rows.items() if isinstance(turns := row.parameters.get(_KEEP_TURNS), int)}
    frame = frames.outcomes({key: run for key, run in measures.items() if key.policy in kept})
    policies = texts(frame, "policy")
    frame["model"] = [rows[each].model or rows[each].name for each in policies]
    frame["keep_turns"] = [kept[each] for each in policies]
    return frame


def draw_funds_by_context(ax: Axes, frame: pd.DataFrame, style: FigureStyle = HOUSE_STYLE) -> None:
    """Draw the score of each model against the turns kept in its context, means over seeds (appendix E).

    Args:
        ax: Where to draw.
        frame: Rows of model, keep_turns, seed and final_funds_cents.
        style: Colours and letters.
    """
    keys = [f"{model}\0{turns:.0f}" for model, turns in _settings(frame)]
    scores = [max(value or 0.0, 0.0) / _CENTS for value in numbers(frame, "final_funds_cents")]
    means = {key: fmean(seeds.values()) for key, seeds in means_by_seed(keys, texts(frame, "seed"), scores).items()}
    models = list(dict.fromkeys(texts(frame, "model")))
    look = looks(models, style)
    for model in models:
        points = sorted((int(key.split("\0")[1]), mean) for key, mean in means.items() if key.split("\0")[0] == model)
        turns, funds = [point[0] for point in points], [point[1] for point in points]
        ax.plot(turns, funds, color=look[model].colour, ls=look[model].dashes, marker="o", ms=5, clip_on=False)
        end, beside, colour = (turns[-1], funds[-1]), (8, 0), look[model].colour
        ax.annotate(shortened(model), end, beside, textcoords="offset points", color=colour, va="center")
    ax.set_ylim(0, max(max(means.values(), default=1.0), 1.0) * 1.05)
    ax.set_xticks(sorted({int(turns) for _, turns in _settings(frame)}))
    ax.set_xlabel("Turns kept in context")
    ax.set_title("Mean final funds", loc="left", color=style.grey)
    ax.locator_params(axis="y", nbins=5)
    ax.yaxis.set_major_formatter(lambda amount, _: round_dollars(amount))
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=True, axis="y")


def _settings(frame: pd.DataFrame) -> list[tuple[str, float]]:
    pairs = zip(texts(frame, "model"), numbers(frame, "keep_turns"), strict=True)
    return [(model, turns or 0.0) for model, turns in pairs]
