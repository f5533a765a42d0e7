"""Each switch of world generation alone, in worlds whose figures can be worked out in the head. Source: K-1."""

# ruff: noqa: S311 -- the rules name this generator

import random
from hashlib import sha256

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_env.config import Config
from ycbench_env.generator import draw_initial_task, draw_task, initial_state, replacement
from ycbench_env.testing.config_strategies import valid_configs
from ycbench_env.testing.tiny import carried_out, tiny_config, tiny_state, tiny_task
from ycbench_env.types.command import AcceptTask
from ycbench_env.types.state import MarketTask, State

PRESTIGE_THREE = {"required_prestige": {"type": "constant", "value": 3}}


def generator_of(seed: int, key: str) -> random.Random:
    """Y-1.1, word for word."""
    return random.Random(int.from_bytes(sha256(f"{seed}:{key}".encode()).digest()[:8], "big"))


def tier(**figures: float) -> dict[str, object]:
    """Return settings that give every tier these figures."""
    return dict.fromkeys(("salary_junior", "salary_mid", "salary_senior"), figures)


def accepted(state: State, *slots: int) -> State:
    """Accept whatever is listed in these slots, one after another."""
    for slot in slots:
        state = carried_out(state, AcceptTask(state.market[slot].task_id))
    return state


# ---------------------------------------------------------------------------------------------------------------- skill


def test_an_average_of_one_or_less_is_a_rate_of_one_in_all_domains_and_draws_nothing_more() -> None:
    for rate in (0.0, 0.5, 1.0):
        config = tiny_config(
            employee_skill_sampling="gamma_budget", **tier(rate_min=rate, rate_max=rate, max_cents=300_000)
        )
        for employee in initial_state(config, 1).employees:
            assert employee.rates_e4 == (10_000,) * 4
            rng = generator_of(1, f"employee_{employee.number}")
            rng.random()  # the average; the salary is next
            assert employee.salary_cents == round(rng.triangular(100_000, 300_000, 300_000))


def test_an_average_above_one_is_shared_out_by_four_gamma_draws_before_the_salary() -> None:
    config = tiny_config(
        employee_skill_sampling="gamma_budget", **tier(rate_min=2.0, rate_max=2.0, max_cents=300_000)
    )  # fmt: skip
    for employee in initial_state(config, 1).employees:
        rng = generator_of(1, f"employee_{employee.number}")
        rng.random()
        draws = [rng.gammavariate(0.3, 1.0) for _ in range(4)]
        # 4 x 2 - 4 = 4 above a rate of 1 each; with so little none can exceed 10.
        assert employee.rates_e4 == tuple(round(10_000 * (1 + 4 * each / sum(draws))) for each in draws)
        assert employee.salary_cents == round(rng.triangular(100_000, 300_000, 300_000))


def test_skill_is_drawn_from_the_world_seed_whatever_the_sampling() -> None:
    staff = tier(rate_min=2.0, rate_max=9.0)
    fixed = tiny_config(employee_skill_sampling="gamma_budget", **staff)
    following = tiny_config(employee_skill_sampling="gamma_budget", world_seed="run", **staff)
    assert initial_state(fixed, 1).employees == initial_state(fixed, 2).employees
    assert initial_state(following, 1).employees == initial_state(fixed, 2).employees
    assert initial_state(following, 2).employees != initial_state(fixed, 2).employees


# --------------------------------------------------------------------------------------------------------------- ladder


@pytest.mark.parametrize(
    ("ladder", "prestige"),
    [([2, 1], (2, 1, 3, 3)), ([], (3, 3, 3, 3)), ([4, 4, 2, 1, 9, 9], (4, 4, 2, 1))],
    ids=["short", "empty", "long"],
)
def test_the_first_tasks_stand_on_the_ladder_and_the_others_draw(
    ladder: list[int], prestige: tuple[int, ...]
) -> None:  # fmt: skip
    config = tiny_config(market_prestige_ladder=ladder, dist=PRESTIGE_THREE)
    assert tuple(task.required_prestige for task in initial_state(config, 1).market) == prestige


def test_a_step_of_the_ladder_scales_work_and_reward_like_drawn_prestige() -> None:
    config = tiny_config(
        market_prestige_ladder=[3], prestige_qty_scale=0.5, reward_prestige_scale=0.25, num_clients=0
    )  # fmt: skip
    first, second, *_ = initial_state(config, 1).market
    assert (first.quantities, first.reward_cents) == ((400,), 1_500_000)  # 200 x (1 + 0.5 x 2), 10^6 x (1 + 0.25 x 2)
    assert (second.quantities, second.reward_cents) == ((200,), 1_000_000)


def test_a_step_of_the_ladder_draws_nothing() -> None:
    dist = {
        "required_prestige": {"type": "uniform", "low": 2, "high": 8},
        "required_qty": {"type": "uniform", "low": 100, "high": 900},
    }
    for order in ("prestige_first", "requirements_first"):
        config = tiny_config(market_prestige_ladder=[2], task_draw_order=order, num_clients=0, dist=dist)
        rng = generator_of(1, "task_1")
        rng.choice(range(4))
        assert initial_state(config, 1).market[0].quantities == (int(rng.uniform(100, 900)),)


# ------------------------------------------------------------------------------------------- order and choice of draws


def test_prestige_is_drawn_before_or_after_domains_and_work() -> None:
    dist = {
        "required_prestige": {"type": "uniform", "low": 2, "high": 9},
        "required_qty": {"type": "uniform", "low": 100, "high": 900},
        "reward_funds_cents": {"type": "uniform", "low": 10_000, "high": 900_000},
    }
    world = {"market_prestige_ladder": [], "num_clients": 0, "dist": dist}
    first = initial_state(tiny_config(task_draw_order="prestige_first", **world), 1).market[0]
    rng = generator_of(1, "task_1")
    assert first.required_prestige == int(rng.uniform(2, 9))
    assert (first.domains, first.quantities) == ((rng.choice(range(4)),), (int(rng.uniform(100, 900)),))
    assert first.reward_cents == int(rng.uniform(10_000, 900_000))

    last = initial_state(tiny_config(task_draw_order="requirements_first", **world), 1).market[0]
    rng = generator_of(1, "task_1")
    assert (last.domains, last.quantities) == ((rng.choice(range(4)),), (int(rng.uniform(100, 900)),))
    assert last.required_prestige == int(rng.uniform(2, 9))
    assert last.reward_cents == int(rng.uniform(10_000, 900_000))


@pytest.mark.parametrize("clients", [0, 2])
@pytest.mark.parametrize("count", [1, 3])
def test_uniform_sampling_takes_all_domains_at_once_whoever_the_client_is(clients: int, count: int) -> None:
    dist = {"domain_count": {"type": "constant", "value": count}}
    config = tiny_config(
        task_domain_sampling="uniform", task_specialty_domain_bias=1.0, num_clients=clients, dist=dist
    )  # fmt: skip
    for task in initial_state(config, 1).market:
        assert list(task.domains) == generator_of(1, task.task_id.lower().replace("-", "_")).sample(range(4), count)


@pytest.mark.parametrize("sampling", ["uniform", "specialty_first"])
def test_a_number_of_domains_that_is_rounded_up_to_five_is_four(sampling: str) -> None:
    # Clamped to 4.99999 and then rounded to 4 places, as Y-1.2 has it.
    count = {"type": "normal", "mean": 20, "stdev": 1, "low": 1, "high": 4.99999}
    config = tiny_config(task_domain_sampling=sampling, num_market_tasks=30, dist={"domain_count": count})
    counts = {len(task.domains) for task in initial_state(config, 1).market}
    assert counts == {4}


def test_without_clients_the_first_domain_leans_to_nothing() -> None:
    config = tiny_config(task_domain_sampling="specialty_first", task_specialty_domain_bias=1.0, num_clients=0)
    for number, task in enumerate(initial_state(config, 1).market, 1):
        assert task.domains == (generator_of(1, f"task_{number}").choice(range(4)),)


# ------------------------------------------------------------------------------------------------------- no clients


def test_a_market_without_clients_is_nobodys_and_asks_no_trust() -> None:
    # With clients all would be gated: the reward is at the upper bound of Y-2.4.
    dist = {"reward_funds_cents": {"type": "constant", "value": 4_000_000}}
    gated = {"trust_gating_fraction": 1.0, "trust_gated_reward_boost": 0.5, "dist": dist}
    state = initial_state(tiny_config(num_clients=0, **gated), 1)
    assert state.clients == ()
    assert {(task.client_name, task.required_trust, task.reward_cents) for task in state.market} == {
        (None, 0, 4_000_000)
    }
    assert {task.required_trust for task in initial_state(tiny_config(num_clients=2, **gated), 1).market} == {4}


def test_no_draw_asks_whether_nobodys_task_is_gated() -> None:
    dist = {
        "reward_funds_cents": {"type": "uniform", "low": 300_000, "high": 4_000_000},
        "skill_boost": {"type": "uniform", "low": 0, "high": 1},
    }
    config = tiny_config(num_clients=0, trust_gating_fraction=1.0, dist=dist)
    drawn = draw_initial_task(config.world, 1, 1, None)
    rng = generator_of(1, "task_1")
    rng.choice(range(4))
    assert drawn.reward_cents == int(rng.uniform(300_000, 4_000_000))
    assert drawn.skill_boost == rng.uniform(0, 1)


def test_what_is_drawn_is_stored_with_three_and_four_places() -> None:
    dist = {
        "reward_prestige_delta": {"type": "uniform", "low": 0, "high": 1},
        "skill_boost": {"type": "uniform", "low": 0, "high": 1},
    }
    config = tiny_config(num_clients=0, dist=dist)
    drawn, stored = draw_initial_task(config.world, 1, 1, None), initial_state(config, 1).market[0]
    assert f"{drawn.prestige_delta:.3f}" == f"{stored.prestige_delta_milli / 1000:.3f}"
    assert f"{drawn.skill_boost:.4f}" == f"{stored.skill_boost_e4 / 10_000:.4f}"
    assert drawn.prestige_delta * 1000 != stored.prestige_delta_milli


# ------------------------------------------------------------------------------------------------------ replacements


@pytest.mark.parametrize("clients", [0, 2])
@pytest.mark.parametrize(("rule", "prestige"), [("same", 1), ("drawn", 3)])
def test_a_replacement_has_the_prestige_of_the_accepted_task_or_one_of_its_own(
    clients: int, rule: str, prestige: int
) -> None:
    # Slot 0 stands on the ladder, which no replacement ever does.
    config = tiny_config(
        market_prestige_ladder=[1] * 4, replacement_prestige=rule, num_clients=clients, dist=PRESTIGE_THREE
    )
    state = initial_state(config, 1)
    for new in (replacement(state, 0), accepted(state, 0).market[0]):
        assert new.required_prestige == prestige
        assert new.client_name == state.market[0].client_name


def test_a_replacement_of_the_same_prestige_does_not_draw_it() -> None:
    dist = {
        "required_prestige": {"type": "uniform", "low": 1, "high": 1},
        "required_qty": {"type": "uniform", "low": 100, "high": 900},
    }
    for rule, draws in (("same", 1), ("drawn", 2)):
        config = tiny_config(replacement_prestige=rule, num_clients=0, task_domain_sampling="uniform", dist=dist)
        rng = generator_of(1, "replenish_2000")
        if draws == 2:
            rng.uniform(1, 1)  # prestige comes first
        rng.sample(range(4), 1)
        assert replacement(initial_state(config, 1), 2).quantities == (int(rng.uniform(100, 900)),)


def nobodys(number: int) -> MarketTask:
    """Return a task without a client."""
    return attrs.evolve(tiny_task(number), client_name=None)


def test_the_episodes_first_replacement_is_task_0_and_numbers_that_were_used_get_a_suffix() -> None:
    config = tiny_config(replacement_numbering="episode", replacement_prestige="drawn", num_clients=0)
    state = tiny_state(config, clients=[], market=[nobodys(number) for number in (1, 2, 3)])
    seen = []
    for slot in (1, 1, 0, 2, 2, 0):
        state = accepted(state, slot)
        seen.append(state.market[slot].task_id)
    assert seen == ["Task-0", "Task-1-2", "Task-2-2", "Task-3-2", "Task-4", "Task-5"]
    assert [task.task_id for task in state.market] == ["Task-5", "Task-1-2", "Task-4"]


def test_a_replacement_numbered_by_the_episode_is_the_draw_of_its_number_in_any_slot() -> None:
    config = tiny_config(
        replacement_numbering="episode", replacement_prestige="drawn", task_draw_order="requirements_first",
        market_prestige_ladder=[1] * 4, num_clients=0,
        dist={"required_qty": {"type": "uniform", "low": 100, "high": 900}},
    )  # fmt: skip
    state = initial_state(config, 1)
    for slot in (0, 3):
        new = accepted(state, slot).market[slot]
        drawn = draw_task(config.world, generator_of(1, "replenish_0"), None, None)
        assert (new.task_id, new.domains, new.quantities) == ("Task-0", drawn.domains, drawn.quantities)


# ----------------------------------------------------------------------------------------------- any combination


@settings(max_examples=40, deadline=None)
@given(config=valid_configs(), seed=st.integers(0, 2**70))
def test_every_legal_configuration_makes_a_world(config: Config, seed: int) -> None:
    state = initial_state(config, seed)
    world = config.world
    assert (len(state.employees), len(state.clients), len(state.market)) == (
        world.num_employees, world.num_clients, world.num_market_tasks,
    )  # fmt: skip
    for task in state.market:
        assert (task.client_name is None) == (world.num_clients == 0)
        assert 1 <= len(task.domains) == len(set(task.domains)) == len(task.quantities) <= 4
        assert min(task.quantities) >= 1
        assert 1 <= task.required_prestige <= 100
        assert task.reward_cents <= 10**12
    if world.employee_skill_sampling == "gamma_budget":
        assert all(min(employee.rates_e4) >= 10_000 for employee in state.employees)
    for slot in range(min(3, len(state.market))):
        new = replacement(state, slot)
        assert new.client_name == state.market[slot].client_name
        if world.replacement_prestige == "same":
            assert new.required_prestige == state.market[slot].required_prestige
