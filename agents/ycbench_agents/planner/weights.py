"""What a rollout of the planner weighs by: one frozen value, drawn and changed at random by the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from random import Random

    from ycbench_env import State

__all__ = ["Weights", "drawn_weights", "first_weights", "mutated", "shaken"]

_DOMAINS: Final = 4
_ROAMS: Final = 0.3
_CLEARS: Final = 0.5


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
