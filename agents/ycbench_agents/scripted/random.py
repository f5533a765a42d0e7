"""Random: turns of valid commands, drawn from what can be done now.

It keeps account of the market that it has seen and of its own tasks, so every command is carried out as long as nobody
else plays turns of the same episode.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate
from ycbench_agents.scripted.commands import WAIT, accept, assign, cancel, dispatch, inspect
from ycbench_env import Observation

_LOOKS: Final = ("company status", "employee list", "client list", "client history", "finance ledger", "task list")
_MOST_COMMANDS: Final = 6  # in one turn
_CANCEL_CHANCE: Final = 0.05
_NEWCOMER: Final = 1.0


class RandomPolicy:
    """Draws each command from those that would be carried out now.

    A turn ends after a look at the market or a step in time, since what comes then is not known yet.
    """

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the episode and seed the draws."""
        self._rng = random.Random(f"random policy {seed}")  # noqa: S311 -- a simulation, not a secret
        self._seen_time = ""
        self._listed: list[str] = []
        self._looks = _LOOKS
        self._gate = MarketGate()
        self._level = _NEWCOMER  # highest prestige, as far as it was shown
        self._planned: dict[str, bool] = {}  # own planned tasks; whether somebody is assigned
        self._active: list[str] = []

    def act(self, observation: Observation) -> str:
        """Return one to six commands that can be carried out one after another."""
        self._learn(observation)
        commands: list[str] = []
        for _ in range(self._rng.randint(1, _MOST_COMMANDS)):
            command = self._rng.choice(self._choices(int(observation["employees"])))()
            commands.append(command)
            if command.startswith(("market browse", WAIT)):
                break
        return "\n".join(commands)

    def _learn(self, observation: Observation) -> None:
        """Take in what the last turn showed: prestige, the market, and whether this world knows clients."""
        if self._gate.lists_everything is None:
            self._gate.learn(observation)
        if answers.refused(observation, "client "):
            self._looks = tuple(look for look in self._looks if not look.startswith("client "))
        if levels := answers.prestige(observation):
            self._level = max(_NEWCOMER, *levels.values())
        browses = [each for each in answers.results(observation) if each.get("command", "").startswith("market browse")]
        if observation["sim_time"] != self._seen_time:  # prestige and trust may have moved: look again
            self._seen_time, self._listed = observation["sim_time"], []
        elif browses:
            # Where all tasks are listed, those that ask for more than it has are not drawn.
            self._listed = [
                task["task_id"]
                for task in browses[-1].get("output", {}).get("tasks", [])
                if not self._gate.lists_everything
                or (task["required_prestige"] <= self._level and not task.get("required_trust"))
            ]
        ended = {done.task_id for done in answers.completions(observation)}
        self._active = [task_id for task_id in self._active if task_id not in ended and observation["active_tasks"] > 0]
        if observation["planned_tasks"] == 0:
            self._planned = {}

    def _choices(self, employees: int) -> list[Callable[[], str]]:
        """Return the kinds of command that can be given now."""
        rng = self._rng
        choices: list[Callable[[], str]] = [
            lambda: f"market browse --limit {rng.randint(1, 20)} --offset {rng.randint(0, 30)}",
            lambda: rng.choice(self._looks),
        ]
        if self._listed:
            choices.append(self._accept)
        if self._planned and employees:
            choices.append(lambda: self._assign(employees))
        if any(self._planned.values()):
            choices.append(self._dispatch)
        if self._active:
            choices.append(lambda: WAIT)
        if self._planned or self._active:
            choices.append(lambda: inspect(rng.choice([*self._planned, *self._active])))
            if rng.random() < _CANCEL_CHANCE:
                choices.append(self._cancel)
        return choices

    def _accept(self) -> str:
        task_id = self._rng.choice(self._listed)
        self._listed.remove(task_id)
        self._planned[task_id] = False
        return accept(task_id)

    def _assign(self, employees: int) -> str:
        task_id = self._rng.choice(list(self._planned))
        self._planned[task_id] = True
        team = sorted(self._rng.sample(range(1, employees + 1), self._rng.randint(1, employees)))
        return assign(task_id, [f"Emp_{number}" for number in team])

    def _dispatch(self) -> str:
        task_id = self._rng.choice([task_id for task_id, staffed in self._planned.items() if staffed])
        del self._planned[task_id]
        self._active.append(task_id)
        return dispatch(task_id)

    def _cancel(self) -> str:
        task_id = self._rng.choice([*self._planned, *self._active])
        self._planned.pop(task_id, None)
        self._active = [other for other in self._active if other != task_id]
        self._listed = []  # prestige and trust have fallen
        return cancel(task_id, "random")
