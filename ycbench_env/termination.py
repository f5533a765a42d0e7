"""When an episode is over. Source: Y-5.7, Y-9."""

from __future__ import annotations

from ycbench_env.types.state import State


def is_terminated(state: State) -> bool:
    """Return whether the world has ended: bankruptcy or horizon. Source: Y-5.7."""
    return state.terminal_reason is not None


def is_truncated(state: State) -> bool:
    """Return whether the turn limit alone ended the episode. Source: Y-9."""
    return state.truncated
