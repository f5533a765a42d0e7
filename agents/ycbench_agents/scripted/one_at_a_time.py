"""Playing one task at a time: what the plain baselines share besides how they choose a task.

Each decision rests on a fresh look and on nothing kept from earlier, so that it holds whoever played the turn before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import Employee, Offer, Work
from ycbench_agents.scripted.forecast import ASSUMED_RATE, TEAM_SIZE, TINY, hours_of_work, most_units
from ycbench_env import Observation

LOOK: Final = "market browse --limit 400\nemployee list\ncompany status"
"""What a decision needs. More tasks than these would not fit into an observation; the best paid come first."""

WAIT: Final = "sim resume"


_HELD: Final = "task list --status planned"


def feasible(offers: Sequence[Offer], staff: Sequence[Employee]) -> tuple[tuple[Offer, float], ...]:
    """Return the tasks that a staff can do, in their order, each with the hours that its best team takes."""
    hours = [(offer, hours_of_work(offer.work, best_team(offer.work, staff))) for offer in offers]
    return tuple((offer, max(TINY, needed)) for offer, needed in hours if needed < float("inf"))


def known_staff(observation: Observation) -> tuple[Employee, ...]:
    """Return the staff, as equals where no rates are told; by their usual names where the list did not fit."""
    listed = answers.staff(observation) or tuple(
        Employee(name=name, salary_cents=0, rates={}, active_tasks=()) for name in everybody(observation)
    )
    if any(member.rates for member in listed):
        return listed
    domains = dict.fromkeys(domain for offer in answers.offers(observation) for domain, _ in offer.work)
    equal = dict.fromkeys(domains, ASSUMED_RATE)
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


def take(observation: Observation, task_id: str, team: Sequence[Employee]) -> str:
    """Return a turn that accepts a task, puts a team on it, lets time pass and looks."""
    return "\n".join((*make_room(observation), f"task accept --task-id {task_id}", begin(observation, task_id, team)))


def try_to_take(observation: Observation, task_id: str, team: Sequence[str], looks: Sequence[str] | None = None) -> str:
    """Return a turn like that of ``take`` in which nothing more happens, time included, if the task is refused.

    Where time may pass with nobody at work, it would run up to the horizon.

    Args:
        observation: What was seen last.
        task_id: Task that may be refused.
        team: Names of those who shall work on it.
        looks: Questions at the end of the turn, None for the usual ones.
    """
    commands = (
        f"task accept --task-id {task_id}",
        f"task assign --task-id {task_id} --employees {','.join(team)}",
        f"task dispatch --task-id {task_id}",
        WAIT,
    )
    asked = _looks(observation) if looks is None else looks
    return "\n".join((*make_room(observation), " && ".join(commands), *asked))


def begin(observation: Observation, task_id: str, team: Sequence[Employee]) -> str:
    """Return the commands that put a team on an accepted task, let time pass and look."""
    names = ",".join(member.name for member in team)
    assign, dispatch = f"task assign --task-id {task_id} --employees {names}", f"task dispatch --task-id {task_id}"
    return "\n".join((assign, dispatch, WAIT, *_looks(observation)))


def probe(observation: Observation, task_id: str) -> str:
    """Return a turn that accepts a task, with a look at it before and after, so that ``swollen_clients`` can tell."""
    inspect = f"task inspect --task-id {task_id}"
    accept = f"task accept --task-id {task_id}"
    return "\n".join((*make_room(observation), inspect, accept, inspect, *_looks(observation)))


def swollen_clients(observation: Observation) -> tuple[str, ...]:
    """Return the clients whose work grew when it was accepted, as the looks of the last turn show."""
    seen = answers.inspections(observation)
    listed = {task.task_id: most_units(task.work) for task in seen if task.status == "market"}
    return tuple(
        task.client
        for task in seen
        if task.status != "market" and sum(units for _, units in task.work) > listed.get(task.task_id, float("inf"))
    )


def _looks(observation: Observation) -> tuple[str, ...]:
    """Return the looks that end a turn: also at tasks that lie about, since their number may be limited."""
    return (LOOK, _HELD) if observation["planned_tasks"] > 0 else (LOOK,)


def make_room(observation: Observation) -> tuple[str, ...]:
    """Return what gives up the oldest task that lies about undispatched, when an accept was just refused.

    Most worlds limit nothing; then nothing is refused, and what lies about may lie.
    """
    lying = answers.planned_tasks(observation)
    if not lying or not answers.refused(observation, "task accept"):
        return ()
    return (f"task cancel --task-id {lying[-1]} --reason room",)
