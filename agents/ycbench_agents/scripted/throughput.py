"""Throughput and prestige: one task at a time with its best team; they differ in what a task is worth to them.

They believe what is listed, so they fall for adversarial clients, and ask neither for deadlines nor for trust.
"""

from __future__ import annotations

from typing import Final

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import Offer
from ycbench_agents.scripted.commands import WAIT
from ycbench_agents.scripted.one_at_a_time import LOOK, Baseline, best_team, feasible, known_staff, take
from ycbench_env import Observation

_CLIMBED: Final = 5.0  # prestige at which climbing ends


class ThroughputPolicy(Baseline):
    """Takes the task with the highest reward an hour, with the best team for it, one at a time."""

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look for the next decision."""
        self._gate.learn(observation)
        if observation["active_tasks"] > 0:
            return f"{WAIT}\n{LOOK}"
        staff = known_staff(observation)
        choice = feasible(self._gate.opened(observation), staff)
        if not choice:
            return LOOK  # the first turn, or nothing to take: the environment moves time on after some such turns
        levels = answers.prestige(observation)
        # Among equals the first listed, which pays most.
        best, _ = max(choice, key=lambda each: self._worth(each[0], levels) / each[1])
        team = [member.name for member in best_team(best.work, staff)]
        return take(observation, best.task_id, team, doubtful=self._gate.doubts(best, levels))

    def _worth(self, offer: Offer, levels: dict[str, float]) -> float:  # noqa: ARG002 -- prestige asks for them
        return offer.reward_cents


class PrestigePolicy(ThroughputPolicy):
    """Climbs first and earns later.

    Until one domain stands at 5, it plays the task that gives most prestige for an hour of the team, among those of the
    domain that stands highest: that opens its best contracts, while four domains would take longer than a year. While
    that domain offers nothing, and from then on, it plays throughput.
    """

    def _worth(self, offer: Offer, levels: dict[str, float]) -> float:
        highest = max(levels.values(), default=0.0)
        if highest >= _CLIMBED:
            return offer.reward_cents
        leads = any(levels.get(domain, 0.0) == highest for domain, _ in offer.work)
        return offer.prestige_delta if leads else 0.0
