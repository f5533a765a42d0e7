"""Playing an episode: the seed that a policy receives, and turns that are none."""

from typing import Any

import pytest

from ycbench_agents import TurnError, make_policy, policy_seed, rollout
from ycbench_agents.base import checked_turn
from ycbench_env import Observation, YCBenchEnv


class Returns:
    """Returns the same from every ``act``, and remembers its seeds."""

    def __init__(self, turn: object = "") -> None:
        self.turn = turn
        self.seeds: list[int] = []

    def reset(self, seed: int) -> None:
        self.seeds.append(seed)

    def act(self, observation: Observation) -> Any:  # noqa: ANN401, ARG002 -- faulty on purpose
        return self.turn


def test_policy_cannot_rebuild_the_world_from_its_seed() -> None:
    policy, env = Returns(), YCBenchEnv()
    rollout(env, policy, 7, max_turns=1)
    assert policy.seeds == [policy_seed(7)] != [7]
    rebuilt = YCBenchEnv()
    rebuilt.reset(seed=policy.seeds[0])
    assert rebuilt.step("market browse")[0]["results"] != env.step("market browse")[0]["results"]


@pytest.mark.parametrize(
    ("turn", "got"),
    [(None, "NoneType"), (3, "int"), (b"task list", "bytes"), ({"a"}, "set"), (["task list", None], "list that holds")],
)
def test_turn_that_is_none_is_named(turn: object, got: str) -> None:
    with pytest.raises(TurnError, match=rf"^policy Returns, turn 1: act returned {got}.*expected a text or a sequence"):
        rollout(YCBenchEnv(), Returns(turn), 1)


def test_turns_are_texts_or_tuples_of_texts() -> None:
    assert checked_turn("task list", None) == "task list"
    assert checked_turn(["task list", ""], None) == ("task list", "")


def test_return_is_the_change_in_funds() -> None:
    trajectory = rollout(YCBenchEnv(), make_policy("greedy"), 2)
    assert trajectory.total_return == (27_129_705 - 20_000_000) / 100
    assert sum(trajectory.rewards) == pytest.approx(trajectory.total_return)
    assert len(trajectory.observations) == len(trajectory.infos) == len(trajectory.actions) + 1 == trajectory.turns + 1


def test_rollout_can_be_cut_off() -> None:
    trajectory = rollout(YCBenchEnv(), make_policy("greedy"), 1, max_turns=3)
    assert (trajectory.turns, trajectory.terminated, trajectory.truncated) == (3, False, False)
    assert trajectory.terminal_reason is None
