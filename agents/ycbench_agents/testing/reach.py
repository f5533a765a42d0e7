"""What a policy can get at: a search through its data for an environment or a state."""

from __future__ import annotations

import gc
import logging
import types
from typing import Final

import gymnasium as gym

from ycbench_env import State

__all__ = ["reached_environment"]

_FORBIDDEN: Final = (gym.Env, State)
# What all of a process shares leads everywhere, also to environments of others.
_SHARED: Final = (type, types.ModuleType, types.FrameType, types.BuiltinFunctionType, logging.Logger)
_MOST_OBJECTS: Final = 200_000


def reached_environment(policy: object) -> str | None:
    """Return how an environment or a state can be reached from a policy's data, None where none can.

    Attributes, containers, methods and what functions close over are followed; modules, classes and globals are not.

    Args:
        policy: The policy.
    """
    seen: set[int] = {id(policy)}
    queue: list[tuple[object, str]] = [(policy, type(policy).__name__)]
    for each, path in queue:  # grows while it is walked
        if isinstance(each, _FORBIDDEN):
            return path
        for inner in _within(each):
            if id(inner) not in seen and not isinstance(inner, _SHARED) and len(seen) < _MOST_OBJECTS:
                seen.add(id(inner))
                queue.append((inner, f"{path} > {type(inner).__name__}"))
    return None


def _within(each: object) -> list[object]:
    """Return what an object refers to."""
    if isinstance(each, types.FunctionType):
        cells = each.__closure__ or ()
        return [*(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values(), *cells]
    return gc.get_referents(each)
