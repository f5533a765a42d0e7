"""Mode "human": the dashboard on the terminal, one below the other as the turns go."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import attrs
from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ycbench_env.units import iso_date
from ycbench_env.viewer.scale import share
from ycbench_env.viewer.summary import count_tasks, funds_samples, open_tasks
from ycbench_env.viewer.wording import dollars, ending, moment, runway, short_dollars, time_left

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from ycbench_env.observation.dashboard import Dashboard, TaskLine

__all__ = ["print_dashboard"]

_RIGHT: Final = 64  # cells of the right column, so that no name of a client is cut
_WIDE: Final = 144  # cells from which there are two columns
_FRAME: Final = 4  # cells that a panel's border and padding take
_LABEL: Final = 8  # cells for the amounts at the side of the chart
_MOST_TASKS: Final = 8
_MOST_EMPLOYEES: Final = 12
_CHART_ROWS: Final = 5
_WORK_CELLS: Final = 16  # the longest domain; more than one domain is cut
_BAR_CELLS: Final = 12
_SHORT_RUNWAY: Final = 2.0  # months, from which on the runway is shown as a warning


@attrs.frozen
class _Glyphs:
    """Signs to draw with; ``steps`` fills a cell of the chart from empty to full."""

    full: str
    empty: str
    steps: str
    future: str
    separator: str


_UNICODE: Final = _Glyphs("█", "░", " ▁▂▃▄▅▆▇█", "·", "  ·  ")
_ASCII: Final = _Glyphs("#", "-", " .:|#", ".", "  |  ")


def print_dashboard(board: Dashboard) -> None:
    """Print the dashboard to standard output, as wide as the terminal."""
    console = Console(file=sys.stdout)
    glyphs = _ASCII if console.options.ascii_only else _UNICODE
    with console.capture() as capture:
        console.print(_page(board, console.width, glyphs))
    encoding = console.encoding
    # A name may have signs that the output's encoding lacks; they must not end the episode.
    sys.stdout.write(capture.get().encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _page(board: Dashboard, width: int, glyphs: _Glyphs) -> RenderableType:
    wide = width >= _WIDE
    left = width - _RIGHT if wide else width
    head, funds, tasks = _head(board, glyphs), _funds(board, left, glyphs), _tasks(board, glyphs)
    clients = [_clients(board, glyphs)] if board.clients else []
    prestige, staff = _prestige(board, glyphs), _staff(board)
    if wide:
        return Group(head, _side_by_side(Group(funds, tasks), Group(*clients, prestige, staff), left))
    return Group(head, funds, tasks, *clients, _side_by_side(prestige, staff, width // 2))


def _side_by_side(left: RenderableType, right: RenderableType, left_cells: int) -> Table:
    grid = Table.grid(expand=True)
    grid.add_column(width=left_cells)
    grid.add_column(ratio=1)
    grid.add_row(left, right)
    return grid


def _panel(title: str, content: RenderableType, note: str = "") -> Panel:
    heading = Text.assemble((title, "bold"), (f"  {note}" if note else "", "dim"))
    return Panel(content, title=heading, title_align="left", box=box.ROUNDED, border_style="bright_black")


def _table(*headings: str) -> Table:
    """Return an empty table; a heading that starts with ">" stands over figures, on the right."""
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="dim", show_edge=False)
    for heading in headings:
        side = "right" if heading.startswith(">") else "left"
        table.add_column(heading.removeprefix(">"), justify=side, no_wrap=True, overflow="ellipsis")
    return table


def _head(board: Dashboard, glyphs: _Glyphs) -> Panel:
    facts = (
        ("funds", dollars(board.funds_cents), "bold red" if board.funds_cents < 0 else "bold green"),
        ("payroll", f"{dollars(board.monthly_payroll_cents)} a month", "bold"),
        ("runway", runway(board), _runway_style(board)),
    )
    line = Text(glyphs.separator).join(
        [Text.assemble((f"{name} ", "dim"), (value, style)) for name, value, style in facts]
    )
    counts = (
        (count_tasks(board, "completed_success"), "succeeded"),
        (count_tasks(board, "completed_fail"), "failed"),
        (count_tasks(board, "cancelled"), "cancelled"),
    )
    tasks = Text(f"tasks {', '.join(f'{count} {word}' for count, word in counts)}", "dim")
    if board.next_payroll_us is not None:
        tasks.append(f"{glyphs.separator}next payroll {iso_date(board.next_payroll_us)}")
    for row in (line, tasks):
        row.no_wrap, row.overflow = True, "ellipsis"
    return Panel(Group(_title(board), line, tasks), box=box.HEAVY, border_style="blue")


def _title(board: Dashboard) -> Table:
    over = ending(board)
    right = Text(f"  turn {board.turn}, {moment(board.now_us)}")
    if over is not None:
        right = Text.assemble((f" {over.upper()} ", "bold reverse"), right)
    grid = Table.grid(expand=True)
    grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    grid.add_column(justify="right", no_wrap=True)
    grid.add_row(Text(board.company_name, "bold"), right)
    return grid


def _runway_style(board: Dashboard) -> str:
    months = board.runway_months
    return "bold red" if months is not None and months < _SHORT_RUNWAY else "bold"


def _funds(board: Dashboard, width: int, glyphs: _Glyphs) -> Panel:
    cells = max(width - _FRAME - _LABEL, 10)
    samples = funds_samples(board, cells)
    top = max([cents for _, cents in board.funds_history] + [1])
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(justify="right", width=_LABEL - 1, no_wrap=True)
    grid.add_column(width=cells, no_wrap=True)
    for row in reversed(range(_CHART_ROWS)):
        label = short_dollars(top) if row == _CHART_ROWS - 1 else "$0" if row == 0 else ""
        grid.add_row(Text(label, "dim"), _chart_row(samples, top, row, glyphs))
    begin, end = iso_date(board.start_us), iso_date(board.horizon_us)
    grid.add_row("", Text(begin + end.rjust(cells - len(begin)), "dim"))
    return _panel("Funds", grid, "over the whole horizon")


def _chart_row(samples: Sequence[int | None], top: int, row: int, glyphs: _Glyphs) -> Text:
    """Return a row of the chart, row 0 at the bottom; debt is an x on the bottom row."""
    line = Text()
    steps = len(glyphs.steps) - 1
    for cents in samples:
        if cents is None:
            line.append(glyphs.future if row == 0 else " ", "dim")
        elif cents < 0:
            line.append("x" if row == 0 else " ", "bold red")
        else:
            level = round(cents / top * _CHART_ROWS * steps) - row * steps
            line.append(glyphs.steps[min(max(level, 0), steps)], "green")
    return line


def _tasks(board: Dashboard, glyphs: _Glyphs) -> Panel:
    tasks = open_tasks(board)
    note = f"{count_tasks(board, 'active')} active, {count_tasks(board, 'planned')} planned"
    if len(tasks) > _MOST_TASKS:
        note += f", the first {_MOST_TASKS} shown"
    if not tasks:
        return _panel("Open tasks", Text("nothing accepted, nothing planned", "dim italic"), note)
    client = ["client"] if board.clients else []
    table = _table("task", *client, "work", "done", ">", ">due")
    table.columns[1 + len(client)].max_width = _WORK_CELLS
    for task in tasks[:_MOST_TASKS]:
        table.add_row(*_task_cells(task, board.now_us, glyphs))
    return _panel("Open tasks", table, note)


def _task_cells(task: TaskLine, now_us: int, glyphs: _Glyphs) -> tuple[Text, ...]:
    late = now_us > task.deadline_us
    planned = task.status == "planned"
    return (
        Text(task.task_id, "bold"),
        *([] if task.client_name is None else [Text(task.client_name)]),
        Text("+".join(task.domains)),
        Text("planned", "dim") if planned else _bar(task.progress_pct, 100, "red" if late else "cyan", glyphs),
        Text("" if planned else f"{task.progress_pct:.0f}%"),
        Text(time_left(task.deadline_us, now_us), "bold red" if late else "dim"),
    )


def _clients(board: Dashboard, glyphs: _Glyphs) -> Panel:
    table = _table("client", "tier", "trust", ">", ">ok", ">failed")
    for client in board.clients:
        table.add_row(
            Text(client.name),
            Text(client.tier, "dim"),
            _bar(client.trust, board.trust_max, "magenta", glyphs),
            Text(f"{client.trust:.2f}"),
            Text(str(client.succeeded), "green" if client.succeeded else "dim"),
            Text(str(client.failed), "red" if client.failed else "dim"),
        )
    return _panel("Trust", table, f"0 to {board.trust_max:g}")


def _prestige(board: Dashboard, glyphs: _Glyphs) -> Panel:
    table = _table("domain", "level", ">")
    for domain, value in board.prestige.items():
        table.add_row(Text(domain), _bar(value, board.prestige_max, "yellow", glyphs), Text(f"{value:.2f}"))
    return _panel("Prestige", table, f"up to {board.prestige_max:g}")


def _staff(board: Dashboard) -> Panel:
    table = _table("name", "tier", ">a month", ">active tasks")
    for employee in board.employees[:_MOST_EMPLOYEES]:
        table.add_row(
            Text(employee.name),
            Text(employee.tier, "dim"),
            Text(dollars(employee.salary_cents)),
            Text(str(employee.active_tasks), "cyan" if employee.active_tasks else "dim"),
        )
    count = len(board.employees)
    return _panel(
        "Staff", table, f"{count}, the first {_MOST_EMPLOYEES} shown" if count > _MOST_EMPLOYEES else str(count)
    )


def _bar(value: float, full: float, colour: str, glyphs: _Glyphs) -> Text:
    filled = round(share(value, full) * _BAR_CELLS)
    return Text.assemble((glyphs.full * filled, colour), (glyphs.empty * (_BAR_CELLS - filled), "bright_black"))
