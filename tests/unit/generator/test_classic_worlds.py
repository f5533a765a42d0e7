"""Worlds of the classic presets as the public implementation of that time recorded them. Source: K-1."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ycbench_env import State, generator, initial_state, load_config
from ycbench_env.rules.number import round_double
from ycbench_env.testing.tiny import carried_out
from ycbench_env.types.command import AcceptTask
from ycbench_env.types.state import MarketTask
from ycbench_env.vocabulary import DOMAINS

Record = dict[str, Any]

RECORDS: list[Record] = json.loads(
    (Path(__file__).parents[2] / "data" / "classic" / "worlds.json").read_text(encoding="utf-8")
)["worlds"]

each_world = pytest.mark.parametrize("record", RECORDS, ids=lambda record: f"{record['preset']}-{record['seed']}")


def world(record: Record) -> State:
    return initial_state(load_config(f"classic-{record['preset']}", environ={}), record["seed"])


def as_recorded(task: MarketTask) -> Record:
    """A task as the records have it; they know no suffix of an id."""
    return {
        "title": f"Task-{task.number}",
        "required_prestige": task.required_prestige,
        "reward_funds_cents": task.reward_cents,
        "reward_prestige_delta": task.prestige_delta_milli / 1000,
        "skill_boost_pct": task.skill_boost_e4 / 10_000,
        "requirements": [[DOMAINS[place], units] for place, units in zip(task.domains, task.quantities, strict=True)],
    }


def rounded(task: Record) -> Record:
    """A recorded task with the 3 places of a prestige gain that play stores (Y-7)."""
    return {**task, "reward_prestige_delta": float(f"{task['reward_prestige_delta']:.3f}")}


def test_there_are_two_worlds_of_each_classic_preset() -> None:
    presets = ("tutorial", "easy", "medium", "hard", "nightmare", "default")
    assert [(record["preset"], record["seed"]) for record in RECORDS] == [(p, s) for p in presets for s in (1, 2)]


@each_world
def test_staff_and_sums_over_the_market_are_the_recorded_ones(record: Record) -> None:
    state = world(record)
    staff = [
        {
            "name": employee.name,
            "tier": employee.tier,
            "salary_cents": employee.salary_cents,
            "rates": {name: rate / 10_000 for name, rate in zip(DOMAINS, employee.rates_e4, strict=True)},
        }
        for employee in state.employees
    ]
    assert staff == record["employees"]
    prestige = Counter(str(task.required_prestige) for task in state.market)
    counts = Counter(str(len(task.domains)) for task in state.market)
    assert sum(task.reward_cents for task in state.market) == record["sum_reward"]
    assert {level: prestige[level] for level in record["prestige_hist"]} == record["prestige_hist"]
    assert {count: counts[count] for count in record["domain_count_hist"]} == record["domain_count_hist"]
    assert max(max(task.quantities) for task in state.market) == record["max_qty"]
    assert (prestige.total(), counts.total()) == (record["num_tasks"],) * 2


@each_world
def test_all_tasks_are_drawn_as_recorded_and_then_stored(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = [as_recorded(task) for task in world(record).market]

    def exact_prestige(value: float, scale: int) -> float:
        """Round all but prestige gains, which the records hold as they were drawn, with 4 places."""
        return value * 1000 if scale == 1000 else round_double(value, scale)

    monkeypatch.setattr(generator, "round_double", exact_prestige)
    drawn = [as_recorded(task) for task in world(record).market]
    for task in drawn:
        task["reward_prestige_delta"] = round(task["reward_prestige_delta"], 6)
    assert drawn[:12] == record["tasks_first12"]
    text = json.dumps(drawn, separators=(",", ":"))
    assert sha256(text.encode()).hexdigest() == record["all_tasks_sha256"]
    assert stored == [rounded(task) for task in drawn]


@each_world
def test_the_first_replacements_are_the_recorded_ones_in_whatever_slots_they_come(record: Record) -> None:
    state = world(record)
    for number, recorded in enumerate(record["replacements_0_2"]):
        slot = 3 - number  # Task-4 and down: the first four need no more prestige than there is
        state = carried_out(state, AcceptTask(state.market[slot].task_id))
        assert as_recorded(state.market[slot]) == rounded(recorded)
        assert state.market[slot].task_id == ("Task-0" if number == 0 else f"Task-{number}-2")
