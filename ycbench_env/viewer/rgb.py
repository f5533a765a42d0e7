"""Mode "rgb_array": the dashboard as a picture of 1280 x 720 pixels, drawn with matplotlib."""

import threading
import warnings
from collections.abc import Sequence
from typing import Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from ycbench_env.rules.clock import DAY_US
from ycbench_env.viewer.dashboard import Dashboard, moment, short_dollars, time_left
from ycbench_env.vocabulary import TIERS

# Colours that can be told apart by colour-blind people (Okabe and Ito).
_BLUE: Final = "#0072b2"
_RED: Final = "#c8450c"
_GREEN: Final = "#00795c"
_GREY: Final = "#5b6670"
_TRACK: Final = "#e6eaee"
_DONE: Final = {
    "completed_success": (_GREEN, "succeeded"),
    "completed_fail": (_RED, "failed"),
    "cancelled": (_GREY, "cancelled"),
}
_MOST_TASKS: Final = 8
_LABEL_LENGTH: Final = 44

_drawing: Final = threading.Lock()  # matplotlib's settings are the process's, not the thread's


def dashboard_pixels(board: Dashboard) -> NDArray[np.uint8]:
    """Return the dashboard as an array of shape (720, 1280, 3), whatever the user's matplotlib settings are."""
    with _drawing, mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # signs of a name that the font lacks
        mpl.rcdefaults()
        # Names and amounts have dollar signs, and are no mathematics.
        mpl.rcParams.update({"text.parse_math": False, "font.size": 9, "axes.titlelocation": "left"})
        figure = Figure(figsize=(12.8, 7.2), dpi=100)
        canvas = FigureCanvasAgg(figure)
        # Fixed places, so that the frames of a film do not jump.
        _draw_head(figure, board)
        _draw_funds(figure.add_axes((0.06, 0.48, 0.58, 0.35)), board)
        _draw_tasks(figure.add_axes((0.29, 0.04, 0.27, 0.34)), board)
        if board.clients:
            _draw_clients(figure.add_axes((0.79, 0.48, 0.10, 0.35)), board)
        _draw_levels(figure.add_axes((0.79, 0.26, 0.10, 0.14)), board)
        _draw_staff(figure.add_axes((0.79, 0.04, 0.10, 0.13)), board)
        canvas.draw()
        return np.array(canvas.buffer_rgba(), dtype=np.uint8)[:, :, :3].copy()


def _draw_head(figure: Figure, board: Dashboard) -> None:
    figure.text(0.02, 0.94, board.company_name, size=18, weight="bold")
    figure.text(0.02, 0.90, f"Turn {board.turn}   {moment(board.now_us)}", size=11, color=_GREY)
    if board.ending is not None:
        colour = _RED if board.funds_cents < 0 else _GREEN
        figure.text(0.3, 0.90, board.ending, size=11, weight="bold", color="white", backgroundcolor=colour)
    facts = (
        ("Funds", short_dollars(board.funds_cents), board.funds_cents < 0),
        ("Payroll a month", short_dollars(board.monthly_payroll_cents), False),
        ("Runway", board.runway, board.runway_months is not None and board.runway_months < 2),  # noqa: PLR2004 -- months
        ("Tasks done / failed", f"{board.count('completed_success')} / {board.count('completed_fail')}", False),
    )
    for place, (label, value, warn) in enumerate(facts):
        right = 0.61 + 0.12 * place
        figure.text(right, 0.955, label, ha="right", color=_GREY)
        figure.text(right, 0.91, value, ha="right", size=14, weight="bold", color=_RED if warn else "black")


def _draw_funds(axes: Axes, board: Dashboard) -> None:
    times = [time_us / DAY_US for time_us, _ in board.funds_history]  # days since 1970, as matplotlib counts
    cents = [float(amount) for _, amount in board.funds_history]
    axes.set_title("Funds; | = payroll")
    axes.step(times, cents, where="post", color=_BLUE, linewidth=2)
    axes.fill_between(times, cents, step="post", color=_BLUE, alpha=0.15, linewidth=0)
    axes.axhline(0, color=_GREY, linewidth=1)
    paid = [time_us / DAY_US for time_us in board.payrolls_us]
    axes.plot(paid, [0.0] * len(paid), "|", color=_RED, markersize=10)
    axes.set_xlim(board.start_us / DAY_US, board.horizon_us / DAY_US)
    locator = AutoDateLocator()
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda amount, _: short_dollars(amount)))
    axes.margins(y=0.1)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_tasks(axes: Axes, board: Dashboard) -> None:
    tasks = board.open_tasks
    hidden = f"; {len(tasks) - _MOST_TASKS} more not shown" if len(tasks) > _MOST_TASKS else ""
    axes.set_title(f"Tasks: {board.count('active')} active, {board.count('planned')} planned{hidden}")
    labels: list[str] = []
    notes: list[str] = []
    shares: list[float] = []
    colours: list[str] = []
    for task in [*tasks, *(task for task in board.tasks if task.status in _DONE)][:_MOST_TASKS]:
        late = board.now_us > task.deadline_us
        colour, word = _DONE.get(task.status, (_RED if late else _BLUE, time_left(task.deadline_us, board.now_us)))
        client = "" if task.client_name is None else f", {task.client_name}"
        labels.append(f"{task.task_id}{client} ({len(task.team)} on it)")
        notes.append(f"{task.progress_pct:.0f}%, {word}")
        shares.append(task.progress_pct / 100)
        colours.append(colour)
    _draw_bars(axes, labels, shares, notes, colours)


def _draw_clients(axes: Axes, board: Dashboard) -> None:
    axes.set_title(f"Trust, 0 to {board.trust_max:g}; done / failed")
    notes = [f"{one.trust:.2f}  {one.succeeded} / {one.failed}" for one in board.clients]
    shares = [client.trust / board.trust_max for client in board.clients]
    _draw_bars(axes, [client.name for client in board.clients], shares, notes, "#a14f80")


def _draw_levels(axes: Axes, board: Dashboard) -> None:
    axes.set_title(f"Prestige, up to {board.prestige_max:g}")
    shares = [value / board.prestige_max if board.prestige_max else 0.0 for value in board.prestige.values()]
    _draw_bars(axes, list(board.prestige), shares, [f"{value:.2f}" for value in board.prestige.values()], "#c77f00")


def _draw_staff(axes: Axes, board: Dashboard) -> None:
    axes.set_title("Staff on active tasks, salaries")
    shares: list[float] = []
    notes: list[str] = []
    for tier in TIERS:
        members = [employee for employee in board.employees if employee.tier == tier]
        busy = sum(employee.active_tasks > 0 for employee in members)
        shares.append(busy / max(1, len(members)))
        notes.append(f"{busy} of {len(members)}, {short_dollars(sum(one.salary_cents for one in members))}")
    _draw_bars(axes, list(TIERS), shares, notes, _BLUE)


def _draw_bars(
    axes: Axes, labels: Sequence[str], shares: Sequence[float], notes: Sequence[str], colours: str | Sequence[str]
) -> None:
    """Draw one bar a row, from the top: its label on the left, a note on the right."""
    places = range(len(labels))
    axes.barh(places, [1.0] * len(labels), color=_TRACK)
    axes.barh(places, [min(share, 1.0) for share in shares], color=colours)
    for place, note in zip(places, notes, strict=True):
        axes.text(1.02, place, note, va="center")
    axes.set_yticks(places, labels=[label[:_LABEL_LENGTH] for label in labels])
    axes.set_xticks([])
    axes.set_xlim(0, 1)
    axes.set_ylim(max(len(labels), 4) - 0.5, -0.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
