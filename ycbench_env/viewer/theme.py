"""Colours and inks of the drawn dashboard; the colours can be told apart by colour-blind people (Okabe and Ito)."""

from __future__ import annotations

from typing import Final

from ycbench_env.viewer.canvas import Ink

__all__ = [
    "AMBER",
    "BLUE",
    "CARD",
    "EDGE",
    "FIGURE",
    "GREEN",
    "GREY",
    "HEADING",
    "LABEL",
    "NOTE",
    "PAGE",
    "PALE",
    "PALE_BLUE",
    "PALE_RED",
    "PURPLE",
    "RED",
    "STRONG",
    "TITLE",
    "TRACK",
]

PAGE: Final = "#eef1f4"
CARD: Final = "#ffffff"
EDGE: Final = "#d5dbe1"
TRACK: Final = "#e6eaee"
GREY: Final = "#5b6670"
BLUE: Final = "#0072b2"
PALE_BLUE: Final = "#d7e8f3"
GREEN: Final = "#00795c"
AMBER: Final = "#c77f00"
PURPLE: Final = "#a14f80"
RED: Final = "#c8450c"
PALE_RED: Final = "#fbeae3"
PALE: Final = {GREEN: "#b9dccf", RED: "#f0c4b2", GREY: "#c9d0d6"}
"""The colours of what is over."""

_INK: Final = "#1c252c"

TITLE: Final = Ink(27, _INK, bold=True)
FIGURE: Final = Ink(25, _INK, bold=True)
HEADING: Final = Ink(17, _INK, bold=True)
STRONG: Final = Ink(15, _INK, bold=True)
LABEL: Final = Ink(15, _INK)
NOTE: Final = Ink(13.5, GREY)
