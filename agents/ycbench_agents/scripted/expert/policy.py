"""Expert: a strong player that sees only what an agent sees.

After every step in time it looks at staff, clients, company and market. It accepts one task of each client and inspects
it before anybody works on it: work that grew shows a client that cheats, at no cost, and for such a client it never
works. Everybody who is free goes into a small team on the task that is worth most for an hour of their time.

What it acts on is always a look at the world, so that turns played by others, refusals and limits do no lasting harm.
Where its rules leave everybody idle for long, larger teams are tried, and offers accepted whose deadlines show whether
they can be done. docs/policies.md says more.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Final

from ycbench_agents.registry import PolicyError
from ycbench_agents.scripted import answers
from ycbench_agents.scripted.answers import MarketGate, Offer, Work
from ycbench_agents.scripted.commands import WAIT, accept, assign, cancel, dispatch, inspect
from ycbench_agents.scripted.expert.hidden_rates import BlindPlay
from ycbench_agents.scripted.expert.staffing import (
    Candidate,
    Job,
    Person,
    Situation,
    Valuation,
    best_job,
    read_situation,
    staff_jobs,
)
from ycbench_agents.scripted.forecast import (
    TEAM_SIZE,
    WORKDAY_HOURS,
    add_business_hours,
    business_hours,
    hours_of_work,
    most_units,
    units,
)
from ycbench_env import Observation
from ycbench_env.errors import whole_number

_MOST_LISTED: Final = 400  # tasks of the market; more do not fit into an observation, and the best paid come first
_FEWEST_LISTED: Final = 50
_INFLATED: Final = 1.5  # times the listed work; trust only ever reduces it
_DEADLINE_DAYS: Final = 7  # at least
_DEADLINE_UNITS_A_DAY: Final = 150.0
_SLACK_HOURS: Final = 1.0  # after which a task that should have ended is looked at
_SOON_HOURS: Final = 27.0  # within which somebody busy may be counted on
_PACE_LEARNING: Final = 0.15  # weight of the latest task
_TRUST_IN_PACE: Final = 0.8
_LATE: Final = 0.95
_FAST: Final = 1.1
_IDLE_LOOKS: Final = 2  # with nobody at work and nothing worth doing, before it tries what it otherwise would not
_TO_LOSE: Final = 400.0  # business hours up to the horizon, below which being idle is no loss
_FASTEST: Final = 24 - 9  # hours a day that progress can count, where it counts until midnight


class ExpertPolicy:
    """Probes each client once, then works for the honest ones, in small teams, by worth for an hour.

    Args:
        turns_a_year: Turns that it shares out over a year where rates are hidden (see ``hidden_rates``), at least 1: a
            little under the 500 after which the classic presets cut an episode off.

    Raises:
        PolicyError: It is no such number.
    """

    def __init__(self, turns_a_year: int = 498) -> None:
        self._turns_a_year = whole_number("turns_a_year", turns_a_year, 1, error=PolicyError)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the last episode; nothing is drawn, so the seed does not matter."""
        del seed
        self._looks: tuple[str, ...] = ()
        self._gate = MarketGate()
        self._blind = BlindPlay(self._turns_a_year)
        self._asks_clients = True
        self._own_turn = False  # whether the last observation answered its own looks, and no time has passed since
        self._honest: dict[str, bool] = {}
        self._probes: dict[str, Offer] = {}  # accepted, not inspected yet
        self._in_hand: dict[str, Offer] = {}  # accepted, honest, not begun
        self._ends: dict[str, dt.datetime] = {}  # when an active task should end
        self._begun: dict[str, tuple[dt.datetime, float]] = {}  # active tasks: since when, and hours they should take
        self._pace = 1.0  # hours that tasks should have taken, for an hour that they took
        self._joins: dict[str, str] = {}  # who joins which active task once they are free
        self._doubtful: tuple[str, ...] = ()  # active tasks that others began, or that are late
        self._expected: dict[str, Work] = {}  # what accepted tasks should take
        self._least_days: float = _DEADLINE_DAYS
        self._units_a_day = _DEADLINE_UNITS_A_DAY
        self._listed = _MOST_LISTED
        self._limit: int | None = None  # of open tasks, as far as refusals have shown
        self._open_before = 0
        self._idle_looks = 0
        self._month = 0

    def act(self, observation: Observation) -> str:
        """Return the next turn; every turn ends with the looks that the next decision needs."""
        situation = self.learn(observation)
        return self.look() if situation is None else self.decide(situation)

    def look(self) -> str:
        """Return the questions that end each turn: those that may be long last, so that the others find room."""
        own = dict.fromkeys((*self._probes, *self._in_hand, *self._doubtful, *self._blind.tasks))
        self._looks = (
            "employee list",
            *(["client list"] if self._asks_clients else []),
            "company status",
            *([] if self._limit is None else ["task list --status planned"]),
            *map(inspect, own),
            f"market browse --limit {self._listed}",
        )
        return "\n".join(self._looks)

    # ---- learning

    def learn(self, observation: Observation) -> Situation | None:
        """Return what the last turn's looks show, None when they were not asked; remember what is worth it."""
        self._gate.learn(observation)
        self._learn_accepts(observation)
        if not answers.ends_with(observation, self._looks):
            if answers.cut(observation):  # ask for less, lest no look ever find room
                self._listed = max(_FEWEST_LISTED, self._listed // 2)
            if "client list" in answers.refused(observation):
                self._asks_clients = False
            self._own_turn = False
            return None
        situation = read_situation(observation, self._gate)
        if situation.hidden:
            current = answers.asked_at(observation) == observation["sim_time"]  # no forced advance after the looks
            self._blind.learn(situation, whole=self._own_turn and current)
            self._own_turn = current
            return situation
        self._learn_pace(observation, situation.now)
        for task in situation.inspections:
            if task.task_id in self._probes:
                offer = self._probes.pop(task.task_id)
                self._honest[offer.client] = units(task.work) <= _INFLATED * most_units(offer.work)
                if self._honest[offer.client]:
                    self._in_hand[task.task_id] = offer
            if task.status != "planned" or task.deadline is None or task.deadline <= situation.now:
                self._in_hand.pop(task.task_id, None)
        self._open_before = situation.open_tasks
        if situation.now.month != self._month:  # ask again now and then: it may have been something else
            self._month, self._limit = situation.now.month, None
        return situation

    def _learn_pace(self, observation: Observation, now: dt.datetime) -> None:
        """Take in how much sooner than forecast tasks end."""
        for done in answers.completions(observation):
            if done.task_id in self._begun:
                since, hours = self._begun.pop(done.task_id)
                pace = min(hours / max(_SLACK_HOURS, business_hours(since, now)), _FASTEST / WORKDAY_HOURS)
                late = pace < _LATE  # then a forecast is wrong, and the next deadline must not be missed as well
                self._pace = pace if late else self._pace + _PACE_LEARNING * (pace - self._pace)

    def _learn_accepts(self, observation: Observation) -> None:
        """Take in a limit on open tasks, and how many working days are given where the rules are not the usual ones."""
        accepted = answers.accepted(observation)
        if refusals := answers.refused(observation, "task accept"):
            self._limit = max(1, self._open_before + len(accepted))
        for command in refusals:
            self._probes.pop(command.split()[-1], None)
        for task_id, (start, deadline) in accepted.items():
            work = self._expected.pop(task_id, None)
            days = business_hours(start, deadline) / WORKDAY_HOURS
            if work is None or days <= 0 or round(days) == self._deadline_days(work):
                continue
            self._least_days = min(self._least_days, days)
            if round(days) != self._deadline_days(work):
                self._units_a_day = max(each for _, each in work) / days

    # ---- deciding

    def decide(self, situation: Situation, aside: Sequence[str] = ()) -> str:
        """Return the next turn: settle doubts, probe clients, or put everybody to work and let time pass.

        Commands of another policy, aside, are given when everybody is at work, before time passes.
        """
        if situation.hidden:
            return "\n".join((*self._blind.decide(situation), *aside, self.look()))
        self._doubtful = self._doubts(situation)
        if self._doubtful:
            return self.look()
        if hopeless := list(self._hopeless(situation)):
            return "\n".join((*hopeless, self.look()))
        # Where the number of tasks is limited, those that nobody will begin make room.
        useless = [task_id for task_id in situation.planned if task_id not in self._in_hand]
        self._open_before -= len(useless)
        commands = [cancel(task_id, "hopeless") for task_id in useless]
        valuation = self.appraise(situation)
        if probes := self._probe_clients(valuation):
            return "\n".join((*commands, *probes, self.look()))
        active = {task_id for member in situation.staff for task_id in member.active_tasks}
        self._joins = {name: task_id for name, task_id in self._joins.items() if task_id in active}
        free = [member.name for member in situation.staff if not member.active_tasks]
        commands += [assign(self._joins[name], [name]) for name in free if name in self._joins]
        jobs = staff_jobs(
            list(self._candidates(valuation)),
            list(self._available(situation)),
            valuation,
            self._room(),
            self._team_sizes(situation),
        )
        idle = len(free) == len(situation.staff)
        for job in jobs:
            idle = False
            task_id, members = job.candidate.offer.task_id, job.team.members
            if not job.candidate.in_hand:
                self._expected[task_id] = job.candidate.work
                commands.append(accept(task_id))
            self._in_hand.pop(task_id, None)
            self._ends[task_id] = add_business_hours(situation.now, job.hours)
            self._begun[task_id] = situation.now, job.hours
            self._joins.update((member.employee.name, task_id) for member in members if member.wait > 0)
            first = [member.employee.name for member in members if member.wait == 0]
            commands += [assign(task_id, first), dispatch(task_id)]
        commands += aside
        commands += self._seek(valuation) if idle else [WAIT]
        return "\n".join((*commands, self.look()))

    def appraise(self, situation: Situation) -> Valuation:
        """Return what offers are worth, given the clients that are known to be honest."""
        return Valuation(situation, frozenset(name for name, known in self._honest.items() if known))

    def _doubts(self, situation: Situation) -> tuple[str, ...]:
        """Return the active tasks that need a close look: not begun by this policy, or late."""
        seen = {task.task_id for task in situation.inspections}
        active = dict.fromkeys(task_id for member in situation.staff for task_id in member.active_tasks)
        self._ends = {task_id: end for task_id, end in self._ends.items() if task_id in active}
        late = {task_id for task_id, end in self._ends.items() if business_hours(end, situation.now) > _SLACK_HOURS}
        return tuple(
            task_id for task_id in active if (task_id in late or task_id not in self._ends) and task_id not in seen
        )

    def _hopeless(self, situation: Situation) -> Iterator[str]:
        """Yield what gives up the active tasks that cannot end in time, and expect the others when they can."""
        members = {member.name: member for member in situation.staff}
        for task in situation.inspections:
            if task.status != "active" or task.deadline is None:
                continue
            team = [members[name] for name in task.team if name in members]
            busiest = max((len(member.active_tasks) for member in team), default=1)
            hours = hours_of_work(task.remaining, team, tasks_each=max(1, busiest))
            available = min(business_hours(situation.now, task.deadline), situation.hours_left)
            if hours * WORKDAY_HOURS / _FASTEST > available:
                yield cancel(task.task_id, "hopeless")
            else:
                self._ends[task.task_id] = add_business_hours(situation.now, hours)

    def _available(self, situation: Situation) -> Iterator[Person]:
        """Yield those who are free, and those who soon will be, unless a task counts on them."""
        for member in situation.staff:
            if member.name in self._joins:
                continue
            if not member.active_tasks:
                yield Person(member)
            elif len(member.active_tasks) == 1 and member.active_tasks[0] in self._ends:
                wait = business_hours(situation.now, self._ends[member.active_tasks[0]])
                if 0 < wait <= _SOON_HOURS and self._pace <= _FAST:
                    yield Person(member, wait)

    def _room(self) -> int | None:
        """Return how many tasks may be accepted now, None for any number."""
        return None if self._limit is None else max(0, self._limit - self._open_before)

    def _team_sizes(self, situation: Situation) -> range:
        """Return how many may work together.

        Where only so many tasks can be open, so many that nobody is left over; where progress counts also while the
        office is closed, which many tasks side by side gain most from, two at most. Once that has left everybody idle,
        any number: perhaps more than the best four of a team count, and a task that will be late is given up.
        """
        if self._idle_looks >= _IDLE_LOOKS:
            return range(1, max(TEAM_SIZE, len(situation.staff)) + 1)
        smallest = 1 if self._limit is None else min(TEAM_SIZE, -(-len(situation.staff) // self._limit))
        return range(smallest, max(smallest, 2 if self._pace > _FAST else TEAM_SIZE) + 1)

    def _probe_clients(self, valuation: Valuation) -> list[str]:
        """Return what accepts an offer of each client that is not known yet: the best if that were honest."""
        offers: dict[str, list[Offer]] = {}
        for offer in valuation.situation.offers:
            if offer.client not in self._honest:
                offers.setdefault(offer.client, []).append(offer)
        everybody = [Person(member) for member in valuation.situation.staff]
        is_idle = self._idle_looks >= _IDLE_LOOKS
        sizes = self._team_sizes(valuation.situation) if is_idle else range(1, TEAM_SIZE + 1)
        jobs: list[Job] = []
        for name in sorted(offers):
            candidates = [self._candidate(offer, valuation) for offer in offers[name]]
            if job := best_job(candidates, everybody, valuation, sizes):
                jobs.append(job)
        return [self._probe(job.candidate) for job in jobs[: self._room()]]

    def _probe(self, candidate: Candidate) -> str:
        """Return the command that accepts an offer to see what it turns out to be."""
        task_id = candidate.offer.task_id
        self._probes[task_id], self._expected[task_id] = candidate.offer, candidate.work
        return accept(task_id)

    def _seek(self, valuation: Valuation) -> list[str]:
        """Return what may find work where nobody has any: the best offer whose deadline might hold is accepted.

        The rule of deadlines is unknown. Accepting shows the deadline and costs nothing, and another offer follows.
        """
        situation = valuation.situation
        if situation.hours_left <= _TO_LOSE or self._room() == 0:
            return []
        if self._idle_looks < _IDLE_LOOKS:
            self._idle_looks += 1
            return []
        candidates = [
            self._candidate(offer, valuation, summed=True)
            for offer in situation.offers
            if self._honest.get(offer.client, True)
        ]
        people = [Person(member) for member in situation.staff]
        job = best_job(candidates, people, valuation, self._team_sizes(situation))
        return [self._probe(job.candidate)] if job is not None and job.score > 0 else []

    def _candidates(self, valuation: Valuation) -> Iterator[Candidate]:
        """Yield what could be begun: what was accepted and is still to be had, and the offers of honest clients."""
        seen = {task.task_id: task for task in valuation.situation.inspections}
        for task_id, offer in self._in_hand.items():
            if (task := seen.get(task_id)) and task.status == "planned" and task.deadline is not None:
                hours = self._allowed(business_hours(valuation.situation.now, task.deadline), valuation)
                yield Candidate(offer, task.remaining, hours, in_hand=True, value=valuation.of_offer(offer))
        for offer in valuation.offers:
            yield self._candidate(offer, valuation)

    def _candidate(self, offer: Offer, valuation: Valuation, *, summed: bool = False) -> Candidate:
        """Return an offer as it could be begun now; the sum of its work may be hoped to make its deadline."""
        work = valuation.works[offer.task_id]
        days = self._deadline_days((("", units(work)),) if summed else work)
        hours = self._allowed(WORKDAY_HOURS * days, valuation)
        return Candidate(offer, work, hours, in_hand=False, value=valuation.of_offer(offer))

    def _allowed(self, hours: float, valuation: Valuation) -> float:
        """Return how long a task may take by forecast that is due in some hours."""
        return min(hours, valuation.situation.hours_left) * (1.0 + _TRUST_IN_PACE * (self._pace - 1.0))

    def _deadline_days(self, work: Work) -> float:
        """Return the working days that a client gives for work."""
        return max(self._least_days, int(max(each for _, each in work) / self._units_a_day))
