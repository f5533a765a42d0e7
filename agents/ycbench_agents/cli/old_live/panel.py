"""One run in detail: where it is, its funds, tasks, last commands, and what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
from rich import box
from rich.console import Group
from rich.panel import Panel

from ycbench_agents.cli.old_live.chart import Axis, draw_chart, is_bankruptcy_near
from ycbench_agents.cli.old_live.layout import Column, Size, Span, fit, fit_middle, flow, new_line, row
from ycbench_agents.cli.old_live.wording import (
    cost,
    cost_total,
    dollars,
    duration,
    harmless,
    remaining,
    short_dollars,
    state_word,
    token_sum,
)

if TYPE_CHECKING:
    from rich.text import Text

    from ycbench_agents.cli.old_live.glyphs import Glyphs
    from ycbench_agents.cli.old_live.state import RunView, SaidCommand
    from ycbench_agents.cli.old_live.work import Task

__all__ = ["run_panel"]

_FRAME: Final = Size(4, 2)  # cells and lines that border and padding take
_HEAD_LINES: Final = 2
_LABEL: Final = 8  # cells for the amounts at the side of the chart
_WIDE: Final = 120  # cells from which tasks and commands stand side by side
_NARROW: Final = 70  # cells below which the foot has more lines
_NARROW_TASKS: Final = 60  # cells below which columns are left out
_SHORTEST_BAR: Final = 6
_LONGEST_BAR: Final = 40
_MOST_ROWS: Final = 13  # of a section, its heading included
_MOST_CHART_ROWS: Final = 14
_MANY_LINES: Final = 9  # from which there is a chart, too
_CLIENT: Final = 24
_LONGEST_NAME: Final = 200
_LONGEST_TEXT: Final = 300
_DAY: Final = 10  # characters of a time that name its day
_FEW: Final = 2
_STATES: Final = {"running": "green", "bankrupt": "bold red", "failed": "bold red", "stopped": "yellow"}


@attrs.frozen
class _Rows:
    """How many lines each section has."""

    chart: int
    tasks: int
    commands: int
    foot: int

    @classmethod
    def of(cls, size: Size) -> _Rows:
        """Return the lines that fit; they depend on the size alone, so that nothing jumps as a run goes on."""
        foot = 3 if size.width >= _NARROW else 5
        rest = max(0, size.height - _HEAD_LINES - foot)
        if size.width >= _WIDE:
            lists = min(_MOST_ROWS, rest * 6 // 10)
            return cls(min(rest - lists, _MOST_CHART_ROWS), lists, lists, foot)
        chart = min(max(3, rest * 3 // 10), _MOST_CHART_ROWS) if rest >= _MANY_LINES else 0
        tasks = min(_MOST_ROWS, (rest - chart) * 5 // 12)
        tasks = tasks if tasks >= _FEW else 0
        return cls(chart, tasks, min(_MOST_ROWS, rest - chart - tasks), foot)


def run_panel(view: RunView, now_s: float, size: Size, glyphs: Glyphs) -> Panel:
    """Return a run in a frame.

    Args:
        view: The run.
        now_s: Now, by the clock that its turns were timed by, in seconds.
        size: Room for it, frame included.
        glyphs: Signs to draw with.
    """
    inner = Size(max(size.width - _FRAME.width, 1), max(size.height - _FRAME.height, 1))
    rows = _Rows.of(inner)
    lines = [
        *_head(view, now_s, inner.width, glyphs),
        *_funds(view, inner.width, rows.chart, glyphs),
        *_lists(view, inner.width, rows, glyphs),
        *_foot(view, now_s, inner.width, rows.foot, glyphs),
    ]
    title = new_line(Span(_name(view, inner.width, glyphs), "bold default"), Span(": "), _state(view))
    return Panel(
        Group(*(_whole(line) for line in lines[: inner.height])),
        title=title,
        title_align="left",
        box=box.ROUNDED,
        border_style="bright_black",
        width=size.width,
    )


def _whole(line: Text) -> Text:
    """Return a line with its break."""
    whole = line.copy()
    whole.end = "\n"
    return whole


def _name(view: RunView, width: int, glyphs: Glyphs) -> str:
    room = width - len(state_word(view)) - 4
    return fit_middle(harmless(view.name, _LONGEST_NAME, ascii_only=glyphs.ascii_only), room, glyphs)


def _state(view: RunView) -> Span:
    word = state_word(view)
    return Span(word, _STATES.get(word, "bold"))


# ---- head


def _head(view: RunView, now_s: float, width: int, glyphs: Glyphs) -> list[Text]:
    return [_progress(view, now_s, width, glyphs), *flow(_money(view), width, 1, glyphs)]


def _progress(view: RunView, now_s: float, width: int, glyphs: Glyphs) -> Text:
    """Return the line with date, bar, turn and the time that is left; the bar takes what room there is."""
    date = view.sim_time.isoformat(" ", "minutes")[: None if width >= _NARROW else _DAY]
    limit = "" if view.turn_limit is None else f" of {view.turn_limit:,}"
    left_s = view.left_s(now_s)
    left = "over" if view.is_over else "left unknown" if left_s is None else f"left {remaining(left_s)}"
    words = f"{view.fraction:.1%}  turn {view.turn:,}{limit}  {left}"
    room = min(width - len(date) - len(words) - 4, _LONGEST_BAR)
    if room < _SHORTEST_BAR:
        return new_line(Span(fit(f"{date}  {words}", width, glyphs)))
    done = int(view.fraction * room)
    bar = (Span(glyphs.full * done, "cyan"), Span(glyphs.empty * (room - done), "bright_black"))
    return new_line(Span(date, "bold"), Span("  "), *bar, Span(f"  {words}"))


def _money(view: RunView) -> list[Span]:
    funds, work = view.funds, view.work
    return [
        Span(f"funds {dollars(funds.now_cents)}", "bold red" if is_bankruptcy_near(funds) else "bold green"),
        Span(f"min {dollars(funds.min_cents)}"),
        Span(f"max {dollars(funds.max_cents)}"),
        Span(f"{work.succeeded} done, {work.failed} late, {work.cancelled} cancelled"),
    ]


# ---- funds


def _funds(view: RunView, width: int, rows: int, glyphs: Glyphs) -> list[Text]:
    if not rows:
        return []
    axis = Axis.of(view.funds)
    near = is_bankruptcy_near(view.funds)
    chart = draw_chart(view.funds, axis, max(width - _LABEL - 1, 1), rows, glyphs)
    labels = dict.fromkeys(range(rows), "")
    labels[0], labels[rows - 1] = short_dollars(axis.high), short_dollars(axis.low)
    if chart.zero_row is not None:
        labels[chart.zero_row] = "$0"
    lines: list[Text] = []
    for number, drawn in enumerate(chart.rows):
        is_zero = number == chart.zero_row
        label = Span(labels[number].rjust(_LABEL), "bold red" if is_zero and near else "bright_black")
        bars = Span(drawn.rstrip(glyphs.zero), "red" if near else "cyan")
        rest = Span(drawn[len(bars.text) :], "red" if near else "bright_black")
        lines.append(new_line(label, Span(" "), bars, rest))
    return lines


# ---- tasks and commands


def _lists(view: RunView, width: int, rows: _Rows, glyphs: Glyphs) -> list[Text]:
    if width < _WIDE:
        return [*_tasks(view, width, rows.tasks, glyphs), *_commands(view, width, rows.commands, glyphs)]
    left = (width - 3) // 2
    pairs = zip(
        _tasks(view, left, rows.tasks, glyphs),
        _commands(view, width - 3 - left, rows.commands, glyphs),
        strict=True,
    )
    return [_beside(task, left, command) for task, command in pairs]


def _beside(first: Text, cells: int, second: Text) -> Text:
    line = first.copy()
    line.pad_right(cells + 3 - first.cell_len)
    return line.append_text(second)


def _tasks(view: RunView, width: int, rows: int, glyphs: Glyphs) -> list[Text]:
    """Return the open tasks, active ones first, each by deadline."""
    if not rows:
        return []
    tasks = sorted(view.work.open.values(), key=lambda task: (task.status != "active", task.deadline or "9999"))
    columns = _task_columns(width)
    room = rows - 1
    shown = tasks if len(tasks) <= room else tasks[: max(room - 1, 0)]
    lines = [row(columns, [Span(column.heading, "dim") for column in columns], glyphs)]
    lines += [row(columns, _task_cells(task, view, width, glyphs), glyphs) for task in shown]
    if len(shown) < len(tasks) and room:
        lines.append(new_line(Span(f"and {len(tasks) - len(shown)} more" if shown else f"{len(tasks)} tasks", "dim")))
    elif not tasks and room:
        lines.append(new_line(Span("none", "dim")))
    return lines + [new_line()] * (rows - len(lines))


def _task_columns(width: int) -> list[Column]:
    if width < _NARROW_TASKS:
        fixed = [Column("status", 8), Column("due", 11), Column("team", 4, is_right=True)]
        return [Column("open task", max(width - 26, 4)), *fixed]
    client = max(min(width - 49, _CLIENT), 4)
    return [
        Column("open task", 12),
        Column("status", 8),
        Column("client", client),
        Column("reward", 8, is_right=True),
        Column("due", 11),
        Column("team", 4, is_right=True),
    ]


def _task_cells(task: Task, view: RunView, width: int, glyphs: Glyphs) -> list[Span]:
    def shown(text: str | None) -> str:
        return "?" if text is None else harmless(text, width, ascii_only=glyphs.ascii_only)

    is_late = task.deadline is not None and task.deadline < view.sim_time.isoformat()
    status = Span(shown(task.status), "green" if task.status == "active" else "yellow")
    due = Span(f"{shown(task.deadline)[:_DAY]}{'!' if is_late else ''}", "bold red" if is_late else "")
    team = Span(_team(task))
    if width < _NARROW_TASKS:
        return [Span(shown(task.task_id), "bold"), status, due, team]
    reward = Span("?" if task.reward_cents is None else short_dollars(task.reward_cents))
    return [Span(shown(task.task_id), "bold"), status, Span(shown(task.client)), reward, due, team]


def _team(task: Task) -> str:
    if task.team is None:  # nobody is on a task before somebody is assigned, unless that answer was missed
        return "0" if task.status == "planned" else "?"
    return str(task.team)


def _commands(view: RunView, width: int, rows: int, glyphs: Glyphs) -> list[Text]:
    """Return the last commands, the latest at the end."""
    if not rows:
        return []
    lines = [new_line(Span("last commands", "dim"))]
    lines += [_command(said, width, glyphs) for said in view.commands[-(rows - 1) :] if rows > 1]
    return lines + [new_line()] * (rows - len(lines))


def _command(said: SaidCommand, width: int, glyphs: Glyphs) -> Text:
    mark, style = {True: (glyphs.ok, "green"), False: (glyphs.refused, "red"), None: (glyphs.remark, "yellow")}[said.ok]
    text = harmless(said.text, 2 * width, ascii_only=glyphs.ascii_only)
    number = f"{said.turn:>4} "
    room = max(width - len(number) - 2, 0)
    if said.error is None:
        return new_line(Span(number, "dim"), Span(f"{mark} ", style), Span(fit(text, room, glyphs)))
    command = new_line(Span(number, "dim"), Span(f"{mark} ", style), Span(fit(text, max(room // 2, 12), glyphs)))
    error = harmless(said.error, 2 * width, ascii_only=glyphs.ascii_only)
    left = width - command.cell_len - 2
    return command.append_text(new_line(Span("  "), Span(fit(error, left, glyphs), "red")))


# ---- foot


def _foot(view: RunView, now_s: float, width: int, lines: int, glyphs: Glyphs) -> list[Text]:
    """Return tokens, costs, times and faults; on narrow screens they flow on."""
    parts = [_tokens(view), _times(view, now_s), _faults(view, glyphs)]
    if width < _NARROW:
        return flow([item for part in parts for item in part], width, lines, glyphs)
    return [line for part in parts for line in flow(part, width, 1, glyphs)]


def _tokens(view: RunView) -> list[Span]:
    tokens = view.totals.tokens
    if not tokens.turns:
        return [Span("tokens none: no model has been asked" if view.turn else "tokens none yet", "dim")]
    names = ("prompt", "cached", "completion", "reasoning")
    sums = (tokens.prompt, tokens.cached, tokens.completion, tokens.reasoning)
    return [
        Span("tokens"),
        *(Span(f"{name} {token_sum(s, tokens.turns)}") for name, s in zip(names, sums, strict=True)),
    ]


def _times(view: RunView, now_s: float) -> list[Span]:
    items: list[Span] = []
    if view.totals.tokens.turns and view.last:
        last = view.last
        items = [
            Span(f"cost {cost_total(view.totals.cost, view.totals.tokens.turns)}", "bold"),
            Span(f"(last {cost(last.cost_usd)})"),
            Span(f"model time {duration(view.totals.model_time_s)}"),
            Span(f"(last {'unknown' if last.latency_s is None else f'{last.latency_s:.1f}s'})"),
        ]
    if view.status == "running" and view.pace is not None:
        items.append(Span(f"this turn {duration(max(0.0, now_s - view.pace.last_s))}", "dim"))
    return items


def _faults(view: RunView, glyphs: Glyphs) -> list[Span]:
    totals = view.totals
    items = [Span(f"commands refused {totals.refused}"), Span(f"invalid {view.invalid_commands}")]
    if totals.tokens.turns:
        style = "yellow" if totals.faults else ""
        items += [Span(f"retries {totals.retries}"), Span(f"faults {totals.faults}", style)]
    if view.recorded_turns:
        items.append(Span(f"resumed after turn {view.recorded_turns}", "dim"))
    if view.reason is not None and view.status in {"stopped", "failed"}:
        reason = harmless(view.reason, _LONGEST_TEXT, ascii_only=glyphs.ascii_only)
        items.insert(0, Span(reason, "bold yellow", may_be_cut=True))
    elif totals.last_fault is not None:
        fault = harmless(totals.last_fault, _LONGEST_TEXT, ascii_only=glyphs.ascii_only)
        items.append(Span(f"last: {fault}", "yellow", may_be_cut=True))
    return items
