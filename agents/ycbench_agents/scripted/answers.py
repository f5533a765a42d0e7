"""What the world's answers show, as typed values: the eyes of the rule-based policies.

An answer that was refused or cut reads as nothing; no text of the world raises here.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

import attrs

from ycbench_env import Observation

Work: TypeAlias = tuple[tuple[str, float], ...]
"""Units of work by domain."""

_NEWCOMER: Final = 1  # prestige of a company that has done nothing yet


@attrs.frozen
class Offer:
    """A task as the market lists it."""

    task_id: str
    client: str  # empty where there are none
    required_prestige: int  # in each of its domains
    required_trust: int
    reward_cents: int
    prestige_delta: float  # that a success adds in each of its domains
    skill_boost: float  # fraction by which a success raises the rates of four of the team
    work: Work  # before trust reduces or an adversary inflates it


@attrs.frozen
class Employee:
    """A member of the staff."""

    name: str
    salary_cents: int  # a month
    rates: Mapping[str, float]  # units an hour by domain; empty where the rules hide them
    active_tasks: tuple[str, ...]
    tier: str = ""  # junior, mid or senior; empty where it is not shown


@attrs.frozen
class Inspection:
    """A task, of the company or of the market, looked at closely."""

    task_id: str
    client: str
    status: str  # market, planned, active, completed_success, completed_fail or cancelled
    deadline: dt.datetime | None  # None on the market
    work: Work  # as it really is
    remaining: Work
    team: tuple[str, ...]
    skill_boost: float = 0.0


@attrs.frozen
class Completion:
    """A task of the company that has ended, a success if that was before its deadline."""

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


def _answered(result: Mapping[str, Any]) -> bool:
    """Return whether a command was carried out and answered whole, and not by its help."""
    return bool(result.get("ok")) and not {"cut", "help"} & result["output"].keys()


def _outputs(text: str, verb: str) -> Iterator[Mapping[str, Any]]:
    """Yield the answers to all commands of one verb, in order."""
    for result in _parsed(text):
        words = result.get("command", "").split(maxsplit=3)
        words = words[1:3] if words[:1] == ["yc-bench"] else words[:2]
        if _answered(result) and " ".join(words) == verb:
            yield result["output"]


def _last(observation: Observation, verb: str, key: str) -> Any:  # noqa: ANN401 -- any JSON
    """Return a part of the last answer to a verb, empty without one."""
    return ([{}, *_outputs(observation["results"], verb)])[-1].get(key, {})


def refused(observation: Observation, prefix: str = "") -> tuple[str, ...]:
    """Return the commands of the last turn that were not carried out, those with a prefix."""
    commands = [result["command"] for result in results(observation) if not result.get("ok", True)]
    return tuple(command for command in commands if command.startswith(prefix))


def ends_with(observation: Observation, commands: Sequence[str]) -> bool:
    """Return whether the last turn ended with these commands, all of them carried out and answered whole."""
    last = results(observation)[-len(commands) :]
    return bool(commands) and [result["command"] for result in last if _answered(result)] == list(commands)


def cut(observation: Observation) -> bool:
    """Return whether some answer of the last turn found no room."""
    return any(
        "cut_results" in result or (result.get("ok") and "cut" in result["output"]) for result in results(observation)
    )


# ---- what they show


def _work(requirements: Iterable[Mapping[str, Any]], key: str) -> Work:
    return tuple((each["domain"], float(each[key])) for each in requirements)


def accepted(observation: Observation) -> dict[str, tuple[dt.datetime, dt.datetime]]:
    """Return when the tasks that the last turn accepted were accepted, and when they are due, by id."""
    read = dt.datetime.fromisoformat
    return {
        output["task_id"]: (read(output["accepted_at"]), read(output["deadline"]))
        for output in _outputs(observation["results"], "task accept")
    }


def offers(observation: Observation) -> tuple[Offer, ...]:
    """Return the tasks that the last turn's looks at the market list, in their order, each once."""
    return _offers(observation["results"])


@lru_cache(maxsize=4)
def _offers(text: str) -> tuple[Offer, ...]:
    listed = {task["task_id"]: task for output in _outputs(text, "market browse") for task in output["tasks"]}
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
        for each in _last(observation, "employee list", "employees")
    )


def trust(observation: Observation) -> dict[str, float]:
    """Return the trust by client as the last turn shows it, empty when it did not ask."""
    return {client["name"]: client["trust_level"] for client in _last(observation, "client list", "clients")}


def prestige(observation: Observation) -> dict[str, float]:
    """Return the prestige by domain as the last turn shows it, empty when it did not ask."""
    return dict(_last(observation, "company status", "prestige"))


def asked_at(observation: Observation) -> str:
    """Return when the last turn asked for the company's status, empty when it did not; an advance may have followed."""
    return _last(observation, "company status", "sim_time") or ""


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
        for output in _outputs(observation["results"], "task inspect")
    )


def planned_tasks(observation: Observation) -> tuple[str, ...]:
    """Return the ids of the company's planned tasks as the last turn lists them, newest first."""
    return tuple(task["task_id"] for task in _last(observation, "task list", "tasks") if task["status"] == "planned")


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

    Either each domain of a task must have the prestige that it requires, or the highest over all domains counts. A
    market that lists only what can be accepted leaves no question; one that lists everything is read hopefully until a
    refusal shows that each domain counts. Trust is read hopefully, too: a client that refused a task for want of trust
    is not asked again until it has been served well.
    """

    def __init__(self) -> None:
        self.lists_everything: bool | None = None
        """Whether the market lists more than can be accepted; None until it has listed a task."""
        self._each_domain = False
        self._refused_trust: dict[str, int] = {}  # the least that each client required of what it refused

    def learn(self, observation: Observation) -> None:
        """Take in refusals of tasks that only the hopeful reading opens; such tasks are still listed."""
        refusals = {command.split()[-1] for command in refused(observation, "task accept")}
        listed = offers(observation) if refusals or self.lists_everything is None else ()
        if self.lists_everything is None and listed:
            # A market without clients belongs to a rule set that lists everything. Where there are clients, a newcomer
            # is shown no task that requires more prestige than it has, or any trust, unless all are shown.
            self.lists_everything = any(
                not offer.client or offer.required_prestige > _NEWCOMER or offer.required_trust > 0 for offer in listed
            )
        for done in completions(observation) if self._refused_trust else ():
            if done.success:
                self._refused_trust.pop(done.client, None)
        levels = prestige(observation) if refusals else {}
        for offer in listed:
            if offer.task_id not in refusals:
                continue
            # Trust is blamed if it may be lacking. Should it have been prestige, tasks that ask for none will show it.
            if self._asks_trust(offer) and trust(observation).get(offer.client, 0.0) < offer.required_trust:
                least = self._refused_trust.get(offer.client, offer.required_trust)
                self._refused_trust[offer.client] = min(least, offer.required_trust)
            elif levels and max(levels.values()) >= offer.required_prestige:
                self._each_domain |= not _each_reaches(offer, levels)

    def opened(self, observation: Observation) -> tuple[Offer, ...]:
        """Return the listed tasks that can be had; whatever prestige they require where the last turn did not ask."""
        levels = prestige(observation)
        return tuple(offer for offer in offers(observation) if self.opens(offer, levels))

    def opens(self, offer: Offer, levels: Mapping[str, float]) -> bool:
        """Return whether trust and prestige (empty where unknown) suffice, going by what is known of the rules."""
        if offer.required_trust >= self._refused_trust.get(offer.client, offer.required_trust + 1):
            return False
        if self._each_domain and levels:
            return _each_reaches(offer, levels)
        return not levels or max(levels.values()) >= offer.required_prestige

    def doubts(self, offer: Offer, levels: Mapping[str, float]) -> bool:
        """Return whether only a hopeful reading of the rules opens a task, so that it may be refused yet."""
        return self._asks_trust(offer) or (bool(levels) and not _each_reaches(offer, levels))

    def _asks_trust(self, offer: Offer) -> bool:
        """Return whether trust may be lacking for a task: where only what can be had is listed, it never is."""
        return bool(self.lists_everything) and offer.required_trust > 0


def _each_reaches(offer: Offer, levels: Mapping[str, float]) -> bool:
    return all(levels.get(domain, 0.0) >= offer.required_prestige for domain, _ in offer.work)
