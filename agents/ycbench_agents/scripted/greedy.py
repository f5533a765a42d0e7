"""Greedy: the paper's baseline.

Takes the best-paid task that it can see, puts everybody on it and lets time pass until it is done; one task at a time.
It ignores history, skills and notes, so it falls for adversarial clients, whose market rewards are high.

A market that lists only what can be accepted shows it one task, the best-paid. Where everything is listed, it asks for
the company's prestige, too, and takes the best-paid task that this opens.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from ycbench_agents.scripted import answer
from ycbench_agents.scripted.gate import PrestigeGate, lists_everything
from ycbench_agents.scripted.one_at_a_time import everybody, try_to_take

if TYPE_CHECKING:
    from ycbench_env import Observation

__all__ = ["GreedyPolicy"]

_LOOK: Final = "market browse --limit 1"  # the market is listed by reward, best first
_WIDE_LOOK: Final = "company status\nmarket browse --limit 400"
_WAIT: Final = "sim resume"


class GreedyPolicy:
    """Takes the highest-reward task on the market, assigns everybody, advances."""

    def __init__(self) -> None:
        """Make a policy that knows no market."""
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget what the market lists."""
        self._gate = PrestigeGate()
        self._all_listed: bool | None = None  # None: it has seen no task yet

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next decision."""
        if self._lists_everything(observation):
            return self._act_where_all_is_listed(observation)
        if observation["active_tasks"] > 0:
            return f"{_WAIT}\n{_LOOK}"
        best = _best_listed(observation["results"])
        if best is None or observation["employees"] == 0:
            return _LOOK  # the first turn, or nothing to take: the environment moves time on after some such turns
        everybody = ",".join(f"Emp_{number}" for number in range(1, int(observation["employees"]) + 1))
        return "\n".join(
            (
                f"task accept --task-id {best}",
                f"task assign --task-id {best} --employees {everybody}",
                f"task dispatch --task-id {best}",
                _WAIT,
                _LOOK,
            )
        )

    def _lists_everything(self, observation: Observation) -> bool:
        """Return whether the market lists more than can be accepted, going by the first tasks that it ever showed."""
        if self._all_listed is None and (offers := answer.offers(observation)):
            self._all_listed = lists_everything(offers)
        return bool(self._all_listed)

    def _act_where_all_is_listed(self, observation: Observation) -> str:
        self._gate.learn(observation)
        if observation["active_tasks"] > 0:
            return f"{_WAIT}\n{_WIDE_LOOK}"
        offers = self._gate.opened(observation) if answer.prestige(observation) else ()
        if not offers or observation["employees"] == 0:
            return _WIDE_LOOK
        return try_to_take(observation, offers[0].task_id, everybody(observation), (_WIDE_LOOK,))


def _best_listed(results: str) -> str | None:
    """Return the id of the first task that the last answer lists, None when it lists none or is no look."""
    answers = json.loads(results)
    if not answers or not answers[-1].get("command", "").startswith("market browse"):
        return None
    listed = answers[-1]["output"].get("tasks")
    return listed[0]["task_id"] if listed else None
