"""The search of the planner: many rollouts, each a variation of the best so far or a new start. Privileged.

Three moves, chosen at random: a new start with weights drawn anew; a rollout with a change in the weights of one of the
best; and a repair, which keeps the beginning of a good course and decides the rest anew, with changed weights or more
noise. Nothing but the number of rollouts depends on time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from random import Random
from typing import Final

import attrs

from ycbench_agents.planner.foresight import Foresight, check_covered
from ycbench_agents.planner.plan import Plan, replay_plan
from ycbench_agents.planner.rollout import Course, Game, Weights, roll_out
from ycbench_env import Config, State, initial_state

MOST_PASSES: Final = 30_000
"""Offers that a plan passes by at most. More would bring more, but a plan is to be replayed in well under a minute."""

_FIRST_DRAWS: Final = 12
_KEPT: Final = 5
_NEW: Final = 0.03
_CHANGED: Final = 0.2
_DOMAINS: Final = 4  # of the game
_ROAMS: Final = 0.3
_CLEARS: Final = 0.5


@attrs.frozen
class Progress:
    """How far a search is: rollouts and seconds so far, and the funds of the best course at the end."""

    rollouts: int
    seconds: float
    best_cents: int


def plan(  # noqa: PLR0913 -- the budget, what is searched, and who watches
    config: Config,
    seed: int,
    *,
    budget_seconds: float | None = None,
    budget_rollouts: int | None = None,
    search_seed: int = 0,
    most_passes: int = MOST_PASSES,
    on_progress: Callable[[Progress], None] | None = None,
) -> Plan:
    """Return the best plan found for one episode, knowing all that is hidden and all that is to come. Privileged.

    Ctrl-C ends the search early and keeps the best so far; the plan then says that it was interrupted.

    Args:
        config: The configuration.
        seed: Run seed of the episode.
        budget_seconds: Seconds after which no new rollout begins, None for no such limit.
        budget_rollouts: Number of rollouts, None for no such limit. Alone it makes the search deterministic.
        search_seed: Seed of the search's own draws.
        most_passes: Offers that the plan may pass by at most; 0 for the honest game: all accepted tasks are dispatched.
        on_progress: Called after each rollout.

    Raises:
        ValueError: There is no budget, or one that allows nothing.
        SeedError: The seed is no non-negative integer.
        PlannerError: The planner does not know a rule of this configuration, or its plan does not replay to its score.
    """
    budgets = [each for each in (budget_seconds, budget_rollouts) if each is not None]
    if not budgets or not all(each > 0 for each in budgets) or most_passes < 0:
        got = f"budget_seconds={budget_seconds}, budget_rollouts={budget_rollouts}, most_passes={most_passes}"
        msg = f"plan: got {got}; expected a positive budget, such as budget_seconds=600, and passes of at least 0"
        raise ValueError(msg)
    check_covered("planner", config)
    began = time.monotonic()
    if config.world.refill_at == "dispatch":
        most_passes = 0  # what is not dispatched is not replaced
    # Where all that is accepted is dispatched at once, both ways of replacing it are the same.
    world = attrs.evolve(config.world, refill_at="accept")
    start = initial_state(attrs.evolve(config, world=world), seed)
    search = _Search(Game(start, Foresight(start), most_passes), random.Random(search_seed))  # noqa: S311 -- no secret
    interrupted = False
    try:
        while True:
            search.roll_out()
            seconds = time.monotonic() - began
            if on_progress is not None:
                on_progress(Progress(search.count, seconds, search.kept[0][0].funds_cents))
            if search.count == budget_rollouts or (budget_seconds is not None and seconds >= budget_seconds):
                break
    except KeyboardInterrupt:
        interrupted = True
        if not search.kept:
            raise
    best = search.kept[0][0]
    turns = tuple(["\n".join(turn) for turn in best.turns])
    found = Plan(config.name, config.digest(), seed, turns, best.funds_cents, interrupted)
    replay_plan(config, found)
    return found


class _Search:
    """The best courses so far with the weights that ended them, and what to try next."""

    def __init__(self, game: Game, rng: Random) -> None:
        self.kept: list[tuple[Course, Weights]] = []
        self.count = 0
        self._game = game
        self._rng = rng
        self._first = first_weights(game.start)

    def roll_out(self) -> None:
        """Roll out once more, and keep the best few, of equal ones the earlier."""
        weights, base, cut = self._next()
        course = roll_out(self._game, weights, self._rng.getrandbits(32), base, cut)
        self.count += 1
        if all(course.rank != other.rank for other, _ in self.kept):
            self.kept = sorted([*self.kept, (course, weights)], key=lambda each: each[0].rank, reverse=True)[:_KEPT]

    def _next(self) -> tuple[Weights, Course | None, int]:
        """Return what to try next: weights, and where a course is cut off that they go on with."""
        rng, start = self._rng, self._game.start
        if self.count < len(self._first):
            return self._first[self.count], None, 0
        if self.count < len(self._first) + _FIRST_DRAWS:
            return drawn_weights(start, rng), None, 0
        move = rng.random()
        if move < _NEW:
            return drawn_weights(start, rng), None, 0
        if move < _NEW + _CHANGED:
            return mutated(rng.choice(self.kept)[1], rng), None, 0
        course, weights = self.kept[min(rng.randrange(_KEPT), rng.randrange(_KEPT), len(self.kept) - 1)]
        if rng.random() < _CHANGED:
            weights = mutated(weights, rng)
        else:  # another noise and nothing else, so that single decisions turn out differently
            noise, choices = rng.choice((0.05, 0.1, 0.2, 0.4)), rng.choice((2, 5, 15, 50))
            weights = attrs.evolve(weights, noise=noise, noisy_choices=choices)
        return weights, course, int(rng.random() * len(course.marks))


# ---- weights


def first_weights(start: State) -> tuple[Weights, ...]:
    """Return a few weights that do well in many worlds: everybody in the domain that suits best, all loyal clients."""
    loyal = tuple([0.0 if client.is_adversarial else 1.0 for client in start.clients])
    # Each domain in turn is home to the two who are best in it among those that are left.
    homes = [0] * len(start.employees)
    left = list(range(len(homes)))
    for turn in range(len(homes)):
        domain = turn // 2 % _DOMAINS
        best = max(left, key=lambda place: (start.employees[place].rates_e4[domain], -place))
        homes[best] = domain
        left.remove(best)
    sums = [sum([employee.rates_e4[domain] for employee in start.employees]) for domain in range(_DOMAINS)]
    base = Weights(homes=tuple(homes), clients=loyal if any(loyal) else (1.0,) * len(loyal))
    return (
        base,
        attrs.evolve(base, pass_price=1_000.0),
        attrs.evolve(base, roam=0.6, grown_team=2, prestige=3.0, trust=2.0, keep=1_100.0, keep_from=0.65, rest=25),
        attrs.evolve(base, roam=1.0, grown_team=2, keep=0.0),
        attrs.evolve(base, homes=(sums.index(max(sums)),) * len(homes)),
        attrs.evolve(base, grown_team=2, reach=300, pass_price=1_500.0),
    )


def drawn_weights(start: State, rng: Random) -> Weights:
    """Return weights drawn at random, wide around what has been seen to work."""
    clients = [0.0 if client.is_adversarial else rng.choice((0.0, 0.7, 1.0, 1.0)) for client in start.clients]
    if not any(clients):
        loyal = [not client.is_adversarial for client in start.clients]
        clients = [float(each or not any(loyal)) for each in loyal]
    open_to = rng.sample(range(_DOMAINS), rng.randint(1, _DOMAINS))
    homes = [  # the better ones for each are likelier
        max(open_to, key=lambda domain: (employee.rates_e4[domain] * rng.uniform(0.3, 1.0), domain))
        for employee in start.employees
    ]
    return Weights(
        homes=tuple(homes),
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


def mutated(weights: Weights, rng: Random) -> Weights:
    """Return weights of which one to three were changed."""
    for _ in range(rng.randint(1, 3)):
        change = rng.choice((_home, _home, _client, _pass, _pass, _team, _value))
        weights = change(weights, rng)
    return weights


def _home(weights: Weights, rng: Random) -> Weights:
    if rng.random() < _ROAMS:
        return attrs.evolve(weights, roam=rng.choice((0.0, rng.uniform(0.3, 1.2))))
    homes, domain = list(weights.homes), rng.randrange(_DOMAINS)
    if homes:
        homes[rng.randrange(len(homes))] = domain
    return attrs.evolve(weights, homes=tuple(homes))


def _client(weights: Weights, rng: Random) -> Weights:
    """Change the factor of one client; it may fall to 0 and come back."""
    clients = list(weights.clients)
    place = rng.randrange(len(clients))
    factor = rng.choice((0.0, rng.uniform(0.7, 1.4), rng.uniform(0.7, 1.4)))
    clients[place] = clients[place] * factor or rng.choice((0.0, 1.0))
    return attrs.evolve(weights, clients=tuple(clients))


def _pass(weights: Weights, rng: Random) -> Weights:
    """Change how readily offers are passed by, or cleared away."""
    if rng.random() < _CLEARS:
        return attrs.evolve(
            weights,
            keep=weights.keep * rng.uniform(0.7, 1.4) or rng.uniform(600, 1600),
            cancel_price=weights.cancel_price * 2 ** rng.uniform(-2, 2),
            keep_from=rng.random(),
            few=rng.randint(3, 25),
            rest=rng.randint(3, 40),
        )
    reach = rng.choice((weights.reach, weights.reach, 30, 80, 150, 300, 600))
    return attrs.evolve(weights, pass_price=weights.pass_price * 2 ** rng.uniform(-1, 1), reach=reach)


def _team(weights: Weights, rng: Random) -> Weights:
    return attrs.evolve(
        weights,
        growing_team=rng.randint(1, 4),
        grown_team=rng.choice((1, 1, 2, 3, 4)),
        grown=rng.uniform(0.5, 1.0),
        join_hours=rng.choice((weights.join_hours, 0.0, rng.uniform(0.5, 15.0))),
    )


def _value(weights: Weights, rng: Random) -> Weights:
    """Change what counts besides the reward."""
    return attrs.evolve(
        weights,
        boost=weights.boost * 2 ** rng.uniform(-1, 1),
        trust=rng.choice((weights.trust, rng.uniform(0.0, 3.0))),
        prestige=rng.choice((weights.prestige, 0.0, 10 ** rng.uniform(-0.5, 1.3))),
        noise=rng.choice((weights.noise, 0.0, 0.05, 0.1, 0.2)),
    )
