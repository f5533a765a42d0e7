"""Accept-all, a canary: floods itself, and must score badly.

Takes everything that it can see, puts everybody on everything and starts it all. Whoever is on many tasks splits their
rate between them, so nearly everything ends after its deadline. Should a change of the rules make this pay, a test
fails.

Where the market lists more than can be accepted, it asks for the company's prestige, too, and floods itself with what
that opens.

It looks at one page at a time and holds a limited number of tasks: enough to drown in, and turns stay short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.scripted import answer
from ycbench_agents.scripted.gate import PrestigeGate, lists_everything
from ycbench_agents.scripted.one_at_a_time import WAIT, everybody

if TYPE_CHECKING:
    from ycbench_env import Observation

__all__ = ["AcceptAllPolicy"]

_PAGE: Final = 50  # tasks seen in one look, and the most that are active
_WIDE_LOOK: Final = "company status\nmarket browse --limit 400"
_LOOK: Final = f"market browse --limit {_PAGE}"


class AcceptAllPolicy:
    """Accepts and starts every task that it sees, everybody on each."""

    def __init__(self) -> None:
        """Make a policy that knows no market."""
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget what the market lists."""
        self._gate = PrestigeGate()
        self._all_listed: bool | None = None  # None: it has seen no task yet

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next flood."""
        active = int(observation["active_tasks"])
        look = self._look(observation)
        self._gate.learn(observation)
        offers = self._gate.opened(observation)[: max(0, _PAGE - active)]
        if self._all_listed and not answer.prestige(observation):
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
        return "\n".join((*commands, look))

    def _look(self, observation: Observation) -> str:
        """Return the look that ends each turn, by the first tasks that the market ever showed."""
        if self._all_listed is None and (offers := answer.offers(observation)):
            self._all_listed = lists_everything(offers)
        return _WIDE_LOOK if self._all_listed else _LOOK
