"""Makes a command of words, or says why not: what was got, what was expected, the nearest valid thing.

Source: answers (the table of commands and options); docs/commands.md.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NoReturn

from ycbench_env.actions.characters import echo
from ycbench_env.actions.grammar import Entry, Grammar, OptionSpec
from ycbench_env.actions.kinds import NamesKind, Piece, RefusedError, TextKind
from ycbench_env.actions.words import Word
from ycbench_env.types.command import Command, Help

__all__ = ["build_command"]

_PROGRAM: Final = "yc-bench"
_HELP: Final = "--help"
_PLAIN: Final = re.compile(r"(?!--)[A-Za-z0-9_./-]{1,40}")  # needs no quotes to be read as one value
_MAX_COMPARED: Final = 40  # longer than any name; comparing takes time


def build_command(words: Sequence[Word], grammar: Grammar, *, hint: bool) -> Command:
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


def _topic(words: Sequence[Word]) -> tuple[str, ...] | None:
    """Return the words that help is asked about, None if it is not asked for."""
    if words[0].option is None and words[0].text == "help":
        return tuple(word.text for word in words[1:] if word.option != _HELP)
    # Anywhere, also behind options: who asks for help wants nothing carried out.
    asked = next((number for number, word in enumerate(words) if word.option == _HELP), None)
    if asked is None:
        return None
    if words[asked].pieces:
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
        if found := difflib.get_close_matches(text[:_MAX_COMPARED].lower(), valid, n=1):
            return f". Did you mean {found[0]}?"
    return ""


class _Options:
    """Read the options of one command from the words after its verb."""

    def __init__(self, entry: Entry, words: Sequence[Word], *, hint: bool) -> None:
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
            option = self._find(word)
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

    def _find(self, word: Word) -> OptionSpec:
        if word.option is None:
            self._refuse(self._stray(word))
        option = self._entry.options.get(word.option)
        if option is None:
            self._refuse(f"unknown option {echo(word.option)}{self._valid(word.option)}")
        return option

    def _valid(self, given: str) -> str:
        """Return what may be written instead."""
        names = list(self._entry.options)
        if not names:
            return "; it takes no options"
        nearest = _nearest(["--" + given.lstrip("-")], names) if self._hint else ""
        return f"; it takes {', '.join(names)}{nearest}"

    def _stray(self, word: Word) -> str:
        quotes = '; a value with blanks in it needs quotes, like --reason "changed plan"' if self._at else ""
        return f"stray word {echo(word.text)}{quotes}{self._valid(word.text)}"

    def _missing(self, values: dict[str, object]) -> str:
        needed = [option.usage for option in self._spec.options if option.required and option.field not in values]
        if needed:
            return f"needs {' and '.join(needed)}"
        return f"needs exactly one of {', '.join(self._spec.one_of)}"

    # ---- values

    def _read(self, option: OptionSpec, word: Word) -> object:
        """Return the value of an option and steps over its words."""
        self._at += 1
        pieces = list(word.pieces)
        # Where the value stands, which an error names: after "--name=" in the same word, else in the next one.
        place = word.place if pieces or self._at == len(self._words) else self._words[self._at].place
        if word.pieces:
            if not word.quoted and not word.text:
                value = self._value_at(self._at)
                self._refuse(self._blank("after", option, value) if value else self._no_value(option))
        else:
            pieces += self._next_pieces(option)
        if isinstance(option.kind, NamesKind):
            while self._at < len(self._words) and self._words[self._at].option is None:
                pieces += self._words[self._at].pieces
                self._at += 1
        elif len(pieces) > 1:
            message = (
                f"{option.name} has quoted text beside a comma, in the word at character {place}, which only "
                'lists may have; put the whole value in one pair of quotes, like "a, b"'
            )
            self._refuse(message)
        return self._convert(option, pieces)

    def _next_pieces(self, option: OptionSpec) -> tuple[Piece, ...]:
        """Return the word after an option, which must be a value."""
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
        return word.pieces

    def _value_at(self, place: int) -> str:
        """Return the text of the word at a place, empty where there is none or it is an option."""
        word = self._words[place] if place < len(self._words) else None
        return word.text if word is not None and word.option is None else ""

    @staticmethod
    def _blank(where: str, option: OptionSpec, value: str) -> str:
        """Return what to say of an equals sign with a blank beside it."""
        shown = value if _PLAIN.fullmatch(value) else echo(value)
        written = f"{option.name}={shown} or {option.name} {shown}" if value else option.usage
        return f"no blank {where} the = of {option.name}; write {written}"

    @staticmethod
    def _no_value(option: OptionSpec) -> str:
        empty = f'; an empty one is written {option.name} ""' if isinstance(option.kind, TextKind) else ""
        return f"{option.name} needs a value: {option.kind.expected}{empty}"

    def _convert(self, option: OptionSpec, pieces: list[Piece]) -> object:
        try:
            if isinstance(option.kind, NamesKind):
                return option.kind.read_pieces(pieces)
            return option.kind.read(pieces[0].text)
        except RefusedError as refused:
            got = echo(" ".join(piece.text for piece in pieces))
            self._refuse(f"{option.name} got {got}; expected {refused}")
