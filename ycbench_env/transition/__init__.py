"""How the world moves: ``transition(state, command)`` and ``advance(state)``, pure functions."""

from ycbench_env.transition.advance import advance
from ycbench_env.transition.commands import refusal_after_end, transition

__all__ = ["advance", "refusal_after_end", "transition"]
