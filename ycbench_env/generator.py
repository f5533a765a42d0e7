"""The initial state: staff, clients and market, drawn from named streams.

Source: Y-2. Two seeds: the run seed makes the market, the world seed (1, or the run seed) staff and clients.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Final, assert_never, cast

from ycbench_env.config import Beta, Constant, Normal, Triangular, Uniform
from ycbench_env.config.setting import show
from ycbench_env.errors import SeedError
from ycbench_env.rng import stream
from ycbench_env.rules.economy import client_reward, gate_chance, gated_reward, required_trust, scaled_by_prestige
from ycbench_env.rules.number import round_double
from ycbench_env.rules.standing import client_tier_index
from ycbench_env.types.state import TASKS_A_SLOT, Calendar, Client, Employee, MarketTask, State
from ycbench_env.vocabulary import CLIENT_NAMES, DOMAINS, TIER_CYCLE

if TYPE_CHECKING:
    import random
    from typing import SupportsIndex

    from ycbench_env.config import Config, Distribution, SalaryTier, WorldConfig

__all__ = ["checked_seed", "draw", "initial_state", "replacement"]

_CLIENT_TIERS: Final = ("Standard", "Premium", "Enterprise")
_ADVERSARIAL_MULTIPLIER: Final = 1.875
_ONE_SPECIALTY_CHANCE: Final = 0.6
_FREE_PRESTIGE_TASKS: Final = 10  # the first tasks require prestige 1 without a draw (Y-2.4 step 1)
_GATE_BOUNDS: Final = (300_000.0, 4_000_000.0)  # where the reward distribution has no bounds (Y-2.4 step 6)
_SEED_BOUND: Final = 2**4096  # Python would not write much larger numbers as text, which names the streams
_ALL_DOMAINS: Final = tuple(range(len(DOMAINS)))


def checked_seed(seed: object) -> int:
    """Return a run seed as int.

    Args:
        seed: A non-negative integer below 2**4096, Python's or numpy's. Vector environments keep it in an array, where
            it must be below 2**63.

    Raises:
        SeedError: It is something else (a bool is no integer here); the message shows what was got.
    """
    try:
        number = None if type(seed).__name__ in {"bool", "bool_"} else index(cast("SupportsIndex", seed))
    except Exception:  # noqa: BLE001 -- whatever an object makes of being a number, it is no seed
        number = None
    if number is None or not 0 <= number < _SEED_BOUND:
        msg = f"seed: got {show(seed)} ({type(seed).__name__}), expected a non-negative integer such as 1"
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
    run_seed = checked_seed(seed)
    world = config.world
    world_seed = run_seed if world.world_seed == "run" else world.world_seed
    clients = _draw_clients(world, world_seed)
    calendar = Calendar.from_config(config)
    state = State(
        config=config,
        run_seed=run_seed,
        calendar=calendar,
        now_us=calendar.start_us,
        funds_cents=world.initial_funds_cents,
        prestige_milli=(world.initial_prestige_milli,) * len(DOMAINS),
        employees=_draw_employees(world, world_seed),
        clients=clients,
        market=tuple(
            _initial_task(world, run_seed, number, clients[(number - 1) % len(clients)])
            for number in range(1, world.num_market_tasks + 1)
        ),
        slot_accepts=(0,) * world.num_market_tasks,
    )
    _ = state.gates  # sorts the market now, rather than in the middle of an episode
    return state


def _draw_employees(world: WorldConfig, seed: int) -> tuple[Employee, ...]:
    """Return the staff. Source: Y-2.2."""
    count = world.num_employees
    tiers = [TIER_CYCLE[i % len(TIER_CYCLE)] for i in range(count)]
    stream(seed, "tier_assignment").shuffle(tiers)
    by_name = {"junior": world.salary_junior, "mid": world.salary_mid, "senior": world.salary_senior}
    return tuple(_draw_employee(seed, number, tier, by_name[tier]) for number, tier in enumerate(tiers, 1))


def _draw_employee(seed: int, number: int, tier: str, ranges: SalaryTier) -> Employee:
    rng = stream(seed, f"employee_{number}")
    rates = tuple(round_double(rng.uniform(ranges.rate_min, ranges.rate_max), 10_000) for _ in DOMAINS)
    salary = round(rng.triangular(ranges.min_cents, ranges.max_cents, ranges.max_cents))
    return Employee(number, tier, min(max(salary, ranges.min_cents), ranges.max_cents), rates)


def _draw_clients(world: WorldConfig, seed: int) -> tuple[Client, ...]:
    """Return the clients in the order of the world. Source: Y-2.3."""
    rng = stream(seed, "clients")
    names = rng.sample(CLIENT_NAMES, world.num_clients)
    fraction = world.loyalty_rat_fraction
    adversaries = max(1, round(len(names) * fraction))
    clients = [_draw_client(rng, name, fraction, place < adversaries) for place, name in enumerate(names)]
    rng.shuffle(clients)
    return tuple(clients)


def _draw_client(rng: random.Random, name: str, fraction: float, adversarial: bool) -> Client:  # noqa: FBT001
    multiplier = round(rng.triangular(0.7, 2.5, 1.0), 2)
    tier = _CLIENT_TIERS[client_tier_index(multiplier)]
    specialties = tuple(rng.sample(_ALL_DOMAINS, 1 if rng.random() < _ONE_SPECIALTY_CHANCE else 2))
    if adversarial:
        loyalty = round(rng.uniform(-1, -0.3), 3)
        multiplier = max(multiplier, _ADVERSARIAL_MULTIPLIER)
    else:
        loyalty = round(rng.triangular(-0.3, 1.0, 1 - 2.6 * fraction), 3)
    return Client(name, tier, specialties, 0, round_double(loyalty, 1000), round_double(multiplier, 1000))


def _initial_task(world: WorldConfig, seed: int, number: int, client: Client) -> MarketTask:
    """Return a task of the initial market. Source: Y-2.4."""
    rng = stream(seed, f"task_{number}")
    prestige = 1 if number <= _FREE_PRESTIGE_TASKS else int(draw(world.dist.required_prestige, rng))
    return _draw_task(world, rng, (number, 1), client, prestige, client.reward_multiplier_milli / 1000)


def replacement(state: State, slot: int) -> MarketTask:
    """Return the task that comes into a slot when its task is accepted. Source: Y-2.5."""
    accepted = state.market[slot]
    number = _replacement_number(state, slot)
    rng = stream(state.run_seed, f"replenish_{number}")
    client = state.client(accepted.client_name)
    identity = number, _copies_issued(state, number) + 1
    return _draw_task(state.config.world, rng, identity, client, accepted.required_prestige, 1.0)


def _replacement_number(state: State, slot: int) -> int:
    """Return the number that names a replacement and its stream. Source: Y-2.5, X-3."""
    if state.config.world.replacement_numbering == "episode":
        return len(state.tasks)  # an accepted task never leaves, so this counts the accepts
    return slot * TASKS_A_SLOT + state.slot_accepts[slot]


def _copies_issued(state: State, number: int) -> int:
    """Return how many tasks of an episode have had a number in their id; they are all on the market or accepted."""
    if number > len(state.market) and max(state.slot_accepts) < TASKS_A_SLOT:
        return 0  # no task of the start has it, and no other replacement has come so far
    copies = [task.copy for task in state.market if task.number == number]
    copies += [task.offer.copy for task in state.tasks if task.offer.number == number]
    return max(copies, default=0)


def _draw_task(  # noqa: PLR0913 -- what a market task and a replacement have in common
    world: WorldConfig,
    rng: random.Random,
    identity: tuple[int, int],
    client: Client,
    prestige: int,
    multiplier: float,
) -> MarketTask:
    """Return a task drawn from its stream, from step 2 of Y-2.4 on."""
    dist = world.dist
    count = int(draw(dist.domain_count, rng))
    domains = _draw_domains(rng, count, client.specialties, world.task_specialty_domain_bias)
    quantities = tuple(
        scaled_by_prestige(int(draw(dist.required_qty, rng)), world.prestige_qty_scale, prestige) for _ in domains
    )
    reward = scaled_by_prestige(int(draw(dist.reward_funds_cents, rng)), world.reward_prestige_scale, prestige)
    trust = _draw_required_trust(world, rng, reward)
    if trust > 0:
        reward = gated_reward(reward, world.trust_gated_reward_boost, trust)
    prestige_delta_milli = round_double(draw(dist.reward_prestige_delta, rng), 1000)
    skill_boost_e4 = round_double(draw(dist.skill_boost, rng), 10_000)
    return MarketTask(
        number=identity[0],
        copy=identity[1],
        client_name=client.name,
        required_prestige=prestige,
        required_trust=trust,
        domains=domains,
        quantities=quantities,
        reward_cents=client_reward(reward, multiplier),
        prestige_delta_milli=prestige_delta_milli,
        skill_boost_e4=skill_boost_e4,
    )


def _draw_domains(rng: random.Random, count: int, specialties: tuple[int, ...], bias: float) -> tuple[int, ...]:
    """Return a task's domains, the first often one of its client's. Source: Y-2.4 step 3."""
    first = rng.choice(sorted(specialties) if rng.random() < bias else _ALL_DOMAINS)
    others = [domain for domain in _ALL_DOMAINS if domain != first]
    return (first, *rng.sample(others, min(count - 1, len(others))))


def _draw_required_trust(world: WorldConfig, rng: random.Random, reward: int) -> int:
    """Return the level of trust that a task requires. Source: Y-2.4 step 6."""
    spec = world.dist.reward_funds_cents
    low, high = _GATE_BOUNDS if isinstance(spec, Constant) else (spec.low, spec.high)
    fraction = world.trust_gating_fraction
    if reward <= low or fraction == 0:
        return 0
    if rng.random() >= gate_chance(reward, low, high, fraction):
        return 0
    return required_trust(reward, low, high)
