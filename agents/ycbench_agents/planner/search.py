"""The search of the planner: many rollouts, each a variation of the best so far or a new start. Privileged.

Three moves, chosen at random: a new start with weights drawn anew; a rollout with a change in the weights of one of the
best; and a repair, which keeps the beginning of a good course and decides the rest anew, with changed weights or more
noise. Nothing but the number of rollouts depends on time, so a fixed number of them gives the same plan on any machine.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.planner.coverage import uncovered_by_planner
from ycbench_agents.planner.foresight import Foresight
from ycbench_agents.planner.plan import Plan, PlanError, plan_of, replay_plan
from ycbench_agents.planner.rollout import Game, roll_out
from ycbench_agents.planner.weights import Weights, drawn_weights, first_weights, mutated, shaken
from ycbench_env import initial_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ycbench_agents.planner.course import Course
    from ycbench_env import Config

__all__ = ["MOST_PASSES", "Progress", "plan"]

MOST_PASSES: Final = 30_000
"""Offers that a plan passes by at most. More would bring more, but a plan is to be replayed in well under a minute."""

_FIRST_DRAWS: Final = 12
_KEPT: Final = 5
_NEW: Final = 0.03
_CHANGED: Final = 0.2


@attrs.frozen
class Progress:
    """How far a search is.

    Args:
        rollouts: Rollouts so far.
        seconds: Seconds so far.
        best_cents: Funds of the best course at the end.
    """

    rollouts: int
    seconds: float
    best_cents: int


@attrs.frozen
class _Found:
    weights: Weights
    course: Course


def plan(  # noqa: PLR0913 -- the budget, what is searched, and who watches
    config: Config,
    seed: int,
    *,
    budget_seconds: float | None = None,
    budget_rollouts: int | None = None,
    search_seed: int = 0,
    most_passes: int = MOST_PASSES,
    clock: Callable[[], float] = time.monotonic,
    on_progress: Callable[[Progress], None] | None = None,
) -> Plan:
    """Return the best plan found for one episode, knowing all that is hidden and all that is to come. Privileged.

    Ctrl-C ends the search early and keeps the best so far; the plan then says that it was interrupted.

    Args:
        config: The resolved configuration.
        seed: Run seed of the episode.
        budget_seconds: Seconds after which no new rollout begins, None for no such limit.
        budget_rollouts: Number of rollouts, None for no such limit. Alone it makes the search deterministic.
        search_seed: Seed of the search's own draws.
        most_passes: Offers that the plan may pass by at most (see ``MOST_PASSES``).
        clock: Gives the seconds that pass.
        on_progress: Is told after each rollout.

    Raises:
        ValueError: There is no budget, or one that allows nothing.
        SeedError: The seed is no non-negative integer.
        PlanError: The planner does not know a rule of this configuration; or the plan does not replay to its score,
            which would be a fault of the planner.
    """
    _check_budgets(budget_seconds, budget_rollouts, most_passes)
    if reason := uncovered_by_planner(config):
        raise PlanError(reason)
    began = clock()
    start = initial_state(config, seed)
    search = _Search(Game(start, Foresight(start), most_passes), random.Random(search_seed))  # noqa: S311 -- no secret
    interrupted = False
    try:
        for count in search.rollouts():
            seconds = clock() - began
            if on_progress is not None:
                on_progress(Progress(count, seconds, search.best.course.funds_cents))
            if count == budget_rollouts or (budget_seconds is not None and seconds >= budget_seconds):
                break
    except KeyboardInterrupt:
        interrupted = True
        if not search.kept:
            raise
    found = plan_of(config, seed, search.best.course, interrupted=interrupted)
    try:
        replay_plan(config, found)
    except KeyboardInterrupt:  # nothing is lost by one that comes during the check; another one ends that, too
        replay_plan(config, found)
        return attrs.evolve(found, interrupted=True)
    return found


def _check_budgets(seconds: float | None, rollouts: int | None, passes: int) -> None:
    if seconds is None and rollouts is None:
        msg = "plan: got neither budget_seconds nor budget_rollouts, expected at least one, such as budget_seconds=600"
        raise ValueError(msg)
    if (seconds is not None and not seconds > 0) or (rollouts is not None and rollouts < 1) or passes < 0:
        msg = (
            f"plan: got budget_seconds={seconds}, budget_rollouts={rollouts}, most_passes={passes}; "
            "expected positive budgets and passes of at least 0"
        )
        raise ValueError(msg)


class _Search:
    """The best courses so far, and what to try next."""

    def __init__(self, game: Game, rng: random.Random) -> None:
        self.kept: list[_Found] = []
        self._game = game
        self._rng = rng

    @property
    def best(self) -> _Found:
        """The best course so far and the weights that ended it."""
        return self.kept[0]

    def rollouts(self) -> Iterator[int]:
        """Roll out for ever; give the number of rollouts after each."""
        count = 0
        first = first_weights(self._game.start)
        while True:
            if count < len(first):
                self._keep(self._rolled(first[count]))
            elif count < len(first) + _FIRST_DRAWS:
                self._keep(self._rolled(drawn_weights(self._game.start, self._rng)))
            else:
                self._keep(self._next())
            count += 1
            yield count

    def _rolled(self, weights: Weights, base: Course | None = None, cut: int = 0) -> _Found:
        return _Found(weights, roll_out(self._game, weights, self._rng.getrandbits(32), base, cut))

    def _next(self) -> _Found:
        rng = self._rng
        move = rng.random()
        if move < _NEW:
            return self._rolled(drawn_weights(self._game.start, rng))
        if move < _NEW + _CHANGED:
            return self._rolled(mutated(rng.choice(self.kept).weights, rng))
        best = self.kept[min(rng.randrange(_KEPT), rng.randrange(_KEPT), len(self.kept) - 1)]
        weights = mutated(best.weights, rng) if rng.random() < _CHANGED else shaken(best.weights, rng)
        return self._rolled(weights, best.course, int(rng.random() * len(best.course.marks)))

    def _keep(self, found: _Found) -> None:
        """Keep the best few, of equal ones the earlier."""
        if all(found.course.rank != other.course.rank for other in self.kept):
            self.kept = sorted([*self.kept, found], key=lambda each: each.course.rank, reverse=True)[:_KEPT]
