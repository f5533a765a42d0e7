"""Canaries: policies that must score badly. Should a change of the rules make one of them pay, a test fails."""

from __future__ import annotations

from typing import Final

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.commands import WAIT, start
from ycbench_agents.scripted.one_at_a_time import (
    LOOK,
    WIDE_LOOK,
    Baseline,
    begin,
    everybody,
    known_staff,
    probe,
    swollen_clients,
    take,
)
from ycbench_env import Observation

_PAGE: Final = 50  # tasks seen in one look, and the most that are active: enough to drown in, and turns stay short


class AcceptAllPolicy(Baseline):
    """Accepts and starts every task that it sees, everybody on each.

    Whoever is on many tasks splits their rate between them, so nearly everything ends after its deadline. Where the
    market lists more than can be accepted, it asks for the company's prestige, too.
    """

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next flood."""
        active = int(observation["active_tasks"])
        self._gate.learn(observation)
        offers = self._gate.opened(observation)[: max(0, _PAGE - active)]
        names = everybody(observation)
        if not names or (self._gate.lists_everything and not answers.prestige(observation)):
            offers = ()
        commands = [" && ".join(start(offer.task_id, names)) for offer in offers]
        if commands or active:
            commands.append(WAIT)
        return "\n".join((*commands, WIDE_LOOK if self._gate.lists_everything else f"market browse --limit {_PAGE}"))


class AdversaryChaserPolicy(Baseline):
    """Takes the best-paid task of the clients whose work grows, of any client while it knows none.

    Work that has grown when a task is accepted shows an adversarial client, which others learn to shun. It starts
    everything, with everybody on it, one task at a time.
    """

    def reset(self, seed: int) -> None:
        """Forget which clients it chases."""
        super().reset(seed)
        self._chased: set[str] = set()

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next decision."""
        self._chased |= swollen_clients(observation)
        self._gate.learn(observation)
        offers, staff = self._gate.opened(observation), known_staff(observation)
        if observation["active_tasks"] > 0:
            return f"{WAIT}\n{LOOK}"
        if not offers or not staff:
            return LOOK
        best = next((offer for offer in offers if offer.client in self._chased), offers[0])  # best paid first
        if self._gate.doubts(best, answers.prestige(observation)):
            return take(observation, best.task_id, [member.name for member in staff], doubtful=True)
        return "\n".join((*probe(observation, best.task_id), *begin(observation, best.task_id, staff)))
