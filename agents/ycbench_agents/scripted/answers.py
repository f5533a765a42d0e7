"""What the world's answers show, as typed values: the eyes of the rule-based policies.

An answer that was refused, cut, or that belongs to another command reads as nothing; no text of the world raises here.
``MarketGate`` remembers which listed tasks can be accepted.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import attrs

from ycbench_env import Observation

Work: TypeAlias = tuple[tuple[str, float], ...]
"""Units of work by domain."""

_Json: TypeAlias = Mapping[str, Any]
_NO_ANSWER: Final = frozenset({"cut", "help"})
_NEWCOMER: Final = 1  # prestige of a company that has done nothing yet


@attrs.frozen
class Offer:
    """A task on the market.

    Args:
        task_id: Id.
        client: Name of its client, empty where there are none.
        required_prestige: Prestige that each of its domains requires.
        required_trust: Trust with its client that it requires.
        reward_cents: Reward for a success.
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
    """A member of the staff.

    Args:
        name: Name.
        salary_cents: Salary a month.
        rates: Units of work an hour by domain; empty where the rules hide them.
        active_tasks: Ids of the active tasks that they work on.
        tier: junior, mid or senior; empty where it is not shown.
    """

    name: str
    salary_cents: int
    rates: Mapping[str, float]
    active_tasks: tuple[str, ...]
    tier: str = ""


@attrs.frozen
class Inspection:
    """A task of the company, or of the market, looked at closely.

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


# ---- results of the last turn


@lru_cache(maxsize=4)  # a policy asks the same observation several things, and reading it is most of the cost
def _parsed(text: str) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(text))


def results(observation: Observation) -> tuple[dict[str, Any], ...]:
    """Return the results of the last turn's commands; they are shared, so nobody may change them."""
    return _parsed(observation["results"])


def _outputs(observation: Observation, verb: str) -> Iterator[_Json]:
    """Yield the answers to all commands of one verb that were carried out, in order; not those cut, nor its help."""
    for result in results(observation):
        words = result.get("command", "").split(maxsplit=3)
        words = words[1:3] if words[:1] == ["yc-bench"] else words[:2]
        if result.get("ok") and " ".join(words) == verb and not _NO_ANSWER & result["output"].keys():
            yield result["output"]


def _last_output(observation: Observation, verb: str) -> _Json:
    """Return the last answer to a verb, empty without one."""
    return (list(_outputs(observation, verb)) or [{}])[-1]


def refused(observation: Observation, prefix: str = "") -> tuple[str, ...]:
    """Return the commands of the last turn that were not carried out, those with a prefix."""
    commands = (result["command"] for result in results(observation) if not result.get("ok", True))
    return tuple(command for command in commands if command.startswith(prefix))


def ends_with(observation: Observation, commands: Sequence[str]) -> bool:
    """Return whether the last turn ended with these commands, all of them carried out and answered whole."""
    last = results(observation)[-len(commands) :]
    answered = [result["command"] for result in last if result.get("ok") and not _NO_ANSWER & result["output"].keys()]
    return bool(commands) and answered == list(commands)


def cut(observation: Observation) -> bool:
    """Return whether some answer of the last turn found no room."""
    return any(
        "cut_results" in result or (result.get("ok") and "cut" in result["output"]) for result in results(observation)
    )


# ---- what they show


def _work(requirements: Sequence[_Json], key: str) -> Work:
    return tuple((each["domain"], float(each[key])) for each in requirements)


def accepted(observation: Observation) -> dict[str, tuple[dt.datetime, dt.datetime]]:
    """Return when the tasks that the last turn accepted were accepted, and when they are due, by id."""
    return {
        output["task_id"]: (
            dt.datetime.fromisoformat(output["accepted_at"]),
            dt.datetime.fromisoformat(output["deadline"]),
        )
        for output in _outputs(observation, "task accept")
    }


def offers(observation: Observation) -> tuple[Offer, ...]:
    """Return the tasks that the last turn's looks at the market list, in their order, each once."""
    listed = {task["task_id"]: task for output in _outputs(observation, "market browse") for task in output["tasks"]}
    return tuple(
        Offer(
            task_id=task_id,
            client=task.get("client_name") or "",
            required_prestige=task["required_prestige"],
            required_trust=task.get("required_trust") or 0,
            reward_cents=task["reward_funds_cents"],
            prestige_delta=task["reward_prestige_delta"],
            skill_boost=task["skill_boost_pct"],
            work=_work(task["requirements"], "required_qty"),
        )
        for task_id, task in listed.items()
    )


def staff(observation: Observation) -> tuple[Employee, ...]:
    """Return the staff as the last turn lists it, empty when it did not ask."""
    return tuple(
        Employee(
            name=each["name"],
            salary_cents=each["salary_cents"],
            rates=dict(each.get("skill_rates") or {}),
            active_tasks=tuple(each.get("active_tasks") or ()),
            tier=each.get("tier") or "",
        )
        for each in _last_output(observation, "employee list").get("employees", ())
    )


def trust(observation: Observation) -> dict[str, float]:
    """Return the trust by client as the last turn shows it, empty when it did not ask."""
    listed = _last_output(observation, "client list").get("clients", ())
    return {client["name"]: client["trust_level"] for client in listed}


def prestige(observation: Observation) -> dict[str, float]:
    """Return the prestige by domain as the last turn shows it, empty when it did not ask."""
    return dict(_last_output(observation, "company status").get("prestige", {}))


def asked_at(observation: Observation) -> str:
    """Return the time at which the last turn asked for the company's status, empty when it did not.

    A forced advance may follow the last answer of a turn.
    """
    return _last_output(observation, "company status").get("sim_time", "")


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


def planned_tasks(observation: Observation) -> tuple[str, ...]:
    """Return the ids of the company's planned tasks as the last turn lists them, newest first."""
    listed = _last_output(observation, "task list").get("tasks", ())
    return tuple(task["task_id"] for task in listed if task["status"] == "planned")


def completions(observation: Observation) -> tuple[Completion, ...]:
    """Return the tasks that ended since the turn before, in order."""
    return tuple(
        Completion(task_id=event["task_id"], client=event.get("client_name") or "", success=event["success"])
        for event in json.loads(observation["events"])
        if event["type"] == "task_completed"
    )


# ---- which offers can be accepted


class MarketGate:
    """Which listed tasks can be accepted, as far as refusals have shown in one episode.

    Rule sets differ: either each domain of a task must have the prestige that it requires, or the highest prestige
    over all domains counts. Nothing that is read says which. A market that lists only what can be accepted leaves no
    question; one that lists everything is read hopefully until a refusal shows that each domain counts. Trust is read
    hopefully, too: a client that refused a task for want of trust is not asked again until it has been served well.
    """

    def __init__(self) -> None:
        self.lists_everything: bool | None = None
        """Whether the market lists more than can be accepted; None until it has listed a task."""
        self._each_domain = False
        self._refused_trust: dict[str, int] = {}  # the least that each client required of what it refused

    def learn(self, observation: Observation) -> None:
        """Take in refusals of tasks that only the hopeful reading opens; such tasks are still listed."""
        refusals = {command.split()[-1] for command in refused(observation, "task accept")}
        if self.lists_everything is None and (first := offers(observation)):
            # A market without clients belongs to a rule set that lists everything. Where there are clients, a newcomer
            # is shown no task that requires more prestige than it has, or any trust, unless all are shown.
            self.lists_everything = any(
                not offer.client or offer.required_prestige > _NEWCOMER or offer.required_trust > 0 for offer in first
            )
        for done in completions(observation) if self._refused_trust else ():
            if done.success:
                self._refused_trust.pop(done.client, None)
        for offer in offers(observation) if refusals else ():
            if offer.task_id in refusals:
                self._learn_refusal(offer, observation)

    def _learn_refusal(self, offer: Offer, observation: Observation) -> None:
        """Ascribe a refusal to trust if that may be lacking, else to prestige.

        Should it have been prestige all the same, tasks that ask for no trust will show it.
        """
        levels = prestige(observation)
        if self._asks_trust(offer) and trust(observation).get(offer.client, 0.0) < offer.required_trust:
            least = self._refused_trust.get(offer.client, offer.required_trust)
            self._refused_trust[offer.client] = min(least, offer.required_trust)
        elif levels:
            self._each_domain |= not _each_reaches(offer, levels) and _highest_reaches(offer, levels)

    def opened(self, observation: Observation) -> tuple[Offer, ...]:
        """Return the listed tasks that can be had; whatever prestige they require where the last turn did not ask."""
        levels = prestige(observation)
        return tuple(offer for offer in offers(observation) if self.opens(offer, levels))

    def opens(self, offer: Offer, levels: Mapping[str, float]) -> bool:
        """Return whether prestige and trust suffice for a task, going by what is known of the rules.

        Args:
            offer: The task.
            levels: Prestige by domain, empty where it is not known.
        """
        if offer.required_trust >= self._refused_trust.get(offer.client, offer.required_trust + 1):
            return False
        if not levels:
            return True
        return _each_reaches(offer, levels) if self._each_domain else _highest_reaches(offer, levels)

    def doubts(self, offer: Offer, levels: Mapping[str, float]) -> bool:
        """Return whether only a hopeful reading of the rules opens a task, so that it may be refused yet."""
        return self._asks_trust(offer) or (bool(levels) and not _each_reaches(offer, levels))

    def _asks_trust(self, offer: Offer) -> bool:
        """Return whether trust may be lacking for a task: where only what can be had is listed, it never is."""
        return bool(self.lists_everything) and offer.required_trust > 0


def _each_reaches(offer: Offer, levels: Mapping[str, float]) -> bool:
    return all(levels.get(domain, 0.0) >= offer.required_prestige for domain, _ in offer.work)


def _highest_reaches(offer: Offer, levels: Mapping[str, float]) -> bool:
    return max(levels.values()) >= offer.required_prestige
