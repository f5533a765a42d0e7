"""Mode "rgb_array": the dashboard as a picture of constant shape, for frames of a video."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.units import iso_date
from ycbench_env.viewer.canvas import Box, Canvas, Point
from ycbench_env.viewer.funds_chart import draw_funds_chart, draw_funds_legend
from ycbench_env.viewer.scale import share
from ycbench_env.viewer.summary import count_tasks, latest_done, open_tasks, staff_by_tier
from ycbench_env.viewer.theme import (
    AMBER,
    BLUE,
    CARD,
    EDGE,
    FIGURE,
    GREEN,
    GREY,
    HEADING,
    LABEL,
    NOTE,
    PAGE,
    PALE,
    PURPLE,
    RED,
    STRONG,
    TITLE,
    TRACK,
)
from ycbench_env.viewer.wording import dollars, ending, moment, runway, short_dollars, time_left

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ycbench_env.observation.dashboard import ClientLine, Dashboard, TaskLine
    from ycbench_env.viewer.canvas import Ink

__all__ = ["dashboard_pixels"]

_WIDTH: Final = 1280
_HEIGHT: Final = 720
_FUNDS: Final = Box(20, 98, 800, 296)
_TASKS: Final = Box(20, 406, 800, 296)
_TRUST: Final = Box(832, 98, 428, 296)
_PRESTIGE: Final = Box(832, 406, 428, 154)
_STAFF: Final = Box(832, 572, 428, 130)
# In a world without clients the cards below that of trust move up, and the staff has room for a line each.
_PRESTIGE_ALONE: Final = Box(832, 98, 428, 154)
_STAFF_ALONE: Final = Box(832, 264, 428, 438)
_PADDING: Final = 16
_HEADING_HEIGHT: Final = 40
_TASK_HEIGHT: Final = 41
_MOST_TASKS: Final = 6
_MOST_STAFF: Final = 14
_CLIENT_HEIGHT: Final = 40  # at most; many clients share the card
_SHORT_RUNWAY: Final = 2.0  # months, from which on the runway is shown as a warning
_LONG_AMOUNT: Final = 10**9  # cents; from here on there is no room for every digit
_THIN_BAR: Final = 12
_DONE: Final = {
    "completed_success": ("succeeded", GREEN),
    "completed_fail": ("failed", RED),
    "cancelled": ("cancelled", GREY),
}


@attrs.frozen
class _TaskLook:
    """How a task is drawn: inks of its id and its other words, the bar, and the word under the deadline."""

    name: Ink
    text: Ink
    share: float
    colour: str
    word: str
    word_ink: Ink


def dashboard_pixels(board: Dashboard) -> NDArray[np.uint8]:
    """Return the dashboard as an array of shape (720, 1280, 3)."""
    canvas = Canvas(_WIDTH, _HEIGHT, PAGE)
    _draw_head(canvas, board)
    _card(canvas, _FUNDS, "Funds")
    draw_funds_legend(canvas, Point(_FUNDS.right - _PADDING, _FUNDS.top + 27))
    draw_funds_chart(canvas, board, Box(_FUNDS.left + 72, _FUNDS.top + 48, _FUNDS.width - 108, _FUNDS.height - 82))
    _draw_tasks(canvas, board)
    if board.clients:
        _draw_trust(canvas, board)
        _draw_prestige(canvas, board, _PRESTIGE)
        _draw_tiers(canvas, board)
    else:
        _draw_prestige(canvas, board, _PRESTIGE_ALONE)
        _draw_staff(canvas, board)
    return canvas.pixels()


def _card(canvas: Canvas, box: Box, title: str, note: str = "") -> None:
    canvas.rectangle(box, CARD, EDGE)
    canvas.text(Point(box.left + _PADDING, box.top + 27), title, HEADING)
    canvas.text(Point(box.right - _PADDING, box.top + 27), note, NOTE.aligned("right"))


def _draw_head(canvas: Canvas, board: Dashboard) -> None:
    canvas.text(Point(20, 46), board.company_name, TITLE, max_width=400)
    canvas.text(Point(20, 76), f"Turn {board.turn}   {moment(board.now_us)}", LABEL.coloured(GREY))
    over = ending(board)
    if over is not None:
        canvas.rectangle(Box(250, 58, 190, 26), RED if board.funds_cents < 0 else GREEN)
        canvas.text(Point(345, 76), over, STRONG.coloured(CARD).aligned("center"))
    months = board.runway_months
    low = months is not None and months < _SHORT_RUNWAY
    _fact(canvas, 640, "Funds", _amount(board.funds_cents), warn=board.funds_cents < 0)
    _fact(canvas, 830, "Payroll a month", _amount(board.monthly_payroll_cents), warn=False)
    _fact(canvas, 1070, "Runway", runway(board), warn=low)
    succeeded, failed = count_tasks(board, "completed_success"), count_tasks(board, "completed_fail")
    _fact(canvas, 1260, "Tasks done / failed", f"{succeeded} / {failed}", warn=False)


def _amount(cents: int) -> str:
    return dollars(cents) if abs(cents) < _LONG_AMOUNT else short_dollars(cents)


def _fact(canvas: Canvas, right: float, label: str, figure: str, *, warn: bool) -> None:
    canvas.text(Point(right, 36), label, NOTE.aligned("right"))
    ink = FIGURE.coloured(RED) if warn else FIGURE
    canvas.text(Point(right, 70), figure, ink.aligned("right"))


def _draw_tasks(canvas: Canvas, board: Dashboard) -> None:
    tasks = open_tasks(board)
    note = f"{count_tasks(board, 'active')} active, {count_tasks(board, 'planned')} planned"
    if len(tasks) > _MOST_TASKS:
        note += f" ({len(tasks) - _MOST_TASKS} more not shown)"
    _card(canvas, _TASKS, "Tasks", note)
    if not board.tasks:
        canvas.text(Point(_TASKS.left + _PADDING, _TASKS.top + 66), "No task accepted so far", NOTE)
    rows = tasks[:_MOST_TASKS]
    rows += latest_done(board, _MOST_TASKS - len(rows))
    for place, task in enumerate(rows):
        _draw_task(canvas, task, board.now_us, _TASKS.top + _HEADING_HEIGHT + place * _TASK_HEIGHT)


def _draw_task(canvas: Canvas, task: TaskLine, now_us: int, top: float) -> None:
    left, right = _TASKS.left + _PADDING, _TASKS.right - _PADDING
    look = _task_look(task, now_us)
    canvas.text(Point(left, top + 17), task.task_id, look.name, max_width=126)
    if task.client_name is not None:
        canvas.text(Point(left + 134, top + 17), task.client_name, look.text, max_width=200)
    details = f"{len(task.team)} on it, {short_dollars(task.reward_cents)}, {' + '.join(task.domains)}"
    canvas.text(Point(left, top + 34), details, NOTE, max_width=326)
    bar = Box(left + 346, top + 11, 216, 18)
    _bar(canvas, bar, look.share, look.colour)
    if task.status == "planned":
        canvas.text(Point(bar.left + 8, top + 25), "planned", NOTE)
    canvas.text(Point(bar.right + 60, top + 25), f"{task.progress_pct:.0f}%", look.text.aligned("right"))
    canvas.text(Point(right, top + 17), f"due {iso_date(task.deadline_us)}", look.text.aligned("right"))
    canvas.text(Point(right, top + 34), look.word, look.word_ink.aligned("right"))


def _task_look(task: TaskLine, now_us: int) -> _TaskLook:
    share = task.progress_pct / 100
    if task.status in _DONE:
        word, colour = _DONE[task.status]
        faded = STRONG.coloured(GREY), LABEL.coloured(GREY)
        return _TaskLook(*faded, share, PALE[colour], word, STRONG.coloured(colour))
    left = time_left(task.deadline_us, now_us)
    if now_us > task.deadline_us:
        return _TaskLook(STRONG, LABEL, share, RED, left, STRONG.coloured(RED))
    return _TaskLook(STRONG, LABEL, share, BLUE, left, NOTE)


def _draw_trust(canvas: Canvas, board: Dashboard) -> None:
    _card(canvas, _TRUST, "Trust of clients", f"0 to {board.trust_max:g}; tasks done / failed")
    room = _TRUST.height - _HEADING_HEIGHT - 8
    height = min(_CLIENT_HEIGHT, room / max(len(board.clients), 1))
    for place, client in enumerate(board.clients):
        _draw_client(canvas, client, board.trust_max, _TRUST.top + _HEADING_HEIGHT + (place + 0.5) * height)


def _draw_client(canvas: Canvas, client: ClientLine, trust_max: float, middle: float) -> None:
    left, right, base = _TRUST.left + _PADDING, _TRUST.right - _PADDING, middle + 5
    canvas.text(Point(left, base), client.name, LABEL, max_width=158)
    _bar(canvas, Box(left + 166, middle - _THIN_BAR / 2, 104, _THIN_BAR), client.trust / trust_max, PURPLE)
    canvas.text(Point(left + 318, base), f"{client.trust:.2f}", LABEL.aligned("right"))
    canvas.text(Point(right - 36, base), str(client.succeeded), _count_ink(client.succeeded, GREEN))
    canvas.text(Point(right - 28, base), "/", NOTE.aligned("center"))
    canvas.text(Point(right, base), str(client.failed), _count_ink(client.failed, RED))


def _count_ink(count: int, colour: str) -> Ink:
    return (STRONG.coloured(colour) if count else NOTE).aligned("right")


def _draw_prestige(canvas: Canvas, board: Dashboard, card: Box) -> None:
    _card(canvas, card, "Prestige", f"up to {board.prestige_max:g}")
    left, right = card.left + _PADDING, card.right - _PADDING
    for place, (domain, value) in enumerate(board.prestige.items()):
        middle = card.top + _HEADING_HEIGHT + 10 + place * 27
        canvas.text(Point(left, middle + 5), domain, LABEL, max_width=158)
        _bar(canvas, Box(left + 166, middle - _THIN_BAR / 2, 176, _THIN_BAR), share(value, board.prestige_max), AMBER)
        canvas.text(Point(right, middle + 5), f"{value:.2f}", LABEL.aligned("right"))


def _draw_tiers(canvas: Canvas, board: Dashboard) -> None:
    _card(canvas, _STAFF, "Staff", "on active tasks; salaries a month")
    left, right = _STAFF.left + _PADDING, _STAFF.right - _PADDING
    for place, row in enumerate(staff_by_tier(board)):
        middle = _STAFF.top + _HEADING_HEIGHT + 10 + place * 27
        canvas.text(Point(left, middle + 5), row.tier, LABEL)
        _bar(canvas, Box(left + 90, middle - _THIN_BAR / 2, 130, _THIN_BAR), row.busy / max(row.employees, 1), BLUE)
        canvas.text(Point(left + 328, middle + 5), f"{row.busy} of {row.employees}", LABEL.aligned("right"))
        canvas.text(Point(right, middle + 5), short_dollars(row.salary_cents), LABEL.aligned("right"))


def _draw_staff(canvas: Canvas, board: Dashboard) -> None:
    card, hidden = _STAFF_ALONE, len(board.employees) - _MOST_STAFF
    _card(canvas, card, "Staff", f"{hidden} more not shown" if hidden > 0 else "active tasks; salaries a month")
    left, right = card.left + _PADDING, card.right - _PADDING
    for place, employee in enumerate(board.employees[:_MOST_STAFF]):
        base = card.top + _HEADING_HEIGHT + 15 + place * 27
        canvas.text(Point(left, base), employee.name, LABEL, max_width=118)
        canvas.text(Point(left + 126, base), employee.tier, LABEL.coloured(GREY))
        canvas.text(Point(left + 288, base), str(employee.active_tasks), _count_ink(employee.active_tasks, BLUE))
        canvas.text(Point(right, base), _amount(employee.salary_cents), LABEL.aligned("right"))


def _bar(canvas: Canvas, box: Box, share: float, colour: str) -> None:
    canvas.rectangle(box, TRACK)
    width = box.width * min(max(share, 0), 1)
    if width > 0:
        canvas.rectangle(Box(box.left, box.top, width, box.height), colour)
