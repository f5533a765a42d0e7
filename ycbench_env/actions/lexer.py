r"""Cuts one text into commands, knowing nothing of the table.

Invariants, each of them a test:

- It ends for any text, and its time is linear in the text.
- A command whose quoting is not understood takes the rest of its line with it, and the rest of the text if a quote
  never closes: what may have been meant as text is never read as a command.
- Two code fences in one text are never half run: all of the text is refused.

Source: docs/commands.md.
"""

import re
from typing import Final, NamedTuple

from ycbench_env.actions.characters import BLANKS, LINE_BREAKS
from ycbench_env.actions.words import SHELL, QuoteError, Word, read_word

__all__ = ["MAX_WORDS", "RawCommand", "TurnTooLongError", "read_commands"]

MAX_WORDS: Final = 100_000
"""Words and commands in one turn; a longer turn is refused as a whole (a megabyte of separators is no plan)."""


class TurnTooLongError(Exception):
    """More than ``MAX_WORDS`` words and commands. Never leaves this package."""


class RawCommand(NamedTuple):
    """One command: as written, its words, whether it follows ``&&``, and why it cannot be read."""

    text: str
    words: tuple[Word, ...]
    chained: bool
    error: str | None


class _FenceError(Exception):
    """The text holds a code fence that does not surround it."""


_EDGE: Final = BLANKS + LINE_BREAKS
_BREAK: Final = rf"(?:\r\n|[{LINE_BREAKS}])"
# Possessive quantifiers (++, *+) keep every pattern linear.
_BLANK_RUN: Final = re.compile(rf"(?:[{BLANKS}]++|\\{_BREAK})++")
_EMPTY_LINES: Final = re.compile(rf"(?:[{_EDGE};]++|#[^{LINE_BREAKS}]*+)++")
_EMPTY_LINES_IN_CHAIN: Final = re.compile(rf"(?:[{_EDGE}]++|#[^{LINE_BREAKS}]*+)++")
_LINE_BREAK: Final = re.compile(rf"[{LINE_BREAKS}]")
_PROMPT: Final = re.compile(rf"\$(?=[{BLANKS}])")
_FENCE: Final = re.compile(rf"(`{{3,}}+)[\w+.#-]*+[{BLANKS}]*+{_BREAK}")
_FENCE_LINE: Final = re.compile(rf"[{LINE_BREAKS}][{BLANKS}]*+```")
_SEPARATORS: Final = LINE_BREAKS + ";"  # and "&&"
_MAY_FOLLOW_TICK: Final = _SEPARATORS + "&#"

_NO_SHELL: Final = (
    "there is no shell here: no pipes, redirections, background jobs or substitutions. Nothing of this command was "
    'run. Put such characters in quotes if they are text, like --content "a | b"; separate commands by a new line, '
    '";" or "&&"'
)
_FENCE_MESSAGE: Final = (
    "A code fence (```) may only surround the whole text: one block, its fences on lines of their own, and nothing "
    "outside it. Nothing of this text was run. Send the commands in one block, or without fences"
)
_LONE_BACKSLASH: Final = (
    "The text ends in a lone backslash, which outside quotes continues a line. Put a backslash that belongs to a value "
    "in single quotes, like --content 'C:\\notes\\'"
)
_NOTHING_AFTER: Final = 'No command follows the "&&". Write one on both sides, like: task list && sim resume'
_NOTHING_BEFORE: Final = 'No command stands before the "&&". Write one on both sides, like: task list && sim resume'
_EMPTY_TICKS: Final = "Nothing stands between the backticks. Write the command without them, like: task list"
_AFTER_TICK: Final = "Text follows the closing backtick. Write the command without backticks, like: task list"
_OPEN_TICK: Final = "The backtick before the command never closes. Write the command without it, like: task list"


def read_commands(text: str, limit: int = MAX_WORDS) -> list[RawCommand]:
    """Return the commands of one text in order.

    Args:
        text: What the agent wrote, without lone surrogates.
        limit: How many words and commands it may hold.

    Raises:
        TurnTooLongError: It holds more.
    """
    start, end = _surrounding_fence(text)
    # Blanks at the end never count, so a backslash before them is a lone one.
    end = start + len(text[start:end].rstrip(_EDGE))
    reader = _Reader(text, start, end, limit)
    try:
        reader.read()
    except _FenceError:
        return [RawCommand(text.strip(_EDGE), (), chained=False, error=_FENCE_MESSAGE)]
    return reader.commands


def _surrounding_fence(text: str) -> tuple[int, int]:
    """Return where the text inside its surrounding code fence begins and ends; the whole text without one."""
    opening = _FENCE.match(text, len(text) - len(text.lstrip(_EDGE)))
    if opening is None:
        return 0, len(text)
    start, end = opening.end(), len(text.rstrip(_EDGE)) - len(opening[1])
    body = text[start:end].rstrip(BLANKS)
    closes = end >= start and text.startswith(opening[1], end) and (not body or body[-1] in LINE_BREAKS)
    return (start, end) if closes else (0, len(text))


class _Reader:
    """Walks through one text once; ``commands`` grows.

    ``_at`` is the place in the text. Of the command that is being read: ``_begin`` and ``_last`` are where it begins
    and where its last word ends, ``_words`` its words, ``_error`` what is wrong with it, ``_chained`` whether ``&&``
    stands before it. ``_tick`` is the number of commands before an open backtick.
    """

    def __init__(self, text: str, start: int, end: int, limit: int) -> None:
        self.commands: list[RawCommand] = []
        self._text = text
        self._at = self._begin = self._last = start
        self._end = end
        self._left = limit
        self._fenced = start > 0
        self._words: list[Word] = []
        self._error: str | None = None
        self._chained = False
        self._tick: int | None = None
        self._tick_at = 0

    def read(self) -> None:
        """Read the whole text."""
        while self._start_command():
            while not self._at_separator():
                self._read_token()
            self._finish()
        if self._chained:
            self._add("&&", _NOTHING_AFTER)
        if self._tick is not None:
            self._fail_open_tick(self._tick)

    def _spend(self, count: int = 1) -> None:
        self._left -= count
        if self._left < 0:
            raise TurnTooLongError

    def _add(self, text: str, error: str | None) -> None:
        self._spend()
        self.commands.append(RawCommand(text, tuple(self._words), self._chained, error))
        self._chained = False

    def _fail(self, message: str) -> None:
        """Note what is wrong with the command; the first reason is the one that is told."""
        self._error = self._error or message

    # ---- where a command begins and ends

    def _start_command(self) -> bool:
        """Skip empty lines, a backtick and a prompt; returns whether there is more."""
        # After "&&" a ";" is no empty line: it says that the second half is missing.
        lines = _EMPTY_LINES_IN_CHAIN if self._chained else _EMPTY_LINES
        if skipped := lines.match(self._text, self._at, self._end):
            self._at = skipped.end()
        self._words = []
        self._error = None
        self._begin = self._last = self._at
        if self._at >= self._end:
            return False
        if self._text.startswith("```", self._at, self._end):
            raise _FenceError
        self._skip_tick()  # before and after the prompt: models write both `$ x` and $ `x`
        if prompt := _PROMPT.match(self._text, self._at, self._end):
            self._at = prompt.end()
            self._skip_blanks()
            self._skip_tick()
        self._begin = self._last = self._at
        return True

    def _skip_tick(self) -> None:
        if self._tick is None and self._text.startswith("`", self._at, self._end):
            self._tick = len(self.commands)
            self._tick_at = self._at
            self._at += 1
            self._skip_blanks()

    def _skip_blanks(self) -> None:
        """Skip blanks, continued line breaks and a comment."""
        if run := _BLANK_RUN.match(self._text, self._at, self._end):
            self._at = run.end()
        # A word boundary is certain where blanks were, and at the start of a command.
        if self._text.startswith("#", self._at, self._end):
            self._at = self._line_end()

    def _at_separator(self) -> bool:
        self._skip_blanks()
        if self._at >= self._end or self._text[self._at] in _SEPARATORS:
            return True
        return self._text.startswith("&&", self._at, self._end)

    def _finish(self) -> None:
        """Step over the separator and adds the command, unless it is empty."""
        and_then = self._text.startswith("&&", self._at, self._end)
        if self._words or self._error:
            self._add(self._text[self._begin : self._last].strip(_EDGE), self._error)
            self._chained = and_then
        elif and_then:
            self._add("&&", _NOTHING_BEFORE)
            self._chained = True
        elif self._chained and self._text.startswith(";", self._at, self._end):
            self._add("&&", _NOTHING_AFTER)
        self._at += 2 if and_then else 1

    def _line_end(self) -> int:
        found = _LINE_BREAK.search(self._text, self._at, self._end)
        return found.start() if found else self._end

    # ---- what a command is made of

    def _read_token(self) -> None:
        char = self._text[self._at]
        if char in SHELL or self._text.startswith("$(", self._at, self._end):
            self._refuse_shell(char)
        elif char == "`" and self._tick is not None:
            self._close_tick()
        elif char == "\\" and self._at + 1 == self._end:
            self._at += 1
            self._last = self._at
            self._fail(_LONE_BACKSLASH)
        else:
            self._read_word()

    def _read_word(self) -> None:
        try:
            word, self._at = read_word(self._text, self._at, self._end, self._begin, in_ticks=self._tick is not None)
        except QuoteError as fault:
            self._give_up(fault)
            return
        self._spend(max(1, len(word.pieces)))
        self._words.append(word)
        self._last = self._at

    def _give_up(self, fault: QuoteError) -> None:
        """Let the rest of the line, or of the text, belong to this command, since it may be meant as text."""
        if not fault.open_ended:
            # Each comma may have cost as much as a word.
            self._spend(1 + self._text.count(",", self._at, fault.at))
            self._fail(fault.message)
            self._at = fault.at
            self._give_up_line()
            return
        # The open quote has swallowed the closing fence, so nothing says where the commands end.
        if self._fenced and _FENCE_LINE.search(self._text, fault.at, self._end):
            raise _FenceError
        self._error = fault.message
        self._tick = None
        self._at = self._last = self._end

    def _give_up_line(self) -> None:
        end = self._line_end()
        line = self._text[self._at : end].rstrip(BLANKS)
        if self._tick is not None and line.endswith("`"):
            self._tick = None
        # A chain that goes on in the next line goes on.
        self._at = self._last = self._at + len(line.removesuffix("&&"))

    def _refuse_shell(self, char: str) -> None:
        shown = "$(" if char == "$" else char * (1 + self._text.startswith(char * 2, self._at, self._end))
        self._fail(f'"{shown}" at character {self._at - self._begin + 1}: {_NO_SHELL}')
        if char == "$":
            self._give_up_line()
            return
        self._at += len(shown)
        self._last = self._at
        self._spend()

    def _close_tick(self) -> None:
        self._tick = None
        if not self._words:
            self._fail(_EMPTY_TICKS)
        self._at += 1
        self._skip_blanks()
        if self._at < self._end and self._text[self._at] not in _MAY_FOLLOW_TICK:
            self._fail(_AFTER_TICK)

    def _fail_open_tick(self, before: int) -> None:
        """Refuse the commands from the open backtick on as one."""
        opened = self.commands[before:]
        error = next((command.error for command in opened if command.error), _OPEN_TICK)
        chained = bool(opened) and opened[0].chained
        text = self._text[self._tick_at : self._end].strip(_EDGE)
        self.commands[before:] = [RawCommand(text, (), chained, error)]
