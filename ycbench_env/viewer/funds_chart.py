"""The funds card of the drawn dashboard: funds over the whole horizon, payrolls, the zero line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.viewer.canvas import Box, Pen, Point
from ycbench_env.viewer.scale import funds_scale, month_ticks
from ycbench_env.viewer.theme import BLUE, CARD, EDGE, GREY, NOTE, PALE_BLUE, PALE_RED, RED, TRACK
from ycbench_env.viewer.wording import short_dollars

if TYPE_CHECKING:
    from ycbench_env.observation.dashboard import Dashboard
    from ycbench_env.viewer.canvas import Canvas
    from ycbench_env.viewer.scale import FundsScale

__all__ = ["draw_funds_chart", "draw_funds_legend"]

_MARK: Final = 5  # half the width of a payroll mark, in pixels
_NOW_PEN: Final = Pen("#9aa5ae", 1.0, (4, 4))
_START_PEN: Final = Pen("#9aa5ae", 1.0, (2, 3))


@attrs.frozen
class _Plot:
    """Where amounts and times lie on the canvas."""

    area: Box
    scale: FundsScale
    start_us: int
    horizon_us: int

    def x(self, time_us: int) -> float:
        share = (time_us - self.start_us) / (self.horizon_us - self.start_us)
        return self.area.left + self.area.width * min(share, 1.0)

    def y(self, cents: float) -> float:
        return self.area.bottom - self.area.height * (cents - self.scale.low) / (self.scale.high - self.scale.low)


def draw_funds_chart(canvas: Canvas, board: Dashboard, area: Box) -> None:
    """Draw the chart; amounts stand on the left of the area, months below it."""
    scale = funds_scale([cents for _, cents in board.funds_history])
    plot = _Plot(area, scale, board.start_us, board.horizon_us)
    _draw_axes(canvas, board, plot)
    _draw_curve(canvas, board, plot)
    _draw_payrolls(canvas, board, plot)


def draw_funds_legend(canvas: Canvas, right: Point) -> None:
    """Write what the marks mean, in a line that ends at a point."""
    canvas.text(right, "next payroll", NOTE.aligned("right"))
    _mark(canvas, right.x - 98, right.y - 9, CARD)
    canvas.text(Point(right.x - 122, right.y), "payroll", NOTE.aligned("right"))
    _mark(canvas, right.x - 184, right.y - 9, GREY)
    canvas.line([Point(right.x - 342, right.y - 5), Point(right.x - 318, right.y - 5)], _START_PEN)
    canvas.text(Point(right.x - 208, right.y), "starting capital", NOTE.aligned("right"))


def _draw_axes(canvas: Canvas, board: Dashboard, plot: _Plot) -> None:
    area, zero = plot.area, plot.y(0)
    canvas.rectangle(Box(area.left, zero, area.width, area.bottom - zero), PALE_RED)
    for cents in plot.scale.ticks:
        y = plot.y(cents)
        if cents:
            canvas.line([Point(area.left, y), Point(area.right, y)], Pen(TRACK))
        canvas.text(Point(area.left - 8, y + 5), short_dollars(cents), NOTE.aligned("right"))
    for time_us, label in month_ticks(board.start_us, board.horizon_us):
        x = plot.x(time_us)
        canvas.line([Point(x, area.bottom), Point(x, area.bottom + 5)], Pen(EDGE))
        canvas.text(Point(x, area.bottom + 22), label, NOTE.aligned("center"))
    start_y = plot.y(board.funds_history[0][1])
    canvas.line([Point(area.left, start_y), Point(area.right, start_y)], _START_PEN)


def _draw_curve(canvas: Canvas, board: Dashboard, plot: _Plot) -> None:
    steps: list[Point] = []
    for time_us, cents in board.funds_history:
        point = Point(plot.x(time_us), plot.y(cents))
        if steps:
            steps.append(Point(point.x, steps[-1].y))  # funds change at an instant and stay until the next one
        steps.append(point)
    first, last, zero = steps[0], steps[-1], plot.y(0)
    now = [Point(last.x, plot.area.top), Point(last.x, plot.area.bottom)]
    canvas.polygon([Point(first.x, zero), *steps, Point(last.x, zero)], PALE_BLUE)
    canvas.line(now, _NOW_PEN)
    canvas.line([Point(plot.area.left, zero), Point(plot.area.right, zero)], Pen(GREY, 1.5))
    canvas.line(steps, Pen(BLUE, 2.5))
    canvas.dot(last, 5, RED if board.funds_cents < 0 else BLUE, CARD)


def _draw_payrolls(canvas: Canvas, board: Dashboard, plot: _Plot) -> None:
    zero = plot.y(0)
    for time_us in board.payrolls_us:
        _mark(canvas, plot.x(time_us), zero + 2, GREY)
    if board.next_payroll_us is not None and board.end_reason is None:
        _mark(canvas, plot.x(board.next_payroll_us), zero + 2, CARD)


def _mark(canvas: Canvas, x: float, top: float, fill: str) -> None:
    corners = [Point(x, top), Point(x - _MARK, top + 2 * _MARK), Point(x + _MARK, top + 2 * _MARK)]
    canvas.polygon(corners, fill, GREY)
