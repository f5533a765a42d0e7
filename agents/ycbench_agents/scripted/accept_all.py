"""Accept-all, a canary: floods itself, and must score badly.

Takes everything that it can see, puts everybody on everything and starts it all. Whoever is on many tasks splits their
rate between them, so nearly everything ends after its deadline. Should a change of the rules make this pay, a test
fails.

It looks at one page at a time and holds a limited number of tasks: enough to drown in, and turns stay short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.scripted import answer
from ycbench_agents.scripted.one_at_a_time import WAIT, everybody

if TYPE_CHECKING:
    from ycbench_env import Observation

__all__ = ["AcceptAllPolicy"]

_PAGE: Final = 50  # tasks seen in one look, and the most that are active
_LOOK: Final = f"market browse --limit {_PAGE}"


class AcceptAllPolicy:
    """Accepts and starts every task that it sees, everybody on each."""

    def reset(self, seed: int) -> None:
        """Nothing to forget and nothing to draw."""

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next flood."""
        active = int(observation["active_tasks"])
        offers = answer.offers(observation)[: max(0, _PAGE - active)]
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
        return "\n".join((*commands, _LOOK))
