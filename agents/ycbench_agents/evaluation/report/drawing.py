"""The figures of a report, drawn, with their captions; and why another one is left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

import attrs

from ycbench_agents.evaluation.figure import FigurePlan, applied, figure_plans, png_of, svg_of
from ycbench_agents.evaluation.report.cell import clean
from ycbench_agents.evaluation.report.part import Drawing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.report.result import PresetResults

__all__ = ["DrawFigures", "DrawnFigures", "caption_of", "drawn_figures", "key_of"]

_FILE_SIGN: Final = re.compile(r"[^A-Za-z0-9]+")


@attrs.frozen
class DrawnFigures:
    """The figures of one configuration.

    Args:
        drawings: Those that there is something to draw of.
        omitted: The others, each with the reason.
    """

    drawings: tuple[Drawing, ...]
    omitted: tuple[str, ...]


class DrawFigures(Protocol):
    """Draws the figures of one configuration, which has its place in the suite, from 1."""

    def __call__(self, suite: Suite, results: PresetResults, place: int) -> DrawnFigures:
        """Return them."""
        ...


def drawn_figures(
    suite: Suite, results: PresetResults, place: int, *, with_png: bool = False, episodes: Iterable[Episode] = ()
) -> DrawnFigures:
    """Return the figures of one configuration, drawn; policies are in the order of their scores.

    Args:
        suite: The suite.
        results: Results of the configuration.
        place: Its place in the suite, from 1, which keeps names of files apart.
        with_png: Whether to draw PNGs, too.
        episodes: ``evaluation.episodes``, whose records know the models that the command line named.
    """
    if not results.has_finished:
        return DrawnFigures((), ("All figures: no episode was played to its end.",))
    prefix = f"{place}-{_FILE_SIGN.sub('-', results.preset).strip('-').lower()[:40] or 'preset'}"
    plans = figure_plans(suite, results.measures(), episodes)
    drawings: list[Drawing] = []
    explained: dict[str, str] = {}
    for plan in (each for each in plans if each.has_values):
        new = {name: short for name, short in plan.names.items() if name not in explained}
        drawings.append(
            _drawn(prefix, plan, " ".join(filter(None, (caption_of(plan, results), key_of(new)))), with_png)
        )
        explained.update(new)
    return DrawnFigures(tuple(drawings), tuple(f"{plan.title}: {plan.reason}" for plan in plans if not plan.has_values))


def key_of(names: Mapping[str, str]) -> str:
    """Return which short names stand for which names, those that are not shortened aside; empty of none.

    Args:
        names: Short names by name.
    """
    said = [f"{short} = {clean(name)}" for name, short in names.items() if short != clean(name)]
    return f"Short names, here and in the figures that follow: {'; '.join(said)}." if said else ""


def _drawn(prefix: str, plan: FigurePlan, note: str, with_png: bool) -> Drawing:  # noqa: FBT001 -- as it was asked for
    name = f"{prefix}-{plan.name}"
    with applied(salt=name, transparent=True):
        figure = plan.make(plan.frame)
        # An id in CSS may not begin with a digit.
        svg = svg_of(figure, f"figure-{name}", names=plan.names)
        return Drawing(name, plan.title, note, svg, png_of(figure) if with_png else None)


def caption_of(plan: FigurePlan, results: PresetResults) -> str:
    """Return how to read a figure, and who is not in it or with less than was planned.

    Args:
        plan: The figure.
        results: Results of its configuration.
    """
    rows = [row for row in results.policies if plan.concerns(row.policy)]
    named = {
        "Without a finished episode": [row.policy for row in rows if not row.measures],
        plan.lack.capitalize(): [row.policy for row in rows if row.measures and row.policy not in plan.shown],
        "Without the episodes that failed or are missing": [
            row.policy for row in rows if row.policy in plan.shown and row.sample.tally.run < row.sample.tally.planned
        ],
    }
    return " ".join([plan.note, *(f"{what}: {', '.join(who)}." for what, who in named.items() if who)])
