"""Who does what: what the expert knows at one moment, what tasks are worth to it, and the best teams for them.

A task is worth its reward now, and what a success does for the rest of the year. ``staff_jobs`` makes teams of the free
people for the tasks at hand, the best pair first.
"""

from __future__ import annotations

import datetime as dt
import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import attrs

from ycbench_agents.registry import PolicyError, number_parameter
from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import Employee, Inspection, MarketGate, Offer, Work
from ycbench_agents.scripted.forecast import ASSUMED_RATE, TEAM_SIZE, TINY, business_hours
from ycbench_env import Observation
from ycbench_env.text import shown

MOST_LISTED: Final = 400  # tasks of the market; more do not fit into an observation, and the best paid come first
TRUST_MAX: Final = 5.0
_WORK_REDUCTION: Final = 0.5  # at full trust
_LEAST_UNITS: Final = 200.0
RATE_MAX: Final = 10.0
_YEAR: Final = 2349.0  # business hours of a year
_TRUST_GAIN: Final = 1.6  # of a first success
_REDUCTION_PER_TRUST: Final = 0.1  # of the work
_MATURE_WORK: Final = 0.56  # share of the listed work that is left at the trust which a kept client settles at
_SALARY_RAISE: Final = 0.01
_THIN_RUNWAY: Final = 2.0  # months; below it only money counts
_MARGIN: Final = 0.97  # of the hours that a task may take; rates are told to two places
_IN_HAND: Final = 1.3  # an accepted task goes before an equal offer: its deadline runs
TEAM_SIZES: Final = range(1, TEAM_SIZE + 1)


def units(work: Work) -> float:
    """Return the units of a task over all of its domains."""
    total = 0.0
    for _, each in work:
        total += each
    return total


@attrs.frozen
class Situation:
    """The company and its market at one moment.

    Args:
        now: Clock.
        hours_left: Business hours up to the horizon.
        funds_cents: Funds.
        payroll_cents: Salaries of a month.
        open_tasks: Number of own tasks that are planned or active.
        staff: Everybody, with rates in every domain, and the active tasks that they are on.
        trust: Trust by client.
        prestige: Prestige by domain.
        offers: Tasks of the market that can be accepted.
        near: Those that could be with a level more of prestige in each domain.
        inspections: Own tasks that were looked at closely.
        planned: Own tasks that are planned, if it was asked for them.
        hidden: Whether rates are not told, so that those of the staff are mere assumptions.
    """

    now: dt.datetime
    hours_left: float
    funds_cents: int
    payroll_cents: int
    open_tasks: int
    staff: tuple[Employee, ...]
    trust: Mapping[str, float]
    prestige: Mapping[str, float]
    offers: tuple[Offer, ...]
    inspections: tuple[Inspection, ...]
    planned: tuple[str, ...]
    hidden: bool = False
    near: tuple[Offer, ...] = ()

    @property
    def free(self) -> tuple[Employee, ...]:
        """Those of the staff who are on no active task."""
        return tuple(member for member in self.staff if not member.active_tasks)

    def work_after_trust(self, offer: Offer) -> Work:
        """Return the work that an honest client leaves of an offer if it is accepted now."""
        factor = 1 - _WORK_REDUCTION * min(self.trust.get(offer.client, 0.0) / TRUST_MAX, 1.0)
        return tuple((domain, max(_LEAST_UNITS, float(int(each * factor)))) for domain, each in offer.work)


def read_situation(observation: Observation, gate: MarketGate) -> Situation:
    """Return the situation that the looks of the last turn show.

    Args:
        observation: What was seen last.
        gate: Which tasks prestige opens.
    """
    now = dt.datetime.fromisoformat(observation["sim_time"])
    horizon = dt.datetime.fromisoformat(observation["horizon_end"])
    prestige = answers.prestige(observation)
    trust = answers.trust(observation)
    listed = answers.staff(observation)
    hidden = bool(listed) and not any(member.rates for member in listed)
    above = {domain: level + 1 for domain, level in prestige.items()} if hidden else {}
    ended = {done.task_id for done in answers.completions(observation)}
    return Situation(
        now=now,
        hours_left=business_hours(now, horizon),
        funds_cents=int(observation["funds_cents"]),
        payroll_cents=int(observation["monthly_payroll_cents"]),
        open_tasks=int(observation["active_tasks"]) + int(observation["planned_tasks"]),
        staff=tuple(_known(member, prestige, ended) for member in listed),
        trust=trust,
        prestige=prestige,
        offers=tuple(_acceptable(answers.offers(observation), prestige, trust, gate)),
        inspections=answers.inspections(observation),
        planned=answers.planned_tasks(observation),
        hidden=hidden,
        near=tuple(_acceptable(answers.offers(observation), above, trust, gate)) if hidden else (),
    )


def _known(member: Employee, domains: Iterable[str], ended: set[str]) -> Employee:
    """Return a member of the staff with the rates that are believed, and without the tasks that have ended since.

    Where the rules hide rates, they are the same for everybody here; what is believed of each is in ``skill``.
    """
    return Employee(
        name=member.name,
        salary_cents=member.salary_cents,
        rates={domain: member.rates.get(domain, ASSUMED_RATE) for domain in domains},
        active_tasks=tuple(task_id for task_id in member.active_tasks if task_id not in ended),
        tier=member.tier,
    )


def _acceptable(
    offers: Sequence[Offer], prestige: Mapping[str, float], trust: Mapping[str, float], gate: MarketGate
) -> Iterable[Offer]:
    """Yield the offers that would not be refused; most markets list no others."""
    for offer in offers:
        if offer.work and gate.opens(offer, prestige) and trust.get(offer.client, 0.0) >= offer.required_trust:
            yield offer


# ---- what tasks are worth


def _check_weight(_weights: Weights, attribute: attrs.Attribute[float], value: object) -> None:
    number_parameter(f"weights.{attribute.name}", value)


@attrs.frozen
class Weights:
    """How much the expert cares for what a success brings besides its reward; 1 is what a rough reckoning says.

    Args:
        skill: Higher rates.
        skill_hours: Business hours that a gain in rates counts at most; later everybody would have had it anyway.
        trust: Trust of the client, which makes its later tasks smaller.
        trust_hours: Business hours that a gain in trust counts at most, since trust decays.
        prestige: Prestige of the domains, which opens better offers.
        salary: Raises of the team, which are paid for the rest of the year.
        patience: Keeping well-paid offers for the time when trust has made them small: nobody else takes them.
        renewal: The new offer that takes the place of an accepted one.

    Raises:
        PolicyError: One is no number of at least 0.
    """

    skill: float = attrs.field(default=0.25, validator=_check_weight)
    skill_hours: float = attrs.field(default=1000.0, validator=_check_weight)
    trust: float = attrs.field(default=2.0, validator=_check_weight)
    trust_hours: float = attrs.field(default=250.0, validator=_check_weight)
    prestige: float = attrs.field(default=1.0, validator=_check_weight)
    salary: float = attrs.field(default=1.5, validator=_check_weight)
    patience: float = attrs.field(default=0.8, validator=_check_weight)
    renewal: float = attrs.field(default=1.5, validator=_check_weight)


def read_weights(given: Weights | Mapping[str, float] | None) -> Weights:
    """Return weights from some of them by name; the others are the usual ones.

    Raises:
        PolicyError: There is no such weight, or it is no number of at least 0.
    """
    if isinstance(given, Weights):
        return given
    known = [field.name for field in attrs.fields(Weights)]
    if given is not None and not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- comes from files, too
        msg = (
            f"weights: got {shown(given)}, expected some of {', '.join(known)} with their values, like {{skill = 0.5}}"
        )
        raise PolicyError(msg)
    if unknown := [name for name in given or {} if name not in known]:
        msg = f"weights: got {', '.join(map(shown, unknown))}, expected some of {', '.join(known)}"
        raise PolicyError(msg)
    return Weights(**given or {})


@attrs.frozen(slots=False)
class Valuation:
    """Values at one moment.

    Args:
        situation: The moment.
        honest: Clients that are known not to inflate work.
        weights: What counts how much.
    """

    situation: Situation
    honest: frozenset[str]
    weights: Weights

    @cached_property
    def offers(self) -> tuple[Offer, ...]:
        """Offers of honest clients."""
        return tuple(offer for offer in self.situation.offers if offer.client in self.honest)

    @cached_property
    def capacity(self) -> float:
        """Units an hour of the whole staff, everybody at what they do best."""
        return sum(max(member.rates.values(), default=0.0) for member in self.situation.staff)

    @cached_property
    def _priced(self) -> tuple[tuple[float, float], ...]:
        """Reward and units, once trust is there, of the honest offers (of all while none is known), best first."""
        listed = self.offers or self.situation.offers
        each = [(float(offer.reward_cents), self._mature_units(offer)) for offer in listed]
        return tuple(sorted(each, key=lambda pair: -pair[0] / pair[1]))

    def _mature_units(self, offer: Offer) -> float:
        return min(units(self.work(offer)), _MATURE_WORK * units(offer.work))

    @cached_property
    def going_rate(self) -> float:
        """Cents a unit of the worst offer that is still worth taking up to the horizon.

        So many tasks as the staff can do are taken out of those listed and those that replace them: of the latter as
        many as are taken.
        """
        if not self._priced:
            return 0.0
        number = len(self._priced)
        tasks = self.situation.hours_left * self.capacity / (sum(each for _, each in self._priced) / number)
        reward, work = self._priced[min(number - 1, int(tasks / (number + tasks) * number))]
        return reward / work

    @cached_property
    def _solvent(self) -> bool:
        return self.situation.funds_cents >= _THIN_RUNWAY * self.situation.payroll_cents

    def of_offer(self, offer: Offer) -> float:
        """Return what an offer is worth whoever does it, in cents."""
        if not self._solvent:
            return float(offer.reward_cents)
        return (
            offer.reward_cents
            + self._trust_gain(offer.client) * self._trust_price
            + self.weights.prestige * sum(self._level_values[domain] for domain, _ in offer.work) * offer.prestige_delta
            + self._renewal_value
            - self.weights.patience * self._later_value(offer)
        )

    @cached_property
    def _trust_price(self) -> float:
        """What a point of trust with one of the honest clients is worth, in cents."""
        hours = min(self.situation.hours_left, self.weights.trust_hours)
        units_of_client = self.capacity * hours / max(1, len(self.honest))
        return self.weights.trust * _REDUCTION_PER_TRUST * units_of_client * self.going_rate

    def _trust_gain(self, client: str) -> float:
        return _TRUST_GAIN * (1 - min(self.situation.trust.get(client, 0.0) / TRUST_MAX, 1.0)) ** 1.5

    @cached_property
    def _level_values(self) -> dict[str, float]:
        """What a whole level of prestige is worth by domain: as much as offers crowd at the level that is reached.

        Who stands above all offers gets nothing for more.
        """
        year = self.going_rate * self.capacity * self.situation.hours_left / 100
        return {domain: self._crowd(domain, int(level)) * year for domain, level in self.situation.prestige.items()}

    def _crowd(self, domain: str, level: int) -> float:
        """Return which share of a domain's offers requires at least a level."""
        required = self._required.get(domain, ())
        return sum(each >= level for each in required) / max(1, len(required))

    @cached_property
    def _required(self) -> dict[str, list[int]]:
        """Prestige that the offers of each domain require."""
        required: dict[str, list[int]] = {}
        for offer in self.offers:
            for domain, _ in offer.work:
                required.setdefault(domain, []).append(offer.required_prestige)
        return required

    @cached_property
    def _renewal_value(self) -> float:
        gains = [max(0.0, reward - self.going_rate * work) for reward, work in self._priced]
        average = sum(gains) / len(gains) if gains else 0.0
        return self.weights.renewal * average * min(1.0, self.situation.hours_left / self.weights.trust_hours)

    def _later_value(self, offer: Offer) -> float:
        """Return what is lost when an offer is done now, which would take less work later."""
        surplus = offer.reward_cents - self.going_rate * _MATURE_WORK * units(offer.work)
        return max(0.0, surplus) * min(1.0, self.situation.hours_left / _YEAR)

    def of_team(self, offer: Offer, team: Team, hours: float) -> float:
        """Return what it is worth that this team does an offer: what it learns, less its raises, in cents."""
        left = max(0.0, self.situation.hours_left - hours)
        raises = _SALARY_RAISE * team.salary_cents * left / 196
        if not self._solvent:
            return -raises
        learnt = 0.0
        for rate in team.learners:
            learnt += min(rate * offer.skill_boost, RATE_MAX - rate)
        hours_used = min(left, self.weights.skill_hours)
        return self.weights.skill * learnt * hours_used * self.going_rate - self.weights.salary * raises

    def most_of_team(self, offer: Offer, rates_below_cap: float) -> float:
        """Return a bound on ``of_team``, given the most that the rates of those who learn can sum up to."""
        hours = min(self.situation.hours_left, self.weights.skill_hours)
        return self.weights.skill * rates_below_cap * offer.skill_boost * hours * self.going_rate

    def work(self, offer: Offer) -> Work:
        """Return the work of an offer if it is accepted now and its client is honest."""
        return self._works[offer.task_id]

    @cached_property
    def _works(self) -> dict[str, Work]:
        return {offer.task_id: self.situation.work_after_trust(offer) for offer in self.situation.offers}


# ---- teams


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
