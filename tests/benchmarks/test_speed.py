"""Benchmarks of docs/performance.md. What is asserted is a ratio within one run, never a time."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import gymnasium
import pytest

import ycbench_env  # noqa: F401  # pyright: ignore[reportUnusedImport] -- registers the ids
from ycbench_agents import make_policy, rollout

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

_MIXED = {"loop": {"auto_advance_after_turns": 0}}


def make_env(config: object = "default") -> Any:
    return gymnasium.make("YCBench-v0", config=config)


def mixed_session(seed: int) -> list[str]:
    """Return the commands of a year in which every kind of command is used, one command a turn."""
    env = make_env(_MIXED)
    env.reset(seed=seed)
    commands: list[str] = []

    def say(command: str) -> dict[str, Any]:
        commands.append(command)
        *_, terminated, _, info = env.step(command)
        nonlocal over
        over = terminated
        return info["results"][-1]["output"]

    over = False
    count = 0
    while not over:
        count += 1
        page = say("market browse --limit 10" if count % 4 else "market browse")
        task_id = page["tasks"][count % 5]["task_id"]
        say("company status")
        say(f"task inspect --task-id {task_id}")
        say(f"task accept --task-id {task_id}")
        say(f"task assign --task-id {task_id} --employees Emp_2,Emp_4,Emp_6,Emp_7")
        say(f"task dispatch --task-id {task_id}")
        for command in ("employee list", "client list", "client history", "task list --status active"):
            say(command)
        say("sim resume")
        if count % 7 == 0 and not over:
            say("finance ledger --category task_reward")
            say(f"task cancel --task-id {task_id} --reason 'no capacity'")
    return commands


def play(env: Any, commands: list[str]) -> None:
    env.reset(seed=1)
    for command in commands:
        env.step(command)


def test_a_mixed_command_through_step_with_text(benchmark: BenchmarkFixture) -> None:
    """One command of a year in which each kind of command is about equally frequent."""
    commands = mixed_session(1)
    env = make_env(_MIXED)
    place = len(commands)

    def next_command() -> tuple[tuple[str], dict[str, object]]:
        nonlocal place
        if place == len(commands):
            env.reset(seed=1)
            place = 0
        place += 1
        return (commands[place - 1],), {}

    benchmark.pedantic(env.step, setup=next_command, rounds=20 * len(commands))


def greedy_session(seed: int) -> list[str]:
    """Return the commands of a greedy year, one command a turn."""
    played = rollout(make_env(), make_policy("greedy"), seed)
    return [command for turn in played.actions for command in str(turn).split("\n")]


@pytest.mark.parametrize("session", [greedy_session, mixed_session])
def test_one_sim_resume(benchmark: BenchmarkFixture, session: Callable[[int], list[str]]) -> None:
    """Each in its place in a year that is played, so that nothing is known of its state beforehand.

    In the mixed session the same four people are on up to five tasks at once, which takes longer.
    """
    commands = session(1)
    env = make_env(_MIXED)
    place = len(commands)

    def play_up_to_the_next() -> tuple[tuple[str], dict[str, object]]:
        nonlocal place
        while place == len(commands) or commands[place] != "sim resume":
            if place == len(commands):
                env.reset(seed=1)
                place = 0
            else:
                env.step(commands[place])
                place += 1
        place += 1
        return ("sim resume",), {}

    benchmark.pedantic(env.step, setup=play_up_to_the_next, rounds=40 * commands.count("sim resume"))


def test_a_greedy_year(benchmark: BenchmarkFixture) -> None:
    env = make_env()
    benchmark(rollout, env, make_policy("greedy"), 1)


def test_clone(benchmark: BenchmarkFixture) -> None:
    env = make_env()
    play(env, mixed_session(1)[:200])
    benchmark(env.unwrapped.clone)


def test_reset(benchmark: BenchmarkFixture) -> None:
    env = make_env()
    benchmark(env.reset, seed=1)


def test_state_to_bytes_and_back(benchmark: BenchmarkFixture) -> None:
    env = make_env()
    play(env, mixed_session(1)[:200])
    state = env.unwrapped.get_state()
    benchmark(lambda: state.from_bytes(state.to_bytes()))


def test_import(benchmark: BenchmarkFixture) -> None:
    benchmark.pedantic(
        subprocess.run, args=([sys.executable, "-c", "import ycbench_env"],), kwargs={"check": True}, rounds=5
    )


@pytest.mark.benchmark(group="ratios")
def test_a_question_costs_little_more_with_three_hundred_tasks_in_hand(benchmark: BenchmarkFixture) -> None:
    """The cost of a command must not grow with the square of what is held."""
    few, many = _with_planned_tasks(10), _with_planned_tasks(300)
    for env in (few, many):
        env.step("company status")
    took = {name: _seconds(env, "company status") for name, env in (("few", few), ("many", many))}
    benchmark(few.step, "company status")
    assert took["many"] < 5 * took["few"]


def _with_planned_tasks(count: int) -> Any:
    env = make_env(_MIXED)
    env.reset(seed=1)
    while env.unwrapped.get_state().status_counts["planned"] < count:  # a slot may refill with what needs trust
        *_, info = env.step("market browse")
        env.step([f"task accept --task-id {task['task_id']}" for task in info["results"][0]["output"]["tasks"][:10]])
    return env


def _seconds(env: Any, command: str) -> float:
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(20):
            env.step(command)
        best = min(best, time.perf_counter() - start)
    return best
