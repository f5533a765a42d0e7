"""Policies by name."""

from __future__ import annotations

import difflib
import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from ycbench_agents.base import Policy

__all__ = ["PolicyError", "make_policy", "policy_names"]

_POLICIES: Final = {
    "greedy": "ycbench_agents.scripted.greedy:GreedyPolicy",
    "random": "ycbench_agents.scripted.random:RandomPolicy",
}


class PolicyError(ValueError):
    """There is no such policy, or it has no such parameter; the message lists what there is."""


def policy_names() -> tuple[str, ...]:
    """Return the names that ``make_policy`` knows, sorted."""
    return tuple(sorted(_POLICIES))


def make_policy(name: str, **parameters: object) -> Policy:
    """Return a new policy.

    Args:
        name: One of ``policy_names()``.
        **parameters: Parameters of its class.

    Raises:
        PolicyError: No such policy or parameter, or a value it refuses; the message shows what was got and expected.
    """
    if name not in _POLICIES:
        near = difflib.get_close_matches(name, _POLICIES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        msg = f"policy: got {name!r}, expected one of {', '.join(policy_names())}{hint}"
        raise PolicyError(msg)
    module, _, attribute = _POLICIES[name].partition(":")
    policy_class: Callable[..., Policy] = getattr(import_module(module), attribute)
    known = inspect.signature(policy_class).parameters
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        msg = f"policy {name!r}: got parameter {', '.join(unknown)}, expected {', '.join(known) or 'no parameters'}"
        raise PolicyError(msg)
    return policy_class(**parameters)
