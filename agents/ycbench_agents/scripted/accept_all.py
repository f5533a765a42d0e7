"""Accept-all, a canary: floods itself, and must score badly.

Takes everything that it can see, puts everybody on everything and starts it all. Whoever is on many tasks splits their
rate between them, so nearly everything ends after its deadline. Should a change of the rules make this pay, a test
fails. Where the market lists more than can be accepted, it asks for the company's prestige, too.

It looks at one page at a time and holds a limited number of tasks: enough to drown in, and turns stay short.
"""

from __future__ import annotations

from typing import Final

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate
from ycbench_agents.scripted.one_at_a_time import WAIT, everybody
from ycbench_env import Observation

__all__ = ["AcceptAllPolicy"]

_PAGE: Final = 50  # tasks seen in one look, and the most that are active


class AcceptAllPolicy:
    """Accepts and starts every task that it sees, everybody on each."""

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
