"""How the expert plays where rates are hidden: it estimates them from progress, everybody on one task at a time.

``RateEstimate`` turns looks at tasks into beliefs about rates. ``BlindPlay`` decides by them. Where rates are hidden,
nothing says that only the best of a team count or learn, so everybody works on the task that brings most for the time,
and everybody learns by it. Teams that never change would show only sums. So while somebody's rates are uncertain, some
begin alone on tasks aside, in domains whose prestige is at its lowest, where cancelling costs nothing. At the first
stop those trials have shown the rates; they are cancelled and their people join the others.

Turns are counted, too. Where skills grow without bound, tasks soon take minutes and a year could hold any number of
them; so a number of turns is shared out over the year, and a task is worth what it brings for the scarcer of both.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from ycbench_agents.scripted.answers import Employee, Inspection, Offer, Work
from ycbench_agents.scripted.expert.staffing import Situation, units
from ycbench_agents.scripted.forecast import ASSUMED_RATE, business_hours, most_units

_USUAL: Final = {"junior": (2.5, 2.0), "mid": (5.5, 3.0), "senior": (8.5, 3.5)}  # mean and deviation of a rate
_UNKNOWN: Final = (ASSUMED_RATE, 3.0)
_LEAST_RATE: Final = 0.1  # nobody works backwards, whatever the equations say
_NOISE: Final = 1e-3  # of progress: rates are stored with four places, and so is work
_NOISE_UNITS: Final = 2e-4
_MOST_MEMBERS: Final = 64  # of a team; a larger one tells too little of anybody
_TOO_SURE: Final = 1e-300  # variances below it are 0
_SATURDAY: Final = 5
_OPENING: Final = 9
_CLOSING: Final = 18
_MIDNIGHT: Final = 24
_HOUR: Final = dt.timedelta(hours=1)


@attrs.frozen
class Belief:
    """A rate as it is believed.

    Args:
        rate: Expected units an hour.
        deviation: Standard deviation of it, in units an hour.
    """

    rate: float
    deviation: float


def counted_hours(since: dt.datetime, until: dt.datetime) -> float:
    """Return the hours that count where a working day counts until midnight, save the last one until its closing."""
    hours, day = 0.0, since.replace(hour=0, minute=0, second=0, microsecond=0)
    while day.date() <= until.date():
        if day.weekday() < _SATURDAY:
            last = day.date() == until.date()
            end = min(until, day + _CLOSING * _HOUR) if last else day + _MIDNIGHT * _HOUR
            hours += max(0.0, (end - max(since, day + _OPENING * _HOUR)) / _HOUR)
        day += dt.timedelta(days=1)
    return hours


class RateEstimate:
    """Beliefs about everybody's rates in every domain.

    A team's rate in a domain is the sum of its members' rates, each divided among the tasks that they are on. So the
    progress between two looks is a linear equation in the members' rates, and a Kalman filter takes in one equation
    after another: it begins with what a newcomer may assume of each tier, and follows the known boosts of successes.
    Teams that differ tell members apart; a team that never changes tells only its sum, and the deviations show that.

    How much time counts as progress is unknown, too: business hours, or every hour of a working day from its start
    until midnight. Both are tried side by side; the one that foresaw the progress better so far is believed.

    Everything is plain arithmetic in a fixed order, so that any machine believes the same.
    """

    def __init__(self) -> None:
        self._tiers: dict[str, str] = {}
        self._rules = (_Filters(), _Filters())
        self._before: tuple[dt.datetime, Mapping[str, Inspection]] | None = None  # the last look at active tasks
        self._boosted: set[str] = set()

    def meet(self, name: str, tier: str) -> None:
        """Take in somebody's tier; it counts until progress shows more.

        Args:
            name: Who it is.
            tier: junior, mid, senior, or anything else for somebody unknown.
        """
        if self._tiers.setdefault(name, tier) == tier:
            for filters in self._rules:
                filters.priors[name] = _USUAL.get(tier, _UNKNOWN)

    def see(self, now: dt.datetime, inspections: Sequence[Inspection], *, whole: bool) -> None:
        """Take in a look at all tasks that have been active since the look before.

        Args:
            now: When it was.
            inspections: What it showed.
            whole: Whether it is known that since the look before nothing but this policy's last turn happened.
        """
        tasks = {task.task_id: task for task in inspections}
        if self._before is not None and whole:
            self._learn_progress(*self._before, now, tasks)
        for task_id, task in tasks.items():
            if task.status == "completed_success" and task_id not in self._boosted:
                self._boosted.add(task_id)
                for domain, _ in task.work:
                    for filters in self._rules:
                        filters.scale(domain, task.team, 1.0 + task.skill_boost)
        self._before = now, tasks

    def _learn_progress(
        self, since: dt.datetime, before: Mapping[str, Inspection], now: dt.datetime, tasks: Mapping[str, Inspection]
    ) -> None:
        """Take in what the tasks that are still active gained in the domains that are not complete."""
        hours = business_hours(since, now), counted_hours(since, now)
        if min(hours) <= 0:
            return
        loads: dict[str, int] = {}
        ended = {key for key, task in before.items() if task.status not in {"active", "planned"}}
        worked = [task for key, task in tasks.items() if key not in ended and task.status != "planned"]
        for task in worked:
            for name in task.team:
                loads[name] = loads.get(name, 0) + 1
        for task in worked:
            # One that ended was capped somewhere, at some instant within.
            if task.status != "active" or not 0 < len(task.team) <= _MOST_MEMBERS:
                continue
            shares = {name: 1 / loads[name] for name in task.team}
            # One that was not looked at before has begun right after that look, as time passes only at a turn's end.
            earlier = dict(before[task.task_id].remaining if task.task_id in before else task.work)
            for domain, left in task.remaining:
                if left > 0:
                    for filters, each in zip(self._rules, hours, strict=True):
                        filters.observe(domain, shares, earlier[domain] - left, each)

    def belief(self, name: str, domain: str) -> Belief:
        """Return what is believed of a rate."""
        mean, variance = self._rules[self.counts_until_midnight].of(domain, name)
        return Belief(max(_LEAST_RATE, mean), math.sqrt(max(0.0, variance)))

    def team(self, names: Iterable[str], domain: str) -> Belief:
        """Return what is believed of the rate of several together, who work on nothing else."""
        mean, variance = self._rules[self.counts_until_midnight].of_sum(domain, tuple(names))
        return Belief(max(_LEAST_RATE, mean), math.sqrt(max(0.0, variance)))

    @property
    def counts_until_midnight(self) -> bool:
        """Whether hours until midnight are believed to count; among equals business hours are."""
        usual, late = self._rules
        return late.surprise < usual.surprise


class _Filters:
    """A filter for each domain, all by one way of counting hours."""

    def __init__(self) -> None:
        self.priors: dict[str, tuple[float, float]] = {}
        self.surprise = 0.0  # minus twice the log likelihood of what was seen
        self._domains: dict[str, _Filter] = {}

    def of(self, domain: str, name: str) -> tuple[float, float]:
        """Return mean and variance of a rate."""
        known = self._domains.get(domain)
        if known is None or name not in known.means:
            mean, deviation = self.priors.get(name, _UNKNOWN)
            return mean, deviation * deviation
        return known.means[name], known.covariances[name][name]

    def of_sum(self, domain: str, names: tuple[str, ...]) -> tuple[float, float]:
        """Return mean and variance of the sum of several rates."""
        filter_ = self._with(domain, names)
        mean = sum([filter_.means[name] for name in names])
        return mean, sum([filter_.covariances[one].get(other, 0.0) for one in names for other in names])

    def observe(self, domain: str, shares: Mapping[str, float], units: float, hours: float) -> None:
        filter_ = self._with(domain, shares)
        noise = _NOISE_UNITS + _NOISE * units
        weights = {name: share * hours for name, share in shares.items()}
        self.surprise += filter_.update(weights, units, noise * noise)

    def scale(self, domain: str, names: tuple[str, ...], factor: float) -> None:
        filter_ = self._with(domain, names)
        for name in names:
            filter_.scale(name, factor)

    def _with(self, domain: str, names: Iterable[str]) -> _Filter:
        filter_ = self._domains.setdefault(domain, _Filter())
        for name in names:
            if name not in filter_.means:
                filter_.add(name, *self.priors.get(name, _UNKNOWN))
        return filter_


class _Filter:
    """Means and covariances of the rates in one domain; rows hold only what is not 0."""

    def __init__(self) -> None:
        self.means: dict[str, float] = {}
        self.covariances: dict[str, dict[str, float]] = {}

    def add(self, name: str, mean: float, deviation: float) -> None:
        """Add somebody of whom nothing but the usual is known."""
        self.means[name] = mean
        self.covariances[name] = {name: deviation * deviation}

    def scale(self, name: str, factor: float) -> None:
        """Multiply somebody's rate by a known factor."""
        self.means[name] *= factor
        row = self.covariances[name]
        for other in row:
            row[other] *= factor
            self.covariances[other][name] = row[other]
        row[name] *= factor

    def update(self, weights: Mapping[str, float], seen: float, noise: float) -> float:
        """Take in that a weighted sum of rates was seen, and return how surprising that was."""
        gains: dict[str, float] = {}
        for name, weight in weights.items():
            for other, covariance in self.covariances[name].items():
                gains[other] = gains.get(other, 0.0) + weight * covariance
        expected, variance = 0.0, noise
        for name, weight in weights.items():
            expected += weight * self.means[name]
            variance += weight * gains[name]
        error = seen - expected
        for name, gain in gains.items():
            self.means[name] += gain / variance * error
            row = self.covariances[name]
            for other, other_gain in gains.items():
                left = row.get(other, 0.0) - gain * other_gain / variance
                row[other] = max(left, _TOO_SURE) if other == name else left
        return error * error / variance + math.log(variance)


# ---- playing by beliefs

_TINY: Final = 1e-3  # hours, or units an hour
_YEAR: Final = 2349.0  # business hours
_TURNS_A_TASK: Final = 1.1  # milestones included, see _through
_MOST_STOPS: Final = 6  # of the clock in a turn
_SURE: Final = 0.05  # deviation of a rate that is known, as a part of it
_MONTH: Final = 196.0  # business hours
_WORKDAY_HOURS: Final = 9.0
_LEAST_DAYS: Final = 7.0  # until a deadline
_UNITS_A_DAY: Final = 300.0  # of the largest domain, by which deadlines are guessed
_LATE_HOURS: Final = 27.0  # by which a task may be late before it is given up
_MARGIN: Final = 0.95  # of the hours that a task may take
_LIKELY: Final = 0.5  # chance of success that a task must have at least
_SKILL: Final = 0.5  # share of a year's earnings that doubled rates in one domain bring
_PRESTIGE: Final = 0.7  # part of what better-paid offers promise that counts
_SCARCE: Final = 12  # offers that prestige opens, below which it may soon open none
_FEAR: Final = 0.5  # share of the earnings to come that a level more is worth then
_NEARER: Final = 0.1  # of a level in any domain
_BEST: Final = 10  # offers by which a level of prestige is judged
_HORIZON: Final = 1000.0  # hours that such gains count at most
_UNCERTAIN: Final = 0.15  # of a rate
_GROWN: Final = 1.5  # times the listed work, which shows an adversary
_SMALL_TEAMS: Final = (1, 2, 4)
_UNLIKELY: Final = 0.05  # the same, where nothing else is left
_LEFT_OVER: Final = 16  # offers that trials leave
_THIN: Final = 1.3  # of the payrolls to come, which funds must cover before nothing more is begun


@attrs.frozen
class _Plan:
    """A task with a team: what it nets, in cents, in how many hours, and by what it is compared with others."""

    offer: Offer
    team: tuple[str, ...]
    hours: float
    net: float
    score: float


class BlindPlay:
    """Plays by beliefs about rates, one task at a time."""

    def __init__(self, turns_a_year: int) -> None:
        """Make one that has seen nothing and may take so many turns a year."""
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
        self._lure = 0.0  # share of the earnings to come that a level of prestige is worth
        self._believed: dict[tuple[tuple[str, ...], str], Belief] = {}  # since the last look

    def learn(self, situation: Situation, *, whole: bool) -> None:
        """Take in a look: tiers, progress, and how salaries rise."""
        if not self._lowest:
            self._lowest = dict(situation.prestige)
            self._budget = self._turns_a_year * max(1.0, situation.hours_left / _YEAR)
        for member in situation.staff:
            self.estimate.meet(member.name, member.tier)
        self._lure = _lure_of_prestige(situation)
        self.estimate.see(situation.now, situation.inspections, whole=whole)
        self._believed = {}
        self._learn_raise(situation)

    def _learn_raise(self, situation: Situation) -> None:
        """Take in by which part of their salaries a team's success raised them."""
        salaries = {member.name: member.salary_cents for member in situation.staff}
        done = [task for task in situation.inspections if task.status == "completed_success"]
        if len(done) == 1 and self._payroll:
            rise = situation.payroll_cents - self._payroll
            paid = sum([salaries.get(name, 0) for name in done[0].team]) - rise
            self._raise = rise / paid if paid > 0 else 0.0
        self._payroll = situation.payroll_cents

    # ---- deciding

    def decide(self, situation: Situation) -> list[str]:
        """Return the commands of the next turn, its looks aside."""
        self._turns += 1
        tidy = [f"task cancel --task-id {task_id} --reason room" for task_id in situation.planned]
        seen = {task.task_id: task for task in situation.inspections}
        active = {task_id for member in situation.staff for task_id in member.active_tasks}
        if active:
            return self._go_on(situation, seen, active)
        if self._in_hand is not None and (task := seen.get(self._in_hand.task_id)) and task.status == "planned":
            return self._weigh(situation, self._in_hand, task)
        return [*tidy, *self._choose(situation)]

    def _go_on(self, situation: Situation, seen: Mapping[str, Inspection], active: set[str]) -> list[str]:
        """Return the turn while somebody works: trials end, and their people join the others."""
        ended = [task_id for task_id in self._aside if task_id in active and task_id != self._main]
        freed = sorted({name for task_id in ended if task_id in seen for name in seen[task_id].team})
        commands = [f"task cancel --task-id {task_id} --reason trial" for task_id in ended]
        self._aside = ()
        if freed and self._main in active:
            commands.append(f"task assign --task-id {self._main} --employees {','.join(freed)}")
        elif active <= set(ended):
            self.tasks = ()
            return [*commands, *self._choose(situation)]
        self.tasks = tuple(sorted(active - set(ended)))
        hopeless = [task_id for task_id in self.tasks if self._is_hopeless(situation, seen.get(task_id), len(active))]
        commands += [f"task cancel --task-id {task_id} --reason hopeless" for task_id in hopeless]
        if len(hopeless) == len(self.tasks):
            return commands
        if commands or not (task := seen.get(self._main or "")) or self.tasks != (self._main,):
            return [*commands, "sim resume"]
        sure = self._is_sure(task.remaining, tuple(sorted(task.team)))
        return [_through(task.task_id, task.team[0]) if sure else "sim resume"]

    def _is_hopeless(self, situation: Situation, task: Inspection | None, load: int) -> bool:
        """Return whether a task would end after its deadline, and long from now."""
        if task is None or task.deadline is None or load > 1:
            return False
        hours = self._hours(task.remaining, tuple(sorted(member.name for member in situation.staff))) / self._factor
        return hours > business_hours(situation.now, task.deadline) + _LATE_HOURS

    def _weigh(self, situation: Situation, offer: Offer, task: Inspection) -> list[str]:
        """Return a turn that begins an accepted task if its client is honest, else leaves it."""
        self._in_hand = None
        if units(task.work) > _GROWN * most_units(offer.work):
            self._shunned.add(offer.client)
            return self._choose(situation)
        self._honest.add(offer.client)
        allowed = business_hours(situation.now, task.deadline) if task.deadline else 0.0
        plan = self._best_plan(situation, [attrs.evolve(offer, work=task.work)], allowed)
        return self._choose(situation) if plan is None else self._begin(situation, plan)

    def _choose(self, situation: Situation) -> list[str]:
        """Return a turn that accepts the best task, or lets the rest of the time pass."""
        months = situation.hours_left / _MONTH
        covered = situation.funds_cents > _THIN * situation.payroll_cents * months
        offers = [offer for offer in situation.offers if self._may_take(offer)]
        self.tasks = ()
        if covered and self._turns >= self._budget:
            return ["sim resume"]
        plan = self._best_plan(situation, offers, None) or self._best_plan(situation, offers, None, likely=_UNLIKELY)
        if plan is None:
            return self._renew(offers)
        if covered and plan.score <= 0:
            return ["sim resume"]
        if plan.offer.client in self._honest:
            return self._begin(situation, plan, accept=True)
        self._in_hand = plan.offer
        self._passed.add(plan.offer.task_id)  # should it be refused
        self.tasks = (plan.offer.task_id,)
        return [f"task accept --task-id {plan.offer.task_id}"]

    def _renew(self, offers: Sequence[Offer]) -> list[str]:
        """Return a turn that accepts what cannot be done, only to have it replaced: nothing else would ever change."""
        useless = [offer.task_id for offer in offers]
        self._passed.update(useless)
        return [f"task accept --task-id {task_id}" for task_id in useless]

    def _may_take(self, offer: Offer) -> bool:
        return offer.task_id not in self._passed and offer.client not in self._shunned

    def _begin(self, situation: Situation, plan: _Plan, *, accept: bool = False) -> list[str]:
        """Return a turn that puts a team on a task, and some of it on trials first."""
        trials = tuple(self._trials(situation, plan)) if len(plan.team) == len(situation.staff) else ()
        away = {name for _, name in trials}
        task_id = plan.offer.task_id
        self._main, self._aside = task_id, tuple(offer.task_id for offer, _ in trials)
        self.tasks = (task_id, *self._aside)
        self._passed.update(self.tasks)
        team = [name for name in plan.team if name not in away]
        main = _started(task_id, team)[0 if accept else 1 :]
        if trials:  # they come second, lest they take the room of a limited number of tasks
            aside = [" && ".join(_started(offer.task_id, [name])) for offer, name in trials]
            return [" && ".join(main), *aside, f"{_unchanged(task_id, team[0])} && sim resume"]
        wait = _through(task_id, team[0]) if self._is_sure(plan.offer.work, plan.team) else "sim resume"
        return [" && ".join((*main, wait))]

    # ---- trials

    def _trials(self, situation: Situation, plan: _Plan) -> Iterator[tuple[Offer, str]]:
        """Yield tasks that cost nothing to give up with the person who tries each alone."""
        offers = [
            offer
            for offer in sorted(
                situation.offers, key=lambda offer: (offer.reward_cents / units(offer.work), offer.task_id)
            )
            if offer.task_id != plan.offer.task_id
            and self._may_take(offer)
            and offer.client in self._honest
            and all(situation.prestige[domain] <= self._lowest[domain] for domain, _ in offer.work)
        ]
        room = min(len(offers) - _LEFT_OVER, len(situation.staff) // 2)
        for member in sorted(situation.staff, key=lambda each: (-self._doubt(each, each.rates), each.name)):
            if room <= 0:
                return
            chosen = max(offers, key=lambda offer: self._doubt(member, [domain for domain, _ in offer.work]))
            if self._doubt(member, [domain for domain, _ in chosen.work]) <= 0:
                continue
            offers.remove(chosen)
            room -= 1
            yield chosen, member.name

    def _doubt(self, member: Employee, domains: Sequence[str] | Mapping[str, float]) -> float:
        """Return how uncertain somebody's rates are, as a sum of the domains in which that matters."""
        beliefs = [self.estimate.belief(member.name, domain) for domain in domains]
        return sum([each.deviation for each in beliefs if each.deviation > _UNCERTAIN * each.rate])

    # ---- reckoning

    @property
    def _factor(self) -> float:
        """Hours that count for a business hour at least, about."""
        return 1.15 if self.estimate.counts_until_midnight else 1.0

    def _team(self, team: tuple[str, ...], domain: str) -> Belief:
        """Return what is believed of a team; asked many times between two looks."""
        if (team, domain) not in self._believed:
            self._believed[team, domain] = self.estimate.team(team, domain)
        return self._believed[team, domain]

    def _hours(self, work: Work, team: tuple[str, ...]) -> float:
        """Return the hours that a team should take for work."""
        hours = _TINY
        for domain, each in work:
            hours = max(hours, each / self._team(team, domain).rate)
        return hours

    def _is_sure(self, work: Work, team: tuple[str, ...]) -> bool:
        """Return whether nothing is to be learned from how a team gets on."""
        beliefs = [self._team(team, domain) for domain, _ in work]
        return all(each.deviation <= _SURE * each.rate for each in beliefs)

    def _chance(self, work: Work, team: tuple[str, ...], allowed: float) -> float:
        """Return how likely a team is to do work within some business hours, domain by domain."""
        hours = max(_TINY, allowed * _MARGIN * self._factor)
        chance = 1.0
        for domain, each in work:
            belief = self._team(team, domain)
            spare = (belief.rate - each / hours) / max(_TINY, belief.deviation)
            chance *= (1.0 + spare / math.sqrt(1.0 + spare * spare)) / 2.0  # near the normal law, and the same anywhere
        return chance

    def _allowed(self, situation: Situation, work: Work, known: float | None) -> float:
        """Return the business hours that work may take, by its deadline, known or expected, and the horizon."""
        if known is None:
            known = _WORKDAY_HOURS * max(_LEAST_DAYS, int(max([each for _, each in work]) / _UNITS_A_DAY))
        return min(known, situation.hours_left)

    def _best_plan(
        self, situation: Situation, offers: Sequence[Offer], allowed: float | None, likely: float = _LIKELY
    ) -> _Plan | None:
        """Return the best task and team; None when none can be done in time.

        Args:
            situation: What is known.
            offers: Tasks to choose from.
            allowed: Business hours until the deadline, None where they are to be guessed.
            likely: Chance of success that it must have at least.
        """
        everybody = tuple(sorted(member.name for member in situation.staff))
        if not everybody:
            return None
        due = [(offer, self._allowed(situation, offer.work, allowed)) for offer in offers]
        due = [(offer, hours) for offer, hours in due if self._chance(offer.work, everybody, hours) >= likely]
        turn = _TURNS_A_TASK * situation.hours_left / max(_TURNS_A_TASK, self._budget - self._turns)
        pays = max([offer.reward_cents / max(self._hours(offer.work, everybody), turn) for offer, _ in due], default=0)
        plans = [
            self._plan(situation, (offer, chance), team, (pays, turn))
            for offer, hours in due
            for team in self._teams(situation, offer)
            if (chance := self._chance(offer.work, team, hours)) >= likely
        ]
        return max(plans, key=lambda plan: plan.score, default=None)

    def _teams(self, situation: Situation, offer: Offer) -> Iterator[tuple[str, ...]]:
        """Yield everybody, and the few who do most for their salaries."""
        estimate = self.estimate

        def worth(member: Employee) -> tuple[float, str]:
            rate = sum([estimate.belief(member.name, domain).rate for domain, _ in offer.work])
            return -rate / max(1, member.salary_cents), member.name

        ordered = sorted(situation.staff, key=worth)
        for size in (*[size for size in _SMALL_TEAMS if size < len(ordered)], len(ordered)):
            yield tuple(sorted(member.name for member in ordered[:size]))

    def _plan(
        self, situation: Situation, likely: tuple[Offer, float], team: tuple[str, ...], prices: tuple[float, float]
    ) -> _Plan:
        """Return what a task and a team bring.

        Args:
            situation: What is known.
            likely: The task with its chance of success.
            team: Who works on it.
            prices: Cents that an hour brings otherwise, and hours that the turns for a task are worth.
        """
        (offer, chance), (pays, turn) = likely, prices
        hours = self._hours(offer.work, team)
        salaries = sum([member.salary_cents for member in situation.staff if member.name in team])
        raises = self._raise * salaries * situation.hours_left / _MONTH
        later = pays * min(_HORIZON, situation.hours_left) * min(1.0, hours / turn)
        learnt = _SKILL * self._growth(situation, offer, team) * later
        climbed = _climb(situation, offer) * self._lure * pays * situation.hours_left
        net = chance * (offer.reward_cents + learnt + climbed - raises)
        return _Plan(offer, team, hours, net, net / max(hours, turn))

    def _growth(self, situation: Situation, offer: Offer, team: tuple[str, ...]) -> float:
        """Return by which part the rates of all together grow, on average over all domains."""
        everybody = tuple(sorted(member.name for member in situation.staff))
        shares = [self._team(team, domain).rate / self._team(everybody, domain).rate for domain, _ in offer.work]
        return offer.skill_boost * sum(shares) / max(1, len(situation.prestige))


def _started(task_id: str, team: Sequence[str]) -> tuple[str, str, str]:
    """Return the commands that accept a task and begin it."""
    return (
        f"task accept --task-id {task_id}",
        f"task assign --task-id {task_id} --employees {','.join(team)}",
        f"task dispatch --task-id {task_id}",
    )


def _through(task_id: str, name: str) -> str:
    """Return commands that let time pass up to the end of a task, past its milestones, and no further."""
    return f" && {_unchanged(task_id, name)} && ".join(["sim resume"] * _MOST_STOPS)


def _unchanged(task_id: str, name: str) -> str:
    """Return a command that assigns somebody who is on a task already.

    It changes nothing; where the task has ended, or never began, it is refused, and what is chained to it is skipped.
    """
    return f"task assign --task-id {task_id} --employees {name}"


def _climb(situation: Situation, offer: Offer) -> float:
    """Return by how much the highest prestige rises, or comes nearer to rising."""
    highest = max(situation.prestige.values(), default=0.0)
    reached = max([situation.prestige[domain] + offer.prestige_delta for domain, _ in offer.work])
    return max(0.0, reached - highest) + _NEARER * offer.prestige_delta


def _lure_of_prestige(situation: Situation) -> float:
    """Return which share of the earnings to come a level of prestige is worth: by better-paid offers, and by fear.

    Whoever has done all offers that are open, and is short of the next level, is stuck for good.
    """
    best = sorted([offer.reward_cents for offer in situation.offers], reverse=True)[:_BEST]
    above = sorted([offer.reward_cents for offer in situation.near], reverse=True)[:_BEST]
    promise = _PRESTIGE * (sum(above) / max(1, sum(best)) - 1.0) if len(best) == len(above) else 0.0
    return min(1.0, max(0.0, promise)) + _FEAR * max(0.0, 1.0 - len(situation.offers) / _SCARCE)
