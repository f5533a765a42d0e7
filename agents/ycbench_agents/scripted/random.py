"""Random: a valid command each turn, drawn from what can be done now.

It keeps track of its own tasks from the answers it gets, so that every command it gives is carried out.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from ycbench_env import Observation

__all__ = ["RandomPolicy"]

_CANCEL_CHANCE: Final = 0.05
_LOOKS: Final = ("company status", "employee list", "client list", "client history", "finance ledger", "task list")


class RandomPolicy:
    """Draws each turn from the commands that would be carried out now."""

    def __init__(self) -> None:
        """Make a policy; ``reset`` seeds it."""
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the episode and seed the draws."""
        self._rng = random.Random(f"random policy {seed}")  # noqa: S311 -- a simulation, not a secret
        self._seen_time = ""
        self._listed: list[str] = []
        self._planned: dict[str, bool] = {}  # own planned tasks; whether somebody is assigned
        self._active: list[str] = []

    def act(self, observation: Observation) -> str:
        """Return one command that can be carried out now."""
        if observation["sim_time"] != self._seen_time:  # prestige and trust may have moved: look again
            self._listed = []
            self._seen_time = observation["sim_time"]
        for result in json.loads(observation["results"]):
            self._learn(result)
        for event in json.loads(observation["events"]):
            if event["type"] == "task_completed":
                self._active.remove(event["task_id"])
        return self._rng.choice(self._choices(int(observation["employees"])))()

    def _choices(self, employees: int) -> list[Callable[[], str]]:
        """Return the kinds of command that can be given now."""
        choices = [self._browse, lambda: self._rng.choice(_LOOKS)]
        if self._listed:
            choices.append(lambda: f"task accept --task-id {self._rng.choice(self._listed)}")
        if self._planned and employees:
            choices.append(lambda: self._assign(employees))
        ready = [task_id for task_id, staffed in self._planned.items() if staffed]
        if ready:
            choices.append(lambda: f"task dispatch --task-id {self._rng.choice(ready)}")
        if self._active:
            choices.extend([lambda: "sim resume"] * 4)  # time passes more often than work is taken on
        own = [*self._planned, *self._active]
        if own:
            choices.append(lambda: f"task inspect --task-id {self._rng.choice(own)}")
            if self._rng.random() < _CANCEL_CHANCE:
                choices.append(lambda: f"task cancel --task-id {self._rng.choice(own)} --reason random")
        return choices

    def _browse(self) -> str:
        return f"market browse --limit {self._rng.randint(1, 20)} --offset {self._rng.randint(0, 30)}"

    def _assign(self, employees: int) -> str:
        task_id = self._rng.choice(list(self._planned))
        team = sorted(self._rng.sample(range(1, employees + 1), self._rng.randint(1, employees)))
        return f"task assign --task-id {task_id} --employees {','.join(f'Emp_{number}' for number in team)}"

    def _learn(self, result: dict[str, Any]) -> None:
        """Keep what an answer tells about the market and the own tasks."""
        output = result["output"]
        command = " ".join(result["command"].split()[:2])
        if command == "market browse":
            self._listed = [task["task_id"] for task in output["tasks"]]
        elif command == "task accept":
            self._planned[output["task_id"]] = False
            self._listed = [task_id for task_id in self._listed if task_id != output["task_id"]]
        elif command == "task assign":
            self._planned[output["task_id"]] = True
        elif command == "task dispatch":
            del self._planned[output["task_id"]]
            self._active.append(output["task_id"])
        elif command == "task cancel":
            self._listed = []
            self._planned.pop(output["task_id"], None)
            if output["task_id"] in self._active:
                self._active.remove(output["task_id"])
