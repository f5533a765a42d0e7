"""Throughput: most reward for an hour of the team's time.

Knows the market, the staff's rates and the rule that the four best of a team count. For each listed task it divides
the reward by the hours that the four best in its domain take, and plays the best one: one at a time, like greedy, so
that the difference between the two shows what the choice alone is worth. It believes what is listed, so it falls for
adversarial clients, and it asks neither for deadlines nor for trust.
"""

from __future__ import annotations

from ycbench_agents.scripted.answers import MarketGate, Offer
from ycbench_agents.scripted.one_at_a_time import play_one
from ycbench_env import Observation

__all__ = ["ThroughputPolicy", "reward_per_hour"]


class ThroughputPolicy:
    """Takes the task with the highest reward an hour, with the best team for it, one at a time."""

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget what refusals told."""
        self._gate = MarketGate()

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look for the next decision."""
        return play_one(observation, reward_per_hour, self._gate)


def reward_per_hour(offer: Offer, hours: float) -> float:
    """Return cents for an hour of the team."""
    return offer.reward_cents / hours
