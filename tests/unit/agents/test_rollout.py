"""Playing an episode: the seed that a policy receives, and turns that are none."""

import typing

import pytest

import ycbench_agents
from ycbench_agents import TurnError, policy_seed, rollout
from ycbench_agents.base import checked_turn
from ycbench_env import Observation, YCBenchEnv


class Returns:
    """Returns the same from every ``act``, and remembers its seeds."""

    def __init__(self, turn: object = "") -> None:
        self.turn = turn
        self.seeds: list[int] = []

    def reset(self, seed: int) -> None:
        self.seeds.append(seed)

    def act(self, observation: Observation) -> typing.Any:  # noqa: ANN401, ARG002 -- faulty on purpose
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


def test_public_annotations_resolve_at_run_time() -> None:
    for name in ycbench_agents.__all__:
        thing = getattr(ycbench_agents, name)
        members = (
            [thing, *(each for each in vars(thing).values() if callable(each))] if isinstance(thing, type) else [thing]
        )
        for each in members:
            typing.get_type_hints(each)
