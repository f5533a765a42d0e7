"""Signs to draw with, for terminals that have them and for ASCII."""

from __future__ import annotations

from typing import Final

import attrs

__all__ = ["ASCII", "UNICODE", "Glyphs"]


@attrs.frozen
class Glyphs:
    """Signs of one cell each.

    Args:
        ascii_only: Whether nothing else can be shown, text of models included.
        cut: Stands at the end of a text that was cut.
        full: Part of a bar that is done.
        empty: Part of a bar that is not.
        ok: Before a command that was carried out.
        refused: Before one that was not.
        remark: Before a remark.
        zero: The line of no funds.
        levels: A cell from empty to full.
    """

    ascii_only: bool
    cut: str
    full: str
    empty: str
    ok: str
    refused: str
    remark: str
    zero: str
    levels: str


UNICODE: Final = Glyphs(
    ascii_only=False,
    cut="…",
    full="━",
    empty="─",
    ok="✓",
    refused="✗",
    remark="·",
    zero="┄",
    levels=" ▁▂▃▄▅▆▇█",
)
ASCII: Final = Glyphs(
    ascii_only=True,
    cut="~",
    full="=",
    empty="-",
    ok="+",
    refused="x",
    remark=".",
    zero="-",
    levels=" .:|#",
)
