"""Mode "human": the dashboard on the terminal, one below the other as the turns go."""

import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from rich.columns import Columns
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ycbench_env.viewer.dashboard import Dashboard, moment, short_dollars, time_left, whole_dollars

_FRAME: Final = 4  # cells that a panel's border and padding take
_MOST_ROWS: Final = 12
_BAR_CELLS: Final = 12
_STEPS: Final = "▁▂▃▄▅▆▇█"


def print_dashboard(board: Dashboard) -> None:
    """Print the dashboard to standard output, as wide as the terminal."""
    console = Console(file=sys.stdout)
    trust, prestige = board.trust_max, board.prestige_max
    tasks = [
        (
            Text(task.task_id, "bold"),
            *([] if task.client_name is None else [task.client_name]),
            "+".join(task.domains),
            Text("planned", "dim") if task.status == "planned" else _bar(task.progress_pct, 100, "cyan"),
            f"{task.progress_pct:.0f}%",
            Text(time_left(task.deadline_us, board.now_us), "bold red" if board.now_us > task.deadline_us else "dim"),
        )
        for task in board.open_tasks
    ]
    clients = [
        (one.name, one.tier, _bar(one.trust, trust, "magenta"), f"{one.trust:.2f}", f"{one.succeeded}", f"{one.failed}")
        for one in board.clients
    ]
    levels = [(name, _bar(value, prestige, "yellow"), f"{value:.2f}") for name, value in board.prestige.items()]
    staff = [(one.name, one.tier, whole_dollars(one.salary_cents), f"{one.active_tasks}") for one in board.employees]
    task_headings = ["task", *(["client"] if board.clients else []), "work", "done", ">", ">due"]
    counts = f"{board.count('active')} active, {board.count('planned')} planned"
    panels = [
        _head(board, console.width - _FRAME),
        _panel("Open tasks", counts, task_headings, tasks),
        *(
            [
                _panel(
                    "Trust",
                    f"0 to {trust:g}",
                    ["client", "tier", "trust", ">", ">ok", ">failed"],
                    clients,
                    len(clients),
                )
            ]
            if clients
            else []
        ),
        Columns(
            [
                _panel("Prestige", f"up to {prestige:g}", ["domain", "level", ">"], levels),
                _panel("Staff", f"{len(staff)}", ["name", "tier", ">a month", ">active tasks"], staff),
            ],
            expand=True,
        ),
    ]
    with console.capture() as capture:
        console.print(Group(*panels))
    # A name may have signs that the output's encoding lacks; they must not end the episode.
    sys.stdout.write(capture.get().encode(console.encoding, "replace").decode(console.encoding))
    sys.stdout.flush()


def _head(board: Dashboard, width: int) -> Panel:
    payday = "" if board.next_payroll_us is None else f", next {moment(board.next_payroll_us)}"
    counts = {"completed_success": "succeeded", "completed_fail": "failed", "cancelled": "cancelled"}
    over = "" if board.ending is None else f" {board.ending.upper()} "
    lines = [
        Text.assemble((over, "bold reverse"), "  " if over else "", f"turn {board.turn}, {moment(board.now_us)}"),
        Text.assemble(
            "funds ",
            (whole_dollars(board.funds_cents), "bold red" if board.funds_cents < 0 else "bold green"),
            f"  runway {board.runway}",
        ),
        Text(f"payroll {whole_dollars(board.monthly_payroll_cents)} a month{payday}"),
        Text("tasks " + ", ".join(f"{board.count(status)} {word}" for status, word in counts.items()), "dim"),
        _funds_chart(board, width),
    ]
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Panel(Group(*lines), title=Text(board.company_name, "bold"), title_align="left", border_style="blue")


def _funds_chart(board: Dashboard, width: int) -> Text:
    """Return a line of bars over the whole horizon, each the funds at its end; debt is an x, the future a dot."""
    top = max([cents for _, cents in board.funds_history] + [1])
    line = Text(f"{short_dollars(top)} ", "dim")
    cells = width - len(line)
    times = [time_us for time_us, _ in board.funds_history]
    for cell in range(cells):
        begin, end = (
            board.start_us + (board.horizon_us - board.start_us) * place // cells for place in (cell, cell + 1)
        )
        cents = board.funds_history[bisect_right(times, end) - 1][1]
        if begin > board.now_us:
            line.append("·", "dim")
        elif cents < 0:
            line.append("x", "bold red")
        else:
            line.append(_STEPS[round(cents / top * (len(_STEPS) - 1))], "green")
    return line


def _panel(
    title: str, note: str, headings: Sequence[str], rows: Sequence[Iterable[str | Text]], most: int = _MOST_ROWS
) -> Panel:
    """Return a table in a frame; a heading that starts with ">" stands over figures, on the right."""
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="dim")
    for heading in headings:
        side = "right" if heading.startswith(">") else "left"
        table.add_column(heading.removeprefix(">"), justify=side, no_wrap=True)
    for row in rows[:most]:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))  # names are no markup
    if len(rows) > most:
        note += f", the first {most} shown"
    heading = Text.assemble((title, "bold"), (f"  {note}", "dim"))
    return Panel(table, title=heading, title_align="left", border_style="bright_black")


def _bar(value: float, full: float, colour: str) -> Text:
    filled = round(min(value / full, 1) * _BAR_CELLS) if full else 0
    return Text.assemble(("█" * filled, colour), ("░" * (_BAR_CELLS - filled), "bright_black"))
