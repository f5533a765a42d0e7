"""One rollout: a fast rule-based year on the true state, steered by weights.

It sees all: who is an adversary, what every slot will list, how much work trust saves, when tasks end. At every stop
free employees are put to work, team by team, on the offer that brings most for an hour of the team; the offers that
stand before it in its slot are passed by, that is accepted and never dispatched (or cancelled at once, where the number
of open tasks is limited). The state that is carried along lists nothing and holds open tasks only: what was passed by
or is done changes nothing any more, and short tuples copy fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

import ycbench_env
from ycbench_agents.planner.choice import Choice, Chooser
from ycbench_agents.planner.course import Course, Mark, start_mark
from ycbench_agents.planner.hours import HOUR_US
from ycbench_agents.planner.words import RESUME, assign, cancel, dispatch, meaning

if TYPE_CHECKING:
    from ycbench_agents.planner.foresight import Foresight
    from ycbench_agents.planner.weights import Weights
    from ycbench_env import State
    from ycbench_env.types import Task

__all__ = ["Game", "roll_out"]

_OPEN: Final = ("planned", "active")
_MARGIN: Final = 1.02  # by which a larger team must do better
_LONG: Final = 10**9


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
    """Return the course that weights lead to, from the start or from a decision of another course on.

    Args:
        game: The episode.
        weights: What decides.
        seed: Seed of the noise on values.
        base: Course whose beginning is kept.
        cut: Which of its marks to go on from.
    """
    mark = start_mark(game.start) if base is None else base.marks[cut]
    rollout = _Rollout(game, weights, mark, seed)
    rollout.run()
    turns, marks = tuple(rollout.turns), tuple(rollout.marks)
    if base is not None:
        turns, marks = base.turns[: mark.turns] + turns, base.marks[:cut] + marks
    state = rollout.state
    return Course(turns, marks, state.funds_cents, rollout.passed, state.terminal_reason != "bankruptcy")


class _Rollout:
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
        rates = [self.state.employees[place].rates_e4[home] for place in group]
        growing = sum(rates) < self.weights.grown * self._cap_e4 * len(group)
        least = self.weights.growing_team if growing else self.weights.grown_team
        while choice := self._best_team(
            home, group, range(min(least, len(group)), self._most(group) + 1), growing=growing
        ):
            if self._clears() and choice[0].card.value < self.weights.keep and self._clear_away():
                continue
            if self._take(*choice):
                return True
        return False

    def _most(self, group: list[int]) -> int:
        return min(self._team_size, len(group))

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
            return self._cancel_to(slot, place)
        cards = [self.game.foresight.card(slot, before) for before in range(self.places[slot], place)]
        # The chooser has looked at what they require; nothing of them is kept, so no state is made of them.
        self._commands += [card.accept for card in cards if card is not None]
        self.passed += len(cards)
        self.places[slot] = place
        return True

    def _cancel_to(self, slot: int, place: int) -> bool:
        while self.places[slot] < place:
            if not self._accept(slot):
                return False
            self._act(cancel(self.state.tasks[-1].task_id))
            self.state = attrs.evolve(self.state, tasks=self.state.tasks[:-1])
            self.passed += 1
        return True

    def _clears(self) -> bool:
        calendar = self.state.calendar
        share = (self.state.now_us - calendar.start_us) / (calendar.horizon_us - calendar.start_us)
        return self._open_limit is not None and share >= self.weights.keep_from

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
