"""The public test kit: what it exports, and that its checks fail where they should."""

# ruff: noqa: ANN401 -- wrappers of any environment

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from world_proofs import ProvenMachine

import ycbench_env.testing
from ycbench_env import YCBenchEnv
from ycbench_env.testing import check_conformance, machine_for
from ycbench_env.testing.invariants import require_equal
from ycbench_env.transition import advance
from ycbench_env.types.state import LedgerEntry, evolve
from ycbench_env.wrappers import ScratchpadMemory

# ---- exports


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'check_everything'"):
        _ = ycbench_env.testing.check_everything


def test_checking_conformance_needs_no_hypothesis() -> None:
    script = """
import sys
sys.modules["hypothesis"] = None
import gymnasium
from ycbench_env.testing import check_conformance, tiny_state
check_conformance(lambda: gymnasium.make("YCBench-v0"), seeds=(1,), turns=5)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)  # noqa: S603 -- written above
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["YCBenchMachine", "valid_commands", "valid_configs", "with_other_hidden_fields"])
def test_what_needs_hypothesis_says_how_to_install_it(name: str) -> None:
    script = f"""
import sys
sys.modules["hypothesis"] = None
from ycbench_env import MissingExtraError
try:
    from ycbench_env.testing import {name}
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603 -- written above
    assert done.stdout.startswith(f"{name} needs hypothesis (")
    assert done.stdout.endswith("; install it with pip install '.[testing]' in this project's folder\n")


# ---- keys of info


class _Telling(gym.Wrapper[Any, Any, Any, Any]):
    """A wrapper that adds a key to the info of some turns."""

    def step(self, action: Any) -> Any:
        *others, info = super().step(action)
        return (*others, {**info, "shaped_reward": 1.5} if info["results"] else info)


class _Changing(YCBenchEnv):
    def step(self, action: Any) -> Any:
        *others, info = super().step(action)
        return (*others, {**info, "mood": 1, "luck": 2})


def test_a_wrapper_may_add_keys_to_the_info_of_some_turns() -> None:
    check_conformance(lambda: _Telling(gym.make("YCBench-v0")), seeds=(1,), turns=6)


def test_an_environment_whose_own_info_changes_its_keys_is_told_which() -> None:
    words = r"seed 1, turn 1 .*: info differs in \['luck', 'mood'\] from the info of reset"
    with pytest.raises(AssertionError, match=words):
        check_conformance(_Changing, seeds=(1,), turns=6)


# ---- differences


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, r"a\[1\].b is 2, expected 3"),
        ({"a": 1}, {"b": 1}, r"keys \['a'\], expected \['b'\]"),
        ([1, 2], [1], r"has 2 items, expected 1"),
        (True, 1, r"True \(bool\), expected 1 \(int\)"),
        (1, 1.0, r"\(int\), expected 1.0 \(float\)"),
        (np.array(1), np.array(1.0), r"int64 \(\), expected float64"),
        (np.array([1, 2]), np.array([1, 3]), r"it: value\[1\] is 2, expected 3"),
        ("x" * 500, "y", r"502 characters"),
    ],
    ids=["deep", "keys", "length", "bool", "float", "dtype", "array", "long"],
)
def test_differences_name_the_place(got: object, expected: object, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        require_equal(got, expected, "it")


# ---- the machine finds faults


class _Broken(ScratchpadMemory):
    """A wrapper that spoils something."""

    def spoil(self, returned: Any) -> Any:
        """What is returned instead."""
        return returned

    def step(self, action: Any) -> Any:
        return self.spoil(super().step(action))


class _WrongDelta(_Broken):
    def spoil(self, returned: Any) -> Any:
        *others, info = returned
        return (*others, {**info, "funds_delta_cents": info["funds_delta_cents"] - bool(info["events"])})


class _LostMoney(_Broken):
    def spoil(self, returned: Any) -> Any:
        base: Any = self.unwrapped
        state = base.get_state()
        if state.ledger:
            base.set_state(evolve(state, ledger=(*state.ledger[:-1], LedgerEntry(0, "task_reward", 7, "Task-1"))))
        return returned


class _WrongText(_Broken):
    def spoil(self, returned: Any) -> Any:
        observation, *others = returned
        return ({**observation, "results": observation["results"].replace("true", "false")}, *others)


class _Eager(_Broken):
    def spoil(self, returned: Any) -> Any:
        base: Any = self.unwrapped
        state = base.get_state()
        if state.idle_turns == 2 and state.end_reason is None:
            base.set_state(evolve(advance(state).state, idle_turns=0))
        return returned


class _Random(_Broken):
    def spoil(self, returned: Any) -> Any:
        observation, *others = returned
        return ({**observation, "text": f"{observation['text']} {id(observation)}"}, *others)


@pytest.mark.parametrize("wrapper", [_WrongDelta, _LostMoney, _WrongText, _Eager, _Random])
def test_the_state_machine_finds_a_fault(wrapper: type[_Broken]) -> None:
    class Machine(ProvenMachine):
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
