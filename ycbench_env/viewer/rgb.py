"""Mode "rgb_array": the dashboard as a picture of 1280 x 720 pixels, drawn with matplotlib."""

import threading
import warnings
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
from ycbench_env.text import short_dollars
from ycbench_env.viewer.dashboard import Bar, Dashboard, Section

# Colours that colour-blind people can tell apart (Okabe and Ito).
_BLUE: Final = "#0072b2"
_RED: Final = "#c8450c"
_GREEN: Final = "#00795c"
_GREY: Final = "#5b6670"
_TRACK: Final = "#e6eaee"
_PLACES: Final = (  # left, bottom, width and height of the sections' bars; fixed, so that a film does not jump
    (0.31, 0.04, 0.16, 0.34),
    (0.77, 0.48, 0.10, 0.35),
    (0.77, 0.26, 0.10, 0.12),
    (0.77, 0.04, 0.10, 0.15),
)
_MOST_ROWS: Final = 8
_LABEL_LENGTH: Final = 48

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
        figure.text(0.02, 0.955, board.company_name, size=18, weight="bold")
        if board.ending is not None:
            colour = _RED if board.in_debt else _GREEN
            figure.text(0.98, 0.955, board.ending, size=12, ha="right", color="white", backgroundcolor=colour)
        figure.text(0.02, 0.85, "\n".join(board.facts), size=10, color=_RED if board.in_debt else _GREY)
        _draw_funds(figure.add_axes((0.06, 0.48, 0.52, 0.33)), board)
        places = _PLACES if len(board.sections) == len(_PLACES) else _PLACES[:1] + _PLACES[2:]
        for section, place in zip(board.sections, places, strict=True):
            _draw_section(figure.add_axes(place), section)
        canvas.draw()
        return np.array(canvas.buffer_rgba(), dtype=np.uint8)[:, :, :3].copy()


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
    axes.yaxis.set_major_formatter(FuncFormatter(lambda amount, _: short_dollars(amount / 100)))
    axes.margins(y=0.1)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_section(axes: Axes, section: Section) -> None:
    """Draw one row below the other: a bar, what stands before it on the left, its figure and the rest on the right."""
    shown = section.first(_MOST_ROWS)
    axes.set_title(shown.title + (f"; {shown.more} more not shown" if shown.more else ""))
    labels: list[str] = []
    for place, row in enumerate(shown.rows):
        bar = next((number for number, cell in enumerate(row) if isinstance(cell, Bar)), 2)
        share = [cell.share for cell in row if isinstance(cell, Bar)]
        if share:
            axes.barh(place, 1.0, color=_TRACK)
            axes.barh(place, share[0], color=_RED if str(row[-1]).startswith("late ") else _BLUE)
        notes = [cell if isinstance(cell, str) else cell.figure for cell in row[bar:]]
        axes.text(1.02, place, ", ".join(notes), va="center")
        labels.append(", ".join(str(cell) for cell in row[:bar])[:_LABEL_LENGTH])
    axes.set_yticks(range(len(labels)), labels=labels)
    axes.set_xticks([])
    axes.set_xlim(0, 1)
    axes.set_ylim(max(len(labels), 4) - 0.5, -0.5)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
