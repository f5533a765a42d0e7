"""What a rollout of the planner leaves: its commands, and where it stood before each decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from ycbench_env import State

__all__ = ["Course", "Mark", "start_mark"]


@attrs.frozen
class Mark:
    """Where a rollout stands before it decides: all that its future depends on, weights aside.

    Args:
        state: The state, without its market and without closed tasks.
        places: How often each slot was accepted.
        passed: Offers passed by so far.
        turns: Turns so far.
        idle: Turns in a row in which the clock did not move.
    """

    state: State
    places: tuple[int, ...]
    passed: int
    turns: int
    idle: int


@attrs.frozen
class Course:
    """A whole rollout.

    Args:
        turns: Commands turn by turn; a turn without any brings a forced advance nearer.
        marks: Where it stood before each decision.
        funds_cents: Funds at the end.
        passed: Offers passed by.
        solvent: Whether it ended without bankruptcy.
    """

    turns: tuple[tuple[str, ...], ...]
    marks: tuple[Mark, ...]
    funds_cents: int
    passed: int
    solvent: bool

    @property
    def rank(self) -> tuple[bool, int, int]:
        """What courses are compared by: solvent ones first, then funds, then fewer passes."""
        return self.solvent, self.funds_cents, -self.passed


def start_mark(start: State) -> Mark:
    """Return the mark at the start of an episode."""
    return Mark(attrs.evolve(start, market=(), slot_accepts=()), (0,) * len(start.market), 0, 0, 0)
