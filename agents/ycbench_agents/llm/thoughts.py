"""Leaves the thoughts (``<think>...</think>`` and its like) out of a model's text.

Invariants, each of them a test:

- A tag in the quoted text of a command is text: nothing is left out there, and the quote ends where it ended before.
- A text that is nothing but commands stays as it is.
- A block that never closes takes the rest with it; a closing tag alone takes all that stands before it, since servers
  often put the opening one into the prompt.
- Its time grows little faster than the text.
"""

from __future__ import annotations

import bisect
import re
from typing import TYPE_CHECKING, Final

from ycbench_agents.llm.text_lines import LINE, closes_fence, is_command, is_in_quote, opened_fence
from ycbench_env.actions import parse_turn

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["without_thoughts"]

_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def without_thoughts(content: str) -> str:
    """Return a reply's text without its thoughts."""
    if not _TAG.search(content):
        return content
    commands = parse_turn(content)
    if commands and all(parsed.error is None for parsed in commands):
        return content
    return _Reader(content).read()


class _Reader:
    """Walks through one text once; what is kept grows.

    ``_at`` is the place in the text. ``_fence_end`` is where the commands end of the code fence in which that is.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends = [line.end() for line in LINE.finditer(text)]
        self._at = 0
        self._fence_end = -1
        self._unclosed = len(text) + 1  # no fence of so many backticks closes from here on
        self._kept: list[str] = []

    def read(self) -> str:
        """Read the whole text; returns what is kept."""
        tag = _TAG.search(self._text)
        while tag:
            if tag.start() < self._at:
                tag = _TAG.search(self._text, self._at)
                continue
            end = self._line_end()
            if self._is_quoted(min(end, tag.start())):
                self._keep(self._end_of_quote())
            elif tag.start() < end:
                self._leave_out(tag)
            else:
                self._watch_fence(end)
                self._keep(end)
        self._keep(len(self._text))
        return "".join(self._kept)

    def _line_end(self) -> int:
        return self._ends[bisect.bisect_right(self._ends, self._at)]

    def _keep(self, end: int) -> None:
        self._kept.append(self._text[self._at : end])
        self._at = end

    def _leave_out(self, tag: re.Match[str]) -> None:
        """Step over a thought that begins or ends with a tag."""
        if tag[1]:
            self._kept.clear()
            self._at = tag.end()
            self._fence_end = -1
            return
        self._keep(tag.start())
        closing = next((other for other in _TAG.finditer(self._text, tag.end()) if other[1]), None)
        self._at = closing.end() if closing else len(self._text)

    def _is_quoted(self, place: int) -> bool:
        """Return whether a place of this line is in the quoted text of a command, as are the ends of lines."""
        before = self._text[self._at : place]
        return bool(before.strip()) and (self._in_fence or is_command(before)) and is_in_quote(before)

    # ---- code fences

    @property
    def _in_fence(self) -> bool:
        return self._at < self._fence_end

    def _watch_fence(self, end: int) -> None:
        """Note where a code fence closes that this line opens."""
        fence = "" if self._at <= self._fence_end else opened_fence(self._text[self._at : end])
        if not fence or len(fence) >= self._unclosed:
            return
        start = end
        for position in range(bisect.bisect_left(self._ends, end) + 1, len(self._ends)):
            line_end = self._ends[position]
            if closes_fence(self._text[start:line_end], fence):
                self._fence_end = start
                return
            start = line_end
        self._unclosed = len(fence)

    # ---- quoted text of several lines

    def _end_of_quote(self) -> int:
        """Return the end of the line with which the quote closes that is open here, or where the next one opens."""
        ends = self._ends[bisect.bisect_right(self._ends, self._at) :]
        if self._in_fence:
            ends = ends[: bisect.bisect_right(ends, self._fence_end)]
        count = len(parse_turn(self._text[self._at : ends[0]]))
        lines = self._lines_of_quote(ends, count)
        if lines is None:
            return ends[-1]
        text = self._text[self._at : ends[lines]]
        opens = text.rindex(parse_turn(text)[-1].text) if is_in_quote(text) else 0
        return self._at + (opens or len(text))

    def _lines_of_quote(self, ends: Sequence[int], count: int) -> int | None:
        """Return the position of the line with which the quote closes, None if it never does; by halving."""

        def is_closed(position: int) -> bool:
            text = self._text[self._at : ends[position]]
            return len(parse_turn(text)) > count or not is_in_quote(text)

        low, high = -1, 0
        while not is_closed(high):
            if high == len(ends) - 1:
                return None
            low, high = high, min(len(ends) - 1, 2 * high + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_closed(middle) else (middle, high)
        return high
