"""A sheet of pixels to draw on with matplotlib, untouched by the user's style and without pyplot's global state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgb
from matplotlib.path import Path as Outline
from matplotlib.transforms import IdentityTransform

from ycbench_env.viewer.lettering import POINTS_PER_PIXEL, RESOLUTION, Stamp, fitting_stamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.backend_bases import GraphicsContextBase
    from numpy.typing import NDArray

__all__ = ["Box", "Canvas", "Ink", "Pen", "Point"]

_CIRCLE_CORNERS: Final = 24
_SHIFTS: Final = {"left": 0.0, "center": 0.5, "right": 1.0}  # part of a text's width that lies left of its point


class Point(NamedTuple):
    """A place in pixels from the left upper corner; y grows downwards."""

    x: float
    y: float


class Box(NamedTuple):
    """A rectangle in pixels, from its left upper corner."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """X of the right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Y of the lower edge."""
        return self.top + self.height


@attrs.frozen
class Ink:
    """How text looks: size in pixels, and which side of it is at the point where it is written."""

    size: float
    colour: str
    bold: bool = False
    side: str = "left"

    def aligned(self, side: str) -> Ink:
        """Return the ink with another side ("left", "center" or "right")."""
        return attrs.evolve(self, side=side)

    def coloured(self, colour: str) -> Ink:
        """Return the ink with another colour."""
        return attrs.evolve(self, colour=colour)


@attrs.frozen
class Pen:
    """How a line looks: width in pixels; on and off lengths of dashes in pixels, None for a solid line."""

    colour: str
    width: float = 1.0
    dashes: tuple[float, float] | None = None


class Canvas:
    """A sheet of pixels.

    It speaks to matplotlib's Agg renderer itself, below figures and artists: those would read the user's rcParams at
    every turn, and take several times as long. Nothing is laid out, so frames of a film do not jump.
    """

    def __init__(self, width: int, height: int, colour: str) -> None:
        self._height = height
        self._renderer = RendererAgg(width, height, RESOLUTION)
        self._letters: list[tuple[Stamp, int, int, str]] = []
        self.rectangle(Box(0, 0, width, height), colour)

    def rectangle(self, box: Box, fill: str, edge: str | None = None) -> None:
        """Draw a filled rectangle, its edge one pixel wide."""
        corners = ((box.left, box.top), (box.right, box.top), (box.right, box.bottom), (box.left, box.bottom))
        self.polygon([Point(x, y) for x, y in corners], fill, edge)

    def polygon(self, points: Sequence[Point], fill: str, edge: str | None = None) -> None:
        """Draw a filled polygon, its edge one pixel wide."""
        self._draw([*points, points[0]], Pen(edge or fill, 0 if edge is None else 1), fill)

    def dot(self, at: Point, radius: float, fill: str, edge: str) -> None:
        """Draw a filled circle."""
        angles = [math.tau * place / _CIRCLE_CORNERS for place in range(_CIRCLE_CORNERS)]
        self.polygon([Point(at.x + radius * math.cos(a), at.y + radius * math.sin(a)) for a in angles], fill, edge)

    def line(self, points: Sequence[Point], pen: Pen) -> None:
        """Draw a line through points."""
        self._draw(points, pen)

    def text(self, at: Point, words: str, ink: Ink, max_width: float | None = None) -> None:
        """Write a line of text on the baseline ``at.y``; what is wider than ``max_width`` pixels is cut and marked."""
        letters = fitting_stamp(words, ink.size, ink.bold, math.inf if max_width is None else max_width)
        left = round(at.x - letters.width * _SHIFTS[ink.side]) - letters.margin
        self._letters.append((letters, left, round(at.y) - letters.rise, ink.colour))

    def pixels(self) -> NDArray[np.uint8]:
        """Return what was drawn, an array (height, width, 3) of its own; text lies above everything else."""
        sheet = np.array(self._renderer.buffer_rgba(), dtype=np.uint8)[:, :, :3].copy()
        for letters, left, top, colour in self._letters:
            _press(sheet, letters, left, top, colour)
        return sheet

    def _draw(self, points: Sequence[Point], pen: Pen, fill: str | None = None) -> None:
        path = Outline([(x, self._height - y) for x, y in points])  # the renderer counts upwards
        path.should_simplify = False  # which would follow the user's rcParams
        self._renderer.draw_path(self._context(pen), path, IdentityTransform(), fill and to_rgb(fill))

    def _context(self, pen: Pen) -> GraphicsContextBase:
        context = self._renderer.new_gc()
        context.set_foreground(pen.colour)
        context.set_linewidth(pen.width * POINTS_PER_PIXEL)
        context.set_joinstyle("round")
        if pen.dashes is not None:
            context.set_dashes(0, [length * POINTS_PER_PIXEL for length in pen.dashes])
        return context


def _press(sheet: NDArray[np.uint8], letters: Stamp, left: int, top: int, colour: str) -> None:
    """Blend a colour into a sheet where a stamp covers it; what would fall outside is left out."""
    height, width = letters.cover.shape
    rows, columns = slice(max(top, 0), max(top + height, 0)), slice(max(left, 0), max(left + width, 0))
    below = sheet[rows, columns]
    cover = letters.cover[max(-top, 0) :, max(-left, 0) :][: below.shape[0], : below.shape[1], np.newaxis] / 255
    below[:] = np.rint(below * (1 - cover) + np.multiply(to_rgb(colour), 255) * cover)
