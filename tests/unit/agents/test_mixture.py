"""Mixture: whose turn it is depends on the seed alone, and nobody is asked whose turn it is not."""

# ruff: noqa: ANN401 -- stand-ins see anything, and wrong values are tried

from __future__ import annotations

import asyncio
from typing import Any, Final

import pytest

from ycbench_agents import Decision, PolicyError, PolicyStoppedError, TurnError, make_policy, rollout
from ycbench_agents.scripted.mixture import MixturePolicy, named_policies
from ycbench_agents.scripted.random import RandomPolicy
from ycbench_env import YCBenchEnv

OBSERVATION: Final[Any] = {"text": "x", "turn": 1}
REPLAY = "ycbench_agents.scripted.replay:ReplayPolicy"


class Says:
    """Says one thing; the observations that it was asked with are kept."""

    def __init__(self, turn: str) -> None:
        self.turn = turn
        self.seeds: list[int] = []
        self.asked = 0

    def reset(self, seed: int) -> None:
        self.seeds.append(seed)

    def act(self, observation: Any) -> str:
        assert observation["text"]
        self.asked += 1
        return self.turn


class Deliberates(Says):
    """Decides what it says, and stops while it has nothing to say."""

    async def decide(self, observation: Any) -> Decision:  # noqa: ARG002 -- the contract
        if not self.turn:
            raise PolicyStoppedError
        return Decision(self.turn, {"said": self.turn})

    def recall(self, _observation: Any, trace: Any) -> str:
        return trace["said"]


def said(policy: Any, seed: int, turns: int = 200) -> list[str]:
    policy.reset(seed)
    return [policy.act({"text": "x"}) for _ in range(turns)]


def mixed(epsilon: float, first: Any = None, other: Any = None) -> MixturePolicy:
    return MixturePolicy(first or Says("a"), other or Says("b"), epsilon)


@pytest.mark.parametrize(("epsilon", "name"), [(0, "greedy"), (1.0, "random")])
def test_epsilon_0_and_1_play_one_policy(epsilon: float, name: str) -> None:
    mixture, alone = (
        rollout(YCBenchEnv(), each, 2) for each in (MixturePolicy("greedy", "random", epsilon), make_policy(name))
    )
    assert mixture.actions == alone.actions


def test_epsilon_is_the_share_of_the_others_turns() -> None:
    counts = [said(mixed(0.1), seed, 1000).count("b") for seed in range(10)]
    assert all(60 < count < 140 for count in counts)
    assert len(set(counts)) > 1


def test_turns_of_the_other_stay_so_at_greater_epsilon() -> None:
    less, more = said(mixed(0.1), 3), said(mixed(0.3), 3)
    assert "b" in less
    assert said(mixed(0.1), 4) != less == said(mixed(0.1), 3)
    assert less != more
    assert all(turn == "b" for turn, rarer in zip(more, less, strict=True) if rarer == "b")


def test_only_one_is_asked_and_both_are_seeded() -> None:
    first, other = Says("a"), Says("b")
    turns = said(mixed(0.4, first, other), 5)
    assert (first.asked, other.asked) == (turns.count("a"), turns.count("b"))
    assert first.seeds[-1] == other.seeds[-1] == 5


def test_inner_policies_are_made_by_name() -> None:
    policy = MixturePolicy(REPLAY, "greedy", 0.5, {"turns": ["task list"]}, {})
    turns = set(rollout(YCBenchEnv(), policy, 1, max_turns=40).actions)
    assert {"task list", "sim resume", "market browse --limit 1"} <= turns


@pytest.mark.parametrize("inner", ["mixture", MixturePolicy("greedy", "idle")])
def test_mixture_of_mixtures_is_refused(inner: Any) -> None:
    with pytest.raises(PolicyError, match="other: got a mixture"):
        MixturePolicy("greedy", inner, 0.1, None, {"other": "evil:code"} if inner == "mixture" else None)


@pytest.mark.parametrize("epsilon", [-0.1, 1.1, float("nan"), float("inf"), True, "0.1", None])
def test_bad_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(PolicyError, match=r"epsilon: got .*, expected a number from 0 to 1"):
        MixturePolicy("greedy", "random", epsilon)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"policy": "gredy"}, "policy: policy: got 'gredy', expected .*did you mean 'greedy'"),
        ({"other": 7}, "other: got 7, expected a policy, or a name or module:Class"),
        ({"other": RandomPolicy}, "other: got .*class .*, expected"),
        (
            {"other_parameters": {"depth": 1}},
            "other: policy 'random': has no parameter 'depth'; its parameters: none",
        ),
        ({"other": REPLAY}, "other: replay: got neither path nor turns"),
        ({"policy_parameters": "depth=1"}, "policy_parameters: got 'depth=1', expected a table"),
        ({"other": RandomPolicy(), "other_parameters": {"a": 1}}, "got .*RandomPolicy.*, expected a policy, or a name"),
    ],
)
def test_bad_parameter_is_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        make_policy("mixture", **{"policy": "greedy", **parameters})


def test_policies_that_parameters_name() -> None:
    assert named_policies({"policy": "greedy", "other": "evil:code", "epsilon": 0.5}) == ("greedy", "evil:code")
    assert named_policies({"policy": Says("a")}) == ()


# ---- deciding and recalling


def decided(policy: MixturePolicy, observation: Any) -> Decision:
    return asyncio.run(policy.decide(observation))


def test_trace_names_whose_turn_it_was_and_recalls_it() -> None:
    policy, recalling = (MixturePolicy(Deliberates("company status"), "random", 0.5) for _ in range(2))
    policy.reset(1)
    recalling.reset(1)
    observation, _ = YCBenchEnv().reset(seed=1)
    decisions = [decided(policy, observation) for _ in range(30)]
    by = {str(decision.trace["played_by"]): decision.turn for decision in decisions}
    assert set(by) == {"policy", "other"}
    assert by["policy"] == "company status"
    assert [recalling.recall(observation, each.trace) for each in decisions] == [each.turn for each in decisions]


def test_trace_of_other_draws_is_refused() -> None:
    policy = mixed(0.0)
    with pytest.raises(ValueError, match="played_by: got 'other' from the record, expected 'policy'"):
        policy.recall(OBSERVATION, {"played_by": "other"})


def test_after_a_stop_the_same_policy_is_asked_again() -> None:
    other = Deliberates("b")
    policy = mixed(0.5, Says("a"), other)
    policy.reset(1)
    for expected in said(mixed(0.5), 1, 30):
        if expected == "b":
            other.turn = ""
            with pytest.raises(PolicyStoppedError):
                decided(policy, OBSERVATION)
            other.turn = "b"
        assert decided(policy, OBSERVATION).turn == expected


def test_inner_policy_without_a_turn_is_named() -> None:
    with pytest.raises(TurnError, match="policy Says: act returned NoneType"):
        rollout(YCBenchEnv(), mixed(0.0, Says(None)), 1)  # pyright: ignore[reportArgumentType] -- wrong on purpose
