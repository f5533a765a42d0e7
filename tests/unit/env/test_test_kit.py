"""The public test kit: it accepts every environment of this project, and each of its checks fails where it should."""

# ruff: noqa: ANN401 -- wrappers of any environment

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import attrs
import gymnasium as gym
import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from world_proofs import check_start

import ycbench_env.testing
from ycbench_env import State, YCBenchEnv, advance, initial_state
from ycbench_env.testing import (
    YCBenchMachine,
    check_conformance,
    check_state,
    check_turn,
    machine_for,
    tiny_config,
    tiny_state,
)
from ycbench_env.testing.invariants import require_equal
from ycbench_env.testing.tiny import ADVERSARIAL, LOYAL, carried_out, started, tiny_client, tiny_employee, tiny_task
from ycbench_env.types.command import Resume
from ycbench_env.types.state import LedgerEntry, evolve
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, TextObservation

# ---- exports


def test_names_that_are_not_there_and_names_that_need_hypothesis_say_so() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'check_everything'"):
        _ = ycbench_env.testing.check_everything
    script = """
import sys
sys.modules["hypothesis"] = None
import gymnasium
import ycbench_env.testing as kit
from ycbench_env import MissingExtraError
kit.check_conformance(lambda: gymnasium.make("YCBench-v0"), seeds=(1,), turns=5)
for name in ("YCBenchMachine", "valid_configs"):
    try:
        getattr(kit, name)
    except MissingExtraError as error:
        print(str(error).replace(name, "It"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603 -- written above
    first, second = done.stdout.splitlines()
    assert first == second
    assert first.startswith("It needs hypothesis (")
    assert first.endswith("pip install '.[testing]' in the folder of this project")


# ---- conformance

WORLDS: dict[str, Callable[[], gym.Env[Any, Any]]] = {
    "unwrapped": lambda: gym.make("YCBench-v0").unwrapped,
    "reference rules": lambda: gym.make("YCBenchReference-v0"),
    "with all wrappers": lambda: TextObservation(
        ContextTruncation(ScratchpadMemory(gym.make("YCBench-v0")), keep_turns=3)
    ),
    "with a turn limit": lambda: ScratchpadMemory(gym.make("YCBench-v0", config={"loop": {"max_turns": 40}})),
    "classic rules": lambda: YCBenchEnv({"extends": "classic-hard", "world": {"num_market_tasks": 30}}),
    "without staff": lambda: ContextTruncation(YCBenchEnv({"world": {"num_employees": 0, "world_seed": "run"}})),
}


@pytest.mark.parametrize("world", WORLDS)
def test_every_environment_keeps_the_contract(world: str) -> None:
    check_conformance(WORLDS[world], seeds=(1,), turns=40)


class Spoilt(ScratchpadMemory):
    """An environment that spoils what a step returns."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        """What is returned instead."""
        return observation, info

    def step(self, action: Any) -> Any:
        observation, *others, info = super().step(action)
        observation, info = self.spoil(observation, info)
        return (observation, *others, info)

    @property
    def base(self) -> Any:
        return self.unwrapped


class Leaky(Spoilt):
    """Hands out one and the same list each time."""

    def reset(self, **kwargs: Any) -> Any:
        self.shared: list[object] = []
        return super().reset(**kwargs)

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        self.shared[:] = info["results"]
        return observation, {**info, "results": self.shared}


class Chancy(Spoilt):
    """Draws something that no seed decides."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        luck = random.SystemRandom().getrandbits(60)
        return {**observation, "turn": np.array(luck, dtype=np.int64)}, info


class Outside(Spoilt):
    """Returns a longer text than it promises."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        return {**observation, "text": "x" * 200_000}, info


class Forgetful(Spoilt):
    """Leaves a key of the contract out of the info of some turns."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        return observation, {key: value for key, value in info.items() if key != "forced_advance" or not info["events"]}


class Numpy(Spoilt):
    """Puts into info what JSON does not know."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        return observation, {**info, "invalid_commands": np.int64(0)}


class WrongDelta(Spoilt):
    """Reports another change of funds than there was."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        return observation, {**info, "funds_delta_cents": info["funds_delta_cents"] - bool(info["events"])}


class Immortal(Spoilt):
    """Goes on after the end."""

    def step(self, action: Any) -> Any:
        if self.base.get_state().end_reason is not None:
            self.env.reset(seed=1)
        return super().step(action)


class Mutable(Spoilt):
    """Lets a refused command leave a trace."""

    def step(self, action: Any) -> Any:
        if action == "dance":
            self.base.set_state(initial_state(self.base.config, 99))
        return super().step(action)


@pytest.mark.parametrize(
    ("wrapper", "message"),
    [
        (Leaky, "turn 1: what was returned then changed later"),
        (Chancy, "two instances"),
        (Outside, r"outside observation_space, wrong or missing: \['text'\]"),
        (Forgetful, r"info lacks \['forced_advance'\]"),
        (Numpy, "no JSON"),
        (WrongDelta, "funds_delta_cents"),
        (Immortal, "after the end"),
        (Mutable, "state_hash after the refusal of 'dance'"),
    ],
)
def test_the_kit_says_what_is_wrong_with_a_broken_environment(wrapper: type[Spoilt], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_conformance(lambda: wrapper(YCBenchEnv()), seeds=(1,), turns=20)


class Telling(Spoilt):
    """A wrapper that adds a key to the info of some turns."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        return observation, {**info, "shaped_reward": 1.5} if info["results"] else info


class Changing(YCBenchEnv):
    """An environment without wrappers whose info has other keys after a step than after a reset."""

    def step(self, action: Any) -> Any:
        *others, info = super().step(action)
        return (*others, {**info, "mood": 1, "luck": 2})


def test_only_a_wrapper_may_add_keys_to_the_info_of_some_turns() -> None:
    check_conformance(lambda: Telling(YCBenchEnv()), seeds=(1,), turns=6)
    with pytest.raises(AssertionError, match=r"turn 1 .*: info differs in \['luck', 'mood'\] from the info of reset"):
        check_conformance(Changing, seeds=(1,), turns=6)


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, r"it: \['a'\]\[1\]\['b'\] is 2 \(int\), expected 3 \(int\)"),
        ({"a": 1}, {"b": 1}, r"value is \['a'\] \(dict, its keys\), expected \['b'\]"),
        ([1, 2], [1], r"value is 2 \(list, its length\), expected 1"),
        (True, 1, r"True \(bool\), expected 1 \(int\)"),
        (1, 1.0, r"\(int\), expected 1.0 \(float\)"),
        (np.array(1), np.array(1.0), r"int64 \(\)\), expected 1.0 \(float64"),
        (np.array([1, 2]), np.array([1, 3]), r"it: \[1\] is 2 \(int\), expected 3"),
        ("x" * 500, "y", r"502 characters"),
    ],
    ids=["deep", "keys", "length", "bool", "float", "dtype", "array", "long"],
)
def test_differences_name_the_place(got: object, expected: object, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        require_equal(got, expected, "it")


# ---- the state machine


class LostMoney(Spoilt):
    """Changes a booking of the past."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        state = self.base.get_state()
        if state.ledger:
            row = LedgerEntry(0, "task_reward", 7, "Task-1")
            self.base.set_state(evolve(state, ledger=(*state.ledger[:-1], row)))
        return observation, info


class WrongText(Spoilt):
    """Shows other answers as text than in info."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        return {**observation, "results": observation["results"].replace("true", "false")}, info


class Eager(Spoilt):
    """Moves time when it must not."""

    def spoil(self, observation: Any, info: Any) -> tuple[Any, Any]:
        state = self.base.get_state()
        if state.idle_turns == 2 and state.end_reason is None:
            self.base.set_state(evolve(advance(state).state, idle_turns=0))
        return observation, info


@pytest.mark.parametrize("wrapper", [WrongDelta, Chancy, LostMoney, WrongText, Eager])
def test_the_state_machine_finds_a_fault(wrapper: type[Spoilt]) -> None:
    class Machine(YCBenchMachine):
        def make_env(self) -> Any:
            return wrapper(YCBenchEnv(self.config))

    quick = settings(max_examples=20, stateful_step_count=30, phases=[Phase.generate], database=None, derandomize=True)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Machine, settings=quick)


def test_a_machine_plays_the_configuration_it_was_made_for() -> None:
    machine = machine_for({"world": {"num_employees": 3}})()
    machine.start(seed=1)
    machine.play("employee list")
    assert len(machine.state.employees) == 3
    assert machine.TestCase is not None


# ---- invariants

START, ACTIVE = tiny_state(), started(tiny_state(), "Task-1", "Emp_1", "Emp_2")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"funds_cents": 1}, "funds against initial funds and ledger"),
        ({"now_us": 0}, "the clock is 0"),
        ({"now_us": START.calendar.horizon_us, "payrolls_charged": 11}, "the episode goes on"),
        ({"terminal_reason": "bankruptcy"}, "the funds is 10000000"),
        ({"terminal_reason": "horizon_end"}, "the end before the horizon"),
        ({"market": START.market[:1] * 4}, "an id that two tasks have"),
        ({"market": START.market[:3]}, "3 tasks listed"),
        ({"slot_accepts": (1, 0, 0, 0)}, "a slot's accepts is 1"),
        ({"payrolls_charged": 2}, "the time of a payroll"),
        ({"prestige_milli": (1000, 1000, 999, 1000)}, "prestige is 999"),
        ({"clients": (tiny_client(trust=5.001), tiny_client(ADVERSARIAL))}, "trust is 5001"),
        ({"employees": (tiny_employee(1, 20.5), tiny_employee(2))}, r"Emp_1 has the rates \(205000"),
        ({"market": (*START.market[:3], tiny_task(4, client="Nobody"))}, "Task-4 is of Nobody"),
        ({"now_us": START.calendar.payrolls_us[0], "payrolls_charged": 1}, "payrolls booked"),
    ],
)
def test_a_state_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    check_state(START)
    with pytest.raises(AssertionError, match=message):
        check_state(evolve(START, **changes))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"done_e4": (3_000_000,)}, "work done is 3000000"),
        ({"status": "planned"}, "a forecast of Task-1, which is planned"),
        ({"completed_us": 5}, "a completion of Task-1, which is active"),
        ({"completion_us": 5}, "a forecast is 5"),
        ({"accepted_us": 10**18}, "the time of an acceptance"),
        ({"team": ACTIVE.tasks[0].team[::-1]}, r"the team \[2, 1\] of Task-1"),
    ],
)
def test_a_task_that_cannot_be_is_refused(change: dict[str, Any], message: str) -> None:
    check_state(ACTIVE)
    with pytest.raises(AssertionError, match=message):
        check_state(evolve(ACTIVE, tasks=(evolve(ACTIVE.tasks[0], **change),)))


def test_a_turn_that_takes_something_back_is_refused() -> None:
    done = carried_out(ACTIVE, Resume())
    check_turn(ACTIVE, done)
    with pytest.raises(AssertionError, match="the clock went back"):
        check_turn(done, ACTIVE)
    poorer = evolve(done, employees=(evolve(done.employees[0], salary_cents=1), done.employees[1]))
    with pytest.raises(AssertionError, match="Emp_1 earns less"):
        check_turn(ACTIVE, poorer)


GAMMA = tiny_config(employee_skill_sampling="gamma_budget")
DEMANDING = [tiny_task(number, prestige=2) for number in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (tiny_state(market=DEMANDING), "Task-1 on the ladder"),
        (tiny_state(tiny_config(market_prestige_ladder=[]), market=DEMANDING), "Task-1 requires 2"),
        (tiny_state(employees=[tiny_employee(1)]), "1 employees"),
        (tiny_state(employees=[tiny_employee(1, salary_cents=1), tiny_employee(2)]), "Emp_1 .* earns 1"),
        (tiny_state(employees=[tiny_employee(1), tiny_employee(2, 9.9)]), "Emp_2 .* has the rates"),
        (tiny_state(GAMMA, employees=[tiny_employee(1, [0.9, 20, 10, 9.1]), tiny_employee(2)]), "Emp_1 .* the rates"),
        (tiny_state(GAMMA, employees=[tiny_employee(1), tiny_employee(2, [10, 10, 10.1, 10])]), "Emp_2 .* the rates"),
    ],
    ids=["ladder", "drawn", "staff", "salary", "rate", "below the floor", "above the average"],
)
def test_a_start_that_the_settings_do_not_allow_is_refused(state: State, message: str) -> None:
    market = [attrs.evolve(task, client_name=(LOYAL, ADVERSARIAL)[n % 2]) for n, task in enumerate(state.market)]
    with pytest.raises(AssertionError, match=message):
        check_start(evolve(state, market=tuple(market)))
