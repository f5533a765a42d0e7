"""Lines of a model's free text: where they end, which are commands or fences, and where a quote is open.

Source: docs/commands.md.
"""

from __future__ import annotations

import re
from typing import Final

from ycbench_env.actions import DEFAULT_GRAMMAR, parse_turn

__all__ = ["LINE", "closes_fence", "goes_on", "is_command", "is_in_quote", "opened_fence"]

_BREAKS: Final = "\n\r\x85\u2028\u2029"  # what ends a line in the commands' own grammar
LINE: Final = re.compile(rf"[^{_BREAKS}]*+(?:\r\n|[{_BREAKS}])|[^{_BREAKS}]++")
"""A line with what ends it."""

_FENCE: Final = re.compile(r"[ \t]*+(`{3,}+)[^`]*+")
_COMMAND_NAMES: Final = frozenset(spec.verb for spec in DEFAULT_GRAMMAR.commands)


def is_command(line: str) -> bool:
    """Return whether a line is a command or begins like one."""
    commands = parse_turn(line)
    if not commands:
        return False
    words = commands[0].text.split(maxsplit=2)
    begins_like_one = words[:1] == ["yc-bench"] or tuple(words[:2]) in _COMMAND_NAMES
    return begins_like_one or all(parsed.error is None for parsed in commands)


def goes_on(line: str) -> bool:
    """Return whether a command would swallow the line after it: then no command is added by one that follows."""
    line = line.rstrip(_BREAKS)
    return len(parse_turn(f"{line}\ntask list")) <= len(parse_turn(line))


def is_in_quote(text: str) -> bool:
    """Return whether what follows a text would be quoted; a chain or a continued line alone quotes nothing."""
    return len(parse_turn(f"{text}\n;\ntask list")) <= len(parse_turn(text))


def opened_fence(line: str) -> str:
    """Return the backticks of the code fence that a line opens, the empty text for none."""
    fence = _FENCE.fullmatch(line.rstrip())
    return fence[1] if fence else ""


def closes_fence(line: str, fence: str) -> bool:
    """Return whether a line closes the code fence of these backticks."""
    bare = line.strip()
    return bare.startswith(fence) and not bare.strip("`")
