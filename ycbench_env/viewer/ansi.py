"""Mode "ansi": the dashboard as plain text, for logs, notebooks and tests."""

from typing import Final

from ycbench_env.viewer.dashboard import Dashboard, TaskLine, moment, time_left, whole_dollars

_BAR_CELLS: Final = 20
_MOST_TASKS: Final = 10
_MOST_EMPLOYEES: Final = 20


def dashboard_text(board: Dashboard) -> str:
    """Return the dashboard as lines of text; ASCII, save for names."""
    sections = (_head(board), _tasks(board), _clients(board), _prestige(board), _staff(board))
    return "\n".join(line for section in sections for line in section)


def _head(board: Dashboard) -> list[str]:
    payday = "" if board.next_payroll_us is None else f", next on {moment(board.next_payroll_us)}"
    statuses = ("active", "planned", "completed_success", "completed_fail", "cancelled")
    words = ("active", "planned", "succeeded", "failed", "cancelled")
    counts = ", ".join(f"{board.count(status)} {word}" for status, word in zip(statuses, words, strict=True))
    over = board.ending
    funds, payroll = whole_dollars(board.funds_cents), whole_dollars(board.monthly_payroll_cents)
    return [
        board.company_name,  # alone on its line: its width on a screen is anybody's guess
        *([] if over is None else [f"*** {over.upper()} ***"]),
        f"Turn {board.turn} | {moment(board.now_us)} (until {moment(board.horizon_us)})",
        f"Funds {funds} | payroll {payroll} a month{payday} | runway {board.runway}",
        f"Tasks {counts}",
    ]


def _tasks(board: Dashboard) -> list[str]:
    tasks = board.open_tasks
    lines = [_task_line(task, board.now_us) for task in tasks[:_MOST_TASKS]]
    return ["", "Open tasks", *(lines or ["  none"]), *_more(len(tasks) - _MOST_TASKS)]


def _task_line(task: TaskLine, now_us: int) -> str:
    due = f"{moment(task.deadline_us)} ({time_left(task.deadline_us, now_us)})"
    client = [] if task.client_name is None else [task.client_name]
    facts = ", ".join([*client, " + ".join(task.domains), f"{len(task.team)} on it"])
    return (
        f"  {task.task_id:<12} {task.status:<7} {_bar(task.progress_pct, 100)} {task.progress_pct:5.1f}%"
        f"  due {due:<29} {facts}"
    )


def _clients(board: Dashboard) -> list[str]:
    if not board.clients:  # a world without them
        return []
    width = max([len(client.name) for client in board.clients])
    lines = [
        f"  {client.name:<{width}}  {client.tier:<10}  {_bar(client.trust, board.trust_max)} {client.trust:5.2f}"
        f"  {client.succeeded} succeeded, {client.failed} failed"
        for client in board.clients
    ]
    return ["", f"Trust of clients (0 to {board.trust_max:g})", *lines]


def _prestige(board: Dashboard) -> list[str]:
    lines = [
        f"  {domain:<16}  {_bar(value, board.prestige_max)} {value:5.2f}" for domain, value in board.prestige.items()
    ]
    return ["", f"Prestige (up to {board.prestige_max:g})", *lines]


def _staff(board: Dashboard) -> list[str]:
    lines = [
        f"  {employee.name:<8}  {employee.tier:<6}  {whole_dollars(employee.salary_cents):>8} a month"
        f"  {_workload(employee.active_tasks)}"
        for employee in board.employees[:_MOST_EMPLOYEES]
    ]
    return ["", "Staff", *(lines or ["  none"]), *_more(len(board.employees) - _MOST_EMPLOYEES)]


def _workload(active_tasks: int) -> str:
    return "idle" if active_tasks == 0 else f"on {active_tasks} active task{'' if active_tasks == 1 else 's'}"


def _more(count: int) -> list[str]:
    return [f"  and {count} more"] if count > 0 else []


def _bar(value: float, full: float) -> str:
    filled = round(min(value / full, 1) * _BAR_CELLS) if full else 0
    return f"[{'#' * filled}{'-' * (_BAR_CELLS - filled)}]"
