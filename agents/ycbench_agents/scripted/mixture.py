"""Mixture: one policy plays, and now and then a turn is another's; for data that knows more than one way to play.

Only the policy whose turn it is is asked, so each of the two must cope with turns that it did not choose; that is the
contract of every policy, and ``ycbench_agents.testing.check_policy`` checks it.

Which policy a turn is from depends on the seed and the number of the turn alone, and a turn that is the other's at some
``epsilon`` is so at every greater one. A record names the policy of each turn (``played_by``).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final, cast

from ycbench_agents.base import Decision, DeliberatingPolicy, Policy, Turn, checked_turn
from ycbench_agents.registry import PolicyError, make_policy
from ycbench_env import Observation
from ycbench_env.text import JsonObject, shown

_FIRST: Final = "policy"
_OTHER: Final = "other"
_PLAYED_BY: Final = "played_by"


class MixturePolicy:
    """Plays one policy, and another with a given probability each turn.

    Args:
        policy: Who plays: a name, ``module:Class``, or a policy; no mixture.
        other: Who plays now and then, likewise.
        epsilon: Probability that a turn is the other's, 0 to 1.
        policy_parameters: Parameters of ``policy``, where that is a name; likewise ``other_parameters``.

    Raises:
        PolicyError: A policy or parameter is unknown, or epsilon is no probability; the message shows what was got.
    """

    def __init__(
        self,
        policy: str | Policy = "expert",
        other: str | Policy = "random",
        epsilon: float = 0.1,
        policy_parameters: Mapping[str, object] | None = None,
        other_parameters: Mapping[str, object] | None = None,
    ) -> None:
        is_number = isinstance(epsilon, int | float) and not isinstance(epsilon, bool)  # pyright: ignore[reportUnnecessaryIsInstance] -- comes from files, too
        if not is_number or not 0 <= epsilon <= 1:
            msg = f"epsilon: got {shown(epsilon)}, expected a number from 0 to 1"
            raise PolicyError(msg)
        self._epsilon = epsilon
        self._policies = {
            _FIRST: _made(_FIRST, policy, policy_parameters),
            _OTHER: _made(_OTHER, other, other_parameters),
        }
        self.reset(0)

    @property
    def waits(self) -> bool:
        """Whether one of the two waits for answers; a mixture of others deliberates in form only."""
        return any(isinstance(each, DeliberatingPolicy) for each in self._policies.values())

    def reset(self, seed: int) -> None:
        """Reset both policies with the seed, and seed the draws between them."""
        self._rng = random.Random(f"mixture policy 1 {seed}")  # noqa: S311 -- a simulation, not a secret
        for policy in self._policies.values():
            policy.reset(seed)

    def act(self, observation: Observation) -> Turn:
        """Return the turn of the policy whose turn it is."""
        policy = self._policies[self._draw()]
        return checked_turn(policy.act(observation), policy)

    async def decide(self, observation: Observation) -> Decision:
        """Return the turn of the policy whose turn it is, and whose it was.

        Raises:
            PolicyStoppedError: That policy cannot go on; it can be asked again.
        """
        before = self._rng.getstate()
        name = self._draw()
        policy = self._policies[name]
        try:
            if not isinstance(policy, DeliberatingPolicy):
                return Decision(checked_turn(policy.act(observation), policy), {_PLAYED_BY: name})
            decision = await policy.decide(observation)
        except BaseException:
            self._rng.setstate(before)  # so that the next attempt asks the same policy
            raise
        return Decision(decision.turn, {**decision.trace, _PLAYED_BY: name}, decision.transport)

    def recall(self, observation: Observation, trace: JsonObject) -> Turn:
        """Return the turn that a recorded decision led to.

        Raises:
            ValueError: The record says that it was another policy's turn.
        """
        name, recorded = self._draw(), trace.get(_PLAYED_BY)
        if recorded != name:
            msg = f"{_PLAYED_BY}: got {shown(recorded)} from the record, expected {name!r}; was epsilon another?"
            raise ValueError(msg)
        policy = self._policies[name]
        if not isinstance(policy, DeliberatingPolicy):
            return policy.act(observation)
        return policy.recall(observation, {key: value for key, value in trace.items() if key != _PLAYED_BY})

    def _draw(self) -> str:
        """Return whose the next turn is."""
        return _OTHER if self._rng.random() < self._epsilon else _FIRST


def named_policies(parameters: Mapping[str, object]) -> tuple[str, ...]:
    """Return the policies that a mixture's parameters name: a record may come from anybody, and making one runs it."""
    names = [parameters.get(_FIRST), parameters.get(_OTHER)]
    return tuple([name for name in names if isinstance(name, str)])


def _made(name: str, policy: object, parameters: object) -> Policy:
    """Return a policy that was given, or make the one that was named."""
    if parameters is not None and not isinstance(parameters, Mapping):
        msg = f"{name}_parameters: got {shown(parameters)}, expected a table of parameters, like {{epsilon = 0.2}}"
        raise PolicyError(msg)
    if policy == "mixture" or isinstance(policy, MixturePolicy):  # before the policies that it names are made
        msg = f"{name}: got a mixture, expected a policy that is none"
        raise PolicyError(msg)
    if isinstance(policy, str):
        try:
            return make_policy(policy, **cast("Mapping[str, object]", parameters or {}))
        except ValueError as error:
            msg = f"{name}: {error}"
            raise PolicyError(msg) from error
    if parameters or not isinstance(policy, Policy) or isinstance(policy, type):
        msg = f"{name}: got {shown(policy)}, expected a policy, or a name or module:Class with {name}_parameters"
        raise PolicyError(msg)
    return policy
