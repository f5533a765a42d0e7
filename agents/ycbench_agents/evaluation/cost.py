"""How long episodes take, so that the longest are begun first."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["expected_cost"]

_RELATIVE_COSTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "accept_all": 0.6,
        "adversary_chaser": 0.4,
        "conservative": 0.5,
        "expert": 4.0,
        "greedy": 0.3,
        "idle": 0.1,
        "market_roller": 40.0,
        "prestige": 0.6,
        "random": 0.8,
        "throughput": 0.9,
    }
)
_UNKNOWN: Final = 20.0  # whoever may take long is begun early


def expected_cost(policy: str) -> float:
    """Return how long an episode of a policy takes, in seconds of a slow processor; it orders, no more."""
    return _RELATIVE_COSTS.get(policy, _UNKNOWN)
