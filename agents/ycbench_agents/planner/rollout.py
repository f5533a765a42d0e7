"""One rollout: a fast rule-based year on the true state, steered by weights.

It sees all: who is an adversary, what every slot will list, how much work trust saves, when tasks end. At every stop
free employees are put to work, team by team, on the offer that brings most for an hour of the team; the offers that
stand before it in its slot are passed by, that is accepted and never dispatched (or cancelled at once, where the number
of open tasks is limited). The state that is carried along lists nothing and holds open tasks only: what was passed by
or is done changes nothing any more, and short tuples copy fast.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

import attrs

import ycbench_env
from ycbench_agents.planner.foresight import (
    HOUR_US,
    RESUME,
    Card,
    Foresight,
    assign,
    cancel,
    dispatch,
    hours_between,
    meaning,
    midnight_factor,
)
from ycbench_env import State
from ycbench_env.types import Employee, Task

_OPEN: Final = ("planned", "active")
_MARGIN: Final = 1.02  # by which a larger team must do better
_LONG: Final = 10**9
_FIRST: Final = itemgetter(0)
_TINY: Final = 1e-6  # share of work left at full trust, where that may be none
_ROUNDING: Final = 1.01  # work is truncated to whole units
_CANCEL_REACH: Final = 2
_USUAL_BOOST: Final = 0.12
_SAFETY: Final = 0.98  # of a deadline: forecasts change as teams do
_E4: Final = 10_000
_LEAST_WORK: Final = 200
_MOST_WORK: Final = 25_000
_GATE_LEVEL: Final = 5  # up to which prestige opens more offers


@attrs.frozen
class Mark:
    """Where a rollout stands before it decides: all that its future depends on, weights aside.

    Args:
        state: The state, without its market and without closed tasks.
        places: How often each slot was accepted.
        passed: Offers passed by so far.
        turns: Turns so far.
        idle: Turns in a row in which the clock did not move.
    """

    state: State
    places: tuple[int, ...]
    passed: int
    turns: int
    idle: int


@attrs.frozen
class Course:
    """A whole rollout.

    Args:
        turns: Commands turn by turn; a turn without any brings a forced advance nearer.
        marks: Where it stood before each decision.
        funds_cents: Funds at the end.
        passed: Offers passed by.
        solvent: Whether it ended without bankruptcy.
    """

    turns: tuple[tuple[str, ...], ...]
    marks: tuple[Mark, ...]
    funds_cents: int
    passed: int
    solvent: bool

    @property
    def rank(self) -> tuple[bool, int, int]:
        """What courses are compared by: solvent ones first, then funds, then fewer passes."""
        return self.solvent, self.funds_cents, -self.passed


@attrs.frozen
class Weights:
    """How a rollout values what it could do next.

    Args:
        homes: Domain in which each employee works.
        clients: Factor of what each client's tasks are worth; 0 leaves it alone.
        roam: Factor of what offers in other domains than a team's own are worth; 0 leaves them alone.
        pass_price: What passing an offer by costs, in cents, so that passes go where they bring most.
        reach: How many offers of a slot are looked through.
        growing_team: Size of a team that still learns.
        grown_team: Size of a team that has learnt.
        grown: Share of the highest rate from which on a team has learnt.
        join_hours: Hours before the end of a task at which others join it to learn from its success; 0 never.
        boost: Worth of a usual skill boost to a team that knows nothing yet, in shares of the reward.
        trust: Worth of a success with a client that has no trust yet, in shares of the reward.
        prestige: Worth of one level of prestige, in shares of the reward, up to the level that all offers require.
        cancel_price: What it costs to cancel with a client whose trust that lowers, in cents; where cancelling is the
            only way to pass an offer by.
        keep: Reward for a unit of work, in cents, below which an offer is cleared away where that can be done; 0 never.
        keep_from: Share of the episode after which such clearing begins.
        few: Offers of a client that must be poor before its trust is spent on clearing them away.
        rest: Decisions for which a client is left in peace after its offers were cleared away.
        noise: Spread of a random factor on every value.
        noisy_choices: Number of choices for which there is such noise; later ones have none.
    """

    homes: tuple[int, ...]
    clients: tuple[float, ...]
    roam: float = 0.0
    pass_price: float = 3_000.0
    reach: int = 150
    growing_team: int = 4
    grown_team: int = 1
    grown: float = 0.9
    join_hours: float = 4.0
    boost: float = 2.0
    trust: float = 0.5
    prestige: float = 1.0
    cancel_price: float = 10_000_000.0
    keep: float = 1_000.0
    keep_from: float = 0.4
    few: int = 10
    rest: int = 12
    noise: float = 0.0
    noisy_choices: int = 10**6


@attrs.frozen
class Game:
    """What all rollouts of an episode share.

    Args:
        start: The first state.
        foresight: Its market, now and later.
        most_passes: How many offers a rollout may pass by.
    """

    start: State
    foresight: Foresight
    most_passes: int


def roll_out(game: Game, weights: Weights, seed: int, base: Course | None = None, cut: int = 0) -> Course:
    """Return the course that weights lead to, from the start, or from mark number ``cut`` of ``base`` on."""
    if base is None:
        start = attrs.evolve(game.start, market=(), slot_accepts=())
        mark = Mark(start, (0,) * len(game.start.market), passed=0, turns=0, idle=0)
    else:
        mark = base.marks[cut]
    rollout = Rollout(game, weights, mark, seed)
    rollout.run()
    turns, marks = tuple(rollout.turns), tuple(rollout.marks)
    if base is not None:
        turns, marks = base.turns[: mark.turns] + turns, base.marks[:cut] + marks
    state = rollout.state
    return Course(turns, marks, state.funds_cents, rollout.passed, state.terminal_reason != "bankruptcy")


class Rollout:
    """A rollout as it goes."""

    def __init__(self, game: Game, weights: Weights, mark: Mark, seed: int) -> None:
        self.game = game
        self.weights = weights
        self.state = mark.state
        self.places = list(mark.places)
        self.passed = mark.passed
        self.turns: list[tuple[str, ...]] = []
        self.marks: list[Mark] = []
        self._first_turn = mark.turns
        self._idle = mark.idle
        self._turn_began_us: int = mark.state.now_us
        self._commands: list[str] = []
        world = game.start.config.world
        self._team_size = world.team_size
        self._cap_e4 = world.skill_rate_max_e4
        self._open_limit: int | None = world.max_open_tasks
        self._cleared: dict[int, int] = {}
        self._chooser = Chooser(game.start, game.foresight, weights, seed)

    def run(self) -> None:
        """Play until the episode ends, or until time can no longer be made to pass."""
        most_turns = self.game.start.config.loop.max_turns
        while self.state.terminal_reason is None and not 0 < (most_turns or 0) <= self._turn_number:
            self.marks.append(Mark(self.state, tuple(self.places), self.passed, self._turn_number, self._idle))
            self._staff_up()
            if self.state.active_indices:
                self._act(RESUME)
            elif not self.game.start.config.loop.auto_advance_after_turns:
                return
            self._end_turn()

    @property
    def _turn_number(self) -> int:
        return self._first_turn + len(self.turns)

    def _act(self, command: str) -> bool:
        """Carry a command out and note it; return False and do neither when it is refused."""
        outcome = ycbench_env.transition(self.state, meaning(command))
        if outcome.refusal is None:
            self.state = outcome.state
            self._commands.append(command)
        return outcome.refusal is None

    def _end_turn(self) -> None:
        """Close the turn, with the forced advance that may end it (Y-9), and drop tasks that are done."""
        self.turns.append(tuple(self._commands))
        self._commands = []
        self._idle = 0 if self.state.now_us != self._turn_began_us else self._idle + 1
        if 0 < self.game.start.config.loop.auto_advance_after_turns <= self._idle:
            self.state = ycbench_env.advance(self.state).state
            self._idle = 0
        self._turn_began_us = self.state.now_us
        still_open = tuple([task for task in self.state.tasks if task.status in _OPEN])
        if len(still_open) != len(self.state.tasks):
            self.state = attrs.evolve(self.state, tasks=still_open, ledger=())

    def _staff_up(self) -> None:
        """Give everybody who is free something to do, domain by domain."""
        idle_homes: set[int] = set()
        while groups := {home: team for home, team in self._free().items() if home not in idle_homes}:
            home = min(groups)
            if not self._start_one(home, groups[home]):
                idle_homes.add(home)
        for home, group in sorted(self._free().items()):
            self._help_out(home, group)
        if self.weights.join_hours > 0:
            self._join_to_learn()

    def _join_to_learn(self) -> None:
        """Put people on tasks that are about to end: a success teaches up to four, whatever each has done for it."""
        soon_us = self.state.now_us + int(self.weights.join_hours * HOUR_US)
        places = [
            place for place in self.state.active_indices if (self.state.tasks[place].completion_us or soon_us) < soon_us
        ]
        for index in places:
            task = self.state.tasks[index]
            domain = task.offer.domains[0]
            room = self._team_size - len(task.team)
            if room > 0 and (self.weights.roam > 0 or domain in self.weights.homes):
                names = [self.state.employees[place].name for place in self._learners(task, domain)[:room]]
                if names:
                    self._act(assign(task.task_id, names))

    def _learners(self, task: Task, domain: int) -> list[int]:
        """Return who would learn in a domain and is on one task at most, those who gain most first."""
        load = [0] * len(self.state.employees)
        for index in self.state.active_indices:
            for place in self.state.tasks[index].places:
                load[place] += 1
        rates = [employee.rates_e4[domain] for employee in self.state.employees]
        limit = self.weights.grown * self._cap_e4
        able = [p for p, rate in enumerate(rates) if 0 < rate < limit and load[p] <= 1 and p not in task.places]
        return sorted(able, key=lambda place: (-rates[place] * (self._cap_e4 - rates[place]), place))

    def _free(self) -> dict[int, list[int]]:
        """Return who is on no active task, by the domain they work in, the best first."""
        state = self.state
        busy = {place for index in state.active_indices for place in state.tasks[index].places}
        groups: dict[int, list[int]] = {}
        for place, home in enumerate(self.weights.homes):
            if place not in busy:
                groups.setdefault(home, []).append(place)
        for home, group in groups.items():
            group.sort(key=lambda place: (-state.employees[place].rates_e4[home], place))
        return groups

    def _start_one(self, home: int, group: list[int]) -> bool:
        """Start a task with some of a group; return whether there was one."""
        calendar = self.state.calendar
        rates = [self.state.employees[place].rates_e4[home] for place in group]
        growing = sum(rates) < self.weights.grown * self._cap_e4 * len(group)
        least = self.weights.growing_team if growing else self.weights.grown_team
        while choice := self._best_team(
            home, group, range(min(least, len(group)), min(self._team_size, len(group)) + 1), growing=growing
        ):
            share = (self.state.now_us - calendar.start_us) / (calendar.horizon_us - calendar.start_us)
            clears = self._open_limit is not None and self.passes_left > 0 and share >= self.weights.keep_from
            if clears and choice[0].card.value < self.weights.keep and self._clear_away():
                continue
            if self._take(*choice):
                return True
        return False

    def _best_team(
        self, home: int, group: list[int], sizes: range, *, growing: bool
    ) -> tuple[Choice, list[int]] | None:
        """Return the offer that brings most a head, and who should take it."""
        best: tuple[Choice, list[int]] | None = None
        for size in sizes:
            choice = self._chooser.best(self, home, group[:size], growing=growing)
            if choice is not None and (best is None or choice.score > best[0].score * _MARGIN):
                best = choice, group[:size]
        return best

    @property
    def passes_left(self) -> int:
        """How many more offers may be passed by."""
        return self.game.most_passes - self.passed

    @property
    def may_accept(self) -> bool:
        """Whether one more task may be open."""
        return self._open_limit is None or len(self.state.tasks) < self._open_limit

    def _take(self, choice: Choice, team: list[int]) -> bool:
        """Pass by what stands before an offer, accept it and start it; return False when something was refused."""
        self._chooser.forget(choice.slot)
        if not self._pass_to(choice.slot, choice.card.place) or not self._accept(choice.slot):
            return False
        names = tuple([self.state.employees[place].name for place in team])
        self._act(assign(choice.card.task_id, names))
        return self._act(dispatch(choice.card.task_id))

    def _accept(self, slot: int) -> bool:
        """Accept what a slot lists now."""
        card = self.game.foresight.card(slot, self.places[slot])
        if card is None:
            return False
        bare = self.state
        # A market of that offer alone; what replaces it there is of no interest, the foresight knows the slot.
        self.state = attrs.evolve(bare, market=(card.offer,), slot_accepts=(0,))
        done = self._act(card.accept)
        self.state = attrs.evolve(self.state, market=(), slot_accepts=()) if done else bare
        self.places[slot] += done
        return done

    def _pass_to(self, slot: int, place: int) -> bool:
        """Pass by all offers of a slot before a place; return False when one could not be accepted."""
        if self._open_limit is not None:
            while self.places[slot] < place:
                if not self._accept(slot):
                    return False
                self._act(cancel(self.state.tasks[-1].task_id))
                self.state = attrs.evolve(self.state, tasks=self.state.tasks[:-1])
                self.passed += 1
            return True
        cards = [self.game.foresight.card(slot, before) for before in range(self.places[slot], place)]
        # The chooser has looked at what they require; nothing of them is kept, so no state is made of them.
        self._commands += [card.accept for card in cards if card is not None]
        self.passed += len(cards)
        self.places[slot] = place
        return True

    def _clear_away(self) -> bool:
        """Cancel the poor offers of a client, if need be down to no trust, where nothing more can be lost.

        Then each of its slots lists the best that it can be brought to. Trust is built again soon; what was started
        keeps its reduced work.
        """
        rested = [
            client
            for client in range(len(self.state.clients))
            if self._turn_number - self._cleared.get(client, -_LONG) >= self.weights.rest
        ]
        poor = {client: self._chooser.poor_slots(self, client) for client in rested}
        client = max(rested, key=lambda client: (len(poor[client]), -client), default=None)
        if client is None or len(poor[client]) < self.weights.few:
            return False
        self._cleared[client] = self._turn_number
        for slot in poor[client]:  # down to no trust first: then what follows costs nothing
            self._pass_to(slot, self.places[slot] + 1)
            self._chooser.forget(slot)
        for slot in self._chooser.poor_slots(self, client):
            if self.may_accept:
                self._pass_to(slot, self._chooser.place_to_clear_to(self, slot))
            self._chooser.forget(slot)
        return True

    def _help_out(self, home: int, group: list[int]) -> None:
        """Put people for whom there is no offer on running tasks in their domain, smallest teams first."""
        for place in group:
            tasks = [self.state.tasks[index] for index in self.state.active_indices]
            rates = self.state.employees[place].rates_e4
            fitting = [task for task in tasks if len(task.team) < self._team_size and rates[task.offer.domains[0]] > 0]
            if fitting:
                task = min(fitting, key=lambda task: (home not in task.offer.domains, len(task.team), task.task_id))
                self._act(assign(task.task_id, [self.state.employees[place].name]))


# ---- which offer a team takes


@attrs.frozen
class Choice:
    """An offer, the slot that it is in, and what it brings an hour of each member of the team, in cents."""

    slot: int
    card: Card
    score: float


@attrs.frozen
class _Record:
    """An offer that beats all before it in its slot, and what accepting those takes."""

    card: Card
    value: float
    trust_milli: int
    mask: int


@attrs.frozen
class _Regard:
    """How a client is looked at in one decision: its trust, the share of work left, the factor of its rewards."""

    trust_milli: int
    work_left: float
    inflation: float
    factor: float
    pass_price: float


@attrs.frozen
class _View:
    """What a decision about a team looks at."""

    regards: list[_Regard]
    rates: list[float]
    hours_left: float
    raises: int
    most_rate: float
    heads: int
    noise: float
    growing: bool


class Chooser:
    """Chooses offers by weights; keeps what it has found in slots that have not moved."""

    def __init__(self, start: State, foresight: Foresight, weights: Weights, seed: int) -> None:
        world = start.config.world
        self.slots = [slot for slot in range(len(start.market)) if weights.clients[slot % len(start.clients)] > 0]
        self._world = world
        self._clients = len(start.clients)
        self._foresight = foresight
        self._weights = weights
        self._noise = random.Random(seed)  # noqa: S311 -- a search, not a secret
        self._choices = 0
        self._factor = midnight_factor(start.calendar) if world.accrual == "until_midnight" else 1.0
        self._day_hours = world.workday_end_hour - world.workday_start_hour
        self._cancels = world.max_open_tasks is not None
        self._most_delta = max([offer.prestige_delta_milli for offer in start.market], default=0) / 1000
        # Where passing by means cancelling, few offers are worth the trust that it costs.
        self._reach = min(weights.reach, _CANCEL_REACH) if self._cancels else weights.reach
        self._records: dict[tuple[int, bool], list[list[_Record]]] = {}

    def forget(self, slot: int) -> None:
        """Forget what was found in a slot, since it moves on."""
        self._records.pop((slot, False), None)
        self._records.pop((slot, True), None)

    def best(self, at: Rollout, home: int, team: Sequence[int], *, growing: bool) -> Choice | None:
        """Return the offer that a team of a home domain should take now; None when none is worth it."""
        if not at.may_accept:
            return None
        self._choices += 1
        members = [at.state.employees[place] for place in team]
        view = self._view(at, members, growing=growing)
        best, best_score = self._best_in(at, view, home, (None, 0.0), 1.0)
        if self._weights.roam > 0:
            for domain in range(len(view.rates)):
                if domain != home:
                    best, best_score = self._best_in(at, view, domain, (best, best_score), self._weights.roam)
        return best

    def _view(self, at: Rollout, members: list[Employee], *, growing: bool) -> _View:
        calendar, world = at.state.calendar, self._world
        # What a success adds to the payrolls that are still to come.
        raises = sum([int(world.tier_midpoints_cents[member.tier] * world.salary_bump_pct) for member in members])
        months = len(calendar.payrolls_us) - at.state.payrolls_charged
        by_domain = [
            sorted([member.rates_e4[domain] for member in members], reverse=True)
            for domain in range(len(at.state.prestige_milli))
        ]
        return _View(
            regards=[self._regard(at.state, client) for client in range(self._clients)],
            rates=[sum(rates[: world.team_size]) / _E4 for rates in by_domain],
            hours_left=hours_between(calendar, at.state.now_us, calendar.horizon_us) * self._factor,
            raises=raises * months,
            most_rate=min(len(members), world.team_size) * world.skill_rate_max_e4 / _E4,
            heads=len(members),
            noise=self._weights.noise if self._choices <= self._weights.noisy_choices else 0.0,
            growing=growing,
        )

    def _best_in(
        self, at: Rollout, view: _View, domain: int, so_far: tuple[Choice | None, float], favour: float
    ) -> tuple[Choice | None, float]:
        """Return the best offer in a domain and its score, or what was best so far when that is better."""
        best, best_score = so_far
        rate = view.rates[domain]
        if rate <= 0:
            return so_far
        headroom = max(0.0, 1 - rate / view.most_rate) if view.growing else 0.0
        noisy = view.noise
        # The factor by which an offer's worth can exceed its reward at most, boost of the records aside.
        most_worth = (1 + self._weights.prestige * self._most_delta) * (1 if headroom <= 0 else max(1.0, headroom))
        most = rate * (1 + noisy) * most_worth * favour * _ROUNDING
        limits = [most * regard.factor / (max(_TINY, regard.work_left) * regard.inflation) for regard in view.regards]
        for limit, slot in self._by_limit(at, domain, limits, growing=view.growing):
            if limit <= best_score:
                break
            client = slot % self._clients
            regard = view.regards[client]
            for record in self._in_slot(at, slot, growing=view.growing)[domain]:
                if record.value * limits[client] <= best_score:
                    continue
                passes = record.card.place - at.places[slot]
                if not self._open(at, record, regard) or passes > at.passes_left:
                    break  # the later ones of a slot take more than the earlier ones
                hours, due = self._hours(record.card, regard, view.rates)
                if hours > view.hours_left or hours > due:
                    continue
                worth = self._worth(at.state, record.card, headroom) * regard.factor
                score = favour * (worth - view.raises - regard.pass_price * passes) / hours
                if noisy:
                    score *= 1 + noisy * self._noise.random()
                if score > best_score:
                    best, best_score = Choice(slot, record.card, score / view.heads), score
        return best, best_score

    def _by_limit(self, at: Rollout, home: int, limits: list[float], *, growing: bool) -> list[tuple[float, int]]:
        """Return the slots that offer something in a domain with what that can score at most, the highest first."""
        ordered = [
            (records[-1].value * limits[slot % self._clients], slot)
            for slot in self.slots
            if (records := self._in_slot(at, slot, growing=growing)[home])
        ]
        return sorted(ordered, key=_FIRST, reverse=True)

    def poor_slots(self, at: Rollout, client: int) -> list[int]:
        """Return the slots of a client whose offer could be accepted and should be cleared away.

        Only those that require no prestige: cancelling lowers it, and would soon shut the others.
        """
        poor: list[int] = []
        trust_milli = at.state.clients[client].trust_milli
        for slot in range(client, len(at.places), self._clients):
            card = self._foresight.card(slot, at.places[slot])
            if card is not None and card.value < self._weights.keep:
                offer = card.offer
                if offer.required_prestige <= 1 and offer.required_trust * 1000 <= trust_milli:
                    poor.append(slot)
        return poor

    def place_to_clear_to(self, at: Rollout, slot: int) -> int:
        """Return the place of the best offer that a slot can be brought to list now, cancelling what stands before it.

        The first one that cannot be accepted yet counts, too: it may be later.
        """
        trust_milli = at.state.clients[slot % self._clients].trust_milli
        levels = list(at.state.prestige_milli)
        place = best = at.places[slot]
        best_value = 0.0
        while (card := self._foresight.card(slot, place)) is not None:
            if card.value > best_value:
                best, best_value = place, card.value
            offer = card.offer
            allowed = offer.required_trust * 1000 <= trust_milli and all(
                levels[domain] >= offer.required_prestige * 1000 for domain in offer.domains
            )
            if not allowed or place - at.places[slot] >= self._weights.reach:
                break
            for domain in offer.domains:
                loss = int(offer.prestige_delta_milli * self._world.penalty_cancel_multiplier) + 1
                levels[domain] = max(self._world.prestige_min_milli, levels[domain] - loss)
            place += 1
        return best

    def _regard(self, state: State, place: int) -> _Regard:
        client, world, weights = state.clients[place], self._world, self._weights
        share = client.trust_milli / 1000 / world.trust_max
        price = weights.pass_price if not self._cancels else weights.cancel_price * (client.trust_milli > 0)
        bad = client.is_adversarial
        factor = 1 + max(3, world.loyalty_severity * abs(client.loyalty_milli / 1000))
        return _Regard(
            trust_milli=client.trust_milli,
            work_left=1.0 if bad else 1 - world.trust_work_reduction_max * share,
            inflation=factor**world.adversarial_inflation_passes if bad else 1.0,
            factor=weights.clients[place] * (1 + weights.trust * (1 - share) ** 1.5),
            pass_price=price,
        )

    def _in_slot(self, at: Rollout, slot: int, *, growing: bool) -> list[list[_Record]]:
        """Return the records of a slot from its present offer on, by domain."""
        if (found := self._records.get((slot, growing))) is not None:
            return found
        place = at.places[slot]
        boost = self._weights.boost / _USUAL_BOOST if growing else 0.0
        records: list[list[_Record]] = [[], [], [], []]
        best = [0.0] * len(records)
        trust = mask = 0
        for there in range(place, place + self._reach + 1):
            card = self._foresight.card(slot, there)
            if card is None:
                break
            trust = max(trust, card.offer.required_trust * 1000)
            mask |= card.mask
            value = card.value * (1 + boost * card.boost)
            if value > best[card.home]:
                best[card.home] = value
                records[card.home].append(_Record(card, value, trust, mask))
        self._records[slot, growing] = records
        return records

    def _open(self, at: Rollout, record: _Record, regard: _Regard) -> bool:
        """Return whether trust and prestige allow an offer and those before it, which require the same prestige."""
        if regard.trust_milli < record.trust_milli:
            return False
        needed = record.card.offer.required_prestige * 1000
        return needed <= 1000 or all(  # noqa: PLR2004 -- one level
            level >= needed for domain, level in enumerate(at.state.prestige_milli) if record.mask >> domain & 1
        )

    def _hours(self, card: Card, regard: _Regard, rates: list[float]) -> tuple[float, float]:
        """Return how many hours a team takes for an offer, and how many it may take."""
        offer = card.offer
        hours, listed = 0.0, 0
        for domain, quantity in zip(offer.domains, offer.quantities, strict=True):
            reduced = max(_LEAST_WORK, int(quantity * regard.work_left))
            listed = max(listed, reduced if regard.inflation == 1 else quantity)
            work = reduced if regard.inflation == 1 else min(_MOST_WORK, reduced * regard.inflation)
            hours = max(hours, work / rates[domain] if rates[domain] > 0 else float("inf"))
        days = max(self._world.deadline_min_biz_days, int(listed / self._world.deadline_qty_per_day))
        return max(hours, 1e-6), days * self._day_hours * _SAFETY

    def _worth(self, state: State, card: Card, headroom: float) -> float:
        """Return what an offer is worth in cents: its reward, what the team learns, and prestige."""
        weights, offer = self._weights, card.offer
        worth = float(offer.reward_cents)
        if headroom > 0:
            worth *= 1 + weights.boost * headroom * card.boost / _USUAL_BOOST
        if weights.prestige > 0 and state.prestige_milli[card.home] < _GATE_LEVEL * 1000:
            worth *= 1 + weights.prestige * offer.prestige_delta_milli / 1000
        return worth
