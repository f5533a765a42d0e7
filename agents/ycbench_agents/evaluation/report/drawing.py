"""Which figures a report has, and why another one is left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol, cast

import attrs

from ycbench_agents.evaluation.figure import (
    Frame,
    applied,
    draw_adversarial_share,
    draw_calls,
    draw_client_policy,
    draw_failure_causes,
    draw_final_funds,
    draw_final_trust,
    draw_funds_by_context,
    draw_funds_by_month,
    draw_legend,
    draw_revenue_per_dollar,
    draw_trusted_share,
    funds_by_context,
    funds_scale,
    new_panels,
    ordered,
    png_of,
    svg_of,
)
from ycbench_agents.evaluation.figure.column import seeds_of, texts, values_of
from ycbench_agents.evaluation.measurement import frames
from ycbench_agents.evaluation.report.part import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.report.result import PresetResults
    from ycbench_agents.evaluation.suite import Suite

__all__ = ["DrawFigures", "DrawnFigures", "drawn_figures"]

_CURVES: Final = Frame(width=2.35, height=3.3, left=0.62, right=2.0, top=0.3, bottom=0.5)
_SEED_CURVES: Final = Frame(width=1.72, height=1.4, left=0.62, right=0.14, top=0.35, bottom=0.5)
_CONTEXT: Final = Frame(width=2.75, height=2.6, left=0.62, right=1.6, top=0.3, bottom=0.5)
_BARS: Final = Frame(width=2.75, height=0.24, left=1.4, right=0.82, top=0.3, bottom=0.5)
_CAUSES: Final = Frame(width=2.95, height=0.24, left=1.4, right=0.62, top=0.6, bottom=0.5)
_SEED_CELLS: Final = Frame(width=3.4, height=0.26, left=1.4, right=0.15, top=0.3, bottom=0.06)
_CLIENT_CELLS: Final = Frame(width=2.6, height=0.26, left=1.4, right=0.97, top=1.25, bottom=0.06)
_CALL_CELLS: Final = Frame(width=2.75, height=0.25, left=1.35, right=0.87, top=1.05, bottom=0.06)
_LEGEND_ROW: Final = 0.22
_FEWEST_ROWS: Final = 2
_KEEP_TURNS: Final = "keep_turns"
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


@attrs.frozen
class _Plan:
    """A figure that may be drawn.

    Args:
        name: Name of its file, after that of the preset.
        title: What it shows.
        note: How to read it.
        frame: What is drawn.
        column: Column without whose values there is nothing to draw.
        reason: Why there may be none.
        make: Draws it.
        is_count: Whether a column of zeros is nothing to draw either.
    """

    name: str
    title: str
    note: str
    frame: pd.DataFrame
    column: str
    reason: str
    make: Callable[[pd.DataFrame], Figure]
    is_count: bool = False

    @property
    def has_values(self) -> bool:
        """Whether there is something to draw."""
        values = values_of(self.frame, self.column)
        return (
            any(value is not None and value != 0 for value in values)
            if self.is_count
            else any(value is not None for value in values)
        )


def drawn_figures(suite: Suite, results: PresetResults, place: int, *, with_png: bool = False) -> DrawnFigures:
    """Return the figures of one configuration, drawn; policies are in the order of their scores.

    Args:
        suite: The suite.
        results: Results of the configuration.
        place: Its place in the suite, from 1, which keeps names of files apart.
        with_png: Whether to draw PNGs, too.
    """
    if not results.has_finished:
        return DrawnFigures((), ("All figures: no episode was played to its end.",))
    prefix = f"{place}-{_FILE_SIGN.sub('-', results.preset).strip('-').lower()[:40] or 'preset'}"
    plans = [*_plans(results.measures()), *_context_plans(suite, results.measures())]
    drawings = tuple(_drawn(f"{prefix}-{plan.name}", plan, with_png=with_png) for plan in plans if plan.has_values)
    return DrawnFigures(drawings, tuple(f"{plan.title}: {plan.reason}" for plan in plans if not plan.has_values))


def _drawn(name: str, plan: _Plan, *, with_png: bool) -> Drawing:
    with applied(salt=name, transparent=True):
        figure = plan.make(plan.frame)
        # An id in CSS may not begin with a digit.
        return Drawing(
            name, plan.title, plan.note, svg_of(figure, f"figure-{name}"), png_of(figure) if with_png else None
        )


def _plans(measures: Mapping[EpisodeKey, RunMeasures]) -> list[_Plan]:
    """Return the figures of the paper's sections 4 and 5 and appendix D, policies in the order of the measures."""
    order = list(dict.fromkeys(key.policy for key in measures))
    plans = [*_money_plans(measures), *_client_plans(measures), *_command_plans(measures)]
    return [attrs.evolve(plan, frame=ordered(plan.frame, order)) for plan in plans]


def _money_plans(measures: Mapping[EpisodeKey, RunMeasures]) -> list[_Plan]:
    funds = frames.funds_by_month(measures)
    several = len(seeds_of(funds)) > 1
    return [
        _Plan(
            "funds",
            "Funds by month",
            "Means over seeds; a bankrupt company has 0 from then on (paper, figures 1 and 2).",
            funds,
            "funds_cents",
            "no run has a month.",
            _panel(draw_funds_by_month, _CURVES),
        ),
        _Plan(
            "funds-by-seed",
            "Funds by month, seed by seed",
            "Means over repeats, all to one scale (paper, figure 8).",
            funds if several else frames.funds_by_month({}),
            "funds_cents",
            "there is but one seed, so it would be the figure of all.",
            _by_seed,
        ),
        _Plan(
            "final-funds",
            "Final funds",
            "A bankrupt company counts 0 (paper, figure 7).",
            frames.outcomes(measures),
            "final_funds_cents",
            "no run has funds.",
            _rows(draw_final_funds, _BARS),
        ),
        _Plan(
            "revenue-per-dollar",
            "Revenue for a dollar of cost",
            "Simulated rewards by the model's cost (paper, figure 5b).",
            frames.efficiency(measures),
            "revenue_per_usd",
            "no run has a known cost above 0.",
            _rows(draw_revenue_per_dollar, _BARS),
        ),
    ]


def _client_plans(measures: Mapping[EpisodeKey, RunMeasures]) -> list[_Plan]:
    trust = frames.trust(measures)
    return [
        _Plan(
            "trusted-successes",
            "Successes that needed trust",
            "Share of the tasks completed in time whose offer required trust (paper, figure 3a).",
            trust,
            "trusted_success_fraction",
            "there are no clients, or no task was completed in time.",
            _rows(draw_trusted_share, _BARS),
        ),
        _Plan(
            "final-trust",
            "Trust at the end",
            "Mean over seeds, by client; adv. marks adversarial ones (paper, figure 3b).",
            trust,
            "final_trust",
            "there are no clients.",
            _rows(draw_final_trust, _CLIENT_CELLS),
        ),
        _Plan(
            "adversarial-share",
            "Tasks of adversarial clients",
            "Share of the accepted tasks; the dashed line is their share of the market (paper, figure 4a).",
            frames.acceptance(measures),
            "adversarial_fraction",
            "there are no clients, or no task was accepted.",
            _rows(draw_adversarial_share, _BARS),
        ),
        _Plan(
            "client-policy",
            "Client policy in the notes",
            "Clients to work with (select), to avoid (avoid), both or none (paper, figure 4b).",
            frames.client_policy(measures),
            "writes",
            "there are no clients, or no run wrote notes.",
            _rows(draw_client_policy, _SEED_CELLS),
            is_count=True,
        ),
    ]


def _command_plans(measures: Mapping[EpisodeKey, RunMeasures]) -> list[_Plan]:
    return [
        _Plan(
            "failure-causes",
            "Why tasks failed",
            "All failed tasks, each with one cause (paper, figure 5a).",
            frames.failures(measures),
            "failures",
            "no task failed.",
            _rows(draw_failure_causes, _CAUSES),
            is_count=True,
        ),
        _Plan(
            "calls",
            "Calls by command",
            "Commands of a run, refused ones included, means over seeds (paper, figure 9).",
            frames.calls(measures),
            "calls",
            "no command was said.",
            _rows(draw_calls, _CALL_CELLS, "command"),
        ),
    ]


def _panel(draw: Callable[[Axes, pd.DataFrame], None], room: Frame) -> Callable[[pd.DataFrame], Figure]:
    """Return what draws one panel."""

    def make(frame: pd.DataFrame) -> Figure:
        panels = new_panels(room)
        draw(panels.axes[0], frame)
        return panels.figure

    return make


def _rows(
    draw: Callable[[Axes, pd.DataFrame], None], room: Frame, column: str = "policy"
) -> Callable[[pd.DataFrame], Figure]:
    """Return what draws one panel with a row for each value of a column; the room's height is that of a row."""

    def make(frame: pd.DataFrame) -> Figure:
        count = max(len(set(texts(frame, column))), _FEWEST_ROWS)
        return _panel(draw, attrs.evolve(room, height=room.height * count))(frame)

    return make


def _by_seed(frame: pd.DataFrame) -> Figure:
    """Draw a panel for each seed, two beside each other, and below them which curve is whose."""
    seeds, policies = seeds_of(frame), list(dict.fromkeys(texts(frame, "policy")))
    legend = _LEGEND_ROW * -(-len(policies) // 3) + 0.1
    panels = new_panels(_SEED_CURVES, len(seeds), 2, legend)
    scale = funds_scale(frame)
    for axes, seed in zip(panels.axes, seeds, strict=True):
        here = cast("pd.DataFrame", frame[frame["seed"] == seed])
        draw_funds_by_month(axes, here, scale=scale, labels=False)
        axes.set_title(f"Seed {seed[:12]}", loc="left")  # pyright: ignore[reportUnknownMemberType] -- matplotlib's stubs
    if panels.foot is not None:
        draw_legend(panels.foot, policies)
    return panels.figure


def _context_plans(suite: Suite, measures: Mapping[EpisodeKey, RunMeasures]) -> list[_Plan]:
    """Return the figure of appendix E, where policies differ in the number of turns that they keep."""
    kept = [policy.parameters.get(_KEEP_TURNS) for policy in suite.policies]
    if len({turns for turns in kept if isinstance(turns, int)}) < 2:  # noqa: PLR2004 -- nothing to compare
        return []
    frame = funds_by_context(suite, measures)
    title, note = "Funds against turns kept in context", "Means over seeds (paper, figure 10)."
    reason = "no run of such a policy was played to its end."
    return [_Plan("context", title, note, frame, "final_funds_cents", reason, _panel(draw_funds_by_context, _CONTEXT))]
