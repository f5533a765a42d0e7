"""The reward function. Source: Y-9."""

from __future__ import annotations

from ycbench_env.types.state import State
from ycbench_env.units import CENTS_PER_DOLLAR


def reward(before: State, after: State) -> float:
    """Return the change in funds during a turn, in dollars.

    The sum over an episode is final minus initial funds; where every cent counts, use ``info["funds_delta_cents"]``.
    """
    return (after.funds_cents - before.funds_cents) / CENTS_PER_DOLLAR
