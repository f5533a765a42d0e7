"""The protocol that every policy follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_env import Observation

__all__ = ["Policy"]


@runtime_checkable
class Policy(Protocol):
    """Decides each turn from observations alone.

    Equal seeds and observations give equal turns; a policy draws from nothing but its own seeded generator.
    """

    def reset(self, seed: int) -> None:
        """Forget the last episode and get ready for the next.

        Args:
            seed: Seed of the policy's own draws, a non-negative integer.
        """
        ...

    def act(self, observation: Observation) -> str | Sequence[str]:
        """Return the next turn: a text with any number of commands, or a sequence of texts.

        Args:
            observation: What the environment returned last.
        """
        ...
