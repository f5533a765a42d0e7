"""Commands of the prompt itself; they take no turn and no agent has them."""

from __future__ import annotations

from typing import Final

__all__ = ["END", "HELP", "META", "MULTI", "PRETTY", "QUIT", "SAVE", "help_lines"]

HELP: Final = ":help"
MULTI: Final = ":multi"
END: Final = ":end"
PRETTY: Final = ":pretty"
SAVE: Final = ":save"
QUIT: Final = ":quit"

META: Final = (
    (HELP, "this list"),
    (MULTI, "begin a turn of several lines"),
    (END, "end such a turn and play it"),
    (PRETTY, "show the last answers again, laid out for reading"),
    (SAVE, "write the turns played so far to a file: :save FILE"),
    (QUIT, "leave; so does Ctrl-D"),
)
"""All of them, with their meanings."""


def help_lines() -> str:
    """Return what ``:help`` says."""
    lines = [f"{name:<8} {meaning}" for name, meaning in META]
    return "\n".join(
        [
            *lines,
            "Everything else is a turn. Several commands in one turn: separate them by",
            "; or &&, begin a new line with Alt-Enter (or Esc, then Enter), or write them",
            "between :multi and :end. The game's own commands: --help (takes a turn).",
            "Tab completes, Up brings back what was typed before.",
        ]
    )
