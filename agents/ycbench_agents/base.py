"""The protocols that policies follow: those that only act, and those that ask somebody and can recall the reply."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeAlias, cast, runtime_checkable

import attrs

from ycbench_env import Observation
from ycbench_env.text import JsonObject

Turn: TypeAlias = str | Sequence[str]
"""One turn of a policy: a text with any number of commands, or a sequence of such texts."""


def policy_seed(run_seed: int) -> int:
    """Return the seed that a policy's ``reset`` receives, from 0 to 2**32 - 1, derived one-way from the run seed.

    A policy that knew the run seed could rebuild the hidden world. Every driver of policies (rollouts, runs,
    evaluations, the test kit) uses this function.
    """
    return int.from_bytes(hashlib.sha256(f"ycbench policy seed {int(run_seed)}".encode("ascii")).digest()[:4])


class TurnError(Exception):
    """A policy returned something that is no turn; the message names policy, turn and type."""


def checked_turn(turn: object, policy: object, number: int | None = None) -> Turn:
    """Return what ``act`` returned as a text or a tuple of texts. Every driver of policies uses this function.

    Raises:
        TurnError: It is neither a text nor a sequence of texts; the message names the number of the turn, if given.
    """
    if isinstance(turn, str):
        return turn
    got = type(turn).__name__
    if isinstance(turn, Sequence) and not isinstance(turn, bytes | bytearray | memoryview):
        texts = tuple(cast("Sequence[object]", turn))
        wrong = next((type(text).__name__ for text in texts if not isinstance(text, str)), None)
        if wrong is None:
            return cast("tuple[str, ...]", texts)
        got = f"{got} that holds {wrong}"
    place = "" if number is None else f", turn {number}"
    msg = f"policy {type(policy).__name__}{place}: act returned {got}, expected a text or a sequence of texts"
    raise TurnError(msg)


_SHORTEST_SECRET: Final = 12  # shorter values are placeholders such as "lm-studio", which a model may well write


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text with keys and values of headers replaced. No other function does this."""
    words = {word for secret in secrets for word in (secret.strip(), *secret.split()[-1:])}  # "Bearer sk-..."
    for word in sorted(words, key=len, reverse=True):
        if len(word) >= _SHORTEST_SECRET:
            text = text.replace(word, "[redacted]")
    return text


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
        """Forget the last episode and get ready for the next, seeding the policy's own draws."""
        ...

    def act(self, observation: Observation) -> Turn:
        """Return the next turn: a text with any number of commands, or a sequence of texts."""
        ...


@attrs.frozen
class Decision:
    """What a policy decided after asking somebody outside of this process.

    Args:
        turn: The turn.
        trace: What ``recall`` needs to decide the same again, and what a reader wants to know: the reply, a hash of
            what was asked, usage. Equal runs have equal traces.
        transport: What differs between equal runs: times, attempts, faults on the way.
    """

    turn: Turn
    trace: JsonObject
    transport: JsonObject = attrs.field(factory=dict)


@runtime_checkable
class DeliberatingPolicy(Policy, Protocol):
    """A policy that waits for an outside answer, such as a language model's, and can recall one from a record.

    For equal histories ``recall(observation, decision.trace)`` returns ``decision.turn`` and leaves the policy in the
    state in which ``decide`` left it, without asking anybody. ``act`` is ``decide`` for callers that do not wait.
    """

    async def decide(self, observation: Observation) -> Decision:
        """Return the next turn and how it came about.

        Raises:
            PolicyStoppedError: No answer came; the policy is as it was before.
        """
        ...

    def recall(self, observation: Observation, trace: JsonObject) -> Turn:
        """Return the turn that a recorded decision led to.

        Raises:
            ValueError: The trace does not belong to this history; the message says what differs.
        """
        ...
