"""How figures look: colours, dashes and letters, and which policy has which colour."""

from __future__ import annotations

import hashlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.typing import RcKeyType

__all__ = ["FONT", "HOUSE_STYLE", "FigureStyle", "PolicyLook", "looks"]

FONT: Final = "DejaVu Sans"
"""Of all letters; it ships with matplotlib."""

_DASHES: Final = ("solid", "dashed", "dotted", "dashdot")
# Beyond the first seven nobody can tell all colours apart, so the others are dashed, or hatched, as well.
_PLAIN: Final = 7
_HATCHES: Final[Mapping[str, str]] = MappingProxyType({"solid": "", "dashed": "///", "dotted": "...", "dashdot": "xx"})
# Policies of this package, each with a colour of its own.
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
    "mixture",
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
        colours: Of policies; the first seven told apart by people who do not see all colours alike (Okabe and Ito,
            darkened), the others chosen to be far from these and from each other, seen that way too.
        dark: Colour on a dark background of each of the above.
        size: Height of letters, in points.
    """

    ink: str = "#1c252c"
    grey: str = "#5b6670"
    grid: str = "#e6eaee"
    paper: str = "#ffffff"
    accent: str = "#0072b2"
    warning: str = "#d55e00"
    colours: tuple[str, ...] = (
        *("#0072b2", "#00795c", "#d55e00", "#a14f80", "#b07400", "#2f9bd6", "#5b6670"),
        *("#882255", "#332288", "#9b30d9", "#6b4423", "#8f6bd6"),
    )
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
            "#882255": "#ff7aa8",
            "#332288": "#8f9bff",
            "#9b30d9": "#d68bff",
            "#6b4423": "#c9a27e",
            "#8f6bd6": "#bcaaf7",
        }
    )
    size: float = 9.5

    def rc(self, *, transparent: bool = False) -> dict[RcKeyType, object]:
        """Return the settings for ``matplotlib.rc_context``; text is never read as formulas.

        Args:
            transparent: Whether figures have no paper.
        """
        return {
            "font.family": [FONT],
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
            "figure.facecolor": "none" if transparent else self.paper,
            "savefig.facecolor": "auto",  # the figure's
            "hatch.linewidth": 0.8,
            "svg.fonttype": "none",  # letters stay text: to be read aloud, searched and copied
        }


HOUSE_STYLE: Final = FigureStyle()


@attrs.frozen
class PolicyLook:
    """How one policy is drawn: its curves with dashes, its bars with a hatch."""

    colour: str
    dashes: str

    @property
    def hatch(self) -> str:
        """Matplotlib's name of the hatch, empty for none."""
        return _HATCHES[self.dashes]


def looks(policies: Iterable[str], style: FigureStyle = HOUSE_STYLE) -> dict[str, PolicyLook]:
    """Return how each policy is drawn: always alike for the policies of this package, whatever else is in a figure.

    Each of these has a colour of its own. Another name starts from a place that its SHA-256 gives and takes the next
    free one, so that it seldom changes. All colours are used once before any comes again with other dashes; the first
    seven are solid first, the others dashed. Beyond 48 policies looks come again.
    """
    places = len(style.colours) * len(_DASHES)
    names = sorted(set(policies))
    taken = {name: _KNOWN.index(name) % places for name in names if name in _KNOWN}
    for name in names:
        if name not in taken:
            taken[name] = _free_place(name, set(taken.values()), len(style.colours), places)
    return {name: _look(place, style) for name, place in taken.items()}


def _look(place: int, style: FigureStyle) -> PolicyLook:
    turn, colour = divmod(place, len(style.colours))
    return PolicyLook(style.colours[colour], _DASHES[(turn + (colour >= _PLAIN)) % len(_DASHES)])


def _free_place(name: str, taken: set[int], colours: int, places: int) -> int:
    """Return the first free place, by rounds of colours, from where the name's hash points to."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    start = int.from_bytes(digest[:4], "big") % colours
    order = [
        dashes * colours + (start + step) % colours for dashes in range(places // colours) for step in range(colours)
    ]
    return next((place for place in order if place not in taken), start)
