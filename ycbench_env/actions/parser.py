"""Read an agent's turn: any object in, typed commands and explained refusals out; it never raises.

A turn of plain words (by far the most common one) takes a fast path that only splits; whatever is not plainly right
there is read again, slowly, by the lexer. Both give the same commands (a property test holds them together).

Source: docs/commands.md; answers (the table of commands and options).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

import attrs

from ycbench_env.actions.builder import build_command
from ycbench_env.actions.characters import clean
from ycbench_env.actions.grammar import DEFAULT_GRAMMAR, Entry, Grammar
from ycbench_env.actions.kinds import RefusedError
from ycbench_env.actions.lexer import MAX_WORDS, RawCommand, TurnTooLongError, read_commands
from ycbench_env.types.command import Command

__all__ = ["MAX_ERROR_LENGTH", "ParsedCommand", "parse_turn"]

MAX_ERROR_LENGTH: Final = 999
"""Characters of the longest error."""

_MAX_KEPT_LENGTH: Final = 200
_MAX_HINTS: Final = 50  # a hint costs 100 us, and no agent learns from the fifty-first
_MAX_PLAIN_LENGTH: Final = 4_000  # too short to hold too many words
_MAX_TYPE_NAME: Final = 60
_SEQUENCES: Final[tuple[Any, ...]] = (list, tuple)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_\-=,.:/ \r\n]*+")
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
    items = _items(action)
    if items is None:
        return _refuse_turn(f"got {_shown(action)}; expected a text, or a list or tuple of texts")
    for item in items:
        if not issubclass(type(item), str):
            return _refuse_turn(f"got a {_shown(action)} that holds {_shown(item)}; expected only texts in it")
    return _parse_texts(cast("Sequence[str]", items), grammar)


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


def _items(action: object) -> Sequence[object] | None:
    """Return what a list or tuple holds, whatever its type makes of iteration; None for anything else."""
    for holder in _SEQUENCES:
        if issubclass(type(action), holder):
            return holder.__getitem__(action, slice(None))
    return None


def _shown(got: object) -> str:
    """Return the name of an object's type, fit for an error."""
    return "None" if got is None else clean(_type_name(type(got)))[:_MAX_TYPE_NAME]


def _refuse_turn(why: str) -> tuple[ParsedCommand]:
    message = f"This turn cannot be read: {why}, like 'task accept --task-id Task-3'. Nothing was run."
    return (ParsedCommand("", None, message, chained=False),)


def _parse_texts(texts: Sequence[str], grammar: Grammar) -> tuple[ParsedCommand, ...]:
    parsed: list[ParsedCommand] = []
    left = MAX_WORDS
    for written in texts:
        text = clean(written)
        plain = _parse_plain(text, grammar.entries)
        if plain is not None:
            parsed += plain
            if len(texts) == 1:  # by far the most common turn
                break
            left -= len(text.split()) + len(plain)
        else:
            try:
                commands = read_commands(text, left)
            except TurnTooLongError:
                left = -1  # below, the turn is refused as a whole, with the texts of it that were read already
            else:
                left -= sum(len(raw.words) + 1 for raw in commands)
                for raw in commands:
                    parsed.append(_understand(raw, grammar, hint=len(parsed) < _MAX_HINTS))
        if left < 0:
            return _refuse_turn(f"got more than {MAX_WORDS:,} words and commands; expected a few commands")
    return tuple(parsed)


def _understand(raw: RawCommand, grammar: Grammar, *, hint: bool) -> ParsedCommand:
    error = raw.error
    if error is None:
        try:
            return ParsedCommand(raw.text, build_command(raw.words, grammar, hint=hint), None, raw.chained)
        except RefusedError as refused:
            error = str(refused)
    if len(error) > MAX_ERROR_LENGTH:
        error = error[: MAX_ERROR_LENGTH - 1] + "\u2026"
    return ParsedCommand(raw.text, None, error, raw.chained)


# ---- the fast path


def _parse_plain(text: str, entries: Mapping[str, Mapping[str, Entry]]) -> list[ParsedCommand] | None:
    """Return the commands of a text of plain words, None if there is anything else in it or wrong with it."""
    if len(text) > _MAX_PLAIN_LENGTH or not _PLAIN.fullmatch(text):
        return None
    parsed: list[ParsedCommand] = []
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        command = _build_plain(words, entries)
        if command is None:
            return None
        parsed.append(ParsedCommand(line.strip(), command, None, False))  # noqa: FBT003 -- positions are quicker
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
