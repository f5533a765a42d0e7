"""Policies as the command line names them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ycbench_agents.registry import make_policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.base import Policy

__all__ = ["make_policy_here"]


def make_policy_here(name: str, parameters: Mapping[str, object]) -> Policy:
    """Return a new policy; the module of one of the user's own may lie in the working directory.

    Raises:
        PolicyError: As of ``make_policy``.
    """
    here = str(Path.cwd())
    # A program installed as a script does not look there; at the end, so that no file there hides a library.
    if ":" in name and here not in sys.path:
        sys.path.append(here)
    return make_policy(name, **parameters)
