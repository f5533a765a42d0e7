"""Lines of text as stamps of pixels, made by matplotlib from a font that ships with it."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties, get_font  # pyright: ignore[reportUnknownVariableType] -- PathLike without []

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["POINTS_PER_PIXEL", "RESOLUTION", "Stamp", "fitting_stamp", "stamp"]

RESOLUTION: Final = 100
"""Pixels an inch, in which matplotlib counts."""

POINTS_PER_PIXEL: Final = 72 / RESOLUTION
"""Points, in which matplotlib takes sizes and widths, to a pixel."""

_ELLIPSIS: Final = "..."
_MARGIN: Final = 2  # pixels around the text, for what a sign draws outside of its box
_FILES: Final = {False: "DejaVuSans.ttf", True: "DejaVuSans-Bold.ttf"}


class Stamp(NamedTuple):
    """A line of text, ready to be coloured: how much of each pixel it covers, 0 to 255.

    Its left end on the baseline is ``margin`` pixels from the left and ``rise`` pixels from the top.
    """

    cover: NDArray[np.uint8]
    width: float
    rise: int
    margin: int = _MARGIN


@functools.lru_cache(
    maxsize=4096
)  # nearly all of a frame's words were in the frame before; a cached text costs nothing
def stamp(words: str, size: float, bold: bool) -> Stamp:  # noqa: FBT001 -- a part of the cache's key
    """Return a line of text of a size in pixels; the pixels are shared and cannot be written to."""
    path = str(Path(mpl.get_data_path(), "fonts", "ttf", _FILES[bold]))
    font = FontProperties(fname=path, size=size * POINTS_PER_PIXEL)
    drawable = _drawable(words, path)
    width, height, descent = RendererAgg(1, 1, RESOLUTION).get_text_width_height_descent(drawable, font, ismath=False)
    rise = math.ceil(height - descent) + _MARGIN
    sheet = RendererAgg(math.ceil(width) + 2 * _MARGIN, rise + math.ceil(descent) + _MARGIN, RESOLUTION)
    sheet.draw_text(sheet.new_gc(), _MARGIN, rise, drawable, font, 0)
    cover = np.array(sheet.buffer_rgba(), dtype=np.uint8)[:, :, 3].copy()
    cover.setflags(write=False)
    return Stamp(cover, width, rise)


def fitting_stamp(words: str, size: float, bold: bool, max_width: float) -> Stamp:  # noqa: FBT001 -- as in stamp
    """Return a line of text that is cut, and the cut marked, where it would be wider than so many pixels."""
    shown = stamp(words, size, bold)
    while shown.width > max_width and words:
        words = words[: min(len(words) - 1, int(len(words) * max_width / shown.width))].rstrip()
        shown = stamp(words + _ELLIPSIS, size, bold)
    return shown


def _drawable(words: str, path: str) -> str:
    """Return the words with "?" for each sign that the font lacks, about which matplotlib would warn."""
    if words.isascii():
        return words
    font = get_font(path)
    return "".join(sign if font.get_char_index(ord(sign)) else "?" for sign in words)
