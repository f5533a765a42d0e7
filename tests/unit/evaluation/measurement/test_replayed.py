"""Playing a record again: what is refused, and what is looked at on the way."""

# ruff: noqa: ANN401 -- the kit comes as a fixture

import json
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from ycbench_agents import make_policy
from ycbench_agents.evaluation.measurement import MeasurementError, measure_run
from ycbench_agents.evaluation.measurement.month import months_of
from ycbench_agents.evaluation.measurement.replayed import replayed_turns, start_of
from ycbench_agents.evaluation.measurement.task_course import TaskCourse, is_open
from ycbench_env import transition
from ycbench_env.actions import parse_turn
from ycbench_env.testing import tiny_config
from ycbench_env.types import Calendar

NOTE = "scratchpad write --content hello"


def changed(record: Any, number: int, **fields: object) -> Any:
    """Change fields of a recorded turn."""
    path = record.folder / "turns.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[number - 1].update(fields)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return record


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"state_hash": "0" * 64}, "the world has the hash [0-9a-f]{12}, recorded is 000000000000"),
        ({"funds_cents": 1}, r"clock and funds in cents are \('2025-01-02T10:00:00', 11220000\), recorded are"),
        ({"sim_time": "2025-01-02T11:00:00"}, "clock and funds"),
        ({"notes_sha256": "0" * 64}, "the notes have another hash than recorded"),
        ({"action": "sim resume\nsim resume"}, "1 answers are recorded, its action has 2 commands"),
        (
            {"action": "task accept --task-id Task-99"},
            "'task accept --task-id Task-99' is recorded as carried out, now: no",
        ),
        ({"action": NOTE}, "clock and funds"),
        ({"invalid_commands": 1}, "0 of its commands are not grammatical, recorded are 1"),
    ],
)
def test_a_turn_that_is_not_as_recorded_is_named_with_what_differs(
    kit: Any, start: Callable[..., str], fields: dict[str, object], why: str
) -> None:
    record = changed(kit.record(start("Task-1", "Emp_1", "Emp_2"), "sim resume", "", ""), 2, **fields)
    with pytest.raises(MeasurementError, match=f"run0: turn 2 is not as it was recorded: {why}.*; measure it with"):
        measure_run(record)


def test_a_hash_that_differs_while_the_world_stands_still_is_noticed(kit: Any) -> None:
    record = changed(kit.record("", "", ""), 3, state_hash="1" * 64)
    with pytest.raises(MeasurementError, match="turn 3 is not as it was recorded"):
        measure_run(record)


def test_of_a_world_of_many_tasks_every_turn_is_hashed(kit: Any) -> None:
    many = "\n".join(f"task accept --task-id Task-{number}" for number in range(1, 505))
    record = kit.record(many, "sim resume", config=tiny_config(num_market_tasks=504))
    measure_run(record)
    with pytest.raises(MeasurementError, match="turn 1 is not as it was recorded: the world has the hash"):
        measure_run(changed(record, 1, state_hash="0" * 64))


def test_the_gate_of_a_listed_task_is_open_where_the_simulator_accepts_it(kit: Any) -> None:
    record = kit.record(config="default", policy=make_policy("greedy"), seed=3, max_turns=24)
    looked = {True: 0, False: 0}
    for turn in list(replayed_turns(record, start_of(record)))[::8]:
        for offer in turn.after.market:
            command = parse_turn(f"task accept --task-id {offer.task_id}")[0].command
            assert command is not None
            accepted = transition(turn.after, command).refusal is None
            assert is_open(turn.after, offer) == accepted
            looked[accepted] += 1
    assert min(looked.values()) > 50


def test_where_the_highest_prestige_counts_the_gate_is_that(kit: Any) -> None:
    config = tiny_config(prestige_gate="highest", market_prestige_ladder=[3, 3, 3, 3])
    world = start_of(kit.record("", config=config))
    high = attrs.evolve(world, prestige_milli=(3000, 1000, 1000, 1000))
    for state, expected in ((world, False), (high, True)):
        for offer in state.market:
            command = parse_turn(f"task accept --task-id {offer.task_id}")[0].command
            assert command is not None
            assert is_open(state, offer) == (transition(state, command).refusal is None) == expected


def test_shares_of_open_tasks_kept_from_accept_to_accept_are_as_if_counted_anew(kit: Any) -> None:
    record = kit.record(config="default", policy=make_policy("accept_all"), seed=5, max_turns=2)
    world = start_of(record)
    adversarial = {client.name for client in world.clients if client.is_adversarial}
    course, expected = TaskCourse(world), []
    for turn in replayed_turns(record, world):
        course.add(turn)
        for said in turn.commands:
            if said.name == "task accept" and said.ok:
                names = [offer.client_name for offer in said.before.market if is_open(said.before, offer)]
                expected.append(sum(name in adversarial for name in names) / len(names))
    assert len(expected) > 5
    assert len(set(expected)) > 1
    acceptance: Any = course.acceptance(world)
    assert acceptance.open_adversarial_fraction == pytest.approx(sum(expected) / len(expected))


def test_months_run_from_the_start_to_the_horizon_also_across_a_new_year() -> None:
    calendar = Calendar.from_config(tiny_config(sim={"start_date": "2025-03-15"}))
    labels = [month.label for month in months_of(calendar)]
    assert labels == [*(f"2025-{number:02}" for number in range(3, 13)), "2026-01", "2026-02", "2026-03"]
