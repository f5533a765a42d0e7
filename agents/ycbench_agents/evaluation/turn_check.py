"""Policies whose turns are checked: what is no turn is an error of the policy's, not of the record."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, cast

import attrs

from ycbench_agents.base import Decision
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ycbench_agents.base import DeliberatingPolicy, JsonObject, Policy, Turn
    from ycbench_env import Observation

__all__ = ["CheckedDeliberator", "CheckedPolicy", "TurnError"]


class TurnError(Exception):
    """What a policy said is no turn; this is no fault of the record, which need not be begun anew."""


@attrs.frozen
class CheckedPolicy:
    """Plays as a policy does, and tells what is no turn as an error of the policy's.

    Args:
        policy: The policy.
        around: Makes what its code runs within.
    """

    policy: Policy
    around: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    def reset(self, seed: int) -> None:
        """Reset the policy."""
        with self.around():
            self.policy.reset(seed)

    def act(self, observation: Observation) -> Turn:
        """Return the policy's turn, in the form in which a record holds it.

        Raises:
            TurnError: It is none.
        """
        with self.around():
            said = self.policy.act(observation)
        return _turn(said)


@attrs.frozen
class CheckedDeliberator(CheckedPolicy):
    """The same of a policy that waits for answers."""

    policy: DeliberatingPolicy
    around: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext

    async def decide(self, observation: Observation) -> Decision:
        """Return the policy's decision, in the form in which a record holds it.

        Raises:
            TurnError: It is none.
        """
        with self.around():
            said = cast("object", await self.policy.decide(observation))  # whoever wrote it may not be typed
        if not isinstance(said, Decision):
            msg = f"got a decision of the type {type(said).__name__}, expected a Decision of ycbench_agents.base"
            raise TurnError(msg)
        trace, transport = _object(said.trace, "trace"), _object(said.transport, "transport")
        return Decision(_turn(said.turn), trace, transport)

    def recall(self, observation: Observation, trace: JsonObject) -> Turn:
        """Return the turn that a recorded decision led to.

        Raises:
            TurnError: It is none.
        """
        with self.around():
            said = self.policy.recall(observation, trace)
        return _turn(said)

    @property
    def last_trace(self) -> JsonObject | None:
        """What the policy itself tells of its last decision.

        Raises:
            AttributeError: It tells nothing, as most.
        """
        return cast("_Tells", self.policy).last_trace


class _Tells:
    """What some policies have besides."""

    last_trace: JsonObject | None


def _turn(said: object) -> Turn:
    """Return a turn as a record holds it."""
    with contextlib.suppress(RecordError):
        turn = plain(said, "a turn")
        if isinstance(turn, str) or (isinstance(turn, list) and all(isinstance(each, str) for each in turn)):
            return cast("Turn", turn)
    msg = f"got a turn of the type {type(said).__name__}, expected a text or a sequence of texts"
    raise TurnError(msg)


def _object(said: object, what: str) -> JsonObject:
    """Return what a decision tells besides its turn as a record holds it."""
    with contextlib.suppress(RecordError):
        told = plain(said, what)
        if isinstance(told, dict):
            return told
    msg = f"got a decision whose {what} cannot be recorded, of the type {type(said).__name__}, expected a dict of JSON"
    raise TurnError(msg)
