"""The info dictionary of a step: what tools want to know beside the observation. Source: Y-9."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from ycbench_env.observation.wake import wake_event

if TYPE_CHECKING:
    from ycbench_env.observation.report import TurnReport
    from ycbench_env.text import JsonObject
    from ycbench_env.types.state import State

__all__ = ["Info", "Result", "make_info"]


class Result(TypedDict):
    """One command of a turn.

    Args:
        command: The command as the agent wrote it.
        ok: Whether it was carried out.
        output: The answer; ``{"error": text}`` when not ok; ``{"cut": text}`` when the turn's answers were too long.
    """

    command: str
    ok: bool
    output: JsonObject


class Info(TypedDict):
    """The same keys after every reset and step; JSON values, fresh each time.

    Args:
        results: One for each command of the turn, in order.
        events: What happened during the turn, in order, as wake events.
        funds_delta_cents: Change of funds during the turn, in cents; the reward is this in dollars.
        invalid_commands: How many of the commands were not grammatical.
        forced_advance: Whether the environment moved time by itself.
        terminal_reason: bankruptcy, horizon_end or max_turns; None while the episode goes on.
        run_seed: Seed of this episode's market, for records; no agent should be told.
    """

    results: list[Result]
    events: list[JsonObject]
    funds_delta_cents: int
    invalid_commands: int
    forced_advance: bool
    terminal_reason: str | None
    run_seed: int


def make_info(before: State, state: State, report: TurnReport, invalid_commands: int) -> Info:
    """Return the info of a turn that led from one state to another."""
    return {
        "results": [{"command": reply.command, "ok": reply.ok, "output": reply.output} for reply in report.answers],
        "events": [wake_event(event) for event in report.events],
        "funds_delta_cents": state.funds_cents - before.funds_cents,
        "invalid_commands": invalid_commands,
        "forced_advance": report.forced_advance,
        "terminal_reason": state.end_reason,
        "run_seed": state.run_seed,
    }
