"""Prestige: climb first, earn later.

Until one domain has the prestige that it wants, it plays the task that gives most prestige for an hour of the team,
among those of the domain that stands highest: one domain at 5 opens its best contracts, while four would take longer
than a year. While that domain offers nothing it takes what pays best. From then on it plays throughput. Should
prestige fall again, it climbs again.

Knows the market, the staff's rates and its own prestige; believes what is listed, like throughput.
"""

from __future__ import annotations

from ycbench_agents.registry import number_parameter
from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate, Offer
from ycbench_agents.scripted.one_at_a_time import play_one
from ycbench_agents.scripted.throughput import reward_per_hour
from ycbench_env import Observation

__all__ = ["PrestigePolicy"]


class PrestigePolicy:
    """Climbs in one domain, then takes the highest reward an hour.

    Args:
        until: Prestige at which climbing ends, at least 0.

    Raises:
        PolicyError: ``until`` is no such number.
    """

    def __init__(self, until: float = 5.0) -> None:
        self._until = number_parameter("until", until)
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget what refusals told."""
        self._gate = MarketGate()

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look for the next decision."""
        levels = answers.prestige(observation)
        highest = max(levels.values(), default=0.0)
        if highest >= self._until:
            return play_one(observation, reward_per_hour, self._gate)

        def prestige_per_hour(offer: Offer, hours: float) -> float:
            """Return prestige for an hour of the team; in a domain that is behind, nothing."""
            leads = any(levels.get(domain, 0.0) == highest for domain, _ in offer.work)
            return offer.prestige_delta / hours if leads else 0.0

        return play_one(observation, prestige_per_hour, self._gate)
