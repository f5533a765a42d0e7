"""One rollout: a fast rule-based year on the true state, steered by weights.

It sees all: who is an adversary, what every slot will list, how much work trust saves, when tasks end. At every stop
free employees are put to work, team by team, on the offer that brings most for an hour of the team. Offers that stand
before it in its slot are passed by: accepted and never dispatched, or cancelled at once where the number of open tasks
is limited. The state that is carried along lists nothing and holds open tasks only, since short tuples copy fast.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Final

import attrs

import ycbench_env
from ycbench_agents.planner.foresight import (
    DAY_US,
    E4,
    HOUR_US,
    LEAST_WORK,
    MOST_WORK,
    Card,
    Foresight,
    command_of,
    inflation,
)
from ycbench_agents.scripted.commands import WAIT, assign, cancel, dispatch
from ycbench_env import State
from ycbench_env.types import Task

_MARGIN: Final = 1.02  # by which a larger team must do better
_TINY: Final = 1e-6  # share of work left at full trust, where that may be none
_ROUNDING: Final = 1.01  # work is truncated to whole units
_CANCEL_REACH: Final = 2
_USUAL_BOOST: Final = 0.12
_SAFETY: Final = 0.98  # of a deadline: forecasts change as teams do
_GATE_MILLI: Final = 5_000  # up to which prestige opens more offers


@attrs.frozen
class Mark:
    """Where a rollout stands before it decides on a turn: all that its future depends on, weights aside."""

    state: State  # without its market and without closed tasks
    places: tuple[int, ...]  # how often each slot was accepted
    passed: int  # offers passed by so far
    idle: int  # turns in a row in which the clock did not move


@attrs.frozen
class Course:
    """A whole rollout."""

    turns: tuple[tuple[str, ...], ...]  # commands; a turn without any brings a forced advance nearer
    marks: tuple[Mark, ...]  # before each decision
    funds_cents: int
    passed: int
    solvent: bool  # whether it ended without bankruptcy

    @property
    def rank(self) -> tuple[bool, int, int]:
        """What courses are compared by: solvent ones first, then funds, then fewer passes."""
        return self.solvent, self.funds_cents, -self.passed


@attrs.frozen
class Weights:
    """How a rollout values what it could do next. Worths besides the reward are in shares of it."""

    homes: tuple[int, ...]  # domain in which each employee works
    clients: tuple[float, ...]  # factor of what each client's tasks are worth; 0 leaves it alone
    roam: float = 0.0  # factor of offers in other domains than a team's own; 0 leaves them alone
    pass_price: float = 3_000.0  # cents that passing an offer by costs, so that passes go where they bring most
    reach: int = 150  # offers of a slot that are looked through
    growing_team: int = 4  # size of a team that still learns
    grown_team: int = 1  # size of a team that has learnt
    grown: float = 0.9  # share of the highest rate from which on a team has learnt
    join_hours: float = 4.0  # before the end of a task, at which others join it to learn from its success; 0 never
    boost: float = 2.0  # worth of a usual skill boost to a team that knows nothing yet
    trust: float = 0.5  # worth of a success with a client that has no trust yet
    prestige: float = 1.0  # worth of one level of prestige, up to the level that all offers require
    cancel_price: float = 10_000_000.0  # cents that it costs to pass an offer by where that lowers a client's trust
    keep: float = 1_000.0  # cents for a unit of work, below which an offer is cleared away if it can be; 0 never
    keep_from: float = 0.4  # share of the episode after which such clearing begins
    few: int = 10  # offers of a client that must be poor before its trust is spent on clearing them away
    rest: int = 12  # decisions for which a client is left in peace after that
    noise: float = 0.0  # spread of a random factor on every value
    noisy_choices: int = 10**6  # number of choices for which there is such noise


@attrs.frozen
class Game:
    """What all rollouts of an episode share: its first state, its market now and later, and how often to pass by."""

    start: State
    foresight: Foresight
    most_passes: int


def roll_out(game: Game, weights: Weights, seed: int, base: Course | None = None, cut: int = 0) -> Course:
    """Return the course that weights lead to, from the start, or from mark number ``cut`` of ``base`` on."""
    bare = attrs.evolve(game.start, market=(), slot_accepts=())
    mark = base.marks[cut] if base else Mark(bare, (0,) * len(game.start.market), passed=0, idle=0)
    rollout = _Rollout(game, weights, mark, seed)
    if base:
        rollout.turns, rollout.marks = list(base.turns[:cut]), list(base.marks[:cut])
    rollout.run()
    state = rollout.state
    solvent = state.terminal_reason != "bankruptcy"
    return Course(tuple(rollout.turns), tuple(rollout.marks), state.funds_cents, rollout.passed, solvent)


@attrs.frozen
class _Record:
    """An offer that beats all before it in its slot, and what accepting those takes."""

    card: Card
    value: float
    trust_milli: int
    mask: int


@attrs.frozen
class _Choice:
    """An offer for a team, and what it brings an hour of each member, in cents."""

    slot: int
    card: Card
    team: Sequence[int]
    score: float


@attrs.frozen
class _Regard:
    """How a client is looked at in one decision."""

    trust_milli: int
    work_left: float  # share of it
    inflation: float
    factor: float  # of its rewards
    pass_price: float


class _Rollout:
    """A rollout as it goes."""

    def __init__(self, game: Game, weights: Weights, mark: Mark, seed: int) -> None:
        self.state = mark.state
        self.passed = mark.passed
        self.turns: list[tuple[str, ...]] = []
        self.marks: list[Mark] = []
        self._places = list(mark.places)
        self._idle = mark.idle
        self._game = game
        self._weights = weights
        self._world = game.start.config.world
        self._limit: int | None = self._world.max_open_tasks
        self._commands: list[str] = []
        self._cleared: dict[int, float] = {}  # after how many turns a client's offers were last cleared away
        self._noise = random.Random(seed)  # noqa: S311 -- a search, not a secret
        self._choices = 0
        clients = len(game.start.clients)
        self._slots = [slot for slot in range(len(mark.places)) if weights.clients[slot % clients] > 0]
        calendar = game.start.calendar
        # How much longer a workday is when it counts until midnight.
        late = (DAY_US - calendar.open_us) / (calendar.close_us - calendar.open_us)
        self._hours_factor = late if self._world.accrual == "until_midnight" else 1.0
        self._most_delta = max([offer.prestige_delta_milli for offer in game.start.market], default=0) / 1000
        # Where passing by means cancelling, few offers are worth the trust that it costs.
        self._reach = weights.reach if self._limit is None else min(weights.reach, _CANCEL_REACH)
        self._records: dict[tuple[int, int, bool], list[list[_Record]]] = {}  # by slot, its place and whether growing

    def run(self) -> None:
        """Play until the episode ends, or until time can no longer be made to pass."""
        loop = self._game.start.config.loop
        forced = loop.auto_advance_after_turns
        while self.state.terminal_reason is None and not 0 < (loop.max_turns or 0) <= len(self.turns):
            began_us = self.state.now_us
            self.marks.append(Mark(self.state, tuple(self._places), self.passed, self._idle))
            self._staff_up()
            if self.state.active_indices:
                self._act(WAIT)
            elif not forced:
                return
            self.turns.append(tuple(self._commands))
            self._commands = []
            self._idle = 0 if self.state.now_us != began_us else self._idle + 1
            if 0 < forced <= self._idle:  # the forced advance (Y-9)
                self.state = ycbench_env.advance(self.state).state
                self._idle = 0
            still_open = tuple([task for task in self.state.tasks if task.status in ("planned", "active")])
            if len(still_open) != len(self.state.tasks):
                self.state = attrs.evolve(self.state, tasks=still_open, ledger=())

    def _act(self, command: str) -> bool:
        """Carry a command out and note it; return False and do neither when it is refused."""
        outcome = ycbench_env.transition(self.state, command_of(command))
        if outcome.refusal is None:
            self.state = outcome.state
            self._commands.append(command)
        return outcome.refusal is None

    @property
    def _active(self) -> list[Task]:
        return [self.state.tasks[index] for index in self.state.active_indices]

    def _names(self, team: Sequence[int]) -> list[str]:
        return [self.state.employees[place].name for place in team]

    # ---- who works on what

    def _staff_up(self) -> None:
        """Give everybody who is free something to do, domain by domain."""
        idle_homes: set[int] = set()
        while groups := {home: team for home, team in self._free().items() if home not in idle_homes}:
            home = min(groups)
            if not self._start_one(home, groups[home]):
                idle_homes.add(home)
        for home, group in sorted(self._free().items()):
            for place in group:  # those for whom there is no offer help, in the smallest teams first
                rates, size = self.state.employees[place].rates_e4, self._world.team_size
                fitting = [task for task in self._active if len(task.team) < size and rates[task.offer.domains[0]] > 0]
                if fitting:
                    task = min(fitting, key=lambda task: (home not in task.offer.domains, len(task.team), task.task_id))
                    self._act(assign(task.task_id, self._names([place])))
        if self._weights.join_hours > 0:
            self._join_to_learn()

    def _free(self) -> dict[int, list[int]]:
        """Return who is on no active task, by the domain they work in, the best first."""
        busy = {place for task in self._active for place in task.places}
        groups: dict[int, list[int]] = {}
        for place, home in enumerate(self._weights.homes):
            if place not in busy:
                groups.setdefault(home, []).append(place)
        for home, group in groups.items():
            group.sort(key=lambda place: (-self.state.employees[place].rates_e4[home], place))
        return groups

    def _join_to_learn(self) -> None:
        """Put people on tasks that are about to end: a success teaches up to four, whatever each has done for it."""
        soon_us = self.state.now_us + int(self._weights.join_hours * HOUR_US)
        cap_e4 = self._world.skill_rate_max_e4
        for task in [task for task in self._active if (task.completion_us or soon_us) < soon_us]:
            domain, room = task.offer.domains[0], self._world.team_size - len(task.team)
            if room <= 0 or (self._weights.roam <= 0 and domain not in self._weights.homes):
                continue
            load = Counter(place for other in self._active for place in other.places)
            rates = [employee.rates_e4[domain] for employee in self.state.employees]
            limit = self._weights.grown * cap_e4
            able = [p for p, rate in enumerate(rates) if 0 < rate < limit and load[p] <= 1 and p not in task.places]
            able.sort(key=lambda place: (-rates[place] * (cap_e4 - rates[place]), place))  # those who gain most first
            if able:
                self._act(assign(task.task_id, self._names(able[:room])))

    def _start_one(self, home: int, group: list[int]) -> bool:
        """Start a task with some of a group; return whether there was one."""
        calendar, weights = self.state.calendar, self._weights
        rates = [self.state.employees[place].rates_e4[home] for place in group]
        growing = sum(rates) < weights.grown * self._world.skill_rate_max_e4 * len(group)
        least = min(weights.growing_team if growing else weights.grown_team, len(group))
        elapsed = (self.state.now_us - calendar.start_us) / (calendar.horizon_us - calendar.start_us)
        while True:
            best: _Choice | None = None
            for size in range(least, min(self._world.team_size, len(group)) + 1):
                choice = self._choose(home, group[:size], growing=growing)
                if choice is not None and (best is None or choice.score > best.score * _MARGIN):
                    best = choice
            if best is None:
                return False
            clears = self._limit is not None and self.passed < self._game.most_passes and elapsed >= weights.keep_from
            if clears and best.card.value < weights.keep and self._clear_away():
                continue
            if self._pass_to(best.slot, best.card.place) and self._accept(best.slot):
                self._act(assign(best.card.offer.task_id, self._names(best.team)))
                if self._act(dispatch(best.card.offer.task_id)):
                    return True

    # ---- slots

    def _may_accept(self) -> bool:
        """Return whether one more task may be open."""
        return self._limit is None or len(self.state.tasks) < self._limit

    def _accept(self, slot: int) -> bool:
        """Accept what a slot lists now."""
        card = self._game.foresight.card(slot, self._places[slot])
        if card is None:
            return False
        bare = self.state
        # A market of that offer alone; what replaces it there is of no interest, the foresight knows the slot.
        self.state = attrs.evolve(bare, market=(card.offer,), slot_accepts=(0,))
        done = self._act(card.accept)
        self.state = attrs.evolve(self.state, market=(), slot_accepts=()) if done else bare
        self._places[slot] += done
        return done

    def _pass_to(self, slot: int, place: int) -> bool:
        """Pass by all offers of a slot before a place; return False when one could not be accepted."""
        if self._limit is None:
            cards = [self._game.foresight.card(slot, before) for before in range(self._places[slot], place)]
            # The choice has looked at what they require; nothing of them is kept, so no state is made of them.
            self._commands += [card.accept for card in cards if card is not None]
            self.passed += len(cards)
            self._places[slot] = place
            return True
        while self._places[slot] < place:
            if not self._accept(slot):
                return False
            self._act(cancel(self.state.tasks[-1].task_id, "passed"))
            self.state = attrs.evolve(self.state, tasks=self.state.tasks[:-1])
            self.passed += 1
        return True

    def _clear_away(self) -> bool:
        """Cancel the poor offers of a client, so that its slots list better ones; return whether one had enough.

        That costs its trust, down to none, where nothing more can be lost. Trust is built again soon, and what was
        started keeps its reduced work.
        """
        now = len(self.turns)
        clients = range(len(self.state.clients))
        rested = [each for each in clients if now - self._cleared.get(each, -math.inf) >= self._weights.rest]
        poor = {client: self._poor_slots(client) for client in rested}
        client = max(rested, key=lambda client: (len(poor[client]), -client), default=None)
        if client is None or len(poor[client]) < self._weights.few:
            return False
        self._cleared[client] = now
        for slot in poor[client]:  # down to no trust first: then what follows costs nothing
            self._pass_to(slot, self._places[slot] + 1)
        for slot in self._poor_slots(client):
            if self._may_accept():
                self._pass_to(slot, self._place_to_clear_to(slot))
        return True

    def _poor_slots(self, client: int) -> list[int]:
        """Return the slots of a client whose offer could be accepted and should be cleared away.

        Only those that require no prestige: cancelling lowers it, and would soon shut the others.
        """
        trust_milli = self.state.clients[client].trust_milli
        poor: list[int] = []
        for slot in range(client, len(self._places), len(self.state.clients)):
            card = self._game.foresight.card(slot, self._places[slot])
            if card is None or card.value >= self._weights.keep:
                continue
            if card.offer.required_prestige <= 1 and card.offer.required_trust * 1000 <= trust_milli:
                poor.append(slot)
        return poor

    def _place_to_clear_to(self, slot: int) -> int:
        """Return the place of the best offer that a slot can be brought to list now, cancelling what stands before it.

        The first one that cannot be accepted yet counts, too: it may be later.
        """
        trust_milli = self.state.clients[slot % len(self.state.clients)].trust_milli
        levels = list(self.state.prestige_milli)
        first = best = self._places[slot]
        best_value = 0.0
        for place in range(first, first + self._weights.reach + 1):
            card = self._game.foresight.card(slot, place)
            if card is None:
                break
            if card.value > best_value:
                best, best_value = place, card.value
            offer = card.offer
            lowest_milli = min([levels[domain] for domain in offer.domains])
            if offer.required_trust * 1000 > trust_milli or offer.required_prestige * 1000 > lowest_milli:
                break
            for domain in offer.domains:
                loss = int(offer.prestige_delta_milli * self._world.penalty_cancel_multiplier) + 1
                levels[domain] = max(self._world.prestige_min_milli, levels[domain] - loss)
        return best

    # ---- which offer a team takes

    def _choose(self, home: int, team: Sequence[int], *, growing: bool) -> _Choice | None:  # noqa: C901 -- one search
        """Return the offer that a team of a home domain should take now; None when none is worth it.

        For an offer whose most work is in a domain, of a client::

            score <= value * limit
            value = reward / listed units * (1 + boost)
            limit = team's rate in the domain * most worth * factors / (share of work left * inflation)

        as a score is a worth by the hours that the work takes at least. Within a slot values only rise. So slots are
        tried in the order of the bounds of their last records until a bound is below the best score; a record whose
        own bound is below it is skipped; and the first record that cannot be reached ends its slot.
        """
        if not self._may_accept():
            return None
        self._choices += 1
        weights, world, calendar = self._weights, self._world, self.state.calendar
        noise = weights.noise if self._choices <= weights.noisy_choices else 0.0
        members = [self.state.employees[place] for place in team]
        domains = range(len(self.state.prestige_milli))
        by_domain = [sorted([member.rates_e4[domain] for member in members], reverse=True) for domain in domains]
        rates = [sum(each[: world.team_size]) / E4 for each in by_domain]
        most_rate = min(len(members), world.team_size) * world.skill_rate_max_e4 / E4
        regards = [self._regard(client) for client in range(len(self.state.clients))]
        hours_left = calendar.business_us(self.state.now_us, calendar.horizon_us) / HOUR_US * self._hours_factor
        # What a success adds to the payrolls that are still to come.
        raises = sum([int(world.tier_midpoints_cents[member.tier] * world.salary_bump_pct) for member in members])
        raises *= len(calendar.payrolls_us) - self.state.payrolls_charged
        best: _Choice | None = None
        best_score = 0.0
        for domain in [home, *[each for each in domains if each != home and weights.roam > 0]]:
            if rates[domain] <= 0:
                continue
            favour = 1.0 if domain == home else weights.roam
            headroom = max(0.0, 1 - rates[domain] / most_rate) if growing else 0.0
            # The factor by which an offer's worth can exceed its reward at most, boost of the records aside.
            most_worth = (1 + weights.prestige * self._most_delta) * (1 if headroom <= 0 else max(1.0, headroom))
            most = rates[domain] * (1 + noise) * most_worth * favour * _ROUNDING
            limits = [most * each.factor / (max(_TINY, each.work_left) * each.inflation) for each in regards]
            # The slots that offer something in a domain, those first that can score most.
            ordered = [
                (records[-1].value * limits[slot % len(regards)], slot, records)
                for slot in self._slots
                if (records := self._in_slot(slot, growing=growing)[domain])
            ]
            for limit, slot, records in sorted(ordered, key=itemgetter(0), reverse=True):
                if limit <= best_score:
                    break
                regard = regards[slot % len(regards)]
                for record in records:
                    if record.value * limits[slot % len(regards)] <= best_score:
                        continue
                    passes = record.card.place - self._places[slot]
                    if not self._opens(record, regard) or passes > self._game.most_passes - self.passed:
                        break  # the later ones of a slot take more than the earlier ones
                    hours, due = self._hours(record.card, regard, rates)
                    if hours > hours_left or hours > due:
                        continue
                    worth = self._worth(record.card, headroom) * regard.factor
                    score = favour * (worth - raises - regard.pass_price * passes) / hours
                    if noise:
                        score *= 1 + noise * self._noise.random()
                    if score > best_score:
                        best, best_score = _Choice(slot, record.card, team, score / len(team)), score
        return best

    def _regard(self, place: int) -> _Regard:
        client, world, weights = self.state.clients[place], self._world, self._weights
        share = client.trust_milli / 1000 / world.trust_max
        bad = client.is_adversarial
        return _Regard(
            trust_milli=client.trust_milli,
            work_left=1.0 if bad else 1 - world.trust_work_reduction_max * share,
            inflation=inflation(world, client) ** world.adversarial_inflation_passes if bad else 1.0,
            factor=weights.clients[place] * (1 + weights.trust * (1 - share) ** 1.5),
            pass_price=weights.pass_price if self._limit is None else weights.cancel_price * (client.trust_milli > 0),
        )

    def _in_slot(self, slot: int, *, growing: bool) -> list[list[_Record]]:
        """Return the records of a slot from its present offer on, by domain."""
        first = self._places[slot]
        if (found := self._records.get((slot, first, growing))) is not None:
            return found
        boost = self._weights.boost / _USUAL_BOOST if growing else 0.0
        records: list[list[_Record]] = [[] for _ in self.state.prestige_milli]
        best = [0.0] * len(records)
        trust = mask = 0
        for place in range(first, first + self._reach + 1):
            card = self._game.foresight.card(slot, place)
            if card is None:
                break
            trust = max(trust, card.offer.required_trust * 1000)
            mask |= card.mask
            value = card.value * (1 + boost * card.boost)
            if value > best[card.home]:
                best[card.home] = value
                records[card.home].append(_Record(card, value, trust, mask))
        self._records[slot, first, growing] = records
        return records

    def _opens(self, record: _Record, regard: _Regard) -> bool:
        """Return whether trust and prestige allow an offer and those before it, which require the same prestige."""
        if regard.trust_milli < record.trust_milli:
            return False
        needed = record.card.offer.required_prestige * 1000
        return needed <= 1000 or all(  # noqa: PLR2004 -- one level
            level >= needed for domain, level in enumerate(self.state.prestige_milli) if record.mask >> domain & 1
        )

    def _hours(self, card: Card, regard: _Regard, rates: list[float]) -> tuple[float, float]:
        """Return how many hours a team takes for an offer, and how many it may take."""
        offer, world = card.offer, self._world
        hours, listed = 0.0, 0
        for domain, quantity in zip(offer.domains, offer.quantities, strict=True):
            reduced = max(LEAST_WORK, int(quantity * regard.work_left))
            listed = max(listed, reduced if regard.inflation == 1 else quantity)
            work = reduced if regard.inflation == 1 else min(MOST_WORK, reduced * regard.inflation)
            hours = max(hours, work / rates[domain] if rates[domain] > 0 else float("inf"))
        days = max(world.deadline_min_biz_days, int(listed / world.deadline_qty_per_day))
        return max(hours, 1e-6), days * (world.workday_end_hour - world.workday_start_hour) * _SAFETY

    def _worth(self, card: Card, headroom: float) -> float:
        """Return what an offer is worth in cents: its reward, what the team learns, and prestige."""
        weights, offer = self._weights, card.offer
        worth = float(offer.reward_cents)
        if headroom > 0:
            worth *= 1 + weights.boost * headroom * card.boost / _USUAL_BOOST
        if weights.prestige > 0 and self.state.prestige_milli[card.home] < _GATE_MILLI:
            worth *= 1 + weights.prestige * offer.prestige_delta_milli / 1000
        return worth
