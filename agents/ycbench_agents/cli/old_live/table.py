"""Many runs, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.cli.old_live.chart import is_bankruptcy_near, sparkline
from ycbench_agents.cli.old_live.figures import CostTotal
from ycbench_agents.cli.old_live.layout import Column, Span, fit_middle, flow, new_line, row
from ycbench_agents.cli.old_live.wording import cost_total, harmless, remaining, short_count, short_dollars, state_word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.text import Text

    from ycbench_agents.cli.old_live.glyphs import Glyphs
    from ycbench_agents.cli.old_live.layout import Size
    from ycbench_agents.cli.old_live.state import RunView

__all__ = ["all_left_s", "runs_table"]

_STATES: Final = {"running": "green", "bankrupt": "red", "failed": "bold red", "stopped": "yellow", "waiting": "dim"}
_ORDER: Final = {"running": 0, "failed": 1, "stopped": 2, "waiting": 3, "finished": 4}
_HEAD: Final = 2  # lines above the rows
_SHORTEST_NAME: Final = 12
_LONGEST_NAME: Final = 60


@attrs.frozen
class _Field:
    """A column, and what it shows of a run."""

    column: Column
    show: Callable[[RunView, float, Glyphs], Span]


def runs_table(views: Sequence[RunView], began_s: float, now_s: float, size: Size, glyphs: Glyphs) -> list[Text]:
    """Return a table of at most so many lines: a summary, headings, runs.

    Args:
        views: The runs, in the order of their plans.
        began_s: When this process began to play, by the clock that turns were timed by, in seconds.
        now_s: Now, by the same clock.
        size: Room for it, at least 3 lines.
        glyphs: Signs to draw with.
    """
    fields = _fields(size.width)
    columns = [field.column for field in fields]
    room = size.height - _HEAD
    shown = list(views) if len(views) <= room else _chosen(views, room - 1)
    lines = _summary(views, began_s, now_s, size.width, glyphs)
    lines.append(row(columns, [Span(column.heading, "dim") for column in columns], glyphs))
    lines += [row(columns, [field.show(view, now_s, glyphs) for field in fields], glyphs) for view in shown]
    if len(shown) < len(views):
        lines.append(new_line(Span(f"and {len(views) - len(shown)} more", "dim")))
    return lines


def _chosen(views: Sequence[RunView], count: int) -> list[RunView]:
    """Return the runs that say most, in the order of their plans: those that run, then those with trouble."""
    ranked = sorted(range(len(views)), key=lambda place: (_ORDER[views[place].status], place))
    return [views[place] for place in sorted(ranked[:count])]


def all_left_s(views: Sequence[RunView], began_s: float, now_s: float) -> float | None:
    """Return the estimated seconds until all runs are over, None as long as there is nothing to judge by."""
    done = sum(view.progress - view.recorded_progress for view in views)
    to_do = sum(1 - view.progress for view in views)
    return (now_s - began_s) * to_do / done if done > 0 else None


def _summary(views: Sequence[RunView], began_s: float, now_s: float, width: int, glyphs: Glyphs) -> list[Text]:
    words = [state_word(view) for view in views]
    counts = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    left_s = all_left_s(views, began_s, now_s)
    left = "" if all(view.is_over for view in views) else _left(left_s)
    items = [
        Span(f"{len(views)} runs", "bold"),
        Span(counts),
        Span(f"{short_count(sum(view.turn for view in views))} turns"),
        Span(f"cost {_all_cost(views)}"),
        Span(f"left {left}" if left else "all over", "bold"),
    ]
    return flow(items, width, 1, glyphs)


def _all_cost(views: Sequence[RunView]) -> str:
    asked = [view.totals for view in views if view.totals.tokens.turns]
    if not asked:
        return "none"
    total = CostTotal(
        sum((each.cost.known_usd for each in asked), CostTotal().known_usd),
        sum(each.cost.unknown_turns for each in asked),
    )
    return cost_total(total, sum(each.tokens.turns for each in asked))


def _left(left_s: float | None) -> str:
    return "unknown" if left_s is None else remaining(left_s)


# ---- columns


def _fields(width: int) -> list[_Field]:
    """Return the columns that there is room for, the name first."""
    curve = min(max(width // 10, 8), 24)
    fields = [  # with the order in which they are left out, the last one first
        (6, _Field(Column("curve", curve), lambda view, _now, glyphs: _curve(view, curve, glyphs))),
        (0, _Field(Column("funds", 7, is_right=True), _funds)),
        (4, _Field(Column("date", 10), _date)),
        (1, _Field(Column("turn", 5, is_right=True), _turn)),
        (7, _Field(Column("tokens", 7, is_right=True), _tokens)),
        (5, _Field(Column("cost", 8, is_right=True), _cost)),
        (3, _Field(Column("left", 7, is_right=True), _time_left)),
        (2, _Field(Column("status", 8), _status)),
    ]
    while fields and _taken(fields) + _SHORTEST_NAME > width:
        fields.remove(max(fields, key=lambda field: field[0]))
    room = max(min(width - _taken(fields), _LONGEST_NAME), 1)
    name = _Field(Column("run", room), lambda view, _now, glyphs: _name(view, room, glyphs))
    return [name, *(field for _, field in fields)]


def _taken(fields: Sequence[tuple[int, _Field]]) -> int:
    return sum(field.column.cells + 1 for _, field in fields)


def _name(view: RunView, cells: int, glyphs: Glyphs) -> Span:
    return Span(fit_middle(harmless(view.name, 200, ascii_only=glyphs.ascii_only), cells, glyphs), "bold")


def _curve(view: RunView, cells: int, glyphs: Glyphs) -> Span:
    return Span(sparkline(view.funds, cells, glyphs), "red" if is_bankruptcy_near(view.funds) else "cyan")


def _funds(view: RunView, _now_s: float, _glyphs: Glyphs) -> Span:
    return Span(short_dollars(view.funds.now_cents), "red" if is_bankruptcy_near(view.funds) else "green")


def _date(view: RunView, _now_s: float, _glyphs: Glyphs) -> Span:
    return Span(view.sim_time.date().isoformat())


def _turn(view: RunView, _now_s: float, _glyphs: Glyphs) -> Span:
    return Span(str(view.turn))


def _tokens(view: RunView, _now_s: float, _glyphs: Glyphs) -> Span:
    """Return the tokens of prompts and replies together."""
    tokens = view.totals.tokens
    if not tokens.turns:
        return Span("none", "dim")
    if tokens.turns in {tokens.prompt.unknown_turns, tokens.completion.unknown_turns}:
        return Span("unknown", "dim")
    is_less = bool(tokens.prompt.unknown_turns or tokens.completion.unknown_turns)
    return Span(f"{short_count(tokens.prompt.known + tokens.completion.known)}{'+' if is_less else ''}")


def _cost(view: RunView, _now_s: float, _glyphs: Glyphs) -> Span:
    turns = view.totals.tokens.turns
    return Span(cost_total(view.totals.cost, turns)) if turns else Span("none", "dim")


def _time_left(view: RunView, now_s: float, _glyphs: Glyphs) -> Span:
    return Span("") if view.is_over or view.status == "waiting" else Span(_left(view.left_s(now_s)))


def _status(view: RunView, _now_s: float, _glyphs: Glyphs) -> Span:
    word = state_word(view)
    return Span(word, _STATES.get(word, ""))
