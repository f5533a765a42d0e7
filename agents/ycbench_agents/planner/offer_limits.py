"""What an offer can bring and take at best: bounds of the distributions that offers are drawn from (Y-2.4, Y-4.1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_env.config import Constant

if TYPE_CHECKING:
    from ycbench_env import State
    from ycbench_env.config import Distribution, WorldConfig
    from ycbench_env.types import Client, MarketTask

__all__ = ["Kind", "highest", "kinds_of", "least_work_of", "lowest"]

_LEAST_WORK: Final = 200
_MOST_INFLATED: Final = 25_000
_MOST_TRUST: Final = 4


@attrs.frozen
class Kind:
    """Replacements that are alike: the best of them that can ever come.

    Args:
        prestige: Prestige that they require.
        reward_cents: Highest reward.
        work: Least work of the largest domain, after trust or inflation.
    """

    prestige: int
    reward_cents: int
    work: int


def highest(spec: Distribution) -> float:
    """Return the largest value that a distribution draws."""
    return spec.value if isinstance(spec, Constant) else spec.high


def lowest(spec: Distribution) -> float:
    """Return the smallest value that a distribution draws."""
    return spec.value if isinstance(spec, Constant) else spec.low


def kinds_of(start: State) -> tuple[Kind, ...]:
    """Return the kinds of replacements that the slots of a market bring: each keeps its client and its prestige."""
    world, clients = start.config.world, {client.name: client for client in start.clients}
    kinds = {_kind(world, clients[offer.client_name or ""], offer.required_prestige): None for offer in start.market}
    return tuple(kinds)


def _kind(world: WorldConfig, client: Client, prestige: int) -> Kind:
    most = math.ceil(highest(world.dist.reward_funds_cents))
    gated = 1 + world.trust_gated_reward_boost * (_MOST_TRUST if world.trust_gating_fraction > 0 else 0)
    reward = int(int(most * (1 + world.reward_prestige_scale * (prestige - 1))) * gated) + 1
    least = int(int(lowest(world.dist.required_qty)) * (1 + world.prestige_qty_scale * (prestige - 1)))
    return Kind(prestige, reward, _work(world, client, least))


def least_work_of(start: State, offer: MarketTask) -> int:
    """Return the least work that an offer's largest domain can become when it is accepted."""
    client = next(client for client in start.clients if client.name == offer.client_name)
    return _work(start.config.world, client, max(offer.quantities))


def _work(world: WorldConfig, client: Client, quantity: int) -> int:
    if client.is_adversarial:  # the more passes the more work: one is the least
        factor = 1 + max(3, world.loyalty_severity * abs(client.loyalty_milli / 1000))
        return int(min(_MOST_INFLATED, max(_LEAST_WORK, quantity * factor)))
    saved = world.trust_work_reduction_max if world.trust_gain_base > 0 else 0.0
    return max(_LEAST_WORK, int(quantity * (1 - saved)))
