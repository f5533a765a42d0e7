"""Policies as the command line names them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ycbench_agents.registry import PolicyError, make_policy
from ycbench_agents.scripted.mixture import named_policies

if TYPE_CHECKING:
    from ycbench_agents.base import Policy

__all__ = ["asks_a_person", "make_policy_here"]


_HUMAN: Final = "human"
_MIXTURE: Final = "mixture"
_REPLAY: Final = "replay"
_PLANNERS: Final = frozenset(["plan", "planner"])


def asks_a_person(name: str, parameters: object) -> bool:
    """Return whether a policy asks at the terminal, so that nothing else may move on it.

    Args:
        name: Name of the policy.
        parameters: Its parameters by name; a mixture's name further policies.
    """
    if name == _MIXTURE and isinstance(parameters, Mapping):
        return _HUMAN in named_policies(cast("Mapping[str, object]", parameters))
    return name == _HUMAN


def make_policy_here(name: str, parameters: Mapping[str, object]) -> Policy:
    """Return a new policy; the module of one of the user's own may lie in the working directory.

    Raises:
        ValueError: As of ``make_policy``, with what the command line has instead.
    """
    here = str(Path.cwd())
    # A program installed as a script does not look there; at the end, so that no file there hides a library.
    if ":" in name and here not in sys.path:
        sys.path.append(here)
    try:
        return make_policy(name, **parameters)
    except ValueError as error:
        if hint := _hint(name, parameters):
            msg = f"{error}; {hint}"
            raise PolicyError(msg) from None
        raise


def _hint(name: str, parameters: Mapping[str, object]) -> str:
    """Return what to write where a policy could not be made; empty for nothing special."""
    if name in _PLANNERS:
        return "a planner sees what no policy may: ycbench plan searches for plans, and --policy replay plays them"
    return "say --param path=FILE" if name == _REPLAY and not parameters.keys() & {"path", "turns"} else ""
