"""The initial state: staff, clients and market, drawn from named streams.

Source: Y-2, K-1. Two seeds: the run seed makes the market, the world seed (1, or the run seed) staff and clients.
"""

from __future__ import annotations

import random
from operator import index
from typing import Final, SupportsIndex, assert_never, cast

import attrs

from ycbench_env.config import Beta, Config, Constant, Distribution, Normal, Triangular, Uniform, WorldConfig
from ycbench_env.errors import SeedError
from ycbench_env.rng import stream
from ycbench_env.rules.economy import client_reward, gate_chance, gated_reward, required_trust, scaled_by_prestige
from ycbench_env.rules.number import round_double
from ycbench_env.rules.skill import FLOOR_RATE, budget_rates
from ycbench_env.rules.standing import client_tier_index
from ycbench_env.text import shown
from ycbench_env.types.state import TASKS_A_SLOT, Calendar, Client, Employee, MarketTask, State
from ycbench_env.vocabulary import CLIENT_NAMES, DOMAINS, TIER_CYCLE

_CLIENT_TIERS: Final = ("Standard", "Premium", "Enterprise")
_ADVERSARIAL_MULTIPLIER: Final = 1.875
_ONE_SPECIALTY_CHANCE: Final = 0.6
_SHARE_SHAPE: Final = 0.3  # of the gamma draws in proportion to which skill is shared out (K-1.2)
_GATE_BOUNDS: Final = (300_000.0, 4_000_000.0)  # where the reward distribution has no bounds (Y-2.4 step 6)
_SEED_BOUND: Final = 2**4096  # Python would not write much larger numbers as text, which names the streams
_ALL_DOMAINS: Final = tuple(range(len(DOMAINS)))


def checked_seed(seed: object) -> int:
    """Return a run seed as int.

    Args:
        seed: A non-negative integer below 2**4096, Python's or numpy's. Vector environments keep it in an array, where
            it must be below 2**63.

    Raises:
        SeedError: It is something else (a bool is no integer here).
    """
    try:
        number = -1 if type(seed).__name__ in {"bool", "bool_"} else index(cast("SupportsIndex", seed))
    except Exception:  # noqa: BLE001 -- whatever an object makes of being a number, it is no seed
        number = -1
    if not 0 <= number < _SEED_BOUND:
        msg = f"seed: got {shown(seed)} ({type(seed).__name__}), expected a non-negative integer such as 1"
        raise SeedError(msg)
    return number


def draw(spec: Distribution, rng: random.Random) -> float:
    """Return one draw of a distribution; ``constant`` consumes none. Source: Y-1.2."""
    match spec:
        case Triangular():
            return min(max(rng.triangular(spec.low, spec.high, spec.mode), spec.low), spec.high)
        case Beta():
            return round(min(max(spec.scale * rng.betavariate(spec.alpha, spec.beta), spec.low), spec.high), 4)
        case Normal():
            return round(min(max(rng.gauss(spec.mean, spec.stdev), spec.low), spec.high), 4)
        case Uniform():
            return rng.uniform(spec.low, spec.high)
        case Constant():
            return spec.value
        case _:
            assert_never(spec)


def initial_state(config: Config, seed: int) -> State:
    """Return the state at the start of an episode.

    Args:
        config: The resolved configuration.
        seed: Run seed, a non-negative integer.

    Raises:
        SeedError: The seed is no non-negative integer.

    Source: Y-2, Y-3.1.
    """
    run_seed, world = checked_seed(seed), config.world
    world_seed = run_seed if world.world_seed == "run" else world.world_seed
    clients = _draw_clients(world, world_seed)
    tiers = [TIER_CYCLE[i % len(TIER_CYCLE)] for i in range(world.num_employees)]
    stream(world_seed, "tier_assignment").shuffle(tiers)
    calendar = Calendar.from_config(config)
    state = State(
        config=config,
        run_seed=run_seed,
        calendar=calendar,
        now_us=calendar.start_us,
        funds_cents=world.initial_funds_cents,
        prestige_milli=(world.initial_prestige_milli,) * len(DOMAINS),
        employees=tuple(_draw_employee(world, world_seed, number, tier) for number, tier in enumerate(tiers, 1)),
        clients=clients,
        market=tuple(
            _initial_task(world, run_seed, number, clients[(number - 1) % len(clients)] if clients else None)
            for number in range(1, world.num_market_tasks + 1)
        ),
        slot_accepts=(0,) * world.num_market_tasks,
    )
    _ = state.gates  # sorts the market now, rather than in the middle of an episode
    return state


def _draw_employee(world: WorldConfig, seed: int, number: int, tier: str) -> Employee:
    """Return an employee: a rate for each domain, or (K-1.2) an average shared out. Source: Y-2.2, K-1.2."""
    rng = stream(seed, f"employee_{number}")
    ranges = {"junior": world.salary_junior, "mid": world.salary_mid, "senior": world.salary_senior}[tier]
    if world.employee_skill_sampling == "uniform":
        rates = [rng.uniform(ranges.rate_min, ranges.rate_max) for _ in DOMAINS]
    elif (average := rng.uniform(ranges.rate_min, ranges.rate_max)) <= FLOOR_RATE:
        rates = [FLOOR_RATE] * len(DOMAINS)
    else:
        rates = budget_rates(average, [rng.gammavariate(_SHARE_SHAPE, 1.0) for _ in DOMAINS])
    salary = round(rng.triangular(ranges.min_cents, ranges.max_cents, ranges.max_cents))
    stored = tuple([round_double(rate, 10_000) for rate in rates])
    return Employee(number, tier, min(max(salary, ranges.min_cents), ranges.max_cents), stored)


def _draw_clients(world: WorldConfig, seed: int) -> tuple[Client, ...]:
    """Return the clients in the order of the world. Source: Y-2.3, K-1.1."""
    if world.num_clients == 0:
        return ()
    rng = stream(seed, "clients")
    fraction = world.loyalty_rat_fraction
    adversaries = max(1, round(world.num_clients * fraction))
    clients: list[Client] = []
    for place, name in enumerate(rng.sample(CLIENT_NAMES, world.num_clients)):
        multiplier = round(rng.triangular(0.7, 2.5, 1.0), 2)
        tier = _CLIENT_TIERS[client_tier_index(multiplier)]
        specialties = tuple(rng.sample(_ALL_DOMAINS, 1 if rng.random() < _ONE_SPECIALTY_CHANCE else 2))
        if place < adversaries:
            loyalty = round(rng.uniform(-1, -0.3), 3)
            multiplier = max(multiplier, _ADVERSARIAL_MULTIPLIER)
        else:
            loyalty = round(rng.triangular(-0.3, 1.0, 1 - 2.6 * fraction), 3)
        clients.append(Client(name, tier, specialties, 0, round_double(loyalty, 1000), round_double(multiplier, 1000)))
    rng.shuffle(clients)
    return tuple(clients)


def _initial_task(world: WorldConfig, seed: int, number: int, client: Client | None) -> MarketTask:
    """Return a task of the initial market; the first ones stand on the ladder of prestige. Source: Y-2.4, K-1.3."""
    ladder = world.market_prestige_ladder
    prestige = ladder[number - 1] if number <= len(ladder) else None
    multiplier = 1.0 if client is None else client.reward_multiplier_milli / 1000
    return _draw_task(world, stream(seed, f"task_{number}"), (number, 1), client, prestige, multiplier)


def replacement(state: State, slot: int) -> MarketTask:
    """Return the task that takes the place of a slot's accepted task. Source: Y-2.5, K-1.4."""
    accepted = state.market[slot]
    client = state.client_of(accepted)
    world, accepts = state.config.world, state.slot_accepts  # numbers: Y-2.5, X-3
    number = sum(accepts) if world.replacement_numbering == "episode" else slot * TASKS_A_SLOT + accepts[slot]
    rng = stream(state.run_seed, f"replenish_{number}")
    prestige = accepted.required_prestige if world.replacement_prestige == "same" else None
    # Mostly nobody had the number: no task of the start, and no replacement while all keep to their slot's numbers.
    is_new = number > len(state.market) and max(accepts) < TASKS_A_SLOT
    identity = number, 1 if is_new else _copies_issued(state, number) + 1
    return _draw_task(world, rng, identity, client, prestige, 1.0)


def relisted(state: State, slot: int) -> MarketTask:
    """Return the task of a slot as it is offered again, under a new id, when it is given up. Source: X-4."""
    offer = state.market[slot]
    return attrs.evolve(offer, copy=_copies_issued(state, offer.number) + 1)


def _copies_issued(state: State, number: int) -> int:
    """Return how many tasks of an episode have had a number in their id; they are all on the market or accepted."""
    copies = [task.copy for task in state.market if task.number == number]
    copies += [task.offer.copy for task in state.tasks if task.offer.number == number]
    return max(copies, default=0)


def _draw_task(  # noqa: PLR0913 -- what a task is drawn from
    world: WorldConfig,
    rng: random.Random,
    identity: tuple[int, int],
    client: Client | None,
    prestige: int | None,
    multiplier: float,
) -> MarketTask:
    """Return a task from its stream, as the market stores it.

    Args:
        world: The settings of the world.
        rng: Stream of the task.
        identity: Number and copy.
        client: Whose task it is, None for nobody's.
        prestige: Prestige that it requires, None to draw it too.
        multiplier: What its reward is multiplied by in the end.

    Source: Y-2.4, Y-7, K-1.3.
    """
    dist = world.dist
    if prestige is None and world.task_draw_order == "prestige_first":
        prestige = int(draw(dist.required_prestige, rng))
    domains = _draw_domains(world, rng, client)
    base_quantities = [int(draw(dist.required_qty, rng)) for _ in domains]
    if prestige is None:
        prestige = int(draw(dist.required_prestige, rng))
    reward = scaled_by_prestige(int(draw(dist.reward_funds_cents, rng)), world.reward_prestige_scale, prestige)
    trust = 0 if client is None else _draw_required_trust(world, rng, reward)
    if trust > 0:
        reward = gated_reward(reward, world.trust_gated_reward_boost, trust)
    return MarketTask(
        number=identity[0],
        copy=identity[1],
        client_name=None if client is None else client.name,
        required_prestige=prestige,
        required_trust=trust,
        domains=domains,
        quantities=tuple([scaled_by_prestige(base, world.prestige_qty_scale, prestige) for base in base_quantities]),
        reward_cents=client_reward(reward, multiplier),
        prestige_delta_milli=round_double(draw(dist.reward_prestige_delta, rng), 1000),
        skill_boost_e4=round_double(draw(dist.skill_boost, rng), 10_000),
    )


def _draw_domains(world: WorldConfig, rng: random.Random, client: Client | None) -> tuple[int, ...]:
    """Return a task's domains, the first often one of its client's if it has one. Source: Y-2.4 steps 2, 3, K-1.3."""
    # A draw that is rounded to 4 places may reach 5.
    count = min(int(draw(world.dist.domain_count, rng)), len(_ALL_DOMAINS))
    if world.task_domain_sampling == "uniform":
        return tuple(rng.sample(_ALL_DOMAINS, count))
    specialties = () if client is None else client.specialties
    leans = specialties and rng.random() < world.task_specialty_domain_bias
    first = rng.choice(sorted(specialties) if leans else _ALL_DOMAINS)
    others = [domain for domain in _ALL_DOMAINS if domain != first]
    return (first, *rng.sample(others, count - 1))


def _draw_required_trust(world: WorldConfig, rng: random.Random, reward: int) -> int:
    """Return the level of trust that a task requires. Source: Y-2.4 step 6."""
    spec = world.dist.reward_funds_cents
    low, high = _GATE_BOUNDS if isinstance(spec, Constant) else (spec.low, spec.high)
    fraction = world.trust_gating_fraction
    if reward <= low or fraction == 0 or rng.random() >= gate_chance(reward, low, high, fraction):
        return 0
    return required_trust(reward, low, high)
