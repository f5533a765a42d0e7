r"""Read an agent's turn: any object in, typed commands and explained refusals out; it never raises.

Quotes and backslashes mean what they mean to a POSIX shell and to ``shlex.split``; the other rules (separators,
comments, typographic characters, fences) are in docs/commands.md. Invariants, each of them a test:

- It ends for any text, and its time is linear in the text.
- A command whose quoting is not understood takes the rest of its line with it, and the rest of the text if a quote
  never closes: what may have been meant as text is never read as a command.
- Two code fences in one text are never half run: all of the text is refused.

Source: docs/commands.md; answers (the table of commands and options).
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias, cast

import attrs

from ycbench_env.actions.grammar import (
    BLANKS,
    DEFAULT_GRAMMAR,
    LINE_BREAKS,
    CommandSpec,
    Grammar,
    OptionSpec,
    RefusedError,
    echo,
)
from ycbench_env.text import nearest, printable
from ycbench_env.types.command import Command, Help

MAX_ERROR_LENGTH: Final = 999
"""Characters of the longest error."""

MAX_WORDS: Final = 100_000
"""Words and commands in one turn; a longer turn is refused as a whole (a megabyte of separators is no plan)."""

_MAX_KEPT_LENGTH: Final = 200
_MAX_HINTS: Final = 50  # a hint costs 100 us, and no agent learns from the fifty-first
_MAX_TYPE_NAME: Final = 60
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
        return _parse_short(action) if grammar is DEFAULT_GRAMMAR else _parse_short(action, grammar)
    # Types, not isinstance(): that asks the object, and an object may raise.
    if issubclass(type(action), str):
        return _parse_texts((cast("str", action),), grammar)
    holders: tuple[Any, ...] = (list, tuple)
    for holder in holders:
        if issubclass(type(action), holder):
            texts = holder.__getitem__(action, slice(None))  # whatever its own class makes of iteration
            for text in texts:
                if not issubclass(type(text), str):
                    return _refuse_turn(f"got a {_shown(action)} that holds {_shown(text)}; expected only texts in it")
            return _parse_texts(texts, grammar)
    return _refuse_turn(f"got {_shown(action)}; expected a text, or a list or tuple of texts")


@lru_cache(maxsize=1024)
def _parse_short(text: str, grammar: Grammar = DEFAULT_GRAMMAR) -> tuple[ParsedCommand, ...]:
    """Return the commands of a short text; agents repeat most of them many times, and a text alone is a quick key."""
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
        text = text if text.isascii() else _SURROGATES.sub("\ufffd", text)
        if _PLAIN.fullmatch(text):  # nearly always; the reader would find the same words
            commands: list[_RawCommand] = []
            for line in text.splitlines():
                if words := line.split():
                    commands.append((line.strip(" "), words, False, None))
                    left -= len(words) + 1
        else:
            reader = _Reader(text, left)
            commands = reader.read()
            left = reader.left
        if left < 0:
            return _refuse_turn(f"got more than {MAX_WORDS:,} words and commands; expected a few commands")
        for shown, words, chained, error in commands:
            command = None
            if error is None:
                try:
                    command = _usual_command(words, grammar) or _command(words, grammar, hint=len(parsed) < _MAX_HINTS)
                except RefusedError as refused:
                    error = str(refused)  # noqa: PLW2901 -- the answer to this command
            if error is not None and len(error) > MAX_ERROR_LENGTH:
                error = error[: MAX_ERROR_LENGTH - 1] + "\u2026"  # noqa: PLW2901
            parsed.append(ParsedCommand(shown, command, error, chained))
    return tuple(parsed)


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
_TO_DASH: Final = str.maketrans(dict.fromkeys(DASHES, "-"))
# Possessive quantifiers (++, *+) keep every pattern linear.
_BREAK: Final = rf"(?:\r\n|[{LINE_BREAKS}])"
_COMMENT: Final = rf"#[^{LINE_BREAKS}]*+"
_GAP: Final = rf"(?:[{BLANKS}]++|\\{_BREAK})*+(?:{_COMMENT})?"  # blanks, continued lines and a comment after them
_BETWEEN_WORDS: Final = re.compile(_GAP)
_EMPTY_LINES: Final = re.compile(rf"(?:[{_EDGE};]++|{_COMMENT})*+")
_EMPTY_LINES_IN_CHAIN: Final = re.compile(rf"(?:[{_EDGE}]++|{_COMMENT})*+")
_REST_OF_LINE: Final = re.compile(rf"[^{LINE_BREAKS}]*+")
_PROMPT: Final = re.compile(rf"\$(?=[{BLANKS}]){_GAP}")
_TICK: Final = re.compile(rf"`{_GAP}")
_SEPARATOR: Final = re.compile(rf"[{LINE_BREAKS};]|&&|\Z")
_SHELL_SIGN: Final = re.compile(r"\$\(|\|\|?|&|<<?|>>?")
_FENCED: Final = re.compile(
    rf"[{_EDGE}]*+(`{{3,}}+)[A-Za-z0-9_+.#-]*+[{BLANKS}]*+{_BREAK}(.*(?<=[{LINE_BREAKS}]))[{BLANKS}]*+\1[{_EDGE}]*+",
    re.DOTALL,
)
_FENCE_LINE: Final = re.compile(rf"[{LINE_BREAKS}][{BLANKS}]*+```")
_UNQUOTED: Final = re.compile(rf"(?:[^\\{_EDGE}{_QUOTES};{_SHELL}$`]++|\$(?!\())++")
_AFTER_QUOTED: Final = re.compile(rf"[{_EDGE};,{_SHELL}]|\\(?=[{LINE_BREAKS}]|\Z)|\Z")
_LONG_OPTION: Final = re.compile(rf"[{LONG_DASHES}][A-Za-z]")
_READABLE: Final = re.compile(rf"""(?:[^\\"';{_SHELL}]++|\\.|"(?:[^"\\]++|\\.)*+"|'[^']*+')*+""", re.DOTALL)
_NO_SHELL: Final = (
    "there is no shell here: no pipes, redirections, background jobs or substitutions. Nothing of this command was "
    'run. Put such characters in quotes if they are text, like --content "a | b"; separate commands by a new line, '
    '";" or "&&"'
)
_FENCE: Final = (
    "A code fence (```) may only surround the whole text: one block, its fences on lines of their own, and nothing "
    "outside it. Nothing of this text was run. Send the commands in one block, or without fences"
)
_LONE_BACKSLASH: Final = (
    "The text ends in a lone backslash, which outside quotes continues a line. Put a backslash that belongs to a value "
    "in single quotes, like --content 'C:\\notes\\'"
)
_INSIDE: Final = (
    "The quote {sign} at character {place} stands inside a word: {around}. Such a quote must close on its line, and no "
    "separator may follow; the rest of the line was not read. Put the whole value in quotes of the other kind, like "
    '--content "client\'s late"'
)
_FOLLOWED: Final = (
    "Text follows the quote that closes at character {before} without a blank: {around}. The rest of the line was not "
    'read. Put text that holds quotes into quotes of the other kind, like --content \'He said "hi"\', or write \\" '
    "inside double quotes"
)
_UNCLOSED: Final = (
    "The quote {sign} that opens at character {place} never closes, so nothing after it was read: {around}. Close it, "
    "like "
)
_SINGLE_EXAMPLE: Final = "--reason 'changed plan', or with an apostrophe in it --reason \"won't make it\""
_DOUBLE_EXAMPLE: Final = '--reason "changed plan"; inside double quotes write \\" for a quote and \\\\ for a backslash'
_NOTHING_AFTER: Final = 'No command follows the "&&". Write one on both sides, like: task list && sim resume'
_NOTHING_BEFORE: Final = 'No command stands before the "&&". Write one on both sides, like: task list && sim resume'
_EMPTY_TICKS: Final = "Nothing stands between the backticks. Write the command without them, like: task list"
_AFTER_TICK: Final = "Text follows the closing backtick. Write the command without backticks, like: task list"
_OPEN_TICK: Final = "The backtick before the command never closes. Write the command without it, like: task list"
_QUOTED: Final = (  # marks that open, what follows up to the mark that closes, escapes in it, the error without one
    ('"', re.compile(r'((?:[^"\\]++|\\.)*+)"', re.DOTALL), re.compile(r'\\(["\\])'), _UNCLOSED + _DOUBLE_EXAMPLE),
    ("'", re.compile(r"([^']*+)'"), None, _UNCLOSED + _SINGLE_EXAMPLE),
    (
        DOUBLE_QUOTES,
        re.compile(rf'((?:[^"\\{DOUBLE_QUOTES}]++|\\.)*+)["{DOUBLE_QUOTES}]', re.DOTALL),
        re.compile(rf'\\(["\\{DOUBLE_QUOTES}])'),
        _UNCLOSED + _DOUBLE_EXAMPLE,
    ),
    (SINGLE_QUOTES, re.compile(rf"([^'{SINGLE_QUOTES}]*+)['{SINGLE_QUOTES}]"), None, _UNCLOSED + _SINGLE_EXAMPLE),
)


class _Value(str):
    """A word with a quoted part: never an option, even if it begins with ``--``. Other words are plain ``str``."""

    __slots__ = ()


class _Option(str):
    """An option with a quoted part: its value is given even if it is empty."""

    __slots__ = ()


_RawCommand: TypeAlias = tuple[str, Sequence[str], bool, str | None]
"""One command: as written, its words, whether it follows ``&&``, and why it cannot be read."""


class _RefusedTextError(Exception):
    """The text holds a code fence that does not surround it, or too many words and commands."""


class _QuoteError(Exception):
    """A quote is where it cannot be."""


class _UnclosedError(_QuoteError):
    """A quote never closes, so that no end can be found."""


class _Reader:
    """Reads one text once, from left to right.

    ``_at`` is the place in the text. Of the command that is being read: ``_begin`` and ``_last`` are where it begins
    and where its last word ends, ``_words`` its words, ``_error`` what is wrong with it, ``_chained`` whether ``&&``
    stands before it. ``_tick`` is the number of commands before an open backtick. ``left`` is how many words and
    commands may still come, below 0 if there were too many.
    """

    def __init__(self, text: str, left: int) -> None:
        self.left = left
        self.commands: list[_RawCommand] = []
        self._text = text
        fenced = _FENCED.fullmatch(text)
        self._fenced = fenced is not None
        start, end = fenced.span(2) if fenced else (0, len(text))
        # Blanks at the end never count, unless a backslash makes the first of them text.
        bare = text[start:end].rstrip(_EDGE)
        self._end = start + len(bare)
        if (len(bare) - len(bare.rstrip("\\"))) % 2 and self._end < end and text[self._end] in BLANKS:
            self._end += 1
        self._at = self._begin = self._last = start
        self._words: list[str] = []
        self._error: str | None = None
        self._chained = False
        self._tick: int | None = None
        self._tick_at = 0
        self._readable_end = -1

    def read(self) -> list[_RawCommand]:
        """Return the commands of the text in order."""
        try:
            while self._start_command():
                while not self._sees(_BETWEEN_WORDS, step=True) or not self._sees(_SEPARATOR):
                    self._read_token()
                self._finish_command()
        except _RefusedTextError:
            if self.left >= 0:
                self.commands[:] = [(self._text.strip(_EDGE), (), False, _FENCE)]
            return self.commands
        if self._chained:
            self._add("&&", _NOTHING_AFTER)
        if self._tick is not None:  # all commands from the open backtick on are refused as one
            opened = self.commands[self._tick :]
            error = next((error for *_, error in opened if error), _OPEN_TICK)
            text = self._text[self._tick_at : self._end].strip(_EDGE)
            chained = bool(opened) and opened[0][2]
            self.commands[self._tick :] = [(text, (), chained, error)]
        return self.commands

    def _sees(self, pattern: re.Pattern[str], *, step: bool = False) -> bool:
        """Return whether a pattern matches here, and step over what it matches."""
        match = pattern.match(self._text, self._at, self._end)
        if match and step:
            self._at = match.end()
        return match is not None

    def _starts(self, sign: str) -> bool:
        return self._text.startswith(sign, self._at, self._end)

    def _spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _RefusedTextError

    def _add(self, text: str, error: str | None) -> None:
        self.left -= 1
        self.commands.append((text, self._words, self._chained, error))
        self._chained = False
        self._words = []

    # ---- where a command begins and ends

    def _start_command(self) -> bool:
        """Skip empty lines, a backtick and a prompt; return whether there is more."""
        # After "&&" a ";" is no empty line: the second half is missing.
        self._sees(_EMPTY_LINES_IN_CHAIN if self._chained else _EMPTY_LINES, step=True)
        if self.left < 0 or self._starts("```"):
            raise _RefusedTextError
        self._words = []
        self._error = None
        if self._at >= self._end:
            return False
        self._skip_tick()  # before and after the prompt: models write both `$ x` and $ `x`
        if self._sees(_PROMPT, step=True):
            self._skip_tick()
        self._begin = self._last = self._at
        return True

    def _skip_tick(self) -> None:
        if self._tick is None and self._starts("`"):
            self._tick = len(self.commands)
            self._tick_at = self._at
            self._sees(_TICK, step=True)

    def _finish_command(self) -> None:
        """Step over the separator and add the command, unless it is empty."""
        and_then = self._starts("&&")
        if self._words or self._error:
            self._add(self._text[self._begin : self._last].strip(_EDGE), self._error)
        elif and_then:
            self._add("&&", _NOTHING_BEFORE)
        elif self._chained and self._starts(";"):
            self._add("&&", _NOTHING_AFTER)
        self._chained = self._chained or and_then
        self._at += 2 if and_then else 1

    def _give_up_line(self, message: str) -> None:
        """Let the rest of the line belong to this command, since it may be meant as text."""
        self._error = self._error or message  # the first reason is shown
        start = self._at
        self._sees(_REST_OF_LINE, step=True)
        line = self._text[start : self._at].rstrip(BLANKS)
        if self._tick is not None and line.endswith("`"):
            self._tick = None
        # A chain that goes on in the next line goes on.
        self._at = self._last = start + len(line.removesuffix("&&"))

    # ---- what a command is made of

    def _read_token(self) -> None:
        if sign := _SHELL_SIGN.match(self._text, self._at, self._end):
            message = f'"{sign[0]}" at character {self._at - self._begin + 1}: {_NO_SHELL}'
            if sign[0] == "$(":
                self._give_up_line(message)
                return
            self._error = self._error or message
            self._at = self._last = sign.end()
            self._spend()
        elif self._starts("`") and self._tick is not None:
            self._tick = None
            if not self._words:
                self._error = self._error or _EMPTY_TICKS
            self._sees(_TICK, step=True)
            if not self._sees(_SEPARATOR) and not self._starts("&"):
                self._error = self._error or _AFTER_TICK
        elif self._starts("\\") and self._at + 1 == self._end:
            self._at = self._last = self._end
            self._error = self._error or _LONE_BACKSLASH
        else:
            self._spend()
            try:
                self._words.append(self._read_word())
                self._last = self._at
            except _UnclosedError as unclosed:
                # If the open quote has swallowed the closing fence, nothing shows where the commands end.
                if self._fenced and _FENCE_LINE.search(self._text, self._at, self._end):
                    raise _RefusedTextError from None
                self._error = str(unclosed)
                self._tick = None
                self._at = self._last = self._end
            except _QuoteError as misplaced:
                self._give_up_line(str(misplaced))

    def _read_word(self) -> str:  # noqa: C901 -- one branch for each kind of character
        """Return the word that begins here and step over it.

        Raises:
            _UnclosedError: A quote never closes.
            _QuoteError: Text is glued to a quote on a line that no shell could read, or that goes on with a separator;
                or a typographic quote closes in the middle of a word.
        """
        parts: list[str] = []
        # What a quote here follows: "open" is the start of a word, "--name=" or a comma, "quote" a closing ASCII quote.
        before = "open"
        is_option = quoted = False
        while self._at < self._end:
            char = self._text[self._at]
            if char in "\"'":
                if before == "plain":
                    self._require_readable(_INSIDE)
                parts.append(self._read_quoted(char))
                before, quoted = "quote", True
            elif char in _QUOTES and before == "open":
                parts.append(self._read_quoted(char))
                before, quoted = "plain", True
                if not self._sees(_AFTER_QUOTED) and not (self._starts("`") and self._tick is not None):
                    raise _QuoteError(self._worded(_FOLLOWED, self._at - 20, min(self._end, self._at + 20)))
            else:
                run = _UNQUOTED.match(self._text, self._at, self._end)
                if run:
                    part, end = run[0], run.end()
                elif char == "\\" and self._at + 1 < self._end and self._text[self._at + 1] not in LINE_BREAKS:
                    part, end = self._text[self._at + 1], self._at + 2
                    quoted = True
                elif char in _QUOTES or (char == "`" and self._tick is None):  # within a word they are text
                    part, end = char, self._at + 1
                else:
                    break
                if before == "quote" and char != ",":
                    self._require_readable(_FOLLOWED)
                self._at = end
                if run and not part.isascii():
                    doubled = "-" if not parts and _LONG_OPTION.match(part) else ""
                    part = doubled + part.translate(_TO_DASH)
                is_option = is_option or (not parts and part.startswith("--"))
                is_name = is_option and not parts and part.find("=") == len(part) - 1
                before = "open" if is_name or part.endswith(",") else "plain"
                parts.append(part)
        text = "".join(parts)
        return (_Option if is_option else _Value)(text) if quoted else text

    def _require_readable(self, message: str) -> None:
        """Refuse text glued to a quote unless a shell reads the rest of the line as one command.

        Most such quotes are apostrophes or quotes within quotes, and what stands behind a ";" may be meant as text.
        """
        if self._at <= self._readable_end:  # looked for once a line, so that the time stays linear
            return
        match = _REST_OF_LINE.match(self._text, self._at, self._end)
        end = match.end() if match else self._end
        if not _READABLE.fullmatch(self._text, self._at, end):
            raise _QuoteError(self._worded(message, self._at - 20, min(end, self._at + 20)))
        self._readable_end = end

    def _worded(self, message: str, start: int, end: int) -> str:
        """Return a message about the sign that stands here; it shows the text between two places."""
        sign = self._text[self._at]
        return message.format(
            sign=sign if sign.isascii() else f"{sign} (U+{ord(sign):04X})",
            before=self._at - self._begin,
            place=self._at - self._begin + 1,
            around=echo(self._text[max(self._begin, start) : end], ""),
        )

    def _read_quoted(self, mark: str) -> str:
        """Return the text that the quote at this place opens, and step behind the closing quote."""
        _, pattern, escape, unclosed = next(kind for kind in _QUOTED if mark in kind[0])
        match = pattern.match(self._text, self._at + 1, self._end)
        if match is None:
            raise _UnclosedError(self._worded(unclosed, self._at, min(self._end, self._at + 60)))
        self._at = match.end()
        return escape.sub(r"\1", match[1]) if escape else match[1]


# --------------------------------------------------------------------------------------------- from words to a command

_ONE_VALUE: Final = re.compile(r"(?!--)[A-Za-z0-9_./-]{1,40}")  # needs no quotes to be read as one value
_MAX_COMPARED: Final = 40  # longer than any name; comparing takes time
_TO_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _usual_command(words: Sequence[str], grammar: Grammar) -> Command | None:
    """Return the command of two words and options with a value each; None for all else, which ``_command`` reads."""
    verbs = grammar.entries.get(words[0])
    spec = verbs.get(words[1]) if verbs and len(words) > 1 else None
    if spec is None or len(words) % 2:
        return None
    values: dict[str, object] = {}
    for place in range(2, len(words), 2):
        name, value = words[place], words[place + 1]
        option = spec.options_by_name.get(name)
        if option is None or option.field in values or value[:1] in "-=" or type(name) is _Value:
            return None
        try:
            values[option.field] = option.kind.read(str(value))
        except RefusedError:
            return None
    return None if spec.missing(values) else spec.command_type(**values)


def _command(words: Sequence[str], grammar: Grammar, *, hint: bool) -> Command:
    """Return the command that words make, at least one; RefusedError holds the agent's answer if they make none.

    ``hint`` is whether an error names the nearest valid name, which takes time.
    """
    if words[0] == "yc-bench":
        words = words[1:]
        if not words:
            message = '"yc-bench" alone is no command; yc-bench --help lists the commands.'
            raise RefusedError(message)
    # The names of options, None for values.
    names = [word.partition("=")[0] if word[:2] == "--" and type(word) is not _Value else None for word in words]
    topic: tuple[str, ...] | None = None
    if words[0] == "help":
        pairs = zip(words[1:], names[1:], strict=True)
        topic = tuple(word if name is None else word[len(name) + 1 :] for word, name in pairs if name != "--help")
    elif "--help" in names:  # anywhere: who asks for help wants nothing carried out
        asked = words[names.index("--help")]
        if "=" in asked:
            message = f"--help takes no value, got {echo(asked)}."
            raise RefusedError(message)
        topic = tuple(words[: min(2, next(place for place, name in enumerate(names) if name is not None))])
    if topic is not None:
        if grammar.find(topic):
            return Help(topic)
        raise RefusedError(_unknown_command(topic, grammar, hint=hint))
    if names[0] is not None:
        message = (
            f"A command begins with two words, and its options follow them, like task accept --task-id Task-3; got "
            f"{echo(words[0])} first."
        )
        raise RefusedError(message)
    verb = words[:2] if names[1:2] == [None] else words[:1]
    spec = grammar.entries.get(verb[0], {}).get(verb[-1]) if len(verb) > 1 else None
    if spec is None:
        raise RefusedError(_unknown_command(verb, grammar, hint=hint))
    return _Options(spec, words[2:], names[2:], hint=hint).build()


def _unknown_command(topic: Sequence[str], grammar: Grammar, *, hint: bool) -> str:
    noun = topic[0]
    verbs = grammar.entries.get(noun)
    if verbs is not None and len(topic) == 1:
        return f'"{noun}" needs a second word: {", ".join(verbs)}. {noun} --help shows them.'
    given = " ".join(topic)
    names = [f"{noun} {verb}" for verb in verbs] if verbs else [spec.name for spec in grammar.commands]
    valid = f"{noun} takes: {', '.join(verbs)}" if verbs else f"The commands are: {', '.join(names)}"
    nearest = _nearest([given, noun], names) if hint else ""
    return f"Unknown command {echo(given)} (case matters). {valid}{nearest or '.'} --help explains them."


def _nearest(given: Sequence[str], valid: Sequence[str]) -> str:
    """Return a question after the valid name that is nearest to the first text that is near to any."""
    for text in given:
        if found := nearest(text[:_MAX_COMPARED].translate(_TO_LOWER), valid):
            return f". Did you mean {found}?"
    return ""


class _Options:
    """Reads the options of one command from the words after its verb."""

    def __init__(self, spec: CommandSpec, words: Sequence[str], names: Sequence[str | None], *, hint: bool) -> None:
        self._spec = spec
        self._words = words
        self._names = names
        self._hint = hint
        self._at = 0

    def build(self) -> Command:
        """Return the command."""
        values: dict[str, object] = {}
        while self._at < len(self._words):
            word, name = self._words[self._at], self._names[self._at]
            if name is None:
                quotes = '; a value with blanks in it needs quotes, like --reason "changed plan"' if self._at else ""
                self._refuse(f"stray word {echo(word)}{quotes}{self._valid(word)}")
            option = self._spec.options_by_name.get(name)
            if option is None:
                self._refuse(f"unknown option {echo(name)}{self._valid(name)}")
            if option.field in values:
                self._refuse(f"{option.name} is given twice; give it once")
            self._at += 1
            texts = [self._next_value(option) if word == name else word[len(name) + 1 :]]
            if not texts[0] and type(word) is str and word != name:  # nothing but a blank stands after the "="
                self._refuse_blank("after", option, self._value_at(self._at))
            is_list = option.kind.name == "names"
            while is_list and self._at < len(self._words) and self._names[self._at] is None:
                texts.append(self._words[self._at])
                self._at += 1
            try:
                values[option.field] = option.kind.read_names(texts) if is_list else option.kind.read(str(texts[0]))
            except RefusedError as refused:
                self._refuse(f"{option.name} got {echo(' '.join(texts))}; expected {refused}")
        if missing := self._spec.missing(values):
            self._refuse(missing)
        return self._spec.command_type(**values)

    def _refuse(self, what: str) -> NoReturn:
        end = "" if what.endswith("?") else "."
        message = f"{self._spec.name}: {what}{end} Usage: {self._spec.usage}"
        raise RefusedError(message) from None

    def _valid(self, given: str) -> str:
        """Return what may be written instead."""
        names = list(self._spec.options_by_name)
        if not names:
            return "; it takes no options"
        nearest = _nearest(["--" + given.lstrip("-")], names) if self._hint else ""
        return f"; it takes {', '.join(names)}{nearest}"

    def _next_value(self, option: OptionSpec) -> str:
        """Return the word after an option, which must be a value, and step over it."""
        if self._at == len(self._words):
            self._refuse_blank("", option, "")
        word = self._words[self._at]
        if self._names[self._at] is not None:
            value = echo(word)
            either = f"{option.name}={value} or {option.name} {value}"
            self._refuse(f"{option.name} needs a value; if {value} is meant as its value, write {either}")
        if word[:1] == "=" and type(word) is str:
            self._refuse_blank("before", option, word[1:] or self._value_at(self._at + 1))
        self._at += 1
        return word

    def _value_at(self, place: int) -> str:
        """Return the word at a place, empty where there is none or it is an option."""
        return self._words[place] if place < len(self._words) and self._names[place] is None else ""

    def _refuse_blank(self, where: str, option: OptionSpec, value: str) -> NoReturn:
        """Refuse an option without a value, or with a blank before or after its equals sign."""
        if value or where == "before":
            shown = value if _ONE_VALUE.fullmatch(value) else echo(value)
            written = f"{option.name}={shown} or {option.name} {shown}" if value else option.usage
            self._refuse(f"no blank {where} the = of {option.name}; write {written}")
        empty = f'; an empty one is written {option.name} ""' if option.kind.name == "text" else ""
        self._refuse(f"{option.name} needs a value: {option.kind.expected}{empty}")
