"""The world at the start, and replacements. Source: Y-1, Y-2, X-3, K-1."""

# ruff: noqa: S311 -- the rules name this generator

import random
from hashlib import sha256
from itertools import cycle, islice

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world_proofs import check_start

from ycbench_env.config import (
    Beta,
    Config,
    Constant,
    Distribution,
    Normal,
    SalaryTier,
    Triangular,
    Uniform,
    load_config,
)
from ycbench_env.generator import draw, initial_state, replacement
from ycbench_env.rng import stream
from ycbench_env.testing import valid_configs
from ycbench_env.testing.invariants import acceptable
from ycbench_env.testing.tiny import carried_out, instant, tiny_config, tiny_state, tiny_task
from ycbench_env.types.command import AcceptTask
from ycbench_env.types.state import Client, Employee, MarketTask, State
from ycbench_env.vocabulary import CLIENT_NAMES, DOMAINS

DEFAULT = load_config("default", environ={})


def default(**world: object) -> Config:
    return load_config(DEFAULT, overrides={"world": world})


def generator_of(seed: int, key: str) -> random.Random:
    """Y-1.1, word for word."""
    return random.Random(int.from_bytes(sha256(f"{seed}:{key}".encode()).digest()[:8], "big"))


# --------------------------------------------------------------------------------------------------- seeds and draws


def test_a_stream_is_named_by_seed_and_key() -> None:
    # The first 8 bytes of SHA-256 over "1:task_17".
    assert stream(1, "task_17").getstate() == generator_of(1, "task_17").getstate()
    assert stream(1, "task_17").random() == stream(1, "task_17").random()
    assert stream(1, "task_17").random() != stream(1, "task_18").random()
    assert stream(11, "task_7").random() != stream(1, "1task_7").random()


def test_draws_are_scaled_clamped_and_rounded_and_a_constant_consumes_none() -> None:
    def drawn(spec: Distribution) -> tuple[float, float]:
        """A draw, and what the stream gives next."""
        rng = random.Random(5)
        return draw(spec, rng), rng.random()

    def after(value: float, rng: random.Random) -> tuple[float, float]:
        return value, rng.random()

    rng = random.Random(5)
    assert drawn(Constant(value=3.5)) == after(3.5, rng)
    rng = random.Random(5)
    beta = Beta(alpha=1.2, beta=2.8, scale=0.35, low=0.0, high=0.35)
    assert drawn(beta) == after(round(0.35 * rng.betavariate(1.2, 2.8), 4), rng)
    rng = random.Random(5)
    normal = Normal(mean=0.12, stdev=0.06, low=0.01, high=0.4)
    assert drawn(normal) == after(round(rng.gauss(0.12, 0.06), 4), rng)
    rng = random.Random(5)
    assert drawn(Triangular(low=1, high=4, mode=2)) == after(rng.triangular(1, 4, 2), rng)
    rng = random.Random(5)
    assert drawn(Uniform(low=1, high=4)) == after(rng.uniform(1, 4), rng)
    assert draw(Normal(mean=0, stdev=1e-9, low=0.5, high=0.6), rng) == 0.5


# ---------------------------------------------------------------------------------- the start, with constant figures


def test_the_tiny_world_starts_as_its_configuration_says() -> None:
    state = initial_state(tiny_config(), 1)
    assert state.now_us == instant("2025-01-01 09:00")
    assert state.calendar.horizon_us == instant("2026-01-01 09:00")
    assert state.funds_cents == 10_000_000
    assert state.prestige_milli == (1000,) * 4
    assert state.employees == tuple(Employee(n, "junior", 100_000, (100_000,) * 4) for n in (1, 2))
    assert [client.trust_milli for client in state.clients] == [0, 0]
    assert state.slot_accepts == (0,) * 4
    assert (state.tasks, state.ledger, state.terminal_reason) == ((), (), None)
    assert [task.task_id for task in state.market] == ["Task-1", "Task-2", "Task-3", "Task-4"]
    names = [client.name for client in state.clients]
    assert [task.client_name for task in state.market] == [*names, *names]
    for task, client in zip(state.market, state.clients * 2, strict=True):
        assert (task.quantities, task.required_prestige, task.required_trust) == ((200,), 1, 0)
        assert (task.prestige_delta_milli, task.skill_boost_e4) == (100, 0)
        # 1,000,000 cents times the client's multiplier, which has 2 places or is 1.875.
        assert task.reward_cents == 1000 * client.reward_multiplier_milli


# ------------------------------------------------------------- a second writing of Y-2 and K-1, from the pages alone


def expected_employees(config: Config, seed: int) -> list[Employee]:
    world = config.world
    tiers = list(islice(cycle(["junior"] * 5 + ["mid"] * 3 + ["senior"] * 2), world.num_employees))
    generator_of(seed, "tier_assignment").shuffle(tiers)
    staff = []
    for i, tier in enumerate(tiers, 1):
        table = {"junior": world.salary_junior, "mid": world.salary_mid, "senior": world.salary_senior}[tier]
        rng = generator_of(seed, f"employee_{i}")
        if world.employee_skill_sampling == "uniform":
            rates = [round(rng.uniform(table.rate_min, table.rate_max), 4) for _ in range(4)]
        else:
            rates = [round(rate, 4) for rate in expected_budget_rates(table, rng)]
        salary = round(rng.triangular(table.min_cents, table.max_cents, table.max_cents))
        salary = min(max(salary, table.min_cents), table.max_cents)
        staff.append(Employee(i, tier, salary, tuple(round(rate * 10_000) for rate in rates)))
    return staff


def expected_budget_rates(table: SalaryTier, rng: random.Random) -> list[float]:
    a = rng.uniform(table.rate_min, table.rate_max)
    rates = [1.0] * 4
    if a <= 1:
        return rates
    draws = [rng.gammavariate(0.3, 1.0) for _ in range(4)]
    for domain in range(4):
        rates[domain] += (4 * a - 4) * (draws[domain] / sum(draws))
    for _ in range(5):
        pool, open_domains = 0.0, []
        for domain in range(4):
            if rates[domain] > 10:
                pool += rates[domain] - 10
                rates[domain] = 10.0
            else:
                open_domains.append(domain)
        if pool == 0 or not open_domains:
            break
        for domain in open_domains:
            rates[domain] += pool / len(open_domains)
    return rates


def expected_clients(config: Config, seed: int) -> list[Client]:
    n, fraction = config.world.num_clients, config.world.loyalty_rat_fraction
    if n == 0:
        return []
    rng = generator_of(seed, "clients")
    made = []
    for place, name in enumerate(rng.sample(list(CLIENT_NAMES), n)):
        multiplier = round(rng.triangular(0.7, 2.5, 1.0), 2)
        tier = "Standard" if multiplier < 1.0 else "Premium" if multiplier < 1.7 else "Enterprise"
        k = 1 if rng.random() < 0.6 else 2
        specialties = tuple(DOMAINS.index(word) for word in rng.sample(DOMAINS, k))
        if place < max(1, round(n * fraction)):
            loyalty = round(rng.uniform(-1, -0.3), 3)
            multiplier = max(multiplier, 1.875)
        else:
            loyalty = round(rng.triangular(-0.3, 1.0, 1 - 2.6 * fraction), 3)
        made.append(Client(name, tier, specialties, 0, round(loyalty * 1000), round(multiplier * 1000)))
    rng.shuffle(made)
    return made


def expected_task(  # noqa: PLR0913 -- what a task is drawn from
    config: Config,
    rng: random.Random,
    identity: tuple[int, int],
    client: Client | None,
    prestige: int | None,
    multiplier: float,
) -> MarketTask:
    world, dist = config.world, config.world.dist
    if prestige is None and world.task_draw_order == "prestige_first":
        prestige = int(draw(dist.required_prestige, rng))
    domains = expected_domains(config, rng, client)
    drawn = [int(draw(dist.required_qty, rng)) for _ in domains]
    if prestige is None:
        prestige = int(draw(dist.required_prestige, rng))
    quantities = [int(base * (1 + world.prestige_qty_scale * (prestige - 1))) for base in drawn]
    r = int(int(draw(dist.reward_funds_cents, rng)) * (1 + world.reward_prestige_scale * (prestige - 1)))
    low = getattr(dist.reward_funds_cents, "low", 300_000)
    high = getattr(dist.reward_funds_cents, "high", 4_000_000)
    g, t = world.trust_gating_fraction, 0
    if client is not None and r > low and g > 0:
        f = min(1, (r - low) / (high - low))
        p = max(0, (f - max(0, 1 - 2 * g)) / min(1, 2 * g))
        if rng.random() < p:
            t = max(1, min(int(1 + 3 * f), 4))
    if t > 0:
        r = int(r * (1 + world.trust_gated_reward_boost * t))
    delta, boost = draw(dist.reward_prestige_delta, rng), draw(dist.skill_boost, rng)
    return MarketTask(
        number=identity[0],
        copy=identity[1],
        client_name=None if client is None else client.name,
        required_prestige=prestige,
        required_trust=t,
        domains=tuple(domains),
        quantities=tuple(quantities),
        reward_cents=int(r * multiplier),
        prestige_delta_milli=int(f"{delta:.3f}".replace(".", "")),
        skill_boost_e4=int(f"{boost:.4f}".replace(".", "")),
    )


def expected_domains(config: Config, rng: random.Random, client: Client | None) -> list[int]:
    k = int(draw(config.world.dist.domain_count, rng))
    if config.world.task_domain_sampling == "uniform":
        return rng.sample(range(4), k)
    if client is not None and rng.random() < config.world.task_specialty_domain_bias:
        first = rng.choice([domain for domain in range(4) if domain in client.specialties])
    else:
        first = rng.choice(range(4))
    return [first, *rng.sample([domain for domain in range(4) if domain != first], min(k - 1, 3))]


def expected_market(config: Config, seed: int, clients: list[Client]) -> list[MarketTask]:
    tasks = []
    ladder = config.world.market_prestige_ladder
    for i in range(1, config.world.num_market_tasks + 1):
        rng = generator_of(seed, f"task_{i}")
        prestige = ladder[i - 1] if i <= len(ladder) else None
        client = clients[(i - 1) % len(clients)] if clients else None
        multiplier = client.reward_multiplier_milli / 1000 if client else 1
        tasks.append(expected_task(config, rng, (i, 1), client, prestige, multiplier))
    return tasks


WORLDS = {
    "default": DEFAULT,
    "large": default(num_employees=23, num_clients=15, num_market_tasks=60, loyalty_rat_fraction=0.0),
    "gated": default(trust_gating_fraction=0.8, trust_gated_reward_boost=0.15, loyalty_rat_fraction=0.2),
    "wide": default(
        num_clients=3,
        task_specialty_domain_bias=0.3,
        dist={
            "domain_count": {"type": "uniform", "low": 1, "high": 4.99},
            "required_qty": {"type": "normal", "mean": 900, "stdev": 300, "low": 200, "high": 2000},
            "reward_funds_cents": {
                "type": "beta", "alpha": 2, "beta": 2, "scale": 1_000_000, "low": 100_000, "high": 900_000,
            },
            "skill_boost": {"type": "constant", "value": 0.05},
        },
    ),
    "classic": load_config("classic-medium", environ={}),
    "classic rules among clients": default(
        employee_skill_sampling="gamma_budget",
        num_employees=40,
        salary_junior={"rate_min": 0.0, "rate_max": 40.0},
        market_prestige_ladder=[5, 1, 3],
        task_draw_order="requirements_first",
        task_domain_sampling="uniform",
        replacement_prestige="drawn",
        trust_gating_fraction=0.8,
        dist={"domain_count": {"type": "uniform", "low": 1, "high": 4.99}},
    ),
    "other rules of nobody": default(
        num_clients=0,
        num_market_tasks=80,
        trust_gating_fraction=1.0,
        market_prestige_ladder=[],
        dist={"domain_count": {"type": "uniform", "low": 1, "high": 4.99}},
    ),
    "prestige last": default(
        num_market_tasks=80, task_draw_order="requirements_first", trust_gating_fraction=0.5,
        trust_gated_reward_boost=0.1, market_prestige_ladder=[2] * 40, initial_prestige_level=3.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("seed", [1, 12345])
def test_staff_clients_and_market_are_what_the_rules_page_describes(name: str, seed: int) -> None:
    config = WORLDS[name]
    state = initial_state(config, seed)
    world_seed = seed if config.world.world_seed == "run" else 1
    clients = expected_clients(config, world_seed)
    assert list(state.employees) == expected_employees(config, world_seed)
    assert list(state.clients) == clients
    assert list(state.market) == expected_market(config, seed, clients)


@pytest.mark.parametrize("name", WORLDS)
def test_replacements_are_what_the_rules_page_describes(name: str) -> None:
    config = load_config(WORLDS[name], overrides={"world": {"replacement_numbering": "slot"}}, environ={})
    state = initial_state(config, 5)
    for slot in (0, 3, 17):
        for g in (0, 1, 2, 41):
            accepts = list(state.slot_accepts)
            accepts[slot] = g
            at = attrs.evolve(state, slot_accepts=tuple(accepts))
            number = slot * 1000 + g
            old = state.market[slot]
            copy = 2 if any(task.number == number for task in state.market) else 1
            expected = expected_task(
                config,
                generator_of(5, f"replenish_{number}"),
                (number, copy),
                state.client_of(old),
                None if config.world.replacement_prestige == "drawn" else old.required_prestige,
                1.0,  # the multiplier is not applied
            )
            assert replacement(at, slot) == expected


def test_the_recorded_world_of_seed_one_comes_out() -> None:
    # Figures that the public implementation printed for its default configuration and seed 1.
    state = initial_state(DEFAULT, 1)
    assert [e.salary_cents for e in state.employees] == [
        397_260, 314_782, 236_809, 757_445, 259_604, 776_920, 664_726, 392_957,
    ]  # fmt: skip
    assert [e.tier for e in state.employees].count("junior") == 5
    assert [e.tier for e in state.employees].count("mid") == 3
    task = state.market[9]
    assert (task.task_id, task.client_name, task.reward_cents) == ("Task-10", "Vanguard ML", 2_091_943)
    assert (task.prestige_delta_milli, task.skill_boost_e4, task.quantities) == (110, 1364, (564,))


def test_at_least_one_client_is_adversarial_even_at_fraction_zero() -> None:
    for seed in range(5):
        state = initial_state(default(loyalty_rat_fraction=0.0, world_seed="run"), seed)
        assert list(state.employees) == expected_employees(state.config, seed)
        assert sum(client.loyalty_milli < -300 for client in state.clients) <= 1
        assert sum(client.reward_multiplier_milli >= 1875 for client in state.clients) >= 1


@settings(max_examples=30)
@given(config=valid_configs(), seed=st.integers(0, 2**70))
def test_every_legal_configuration_makes_a_world(config: Config, seed: int) -> None:
    state = initial_state(config, seed)
    check_start(state)
    for slot in range(min(3, len(state.market))):
        assert replacement(state, slot).client_name == state.market[slot].client_name


# ---------------------------------------------------------------------------------------------------- replacement ids


def accepted(state: State, *slots: int) -> State:
    """Accept whatever is listed in these slots, one after another."""
    for slot in slots:
        state = carried_out(state, AcceptTask(state.market[slot].task_id))
    return state


def test_an_id_that_was_used_gets_a_suffix() -> None:
    # Slot 0: Task-1, then Task-0 (g = 0), then Task-1 again (g = 1), Task-2 (g = 2, listed in slot 1), ...
    state = accepted(tiny_state(), 0, 0)
    assert state.market[0].task_id == "Task-1-2"
    state = accepted(state, 0)
    assert state.market[0].task_id == "Task-2-2"
    assert [task.task_id for task in state.tasks] == ["Task-1", "Task-0", "Task-1-2"]


def test_the_episodes_first_replacement_is_task_0_and_numbers_that_were_used_get_a_suffix() -> None:
    config = tiny_config(replacement_numbering="episode", replacement_prestige="drawn", num_clients=0)
    state = tiny_state(config, market=[tiny_task(number, client=None) for number in (1, 2, 3)])
    seen: list[str] = []
    for slot in (1, 1, 0, 2, 2, 0):
        state = accepted(state, slot)
        seen.append(state.market[slot].task_id)
    assert seen == ["Task-0", "Task-1-2", "Task-2-2", "Task-3-2", "Task-4", "Task-5"]
    assert [task.task_id for task in state.market] == ["Task-5", "Task-1-2", "Task-4"]


# ------------------------------------------------------------------------- replacements numbered by the episode


@pytest.mark.parametrize("name", WORLDS)
def test_replacements_numbered_by_the_episode_come_from_the_stream_of_their_number(name: str) -> None:
    config = load_config(WORLDS[name], overrides={"world": {"replacement_numbering": "episode"}}, environ={})
    state = initial_state(config, 5)
    for n in range(12):
        offer = next(task for task in state.market_by_reward if acceptable(state, task))
        slot = state.market_slot(offer.task_id) or 0
        identity = n, 2 if n > 0 else 1
        rng = generator_of(5, f"replenish_{n}")
        prestige = None if config.world.replacement_prestige == "drawn" else offer.required_prestige
        expected = expected_task(config, rng, identity, state.client_of(offer), prestige, 1.0)
        state = accepted(state, slot)
        assert state.market[slot] == expected
