"""The search of the planner: many rollouts, each a variation of the best so far or a new start. Privileged.

Three moves, chosen at random: a new start with weights drawn anew; a rollout with a change in the weights of one of the
best; and a repair, which keeps the beginning of a good course and decides the rest anew, with changed weights or more
noise. Nothing but the number of rollouts depends on time, so a fixed number of them gives the same plan on any machine.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Final

import attrs

from ycbench_agents.planner.foresight import Foresight, uncovered_by_planner
from ycbench_agents.planner.plan import Plan, PlanError, replay_plan
from ycbench_agents.planner.rollout import Course, Game, Weights, roll_out
from ycbench_env import Config, State, initial_state

MOST_PASSES: Final = 30_000
"""Offers that a plan passes by at most. More would bring more, but a plan is to be replayed in well under a minute."""

_FIRST_DRAWS: Final = 12
_KEPT: Final = 5
_NEW: Final = 0.03
_CHANGED: Final = 0.2
_DOMAINS: Final = 4
_ROAMS: Final = 0.3
_CLEARS: Final = 0.5


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
        most_passes: Offers that the plan may pass by at most (see ``MOST_PASSES``); 0 for the honest game, in which all
            that is accepted is dispatched.
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
    if config.world.refill_at == "dispatch":
        most_passes = 0  # what is not dispatched is not replaced
    # Where all that is accepted is dispatched at once, both ways of replacing it are the same.
    world = attrs.evolve(config.world, refill_at="accept")
    start = initial_state(attrs.evolve(config, world=world), seed)
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
    turns = tuple(["\n".join(turn) for turn in search.best.course.turns])
    found = Plan(config.name, config.digest(), seed, turns, search.best.course.funds_cents, interrupted)
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


# ---- weights


def first_weights(start: State) -> tuple[Weights, ...]:
    """Return a few weights that do well in many worlds: everybody in the domain that suits best, all loyal clients."""
    loyal = tuple([0.0 if client.is_adversarial else 1.0 for client in start.clients])
    clients = loyal if any(loyal) else tuple([1.0 for _ in loyal])
    mixed = _spread_homes(start)
    base = Weights(homes=mixed, clients=clients)
    return (
        base,
        attrs.evolve(base, pass_price=1_000.0),
        attrs.evolve(base, roam=0.6, grown_team=2, prestige=3.0, trust=2.0, keep=1_100.0, keep_from=0.65, rest=25),
        attrs.evolve(base, roam=1.0, grown_team=2, keep=0.0),
        attrs.evolve(base, homes=(_best_domain(start),) * len(mixed)),
        attrs.evolve(base, grown_team=2, reach=300, pass_price=1_500.0),
    )


def _spread_homes(start: State) -> tuple[int, ...]:
    """Return homes for pairs: each domain in turn takes the two who are best in it among those that are left."""
    homes = [0] * len(start.employees)
    left = list(range(len(homes)))
    turn = 0
    while left:
        domain = turn // 2 % _DOMAINS
        best = max(left, key=lambda place: (start.employees[place].rates_e4[domain], -place))
        homes[best] = domain
        left.remove(best)
        turn += 1
    return tuple(homes)


def _best_domain(start: State) -> int:
    sums = [sum([employee.rates_e4[domain] for employee in start.employees]) for domain in range(_DOMAINS)]
    return sums.index(max(sums))


def drawn_weights(start: State, rng: Random) -> Weights:
    """Return weights drawn at random, wide around what has been seen to work."""
    clients = [0.0 if client.is_adversarial else rng.choice((0.0, 0.7, 1.0, 1.0)) for client in start.clients]
    loyal = [place for place, client in enumerate(start.clients) if not client.is_adversarial]
    if not any(clients):
        clients = [1.0 if place in loyal or not loyal else 0.0 for place in range(len(clients))]
    return Weights(
        homes=_drawn_homes(start, rng),
        clients=tuple(clients),
        roam=rng.choice((0.0, rng.uniform(0.3, 1.0))),
        pass_price=10 ** rng.uniform(2.5, 4.5),
        reach=rng.choice((30, 80, 150, 300)),
        growing_team=rng.choice((2, 3, 4, 4)),
        grown_team=rng.choice((1, 1, 1, 2)),
        grown=rng.uniform(0.6, 0.98),
        join_hours=rng.choice((0.0, rng.uniform(0.5, 15.0), rng.uniform(0.5, 15.0))),
        boost=rng.uniform(0.5, 5.0),
        trust=rng.uniform(0.0, 2.0),
        prestige=rng.choice((0.0, 10 ** rng.uniform(-0.5, 1.3))),
        cancel_price=10 ** rng.uniform(4.5, 7.0),
        keep=rng.choice((0.0, rng.uniform(600, 1600), rng.uniform(600, 1600))),
        keep_from=rng.uniform(0.0, 0.8),
        few=rng.randint(3, 25),
        rest=rng.randint(3, 40),
    )


def _drawn_homes(start: State, rng: Random) -> tuple[int, ...]:
    """Return a domain for each employee, out of one to four, the better ones for each likelier."""
    open_to = rng.sample(range(_DOMAINS), rng.randint(1, _DOMAINS))
    return tuple(
        max(open_to, key=lambda domain: (employee.rates_e4[domain] * rng.uniform(0.3, 1.0), domain))
        for employee in start.employees
    )


def mutated(weights: Weights, rng: Random) -> Weights:
    """Return weights of which one to three were changed."""
    for _ in range(rng.randint(1, 3)):
        weights = _mutated_once(weights, rng)
    return weights


def shaken(weights: Weights, rng: Random) -> Weights:
    """Return weights with another noise and nothing else changed, so that single decisions turn out differently."""
    return attrs.evolve(weights, noise=rng.choice((0.05, 0.1, 0.2, 0.4)), noisy_choices=rng.choice((2, 5, 15, 50)))


def _mutated_once(weights: Weights, rng: Random) -> Weights:
    change = rng.choice(
        (_other_home, _other_home, _other_client, _other_price, _other_price, _other_team, _other_value)
    )
    return change(weights, rng)


def _other_home(weights: Weights, rng: Random) -> Weights:
    if rng.random() < _ROAMS:
        return attrs.evolve(weights, roam=rng.choice((0.0, rng.uniform(0.3, 1.2))))
    return attrs.evolve(weights, homes=_with_one(weights.homes, rng.randrange(_DOMAINS), rng))


def _other_client(weights: Weights, rng: Random) -> Weights:
    return attrs.evolve(weights, clients=_scaled_client(weights.clients, rng))


def _other_price(weights: Weights, rng: Random) -> Weights:
    """Return weights that pass offers by more or less readily."""
    if rng.random() < _CLEARS:
        keep = weights.keep * rng.uniform(0.7, 1.4) or rng.uniform(600, 1600)
        price = weights.cancel_price * 2 ** rng.uniform(-2, 2)
        return attrs.evolve(
            weights,
            cancel_price=price,
            keep=keep,
            keep_from=rng.random(),
            few=rng.randint(3, 25),
            rest=rng.randint(3, 40),
        )
    reach = rng.choice((weights.reach, weights.reach, 30, 80, 150, 300, 600))
    return attrs.evolve(weights, pass_price=weights.pass_price * 2 ** rng.uniform(-1, 1), reach=reach)


def _other_team(weights: Weights, rng: Random) -> Weights:
    return attrs.evolve(
        weights,
        growing_team=rng.randint(1, 4),
        grown_team=rng.choice((1, 1, 2, 3, 4)),
        grown=rng.uniform(0.5, 1.0),
        join_hours=rng.choice((weights.join_hours, 0.0, rng.uniform(0.5, 15.0))),
    )


def _other_value(weights: Weights, rng: Random) -> Weights:
    """Return weights that value something else than the reward more or less."""
    return attrs.evolve(
        weights,
        boost=weights.boost * 2 ** rng.uniform(-1, 1),
        trust=rng.choice((weights.trust, rng.uniform(0.0, 3.0))),
        prestige=rng.choice((weights.prestige, 0.0, 10 ** rng.uniform(-0.5, 1.3))),
        noise=rng.choice((weights.noise, 0.0, 0.05, 0.1, 0.2)),
    )


def _with_one(homes: tuple[int, ...], domain: int, rng: Random) -> tuple[int, ...]:
    place = rng.randrange(len(homes)) if homes else 0
    return (*homes[:place], domain, *homes[place + 1 :]) if homes else homes


def _scaled_client(clients: tuple[float, ...], rng: Random) -> tuple[float, ...]:
    """Return the factors with one of them changed; it may fall to 0 and come back."""
    place = rng.randrange(len(clients))
    changed = clients[place] * rng.choice((0.0, rng.uniform(0.7, 1.4), rng.uniform(0.7, 1.4))) or rng.choice((0.0, 1.0))
    return (*clients[:place], changed, *clients[place + 1 :])
