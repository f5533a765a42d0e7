r"""Read an agent's turn: any object in, typed commands and explained refusals out; it never raises.

A turn of plain words (by far the most common one) takes a fast path that only splits; whatever is not plainly right
there is read again, slowly, character by character. Both give the same commands.

Quotes and backslashes mean what they mean to a POSIX shell and to ``shlex.split``; the other rules (separators,
comments, typographic characters, fences) are in docs/commands.md. Invariants, each of them a test:

- It ends for any text, and its time is linear in the text.
- A command whose quoting is not understood takes the rest of its line with it, and the rest of the text if a quote
  never closes: what may have been meant as text is never read as a command.
- Two code fences in one text are never half run: all of the text is refused.

Source: docs/commands.md; answers (the table of commands and options).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple, NoReturn, cast

import attrs

from ycbench_env.actions.grammar import (
    BLANKS,
    DEFAULT_GRAMMAR,
    LINE_BREAKS,
    Entry,
    Grammar,
    OptionSpec,
    RefusedError,
    echo,
)
from ycbench_env.text import printable
from ycbench_env.types.command import Command, Help

MAX_ERROR_LENGTH: Final = 999
"""Characters of the longest error."""

MAX_WORDS: Final = 100_000
"""Words and commands in one turn; a longer turn is refused as a whole (a megabyte of separators is no plan)."""

_MAX_KEPT_LENGTH: Final = 200
_MAX_HINTS: Final = 50  # a hint costs 100 us, and no agent learns from the fifty-first
_MAX_PLAIN_LENGTH: Final = 4_000  # too short to hold too many words
_MAX_TYPE_NAME: Final = 60
_SEQUENCES: Final[tuple[Any, ...]] = (list, tuple)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_\-=,.:/ \r\n]*+")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_type_name: Final = cast("Callable[[type], str]", type.__dict__["__name__"].__get__)  # a metaclass may redefine it


@attrs.frozen
class ParsedCommand:
    """One command of a turn; exactly one of ``command`` and ``error`` is None.

    Args:
        text: The command as the agent wrote it, without blanks around it, lone surrogates replaced by U+FFFD.
        command: What it means.
        error: Why it means nothing: what was got, what was expected, how to put it right.
        chained: It follows ``&&``, so it is skipped if the command before it failed or was skipped.
    """

    text: str
    command: Command | None
    error: str | None
    chained: bool


def parse_turn(action: object, grammar: Grammar = DEFAULT_GRAMMAR) -> tuple[ParsedCommand, ...]:
    """Return the commands of a turn in order; never raises.

    Args:
        action: A text, or a list or tuple of texts, each read by itself. Anything else gives one error.
        grammar: The table of commands.

    Returns:
        One item for each command; () for a text without any.
    """
    if type(action) is str and len(action) <= _MAX_KEPT_LENGTH:
        return _parse_usual(action) if grammar is DEFAULT_GRAMMAR else _parse_varied(action, grammar)
    # Types, not isinstance(): that asks the object, and an object may raise.
    if issubclass(type(action), str):
        return _parse_texts((cast("str", action),), grammar)
    for holder in _SEQUENCES:
        if issubclass(type(action), holder):
            items = holder.__getitem__(action, slice(None))  # whatever its own class makes of iteration
            for item in items:
                if not issubclass(type(item), str):
                    return _refuse_turn(f"got a {_shown(action)} that holds {_shown(item)}; expected only texts in it")
            return _parse_texts(items, grammar)
    return _refuse_turn(f"got {_shown(action)}; expected a text, or a list or tuple of texts")


@lru_cache(maxsize=1024)
def _parse_usual(text: str) -> tuple[ParsedCommand, ...]:
    """Return the commands of a short text in the usual grammar; agents say most things many times.

    A cache of a pure function of an immutable text, so it changes nothing but the time taken.
    """
    return _parse_texts((text,), DEFAULT_GRAMMAR)


@lru_cache(maxsize=1024)
def _parse_varied(text: str, grammar: Grammar) -> tuple[ParsedCommand, ...]:
    """Return the commands of a short text in another grammar; apart, for to look up a grammar takes time, too."""
    return _parse_texts((text,), grammar)


def _shown(got: object) -> str:
    """Return the name of an object's type, fit for an error."""
    return "None" if got is None else printable(_type_name(type(got))[:_MAX_TYPE_NAME])


def _refuse_turn(why: str) -> tuple[ParsedCommand]:
    message = f"This turn cannot be read: {why}, like 'task accept --task-id Task-3'. Nothing was run."
    return (ParsedCommand("", None, message, chained=False),)


def _parse_texts(texts: Sequence[str], grammar: Grammar) -> tuple[ParsedCommand, ...]:
    parsed: list[ParsedCommand] = []
    left = MAX_WORDS
    for written in texts:
        text = str.__str__(written)
        if not text.isascii():
            text = _SURROGATES.sub("\ufffd", text)
        plain = _parse_plain(text, grammar.entries)
        if plain is not None:
            parsed += plain
            if len(texts) == 1:  # by far the most common turn
                break
            left -= len(text.split(" ")) + len(plain)
        else:
            reader = _Reader(text, left)
            commands = reader.read()
            left = reader.left
            for raw in commands:
                parsed.append(_understand(raw, grammar, hint=len(parsed) < _MAX_HINTS))
        if left < 0:
            return _refuse_turn(f"got more than {MAX_WORDS:,} words and commands; expected a few commands")
    return tuple(parsed)


# -------------------------------------------------------------------------------------------------------- the fast path


def _parse_plain(text: str, entries: Mapping[str, Mapping[str, Entry]]) -> list[ParsedCommand] | None:
    """Return the commands of a text of plain words, None if there is anything else in it or wrong with it."""
    if len(text) > _MAX_PLAIN_LENGTH or not _PLAIN.fullmatch(text):
        return None
    parsed: list[ParsedCommand] = []
    # Of the blanks and line breaks that splitting knows, the pattern has let none but " ", "\r" and "\n" pass.
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        command = _build_plain(words, entries)
        if command is None:
            return None
        parsed.append(ParsedCommand(line.strip(" "), command, None, False))  # noqa: FBT003 -- positions are quicker
    return parsed


def _build_plain(words: list[str], entries: Mapping[str, Mapping[str, Entry]]) -> Command | None:
    count = len(words)
    at = 1 if words[0] == "yc-bench" else 0
    verbs = entries.get(words[at]) if at + 1 < count else None
    entry = verbs.get(words[at + 1]) if verbs else None
    if entry is None:
        return None
    at += 2
    if at == count:
        return entry.bare
    values: dict[str, object] = {}
    while at < count:
        name = words[at]
        option = entry.options.get(name)
        at += 1
        if option:
            value = words[at] if at < count else ""  # too few words: the slow path words the error
            at += 1
            if value[:1] == "=" or value[:2] == "--":
                return None
        else:
            name, _, value = name.partition("=")
            option = entry.options.get(name)
        if not value or option is None or option.field in values:
            return None
        try:
            values[option.field] = option.kind.read(value)
        except RefusedError:
            return None
    return entry.build(values) if entry.is_complete(values) else None


# ------------------------------------------------------------------------------------------------- from text to words

DOUBLE_QUOTES: Final = "\u201c\u201d\u201e\u201f\xab\xbb\u2033\u2036\u301d\u301e\u301f\uff02"
"""Typographic double quotes: curly, low, reversed, guillemets, double primes, full-width."""

SINGLE_QUOTES: Final = "\u2018\u2019\u201a\u201b\u2039\u203a\u2032\u2035\uff07"
"""Typographic single quotes: curly, low, reversed, single guillemets, primes, full-width."""

LONG_DASHES: Final = "\u2012\u2013\u2014\u2015\ufe58"
"""Figure dash, en dash, em dash, horizontal bar, small em dash: before a letter they stand for ``--``."""

DASHES: Final = LONG_DASHES + "\u2010\u2011\u2212\ufe63\uff0d"
"""Outside quoted text each of these is ``-``: also hyphen, non-breaking hyphen, minus, small and full-width hyphen."""

_SHELL: Final = "|&<>"
_EDGE: Final = BLANKS + LINE_BREAKS
_QUOTES: Final = "\"'" + DOUBLE_QUOTES + SINGLE_QUOTES
_BREAK: Final = rf"(?:\r\n|[{LINE_BREAKS}])"
# Possessive quantifiers (++, *+) keep every pattern linear.
_BLANK_RUN: Final = re.compile(rf"(?:[{BLANKS}]++|\\{_BREAK})++")
_EMPTY_LINES: Final = re.compile(rf"(?:[{_EDGE};]++|#[^{LINE_BREAKS}]*+)++")
_EMPTY_LINES_IN_CHAIN: Final = re.compile(rf"(?:[{_EDGE}]++|#[^{LINE_BREAKS}]*+)++")
_LINE_BREAK: Final = re.compile(rf"[{LINE_BREAKS}]")
_PROMPT: Final = re.compile(rf"\$(?=[{BLANKS}])")
_FENCE: Final = re.compile(rf"(`{{3,}}+)[A-Za-z0-9_+.#-]*+[{BLANKS}]*+{_BREAK}")
_FENCE_LINE: Final = re.compile(rf"[{LINE_BREAKS}][{BLANKS}]*+```")
_SEPARATORS: Final = LINE_BREAKS + ";"  # and "&&"
_UNQUOTED: Final = re.compile(rf"(?:[^\\{_EDGE}{_QUOTES};{_SHELL}$`]++|\$(?!\())++")
_READABLE: Final = re.compile(rf"""(?:[^\\"';{_SHELL}]++|\\.|"(?:[^"\\]++|\\.)*+"|'[^']*+')*+""", re.DOTALL)
_LONG_OPTION: Final = re.compile(rf"[{LONG_DASHES}][A-Za-z]")
_TO_DASH: Final = str.maketrans(dict.fromkeys(DASHES, "-"))
_IN_DOUBLE: Final = re.compile(rf'((?:[^"\\{DOUBLE_QUOTES}]++|\\.)*+)["{DOUBLE_QUOTES}]', re.DOTALL)
_IN_SINGLE: Final = re.compile(rf"([^'{SINGLE_QUOTES}]*+)['{SINGLE_QUOTES}]")
_DOUBLE_ESCAPE: Final = re.compile(rf'\\(["\\{DOUBLE_QUOTES}])')
_QUOTED: Final = MappingProxyType(
    {
        '"': (re.compile(r'((?:[^"\\]++|\\.)*+)"', re.DOTALL), re.compile(r'\\(["\\])')),
        "'": (re.compile(r"([^']*+)'"), None),
        **dict.fromkeys(DOUBLE_QUOTES, (_IN_DOUBLE, _DOUBLE_ESCAPE)),
        **dict.fromkeys(SINGLE_QUOTES, (_IN_SINGLE, None)),
    }
)

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
_INSIDE: Final = (
    "The quote {} at character {} stands inside a word: {}. Such a quote must close on its line, and no separator may "
    "follow; the rest of the line was not read. Put the whole value in quotes of the other kind, like "
    '--content "client\'s late"'
)
_FOLLOWED: Final = (
    "Text follows the quote that closes at character {1} without a blank: {2}. The rest of the line was not read. Put "
    'text that holds quotes into quotes of the other kind, like --content \'He said "hi"\', or write \\" inside double '
    "quotes"
)
_NOTHING_AFTER: Final = 'No command follows the "&&". Write one on both sides, like: task list && sim resume'
_NOTHING_BEFORE: Final = 'No command stands before the "&&". Write one on both sides, like: task list && sim resume'
_EMPTY_TICKS: Final = "Nothing stands between the backticks. Write the command without them, like: task list"
_AFTER_TICK: Final = "Text follows the closing backtick. Write the command without backticks, like: task list"
_OPEN_TICK: Final = "The backtick before the command never closes. Write the command without it, like: task list"


class _Word(NamedTuple):
    """One word of a command.

    Args:
        option: The name before ``=`` if the word begins with an unquoted ``--``, else None.
        text: What the word says, without its quotes; of an option what follows the ``=``.
        quoted: Whether a part of the text was quoted, so that it is given even if it is empty.
        has_value: Of an option, whether it has a ``=``.
        place: Where it begins; counts characters of the command from 1.
    """

    option: str | None
    text: str
    quoted: bool
    has_value: bool
    place: int

    @property
    def written(self) -> str:
        """The word as an error shows it."""
        return self.text if self.option is None else self.option + ("=" + self.text if self.has_value else "")


class _RawCommand(NamedTuple):
    """One command: as written, its words, whether it follows ``&&``, and why it cannot be read."""

    text: str
    words: tuple[_Word, ...]
    chained: bool
    error: str | None


class _FenceError(Exception):
    """The text holds a code fence that does not surround it."""


class _TooLongError(Exception):
    """The text holds too many words and commands."""


class _QuoteError(Exception):
    """A quote is where it cannot be; ``open_ended`` if it never closes, so that no end can be found."""

    def __init__(self, message: str, at: int, *, open_ended: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.open_ended = open_ended


class _Reader:
    """Walks through one text once.

    ``_at`` is the place in the text. Of the command that is being read: ``_begin`` and ``_last`` are where it begins
    and where its last word ends, ``_words`` its words, ``_error`` what is wrong with it, ``_chained`` whether ``&&``
    stands before it. ``_tick`` is the number of commands before an open backtick. ``left`` is how many words and
    commands may still come, below 0 if there were too many.
    """

    def __init__(self, text: str, limit: int) -> None:
        start, end = _surrounding_fence(text)
        # Blanks at the end never count, unless a backslash makes the first of them text.
        self._end = start + len(text[start:end].rstrip(_EDGE))
        backslashes = self._end - len(text[start : self._end].rstrip("\\")) - start
        if backslashes % 2 and self._end < end and text[self._end] in BLANKS:
            self._end += 1
        self.left = limit
        self._text = text
        self._at = self._begin = self._last = start
        self._fenced = start > 0
        self._commands: list[_RawCommand] = []
        self._words: list[_Word] = []
        self._error: str | None = None
        self._chained = False
        self._tick: int | None = None
        self._tick_at = 0
        self._known_line_end = self._readable_end = -1

    def read(self) -> list[_RawCommand]:
        """Return the commands of the text in order."""
        try:
            while self._start_command():
                while not self._at_separator():
                    self._read_token()
                self._finish()
        except _FenceError:
            return [_RawCommand(self._text.strip(_EDGE), (), chained=False, error=_FENCE_MESSAGE)]
        except _TooLongError:
            return self._commands
        if self._chained:
            self._add("&&", _NOTHING_AFTER)
        if self._tick is not None:
            self._fail_open_tick(self._tick)
        return self._commands

    def _spend(self, count: int = 1) -> None:
        self.left -= count
        if self.left < 0:
            raise _TooLongError

    def _add(self, text: str, error: str | None) -> None:
        self.left -= 1
        self._commands.append(_RawCommand(text, tuple(self._words), self._chained, error))
        self._chained = False
        self._words = []

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
        self._spend(0)
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
            self._tick = len(self._commands)
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
        """Step over the separator and add the command, unless it is empty."""
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
        """Return where the line ends; looked for once a line, so that the time stays linear."""
        if self._known_line_end < self._at:
            found = _LINE_BREAK.search(self._text, self._at, self._end)
            self._known_line_end = found.start() if found else self._end
        return self._known_line_end

    # ---- what a command is made of

    def _read_token(self) -> None:
        char = self._text[self._at]
        if char in _SHELL or self._text.startswith("$(", self._at, self._end):
            self._refuse_shell(char)
        elif char == "`" and self._tick is not None:
            self._close_tick()
        elif char == "\\" and self._at + 1 == self._end:
            self._at += 1
            self._last = self._at
            self._fail(_LONE_BACKSLASH)
        else:
            self._spend()
            try:
                self._words.append(self._read_word())
                self._last = self._at
            except _QuoteError as fault:
                self._give_up(fault)

    def _read_word(self) -> _Word:  # noqa: C901 -- one branch for each kind of character
        """Return the word that begins here and step over it.

        Raises:
            _QuoteError: A quote never closes; text is glued to a quote on a line that no shell could read, or that goes
                on with a separator; or a typographic quote closes in the middle of a word.
        """
        text, end, place = self._text, self._end, self._at - self._begin + 1
        parts: list[str] = []
        # What a quote here follows: "open" is the start of a word, "--name=" or a comma, "quote" a closing ASCII quote.
        before = "open"
        is_option = quoted = False
        while self._at < end:
            char = text[self._at]
            if char in "\"'":
                if before == "plain":
                    self._require_readable(_INSIDE, self._at + 1)
                part = self._read_quoted(char)
                before, quoted = "quote", True
            elif char in _QUOTES and before == "open":
                part = self._read_quoted(char)
                before, quoted = "plain", True
                self._check_end()
            else:
                match = _UNQUOTED.match(text, self._at, end)
                if match:
                    part = match[0]
                elif char == "\\" and self._at + 1 < end and text[self._at + 1] not in LINE_BREAKS:
                    part = text[self._at + 1]
                    quoted = True
                elif char in _QUOTES or (char == "`" and self._tick is None):  # within a word they are text
                    part = char
                else:
                    break
                if before == "quote" and char != ",":
                    self._require_readable(_FOLLOWED, self._at)
                self._at = match.end() if match else self._at + 1 + (char == "\\")
                if not part.isascii() and match:
                    doubled = "-" if not parts and _LONG_OPTION.match(part) else ""
                    part = doubled + part.translate(_TO_DASH)
                is_option = is_option or (not parts and part.startswith("--"))
                is_open = part.endswith(",") or (is_option and not parts and part.find("=") == len(part) - 1)
                before = "open" if is_open else "plain"
            parts.append(part)
        said = "".join(parts)
        if not is_option:
            return _Word(None, said, quoted, has_value=False, place=place)
        name, equals, value = said.partition("=")
        return _Word(name, value, quoted, has_value=bool(equals), place=place)

    def _require_readable(self, message: str, place: int) -> None:
        """Refuse text glued to a quote unless a shell reads the rest of the line as one command.

        Most such quotes are apostrophes or quotes within quotes, and what stands behind a ";" may be meant as text.
        """
        end = self._line_end()
        if self._readable_end != end:  # looked for once a line, so that the time stays linear
            if not _READABLE.fullmatch(self._text, self._at, end):
                at, begin = self._at, self._begin
                around = self._text[max(begin, at - 20) : min(end, at + 20)]
                raise _QuoteError(message.format(self._text[at], place - begin, echo(around, "")), at)
            self._readable_end = end

    def _read_quoted(self, mark: str) -> str:
        """Return the text that the quote at this place opens, and step behind the closing quote."""
        pattern, escape = _QUOTED[mark]
        match = pattern.match(self._text, self._at + 1, self._end)
        if match is None:
            name = mark if mark.isascii() else f"{mark} (U+{ord(mark):04X})"
            example = (
                "--reason 'changed plan', or with an apostrophe in it --reason \"won't make it\""
                if mark in "'" + SINGLE_QUOTES
                else '--reason "changed plan"; inside double quotes write \\" for a quote and \\\\ for a backslash'
            )
            message = (
                f"The quote {name} that opens at character {self._at - self._begin + 1} never closes, so nothing after "
                f"it was read: {echo(self._text[self._at : min(self._end, self._at + 60)], '')}. Close it, like "
                f"{example}"
            )
            raise _QuoteError(message, self._at, open_ended=True)
        self._at = match.end()
        quoted = match[1]
        return escape.sub(r"\1", quoted) if escape and "\\" in quoted else quoted

    def _check_end(self) -> None:
        """Refuse text that is glued to a closing typographic quote, which may have been an apostrophe."""
        text, at = self._text, self._at
        following = text[at : at + 1] if at < self._end else ""
        continued = following == "\\" and text[at + 1 : at + 2] in LINE_BREAKS
        if following in _EDGE + ";," + _SHELL or (following == "`" and self._tick is not None) or continued:
            return
        around = text[max(self._begin, at - 20) : min(self._end, at + 20)]
        raise _QuoteError(_FOLLOWED.format("", at - self._begin, echo(around, "")), at)

    def _give_up(self, fault: _QuoteError) -> None:
        """Let the rest of the line, or of the text, belong to this command, since it may be meant as text."""
        if not fault.open_ended:
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
        sign = "$(" if char == "$" else char * (1 + self._text.startswith(char * 2, self._at, self._end))
        self._fail(f'"{sign}" at character {self._at - self._begin + 1}: {_NO_SHELL}')
        if char == "$":
            self._give_up_line()
            return
        self._at += len(sign)
        self._last = self._at
        self._spend()

    def _close_tick(self) -> None:
        self._tick = None
        if not self._words:
            self._fail(_EMPTY_TICKS)
        self._at += 1
        self._skip_blanks()
        if self._at < self._end and self._text[self._at] not in _SEPARATORS + "&#":
            self._fail(_AFTER_TICK)

    def _fail_open_tick(self, before: int) -> None:
        """Refuse the commands from the open backtick on as one."""
        opened = self._commands[before:]
        error = next((command.error for command in opened if command.error), _OPEN_TICK)
        chained = bool(opened) and opened[0].chained
        text = self._text[self._tick_at : self._end].strip(_EDGE)
        self._commands[before:] = [_RawCommand(text, (), chained, error)]


def _surrounding_fence(text: str) -> tuple[int, int]:
    """Return where the text inside its surrounding code fence begins and ends; the whole text without one."""
    opening = _FENCE.match(text, len(text) - len(text.lstrip(_EDGE)))
    if opening is None:
        return 0, len(text)
    start, end = opening.end(), len(text.rstrip(_EDGE)) - len(opening[1])
    body = text[start:end].rstrip(BLANKS)
    closes = end >= start and text.startswith(opening[1], end) and (not body or body[-1] in LINE_BREAKS)
    return (start, end) if closes else (0, len(text))


# --------------------------------------------------------------------------------------------- from words to a command

_PROGRAM: Final = "yc-bench"
_HELP: Final = "--help"
_ONE_VALUE: Final = re.compile(r"(?!--)[A-Za-z0-9_./-]{1,40}")  # needs no quotes to be read as one value
_MAX_COMPARED: Final = 40  # longer than any name; comparing takes time
_TO_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _understand(raw: _RawCommand, grammar: Grammar, *, hint: bool) -> ParsedCommand:
    error = raw.error
    if error is None:
        try:
            return ParsedCommand(raw.text, _build(raw.words, grammar, hint=hint), None, raw.chained)
        except RefusedError as refused:
            error = str(refused)
    if len(error) > MAX_ERROR_LENGTH:
        error = error[: MAX_ERROR_LENGTH - 1] + "\u2026"
    return ParsedCommand(raw.text, None, error, raw.chained)


def _build(words: Sequence[_Word], grammar: Grammar, *, hint: bool) -> Command:
    """Return the command that the words make.

    Args:
        words: The words of one command, at least one.
        grammar: The table of commands.
        hint: Whether an error names the nearest valid name, which takes time.

    Raises:
        RefusedError: They make none; the message is the agent's answer.
    """
    if words[0].option is None and words[0].text == _PROGRAM:
        words = words[1:]
    if not words:
        message = f'"{_PROGRAM}" alone is no command; {_PROGRAM} {_HELP} lists the commands.'
        raise RefusedError(message)
    topic = _topic(words)
    if topic is not None:
        if len(topic) <= 2 and grammar.find(topic):  # noqa: PLR2004 -- a command has two words
            return Help(topic)
        raise RefusedError(_unknown_command(topic, grammar, hint=hint))
    if words[0].option is not None:
        message = (
            f"A command begins with two words, and its options follow them, like task accept --task-id Task-3; got "
            f"{echo(words[0].written)} first."
        )
        raise RefusedError(message)
    verb = tuple(word.text for word in words[:2] if word.option is None)
    entry = grammar.entries.get(verb[0], {}).get(verb[-1]) if len(verb) > 1 else None
    if entry is None:
        raise RefusedError(_unknown_command(verb, grammar, hint=hint))
    return _Options(entry, words[2:], hint=hint).build()


def _topic(words: Sequence[_Word]) -> tuple[str, ...] | None:
    """Return the words that help is asked about, None if it is not asked for."""
    if words[0].option is None and words[0].text == "help":
        return tuple(word.text for word in words[1:] if word.option != _HELP)
    # Anywhere, also behind options: who asks for help wants nothing carried out.
    asked = next((number for number, word in enumerate(words) if word.option == _HELP), None)
    if asked is None:
        return None
    if words[asked].has_value:
        message = f"{_HELP} takes no value, got {echo(words[asked].written)}."
        raise RefusedError(message)
    named = next((number for number, word in enumerate(words) if word.option is not None), asked)
    return tuple(word.text for word in words[: min(named, 2)])


def _unknown_command(topic: tuple[str, ...], grammar: Grammar, *, hint: bool) -> str:
    noun = topic[0]
    verbs = grammar.entries.get(noun)
    if verbs is not None and len(topic) == 1:
        return f'"{noun}" needs a second word: {", ".join(verbs)}. {noun} {_HELP} shows them.'
    given = " ".join(topic)
    if verbs is not None:
        valid = f"{noun} takes: {', '.join(verbs)}"
        names = [f"{noun} {verb}" for verb in verbs]
    else:
        names = [spec.name for spec in grammar.commands]
        valid = f"The commands are: {', '.join(names)}"
    nearest = _nearest([given, noun], names) if hint else ""
    return f"Unknown command {echo(given)} (case matters). {valid}{nearest or '.'} {_HELP} explains them."


def _nearest(given: Iterable[str], valid: Sequence[str]) -> str:
    """Return a question after the valid name that is nearest to the first text that is near to any."""
    import difflib  # noqa: PLC0415 -- a turn without a mistake needs none

    for text in given:
        if found := difflib.get_close_matches(text[:_MAX_COMPARED].translate(_TO_LOWER), valid, n=1):
            return f". Did you mean {found[0]}?"
    return ""


class _Options:
    """Reads the options of one command from the words after its verb."""

    def __init__(self, entry: Entry, words: Sequence[_Word], *, hint: bool) -> None:
        self._entry = entry
        self._spec = entry.spec
        self._words = words
        self._hint = hint
        self._at = 0

    def build(self) -> Command:
        """Return the command."""
        values: dict[str, object] = {}
        while self._at < len(self._words):
            word = self._words[self._at]
            if word.option is None:
                quotes = '; a value with blanks in it needs quotes, like --reason "changed plan"' if self._at else ""
                self._refuse(f"stray word {echo(word.text)}{quotes}{self._valid(word.text)}")
            option = self._entry.options.get(word.option)
            if option is None:
                self._refuse(f"unknown option {echo(word.option)}{self._valid(word.option)}")
            if option.field in values:
                self._refuse(f"{option.name} is given twice; give it once")
            values[option.field] = self._read(option, word)
        if not self._entry.is_complete(values):
            self._refuse(self._missing(values))
        return self._entry.build(values)

    def _refuse(self, what: str) -> NoReturn:
        end = "" if what.endswith("?") else "."
        message = f"{self._spec.name}: {what}{end} Usage: {self._spec.usage}"
        raise RefusedError(message) from None

    def _valid(self, given: str) -> str:
        """Return what may be written instead."""
        names = list(self._entry.options)
        if not names:
            return "; it takes no options"
        nearest = _nearest(["--" + given.lstrip("-")], names) if self._hint else ""
        return f"; it takes {', '.join(names)}{nearest}"

    def _missing(self, values: dict[str, object]) -> str:
        needed = [option.usage for option in self._spec.options if option.required and option.field not in values]
        if needed:
            return f"needs {' and '.join(needed)}"
        return f"needs exactly one of {', '.join(self._spec.one_of)}"

    def _read(self, option: OptionSpec, word: _Word) -> object:
        """Return the value of an option and step over its words."""
        self._at += 1
        if not word.has_value:
            texts = [self._next_value(option)]
        elif word.text or word.quoted:
            texts = [word.text]
        else:
            value = self._value_at(self._at)
            self._refuse(self._blank("after", option, value) if value else self._no_value(option))
        is_list = option.kind.name == "names"
        while is_list and self._at < len(self._words) and self._words[self._at].option is None:
            texts.append(self._words[self._at].text)
            self._at += 1
        try:
            return option.kind.read_names(texts) if is_list else option.kind.read(texts[0])
        except RefusedError as refused:
            self._refuse(f"{option.name} got {echo(' '.join(texts))}; expected {refused}")

    def _next_value(self, option: OptionSpec) -> str:
        """Return the word after an option, which must be a value, and step over it."""
        if self._at == len(self._words):
            self._refuse(self._no_value(option))
        word = self._words[self._at]
        if word.option is not None:
            value = echo(word.written)
            either = f"{option.name}={value} or {option.name} {value}"
            self._refuse(f"{option.name} needs a value; if {value} is meant as its value, write {either}")
        if not word.quoted and word.text.startswith("="):
            self._refuse(self._blank("before", option, word.text[1:] or self._value_at(self._at + 1)))
        self._at += 1
        return word.text

    def _value_at(self, place: int) -> str:
        """Return the text of the word at a place, empty where there is none or it is an option."""
        word = self._words[place] if place < len(self._words) else None
        return word.text if word is not None and word.option is None else ""

    @staticmethod
    def _blank(where: str, option: OptionSpec, value: str) -> str:
        """Return what to say of an equals sign with a blank beside it."""
        shown = value if _ONE_VALUE.fullmatch(value) else echo(value)
        written = f"{option.name}={shown} or {option.name} {shown}" if value else option.usage
        return f"no blank {where} the = of {option.name}; write {written}"

    @staticmethod
    def _no_value(option: OptionSpec) -> str:
        empty = f'; an empty one is written {option.name} ""' if option.kind.name == "text" else ""
        return f"{option.name} needs a value: {option.kind.expected}{empty}"
