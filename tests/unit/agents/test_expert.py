"""The expert: strong, solvent, and open about what it accepts; it copes with worlds and turns it did not choose."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any, Final

import pytest

from ycbench_agents import Trajectory, make_policy, rollout
from ycbench_agents.scripted.expert import ExpertPolicy
from ycbench_agents.scripted.forecast import TEAM_SIZE
from ycbench_env import Observation, State, YCBenchEnv, load_config

SEVERAL_DOMAINS: Final = {
    "num_employees": 11,
    "num_clients": 9,
    "num_market_tasks": 120,
    "task_progress_milestones": [0.25, 0.5, 0.75],
    "deadline_qty_per_day": 60.0,
    "dist": {"domain_count": {"type": "triangular", "low": 1, "high": 3, "mode": 1}},
}


@cache
def played(preset: str, seed: int) -> tuple[Trajectory, State]:
    env = YCBenchEnv(preset)
    return rollout(env, ExpertPolicy(), seed), env.get_state()


def play(world: dict[str, Any]) -> Trajectory:
    return rollout(YCBenchEnv({"world": world}), ExpertPolicy(), 1)


def answered(trajectory: Trajectory, verb: str) -> list[dict[str, Any]]:
    """The answers to all commands of a verb that were carried out."""
    results = [result for info in trajectory.infos for result in info["results"]]
    return [result["output"] for result in results if result["ok"] and result["command"].startswith(verb)]


def completions(trajectory: Trajectory) -> list[dict[str, Any]]:
    events = [event for info in trajectory.infos for event in info["events"]]
    return [event for event in events if event["type"] == "task_completed"]


def test_hardly_a_task_fails_and_no_command_is_refused() -> None:
    trajectory, state = played("reference", 2)
    assert trajectory.final_funds_cents == 430_507_893
    assert [task for task in state.tasks if task.status == "active"] == []  # nor one after the horizon
    outcomes = Counter(event["success"] for event in completions(trajectory))
    assert outcomes[True] > 200
    assert outcomes[False] <= 0.02 * outcomes[True]
    assert [result for info in trajectory.infos for result in info["results"] if not result["ok"]] == []


def test_expert_works_on_all_but_its_probes() -> None:
    trajectory, state = played("reference", 2)
    accepted = Counter(answer["task_id"] for answer in answered(trajectory, "task accept"))
    begun = {answer["task_id"] for answer in answered(trajectory, "task dispatch")}
    idle = [task for task in state.tasks if task.task_id in accepted.keys() - begun]
    assert max(Counter(task.offer.client_name for task in idle).values()) == 1
    assert len(accepted) == len(begun) + len(idle)


def test_nobody_works_for_an_adversary() -> None:
    trajectory, state = played("reference", 2)
    adversaries = {client.name for client in state.clients if client.loyalty_milli < -300}
    assert adversaries
    begun = {answer["task_id"] for answer in answered(trajectory, "task dispatch")}
    owners = {task.task_id: task.offer.client_name for task in state.tasks}
    assert {owners[task_id] for task_id in begun} == {client.name for client in state.clients} - adversaries
    assert Counter(owners.values())[min(adversaries)] == 1


@pytest.mark.slow
def test_work_raised_to_the_least_amount_shows_no_adversary() -> None:
    """A small task of an honest client has 200 units once it is accepted, more than was listed."""
    env = YCBenchEnv({"world": {"dist": {"required_qty": {"type": "constant", "value": 100}}}})
    for name in ("expert", "conservative"):
        assert rollout(env, make_policy(name), 3).final_funds_cents > 2 * 10**8


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "least_cents"), [(1, 100_000_000), (4, 200_000_000), (9, 250_000_000)])
def test_limit_on_open_tasks_is_found_out(limit: int, least_cents: int) -> None:
    trajectory = play({"max_open_tasks": limit})
    assert trajectory.final_funds_cents > least_cents
    refused = [result for info in trajectory.infos for result in info["results"] if not result["ok"]]
    assert 0 < len(refused) < len(answered(trajectory, "task accept"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "least_cents"),
    [
        ({"num_employees": 1}, 10_000_000),
        ({"num_market_tasks": 12}, 10_000_000),
        (SEVERAL_DOMAINS, 100_000_000),
        ({"num_clients": 2}, 50_000_000),
        ({"num_employees": 3, "world_seed": "run"}, 20_000_000),
    ],
    ids=["one employee", "few tasks", "several domains a task", "one honest client", "another staff"],
)
def test_expert_stays_solvent_in_other_worlds(world: dict[str, Any], least_cents: int) -> None:
    trajectory = play(world)
    assert trajectory.terminal_reason == "horizon_end"
    assert trajectory.final_funds_cents > least_cents


@pytest.mark.parametrize(("team", "given_up"), [("Emp_1", True), ("Emp_1,Emp_2,Emp_4,Emp_6,Emp_7,Emp_8", False)])
def test_task_of_somebody_else_is_inspected_and_given_up_if_hopeless(team: str, *, given_up: bool) -> None:
    env = YCBenchEnv()
    env.reset(seed=1)
    listed = [task for task in env.get_state().market if task.required_prestige == 1]
    task_id = max(listed, key=lambda task: max(task.quantities)).task_id
    start = f"task accept --task-id {task_id}\ntask assign --task-id {task_id} --employees {team}"
    observation = env.step(f"{start}\ntask dispatch --task-id {task_id}")[0]
    policy = ExpertPolicy()
    turns: list[str] = []
    for _ in range(4):
        turns.append(policy.act(observation))
        observation = env.step(turns[-1])[0]
    assert f"task inspect --task-id {task_id}" in turns[1]
    assert (f"task cancel --task-id {task_id}" in turns[2]) is given_up


@pytest.mark.slow
@pytest.mark.parametrize(
    "nuisance", ["task assign --task-id {} --employees Emp_1,Emp_2", "market browse --limit 2", ""]
)
def test_turns_of_others_do_no_lasting_harm(nuisance: str) -> None:
    env = YCBenchEnv()
    observation, _ = env.reset(seed=1)
    policy = ExpertPolicy()
    terminated, number = False, 0
    while not terminated:
        turn = policy.act(observation)
        number += 1
        if number % 7 == 0:
            listed = next(task.task_id for task in env.get_state().market if task.required_prestige == 1)
            turn = f"task accept --task-id {listed}\n{nuisance.format(listed)}\ntask dispatch --task-id {listed}"
        observation, _, terminated, *_ = env.step(turn)
    assert int(observation["funds_cents"]) > 100_000_000


def test_expert_looks_before_it_decides() -> None:
    env = YCBenchEnv()
    observation, _ = env.reset(seed=1)
    policy = ExpertPolicy()
    first = policy.act(observation)
    assert "accept" not in first
    observation, *_ = env.step(first)
    commands = [result["command"] for result in json.loads(observation["results"])]
    assert commands == first.split("\n")
    assert policy.act(without_answers(observation)) == first  # looks that are gone are asked for again


def without_answers(observation: Observation) -> Observation:
    return {**observation, "results": "[]"}


def test_idle_staff_tries_larger_teams() -> None:
    """Progress counts until midnight here, so two seem best; with them alone it did two tasks."""
    overrides = {"world": {"skill_rates_visible": True}, "loop": {"max_turns": 50}}
    env = YCBenchEnv(load_config("classic-hard", overrides=overrides, environ={}))
    trajectory = rollout(env, ExpertPolicy(), 3)
    assert max(map(len, teams(trajectory)[2:])) > 2
    assert len(answered(trajectory, "task dispatch")) > 10
    assert trajectory.infos[-1]["terminal_reason"] == "max_turns"


def teams(trajectory: Trajectory) -> list[list[str]]:
    """Those who were assigned, by command."""
    lines = [line for turn in trajectory.actions for line in str(turn).splitlines()]
    return [line.split()[-1].split(",") for line in lines if "--employees" in line]


def test_idle_staff_accepts_offers_that_may_have_time() -> None:
    world = {
        "num_clients": 6,
        "skill_rates_visible": True,
        "task_progress_milestones": [],
        "resume_stops_at_payroll": True,
        "prestige_gate": "required_domains",
    }
    trajectory = rollout(
        YCBenchEnv(load_config("classic-hard", overrides={"world": world}, environ={})), ExpertPolicy(), 3
    )
    accepted = [output["task_id"] for output in answered(trajectory, "task accept")]
    begun = {output["task_id"] for output in answered(trajectory, "task dispatch")}
    assert "Task-66" in accepted[5:]  # after the probes, of which little came
    assert "Task-66" in begun
    assert len(begun) >= 5
    assert max(map(len, teams(trajectory))) > TEAM_SIZE
    assert trajectory.infos[-1]["terminal_reason"] == "horizon_end"
