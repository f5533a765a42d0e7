"""Playing one task at a time: what the plain baselines share besides how they choose a task.

Each decision rests on a fresh look and on nothing kept from earlier, so that it holds whoever played the turn before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import Employee, MarketGate, Offer, Work
from ycbench_agents.scripted.commands import WAIT, accept, assign, cancel, dispatch, inspect, start
from ycbench_agents.scripted.forecast import ASSUMED_RATE, TEAM_SIZE, TINY, hours_of_work, most_units, units
from ycbench_env import Observation

LOOK: Final = "market browse --limit 400\nemployee list\ncompany status"
"""What a decision needs. More tasks than these would not fit into an observation; the best paid come first."""


WIDE_LOOK: Final = "company status\nmarket browse --limit 400"


class Baseline:
    """A policy that draws nothing, and remembers which listed tasks can be accepted."""

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:  # noqa: ARG002 -- nothing to draw
        """Forget the last episode."""
        self._gate = MarketGate()


def feasible(offers: Iterable[Offer], staff: Sequence[Employee]) -> list[tuple[Offer, float]]:
    """Return the tasks that a staff can do, in their order, each with the hours that its best team takes."""
    hours = [(offer, hours_of_work(offer.work, best_team(offer.work, staff))) for offer in offers]
    return [(offer, max(TINY, needed)) for offer, needed in hours if needed < float("inf")]


def known_staff(observation: Observation) -> tuple[Employee, ...]:
    """Return the staff, as equals where no rates are shown; by their usual names where the list did not fit."""
    listed = answers.staff(observation) or tuple(
        Employee(name=name, salary_cents=0, rates={}, active_tasks=()) for name in everybody(observation)
    )
    if any(member.rates for member in listed):
        return listed
    equal = {domain: ASSUMED_RATE for offer in answers.offers(observation) for domain, _ in offer.work}
    return tuple(attrs.evolve(member, rates=equal) for member in listed)


def everybody(observation: Observation) -> tuple[str, ...]:
    """Return the names of all employees."""
    return tuple(f"Emp_{number}" for number in range(1, int(observation["employees"]) + 1))


def best_team(work: Work, staff: Sequence[Employee]) -> tuple[Employee, ...]:
    """Return the four best in each domain of a task, in the order of the staff.

    Nobody else would make it faster, and everybody on a task gets a raise when it succeeds.
    """
    members: set[str] = set()
    for domain, _ in work:
        ranked = sorted(staff, key=lambda member: -member.rates.get(domain, 0.0))
        members.update(member.name for member in ranked[:TEAM_SIZE])
    return tuple(member for member in staff if member.name in members)


def take(
    observation: Observation, task_id: str, team: Iterable[str], *, doubtful: bool, looks: Sequence[str] | None = None
) -> str:
    """Return a turn that accepts a task, puts a team on it, lets time pass and looks.

    Where a doubtful task is refused nothing more happens: time that passes with nobody at work runs to the horizon.
    """
    commands = (" && " if doubtful else "\n").join((*start(task_id, team), WAIT))
    return "\n".join((*make_room(observation), commands, *(usual_looks(observation) if looks is None else looks)))


def probe(observation: Observation, task_id: str) -> tuple[str, ...]:
    """Return what accepts a task, with a look at it before and after, so that ``swollen_clients`` can compare."""
    return (*make_room(observation), inspect(task_id), accept(task_id), inspect(task_id))


def begin(observation: Observation, task_id: str, team: Iterable[Employee]) -> tuple[str, ...]:
    """Return what puts a team on an accepted task, lets time pass and looks."""
    names = [member.name for member in team]
    return (assign(task_id, names), dispatch(task_id), WAIT, *usual_looks(observation))


def swollen_clients(observation: Observation) -> set[str]:
    """Return the clients whose work grew when it was accepted, as the looks of the last turn show."""
    seen = answers.inspections(observation)
    listed = {task.task_id: most_units(task.work) for task in seen if task.status == "market"}
    return {
        task.client
        for task in seen
        if task.status != "market" and units(task.work) > listed.get(task.task_id, float("inf"))
    }


def usual_looks(observation: Observation) -> tuple[str, ...]:
    """Return the looks that end a turn: also at tasks that lie about, since their number may be limited."""
    return (LOOK, "task list --status planned") if observation["planned_tasks"] > 0 else (LOOK,)


def make_room(observation: Observation) -> tuple[str, ...]:
    """Return what gives up the oldest task that lies about undispatched, when an accept was just refused."""
    lying = answers.planned_tasks(observation)
    return (cancel(lying[-1], "room"),) if lying and answers.refused(observation, "task accept") else ()
