"""What could be typed next: from the table of commands and from what has been told, never from hidden state."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ycbench_agents.cli.play.knowledge import Knowledge
    from ycbench_env import CommandSpace

__all__ = ["Candidate", "complete"]

_SEPARATOR: Final = re.compile(r"[\r\n;]|&&")
_PROGRAM: Final = "yc-bench"
_HELP: Final = "--help"
_EMPLOYEE: Final = "Emp_"
_WHO: Final = ("employees", "employee_id")  # fields that name employees
_WORDS_OF_A_COMMAND: Final = 2
# Which tasks a command takes; the others take any.
_STATUSES: Final = MappingProxyType(
    {
        "task accept": ("market",),
        "task assign": ("planned", "active"),
        "task dispatch": ("planned",),
        "task cancel": ("planned", "active"),
    }
)


@attrs.frozen
class Candidate:
    """A word that may stand at the cursor.

    Args:
        text: The word.
        length: How many characters before the cursor it replaces.
        meaning: A few words about it, empty where it speaks for itself.
        ends: Whether a blank follows: after a whole word, but not after a name in a list.
    """

    text: str
    length: int
    meaning: str = ""
    ends: bool = True


class _Option(Protocol):
    """What completion reads of an option in the table of commands."""

    @property
    def name(self) -> str: ...
    @property
    def field(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def kind(self) -> object: ...


class _Spec(Protocol):
    """What completion reads of a command in the table."""

    @property
    def name(self) -> str: ...
    @property
    def options(self) -> Sequence[_Option]: ...
    @property
    def one_of(self) -> Sequence[str]: ...


def complete(
    before: str, space: CommandSpace, knowledge: Knowledge, meta: Sequence[tuple[str, str]]
) -> list[Candidate]:
    """Return what may stand at the cursor, in a fixed order.

    Args:
        before: The text before the cursor.
        space: The action space, which holds the table of commands.
        knowledge: What observations have told.
        meta: Commands of the prompt itself, with their meanings.
    """
    if before.startswith(":"):
        return _matching(before, meta)
    command = _SEPARATOR.split(before)[-1]
    if command.count('"') % 2 or command.count("'") % 2:
        return []  # within quoted text
    # Blanks do for words here: what is quoted is not completed, and everything else has none in it.
    words = command.split()
    word = words.pop() if words and not command[-1].isspace() else ""
    if words and words[0] == _PROGRAM:
        words = words[1:]
    return _matching(word, _choices(words, word, space, knowledge), after=_value_start(word))


def _value_start(word: str) -> int:
    """Return where the part of a word begins that is to be completed: after ``--key=`` and the last comma."""
    return max(word.find("=") if word.startswith("--") else -1, word.rfind(",")) + 1


def _matching(word: str, choices: Iterable[tuple[str, str]], after: int = 0) -> list[Candidate]:
    typed = word[after:]
    return [
        Candidate(text, len(typed), meaning, ends=not text.startswith(_EMPLOYEE))
        for text, meaning in choices
        if text.startswith(typed)
    ]


def _choices(words: list[str], word: str, space: CommandSpace, knowledge: Knowledge) -> list[tuple[str, str]]:
    """Return what may follow whole words, given the beginning of the next."""
    commands = space.grammar.commands
    if not words:
        nouns = dict.fromkeys(spec.verb[0] for spec in commands)
        return [(noun, ", ".join(spec.verb[1] for spec in commands if spec.verb[0] == noun)) for noun in nouns]
    if len(words) < _WORDS_OF_A_COMMAND:
        return [(spec.verb[1], spec.summary) for spec in commands if spec.verb[0] == words[0]]
    for spec in commands:
        if spec.verb == (words[0], words[1]):
            return _option_choices(spec, words[2:], word, knowledge)
    return []


def _option_choices(spec: _Spec, words: list[str], word: str, knowledge: Knowledge) -> list[tuple[str, str]]:
    """Return the options that are left, or the values of the one that was begun."""
    by_name = {option.name: option for option in spec.options}
    given, equals, _ = word.partition("=")
    if equals and given in by_name:
        return _values(spec, by_name[given], word, knowledge)
    if words and words[-1] in by_name:
        return _values(spec, by_name[words[-1]], word, knowledge)
    used = {each.partition("=")[0] for each in words}
    if used.intersection(spec.one_of):
        used.update(spec.one_of)
    left = [(name, option.help) for name, option in by_name.items() if name not in used]
    return left or ([] if words else [(_HELP, "What this command does")])


def _values(spec: _Spec, option: _Option, word: str, knowledge: Knowledge) -> list[tuple[str, str]]:
    """Return the values of an option that are known."""
    if option.field == "task_id":
        return [(task_id, knowledge.tasks[task_id]) for task_id in knowledge.task_ids(*_STATUSES.get(spec.name, ()))]
    if option.field in _WHO:
        named = word.rpartition("=")[2].split(",")[:-1]
        names = (f"{_EMPLOYEE}{number}" for number in range(1, knowledge.employees + 1))
        return [(name, "") for name in names if name not in named]
    words = cast("tuple[str, ...]", getattr(option.kind, "words", ()))  # only a choice has them
    return [(choice, "") for choice in words]
