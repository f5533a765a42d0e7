"""How the expert plays where rates are hidden: everybody on one task, and a few aside to see what they can do.

Where rates are hidden nothing says that only the best of a team count or learn, so everybody works on the task that
brings most for the time, and everybody learns by it. Teams that never change would tell only sums (see ``skill``).
So while somebody's rates are uncertain, some begin alone on tasks aside, in domains whose prestige is at its lowest,
where cancelling costs nothing. At the first stop those tasks have told the rates; they are cancelled and their people
join the others.

Turns are counted, too. Where skills grow without bound, tasks soon take minutes and a year could hold any number of
them; so a number of turns is shared out over the year, and a task is worth what it brings for the scarcer of both.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.scripted.expert.deadline import Deadlines
from ycbench_agents.scripted.expert.situation import units
from ycbench_agents.scripted.expert.watch import Watch
from ycbench_agents.scripted.forecast import business_hours, most_units

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Mapping, Sequence

    from ycbench_agents.scripted.answer import Employee, Inspection, Offer, Work
    from ycbench_agents.scripted.expert.situation import Situation
    from ycbench_agents.scripted.expert.skill import Belief

__all__ = ["BlindPlay"]

_TINY: Final = 1e-3  # hours, or units an hour
_YEAR: Final = 2349.0  # business hours
_TURNS_A_TASK: Final = 1.1  # milestones included, see _through
_MOST_STOPS: Final = 6  # of the clock in a turn
_SURE: Final = 0.05  # deviation of a rate that is known, as a part of it
_MONTH: Final = 196.0  # business hours
_WORKDAY_HOURS: Final = 9.0
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
        self.watch = Watch()
        self.tasks: tuple[str, ...] = ()  # to inspect in every look: those begun or accepted
        self._main: str | None = None
        self._aside: tuple[str, ...] = ()  # trials
        self._in_hand: Offer | None = None  # accepted, its deadline to be looked at
        self._passed: set[str] = set()  # too long for their deadlines, or refused
        self._shunned: set[str] = set()  # clients whose work grew
        self._honest: set[str] = {""}
        self._deadlines = Deadlines()
        self._expected: dict[str, Work] = {}  # what accepted tasks should take
        self._turns = 0
        self._budget = 0.0
        self._lowest: Mapping[str, float] = {}  # prestige at the start
        self._raise = 0.01
        self._payroll = 0
        self._lure = 0.0  # share of the earnings to come that a level of prestige is worth
        self._believed: dict[tuple[tuple[str, ...], str], Belief] = {}  # since the last look

    def learn_deadlines(self, accepted: Mapping[str, tuple[dt.datetime, dt.datetime]]) -> None:
        """Take in which deadlines tasks were given when they were accepted."""
        for task_id, (start, due) in accepted.items():
            if work := self._expected.pop(task_id, None):
                self._deadlines.learn(work, business_hours(start, due) / _WORKDAY_HOURS)

    def learn(self, situation: Situation, *, whole: bool) -> None:
        """Take in a look: tiers, progress, and how salaries rise."""
        if not self._lowest:
            self._lowest = dict(situation.prestige)
            self._budget = self._turns_a_year * max(1.0, situation.hours_left / _YEAR)
        for member in situation.staff:
            self.watch.estimate.meet(member.name, member.tier)
        self._lure = _lure_of_prestige(situation)
        self.watch.see(situation.now, situation.inspections, whole=whole)
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
        self._expected[plan.offer.task_id] = plan.offer.work
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
        self._expected.update((offer.task_id, offer.work) for offer, _ in trials)
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
        beliefs = [self.watch.estimate.belief(member.name, domain) for domain in domains]
        return sum([each.deviation for each in beliefs if each.deviation > _UNCERTAIN * each.rate])

    # ---- reckoning

    @property
    def _factor(self) -> float:
        """Hours that count for a business hour at least, about."""
        return 1.15 if self.watch.estimate.counts_until_midnight else 1.0

    def _team(self, team: tuple[str, ...], domain: str) -> Belief:
        """Return what is believed of a team; asked many times between two looks."""
        if (team, domain) not in self._believed:
            self._believed[team, domain] = self.watch.estimate.team(team, domain)
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
        due = _WORKDAY_HOURS * self._deadlines.days(work) if known is None else known
        return min(due, situation.hours_left)

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
        estimate = self.watch.estimate

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
