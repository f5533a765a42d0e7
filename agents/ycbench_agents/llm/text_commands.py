"""Commands in the free text of a model without tools.

- Thoughts (``<think>...</think>``) are left out first.
- A text that is nothing but commands is run as it stands.
- Else, where there are code fences, each fenced block is run, in order, and what is outside of them is not. A fence
  that never closes refuses the whole text.
- Else each line is run that is a command or begins like one (``yc-bench`` or the two words of a command). If a quote or
  a chain goes on beyond such a line, everything from there to the end is read as commands, so that text in quotes never
  becomes a command.

Source: docs/commands.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ycbench_env.actions import DEFAULT_GRAMMAR, parse_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["MAX_TEXT_LENGTH", "UnreadableTextError", "command_blocks", "utf8_text", "without_thoughts"]

MAX_TEXT_LENGTH: Final = 262_144
"""Longest text that is read, in characters; longer ones are refused."""

_BREAKS: Final = "\n\r\x85\u2028\u2029"  # what ends a line in the commands' own grammar
_LINE: Final = re.compile(rf"[^{_BREAKS}]*+(?:\r\n|[{_BREAKS}])|[^{_BREAKS}]++")
_FENCE: Final = re.compile(r"[ \t]*+(`{3,}+)[^`]*+")
_THOUGHT: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_COMMAND_NAMES: Final = frozenset(spec.verb for spec in DEFAULT_GRAMMAR.commands)
_OPEN_FENCE: Final = (
    "Nothing was run: a code fence (```) of your reply never closes. Write commands in one code fence that closes; if "
    "a value holds three backticks, open and close the fence with four."
)


class UnreadableTextError(Exception):
    """Nothing of a text can be run; the message is for the model."""


def utf8_text(text: str) -> str:
    """Return a text that UTF-8 can hold: two halves of a character joined, a lone half replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def without_thoughts(content: str) -> str:
    """Return a reply's text without ``<think>...</think>`` and its like.

    A block that never closes takes the rest with it; a closing tag alone takes what stands before it, since servers
    often put the opening one into the prompt.
    """
    kept: list[str] = []
    start, thinking = 0, False
    for tag in _THOUGHT.finditer(content):
        if not tag[1]:
            if not thinking:
                kept.append(content[start : tag.start()])
            thinking = True
        elif thinking:
            start, thinking = tag.end(), False
        else:
            kept.clear()
            start = tag.end()
    if not thinking:
        kept.append(content[start:])
    return "".join(kept)


def command_blocks(content: str) -> tuple[tuple[str, ...], ...]:
    """Return the blocks of commands of a text, each as texts to run, each text with at least one command.

    Raises:
        UnreadableTextError: The text is too long, or a fence in it never closes.
    """
    if len(content) > MAX_TEXT_LENGTH:
        msg = (
            f"Nothing was run: your reply has {len(content)} characters, at most {MAX_TEXT_LENGTH} are read. "
            "Reply more briefly."
        )
        raise UnreadableTextError(msg)
    content = utf8_text(without_thoughts(content))
    commands = parse_turn(content)
    if commands and all(parsed.error is None for parsed in commands):
        return ((content,),)
    lines = _LINE.findall(content)
    if any(_FENCE.fullmatch(line.rstrip()) for line in lines):
        return tuple((block,) for block in _fenced(lines) if parse_turn(block))
    bare = tuple(_bare(lines))
    return (bare,) if bare else ()


def _fenced(lines: Sequence[str]) -> list[str]:
    """Return what stands in each code fence."""
    blocks: list[str] = []
    body: list[str] = []
    fence = ""
    for line in lines:
        bare = line.strip()
        if not fence:
            opening = _FENCE.fullmatch(line.rstrip())
            fence = opening[1] if opening else ""
        elif bare.startswith(fence) and not bare.strip("`"):
            blocks.append("".join(body))
            body, fence = [], ""
        else:
            body.append(line)
    if fence:
        raise UnreadableTextError(_OPEN_FENCE)
    return blocks


def _bare(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines that are commands; from one that does not end with its line on, all the rest at once."""
    for index, line in enumerate(lines):
        if not _is_command(line):
            continue
        if _goes_on(line):
            yield "".join(lines[index:])
            return
        yield line.strip()


def _is_command(line: str) -> bool:
    commands = parse_turn(line)
    if not commands:
        return False
    words = commands[0].text.split(maxsplit=2)
    begins_like_one = words[:1] == ["yc-bench"] or tuple(words[:2]) in _COMMAND_NAMES
    return begins_like_one or all(parsed.error is None for parsed in commands)


def _goes_on(line: str) -> bool:
    """Return whether a command would swallow the line after it: then no command is added by one that follows."""
    line = line.rstrip(_BREAKS)
    return len(parse_turn(f"{line}\ntask list")) <= len(parse_turn(line))
