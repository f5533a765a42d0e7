"""Which figures an evaluation has: what each shows, how to read it, and how it is drawn."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.figure.canvas import Frame, new_panels
from ycbench_agents.evaluation.figure.cells import draw_grid, grid_room
from ycbench_agents.evaluation.figure.column import seeds_of, texts, values_of
from ycbench_agents.evaluation.figure.context import draw_funds_by_context, funds_by_context
from ycbench_agents.evaluation.figure.context_line import KEEP_TURNS
from ycbench_agents.evaluation.figure.failure import draw_failure_causes
from ycbench_agents.evaluation.figure.funds import draw_funds_by_month, funds_scale
from ycbench_agents.evaluation.figure.grid import calls_grid, client_policy_grid, final_trust_grid
from ycbench_agents.evaluation.figure.order import ordered
from ycbench_agents.evaluation.figure.range import (
    draw_adversarial_share,
    draw_final_funds,
    draw_revenue_per_dollar,
    draw_trusted_share,
    upper_bounds,
)
from ycbench_agents.evaluation.figure.seeds import funds_by_seed
from ycbench_agents.evaluation.figure.short_name import short_names
from ycbench_agents.evaluation.measurement import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pandas as pd  # pyright: ignore[reportMissingTypeStubs] -- it has none, and is typed all the same
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ycbench_agents.evaluation.episode import Episode, EpisodeKey
    from ycbench_agents.evaluation.figure.cells import Grid
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.old_suite import Suite

__all__ = ["FigurePlan", "figure_plans"]

_CURVES: Final = Frame(width=2.35, height=3.3, left=0.62, right=2.0, top=0.3, bottom=0.5)
_CONTEXT: Final = Frame(width=2.75, height=2.6, left=0.62, right=1.6, top=0.3, bottom=0.5)
_BARS: Final = Frame(width=2.65, height=0.24, left=1.4, right=0.92, top=0.3, bottom=0.5)
_CAUSES: Final = Frame(width=2.95, height=0.24, left=1.4, right=0.62, top=0.6, bottom=0.5)
_FEWEST_ROWS: Final = 2
_DOTS: Final = "Bars are means over seeds, dots are seeds"


@attrs.frozen
class FigurePlan:
    """A figure that may be drawn.

    Args:
        name: Name of its file, after that of the preset.
        title: What it shows.
        note: How to read it.
        frame: What is drawn.
        column: Column without whose values there is nothing to draw.
        reason: Why there may be none.
        lack: What a policy that is not in the figure is without.
        make: Draws it.
        is_count: Whether zeros are nothing to draw either.
        has_rows_for_all: Whether policies with nothing to draw are drawn all the same, if any has something.
        policies: Whom it is about; None for all.
        names: Short names of all that it may name, by name; those of policies are the same in every figure of a suite.
    """

    name: str
    title: str
    note: str
    frame: pd.DataFrame
    column: str
    reason: str
    lack: str
    make: Callable[[pd.DataFrame], Figure]
    is_count: bool = False
    has_rows_for_all: bool = False
    policies: frozenset[str] | None = None
    names: Mapping[str, str] = attrs.field(factory=dict[str, str])

    @property
    def has_values(self) -> bool:
        """Whether there is something to draw."""
        return bool(_with_values(self.frame, self.column, is_count=self.is_count))

    @property
    def shown(self) -> frozenset[str]:
        """Who is in the figure."""
        if self.has_rows_for_all:
            return frozenset(texts(self.frame, "policy"))
        return _with_values(self.frame, self.column, is_count=self.is_count)

    def concerns(self, policy: str) -> bool:
        """Return whether the figure would have a policy, had it been played."""
        return self.policies is None or policy in self.policies


def figure_plans(
    suite: Suite, measures: Mapping[EpisodeKey, RunMeasures], episodes: Iterable[Episode] = ()
) -> list[FigurePlan]:
    """Return the figures of one configuration, policies in the order of the measures.

    Args:
        suite: The suite.
        measures: Measures of finished episodes.
        episodes: These episodes, whose records know the models that the command line named.
    """
    order = list(dict.fromkeys(key.policy for key in measures))
    names = short_names([*(row.label for row in suite.policies), *order])
    shown = {policy: names[policy] for policy in order}
    plans = [*_money_plans(measures, shown), *_client_plans(suite, measures, shown), *_command_plans(measures, shown)]
    plans = [attrs.evolve(plan, names=shown) for plan in plans]
    plans.extend(_context_plans(suite, measures, list(episodes), names))
    return [attrs.evolve(plan, frame=ordered(plan.frame, order)) for plan in plans]


def _money_plans(measures: Mapping[EpisodeKey, RunMeasures], names: Mapping[str, str]) -> list[FigurePlan]:
    funds, efficiency = frames.funds_by_month(measures), frames.efficiency(measures)
    several, root = len(seeds_of(funds)) > 1, ", amounts as square roots" if funds_scale(funds).is_root else ""
    bound = " Hollow bars with \u2264: turns of unknown cost are not counted, so it is less." * bool(
        upper_bounds(efficiency)
    )
    return [
        FigurePlan(
            "funds",
            "Funds by month",
            "Means over seeds; a bankrupt company has 0 from then on (paper, figure 2).",
            funds,
            "funds_cents",
            "no run has a month.",
            "without a month",
            _panel(partial(draw_funds_by_month, names=names), _CURVES),
        ),
        FigurePlan(
            "funds-by-seed",
            "Funds by month, seed by seed",
            f"Means over repeats, all to one scale{root} (paper, figure 8).",
            funds if several else frames.funds_by_month({}),
            "funds_cents",
            "there is but one seed, so it would be the figure of all.",
            "without a month",
            partial(funds_by_seed, names=names),
        ),
        FigurePlan(
            "final-funds",
            "Final funds",
            f"{_DOTS}; a bankrupt company counts 0 (paper, figure 7).",
            frames.outcomes(measures),
            "final_funds_cents",
            "no run has funds.",
            "without funds",
            _rows(partial(draw_final_funds, names=names), _BARS, "final_funds_cents"),
        ),
        FigurePlan(
            "revenue-per-dollar",
            "Revenue for a dollar of cost",
            f"Simulated rewards by the model's cost. {_DOTS} (paper, figure 5b).{bound}",
            efficiency,
            "revenue_per_usd",
            "no run has a known cost above 0.",
            "without a known cost above 0",
            _rows(partial(draw_revenue_per_dollar, names=names), _BARS, "revenue_per_usd"),
        ),
    ]


def _client_plans(
    suite: Suite, measures: Mapping[EpisodeKey, RunMeasures], names: Mapping[str, str]
) -> list[FigurePlan]:
    trust = frames.trust(measures)
    return [
        FigurePlan(
            "trusted-successes",
            "Successes that needed trust",
            f"Share of the tasks completed in time whose offer required trust. {_DOTS} (paper, figure 3a).",
            trust,
            "trusted_success_fraction",
            "there are no clients, or no task was completed in time.",
            "without a task completed in time",
            _rows(partial(draw_trusted_share, names=names), _BARS, "trusted_success_fraction"),
        ),
        FigurePlan(
            "final-trust",
            "Trust at the end",
            f"Mean over seeds, {_trust_range(suite, measures)}; adv. marks adversarial clients (paper, figure 3b).",
            trust,
            "final_trust",
            "there are no clients.",
            "without clients",
            _cells(final_trust_grid, names),
        ),
        FigurePlan(
            "adversarial-share",
            "Tasks of adversarial clients",
            f"Share of the accepted tasks; the dashed line is their share of the market. {_DOTS} (paper, figure 4a).",
            frames.acceptance(measures),
            "adversarial_fraction",
            "there are no clients, or no task was accepted.",
            "without an accepted task",
            _rows(partial(draw_adversarial_share, names=names), _BARS, "adversarial_fraction"),
        ),
        FigurePlan(
            "client-policy",
            "Client policy in the notes",
            "Clients to work with (select), to avoid (avoid), both or none (paper, figure 4b).",
            frames.client_policy(measures),
            "writes",
            "there are no clients, or no run wrote notes.",
            "without notes",
            _cells(client_policy_grid, names),
            is_count=True,
            has_rows_for_all=True,
        ),
    ]


def _trust_range(suite: Suite, measures: Mapping[EpisodeKey, RunMeasures]) -> str:
    """Return between what trust lies in the configuration that was played."""
    played = {key.preset for key in measures}
    most = max((each.config.world.trust_max for each in suite.presets if each.label in played), default=5.0)
    return f"from 0 (none) to {most:g} (full)"


def _command_plans(measures: Mapping[EpisodeKey, RunMeasures], names: Mapping[str, str]) -> list[FigurePlan]:
    return [
        FigurePlan(
            "failure-causes",
            "Why tasks failed",
            "All failed tasks, each with one cause (paper, figure 5a).",
            frames.failures(measures),
            "failures",
            "no task failed.",
            "without a failed task",
            _rows(partial(draw_failure_causes, names=names), _CAUSES, "failures", is_count=True),
            is_count=True,
        ),
        FigurePlan(
            "calls",
            "Calls by command",
            "Commands of a run, refused ones included, means over seeds (paper, figure 9).",
            frames.calls(measures),
            "calls",
            "no command was said.",
            "without a command",
            _cells(calls_grid, names),
        ),
    ]


def _context_plans(
    suite: Suite, measures: Mapping[EpisodeKey, RunMeasures], episodes: list[Episode], names: Mapping[str, str]
) -> list[FigurePlan]:
    """Return the figure of appendix E, where any policies differ in the number of turns that they keep."""
    kept = {row.label: turns for row in suite.policies if isinstance(turns := row.parameters.get(KEEP_TURNS), int)}
    if len(set(kept.values())) < 2:  # noqa: PLR2004 -- nothing to compare
        return []
    frame = funds_by_context(suite, measures, episodes)
    lines = short_names(texts(frame, "model"), given=names)
    return [
        FigurePlan(
            "context",
            "Funds against turns kept in context",
            "Means over seeds. Policies of a line differ in nothing else (paper, figure 10).",
            frame if _has_line(frame) else frames.outcomes({}),
            "final_funds_cents",
            "there are no two finished policies that differ in the turns kept, and in nothing else.",
            "without funds",
            _panel(partial(draw_funds_by_context, names=lines), _CONTEXT),
            policies=frozenset(kept),
            names=lines,
        )
    ]


def _has_line(frame: pd.DataFrame) -> bool:
    """Return whether any line has two points."""
    points = set(zip(texts(frame, "model"), texts(frame, "keep_turns"), strict=True))
    return len({model for model, _ in points}) < len(points)


def _panel(draw: Callable[[Axes, pd.DataFrame], None], room: Frame) -> Callable[[pd.DataFrame], Figure]:
    """Return what draws one panel."""

    def make(frame: pd.DataFrame) -> Figure:
        panels = new_panels(room)
        draw(panels.axes[0], frame)
        return panels.figure

    return make


def _rows(
    draw: Callable[[Axes, pd.DataFrame], None], room: Frame, column: str, *, is_count: bool = False
) -> Callable[[pd.DataFrame], Figure]:
    """Return what draws one panel with a row for each policy that has a value; the room's height is that of a row."""

    def make(frame: pd.DataFrame) -> Figure:
        count = max(len(_with_values(frame, column, is_count=is_count)), _FEWEST_ROWS)
        return _panel(draw, attrs.evolve(room, height=room.height * count))(frame)

    return make


def _with_values(frame: pd.DataFrame, column: str, *, is_count: bool) -> frozenset[str]:
    """Return the policies with a value in a column; of a count, with one above 0."""
    rows = zip(texts(frame, "policy"), values_of(frame, column), strict=True)
    return frozenset(policy for policy, value in rows if value is not None and not (is_count and value == 0))


def _cells(grid_of: Callable[[pd.DataFrame], Grid], names: Mapping[str, str]) -> Callable[[pd.DataFrame], Figure]:
    """Return what draws a grid of cells."""

    def make(frame: pd.DataFrame) -> Figure:
        grid = attrs.evolve(grid_of(frame), names=names)
        panels = new_panels(grid_room(grid))
        draw_grid(panels.axes[0], grid)
        return panels.figure

    return make
