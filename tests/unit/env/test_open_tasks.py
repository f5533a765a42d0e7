"""The limit on open tasks as an agent meets it. Source: X-1."""

from __future__ import annotations

import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.testing import tiny_config
from ycbench_env.types.state import evolve


def played(most: int) -> YCBenchEnv:
    """Return an environment of the tiny world with a limit, at its start."""
    env = YCBenchEnv(tiny_config(max_open_tasks=most))
    env.reset(seed=1)
    return env


def test_a_refused_accept_is_explained_and_leaves_the_hash_alone() -> None:
    env = played(1)
    env.step("task accept --task-id Task-1")
    kept = env.state_hash()
    observation, _, _, _, info = env.step("task accept --task-id Task-3 && company status")
    assert [result["ok"] for result in info["results"]] == [False, False]  # what is chained to it is not run
    assert "1 task is planned or active, and no more than 1 may be" in observation["text"]
    assert info["invalid_commands"] == 0  # it was understood
    assert env.state_hash() == kept


@pytest.mark.parametrize(("most", "drawn"), [(2, 2), (0, 32)])
def test_the_limit_closes_the_loophole_of_drawing_the_market_anew(most: int, drawn: int) -> None:
    env = played(most)
    for _ in range(8):
        for _ in range(4):
            env.step(f"task accept --task-id {env.get_state().market[0].task_id}")
        env.set_state(evolve(env.get_state(), idle_turns=0))  # so that no time is moved
    assert sum(env.get_state().slot_accepts) == drawn


def test_room_is_made_within_the_same_turn() -> None:
    env = played(1)
    one = "--task-id Task-1"
    info = env.step(
        f"task accept {one}; task assign {one} --employees Emp_1,Emp_2; task dispatch {one}; sim resume\n"
        "task accept --task-id Task-3; task cancel --task-id Task-3 --reason plans; task accept --task-id Task-4"
    )[4]
    assert [result["ok"] for result in info["results"]] == [True] * 7
