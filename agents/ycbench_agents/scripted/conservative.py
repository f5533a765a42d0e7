"""Conservative: one safe task at a time, with the best team.

Of the tasks on the market it accepts the one with most reward an hour and looks at it again before anybody starts: an
undispatched task costs nothing. Work that has grown shows an adversarial client, from whom it takes nothing more. A
task whose deadline does not hold with a margin stays undone too, and tells that tasks of as many hours are too long
here. So it pays no penalty, and its funds fall by payrolls alone.

Knows the market, the staff's rates, the work and the deadlines of what it accepted, and what it found out about clients
in this episode.
"""

from __future__ import annotations

import datetime as dt
import math

from ycbench_agents.registry import number_parameter
from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import Inspection, MarketGate
from ycbench_agents.scripted.forecast import business_hours, hours_of_work
from ycbench_agents.scripted.one_at_a_time import (
    LOOK,
    WAIT,
    begin,
    best_team,
    feasible,
    known_staff,
    probe,
    swollen_clients,
)
from ycbench_env import Observation


class ConservativePolicy:
    """Starts only what it has inspected and can finish in time.

    Args:
        margin: Fraction of a task's hours that must be left before its deadline, at least 0.

    Raises:
        PolicyError: ``margin`` is no such number.
    """

    def __init__(self, margin: float = 0.1) -> None:
        self._margin = number_parameter("margin", margin)
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget what was found out about clients and deadlines."""
        self._swollen: set[str] = set()
        self._gate = MarketGate()
        self._too_long = math.inf  # hours of the best team

    def act(self, observation: Observation) -> str:
        """Return the next turn: wait, start the task that was just accepted, or accept another."""
        if observation["active_tasks"] > 0:
            return f"{WAIT}\n{LOOK}"
        self._gate.learn(observation)
        self._swollen.update(swollen_clients(observation))
        for task in answers.inspections(observation)[-1:]:
            if task.status == "planned" and self._is_safe(task, observation):
                return begin(observation, task.task_id, best_team(task.work, known_staff(observation)))
        return self._accept_best(observation)

    def _is_safe(self, task: Inspection, observation: Observation) -> bool:
        """Return whether an accepted task is as it was listed and ends in time; remember it when it is too long."""
        if task.client in self._swollen or task.deadline is None:
            return False
        staff = known_staff(observation)
        hours = hours_of_work(task.remaining, best_team(task.work, staff))
        if self._holds(hours, observation, task.deadline):
            return True
        self._too_long = min(self._too_long, hours)
        return False

    def _holds(self, hours: float, observation: Observation, deadline: dt.datetime) -> bool:
        """Return whether so many hours from now end before a deadline and the horizon, with the margin."""
        now, horizon = (
            dt.datetime.fromisoformat(text) for text in (observation["sim_time"], observation["horizon_end"])
        )
        return hours * (1 + self._margin) <= business_hours(now, min(deadline, horizon))

    def _accept_best(self, observation: Observation) -> str:
        """Return a turn that accepts the promising task with most reward an hour, and looks at it."""
        promising = [
            (offer.reward_cents / hours, offer.task_id)
            for offer, hours in feasible(self._gate.opened(observation), known_staff(observation))
            if hours < self._too_long and offer.client not in self._swollen
        ]
        if not promising:
            return LOOK  # the environment moves time on after some such turns
        _, task_id = max(promising, key=lambda each: each[0])  # among equals the first listed, which pays most
        return probe(observation, task_id)
