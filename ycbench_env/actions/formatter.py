"""Writes a command as text that ``parse_turn`` reads back as the same command."""

import re
from typing import Final

from ycbench_env.actions.grammar import DEFAULT_GRAMMAR, Grammar
from ycbench_env.actions.parser import parse_turn
from ycbench_env.text import shown
from ycbench_env.types.command import Command, Help

_NEEDS_NO_QUOTES: Final = re.compile(r"(?![-=])[A-Za-z0-9_\-=,.:/]+")


def format_command(command: Command, grammar: Grammar = DEFAULT_GRAMMAR) -> str:
    """Return the text of a command: ``parse_turn`` of it gives this one command.

    Raises:
        ValueError: No text means this command (an unknown domain, an empty list, a lone surrogate, a field for which
            the grammar has no option); the message shows it.
    """
    if isinstance(command, Help):
        text = " ".join((*command.topic, "--help"))
    else:
        spec = next((spec for spec in grammar.commands if spec.command_type is type(command)), None)
        if spec is None:
            message = f"the grammar has no command of type {type(command).__name__}"
            raise ValueError(message)
        text = spec.name
        for option in spec.options:
            value = getattr(command, option.field)
            if value is not None:
                text += f" {option.name} {_quoted(option.kind.write(value))}"
    # Read back at once, so that no text is returned that would mean something else.
    read = parse_turn(text, grammar)
    if [parsed.command for parsed in read] != [command]:
        why = next((parsed.error for parsed in read if parsed.error), f"{shown(text)} means another command")
        message = f"no text means {shown(command)}: {why}"
        raise ValueError(message)
    return text


def _quoted(text: str) -> str:
    if _NEEDS_NO_QUOTES.fullmatch(text):
        return text
    if ('"' in text or "\\" in text) and "'" not in text:  # single quotes need no escapes
        return f"'{text}'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
