"""Mode "ansi": the dashboard as plain text, for logs, notebooks and tests."""

from collections.abc import Iterable
from typing import Final

from ycbench_env.viewer.dashboard import Dashboard, moment, time_left, whole_dollars

_BAR_CELLS: Final = 20
_MOST_TASKS: Final = 10
_MOST_EMPLOYEES: Final = 20
_STATUSES: Final = {
    "active": "active",
    "planned": "planned",
    "completed_success": "succeeded",
    "completed_fail": "failed",
    "cancelled": "cancelled",
}


def dashboard_text(board: Dashboard) -> str:
    """Return the dashboard as lines of text; ASCII, save for names."""
    payday = "" if board.next_payroll_us is None else f", next on {moment(board.next_payroll_us)}"
    funds, payroll = whole_dollars(board.funds_cents), whole_dollars(board.monthly_payroll_cents)
    lines = [
        board.company_name,  # alone on its line: its width on a screen is anybody's guess
        *([] if board.ending is None else [f"*** {board.ending.upper()} ***"]),
        f"Turn {board.turn} | {moment(board.now_us)} (until {moment(board.horizon_us)})",
        f"Funds {funds} | payroll {payroll} a month{payday} | runway {board.runway}",
        "Tasks " + ", ".join(f"{board.count(status)} {word}" for status, word in _STATUSES.items()),
    ]
    tasks: list[str] = []
    for task in board.open_tasks:
        due = f"{moment(task.deadline_us)} ({time_left(task.deadline_us, board.now_us)})"
        client = [] if task.client_name is None else [task.client_name]
        facts = ", ".join([*client, " + ".join(task.domains), f"{len(task.team)} on it"])
        done = f"{_bar(task.progress_pct, 100)} {task.progress_pct:5.1f}%"
        tasks.append(f"{task.task_id:<12} {task.status:<7} {done}  due {due:<29} {facts}")
    lines += _section("Open tasks", tasks, _MOST_TASKS)
    if board.clients:
        width = max([len(client.name) for client in board.clients])
        lines += _section(
            f"Trust of clients (0 to {board.trust_max:g})",
            (
                f"{client.name:<{width}}  {client.tier:<10}  {_bar(client.trust, board.trust_max)} {client.trust:5.2f}"
                f"  {client.succeeded} succeeded, {client.failed} failed"
                for client in board.clients
            ),
        )
    lines += _section(
        f"Prestige (up to {board.prestige_max:g})",
        (f"{domain:<16}  {_bar(value, board.prestige_max)} {value:5.2f}" for domain, value in board.prestige.items()),
    )
    staff: list[str] = []
    for one in board.employees:
        plural = "" if one.active_tasks == 1 else "s"
        work = f"on {one.active_tasks} active task{plural}" if one.active_tasks else "idle"
        staff.append(f"{one.name:<8}  {one.tier:<6}  {whole_dollars(one.salary_cents):>8} a month  {work}")
    lines += _section("Staff", staff, _MOST_EMPLOYEES)
    return "\n".join(lines)


def _section(title: str, rows: Iterable[str], most: int | None = None) -> list[str]:
    lines = list(rows) or ["none"]
    shown = lines[:most]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown)} more")
    return ["", title, *(f"  {line}" for line in shown)]


def _bar(value: float, full: float) -> str:
    filled = round(min(value / full, 1) * _BAR_CELLS) if full else 0
    return f"[{'#' * filled}{'-' * (_BAR_CELLS - filled)}]"
