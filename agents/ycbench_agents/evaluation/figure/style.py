"""How figures look: colours, dashes and letters, and which policy has which colour."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.typing import RcKeyType

__all__ = ["HOUSE_STYLE", "FigureStyle", "PolicyLook", "looks"]

_FONT: Final = "DejaVu Sans"  # ships with matplotlib
_DASHES: Final = ("solid", "dashed", "dotted", "dashdot")
# Policies that everybody meets in the same figures differ in colour; what is free is left to others.
_KNOWN: Final = (
    "expert",
    "greedy",
    "planner",
    "random",
    "conservative",
    "throughput",
    "idle",
    "prestige",
    "market_roller",
    "accept_all",
    "adversary_chaser",
)


@attrs.frozen
class FigureStyle:
    """Colours and letters of a figure.

    Args:
        ink: Titles and values.
        grey: Ticks, axis titles, lines of reference.
        grid: Grid lines.
        paper: Background, and the edges of marks.
        accent: Bars and cells that stand for no policy.
        warning: What is adversarial, or went wrong.
        colours: Of policies; told apart by people who do not see all colours alike (Okabe and Ito, darkened).
        dark: Colour on a dark background of each of the above.
        size: Height of letters, in points.
    """

    ink: str = "#1c252c"
    grey: str = "#5b6670"
    grid: str = "#e6eaee"
    paper: str = "#ffffff"
    accent: str = "#0072b2"
    warning: str = "#d55e00"
    colours: tuple[str, ...] = ("#0072b2", "#00795c", "#d55e00", "#a14f80", "#b07400", "#2f9bd6", "#5b6670")
    dark: Mapping[str, str] = attrs.field(
        factory=lambda: {
            "#1c252c": "#e6edf3",
            "#5b6670": "#9aa7b2",
            "#e6eaee": "#2a343d",
            "#ffffff": "#12181e",
            "#0072b2": "#4ba6e0",
            "#d55e00": "#f08a3c",
            "#00795c": "#2fbf97",
            "#a14f80": "#d98fbb",
            "#b07400": "#e0aa3e",
            "#2f9bd6": "#8ccdf5",
        }
    )
    size: float = 9.5

    def rc(self) -> dict[RcKeyType, object]:
        """Return the settings for ``matplotlib.rc_context``; text is never read as formulas."""
        return {
            "font.family": [_FONT],
            "font.size": self.size,
            "text.color": self.ink,
            "text.parse_math": False,
            "axes.edgecolor": self.grid,
            "axes.facecolor": "none",
            "axes.labelcolor": self.grey,
            "axes.labelsize": self.size,
            "axes.linewidth": 0.8,
            "axes.spines.left": False,
            "axes.spines.right": False,
            "axes.spines.top": False,
            "axes.axisbelow": True,
            "axes.grid": False,
            "axes.unicode_minus": True,
            "axes.titlesize": self.size,
            "axes.titlelocation": "left",
            "axes.titlecolor": self.ink,
            "grid.color": self.grid,
            "grid.linewidth": 0.8,
            "grid.linestyle": "solid",
            "lines.linewidth": 1.6,
            "xtick.color": self.grid,
            "ytick.color": self.grid,
            "xtick.labelcolor": self.grey,
            "ytick.labelcolor": self.grey,
            "xtick.labelsize": self.size,
            "ytick.labelsize": self.size,
            "figure.facecolor": "none",
            "savefig.facecolor": "none",
            "svg.fonttype": "none",  # letters stay text: to be read aloud, searched and copied
        }


HOUSE_STYLE: Final = FigureStyle()


@attrs.frozen
class PolicyLook:
    """How the curves of one policy are drawn."""

    colour: str
    dashes: str


def looks(policies: Iterable[str], style: FigureStyle = HOUSE_STYLE) -> dict[str, PolicyLook]:
    """Return how each policy is drawn: always alike for the policies of this package, whatever else is in a figure.

    Another name starts from a place that its SHA-256 gives and takes the next free one, so that it seldom changes. All
    colours are used solid first, then dashed, and so on; beyond 28 policies looks come again.
    """
    places = len(style.colours) * len(_DASHES)
    names = sorted(set(policies))
    taken = {name: _KNOWN.index(name) % places for name in names if name in _KNOWN}
    for name in names:
        if name not in taken:
            taken[name] = _free_place(name, set(taken.values()), len(style.colours), places)
    return {
        name: PolicyLook(style.colours[place % len(style.colours)], _DASHES[place // len(style.colours)])
        for name, place in taken.items()
    }


def _free_place(name: str, taken: set[int], colours: int, places: int) -> int:
    """Return the first free place, by rounds of colours, from where the name's hash points to."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    start = int.from_bytes(digest[:4], "big") % colours
    order = [
        dashes * colours + (start + step) % colours for dashes in range(places // colours) for step in range(colours)
    ]
    return next((place for place in order if place not in taken), start)
