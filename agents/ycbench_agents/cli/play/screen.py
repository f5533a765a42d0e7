"""Where observations go: plain text for pipes, colours for terminals; the same content."""

from __future__ import annotations

import re
import sys
from typing import Final, Protocol

from rich.text import Text

from ycbench_agents.cli.console import output
from ycbench_agents.cli.streams import shown

__all__ = ["ColourScreen", "PlainScreen", "Screen", "coloured"]

_JSON: Final = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*+")(?=:)|(?P<text>"(?:[^"\\]|\\.)*+")|(?P<word>\b(?:true|false|null)\b)'
    r"|(?P<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)"
)
_STYLES: Final = (("key", "cyan"), ("text", "green"), ("word", "magenta"), ("number", "yellow"))


class Screen(Protocol):
    """Shows what an agent is given, and what the prompt itself has to say."""

    def show(self, text: str) -> None:
        """Show the text of an observation."""
        ...

    def say(self, message: str) -> None:
        """Show what is no part of an observation."""
        ...


class PlainScreen:
    """Writes texts as they are, with an empty line after each; at once, for a program that waits for them."""

    def show(self, text: str) -> None:
        """Write the text of an observation."""
        sys.stdout.write(f"{text}\n\n")
        sys.stdout.flush()

    def say(self, message: str) -> None:
        """Write a message."""
        sys.stdout.write(f"{message}\n")
        sys.stdout.flush()


class ColourScreen:
    """Colours texts; control characters in them are shown as escapes."""

    def __init__(self) -> None:
        self._console = output()

    def show(self, text: str) -> None:
        """Print the text of an observation, its status line wrapped between words."""
        status, *others = coloured(shown(text)).split("\n", allow_blank=True)
        self._console.print(status)
        if others:  # one line each, however long, so that they can be copied
            self._console.print(Text("\n").join(others), soft_wrap=True)

    def say(self, message: str) -> None:
        """Print a message."""
        self._console.print(Text(shown(message), style="bold blue"), soft_wrap=True)


def coloured(text: str) -> Text:
    """Return an observation's text with colours; its characters stay what they are."""
    whole = Text()
    for number, line in enumerate(text.split("\n")):
        if number:
            whole.append("\n")
        whole.append_text(_coloured_line(line, is_status=number == 0))
    return whole


def _coloured_line(line: str, *, is_status: bool) -> Text:
    if is_status:
        return Text(line, style="bold")
    if line.startswith("> "):
        return Text(line, style="bold cyan")
    if line.startswith('{"error":'):
        return Text(line, style="red")
    if line.startswith(("The episode is over", "Time was moved on")):
        return Text(line, style="bold yellow")
    styled = Text(line)
    if line.startswith(("{", "[", "Events: ")):
        for match in _JSON.finditer(line):
            style = next(style for group, style in _STYLES if match[group])
            styled.stylize(style, match.start(), match.end())
    return styled
