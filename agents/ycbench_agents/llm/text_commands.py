"""Commands in the free text of a model without tools.

- Thoughts (``<think>...</think>``) are left out first, see ``thoughts``; in quoted text of commands there are none.
- A text that is nothing but commands is run as it stands.
- Else, where there are code fences, each fenced block is run, in order, and what is outside of them is not. A fence
  that never closes refuses the whole text.
- Else each line is run that is a command or begins like one (``yc-bench`` or the two words of a command). If a quote or
  a chain goes on beyond such a line, everything from there to the end is read as commands, so that text in quotes never
  becomes a command.

Source: docs/commands.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.llm.characters import utf8_text
from ycbench_agents.llm.text_lines import (
    LINE,
    closes_fence,
    goes_on,
    is_command,
    opened_fence,
)
from ycbench_agents.llm.thoughts import without_thoughts
from ycbench_env.actions import DEFAULT_GRAMMAR, parse_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ycbench_env.actions import Grammar

__all__ = ["MAX_TEXT_LENGTH", "UnreadableTextError", "command_blocks"]

MAX_TEXT_LENGTH: Final = 262_144
"""Longest text that is read, in characters; longer ones are refused."""

_OPEN_FENCE: Final = (
    "Nothing was run: a code fence (```) of your reply never closes. Write commands in one code fence that closes; if "
    "a value holds three backticks, open and close the fence with four."
)


class UnreadableTextError(Exception):
    """Nothing of a text can be run; the message is for the model."""


def command_blocks(content: str, grammar: Grammar = DEFAULT_GRAMMAR) -> tuple[tuple[str, ...], ...]:
    """Return the blocks of commands of a text, each as texts to run, each text with at least one command.

    Args:
        content: What the model wrote.
        grammar: Commands of the environment.

    Raises:
        UnreadableTextError: The text is too long, or a fence in it never closes.
    """
    if len(content) > MAX_TEXT_LENGTH:
        msg = (
            f"Nothing was run: your reply has {len(content)} characters, at most {MAX_TEXT_LENGTH} are read. "
            "Reply more briefly."
        )
        raise UnreadableTextError(msg)
    content = without_thoughts(utf8_text(content))
    commands = parse_turn(content, grammar)
    if commands and all(parsed.error is None for parsed in commands):
        return ((content,),)
    lines = LINE.findall(content)
    if any(map(opened_fence, lines)):
        return tuple((block,) for block in _fenced(lines) if parse_turn(block))
    bare = tuple(_bare(lines))
    return (bare,) if bare else ()


def _fenced(lines: Sequence[str]) -> list[str]:
    """Return what stands in each code fence."""
    blocks: list[str] = []
    body: list[str] = []
    fence = ""
    for line in lines:
        if not fence:
            fence = opened_fence(line)
        elif closes_fence(line, fence):
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
        if not is_command(line):
            continue
        if goes_on(line):
            yield "".join(lines[index:])
            return
        yield line.strip()
