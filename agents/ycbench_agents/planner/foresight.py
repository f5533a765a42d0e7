"""The future market, seen through ``transition`` on imagined states: privileged knowledge that no agent has.

What a slot lists after its n-th acceptance depends on the run seed, the slot and n alone (Y-2.5). So a slot can be
walked along in a copy of the first state in which every client trusts the company and every prestige is high: the
offers that come up are those of the real episode, whatever happens in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

import ycbench_env
from ycbench_agents.planner.words import accept, meaning

if TYPE_CHECKING:
    from ycbench_env import Config, State
    from ycbench_env.types import MarketTask

__all__ = ["PASSES_A_SLOT", "Card", "Foresight", "unlimited"]

PASSES_A_SLOT: Final = 998
"""How far a slot is looked along: after 1,000 acceptances its ids meet the next slot's, and replaying takes long."""

_HIGH_MILLI: Final = 10**6


@attrs.frozen
class Card:
    """An offer and what a rollout asks about it most often.

    Args:
        offer: The task as the market lists it.
        task_id: Its id.
        accept: The command that accepts it.
        place: How many acceptances in its slot come before it.
        home: Domain with the most work.
        value: Reward for each unit of work before trust reduces it, cents.
        boost: Skill boost, a fraction.
        mask: Its domains, a bit each.
    """

    offer: MarketTask
    task_id: str
    accept: str
    place: int
    home: int
    value: float
    boost: float
    mask: int


def card_of(offer: MarketTask, place: int) -> Card:
    """Return an offer as a card."""
    most, home = max(zip(offer.quantities, offer.domains, strict=True), key=lambda pair: (pair[0], -pair[1]))
    return Card(
        offer=offer,
        task_id=offer.task_id,
        accept=accept(offer.task_id),
        place=place,
        home=home,
        value=offer.reward_cents / max(1, most),
        boost=offer.skill_boost_e4 / 10_000,
        mask=sum([1 << domain for domain in offer.domains]),
    )


class Foresight:
    """The offers of every slot in order, drawn when they are first asked for.

    Args:
        start: The first state of an episode.

    Raises:
        ValueError: Replacements are numbered by the episode, so what a slot will list depends on all that is accepted.
    """

    def __init__(self, start: State) -> None:
        if start.config.world.replacement_numbering != "slot":
            msg = "planner: got replacement_numbering = episode, expected slot, by which what a slot will list is known"
            raise ValueError(msg)
        trust_milli = round(start.config.world.trust_max * 1000)
        open_to_all = attrs.evolve(
            start,
            config=unlimited(start.config),
            clients=tuple([attrs.evolve(client, trust_milli=trust_milli) for client in start.clients]),
            prestige_milli=tuple([max(_HIGH_MILLI, level) for level in start.prestige_milli]),
        )
        self._ahead = [open_to_all] * len(start.market)
        self._cards = [[card_of(offer, 0)] for offer in start.market]

    def card(self, slot: int, place: int) -> Card | None:
        """Return what a slot lists after so many acceptances, None beyond what is looked at."""
        cards = self._cards[slot]
        while len(cards) <= place:
            if len(cards) > PASSES_A_SLOT:
                return None
            state = self._ahead[slot]
            outcome = ycbench_env.transition(state, meaning(cards[-1].accept))
            if outcome.refusal is not None:  # it requires a trust that no client can reach
                return None
            self._ahead[slot] = outcome.state
            cards.append(card_of(outcome.state.market[slot], len(cards)))
        return cards[place]


def unlimited(config: Config) -> Config:
    """Return a configuration in which any number of tasks may be open."""
    if config.world.max_open_tasks is None:
        return config
    return attrs.evolve(config, world=attrs.evolve(config.world, max_open_tasks=None))
