"""Mode "human": the dashboard on the terminal, one below the other as the turns go."""

import sys
from typing import Final

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ycbench_env.viewer.dashboard import Dashboard, moment, short_dollars, time_left, whole_dollars

_FRAME: Final = 4  # cells that a panel's border and padding take
_MOST_TASKS: Final = 8
_MOST_EMPLOYEES: Final = 12
_BAR_CELLS: Final = 12
_STEPS: Final = "▁▂▃▄▅▆▇█"


def print_dashboard(board: Dashboard) -> None:
    """Print the dashboard to standard output, as wide as the terminal."""
    console = Console(file=sys.stdout)
    staff = Columns([_prestige(board), _staff(board)], expand=True)
    clients = [_clients(board)] if board.clients else []
    with console.capture() as capture:
        console.print(Group(_head(board, console.width), _tasks(board), *clients, staff))
    encoding = console.encoding
    # A name may have signs that the output's encoding lacks; they must not end the episode.
    sys.stdout.write(capture.get().encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


def _panel(title: str, content: RenderableType, note: str = "") -> Panel:
    heading = Text.assemble((title, "bold"), (f"  {note}", "dim"))
    return Panel(content, title=heading, title_align="left", border_style="bright_black")


def _table(*headings: str) -> Table:
    """Return an empty table; a heading that starts with ">" stands over figures, on the right."""
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="dim")
    for heading in headings:
        side = "right" if heading.startswith(">") else "left"
        table.add_column(heading.removeprefix(">"), justify=side, no_wrap=True)
    return table


def _head(board: Dashboard, width: int) -> Panel:
    red = "bold red" if board.funds_cents < 0 else "bold green"
    payday = "" if board.next_payroll_us is None else f", next {moment(board.next_payroll_us)}"
    done = f"{board.count('completed_success')} succeeded, {board.count('completed_fail')} failed"
    lines = [
        Text(f"turn {board.turn}, {moment(board.now_us)}"),
        Text.assemble("funds ", (whole_dollars(board.funds_cents), red), f"  runway {board.runway}"),
        Text(f"payroll {whole_dollars(board.monthly_payroll_cents)} a month{payday}"),
        Text(f"tasks {done}, {board.count('cancelled')} cancelled", "dim"),
        _funds_chart(board, width - _FRAME),
    ]
    if board.ending is not None:
        lines[0] = Text.assemble((f" {board.ending.upper()} ", "bold reverse"), "  ", lines[0])
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Panel(Group(*lines), title=Text(board.company_name, "bold"), title_align="left", border_style="blue")


def _funds_chart(board: Dashboard, cells: int) -> Text:
    """Return a line of bars over the whole horizon; debt is an x."""
    top = max([cents for _, cents in board.funds_history] + [1])
    label = f"{short_dollars(top)} "
    line = Text(label, "dim")
    for cents in board.funds_samples(cells - len(label)):
        if cents is None:
            line.append("·", "dim")
        elif cents < 0:
            line.append("x", "bold red")
        else:
            line.append(_STEPS[round(cents / top * (len(_STEPS) - 1))], "green")
    return line


def _tasks(board: Dashboard) -> Panel:
    tasks = board.open_tasks
    note = f"{board.count('active')} active, {board.count('planned')} planned"
    if len(tasks) > _MOST_TASKS:
        note += f", the first {_MOST_TASKS} shown"
    if not tasks:
        return _panel("Open tasks", Text("nothing accepted, nothing planned", "dim italic"), note)
    table = _table("task", *(["client"] if board.clients else []), "work", "done", ">", ">due")
    for task in tasks[:_MOST_TASKS]:
        late = board.now_us > task.deadline_us
        table.add_row(
            Text(task.task_id, "bold"),
            *([] if task.client_name is None else [Text(task.client_name)]),
            Text("+".join(task.domains)),
            Text("planned", "dim") if task.status == "planned" else _bar(task.progress_pct / 100, "cyan"),
            f"{task.progress_pct:.0f}%",
            Text(time_left(task.deadline_us, board.now_us), "bold red" if late else "dim"),
        )
    return _panel("Open tasks", table, note)


def _clients(board: Dashboard) -> Panel:
    table = _table("client", "tier", "trust", ">", ">ok", ">failed")
    for client in board.clients:
        bar = _bar(client.trust / board.trust_max, "magenta")
        table.add_row(
            Text(client.name), client.tier, bar, f"{client.trust:.2f}", str(client.succeeded), str(client.failed)
        )
    return _panel("Trust", table, f"0 to {board.trust_max:g}")


def _prestige(board: Dashboard) -> Panel:
    table = _table("domain", "level", ">")
    for domain, value in board.prestige.items():
        table.add_row(domain, _bar(value / board.prestige_max if board.prestige_max else 0, "yellow"), f"{value:.2f}")
    return _panel("Prestige", table, f"up to {board.prestige_max:g}")


def _staff(board: Dashboard) -> Panel:
    table = _table("name", "tier", ">a month", ">active tasks")
    for employee in board.employees[:_MOST_EMPLOYEES]:
        salary = whole_dollars(employee.salary_cents)
        table.add_row(employee.name, employee.tier, salary, str(employee.active_tasks))
    count = len(board.employees)
    note = f"{count}, the first {_MOST_EMPLOYEES} shown" if count > _MOST_EMPLOYEES else str(count)
    return _panel("Staff", table, note)


def _bar(share: float, colour: str) -> Text:
    filled = round(min(share, 1) * _BAR_CELLS)
    return Text.assemble(("█" * filled, colour), ("░" * (_BAR_CELLS - filled), "bright_black"))
