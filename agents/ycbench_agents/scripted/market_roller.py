"""Market roller: the expert with a loophole. It measures what the loophole is worth and is to be reported apart.

A task that is accepted and never begun costs nothing, and another one takes its place on the market at once. So before
each decision this policy accepts poor offers of honest clients only to see what replaces them, and lets the expert
choose from the best. It rolls no more once an accept was refused (``max_open_tasks``), nor where rates are hidden.
"""

from __future__ import annotations

from typing import Final

import attrs

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.commands import accept
from ycbench_agents.scripted.expert import ExpertPolicy
from ycbench_agents.scripted.forecast import units
from ycbench_env import Observation

_KEPT: Final = 6  # offers of each domain
_REPLACED: Final = 30  # offers between two decisions at most


class MarketRollerPolicy:
    """Accepts offers only to have them replaced, and lets the expert choose from the best."""

    def __init__(self) -> None:
        self._expert = ExpertPolicy()
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the last episode."""
        self._expert.reset(seed)
        self._closed = False  # whether the loophole is

    def act(self, observation: Observation) -> str:
        """Return the next turn: what the expert decides, and offers that are to be replaced before its next look."""
        self._closed = self._closed or bool(answers.refused(observation, "task accept"))
        situation = self._expert.learn(observation)
        if situation is None:
            return self._expert.look()
        offers = self._expert.appraise(situation).offers
        if self._closed or situation.hidden or not offers:
            return self._expert.decide(situation)
        ranked = sorted(offers, key=lambda offer: -offer.reward_cents / units(offer.work))
        best = {
            offer.task_id
            for domain in situation.prestige
            for offer in [offer for offer in ranked if offer.work[0][0] == domain][:_KEPT]
        }
        poor = [offer.task_id for offer in offers if offer.task_id not in best]
        chosen = tuple(offer for offer in situation.offers if offer.task_id not in poor)
        refresh = [accept(task_id) for task_id in poor[-_REPLACED:]]
        return self._expert.decide(attrs.evolve(situation, offers=chosen), refresh)
