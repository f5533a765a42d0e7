"""How the expert plays where rates are hidden: it estimates them from progress, everybody on one task at a time.

No answer shows that only the best of a team count or learn, so everybody works on the task that brings most for the
time. A team that never changes would show only its sum; so while somebody's rates are uncertain, some begin alone on
tasks aside, in domains whose prestige is at its lowest, where cancelling costs nothing. At the first stop those trials
have shown the rates; they are cancelled and their people join the others.

Turns are scarce, too: tasks soon take minutes where skills grow without bound. So a number of turns is shared out over
the year, and a task is worth what it brings for the scarcer of both.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from ycbench_agents.scripted.answers import Employee, Inspection, Offer, Work
from ycbench_agents.scripted.commands import WAIT, accept, assign, cancel, start
from ycbench_agents.scripted.expert.staffing import MONTH, YEAR, Situation
from ycbench_agents.scripted.forecast import (
    ASSUMED_RATE,
    CLOSING,
    HOUR,
    OPENING,
    SATURDAY,
    TINY,
    WORKDAY_HOURS,
    business_hours,
    most_units,
    units,
)

# Units an hour.
_USUAL: Final = {"junior": (2.5, 2.0), "mid": (5.5, 3.0), "senior": (8.5, 3.5)}  # mean and deviation of a rate
_UNKNOWN: Final = (ASSUMED_RATE, 3.0)  # the same of other tiers
_LEAST_RATE: Final = 0.1  # nobody works backwards, whatever the equations say
_NOISE: Final = 1e-3  # share of the progress: rates are stored with four places, and so is work
_NOISE_UNITS: Final = 2e-4  # units, beside that share
_MOST_MEMBERS: Final = 64  # of a team; a larger one shows too little of anybody

_Rate: TypeAlias = tuple[str, str]  # a domain, and somebody's name


@attrs.frozen
class Belief:
    """A rate as it is believed, in units an hour: what is expected, and its standard deviation."""

    rate: float
    deviation: float


def counted_hours(since: dt.datetime, until: dt.datetime) -> float:
    """Return the hours that count where a working day counts until midnight, save the last one until its closing."""
    hours, day = 0.0, since.replace(hour=0, minute=0, second=0, microsecond=0)
    while day.date() <= until.date():
        if day.weekday() < SATURDAY:
            end = min(until, day + CLOSING * HOUR) if day.date() == until.date() else day + 24 * HOUR
            hours += max(0.0, (end - max(since, day + OPENING * HOUR)) / HOUR)
        day += dt.timedelta(days=1)
    return hours


class RateEstimate:
    """Beliefs about everybody's rates in every domain.

    A team's rate in a domain is the sum of its members' rates, each divided among the tasks that they are on. So the
    progress between two looks is a linear equation in the members' rates, and a Kalman filter takes in one equation
    after another. It begins with what may be assumed of each tier, and follows the known boosts of successes.

    Whether business hours count, or every hour of a working day from its start until midnight, is unknown, too. Both
    are tried side by side, and the one that foresaw the progress better so far is believed.

    Everything is plain arithmetic in a fixed order, so that any machine believes the same.
    """

    def __init__(self) -> None:
        self._priors: dict[str, tuple[float, float]] = {}  # mean and deviation of somebody's rate in any domain
        self._filters = (_Filter(self._priors), _Filter(self._priors))
        self._before: tuple[dt.datetime, Mapping[str, Inspection]] | None = None  # the last look at active tasks
        self._boosted: set[str] = set()
        self._teams: dict[tuple[tuple[str, ...], str], Belief] = {}  # asked for many times between two looks

    def meet(self, name: str, tier: str) -> None:
        """Take in the tier of somebody new, before anything is asked about them."""
        self._priors.setdefault(name, _USUAL.get(tier, _UNKNOWN))

    def see(self, now: dt.datetime, inspections: Iterable[Inspection], *, whole: bool) -> None:
        """Take in a look at all tasks that have been active since the look before.

        It is whole if it is known that since that look nothing but this policy's last turn happened.
        """
        tasks = {task.task_id: task for task in inspections}
        self._teams = {}
        if self._before is not None and whole:
            self._learn_progress(*self._before, now, tasks)
        for task_id, task in tasks.items():
            if task.status == "completed_success" and task_id not in self._boosted:
                self._boosted.add(task_id)
                for domain, _ in task.work:
                    for filter_ in self._filters:
                        filter_.scale([(domain, name) for name in task.team], 1.0 + task.skill_boost)
        self._before = now, tasks

    def _learn_progress(
        self, since: dt.datetime, before: Mapping[str, Inspection], now: dt.datetime, tasks: Mapping[str, Inspection]
    ) -> None:
        """Take in what the tasks that are still active gained in the domains that are not complete."""
        hours = business_hours(since, now), counted_hours(since, now)
        if min(hours) <= 0:
            return
        ended = {key for key, task in before.items() if task.status not in {"active", "planned"}}
        worked = [task for key, task in tasks.items() if key not in ended and task.status != "planned"]
        loads = Counter(name for task in worked for name in task.team)
        for task in worked:
            # One that ended was capped somewhere, at some instant within.
            if task.status != "active" or not 0 < len(task.team) <= _MOST_MEMBERS:
                continue
            # One that was not looked at before has begun right after that look, as time passes only at a turn's end.
            earlier = dict(before[task.task_id].remaining if task.task_id in before else task.work)
            for domain, left in task.remaining:
                if left > 0:
                    shares = {(domain, name): 1 / loads[name] for name in task.team}
                    for filter_, each in zip(self._filters, hours, strict=True):
                        filter_.observe(shares, earlier[domain] - left, each)

    def team(self, names: tuple[str, ...], domain: str) -> Belief:
        """Return what is believed of the rate of one or several together, who work on nothing else."""
        if (names, domain) not in self._teams:
            mean, variance = self._filters[self.counts_until_midnight].sum([(domain, name) for name in names])
            self._teams[names, domain] = Belief(max(_LEAST_RATE, mean), math.sqrt(max(0.0, variance)))
        return self._teams[names, domain]

    @property
    def counts_until_midnight(self) -> bool:
        """Whether hours until midnight are believed to count; among equals business hours are."""
        usual, late = self._filters
        return late.surprise < usual.surprise


class _Filter:
    """Means and covariances of all rates, by one way of counting hours; rows hold only what is not 0."""

    def __init__(self, priors: Mapping[str, tuple[float, float]]) -> None:
        self.surprise = 0.0  # minus twice the log likelihood of what was seen
        self._priors = priors
        self._means: dict[_Rate, float] = {}
        self._covariances: dict[_Rate, dict[_Rate, float]] = {}

    def _row(self, rate: _Rate) -> dict[_Rate, float]:
        """Return the covariances of a rate with others; one that is new is as its owner's tier has it."""
        if rate not in self._covariances:
            self._means[rate], deviation = self._priors.get(rate[1], _UNKNOWN)
            self._covariances[rate] = {rate: deviation * deviation}
        return self._covariances[rate]

    def sum(self, rates: Sequence[_Rate]) -> tuple[float, float]:
        """Return mean and variance of the sum of several rates."""
        rows = [self._row(rate) for rate in rates]
        variances = [row.get(other, 0.0) for row in rows for other in rates]
        return math.fsum([self._means[rate] for rate in rates]), math.fsum(variances)

    def scale(self, rates: Sequence[_Rate], factor: float) -> None:
        """Multiply rates by a known factor."""
        for rate in rates:
            row = self._row(rate)
            self._means[rate] *= factor
            for other in row:
                row[other] *= factor
                self._covariances[other][rate] = row[other]
            row[rate] *= factor

    def observe(self, shares: Mapping[_Rate, float], seen: float, hours: float) -> None:
        """Take in the units that shares of rates brought in some hours."""
        weights = {rate: share * hours for rate, share in shares.items()}
        noise = _NOISE_UNITS + _NOISE * seen
        gains: dict[_Rate, float] = {}
        for rate, weight in weights.items():
            for other, covariance in self._row(rate).items():
                gains[other] = gains.get(other, 0.0) + weight * covariance
        expected, variance = 0.0, noise * noise
        for rate, weight in weights.items():
            expected += weight * self._means[rate]
            variance += weight * gains[rate]
        error = seen - expected
        for rate, gain in gains.items():
            self._means[rate] += gain / variance * error
            row = self._covariances[rate]
            for other, other_gain in gains.items():
                left = row.get(other, 0.0) - gain * other_gain / variance
                row[other] = max(left, 0.0) if other == rate else left
        self.surprise += error * error / variance + math.log(variance)


# ---- playing by beliefs

# Judged by play in the classic presets, none derived.
# Clock and turns.
_TURNS_A_TASK: Final = 1.1  # turns, milestones included, see _through
_MOST_STOPS: Final = 6  # stops of the clock in a turn
# Which tasks can be done: deadlines and chances of success.
_LEAST_DAYS: Final = 7.0  # working days until a deadline, guessed
_UNITS_A_DAY: Final = 300.0  # units of the largest domain for each working day until a deadline, guessed
_MARGIN: Final = 0.95  # share of the hours that a task may take
_LATE_HOURS: Final = 27.0  # business hours by which a task may be late before it is given up
_LIKELY: Final = 0.5  # least chance of success of a task
_UNLIKELY: Final = 0.05  # the same, if no other task is left
# What a success brings.
_SKILL: Final = 0.5  # share of a year's earnings that doubled rates in one domain bring
_HORIZON: Final = 1000.0  # business hours that higher rates count at most
_BEST: Final = 10  # offers by which a level of prestige is judged
_PRESTIGE: Final = 0.7  # share that counts of what better-paid offers promise
_SCARCE: Final = 12  # offers that prestige opens, below which it may soon open none
_FEAR: Final = 0.5  # share of the earnings to come that a level more is worth if it opens none
_NEARER: Final = 0.1  # share of a level's worth that a level more counts in any domain
_THIN: Final = 1.3  # times the payrolls to come that funds must cover before nothing more is begun
# Teams and trials.
_SMALL_TEAMS: Final = (1, 2, 4)  # members
_SURE: Final = 0.05  # deviation of a rate that is known, as a share of it
_UNCERTAIN: Final = 0.15  # deviation of a rate that is worth a trial, as a share of it
_LEFT_OVER: Final = 16  # offers that trials leave
_GROWN: Final = 1.5  # times the listed work, above which a client is an adversary


@attrs.frozen
class _Plan:
    """A task with a team, and by what it is compared with others."""

    offer: Offer
    team: tuple[str, ...]
    score: float


class BlindPlay:
    """Plays by beliefs about rates, one task at a time, with a number of turns to share out over a year."""

    def __init__(self, turns_a_year: int) -> None:
        self._turns_a_year = turns_a_year
        self.estimate = RateEstimate()
        self.tasks: tuple[str, ...] = ()  # to inspect in every look: those begun or accepted
        self._main: str | None = None
        self._aside: tuple[str, ...] = ()  # trials
        self._in_hand: Offer | None = None  # accepted, its deadline to be looked at
        self._passed: set[str] = set()  # too long for their deadlines, or refused
        self._shunned: set[str] = set()  # clients whose work grew
        self._honest: set[str] = {""}
        self._turns = 0
        self._budget = 0.0
        self._lowest: Mapping[str, float] = {}  # prestige at the start
        self._raise = 0.01
        self._payroll = 0

    def learn(self, situation: Situation, *, whole: bool) -> None:
        """Take in a look: tiers, progress, and by which part of a team's salaries a success raised them."""
        if not self._lowest:
            self._lowest = dict(situation.prestige)
            self._budget = self._turns_a_year * max(1.0, situation.hours_left / YEAR)
        for member in situation.staff:
            self.estimate.meet(member.name, member.tier)
        self.estimate.see(situation.now, situation.inspections, whole=whole)
        done = [task for task in situation.inspections if task.status == "completed_success"]
        if len(done) == 1 and self._payroll:
            salaries = {member.name: member.salary_cents for member in situation.staff}
            rise = situation.payroll_cents - self._payroll
            paid = sum([salaries.get(name, 0) for name in done[0].team]) - rise
            self._raise = rise / paid if paid > 0 else 0.0
        self._payroll = situation.payroll_cents

    # ---- deciding

    def decide(self, situation: Situation) -> list[str]:
        """Return the commands of the next turn, its looks aside."""
        self._turns += 1
        seen = {task.task_id: task for task in situation.inspections}
        active = {task_id for member in situation.staff for task_id in member.active_tasks}
        if active:
            return self._go_on(situation, seen, active)
        offer, task = self._in_hand, seen.get(self._in_hand.task_id) if self._in_hand else None
        if offer is None or task is None or task.status != "planned":
            return [*[cancel(task_id, "room") for task_id in situation.planned], *self._choose(situation)]
        # An accepted task is begun if its client is honest and it can be done, and left otherwise.
        self._in_hand = None
        if units(task.work) > _GROWN * most_units(offer.work):
            self._shunned.add(offer.client)
            return self._choose(situation)
        self._honest.add(offer.client)
        allowed = business_hours(situation.now, task.deadline) if task.deadline else 0.0
        plan = self._best_plan(situation, [attrs.evolve(offer, work=task.work)], _LIKELY, allowed)
        return self._choose(situation) if plan is None else self._begin(situation, plan, accepted=True)

    def _go_on(self, situation: Situation, seen: Mapping[str, Inspection], active: set[str]) -> list[str]:
        """Return the turn while somebody works: trials end, and their people join the others."""
        ended = [task_id for task_id in self._aside if task_id in active and task_id != self._main]
        freed = sorted({name for task_id in ended if task_id in seen for name in seen[task_id].team})
        commands = [cancel(task_id, "trial") for task_id in ended]
        self._aside = ()
        if freed and self._main in active:
            commands.append(assign(self._main, freed))
        elif active <= set(ended):
            return [*commands, *self._choose(situation)]
        self.tasks = tuple(sorted(active - set(ended)))
        everybody = tuple(sorted(member.name for member in situation.staff))
        if len(active) == 1 and self.tasks and (task := seen.get(self.tasks[0])) and task.deadline is not None:
            hours = self._hours(task.remaining, everybody) / self._factor
            if hours > business_hours(situation.now, task.deadline) + _LATE_HOURS:
                return [*commands, cancel(task.task_id, "hopeless")]
        if commands or not (task := seen.get(self._main or "")) or self.tasks != (self._main,):
            return [*commands, WAIT]
        sure = self._is_sure(task.remaining, tuple(sorted(task.team)))
        return [_through(task.task_id, task.team[0]) if sure else WAIT]

    def _choose(self, situation: Situation) -> list[str]:
        """Return a turn that accepts the best task, or lets the rest of the time pass."""
        covered = situation.funds_cents > _THIN * situation.payroll_cents * (situation.hours_left / MONTH)
        offers = [offer for offer in situation.offers if self._may_take(offer)]
        self.tasks = ()
        if covered and self._turns >= self._budget:
            return [WAIT]
        plan = self._best_plan(situation, offers, _LIKELY) or self._best_plan(situation, offers, _UNLIKELY)
        if plan is None:  # what cannot be done is accepted only to have it replaced: nothing else would ever change
            self._passed.update(offer.task_id for offer in offers)
            return [accept(offer.task_id) for offer in offers]
        if covered and plan.score <= 0:
            return [WAIT]
        if plan.offer.client in self._honest:
            return self._begin(situation, plan)
        self._in_hand = plan.offer
        self._passed.add(plan.offer.task_id)  # should it be refused
        self.tasks = (plan.offer.task_id,)
        return [accept(plan.offer.task_id)]

    def _may_take(self, offer: Offer) -> bool:
        return offer.task_id not in self._passed and offer.client not in self._shunned

    def _begin(self, situation: Situation, plan: _Plan, *, accepted: bool = False) -> list[str]:
        """Return a turn that puts a team on a task, and some of it on trials first."""
        trials = list(self._trials(situation, plan)) if len(plan.team) == len(situation.staff) else []
        away = {name for _, name in trials}
        task_id = plan.offer.task_id
        self._main, self._aside = task_id, tuple([offer.task_id for offer, _ in trials])
        self.tasks = (task_id, *self._aside)
        self._passed.update(self.tasks)
        team = [name for name in plan.team if name not in away]
        main = start(task_id, team)[1 if accepted else 0 :]
        if trials:  # they come second, lest they take the room of a limited number of tasks
            aside = [" && ".join(start(offer.task_id, [name])) for offer, name in trials]
            return [" && ".join(main), *aside, f"{assign(task_id, team[:1])} && {WAIT}"]
        wait = _through(task_id, team[0]) if self._is_sure(plan.offer.work, plan.team) else WAIT
        return [" && ".join((*main, wait))]

    def _trials(self, situation: Situation, plan: _Plan) -> Iterator[tuple[Offer, str]]:
        """Yield tasks that cost nothing to give up with the person who tries each alone."""
        offers = [
            offer
            for offer in situation.offers
            if offer.task_id != plan.offer.task_id
            and self._may_take(offer)
            and offer.client in self._honest
            and all(situation.prestige[domain] <= self._lowest[domain] for domain, _ in offer.work)
        ]
        offers.sort(key=lambda offer: (offer.reward_cents / units(offer.work), offer.task_id))
        room = min(len(offers) - _LEFT_OVER, len(situation.staff) // 2)
        for member in sorted(situation.staff, key=lambda each: (-self._doubt(each, each.rates.items()), each.name)):
            if room <= 0:
                return
            chosen = max(offers, key=lambda offer: self._doubt(member, offer.work))
            if self._doubt(member, chosen.work) > 0:
                offers.remove(chosen)
                room -= 1
                yield chosen, member.name

    def _doubt(self, member: Employee, work: Iterable[tuple[str, float]]) -> float:
        """Return how uncertain somebody's rates are, as a sum of the domains in which that matters."""
        beliefs = [self.estimate.team((member.name,), domain) for domain, _ in work]
        return math.fsum([each.deviation for each in beliefs if each.deviation > _UNCERTAIN * each.rate])

    # ---- reckoning

    @property
    def _factor(self) -> float:
        """Hours that count for a business hour at least, about."""
        return 1.15 if self.estimate.counts_until_midnight else 1.0

    def _hours(self, work: Work, team: tuple[str, ...]) -> float:
        """Return the hours that a team should take for work."""
        return max([TINY, *[each / self.estimate.team(team, domain).rate for domain, each in work]])

    def _is_sure(self, work: Work, team: tuple[str, ...]) -> bool:
        """Return whether nothing is to be learned from how a team gets on."""
        beliefs = [self.estimate.team(team, domain) for domain, _ in work]
        return all(each.deviation <= _SURE * each.rate for each in beliefs)

    def _chance(self, work: Work, team: tuple[str, ...], allowed: float) -> float:
        """Return how likely a team is to do work within some business hours, domain by domain."""
        hours = max(TINY, allowed * _MARGIN * self._factor)
        chance = 1.0
        for domain, each in work:
            belief = self.estimate.team(team, domain)
            spare = (belief.rate - each / hours) / max(TINY, belief.deviation)
            chance *= (1.0 + spare / math.sqrt(1.0 + spare * spare)) / 2.0  # near the normal law, and the same anywhere
        return chance

    def _best_plan(
        self, situation: Situation, offers: Iterable[Offer], likely: float, known: float | None = None
    ) -> _Plan | None:
        """Return the best task and team, likely enough to succeed; None when there is none.

        The business hours until the deadline are guessed where they are not known.
        """
        everybody = tuple(sorted(member.name for member in situation.staff))
        if not everybody:
            return None
        believed, left = self.estimate.team, situation.hours_left
        due: list[tuple[Offer, float]] = []  # with the business hours that each may take
        for offer in offers:
            days = max(_LEAST_DAYS, int(max([each for _, each in offer.work]) / _UNITS_A_DAY))
            allowed = min(WORKDAY_HOURS * days if known is None else known, left)
            if self._chance(offer.work, everybody, allowed) >= likely:
                due.append((offer, allowed))
        # Hours that the turns for a task are worth, and cents that an hour brings otherwise.
        turn = _TURNS_A_TASK * left / max(_TURNS_A_TASK, self._budget - self._turns)
        pays = max([offer.reward_cents / max(self._hours(offer.work, everybody), turn) for offer, _ in due], default=0)
        lure, highest = _lure(situation), max(situation.prestige.values(), default=0.0)
        best: _Plan | None = None
        for offer, allowed in due:
            # By how much the highest prestige rises, or comes nearer to rising.
            reached = max([situation.prestige[domain] + offer.prestige_delta for domain, _ in offer.work])
            climbed = (max(0.0, reached - highest) + _NEARER * offer.prestige_delta) * lure * pays * left
            for team in self._teams(situation, offer):
                chance = self._chance(offer.work, team, allowed)
                if chance < likely:
                    continue
                hours = self._hours(offer.work, team)
                # By which part the rates of all together grow, on average over all domains.
                shares = [believed(team, each).rate / believed(everybody, each).rate for each, _ in offer.work]
                growth = offer.skill_boost * math.fsum(shares) / max(1, len(situation.prestige))
                learnt = _SKILL * growth * (pays * min(_HORIZON, left) * min(1.0, hours / turn))
                salaries = sum([member.salary_cents for member in situation.staff if member.name in team])
                raises = self._raise * salaries * left / MONTH
                score = chance * (offer.reward_cents + learnt + climbed - raises) / max(hours, turn)
                if best is None or score > best.score:
                    best = _Plan(offer, team, score)
        return best

    def _teams(self, situation: Situation, offer: Offer) -> Iterator[tuple[str, ...]]:
        """Yield everybody, and the few who do most for their salaries."""

        def worth(member: Employee) -> tuple[float, str]:
            rate = math.fsum([self.estimate.team((member.name,), domain).rate for domain, _ in offer.work])
            return -rate / max(1, member.salary_cents), member.name

        ordered = sorted(situation.staff, key=worth)
        for size in (*[size for size in _SMALL_TEAMS if size < len(ordered)], len(ordered)):
            yield tuple(sorted(member.name for member in ordered[:size]))


def _lure(situation: Situation) -> float:
    """Return the share of the earnings to come that a level of prestige is worth.

    Better-paid offers promise it, and so does fear: whoever has done all offers that are open, and is short of the
    next level, is stuck for good.
    """
    best_paid = sorted([offer.reward_cents for offer in situation.offers], reverse=True)[:_BEST]
    above = sorted([offer.reward_cents for offer in situation.near], reverse=True)[:_BEST]
    promise = _PRESTIGE * (sum(above) / max(1, sum(best_paid)) - 1.0) if len(best_paid) == len(above) else 0.0
    return min(1.0, max(0.0, promise)) + _FEAR * max(0.0, 1.0 - len(situation.offers) / _SCARCE)


def _through(task_id: str, name: str) -> str:
    """Return commands that let time pass up to the end of a task, past its milestones, and no further.

    To assign somebody who is on a task already changes nothing. Where the task has ended it is refused, and what is
    chained to it is skipped.
    """
    return f" && {assign(task_id, [name])} && ".join([WAIT] * _MOST_STOPS)
