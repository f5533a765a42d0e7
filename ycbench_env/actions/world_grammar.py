"""Which commands a world knows: the table as its settings vary it. Source: K-1.1, K-1.2, K-3."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.actions.grammar import DEFAULT_GRAMMAR, Grammar, OptionSpec
from ycbench_env.actions.kinds import IdKind, IntegerKind

if TYPE_CHECKING:
    from ycbench_env.config import WorldConfig

__all__ = ["grammar_for"]

_BY_PRESTIGE: Final = OptionSpec(
    "--required-prestige-lte", "required_prestige_lte", IntegerKind(0), "N", "Only tasks that require at most this"
)
_BY_ID: Final = OptionSpec("--employee-id", "employee_id", IdKind("employee"), "NAME", "One more who works on it")


def grammar_for(world: WorldConfig) -> Grammar:
    """Return the commands of a world; equal rules give the very same grammar, ``DEFAULT_GRAMMAR`` for the usual ones.

    Args:
        world: Its settings. Without clients there are no client commands; ``market_browse_scope`` "all" adds
            ``--required-prestige-lte``, ``assign_by_employee_id`` ``--employee-id``; hidden skills change a summary.
    """
    # Every turn asks: a key of four plain values, since to hash all settings would take longer than the turn.
    return _grammar(world.command_rules)


@cache
def _grammar(command_rules: tuple[bool, bool, str, bool]) -> Grammar:
    has_clients, rates_visible, browse_scope, by_employee_id = command_rules
    grammar = DEFAULT_GRAMMAR
    if not has_clients:
        grammar = grammar.without_command("client")
    if not rates_visible:
        (listing,) = grammar.find(("employee", "list"))
        grammar = grammar.with_command(attrs.evolve(listing, summary="The team with tiers and salaries"))
    if browse_scope == "all":
        (browse,) = grammar.find(("market", "browse"))
        grammar = grammar.with_command(attrs.evolve(browse, options=(*browse.options, _BY_PRESTIGE)))
    return _with_employee_id(grammar) if by_employee_id else grammar


def _with_employee_id(grammar: Grammar) -> Grammar:
    """Return a grammar in which ``task assign`` takes many names or one."""
    (assign,) = grammar.find(("task", "assign"))
    task, employees = assign.options
    either = (task, attrs.evolve(employees, required=False), _BY_ID)
    return grammar.with_command(attrs.evolve(assign, options=either, one_of=(employees.name, _BY_ID.name)))
