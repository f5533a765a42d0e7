"""One line for each turn, for logs and for those who want no screen."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from ycbench_agents.cli.old_live.figures import TurnFigures
from ycbench_agents.cli.old_live.wording import cost, dollars, harmless
from ycbench_agents.records import RunFailure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.records import RunResult, TurnRecord

__all__ = ["result_line", "turn_line"]

_NAME: Final = 120
_TEXT: Final = 300
_GAP: Final = "  "


def turn_line(name: str, turn: TurnRecord) -> str:
    """Return the line about a turn, without its line break."""
    return _GAP.join(_turn_parts(name, turn))


def _turn_parts(name: str, turn: TurnRecord) -> Iterator[str]:
    figures = TurnFigures.of(turn)
    yield harmless(_to_seconds(turn.time), _NAME)
    yield harmless(name, _NAME)
    yield f"turn {turn.turn}"
    yield harmless(turn.sim_time[:16], _NAME)
    yield dollars(turn.funds_cents)
    yield f"{figures.ok} ok, {figures.refused} refused"
    if figures.refused_calls:
        yield f"{figures.refused_calls} not run"
    elif figures.is_unusable:
        yield "nothing in the reply to run"
    if figures.by_model:
        yield from _model_parts(figures)
    if turn.forced_advance:
        yield "time moved on by itself"
    if turn.is_last:
        yield f"over: {harmless(turn.terminal_reason or 'truncated', _NAME)}"


def _model_parts(figures: TurnFigures) -> Iterator[str]:
    tokens = figures.tokens
    yield f"tokens {_known(tokens.prompt)} in ({_known(tokens.cached)} cached), {_known(tokens.completion)} out"
    yield f"cost {cost(figures.cost_usd)}"
    yield "latency unknown" if figures.latency_s is None else f"{figures.latency_s:.1f}s"
    if (figures.attempts or 1) > 1:
        yield f"attempts {figures.attempts}"
    if figures.faults:
        yield f"faults: {harmless('; '.join(figures.faults), _TEXT)}"


def _known(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,}"


def _to_seconds(time: str) -> str:
    """Return a wall-clock time without what is shorter than a second."""
    try:
        return dt.datetime.fromisoformat(time).isoformat(timespec="seconds").replace("+00:00", "Z")
    except ValueError:
        return time


def result_line(name: str, result: RunResult) -> str:
    """Return the line about a run that is over, without its line break."""
    shown = harmless(name, _NAME)
    if isinstance(result, RunFailure):
        return f"{shown}{_GAP}failed: {harmless(f'{type(result.error).__name__}: {result.error}', _TEXT)}"
    outcome = result.record.outcome
    why = outcome.reason or outcome.terminal_reason or ("max_turns" if outcome.status == "finished" else "")
    state = f"{outcome.status}: {harmless(why, _TEXT)}" if why else outcome.status
    already = ", had been finished before" if result.was_finished else ""
    return f"{shown}{_GAP}{state}{already}{_GAP}{outcome.turns or 0} turns{_GAP}{_funds(outcome.final_funds_cents)}"


def _funds(cents: int | None) -> str:
    return "funds unknown" if cents is None else dollars(cents)
