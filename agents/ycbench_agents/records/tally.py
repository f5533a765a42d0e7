"""What has come of a run so far, counted turn by turn."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.records.record import RunOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.records.record import TurnRecord

__all__ = ["Tally"]

_COUNTS: Final = ("_tokens", "_calls", "_replies")
_COST: Final = "cost_"


@attrs.define
class Tally:
    """Sums over the turns of a run.

    Args:
        funds_cents: Funds, at first those of the start, in cents.
    """

    funds_cents: int
    turns: int = 0
    _delta_cents: int = 0
    _terminal_reason: str | None = None
    _sums: dict[str, Decimal] = attrs.field(factory=dict[str, Decimal], init=False)
    _known_turns: dict[str, int] = attrs.field(factory=dict[str, int], init=False)
    _floats: set[str] = attrs.field(factory=set[str], init=False)

    def add(self, turn: TurnRecord) -> None:
        """Count a turn."""
        self.turns = turn.turn
        self.funds_cents = turn.funds_cents
        self._delta_cents += turn.funds_delta_cents
        self._terminal_reason = turn.terminal_reason
        for name, number in _numbers(turn.trace or {}):
            self._count(name, number)

    def outcome(self, status: str, ended: str, reason: str | None = None) -> RunOutcome:
        """Return the outcome of a run that ends or stops here.

        Args:
            status: finished or stopped.
            ended: Wall-clock time, ISO 8601.
            reason: Why it was stopped.
        """
        return RunOutcome(
            status=status,
            ended=ended,
            terminal_reason=self._terminal_reason,
            reason=reason,
            turns=self.turns,
            final_funds_cents=self.funds_cents,
            total_return=self._delta_cents / 100,
            totals={name: self._total(name) for name in sorted(self._sums)},
        )

    def _count(self, name: str, number: float | None) -> None:
        # Decimals, so that a sum of costs reads as people would write it.
        self._sums[name] = self._sums.get(name, Decimal(0)) + Decimal(str(number or 0))
        self._known_turns[name] = self._known_turns.get(name, 0) + (number is not None)
        if isinstance(number, float):
            self._floats.add(name)

    def _total(self, name: str) -> Json:
        known = self._known_turns[name]
        total = float(self._sums[name]) if name in self._floats else int(self._sums[name])
        return {"sum": total if known else None, "unknown_turns": self.turns - known}


def _numbers(trace: JsonObject) -> Iterator[tuple[str, float | None]]:
    """Yield counts (``..._tokens``, ``..._calls``, ``..._replies``) and costs (``cost_...``); None is not known."""
    for name, value in trace.items():
        if not (name.endswith(_COUNTS) or name.startswith(_COST)) or isinstance(value, bool):
            continue
        if value is None or isinstance(value, int | float):
            yield name, value
