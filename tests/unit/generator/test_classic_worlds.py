"""Worlds of the classic presets as the public implementation of that time recorded them.

The records hold a prestige gain as it was drawn, with 4 places; play stores 3 (Y-7). Source: K-1.
"""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ycbench_env.config import Config, load_config
from ycbench_env.generator import DrawnTask, draw_initial_task, draw_task, initial_state
from ycbench_env.rng import stream
from ycbench_env.testing.tiny import carried_out
from ycbench_env.types.command import AcceptTask
from ycbench_env.types.state import MarketTask
from ycbench_env.vocabulary import DOMAINS

Record = dict[str, Any]

RECORDS: list[Record] = json.loads(
    (Path(__file__).parents[2] / "data" / "classic" / "worlds.json").read_text(encoding="utf-8")
)["worlds"]

each_world = pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record['preset']}-{record['seed']}")


def config_of(record: Record) -> Config:
    return load_config(f"classic-{record['preset']}", environ={})


def as_drawn(number: int, drawn: DrawnTask) -> Record:
    """Return what was drawn for a task in the form of the records."""
    return {
        "title": f"Task-{number}",
        "required_prestige": drawn.required_prestige,
        "reward_funds_cents": drawn.reward_cents,
        "reward_prestige_delta": drawn.prestige_delta,
        "skill_boost_pct": drawn.skill_boost,
        "requirements": [[DOMAINS[place], units] for place, units in zip(drawn.domains, drawn.quantities, strict=True)],
    }


def all_drawn(record: Record) -> list[Record]:
    """Return the whole market of a world as drawn."""
    world = config_of(record).world
    numbers = range(1, world.num_market_tasks + 1)
    return [as_drawn(number, draw_initial_task(world, record["seed"], number, None)) for number in numbers]


def as_stored(task: MarketTask) -> Record:
    """Return a listed task in the form of the records, but for the places of its prestige gain and its suffix."""
    return {
        "title": f"Task-{task.number}",
        "required_prestige": task.required_prestige,
        "reward_funds_cents": task.reward_cents,
        "reward_prestige_delta": f"{task.prestige_delta_milli / 1000:.3f}",
        "skill_boost_pct": task.skill_boost_e4 / 10_000,
        "requirements": [[DOMAINS[place], units] for place, units in zip(task.domains, task.quantities, strict=True)],
    }


def rounded(recorded: Record) -> Record:
    """Return a recorded task with the places of prestige that play stores."""
    return {**recorded, "reward_prestige_delta": f"{recorded['reward_prestige_delta']:.3f}"}


def test_there_are_two_worlds_of_each_classic_preset() -> None:
    presets = ("tutorial", "easy", "medium", "hard", "nightmare", "default")
    assert [(record["preset"], record["seed"]) for record in RECORDS] == [(p, s) for p in presets for s in (1, 2)]


@each_world
def test_the_staff_is_the_recorded_one(record: Record) -> None:
    staff = initial_state(config_of(record), record["seed"]).employees
    assert [
        {
            "name": employee.name,
            "tier": employee.tier,
            "salary_cents": employee.salary_cents,
            "rates": {name: rate / 10_000 for name, rate in zip(DOMAINS, employee.rates_e4, strict=True)},
        }
        for employee in staff
    ] == record["employees"]


@each_world
def test_all_tasks_are_drawn_as_they_were_recorded(record: Record) -> None:
    tasks = all_drawn(record)
    assert len(tasks) == record["num_tasks"]
    assert tasks[:12] == record["tasks_first12"]
    text = json.dumps(tasks, separators=(",", ":"))
    assert sha256(text.encode()).hexdigest() == record["all_tasks_sha256"]


@each_world
def test_the_sums_over_all_listed_tasks_are_the_recorded_ones(record: Record) -> None:
    market = initial_state(config_of(record), record["seed"]).market
    prestige = Counter(str(task.required_prestige) for task in market)
    counts = Counter(str(len(task.domains)) for task in market)
    assert sum(task.reward_cents for task in market) == record["sum_reward"]
    assert {level: prestige[level] for level in record["prestige_hist"]} == record["prestige_hist"]
    assert {count: counts[count] for count in record["domain_count_hist"]} == record["domain_count_hist"]
    assert max(max(task.quantities) for task in market) == record["max_qty"]
    assert (prestige.total(), counts.total()) == (record["num_tasks"],) * 2


@each_world
def test_the_market_stores_what_was_drawn(record: Record) -> None:
    state = initial_state(config_of(record), record["seed"])
    assert [as_stored(task) for task in state.market] == [rounded(drawn) for drawn in all_drawn(record)]
    assert {task.client_name for task in state.market} == {None}


@each_world
def test_the_first_replacements_are_the_recorded_ones_in_whatever_slots_they_come(record: Record) -> None:
    config = config_of(record)
    state = initial_state(config, record["seed"])
    for number, recorded in enumerate(record["replacements_0_2"]):
        drawn = draw_task(config.world, stream(record["seed"], f"replenish_{number}"), None, None)
        assert as_drawn(number, drawn) == recorded
        slot = 3 - number  # Task-4 and down: the first four need no more prestige than there is
        state = carried_out(state, AcceptTask(state.market[slot].task_id))
        assert as_stored(state.market[slot]) == rounded(recorded)
        assert state.market[slot].task_id == ("Task-0" if number == 0 else f"Task-{number}-2")
