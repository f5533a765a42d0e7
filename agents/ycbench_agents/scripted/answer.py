"""What the world's answers say, as typed values: the eyes of the rule-based policies.

An answer that was refused, cut, or that belongs to another command reads as nothing; no text of the world raises here.
"""

from __future__ import annotations

import datetime as dt
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ycbench_env import Observation

__all__ = [
    "Client",
    "Completion",
    "Employee",
    "Inspection",
    "Offer",
    "OwnTask",
    "Work",
    "accepted",
    "clients",
    "completions",
    "cut",
    "ends_with",
    "inspections",
    "offers",
    "own_tasks",
    "prestige",
    "refused",
    "staff",
    "told_at",
    "trust",
]

Work: TypeAlias = "tuple[tuple[str, float], ...]"
"""Units of work by domain."""

_Json: TypeAlias = "Mapping[str, Any]"
_NO_ANSWER: Final = frozenset({"cut", "help"})
_HALVES: Final = 2  # a verb is two words


@attrs.frozen
class Offer:
    """A task on the market.

    Args:
        task_id: Id.
        client: Name of its client.
        required_prestige: Prestige that each of its domains requires.
        required_trust: Trust with its client that it requires.
        reward_cents: What a success pays.
        prestige_delta: What a success adds to the prestige of each of its domains.
        skill_boost: Fraction by which a success raises the rates of four of the team.
        work: Listed units of work by domain, before trust reduces or an adversary inflates them.
    """

    task_id: str
    client: str
    required_prestige: int
    required_trust: int
    reward_cents: int
    prestige_delta: float
    skill_boost: float
    work: Work


@attrs.frozen
class Employee:
    """Somebody of the staff.

    Args:
        name: Name.
        salary_cents: Salary a month.
        rates: Units of work an hour by domain; empty where the rules hide them.
        active_tasks: Ids of the active tasks that they are on.
        tier: junior, mid or senior; empty where it is not told.
    """

    name: str
    salary_cents: int
    rates: Mapping[str, float]
    active_tasks: tuple[str, ...]
    tier: str = ""


@attrs.frozen
class Client:
    """A client.

    Args:
        name: Name.
        trust: Trust, 0 to the configuration's highest.
        specialties: Domains it mostly gives work in.
    """

    name: str
    trust: float
    specialties: tuple[str, ...]


@attrs.frozen
class Inspection:
    """One of the company's own tasks, or one of the market, looked at closely.

    Args:
        task_id: Id.
        client: Name of its client.
        status: market, planned, active, completed_success, completed_fail or cancelled.
        deadline: When it is due, None on the market.
        work: Units of work by domain, as they really are.
        remaining: Those not done yet.
        team: Names of those assigned.
        skill_boost: Fraction by which a success raises rates.
    """

    task_id: str
    client: str
    status: str
    deadline: dt.datetime | None
    work: Work
    remaining: Work
    team: tuple[str, ...]
    skill_boost: float = 0.0


@attrs.frozen
class OwnTask:
    """A task of the company as it is listed.

    Args:
        task_id: Id.
        client: Name of its client.
        status: planned, active, completed_success, completed_fail or cancelled.
    """

    task_id: str
    client: str
    status: str


@attrs.frozen
class Completion:
    """A task of the company that has ended.

    Args:
        task_id: Id.
        client: Name of its client.
        success: Whether it was done before its deadline.
    """

    task_id: str
    client: str
    success: bool


def _outputs(observation: Observation, verb: str) -> Iterator[_Json]:
    """Yield the answers to all commands of one verb that were carried out, in order; not those cut, nor its help."""
    for result in _results(observation["results"]):
        if result.get("ok") and _verb(result["command"]) == verb and not _NO_ANSWER & result["output"].keys():
            yield result["output"]


@lru_cache(maxsize=4)  # a policy asks the same observation several things, and reading it is most of the cost
def _results(text: str) -> tuple[_Json, ...]:
    """Return the answers that a text of results holds; they are shared, so nobody may change them."""
    return tuple(json.loads(text))


def _verb(command: str) -> str:
    """Return the two words that say what a command does."""
    words = command.split(maxsplit=_HALVES + 1)
    return " ".join(words[1:3] if words[:1] == ["yc-bench"] else words[:_HALVES])


def refused(observation: Observation) -> tuple[str, ...]:
    """Return the commands of the last turn that were not carried out."""
    return tuple(result["command"] for result in _results(observation["results"]) if not result.get("ok", True))


def accepted(observation: Observation) -> dict[str, tuple[dt.datetime, dt.datetime]]:
    """Return when the tasks that the last turn accepted were accepted, and when they are due, by id."""
    return {
        output["task_id"]: (
            dt.datetime.fromisoformat(output["accepted_at"]),
            dt.datetime.fromisoformat(output["deadline"]),
        )
        for output in _outputs(observation, "task accept")
    }


def ends_with(observation: Observation, commands: Sequence[str]) -> bool:
    """Return whether the last turn ended with these commands, all of them carried out and their answers told whole."""
    last = _results(observation["results"])[-len(commands) :]
    told = [result["command"] for result in last if result.get("ok") and not _NO_ANSWER & result["output"].keys()]
    return bool(commands) and told == list(commands)


def cut(observation: Observation) -> bool:
    """Return whether some answer of the last turn found no room."""
    return any(
        "cut_results" in result or (result.get("ok") and "cut" in result["output"])
        for result in _results(observation["results"])
    )


def offers(observation: Observation) -> tuple[Offer, ...]:
    """Return the tasks that the last turn's looks at the market list, in their order, each once."""
    listed = [task for output in _outputs(observation, "market browse") for task in output["tasks"]]
    return tuple({task["task_id"]: _offer(task) for task in listed}.values())


def _offer(task: _Json) -> Offer:
    return Offer(
        task_id=task["task_id"],
        client=task.get("client_name") or "",
        required_prestige=task["required_prestige"],
        required_trust=task.get("required_trust") or 0,
        reward_cents=task["reward_funds_cents"],
        prestige_delta=task["reward_prestige_delta"],
        skill_boost=task["skill_boost_pct"],
        work=_work(task["requirements"], "required_qty"),
    )


def _work(requirements: Sequence[_Json], key: str) -> Work:
    return tuple((each["domain"], float(each[key])) for each in requirements)


def staff(observation: Observation) -> tuple[Employee, ...]:
    """Return the staff as the last turn lists it, empty when it did not ask."""
    latest: _Json = {}
    for latest in _outputs(observation, "employee list"):  # noqa: B007 -- the last one counts
        pass
    return tuple(
        Employee(
            name=each["name"],
            salary_cents=each["salary_cents"],
            rates=dict(cast("dict[str, float]", each.get("skill_rates") or {})),
            active_tasks=tuple(each.get("active_tasks") or ()),
            tier=each.get("tier") or "",
        )
        for each in latest.get("employees", ())
    )


def clients(observation: Observation) -> tuple[Client, ...]:
    """Return the clients as the last turn lists them, empty when it did not ask."""
    latest: _Json = {}
    for latest in _outputs(observation, "client list"):  # noqa: B007 -- the last one counts
        pass
    return tuple(
        Client(name=each["name"], trust=each["trust_level"], specialties=tuple(each["specialties"]))
        for each in latest.get("clients", ())
    )


def trust(observation: Observation) -> dict[str, float]:
    """Return the trust by client as the last turn tells it, empty when it did not ask."""
    return {client.name: client.trust for client in clients(observation)}


def prestige(observation: Observation) -> dict[str, float]:
    """Return the prestige by domain as the last turn tells it, empty when it did not ask."""
    levels: dict[str, float] = {}
    for output in _outputs(observation, "company status"):
        levels = dict(cast("dict[str, float]", output["prestige"]))
    return levels


def told_at(observation: Observation) -> str:
    """Return the time at which the last turn was told the company's status, empty when it did not ask.

    A forced advance may follow the last answer of a turn.
    """
    time = ""
    for output in _outputs(observation, "company status"):
        time = output["sim_time"]
    return time


def inspections(observation: Observation) -> tuple[Inspection, ...]:
    """Return the tasks that the last turn inspected, in order."""
    return tuple(
        Inspection(
            task_id=output["task_id"],
            client=output.get("client_name") or "",
            status=output["status"],
            deadline=dt.datetime.fromisoformat(output["deadline"]) if output["deadline"] else None,
            work=_work(output["requirements"], "required_qty"),
            remaining=_work(output["requirements"], "remaining_qty"),
            team=tuple(each["employee"] for each in output["assignments"]),
            skill_boost=float(output["skill_boost_pct"]),
        )
        for output in _outputs(observation, "task inspect")
    )


def own_tasks(observation: Observation) -> tuple[OwnTask, ...]:
    """Return the company's tasks as the last turn lists them, newest first; empty when it did not ask."""
    latest: _Json = {}
    for latest in _outputs(observation, "task list"):  # noqa: B007 -- the last one counts
        pass
    return tuple(
        OwnTask(task_id=each["task_id"], client=each.get("client_name") or "", status=each["status"])
        for each in latest.get("tasks", ())
    )


def completions(observation: Observation) -> tuple[Completion, ...]:
    """Return the tasks that ended since the turn before, in order."""
    return tuple(
        Completion(task_id=event["task_id"], client=event.get("client_name") or "", success=event["success"])
        for event in json.loads(observation["events"])
        if event["type"] == "task_completed"
    )
