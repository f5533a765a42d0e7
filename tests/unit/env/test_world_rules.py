"""What an agent of a world under other rules can say, and what it is told. Source: K-1.1, K-1.2, K-3."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.actions import grammar_for

_SMALL = {"world": {"num_market_tasks": 20, "num_employees": 3}}


@pytest.fixture
def env() -> YCBenchEnv:
    env = YCBenchEnv({"extends": "classic-hard", **_SMALL})
    env.reset(seed=1)
    return env


def results(env: YCBenchEnv, turn: str) -> list[Any]:
    return [result["output"] for result in env.step(turn)[4]["results"]]


def hired(env: YCBenchEnv, turn: str) -> list[Any]:
    """Answers to a turn after Task-1 is accepted."""
    return results(env, f"task accept --task-id Task-1\n{turn}")[1:]


def test_one_employee_can_be_named_by_id(env: YCBenchEnv) -> None:
    one, other = hired(
        env, "task assign --task-id Task-1 --employee-id Emp_2\ntask assign --task-id Task-1 --employee-id Emp_1"
    )
    assert (one["newly_assigned"], one["total_assigned"]) == (["Emp_2"], ["Emp_2"])
    assert (other["newly_assigned"], other["total_assigned"]) == (["Emp_1"], ["Emp_1", "Emp_2"])


@pytest.mark.parametrize("status", ["planned", "active"])
def test_to_name_one_again_by_id_is_an_error_that_changes_nothing(env: YCBenchEnv, status: str) -> None:
    dispatch = "\ntask dispatch --task-id Task-1" if status == "active" else ""
    hired(env, f"task assign --task-id Task-1 --employees Emp_1{dispatch}")
    state = env.get_state()
    (refused,) = results(env, "task assign --task-id Task-1 --employee-id Emp_1")
    assert "Emp_1 is already assigned to Task-1; nothing was changed" in refused["error"]
    assert env.get_state().tasks is state.tasks
    (again,) = results(env, "task assign --task-id Task-1 --employees Emp_1,Emp_3,Emp_3")
    assert (again["newly_assigned"], again["total_assigned"]) == (["Emp_3"], ["Emp_1", "Emp_3"])


def test_an_unknown_name_is_refused_alike_either_way(env: YCBenchEnv) -> None:
    one, many = hired(
        env, "task assign --task-id Task-1 --employee-id Emp_9\ntask assign --task-id Task-1 --employees Emp_9"
    )
    assert one == many
    assert "no employee named 'Emp_9'; nobody was assigned; employees: Emp_1, Emp_2, Emp_3" in one["error"]


@pytest.mark.parametrize("command", ["client list", "client history", "client list --help", "client"])
def test_clients_are_asked_for_in_vain_where_there_are_none(env: YCBenchEnv, command: str) -> None:
    _, _, _, _, info = env.step(command)
    assert info["invalid_commands"] == 1
    (result,) = info["results"]
    assert "Unknown command" in str(result["output"]["error"])


def test_help_is_that_of_the_world(env: YCBenchEnv) -> None:
    everything, one = results(env, "--help\ntask assign --help")
    assert "client" not in everything["help"]
    assert "--required-prestige-lte N" in everything["help"]
    assert "--employee-id NAME" in one["help"]


def test_the_action_space_has_the_commands_of_the_world(env: YCBenchEnv) -> None:
    space = env.action_space
    assert space.grammar is grammar_for(env.config.world)
    assert "client list" not in space.verbs
    assert "client list" not in space
    assert "task assign --task-id Task-1 --employee-id Emp_1" in space
    space.seed(1)
    drawn = [space.sample() for _ in range(300)]
    assert all(turn in space for turn in drawn)
    assert {"--employee-id", "--employees", "--required-prestige-lte"} <= {
        word for turn in drawn for word in turn.split()
    }


def test_nobody_is_named_as_a_client_anywhere(env: YCBenchEnv) -> None:
    hired(env, "task assign --task-id Task-1 --employees Emp_1,Emp_2,Emp_3; task dispatch --task-id Task-1")
    said: list[Any] = results(env, "market browse --limit 1; task list; task inspect --task-id Task-1")
    events: list[Any] = []
    while not any(event["type"] == "task_completed" for event in events):
        observation, _, _, _, info = env.step("sim resume")
        events = info["events"]
        assert json.loads(observation["events"]) == events
        assert json.loads(observation["results"])[0]["output"]["wake_events"] == events
    (completed,) = (event for event in events if event["type"] == "task_completed")
    market, listed, inspected = said
    for row in (market["tasks"][0], listed["tasks"][0], inspected, completed):
        assert row["client_name"] is None
    for row in (market["tasks"][0], inspected):
        assert row["required_trust"] == 0
    assert repr(completed["trust_delta"]) == "0.0"


def test_a_cancel_without_a_client_costs_no_trust(env: YCBenchEnv) -> None:
    (output,) = hired(env, "task cancel --task-id Task-1 --reason 'changed plan'")
    assert repr(output["trust_delta"]) == "0.0"
