"""Mixture: one policy plays, and now and then a turn is another's; for data that knows more than one way to play.

Only the policy whose turn it is is asked, so each of the two must cope with turns that it did not choose; that is the
contract of every policy, and ``ycbench_agents.testing.check_policy`` checks it.

Which policy a turn is from depends on the seed and the number of the turn alone, and a turn that is the other's at some
``epsilon`` is so at every greater one.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import cast

from ycbench_agents.base import DeliberatingPolicy, Policy, Turn, checked_turn
from ycbench_agents.registry import PolicyError, make_policy
from ycbench_env import Observation
from ycbench_env.text import shown


class MixturePolicy:
    """Plays one policy, and another with a given probability each turn.

    Args:
        policy: Who plays: a name, ``module:Class``, or a policy; no mixture, and none that waits for answers.
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
        self._policy = _made("policy", policy, policy_parameters)
        self._other = _made("other", other, other_parameters)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Reset both policies with the seed, and seed the draws between them."""
        self._rng = random.Random(f"mixture policy 1 {seed}")  # noqa: S311 -- a simulation, not a secret
        self._policy.reset(seed)
        self._other.reset(seed)

    def act(self, observation: Observation) -> Turn:
        """Return the turn of the policy whose turn it is."""
        policy = self._other if self._rng.random() < self._epsilon else self._policy
        return checked_turn(policy.act(observation), policy)


def named_policies(parameters: Mapping[str, object]) -> tuple[str, ...]:
    """Return the policies that a mixture's parameters name: a record may come from anybody, and making one runs it."""
    names = [parameters.get("policy"), parameters.get("other")]
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
            policy, parameters = make_policy(policy, **cast("Mapping[str, object]", parameters or {})), None
        except ValueError as error:
            msg = f"{name}: {error}"
            raise PolicyError(msg) from error
    if isinstance(policy, DeliberatingPolicy):
        msg = f"{name}: got {type(policy).__name__}, which waits for answers; expected a policy that decides by itself"
        raise PolicyError(msg)
    if parameters or not isinstance(policy, Policy) or isinstance(policy, type):
        msg = f"{name}: got {shown(policy)}, expected a policy, or a name or module:Class with {name}_parameters"
        raise PolicyError(msg)
    return policy
