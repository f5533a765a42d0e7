"""Who does what: teams of the free people for tasks at hand, the best pair first."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.scripted.expert.valuation import RATE_MAX
from ycbench_agents.scripted.forecast import TEAM_SIZE, TINY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ycbench_agents.scripted.answer import Employee, Offer, Work
    from ycbench_agents.scripted.expert.valuation import Valuation

__all__ = ["TEAM_SIZES", "Candidate", "Job", "Person", "Team", "best_job", "person", "staff_jobs"]

_MARGIN: Final = 0.97  # of the hours that a task may take; rates are told to two places
_IN_HAND: Final = 1.3  # an accepted task goes before an equal offer: its deadline runs
TEAM_SIZES: Final = range(1, TEAM_SIZE + 1)


@attrs.frozen
class Candidate:
    """A task that could be begun now.

    Args:
        offer: As it was listed.
        work: Its work, as known or expected.
        hours: Business hours that it may take.
        in_hand: Whether it is accepted already.
        value: What it is worth whoever does it, in cents.
    """

    offer: Offer
    work: Work
    hours: float
    in_hand: bool
    value: float


@attrs.frozen
class Person:
    """Somebody who could work on a task.

    Args:
        employee: Who it is.
        wait: Business hours until they are free; 0 for those who are.
        worth: Units an hour that they are good for, halfway between what they do best and what they do on average.
    """

    employee: Employee
    wait: float
    worth: float

    @property
    def name(self) -> str:
        """Name."""
        return self.employee.name


def person(employee: Employee, wait: float = 0.0) -> Person:
    """Return somebody who is free after some business hours."""
    rates = employee.rates.values()
    return Person(employee, wait, (max(rates, default=0.0) + sum(rates) / max(1, len(rates))) / 2)


@attrs.frozen
class Team:
    """People who would work together, those first who can begin first, and what is asked about them.

    Args:
        members: Who they are.
        rates: Units of work an hour in each domain of the task, member by member.
        salary_cents: Salaries a month.
        learners: Rates that would rise: in each domain of the task those of everybody below the highest.
    """

    members: tuple[Person, ...]
    rates: tuple[tuple[float, ...], ...]
    salary_cents: int
    learners: tuple[float, ...]

    def hours(self, work: Work) -> float:
        """Return the business hours from now until a task is done; infinite when nobody can do a part of it."""
        return max(self._hours_in(each, rates) for (_, each), rates in zip(work, self.rates, strict=True))

    def _hours_in(self, units: float, rates: Sequence[float]) -> float:
        left, speed, since = units, 0.0, 0.0
        for member, rate in zip(self.members, rates, strict=True):
            left -= speed * (member.wait - since)
            if left <= 0:
                return since + (left / speed + member.wait - since)
            speed, since = speed + rate, member.wait
        return since + left / speed if speed > 0 else float("inf")

    def worth_of(self, hours: float) -> float:
        """Return the units that its members are good for from the time they begin."""
        return sum(member.worth * (hours - member.wait) for member in self.members)


@attrs.frozen
class Job:
    """A task and its team.

    Args:
        candidate: The task.
        team: Who does it.
        hours: Business hours until it is done.
        score: Cents for a unit that its team is good for.
    """

    candidate: Candidate
    team: Team
    hours: float
    score: float


def staff_jobs(
    candidates: Sequence[Candidate],
    people: Sequence[Person],
    valuation: Valuation,
    *,
    room: int | None = None,
    sizes: range = TEAM_SIZES,
) -> Iterator[Job]:
    """Yield tasks with teams for those who are free: the best pair, then the best of what is left, and so on.

    Args:
        candidates: Tasks to choose from.
        people: Those who are free, and those who may join them soon.
        valuation: What tasks are worth.
        room: How many offers may be accepted, None for no limit.
        sizes: How many may work together.
    """
    pool, left = list(people), list(candidates)
    while any(each.wait == 0 for each in pool):
        if room == 0:
            left = [candidate for candidate in left if candidate.in_hand]
        job = best_job(left, pool, valuation, sizes=sizes)
        if job is None or job.score <= 0:
            return
        yield job
        left.remove(job.candidate)
        if room is not None and not job.candidate.in_hand:
            room -= 1
        taken = {member.name for member in job.team.members}
        pool = [each for each in pool if each.name not in taken]


class _Bench:
    """People, and the teams that can be made of them for given domains."""

    def __init__(self, people: Sequence[Person], sizes: range) -> None:
        self._people = people
        self._sizes = sizes
        self._teams: dict[tuple[str, ...], tuple[Team, ...]] = {}
        domains = people[0].employee.rates
        self._learnable = {domain: self._sum_below_cap(domain) for domain in domains}
        self._fitness = {domain: max(_fitness(each, domain) for each in people) for domain in domains}

    def teams(self, domains: tuple[str, ...]) -> tuple[Team, ...]:
        """Return up to four neighbours each in the order of how good they are at domains; one of them is free."""
        if domains not in self._teams:
            order = sorted(self._people, key=lambda each: -sum(each.employee.rates[domain] for domain in domains))
            sizes = [size for size in self._sizes if size <= len(order)] or [len(order)]
            windows = (order[first : first + size] for size in sizes for first in range(len(order) - size + 1))
            self._teams[domains] = tuple(
                _team(window, domains) for window in windows if any(each.wait == 0 for each in window)
            )
        return self._teams[domains]

    def learnable(self, domain: str) -> float:
        """Return the sum of the four highest rates in a domain that can still rise."""
        return self._learnable[domain]

    def fitness(self, domain: str) -> float:
        """Return the highest rate in a domain for a unit of worth."""
        return self._fitness[domain]

    def _sum_below_cap(self, domain: str) -> float:
        rates = (each.employee.rates[domain] for each in self._people)
        return sum(heapq.nlargest(TEAM_SIZE, (rate for rate in rates if rate < RATE_MAX)))


def _team(people: Sequence[Person], domains: tuple[str, ...]) -> Team:
    members = sorted(people, key=lambda each: each.wait)
    rates = tuple(tuple(member.employee.rates[domain] for member in members) for domain in domains)
    return Team(
        members=tuple(members),
        rates=rates,
        salary_cents=sum(member.employee.salary_cents for member in members),
        learners=tuple(rate for each in rates for rate in each if rate < RATE_MAX),
    )


def _fitness(each: Person, domain: str) -> float:
    return each.employee.rates[domain] / each.worth if each.worth > 0 else 0.0


def best_job(
    candidates: Sequence[Candidate], people: Sequence[Person], valuation: Valuation, *, sizes: range = TEAM_SIZES
) -> Job | None:
    """Return the task and team of the highest score; None when nobody can do any in time.

    Candidates are tried in the order of a bound on their scores, so that most need not be looked at.

    Args:
        candidates: Tasks to choose from.
        people: People to choose from.
        valuation: What tasks are worth.
        sizes: How many may work together, if there are as many.
    """
    if not people:
        return None
    bench = _Bench(people, sizes)
    bounds = sorted(
        ((-_bound(candidate, bench, valuation), place, candidate) for place, candidate in enumerate(candidates)),
        key=lambda each: each[:2],
    )
    best: Job | None = None
    for bound, _, candidate in bounds:
        if best is not None and -bound <= best.score:
            break
        for team in bench.teams(tuple(domain for domain, _ in candidate.work)):
            job = _job(candidate, team, valuation)
            if job is not None and (best is None or job.score > best.score):
                best = job
    return best


def _bound(candidate: Candidate, bench: _Bench, valuation: Valuation) -> float:
    """Return a score that no team exceeds: none is better for its worth than the best of its members."""
    learnable = sum(bench.learnable(domain) for domain, _ in candidate.work)
    most = candidate.value + valuation.most_of_team(candidate.offer, learnable)
    speed = min(bench.fitness(domain) / max(TINY, each) for domain, each in candidate.work)
    return max(0.0, most) * speed * (_IN_HAND if candidate.in_hand else 1.0)


def _job(candidate: Candidate, team: Team, valuation: Valuation) -> Job | None:
    """Return a job with its score; None when it would end too late, or before somebody could join."""
    hours = max(TINY, team.hours(candidate.work))
    if hours > candidate.hours * _MARGIN or hours <= team.members[-1].wait:
        return None
    value = candidate.value + valuation.of_team(candidate.offer, team, hours)
    return Job(candidate, team, hours, value * (_IN_HAND if candidate.in_hand else 1.0) / team.worth_of(hours))
