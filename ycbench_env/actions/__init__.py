"""The agent's language: one table of commands, a parser and a formatter that are each other's inverse, and help.

Source: docs/commands.md; answers (the table of commands and options).
"""

from ycbench_env.actions.formatter import format_command
from ycbench_env.actions.grammar import DEFAULT_GRAMMAR, CommandSpec, Grammar, OptionSpec
from ycbench_env.actions.help import command_list, command_table, help_text
from ycbench_env.actions.kinds import ChoiceKind, DateKind, IdKind, IntegerKind, Kind, MonthKind, NamesKind, TextKind
from ycbench_env.actions.lexer import MAX_WORDS
from ycbench_env.actions.parser import MAX_ERROR_LENGTH, ParsedCommand, parse_turn
from ycbench_env.actions.world_grammar import grammar_for

__all__ = [
    "DEFAULT_GRAMMAR",
    "MAX_ERROR_LENGTH",
    "MAX_WORDS",
    "ChoiceKind",
    "CommandSpec",
    "DateKind",
    "Grammar",
    "IdKind",
    "IntegerKind",
    "Kind",
    "MonthKind",
    "NamesKind",
    "OptionSpec",
    "ParsedCommand",
    "TextKind",
    "command_list",
    "command_table",
    "format_command",
    "grammar_for",
    "help_text",
    "parse_turn",
]
