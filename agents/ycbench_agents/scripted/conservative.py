"""Conservative: one safe task at a time, with the best team.

It accepts the task with most reward an hour and inspects it before anybody starts, since an undispatched task costs
nothing. From a client whose work has grown it takes nothing more; a task whose deadline does not hold with a margin
stays undone too, and shows that tasks of as many hours are too long here.
"""

from __future__ import annotations

import datetime as dt
import math
from typing import Final

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.commands import WAIT
from ycbench_agents.scripted.forecast import business_hours, hours_of_work
from ycbench_agents.scripted.one_at_a_time import (
    LOOK,
    Baseline,
    begin,
    best_team,
    feasible,
    known_staff,
    probe,
    swollen_clients,
    usual_looks,
)
from ycbench_env import Observation

_MARGIN: Final = 0.1  # fraction of a task's hours that must be left before its deadline


class ConservativePolicy(Baseline):
    """Starts only what it has inspected and can finish in time."""

    def reset(self, seed: int) -> None:
        """Forget what was found out about clients and deadlines."""
        super().reset(seed)
        self._swollen: set[str] = set()
        self._too_long = math.inf  # hours of the best team

    def act(self, observation: Observation) -> str:
        """Return the next turn: wait, start the task that was just accepted, or accept another."""
        if observation["active_tasks"] > 0:
            return f"{WAIT}\n{LOOK}"
        self._gate.learn(observation)
        self._swollen |= swollen_clients(observation)
        staff = known_staff(observation)
        for task in answers.inspections(observation)[-1:]:
            if task.status == "planned" and task.deadline is not None and task.client not in self._swollen:
                team = best_team(task.work, staff)
                hours = hours_of_work(task.remaining, team)
                now, horizon = (dt.datetime.fromisoformat(observation[key]) for key in ("sim_time", "horizon_end"))
                if hours * (1 + _MARGIN) <= business_hours(now, min(task.deadline, horizon)):
                    return "\n".join(begin(observation, task.task_id, team))
                self._too_long = min(self._too_long, hours)
        promising = [
            (offer.reward_cents / hours, offer.task_id)
            for offer, hours in feasible(self._gate.opened(observation), staff)
            if hours < self._too_long and offer.client not in self._swollen
        ]
        if not promising:
            return LOOK  # the environment moves time on after some such turns
        _, best = max(promising, key=lambda each: each[0])  # among equals the first listed, which pays most
        return "\n".join((*probe(observation, best), *usual_looks(observation)))
