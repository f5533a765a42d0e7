"""Where figures are drawn, and how they are saved; the only importer of matplotlib here, when one is made."""

# matplotlib's stubs leave **kwargs untyped, which strict mode reports at every call:
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import contextlib
import io
import re
import warnings
from html import escape
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.figure.lettering import printable
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ALONE", "Frame", "Panels", "Shared", "applied", "new_panels", "png_of", "svg_of"]

_DPI: Final = 200
_FALLBACK: Final = "'DejaVu Sans', Verdana, sans-serif"  # a browser may not have the first
_ID: Final = re.compile(r'(\bid="|url\(#|href="#)')
_PROLOGUE: Final = re.compile(r"\A.*?(?=<svg\b)", re.DOTALL)
_TEXT: Final = re.compile(r"(<text\b[^>]*>)(.+?)(?=</text>|  )")  # up to an amount that stands behind a name
_METADATA: Final = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)


@attrs.frozen
class Frame:
    """Room for one panel, in inches.

    Args:
        width: Of the axes.
        height: Of the axes.
        left: Beside them, for labels.
        right: Likewise.
        top: Above.
        bottom: Below.
    """

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float


@attrs.frozen
class Shared:
    """Room outside of all panels, in inches.

    Args:
        left: On their left.
        below: Between them and the foot.
    """

    left: float = 0.0
    below: float = 0.0


ALONE: Final = Shared()
"""No such room: each panel has labels of its own."""


@attrs.frozen
class Panels:
    """A figure and its empty axes.

    Args:
        figure: The figure.
        axes: Row by row.
        foot: Across the whole width below them, for a legend; None where there is no room for it.
    """

    figure: Figure
    axes: tuple[Axes, ...]
    foot: Axes | None = None


@contextlib.contextmanager
def applied(style: FigureStyle = HOUSE_STYLE, salt: str = "ycbench", *, transparent: bool = False) -> Generator[None]:
    """Apply a style to what is drawn and saved within the block; nothing else of the process changes.

    Args:
        style: The style.
        salt: From what ids in SVG are made, instead of at random.
        transparent: Whether figures are drawn on nothing, for a page that has colours of its own; else on the style's
            paper, so that they can be read in a dark notebook.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 -- an extra, and slow to import
    except ImportError as error:
        msg = f"figures need matplotlib ({error}); install it with: pip install 'ycbench-env[evaluation]'"
        raise MissingExtraError(msg) from error
    with mpl.rc_context({**style.rc(transparent=transparent), "svg.hashsalt": salt}), warnings.catch_warnings():
        # A browser draws signs that matplotlib's own font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def new_panels(frame: Frame, count: int = 1, across: int = 1, foot: float = 0.0, shared: Shared = ALONE) -> Panels:
    """Return a figure with empty axes of a fixed size each; to be called within ``applied``.

    Args:
        frame: Room for each panel.
        count: Number of panels.
        across: How many stand beside each other.
        foot: Height of what stands below them all, in inches.
        shared: Room for labels that all of a row or column share.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 -- as above
    from matplotlib.figure import Figure  # noqa: PLC0415 -- as above

    down = -(-count // across)
    cell = (frame.left + frame.width + frame.right, frame.top + frame.height + frame.bottom)
    width, height = shared.left + across * cell[0], down * cell[1] + shared.below + foot
    figure = Figure((width, height))
    figure.set_layout_engine("none")
    FigureCanvasAgg(figure)
    axes: list[Axes] = []
    for place in range(count):
        row, column = divmod(place, across)
        x, y = shared.left + column * cell[0] + frame.left, height - (row + 1) * cell[1] + frame.bottom
        axes.append(figure.add_axes((x / width, y / height, frame.width / width, frame.height / height)))
    below = figure.add_axes((0.02, 0.0, 0.96, foot / height)) if foot else None
    return Panels(figure, tuple(axes), below)


def svg_of(
    figure: Figure, name: str, style: FigureStyle = HOUSE_STYLE, *, names: Mapping[str, str] | None = None
) -> str:
    """Return a figure as an SVG element: the same text for the same figure, dark where the reader's screen is.

    Args:
        figure: The figure; to be called within ``applied``.
        name: Its name, which stands before all ids so that several fit into one page.
        style: Where its dark colours are.
        names: Short names by name; whoever points at one in a browser is shown the whole.
    """
    text = io.StringIO()
    figure.savefig(text, format="svg")
    svg = _METADATA.sub("", _PROLOGUE.sub("", text.getvalue(), count=1))
    svg = _ID.sub(rf"\g<1>{name}-", svg).replace("'DejaVu Sans'", _FALLBACK)
    head, tail = _titled(svg, names or {}).split(">", 1)
    lines = (line.rstrip() for line in f'{head} id="{name}">\n{_dark_css(name, style)}{tail}'.splitlines())
    return "\n".join(lines) + "\n"


def _titled(svg: str, names: Mapping[str, str]) -> str:
    """Return an SVG whose texts that are or begin with a short name have the whole one as title."""
    whole = {escape(short): escape(printable(name)) for name, short in names.items() if short != name}
    return _TEXT.sub(
        lambda text: f"{text[1]}<title>{whole[text[2]]}</title>{text[2]}" if text[2] in whole else text[0], svg
    )


def _dark_css(name: str, style: FigureStyle) -> str:
    """Return rules that give each colour its dark counterpart: attributes stay as they are for plain viewers."""
    rules = "".join(
        f'#{name} [style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
        for light, dark in sorted(style.dark.items())
        for kind in ("fill", "stroke")
    )
    return f"<style>@media screen and (prefers-color-scheme:dark){{{rules}}}</style>"


def png_of(figure: Figure, style: FigureStyle = HOUSE_STYLE) -> bytes:
    """Return a figure as a PNG of 200 dots an inch on paper; to be called within ``applied``."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=_DPI, facecolor=style.paper, metadata={"Software": None})
    return data.getvalue()
