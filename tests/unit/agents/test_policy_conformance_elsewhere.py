"""The kit for policies, beyond one process and one world: records, other processes, worlds that only look alike."""

# ruff: noqa: ANN401, ARG002 -- policies here see anything, and most of them ignore it

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from ycbench_agents import Decision, DeliberatingPolicy, PolicyStoppedError
from ycbench_agents.testing import (
    PolicyConformanceError,
    check_policy,
    check_policy_in_processes,
    check_sees_only_observations,
)
from ycbench_agents.testing.conformance import Student, play, with_other_hidden_fields
from ycbench_env import State, YCBenchEnv, load_config, observe

MIXTURE: Final = "ycbench_agents.scripted.mixture:MixturePolicy"


class Steady:
    """Keeps the contract; the faulty policies below change one thing."""

    def reset(self, seed: int) -> None:
        """Nothing to forget."""

    def act(self, observation: Any) -> Any:
        return "sim resume" if observation["active_tasks"] else "market browse --limit 1"


# ---- recalling


class Thinks(Steady):
    async def decide(self, observation: Any) -> Decision:
        turn = self.act(observation)
        return Decision(turn, {"said": turn})

    def recall(self, observation: Any, trace: Any) -> Any:
        return trace["said"]


class ThinksOfSets(Thinks):
    async def decide(self, observation: Any) -> Decision:
        return Decision("task list", {"said": {"task list"}})  # pyright: ignore[reportArgumentType] -- wrong on purpose


class RecallsNothing(Thinks):
    def recall(self, observation: Any, trace: Any) -> Any:
        return ""


class RefusesToRecall(Thinks):
    def recall(self, observation: Any, trace: Any) -> Any:
        msg = "another history"
        raise ValueError(msg)


class CannotBeAsked(Thinks):
    async def decide(self, observation: Any) -> Decision:
        raise PolicyStoppedError


def test_a_policy_that_nobody_answers_has_nothing_to_recall() -> None:
    assert check_policy(CannotBeAsked, seeds=(1,), max_turns=5).episodes[0].turns == 5


def test_a_policy_that_recalls_its_decisions_keeps_the_contract() -> None:
    assert isinstance(Thinks(), DeliberatingPolicy)
    check_policy(Thinks, seeds=(1,), max_turns=5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (ThinksOfSets, r"turn 1: what decide returned cannot be recalled: .*not JSON serializable; a trace is JSON"),
        (RefusesToRecall, r"turn 1: what decide returned cannot be recalled: another history"),
        (RecallsNothing, r"turn 1: recall says '', decide said 'market browse --limit 1'; keep the turn in the trace"),
    ],
)
def test_a_policy_that_recalls_something_else_is_found(make: Any, message: str) -> None:
    with pytest.raises(PolicyConformanceError, match=message):
        check_policy(make, seeds=(1,), max_turns=5)


# ---- processes


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "policies_of_mine.py").write_text(
        "class Sorted:\n"
        "    names = sorted({f'Task-{number}' for number in range(1, 50)})\n"
        "    def reset(self, seed):\n"
        "        print('a policy may print')\n"
        "    def act(self, observation):\n"
        "        return f'task inspect --task-id {self.names[0]}'\n"
        "class Unsorted(Sorted):\n"
        "    names = list({f'Task-{number}' for number in range(1, 50)})\n"
        "class Local(Sorted):\n"
        "    def act(self, observation):\n"
        "        import time\n"
        "        return f'market browse --limit {1 + time.gmtime(0).tm_hour + time.localtime(0).tm_hour}'\n"
        "class Silent(Sorted):\n"
        "    def act(self, observation):\n"
        "        return None\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    return "policies_of_mine"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("random", {}),
        (MIXTURE, {"policy": "random", "other": "random", "epsilon": 0.5}),
        ("expert", {}),
        ("market_roller", {}),
        ("conservative", {}),
    ],
)
def test_these_policies_say_the_same_in_every_process(name: str, parameters: dict[str, Any]) -> None:
    check_policy_in_processes(name, parameters=parameters, config="reference", max_turns=60)


def test_a_policy_of_ones_own_is_found_by_the_processes_and_may_print(module: str) -> None:
    check_policy_in_processes(f"{module}:Sorted", seeds=(1,), max_turns=3, hash_seeds=(0, 1))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Unsorted", r"Unsorted, seed 1, turn 1: 'task inspect .*' with PYTHONHASHSEED=0, .* with 1; sort a set"),
        ("Local", r"Local, seed 1, turn 1: 'market browse"),
        ("Silent", r"a process with PYTHONHASHSEED=0 failed:\n(.|\n)*act returned 'None'"),
        ("Missing", r"failed:\n(.|\n)*policies_of_mine has no Missing"),
    ],
)
def test_a_policy_that_differs_between_processes_is_found(module: str, name: str, message: str) -> None:
    with pytest.raises(PolicyConformanceError, match=message):
        check_policy_in_processes(f"{module}:{name}", seeds=(1,), max_turns=3, hash_seeds=(0, 1))


def test_one_process_alone_proves_nothing() -> None:
    with pytest.raises(ValueError, match=r"hash_seeds: got \(1, 1\), expected at least two that differ"):
        check_policy_in_processes("random", hash_seeds=(1, 1))


# ---- what is hidden


class Peeks(Steady):
    """Looks for an environment in the frames that called it."""

    def act(self, observation: Any) -> Any:
        frame: Any = sys._getframe(1)
        while frame is not None:
            for value in frame.f_locals.values():
                if isinstance(value, YCBenchEnv):
                    state = value.get_state()
                    shown = max(range(len(state.clients)), key=lambda place: state.clients[place].loyalty_milli)
                    return f"market browse --limit {1 + shown}"
            frame = frame.f_back
        return super().act(observation)


class PeeksLater(Peeks):
    def act(self, observation: Any) -> Any:
        return super().act(observation) if observation["turn"] > 3 else Steady.act(self, observation)


@pytest.mark.parametrize(("make", "count"), [(Peeks, 0), (PeeksLater, 5)])
def test_a_policy_that_looks_at_the_environment_is_found(make: Any, count: int) -> None:
    with pytest.raises(PolicyConformanceError, match=f"seed 1, after {count} turns: .* differs in hidden figures only"):
        check_sees_only_observations(make, variants=6)


def test_the_changed_worlds_look_the_same_and_are_others() -> None:
    env = YCBenchEnv()
    env.reset(seed=1)
    env.step(
        "task accept --task-id Task-8\ntask assign --task-id Task-8 --employees Emp_1,Emp_2\n"
        "task dispatch --task-id Task-8"
    )
    state = env.get_state()
    other = with_other_hidden_fields(state, random.Random(1))  # noqa: S311 -- a simulation, not a secret
    assert str(observe(other)) == str(observe(state))
    for name in ("run_seed", "slot_accepts", "clients", "tasks"):
        assert getattr(other, name) != getattr(state, name)
    hidden: dict[str, object] = {"run_seed": 0, "slot_accepts": (), "clients": (), "tasks": ()}
    assert attrs.evolve(other, **hidden) == attrs.evolve(state, **hidden)
    assert isinstance(other, State)


def test_rates_are_changed_where_they_are_hidden() -> None:
    env = YCBenchEnv("classic-easy")
    env.reset(seed=1)
    state = env.get_state()
    other = with_other_hidden_fields(state, random.Random(1))  # noqa: S311 -- a simulation, not a secret
    assert str(observe(other)) == str(observe(state))
    assert [each.rates_e4 for each in other.employees] != [each.rates_e4 for each in state.employees]
    check_sees_only_observations(Steady, config="classic-easy", turns=(0, 2))


# ---- the commands of the world that it plays in


class Says(Steady):
    def __init__(self, text: str) -> None:
        self._text = text

    def act(self, observation: Any) -> Any:
        return self._text


@pytest.mark.parametrize(
    ("config", "text", "known"),
    [
        ("classic-easy", "task assign --task-id Task-1 --employee-id Emp_1", True),
        ("classic-easy", "market browse --required-prestige-lte 2 && client list", True),  # what is lacking it may try
        ("classic-easy", "company status\ntask assign --task-id Task-1 --staff Emp_1", False),
        ("default", "task assign --task-id Task-1 --employee-id Emp_1", False),
        ("default", "market browse --required-prestige-lte 2", False),
    ],
)
def test_a_policy_may_say_what_the_world_that_it_plays_in_knows(config: str, text: str, *, known: bool) -> None:
    student = Student(lambda: Says(text), YCBenchEnv(config).action_space.grammar)
    if known:
        play(student, load_config(config), 1, 2)
    else:
        with pytest.raises(PolicyConformanceError, match="is no command"):
            play(student, load_config(config), 1, 2)
