"""The agent's language: one table of commands, a parser and a formatter that are each other's inverse, and help.

Source: docs/commands.md; answers (the table of commands and options).
"""

from ycbench_env.actions.formatter import format_command
from ycbench_env.actions.grammar import DEFAULT_GRAMMAR, CommandSpec, Grammar, Kind, OptionSpec, grammar_for
from ycbench_env.actions.help import command_list, command_table, help_text
from ycbench_env.actions.parser import MAX_ERROR_LENGTH, MAX_WORDS, ParsedCommand, parse_turn

__all__ = [
    "DEFAULT_GRAMMAR",
    "MAX_ERROR_LENGTH",
    "MAX_WORDS",
    "CommandSpec",
    "Grammar",
    "Kind",
    "OptionSpec",
    "ParsedCommand",
    "command_list",
    "command_table",
    "format_command",
    "grammar_for",
    "help_text",
    "parse_turn",
]
