"""Adversary-chaser, a canary: seeks the clients that others learn to shun, and must score badly.

Takes the best-paid task on the market, where adversarial clients stand out, and looks at it before and after it is
accepted: work that has grown shows such a client. Once it knows some it takes their tasks alone while there are any,
and starts everything, with everybody on it, one at a time. Should a change of the rules make this pay, a test fails.
"""

from __future__ import annotations

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate
from ycbench_agents.scripted.one_at_a_time import (
    LOOK,
    WAIT,
    begin,
    known_staff,
    make_room,
    swollen_clients,
    try_to_take,
)
from ycbench_env import Observation

__all__ = ["AdversaryChaserPolicy"]


class AdversaryChaserPolicy:
    """Takes the best-paid task of the clients whose work grows, of any client while it knows none."""

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget which clients it chases."""
        self._chased: set[str] = set()
        self._gate = MarketGate()

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next decision."""
        self._chased.update(swollen_clients(observation))
        self._gate.learn(observation)
        offers, staff = self._gate.opened(observation), known_staff(observation)
        if observation["active_tasks"] > 0:
            return f"{WAIT}\n{LOOK}"
        if not offers or not staff:
            return LOOK
        best = next((offer for offer in offers if offer.client in self._chased), offers[0])  # best paid first
        if self._gate.doubts(best, answers.prestige(observation)):
            return try_to_take(observation, best.task_id, [member.name for member in staff])
        inspect = f"task inspect --task-id {best.task_id}"
        accept = f"task accept --task-id {best.task_id}"
        return "\n".join((*make_room(observation), inspect, accept, inspect, begin(observation, best.task_id, staff)))
