"""Hypothesis strategies for what an agent may say: commands, turns whose meaning is known, and hostile texts."""

import datetime as dt
from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

from hypothesis import strategies as st

from ycbench_env.actions import (
    DEFAULT_GRAMMAR,
    CommandSpec,
    Grammar,
    Kind,
    OptionSpec,
    format_command,
)
from ycbench_env.types.command import Command, Help

__all__ = [
    "Turn",
    "any_texts",
    "hostile_actions",
    "hostile_texts",
    "plain_texts",
    "turns",
    "valid_commands",
]

_LARGEST: Final = 10**18 - 1
# Characters and runs of them that mean something to the lexer, or look as if they did.
_SIGNS: Final = (
    *"\"'`\\;|&<>$#-=, \n\r\t",
    *"\u201c\u201d\u2018\u2019\xab\uff02\u2014\u2011\u2212\xa0\u200b\u2028\x85\ufeff\u3000\x00\x1f",
    *("```", "```bash\n", "\n```", "$ ", "$(", "&&", "||", "\r\n", "\\\n", '\\"', "\\\\", " # ", "--", "\u2014a"),
)
_FRAGMENTS: Final = (
    *_SIGNS,
    *("yc-bench ", "task ", "accept ", "sim resume", "task list", "scratchpad write ", "--content ", "--task-id=T-1 "),
    *(
        "--employees ",
        "Emp_1",
        "Emp_4",
        "--help",
        "help",
        "market browse --limit ",
        "1.5",
        "-3",
        "client's",
        "\U0001f642",
    ),
)
_PLAIN_FRAGMENTS: Final = (
    *("yc-bench ", "task ", "list", "accept ", "assign ", "sim resume", "market browse ", "finance ledger "),
    *("--employee-id ", "--employee-id=Emp_1 ", "--required-prestige-lte 3 "),
    *("--task-id ", "--task-id=", "T-1 ", "--employees ", "--employees=", "Emp_1", "Emp_4,", ",", "=", "-", "--", " "),
    *("--limit 5 ", "--limit=0 ", "--from 2025-01-02 ", "--to=02/03/2025 ", "--help ", "\n", "\r\n", "\r", "x ", "1"),
)


class Turn(NamedTuple):
    """A turn's text and what it must mean."""

    text: str
    commands: tuple[Command, ...]


def any_texts() -> st.SearchStrategy[str]:
    """Texts that UTF-8 can hold, many of them full of quotes, separators and blanks."""
    anything = st.text(st.characters(codec="utf-8"), max_size=20)
    return anything | st.lists(st.sampled_from(_SIGNS) | anything, max_size=6).map("".join)


def hostile_texts() -> st.SearchStrategy[str]:
    """Texts made of pieces of commands and of everything that could upset a parser, lone surrogates included."""
    return st.lists(st.sampled_from(_FRAGMENTS) | st.text(max_size=4), max_size=12).map("".join) | st.text()


def plain_texts() -> st.SearchStrategy[str]:
    """Texts of plain words, valid or not."""
    return st.lists(st.sampled_from(_PLAIN_FRAGMENTS), max_size=10).map("".join)


def hostile_actions() -> st.SearchStrategy[object]:
    """Any object as an action."""
    atoms = st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=5) | hostile_texts()
    nested = st.recursive(
        atoms, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    )
    return nested | st.lists(hostile_texts(), max_size=4) | st.lists(hostile_texts(), max_size=4).map(tuple)


def valid_commands(grammar: Grammar = DEFAULT_GRAMMAR) -> st.SearchStrategy[Command]:
    """Every command that the grammar can say, ``Help`` included."""
    topics = [(), *((noun,) for noun in grammar.entries), *(spec.verb for spec in grammar.commands)]
    return st.one_of(*map(_commands_of, grammar.commands), st.sampled_from(topics).map(Help))


@st.composite
def turns(draw: st.DrawFn, grammar: Grammar = DEFAULT_GRAMMAR) -> Turn:
    """Turns in which each command is spelt in some valid way: order, ``=``, blanks, quotes, prompts, comments."""
    commands = draw(st.lists(valid_commands(grammar), max_size=4))
    text = draw(_BLANKS)
    for number, command in enumerate(commands):
        if number:
            text += draw(
                st.sampled_from(["\n", "\r\n", ";", " && ", "&&", " # it's; a note\n", " \\\n\n", "\u2028;\n"])
            )
        text += draw(st.sampled_from(["", "", " ", "$ ", "yc-bench ", "$ yc-bench\xa0"]))
        text += draw(_spelling(command, grammar))
    return Turn(text + draw(_BLANKS), tuple(commands))


_BLANKS: Final = st.sampled_from(["", " ", "\t ", "\xa0", "\n", "\ufeff"])


@st.composite
def _spelling(draw: st.DrawFn, command: Command, grammar: Grammar) -> str:
    """Another text for a command than ``format_command`` gives."""
    spec = next((spec for spec in grammar.commands if spec.command_type is type(command)), None)
    if spec is None:
        return format_command(command, grammar)
    blank = st.sampled_from([" ", "  ", "\t", "\xa0", "\u200b", " \\\n "])
    text = spec.verb[0] + draw(blank) + spec.verb[1]
    for option in draw(st.permutations(spec.options)):
        value = getattr(command, option.field)
        if value is not None:
            name = draw(st.sampled_from([option.name, "\u2014" + option.name[2:], "--" + option.name[2:]]))
            text += draw(blank) + name + draw(st.just("=") | blank) + draw(_quoting(option, value))
    return text


def _quoting(option: OptionSpec, value: object) -> st.SearchStrategy[str]:
    """The ways to write a value."""
    text = option.kind.write(value)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    ways = [f'"{escaped}"']
    if "'" not in text:
        ways.append(f"'{text}'")
    if not set(text) & set("\u201c\u201d\u201e\u201f\xab\xbb\u2033\u2036\u301d\u301e\u301f\uff02"):
        ways += [f"\u201c{escaped}\u201d", f"\xab{escaped}\xbb", f"\u201e{escaped}\u201c", f'\uff02{escaped}"']
    if text.isascii() and text.replace("_", "").isalnum():
        ways.append(text)
    if option.kind.name == "names" and isinstance(value, tuple):
        each = [option.kind.write((name,)) for name in cast("tuple[str, ...]", value)]
        if not any("'" in name for name in each):
            ways.append(" , ".join(f"'{name}'" for name in each))
    return st.sampled_from(ways)


def _commands_of(spec: CommandSpec) -> st.SearchStrategy[Command]:
    build = cast("Callable[..., Command]", spec.command_type)
    required = {option.field: _values(option.kind) for option in spec.options if option.required}
    free = {o.field: _values(o.kind) for o in spec.options if not o.required and o.name not in spec.one_of}
    alternatives = [{o.field: _values(o.kind)} for o in spec.options if o.name in spec.one_of] or [{}]
    return st.one_of(
        *(
            st.fixed_dictionaries({**required, **one}, optional=free).map(lambda given: build(**given))
            for one in alternatives
        )
    )


def _values(kind: Kind) -> st.SearchStrategy[Any]:  # noqa: PLR0911 -- one for each kind
    names = any_texts().filter(bool)
    days = st.dates(min_value=dt.date(1, 1, 1))
    match kind.name:
        case "task" | "employee":
            return st.sampled_from(["Task-3", "Emp_1"]) | names
        case "names":
            return st.lists(st.sampled_from(["Emp_1", "Emp_4"]) | names, min_size=1, max_size=4).map(tuple)
        case "choice":
            return st.sampled_from(kind.words)
        case "integer":
            return st.integers(kind.minimum, _LARGEST)
        case "date":
            return days
        case "month":
            return days.map(lambda day: day.replace(day=1))
        case "text":
            return any_texts()
