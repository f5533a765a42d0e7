"""Who does what: what the expert knows at one moment, what tasks are worth to it, and the best teams for them.

A task is worth its reward now, and what a success does for the rest of the year. ``staff_jobs`` makes teams of the free
people for the tasks at hand, the best pair first.
"""

from __future__ import annotations

import datetime as dt
import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs

from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import Employee, Inspection, MarketGate, Offer, Work
from ycbench_agents.scripted.forecast import ASSUMED_RATE, LEAST_UNITS, TEAM_SIZE, TINY, business_hours, units
from ycbench_env import Observation

MONTH: Final = 196.0  # business hours
YEAR: Final = 2349.0  # business hours
# Public rules of the usual worlds.
_RATE_MAX: Final = 10.0  # units an hour
_SALARY_RAISE: Final = 0.01  # share of a salary, for each success
_TRUST_MAX: Final = 5.0  # levels
_TRUST_GAIN: Final = 1.6  # levels, by a first success
_WORK_REDUCTION: Final = 0.5  # share of the work, at full trust
# Judged by play, none derived.
_MATURE_WORK: Final = 0.56  # share of the listed work that is left at the trust which a kept client settles at
_THIN_RUNWAY: Final = 2.0  # payrolls in funds, below which only money counts
_MARGIN: Final = 0.97  # share of the hours that a task may take; rates are shown to two places
_IN_HAND: Final = 1.3  # factor of an accepted task's score: its deadline runs
# How much a success counts besides its reward; 1 is what a rough reckoning says. Broad ranges do as well.
_SKILL: Final = 0.25  # higher rates
_SKILL_HOURS: Final = 1000.0  # business hours that these count at most; later everybody would have had them anyway
_TRUST: Final = 2.0  # trust of the client, which makes its later tasks smaller
_TRUST_HOURS: Final = 250.0  # business hours that this counts at most, since trust decays
_PRESTIGE: Final = 1.0  # prestige of the domains, which opens better offers
_SALARY: Final = 1.5  # raises of the team, which are paid for the rest of the year
_PATIENCE: Final = 0.8  # keeping well-paid offers until trust has made them small: nobody else takes them
_RENEWAL: Final = 1.5  # the new offer that takes the place of an accepted one


@attrs.frozen
class Situation:
    """The company and its market at one moment."""

    now: dt.datetime
    hours_left: float  # business hours up to the horizon
    funds_cents: int
    payroll_cents: int  # a month
    open_tasks: int  # own ones, planned or active
    staff: tuple[Employee, ...]  # with rates in every domain
    trust: Mapping[str, float]  # by client
    prestige: Mapping[str, float]  # by domain
    offers: tuple[Offer, ...]  # those that can be accepted
    near: tuple[Offer, ...]  # where rates are hidden, those that could be with a level more of prestige in each domain
    inspections: tuple[Inspection, ...]
    planned: tuple[str, ...]  # own tasks, if it was asked for them
    hidden: bool  # whether rates are not shown, so that those of the staff are mere assumptions


def read_situation(observation: Observation, gate: MarketGate) -> Situation:
    """Return the situation that the looks of the last turn show, given which tasks can be had."""
    now = dt.datetime.fromisoformat(observation["sim_time"])
    prestige, trust = answers.prestige(observation), answers.trust(observation)
    listed = answers.staff(observation)
    hidden = bool(listed) and not any(member.rates for member in listed)
    ended = {done.task_id for done in answers.completions(observation)}

    def acceptable(levels: Mapping[str, float]) -> Iterator[Offer]:
        for offer in answers.offers(observation):
            if offer.work and gate.opens(offer, levels) and trust.get(offer.client, 0.0) >= offer.required_trust:
                yield offer

    staff = [
        attrs.evolve(
            member,
            # Where rates are hidden they are the same for everybody here; beliefs about them are in hidden_rates.
            rates={domain: member.rates.get(domain, ASSUMED_RATE) for domain in prestige},
            active_tasks=tuple(task_id for task_id in member.active_tasks if task_id not in ended),
        )
        for member in listed
    ]
    return Situation(
        now=now,
        hours_left=business_hours(now, dt.datetime.fromisoformat(observation["horizon_end"])),
        funds_cents=int(observation["funds_cents"]),
        payroll_cents=int(observation["monthly_payroll_cents"]),
        open_tasks=int(observation["active_tasks"]) + int(observation["planned_tasks"]),
        staff=tuple(staff),
        trust=trust,
        prestige=prestige,
        offers=tuple(acceptable(prestige)),
        near=tuple(acceptable({domain: level + 1 for domain, level in prestige.items()})) if hidden else (),
        inspections=answers.inspections(observation),
        planned=answers.planned_tasks(observation),
        hidden=hidden,
    )


# ---- what tasks are worth


class Valuation:
    """What tasks are worth at one moment, given the clients that are known not to inflate work.

    Attributes:
        offers: Offers of honest clients.
        works: By id of an offer: its work if it is accepted now and its client is honest.
    """

    def __init__(self, situation: Situation, honest: frozenset[str]) -> None:
        self.situation = situation
        self.offers = tuple(offer for offer in situation.offers if offer.client in honest)
        factors = {client: 1 - _WORK_REDUCTION * _share(level) for client, level in situation.trust.items()}
        self.works: dict[str, Work] = {
            offer.task_id: tuple(
                (domain, max(LEAST_UNITS, float(int(each * factors.get(offer.client, 1.0)))))
                for domain, each in offer.work
            )
            for offer in situation.offers
        }
        self._solvent = situation.funds_cents >= _THIN_RUNWAY * situation.payroll_cents
        # Units that the staff can do up to the horizon, an hour and in all, everybody at what they do best.
        capacity = math.fsum(max(member.rates.values(), default=0.0) for member in situation.staff)
        # Reward and units, once trust is there, of the honest offers (of all while none is known), best first.
        priced = [
            (float(offer.reward_cents), min(units(self.works[offer.task_id]), _MATURE_WORK * units(offer.work)))
            for offer in self.offers or situation.offers
        ]
        priced.sort(key=lambda pair: -pair[0] / pair[1])
        self._going_rate = _going_rate(priced, situation.hours_left * capacity)
        # What a point of trust with one of the honest clients is worth, in cents.
        units_of_client = capacity * min(situation.hours_left, _TRUST_HOURS) / max(1, len(honest))
        self._trust_price = _TRUST * (_WORK_REDUCTION / _TRUST_MAX) * units_of_client * self._going_rate
        # What a whole level of prestige is worth by domain: as much as offers crowd at the level that is reached. Who
        # stands above all offers gets nothing for more.
        year = self._going_rate * capacity * situation.hours_left / 100
        required: dict[str, list[int]] = {domain: [] for domain in situation.prestige}
        for offer in self.offers:
            for domain, _ in offer.work:
                required[domain].append(offer.required_prestige)
        self._level_values = {
            domain: sum(each >= int(level) for each in required[domain]) / max(1, len(required[domain])) * year
            for domain, level in situation.prestige.items()
        }
        # What the offer that takes the place of an accepted one is worth, in cents.
        gains = [max(0.0, reward - self._going_rate * work) for reward, work in priced]
        average = math.fsum(gains) / len(gains) if gains else 0.0
        self._renewal_value = _RENEWAL * average * min(1.0, situation.hours_left / _TRUST_HOURS)

    def of_offer(self, offer: Offer) -> float:
        """Return what an offer is worth whoever does it, in cents."""
        if not self._solvent:
            return float(offer.reward_cents)
        trust = _share(self.situation.trust.get(offer.client, 0.0))
        # What is lost when it is done now, though it would take less work later.
        surplus = max(0.0, offer.reward_cents - self._going_rate * _MATURE_WORK * units(offer.work))
        later = surplus * min(1.0, self.situation.hours_left / YEAR)
        return (
            offer.reward_cents
            + _TRUST_GAIN * (1 - trust) ** 1.5 * self._trust_price
            + _PRESTIGE * math.fsum(self._level_values[domain] for domain, _ in offer.work) * offer.prestige_delta
            + self._renewal_value
            - _PATIENCE * later
        )

    def of_team(self, offer: Offer, team: Team, hours: float) -> float:
        """Return what it is worth that this team does an offer: what it learns, less its raises, in cents."""
        left = max(0.0, self.situation.hours_left - hours)
        raises = _SALARY_RAISE * team.salary_cents * left / MONTH
        if not self._solvent:
            return -raises
        learnt = 0.0
        for rate in team.learners:
            learnt += min(rate * offer.skill_boost, _RATE_MAX - rate)
        hours_used = min(left, _SKILL_HOURS)
        return _SKILL * learnt * hours_used * self._going_rate - _SALARY * raises

    def most_of_team(self, offer: Offer, rates_below_cap: float) -> float:
        """Return a bound on ``of_team``, given the most that the rates of those who learn can sum up to."""
        hours = min(self.situation.hours_left, _SKILL_HOURS)
        return _SKILL * rates_below_cap * offer.skill_boost * hours * self._going_rate


def _share(trust: float) -> float:
    """Return trust as a share of the highest."""
    return min(trust / _TRUST_MAX, 1.0)


def _going_rate(priced: Sequence[tuple[float, float]], capacity: float) -> float:
    """Return the cents a unit of the worst offer, of some by reward and units, that is worth taking up to the horizon.

    So many tasks as the staff can do are taken out of those listed and those that replace them: of the latter as
    many as are taken.
    """
    if not priced:
        return 0.0
    number = len(priced)
    tasks = capacity / (math.fsum(each for _, each in priced) / number)
    reward, work = priced[min(number - 1, int(tasks / (number + tasks) * number))]
    return reward / work


# ---- teams


@attrs.frozen
class Candidate:
    """A task that could be begun now."""

    offer: Offer  # as it was listed
    work: Work  # as known or expected
    hours: float  # business hours that it may take
    in_hand: bool  # whether it is accepted already
    value: float  # cents, whoever does it


@attrs.frozen(slots=False)
class Person:
    """Somebody who could work on a task, and is free after some business hours."""

    employee: Employee
    wait: float = 0.0

    @cached_property
    def worth(self) -> float:
        """Units an hour that they are good for, halfway between what they do best and what they do on average."""
        rates = self.employee.rates.values()
        return (max(rates, default=0.0) + math.fsum(rates) / max(1, len(rates))) / 2


@attrs.frozen
class Team:
    """People who would work together on a task, and what is asked about them."""

    members: tuple[Person, ...]  # those first who can begin first
    rates: tuple[tuple[float, ...], ...]  # units an hour in each domain of the task, member by member
    salary_cents: int  # a month
    learners: tuple[float, ...]  # rates that would rise: in each domain those below the highest

    def hours(self, work: Work) -> float:
        """Return the business hours from now until a task is done; infinite when nobody can do a part of it."""
        most = 0.0
        for (_, left_at_first), rates in zip(work, self.rates, strict=True):
            left, speed, since = left_at_first, 0.0, 0.0
            for member, rate in zip(self.members, rates, strict=True):
                left -= speed * (member.wait - since)
                if left <= 0:
                    most = max(most, since + (left / speed + member.wait - since))
                    break
                speed, since = speed + rate, member.wait
            else:
                most = max(most, since + left / speed if speed > 0 else float("inf"))
        return most


@attrs.frozen
class Job:
    """A task and its team."""

    candidate: Candidate
    team: Team
    hours: float  # business hours until it is done
    score: float  # cents for a unit that its team is good for


def staff_jobs(
    candidates: Iterable[Candidate],
    people: Iterable[Person],
    valuation: Valuation,
    room: int | None,
    sizes: range,
) -> Iterator[Job]:
    """Yield tasks with teams for those who are free: the best pair, then the best of what is left, and so on.

    Besides those who are free, ``people`` holds those who may join them soon. ``room`` is how many offers may be
    accepted, None for no limit; ``sizes`` how many may work together.
    """
    pool, left = list(people), list(candidates)
    while any(each.wait == 0 for each in pool):
        if room == 0:
            left = [candidate for candidate in left if candidate.in_hand]
        job = best_job(left, pool, valuation, sizes)
        if job is None or job.score <= 0:
            return
        yield job
        left.remove(job.candidate)
        if room is not None and not job.candidate.in_hand:
            room -= 1
        taken = {member.employee.name for member in job.team.members}
        pool = [each for each in pool if each.employee.name not in taken]


def best_job(
    candidates: Sequence[Candidate], people: Sequence[Person], valuation: Valuation, sizes: range
) -> Job | None:
    """Return the task and team of the highest score; None when nobody can do any in time.

    Candidates are tried in the order of a bound on their scores, so that most need not be looked at.
    """
    if not people:
        return None
    learnable: dict[str, float] = {}  # the sum of the four highest rates that can still rise
    fitness: dict[str, float] = {}  # the highest rate for a unit of worth
    for domain in people[0].employee.rates:
        rates = [each.employee.rates[domain] for each in people]
        learnable[domain] = math.fsum(heapq.nlargest(TEAM_SIZE, [rate for rate in rates if rate < _RATE_MAX]))
        pairs = zip(rates, people, strict=True)
        fitness[domain] = max([rate / each.worth if each.worth > 0 else 0.0 for rate, each in pairs])

    def bound(candidate: Candidate) -> float:
        """Return a score that no team exceeds: none is better for its worth than the best of its members."""
        most = candidate.value + valuation.most_of_team(
            candidate.offer, math.fsum([learnable[domain] for domain, _ in candidate.work])
        )
        speed = min([fitness[domain] / max(TINY, each) for domain, each in candidate.work])
        return max(0.0, most) * speed * (_IN_HAND if candidate.in_hand else 1.0)

    teams: dict[tuple[str, ...], list[Team]] = {}
    best: Job | None = None
    bounded = [(bound(candidate), candidate) for candidate in candidates]
    for most, candidate in sorted(bounded, key=lambda each: -each[0]):
        if best is not None and most <= best.score:
            break
        domains = tuple([domain for domain, _ in candidate.work])
        if domains not in teams:
            teams[domains] = list(_teams(people, domains, sizes))
        for team in teams[domains]:
            hours = max(TINY, team.hours(candidate.work))
            if hours > candidate.hours * _MARGIN or hours <= team.members[-1].wait:
                continue  # it would end too late, or before somebody could join
            value = candidate.value + valuation.of_team(candidate.offer, team, hours)
            worth = math.fsum([member.worth * (hours - member.wait) for member in team.members])
            score = value * (_IN_HAND if candidate.in_hand else 1.0) / worth
            if best is None or score > best.score:
                best = Job(candidate, team, hours, score)
    return best


def _teams(people: Sequence[Person], domains: tuple[str, ...], sizes: range) -> Iterator[Team]:
    """Yield up to four neighbours each in the order of how good they are at domains, one of them free."""
    order = sorted(people, key=lambda each: -math.fsum([each.employee.rates[domain] for domain in domains]))
    for size in [size for size in sizes if size <= len(order)] or [len(order)]:
        for first in range(len(order) - size + 1):
            members = sorted(order[first : first + size], key=lambda each: each.wait)
            if members[0].wait == 0:
                rates = tuple([tuple([each.employee.rates[domain] for each in members]) for domain in domains])
                yield Team(
                    members=tuple(members),
                    rates=rates,
                    salary_cents=sum([each.employee.salary_cents for each in members]),
                    learners=tuple([rate for row in rates for rate in row if rate < _RATE_MAX]),
                )
