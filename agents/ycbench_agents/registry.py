"""Policies by name, and a user's own by module and class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from typing import Final, cast

from ycbench_agents.base import Policy
from ycbench_env.text import nearest

_POLICIES: Final = {
    "accept_all": "ycbench_agents.scripted.canaries:AcceptAllPolicy",
    "adversary_chaser": "ycbench_agents.scripted.canaries:AdversaryChaserPolicy",
    "conservative": "ycbench_agents.scripted.conservative:ConservativePolicy",
    "expert": "ycbench_agents.scripted.expert:ExpertPolicy",
    "greedy": "ycbench_agents.scripted.greedy:GreedyPolicy",
    "idle": "ycbench_agents.scripted.greedy:IdlePolicy",
    "llm": "ycbench_agents.llm.policy:make_llm_policy",
    "market_roller": "ycbench_agents.scripted.market_roller:MarketRollerPolicy",
    "mixture": "ycbench_agents.scripted.mixture:MixturePolicy",
    "prestige": "ycbench_agents.scripted.throughput:PrestigePolicy",
    "random": "ycbench_agents.scripted.random:RandomPolicy",
    "replay": "ycbench_agents.scripted.replay:ReplayPolicy",
    "throughput": "ycbench_agents.scripted.throughput:ThroughputPolicy",
}
_REFERENCE: Final = re.compile(r"(?P<module>\w+(?:\.\w+)*):(?P<attribute>\w+(?:\.\w+)*)")  # as entry points have it
_FILE: Final = re.compile(r"(\w+)\.py:(\w+)")


class PolicyError(ValueError):
    """There is no such policy, or it has no such parameter; the message lists those that exist."""


def policy_names() -> tuple[str, ...]:
    """Return the names that ``make_policy`` knows, sorted."""
    return tuple(sorted(_POLICIES))


def make_policy(name: str, /, **parameters: object) -> Policy:
    """Return a new policy.

    Args:
        name: One of ``policy_names()``, or ``module:Class`` for a class, or function, that makes one of your own. Such
            a module is imported, so it runs with all that you may do.
        **parameters: Parameters of its class.

    Raises:
        PolicyError: No such policy or parameter, or a value it refuses; the message shows what was got and expected.
    """
    factory = _factory(name)
    try:
        signature = inspect.signature(factory)
    except ValueError:
        signature = None  # some classes written in C have none; what they make is looked at all the same
    try:
        if signature:
            signature.bind(**parameters)
    except TypeError as error:
        known = ", ".join(signature.parameters) if signature else ""
        other = [each for each in parameters if signature and each not in signature.parameters]
        wrong = f"has no parameter {other[0]!r}" if other else str(error)
        msg = f"policy {name!r}: {wrong}; its parameters: {known or 'none'}"
        raise PolicyError(msg) from None
    policy = factory(**parameters)
    lacking: list[str] = []
    for method, argument in (("reset", "seed"), ("act", "observation")):
        try:
            inspect.signature(getattr(policy, method)).bind(None)
        except (AttributeError, TypeError, ValueError):
            lacking.append(f"{method}({argument})")
    if lacking:
        msg = f"policy {name!r}: a {type(policy).__name__} has no {' and '.join(lacking)}, which a policy needs"
        raise PolicyError(msg)
    return policy


def _factory(name: str) -> Callable[..., Policy]:
    """Return the class or function that makes the policy of a name."""
    reference = _REFERENCE.fullmatch(_POLICIES.get(name, name))
    file = _FILE.fullmatch(name)
    if reference is None or file:
        if ":" in name:
            hint = f"; did you mean '{file[1]}:{file[2]}'?" if file else ""
            msg = f"policy: got {name!r}, expected module:Class, like my_policies:Careful{hint}"
        else:
            meant = nearest(name, policy_names())
            hint = f"; did you mean {meant!r}?" if meant else ""
            if name in {"plan", "planner"}:
                hint = "; plans are made by the command ycbench plan, and policy replay plays them"
            msg = f"policy: got {name!r}, expected {', '.join(policy_names())}, or module:Class of your own{hint}"
        raise PolicyError(msg)
    try:
        module = import_module(reference["module"])
    except Exception as error:
        # Only a missing module of this very path is a slip of the pen; one that it imports itself is a fault in it.
        if isinstance(error, ModuleNotFoundError) and f"{reference['module']}.".startswith(f"{error.name}."):
            wrong = f"there is no module {reference['module']}; expected one that Python can import, without .py"
        else:
            wrong = f"importing {reference['module']} failed: {' '.join(f'{type(error).__name__}: {error}'.split())}"
        msg = f"policy {name!r}: {wrong}"
        raise PolicyError(msg) from error
    try:
        factory: object = attrgetter(reference["attribute"])(module)
    except AttributeError:
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        meant = nearest(reference["attribute"], own)
        hint = f"; did you mean {meant}?" if meant else f"; it has {', '.join(own)}" if own else ""
        msg = f"policy {name!r}: {module.__name__} has no {reference['attribute']}{hint}"
        raise PolicyError(msg) from None
    if not callable(factory):
        msg = f"policy {name!r}: got {type(factory).__name__}, expected a class or a function that makes a policy"
        raise PolicyError(msg)
    return cast("Callable[..., Policy]", factory)
