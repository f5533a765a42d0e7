"""Canaries: policies that must score badly. Should a change of the rules make one of them pay, a test fails."""

from __future__ import annotations

from typing import Final

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate
from ycbench_agents.scripted.one_at_a_time import (
    LOOK,
    WAIT,
    begin,
    everybody,
    known_staff,
    make_room,
    swollen_clients,
    try_to_take,
)
from ycbench_env import Observation

_PAGE: Final = 50  # tasks seen in one look, and the most that are active: enough to drown in, and turns stay short


class AcceptAllPolicy:
    """Accepts and starts every task that it sees, everybody on each.

    Whoever is on many tasks splits their rate between them, so nearly everything ends after its deadline. Where the
    market lists more than can be accepted, it asks for the company's prestige, too.
    """

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget what the market lists."""
        self._gate = MarketGate()

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next flood."""
        active = int(observation["active_tasks"])
        self._gate.learn(observation)
        offers = self._gate.opened(observation)[: max(0, _PAGE - active)]
        if self._gate.lists_everything and not answers.prestige(observation):
            offers = ()
        names = ",".join(everybody(observation))
        commands = [
            f"task accept --task-id {offer.task_id}"
            f" && task assign --task-id {offer.task_id} --employees {names}"
            f" && task dispatch --task-id {offer.task_id}"
            for offer in offers
            if names
        ]
        if commands or active:
            commands.append(WAIT)
        wide = "company status\nmarket browse --limit 400"
        return "\n".join((*commands, wide if self._gate.lists_everything else f"market browse --limit {_PAGE}"))


class AdversaryChaserPolicy:
    """Takes the best-paid task of the clients whose work grows, of any client while it knows none.

    Work that has grown when a task is accepted shows an adversarial client, which others learn to shun. It starts
    everything, with everybody on it, one task at a time.
    """

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
