"""How the agent went about it: notes, commands, reliability, tokens and time (docs/measurements.md)."""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from ycbench_agents.evaluation.measurement.quotient import ratio

__all__ = [
    "Behaviour",
    "ClientPolicy",
    "CommandCalls",
    "NotesMeasures",
    "Reliability",
    "TokenUse",
    "Transport",
]

ClientPolicy: TypeAlias = Literal["both", "select", "avoid", "none"]
"""Which clients the notes name: to work with and to avoid, only the one, only the other, none (figure 4b)."""


@attrs.frozen
class NotesMeasures:
    """What the notes say of clients (figure 4b); names in the order of ``RunMeasures.clients``.

    Args:
        writes: ``scratchpad write`` and ``append`` that were carried out.
        final_length: Length of the notes at the end, in characters.
        selected: Clients that the notes named at any time as ones to work with.
        avoided: Clients that the notes named at any time as ones to avoid.
        final_selected: The same of the notes at the end.
        final_avoided: Likewise.
    """

    writes: int
    final_length: int
    selected: tuple[str, ...]
    avoided: tuple[str, ...]
    final_selected: tuple[str, ...]
    final_avoided: tuple[str, ...]

    @property
    def client_policy(self) -> ClientPolicy:
        """Policy that the notes showed at any time."""
        return _policy(self.selected, self.avoided)

    @property
    def final_client_policy(self) -> ClientPolicy:
        """Policy of the notes at the end."""
        return _policy(self.final_selected, self.final_avoided)


def _policy(selected: tuple[str, ...], avoided: tuple[str, ...]) -> ClientPolicy:
    if selected and avoided:
        return "both"
    return "select" if selected else "avoid" if avoided else "none"


@attrs.frozen
class Behaviour:
    """How the agent went about it (table 3).

    Args:
        turns: Turns played.
        commands: Grammatical commands, refused ones included, those skipped after ``&&`` not.
        scratchpad_writes: ``scratchpad write`` and ``append`` that were carried out.
        inspects: ``task inspect`` commands.
        accepts: ``task accept`` commands.
        mean_concurrency_by_turn: Mean over turns of the most tasks that were active at one moment of the turn; None
            without turns.
        mean_concurrency_by_time: Mean number of active tasks over simulated time, nights included; None if none passed.
        max_concurrency: Most tasks that were active at one moment.
    """

    turns: int
    commands: int
    scratchpad_writes: int
    inspects: int
    accepts: int
    mean_concurrency_by_turn: float | None
    mean_concurrency_by_time: float | None
    max_concurrency: int

    @property
    def writes_per_100_turns(self) -> float | None:
        """Scratchpad writes a hundred turns (table 3, SP/100T); None without turns."""
        return ratio(100 * self.scratchpad_writes, self.turns)

    @property
    def inspects_per_accept(self) -> float | None:
        """Inspects an accept (table 3); None without an accept."""
        return ratio(self.inspects, self.accepts)

    @property
    def commands_per_turn(self) -> float | None:
        """Commands a turn (table 3); None without turns."""
        return ratio(self.commands, self.turns)


@attrs.frozen
class CommandCalls:
    """How often one command was said (figure 9).

    Args:
        command: Its words, such as ``task accept``; ``help`` for ``--help`` on anything.
        calls: How often, refused ones included.
        refused: How often it was refused.
    """

    command: str
    calls: int
    refused: int


@attrs.frozen
class Reliability:
    """What went wrong beside the game itself; none of it is part of the score.

    Args:
        invalid_commands: Commands that were not grammatical.
        skipped_commands: Commands that were skipped since the one before ``&&`` failed.
        refused_actions: Grammatical commands that act on the world or the notes and were refused.
        failed_queries: Grammatical commands that only ask and were refused.
        empty_turns: Turns without any command.
        forced_advances: Turns in which the environment moved time by itself.
        refused_calls: Malformed tool calls of a model's replies; None if no turn tells.
        unusable_replies: Replies of which nothing was run; None if no turn tells.
    """

    invalid_commands: int
    skipped_commands: int
    refused_actions: int
    failed_queries: int
    empty_turns: int
    forced_advances: int
    refused_calls: int | None
    unusable_replies: int | None


@attrs.frozen
class TokenUse:
    """What was asked of a model; each None if no turn tells (table 4).

    Args:
        prompt: Tokens of prompts.
        completion: Tokens of replies, reasoning included where the server counts so.
        cached: Those of the prompts' tokens that were cached.
        reasoning: Tokens of reasoning.
        unknown_turns: Turns that do not tell their tokens; the sums are too low by those.
        cost_usd: Cost, in dollars.
        unknown_cost_turns: Turns that do not tell their cost.
    """

    prompt: int | None
    completion: int | None
    cached: int | None
    reasoning: int | None
    unknown_turns: int
    cost_usd: float | None
    unknown_cost_turns: int

    @property
    def total(self) -> int | None:
        """Tokens of prompts and replies; None if no turn tells of both."""
        return None if self.prompt is None or self.completion is None else self.prompt + self.completion


@attrs.frozen
class Transport:
    """How replies came and how long it took: the only part that may differ between equal runs.

    Args:
        latency_s: Seconds of waiting for replies; None if no turn tells.
        retries: Requests that were sent again; None for a policy that asks nobody.
        faults: Faults on the way; None likewise.
        wall_s: Wall time from the end of the first turn to the end of the last, in seconds, pauses before a resume
            included; None without turns.
    """

    latency_s: float | None
    retries: int | None
    faults: int | None
    wall_s: float | None
