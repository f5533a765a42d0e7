"""Throughput and prestige: one task at a time with its best team; they differ in what a task is worth to them.

Both know the market, the staff's rates and the rule that the four best of a team count. They believe what is listed, so
they fall for adversarial clients, and ask neither for deadlines nor for trust.
"""

from __future__ import annotations

from collections.abc import Callable

from ycbench_agents.registry import number_parameter
from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate, Offer
from ycbench_agents.scripted.one_at_a_time import LOOK, WAIT, best_team, feasible, known_staff, take, try_to_take
from ycbench_env import Observation


class ThroughputPolicy:
    """Takes the task with the highest reward an hour, with the best team for it, one at a time.

    It differs from greedy in the choice alone, so the two show what that is worth.
    """

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget what refusals told."""
        self._gate = MarketGate()

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look for the next decision."""
        return _play_one(observation, _reward_per_hour, self._gate)


class PrestigePolicy:
    """Climbs first and earns later.

    Until one domain has the prestige that it wants, it plays the task that gives most prestige for an hour of the team,
    among those of the domain that stands highest: one domain at 5 opens its best contracts, while four would take
    longer than a year. While that domain offers nothing it takes what pays best. From then on it plays throughput.
    Should prestige fall again, it climbs again.

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
            return _play_one(observation, _reward_per_hour, self._gate)

        def prestige_per_hour(offer: Offer, hours: float) -> float:
            leads = any(levels.get(domain, 0.0) == highest for domain, _ in offer.work)
            return offer.prestige_delta / hours if leads else 0.0

        return _play_one(observation, prestige_per_hour, self._gate)


def _reward_per_hour(offer: Offer, hours: float) -> float:
    return offer.reward_cents / hours


def _play_one(observation: Observation, value: Callable[[Offer, float], float], gate: MarketGate) -> str:
    """Return a turn that waits for the active tasks, else takes the task of highest value with its best team.

    Args:
        observation: What was seen last.
        value: What a task is worth, given the business hours that its best team takes.
        gate: Which tasks prestige opens; it learns from what was seen.
    """
    gate.learn(observation)
    if observation["active_tasks"] > 0:
        return f"{WAIT}\n{LOOK}"
    staff = known_staff(observation)
    choice = feasible(gate.opened(observation), staff)
    if not choice:
        return LOOK  # the first turn, or nothing to take: the environment moves time on after some such turns
    best, _ = max(choice, key=lambda each: value(*each))  # among equals the first listed, which pays most
    if gate.doubts(best, answers.prestige(observation)):
        team = [member.name for member in best_team(best.work, staff)]
        return try_to_take(observation, best.task_id, team)
    return take(observation, best.task_id, best_team(best.work, staff))
