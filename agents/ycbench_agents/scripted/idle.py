"""Idle: does nothing.

The floor: the environment moves time on by itself, payroll after payroll, until the funds are gone.
"""

from __future__ import annotations

from ycbench_env import Observation

__all__ = ["IdlePolicy"]


class IdlePolicy:
    """Plays empty turns."""

    def reset(self, seed: int) -> None:
        """Nothing to forget and nothing to draw."""

    def act(self, observation: Observation) -> str:  # noqa: ARG002 -- it looks at nothing
        """Return an empty turn."""
        return ""
