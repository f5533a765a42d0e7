"""Each switch of world generation alone, in worlds whose figures can be worked out in the head. Source: K-1."""

# ruff: noqa: S311 -- the rules name this generator

import random
from hashlib import sha256

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_env.config import Config
from ycbench_env.generator import initial_state, replacement
from ycbench_env.testing.strategies import valid_configs
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


# ------------------------------------------------------------------------------------------- order and choice of draws


# ------------------------------------------------------------------------------------------------------- no clients


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
