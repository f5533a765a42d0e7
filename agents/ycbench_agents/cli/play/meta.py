"""Commands of the prompt itself; they take no turn and no agent has them."""

from __future__ import annotations

from typing import Final

__all__ = ["END", "HELP", "META", "MULTI", "OPENING", "PRETTY", "QUIT", "SAVE", "help_lines", "hint"]

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

OPENING: Final = f"Each line is a turn. {HELP} lists what this prompt understands, {QUIT} leaves."
"""What a person is told first."""

_TO_LEAVE: Final = frozenset({"exit", "quit", "q", "bye", "exit()", "quit()"})
_FOR_HELP: Final = frozenset({"help", "?", "h"})


def hint(line: str) -> str | None:
    """Return what to say to a person whose line is a usual word of other prompts, None where it is none.

    No agent is spared that turn; but a person means the prompt, and would lose a turn of the game by it.
    """
    word = line.strip().lower()
    if word in _TO_LEAVE:
        return f"{QUIT} leaves; so does Ctrl-D. No turn was played."
    if word in _FOR_HELP:
        return f"{HELP} lists what this prompt understands; the game's own help is --help. No turn was played."
    return None


def help_lines() -> str:
    """Return what ``:help`` says."""
    lines = [f"{name:<8} {meaning}" for name, meaning in META]
    return "\n".join(
        [
            *lines,
            "Everything else is a turn. Several commands in one turn: separate them by",
            "; or &&, begin a new line with Alt-Enter (or Esc, then Enter), or write them",
            "between :multi and :end. The game's own commands: --help (takes a turn), then",
            ":pretty to read it.",
            "Tab completes, Up brings back what was typed before.",
        ]
    )
