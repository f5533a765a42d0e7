"""Greedy: the paper's baseline.

Takes the best-paid task that it can see, puts everybody on it and lets time pass until it is done; one task at a time.
It ignores history, skills and notes, so it falls for adversarial clients, whose market rewards are high.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ycbench_env import Observation

__all__ = ["GreedyPolicy"]

_LOOK: Final = "market browse --limit 1"  # the market is listed by reward, best first
_WAIT: Final = "sim resume"


class GreedyPolicy:
    """Takes the highest-reward task on the market, assigns everybody, advances."""

    def reset(self, seed: int) -> None:
        """Nothing to forget and nothing to draw."""

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with a look at the market for the next decision."""
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


def _best_listed(results: str) -> str | None:
    """Return the id of the first task that the last answer lists, None when it lists none or is no look."""
    answers = json.loads(results)
    if not answers or not answers[-1].get("command", "").startswith("market browse"):
        return None
    listed = answers[-1]["output"].get("tasks")
    return listed[0]["task_id"] if listed else None
