"""Policies by name, and a user's own by module and class."""

from __future__ import annotations

import difflib
import inspect
import math
import re
from collections.abc import Callable, Collection
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Final, cast

from ycbench_agents.base import Policy
from ycbench_env.text import shown

_POLICIES: Final = {
    "accept_all": "ycbench_agents.scripted.canaries:AcceptAllPolicy",
    "adversary_chaser": "ycbench_agents.scripted.canaries:AdversaryChaserPolicy",
    "conservative": "ycbench_agents.scripted.conservative:ConservativePolicy",
    "expert": "ycbench_agents.scripted.expert:ExpertPolicy",
    "greedy": "ycbench_agents.scripted.greedy:GreedyPolicy",
    "human": "ycbench_agents.scripted.human:HumanPolicy",
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


def make_policy(name: str, **parameters: object) -> Policy:
    """Return a new policy.

    Args:
        name: One of ``policy_names()``, or ``module:Class`` for a class, or function, that makes one of your own. Such
            a module is imported, so it runs with all that you may do.
        **parameters: Parameters of its class.

    Raises:
        PolicyError: No such policy or parameter, or a value it refuses; the message shows what was got and expected.
    """
    factory = policy_factory(name)
    _check_parameters(name, factory, parameters)
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


def number_parameter(
    name: str, value: object, *, least: float = 0, most: float = math.inf, whole: bool = False
) -> float:
    """Return a parameter that is a finite number within bounds; parameters come from command lines and files, too.

    Args:
        name: Name of the parameter.
        value: The value given for it.
        least: Smallest value allowed.
        most: Largest value allowed.
        whole: Whether only whole numbers are allowed.

    Raises:
        PolicyError: It is no such number; the message shows what was got and expected.
    """
    kinds = int if whole else int | float
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most or value == math.inf:
        kind = "a whole number" if whole else "a number"
        bounds = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        msg = f"{name}: got {shown(value)}, expected {kind} {bounds}"
        raise PolicyError(msg)
    return value


def policy_factory(name: str) -> Callable[..., Policy]:
    """Return the class or function that makes the policy of a name.

    Raises:
        PolicyError: There is none.
    """
    reference = _REFERENCE.fullmatch(_POLICIES.get(name, name))
    file = _FILE.fullmatch(name)
    if reference is None or file:
        if ":" in name:
            hint = f"; did you mean '{file[1]}:{file[2]}'?" if file else ""
            msg = f"policy: got {name!r}, expected module:Class, like my_policies:Careful{hint}"
        else:
            hint = _near(name, policy_names(), quote="'")
            msg = f"policy: got {name!r}, expected {', '.join(policy_names())}, or module:Class of your own{hint}"
        raise PolicyError(msg)
    module, path = _import(name, reference["module"]), reference["attribute"]
    try:
        factory: object = attrgetter(path)(module)
    except AttributeError:
        own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
        hint = _near(path, own) or (f"; it has {', '.join(own)}" if own else "")
        msg = f"policy {name!r}: {module.__name__} has no {path}{hint}"
        raise PolicyError(msg) from None
    if not callable(factory):
        msg = f"policy {name!r}: got {type(factory).__name__}, expected a class or a function that makes a policy"
        raise PolicyError(msg)
    return cast("Callable[..., Policy]", factory)


def _import(name: str, module: str) -> ModuleType:
    """Return a module; PolicyError where there is none of this name or its import fails."""
    try:
        return import_module(module)
    except Exception as error:
        # Only a missing module of this very path is a slip of the pen; one that it imports itself is a fault in it.
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            msg = f"policy {name!r}: there is no module {module}; expected one that Python can import, without .py"
        else:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            msg = f"policy {name!r}: importing {module} failed: {reason}"
        raise PolicyError(msg) from error


def _near(name: str, known: Collection[str], quote: str = "") -> str:
    """Return a question whether one of the known names was meant; empty where none is like it."""
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {quote}{near[0]}{quote}?" if near else ""


def _check_parameters(name: str, factory: Callable[..., Policy], parameters: dict[str, object]) -> None:
    """Refuse parameters that a factory does not take, and the lack of those that it needs."""
    try:
        signature = inspect.signature(factory)
    except ValueError:  # some classes written in C do not tell; what they make is looked at all the same
        return
    known = ", ".join(signature.parameters) or "no parameters"
    takes_any = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())
    unknown = [] if takes_any else sorted(set(parameters) - set(signature.parameters))
    if unknown:
        msg = f"policy {name!r}: got parameter {', '.join(unknown)}, expected {known}"
        raise PolicyError(msg)
    try:
        signature.bind(**parameters)
    except TypeError as error:
        msg = f"policy {name!r}: {error}; its parameters: {known}"
        raise PolicyError(msg) from None
