"""The protocols that policies follow: those that only act, and those that ask somebody and can recall the reply."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import attrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ycbench_env import Observation

__all__ = [
    "Decision",
    "DeliberatingPolicy",
    "Json",
    "JsonObject",
    "Policy",
    "PolicyStoppedError",
    "Turn",
    "policy_seed",
]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A JSON value."""

JsonObject: TypeAlias = "dict[str, Json]"
"""A JSON object."""

Turn: TypeAlias = "str | Sequence[str]"
"""What a policy says in one turn: a text with any number of commands, or a sequence of such texts."""


def policy_seed(run_seed: int) -> int:
    """Return the seed that a policy's ``reset`` receives, derived one-way from the run seed.

    A policy that knew the run seed could rebuild the hidden world. Every driver of policies (rollouts, runs,
    evaluations, the test kit) uses this function.

    Args:
        run_seed: Run seed, a non-negative integer.

    Returns:
        An integer from 0 to 2**64 - 1.
    """
    return int.from_bytes(hashlib.sha256(f"ycbench policy seed {int(run_seed)}".encode("ascii")).digest()[:8])


class PolicyStoppedError(Exception):
    """A policy cannot go on; its text says why and what would help, and holds no secret.

    The episode is not over: a run that stopped so can be resumed.
    """


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

    def act(self, observation: Observation) -> Turn:
        """Return the next turn: a text with any number of commands, or a sequence of texts.

        Args:
            observation: What the environment returned last.
        """
        ...


@attrs.frozen
class Decision:
    """What a policy decided after asking somebody outside of this process.

    Args:
        turn: What it says.
        trace: What ``recall`` needs to decide the same again, and what a reader wants to know: the reply, a hash of
            what was asked, usage. Equal runs have equal traces.
        transport: What differs between equal runs: times, attempts, faults on the way.
    """

    turn: Turn
    trace: JsonObject
    transport: JsonObject = attrs.field(factory=dict)  # pyright: ignore[reportUnknownVariableType] -- attrs' factory


@runtime_checkable
class DeliberatingPolicy(Policy, Protocol):
    """A policy that waits for an outside answer, such as a language model's, and can recall one from a record.

    For equal histories ``recall(observation, decision.trace)`` returns ``decision.turn`` and leaves the policy in the
    state in which ``decide`` left it, without asking anybody. ``act`` is ``decide`` for callers that do not wait.
    """

    async def decide(self, observation: Observation) -> Decision:
        """Return the next turn and how it came about.

        Raises:
            PolicyStoppedError: There is no answer to be had; the policy is as it was before.
        """
        ...

    def recall(self, observation: Observation, trace: JsonObject) -> Turn:
        """Return the turn that a recorded decision led to.

        Raises:
            ValueError: The trace does not belong to this history; the message says what differs.
        """
        ...
