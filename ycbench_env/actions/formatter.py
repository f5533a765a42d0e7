"""Writes a command as text that ``parse_turn`` reads back as the same command."""

import re
from typing import Final

import attrs

from ycbench_env.actions.grammar import DEFAULT_GRAMMAR, CommandSpec, Grammar, OptionSpec, RefusedError
from ycbench_env.types.command import Command, Help

_NEEDS_NO_QUOTES: Final = re.compile(r"(?![-=])[A-Za-z0-9_\-=,.:/]+")


def format_command(command: Command, grammar: Grammar = DEFAULT_GRAMMAR) -> str:
    """Return the text of a command: ``parse_turn`` of it gives this one command.

    Lone surrogates in its texts are the exception: ``parse_turn`` replaces them.

    Args:
        command: Any command of the grammar.
        grammar: The table of commands.

    Raises:
        ValueError: No text means this command (an unknown domain, an empty list, an option that the grammar lacks);
            the message shows the value.
    """
    if isinstance(command, Help):
        if len(command.topic) > 2 or not grammar.find(command.topic):  # noqa: PLR2004 -- a command has two words
            message = f"help topics are (), the first word or both words of a command, got {command.topic!r}"
            raise ValueError(message)
        return " ".join((*command.topic, "--help"))
    spec = _spec_of(command, grammar)
    _check_fields(command, spec)
    parts = [spec.name]
    given = 0
    for option in spec.options:
        value = getattr(command, option.field)
        if value is not None:
            parts += [option.name, _write(option, value)]
            given += option.name in spec.one_of
        elif option.required:
            message = f"{spec.name} needs {option.name}, got None"
            raise ValueError(message)
    if spec.one_of and given != 1:
        message = f"{spec.name} needs exactly one of {', '.join(spec.one_of)}, got {given} of them"
        raise ValueError(message)
    return " ".join(parts)


def _spec_of(command: Command, grammar: Grammar) -> CommandSpec:
    for spec in grammar.commands:
        if spec.command_type is type(command):
            return spec
    message = f"the grammar has no command of type {type(command).__name__}"
    raise ValueError(message)


def _check_fields(command: Command, spec: CommandSpec) -> None:
    """Refuse a value for which this grammar has no option: without it the text would mean another command."""
    sayable = {option.field for option in spec.options}
    for attribute in attrs.fields(type(command)):
        value = getattr(command, attribute.name)
        if value is not None and attribute.name not in sayable:
            message = f"{spec.name} has no option for {attribute.name}={value!r} in this grammar"
            raise ValueError(message)


def _write(option: OptionSpec, value: object) -> str:
    text = option.kind.write(value)
    # Read back at once, so that no text is given out that would mean something else.
    try:
        read = option.kind.read(text)
    except RefusedError:
        read = None
    if read != value:
        message = f"{option.name} cannot say {value!r}; it takes {option.kind.expected}"
        raise ValueError(message)
    return text if _NEEDS_NO_QUOTES.fullmatch(text) else _quote(text)


def _quote(text: str) -> str:
    if ('"' in text or "\\" in text) and "'" not in text:  # single quotes need no escapes
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
