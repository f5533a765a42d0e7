"""Policies of one's own: named as module:Class, and every way to name one wrongly."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from ycbench_agents import Policy, PolicyError, make_policy, policy_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODULE = """
import json
from ycbench_agents import PolicyError

class Waiting:
    def __init__(self, *, patience: int = 1, **others) -> None:
        self.patience, self.others = patience, others

    def reset(self, seed: int) -> None:
        pass

    def act(self, observation) -> str:
        return "sim resume"

class Careful(Waiting):
    def __init__(self, caution: float) -> None:
        if caution < 0:
            raise ValueError("caution below 0")

class Games:
    Chess = Waiting

class Mute:
    def reset(self, seed):
        pass

    def act(self):
        return ""

def waiting(patience: int = 3):
    return Waiting(patience=patience)

number = 7
"""


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "mine_of_a_test.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "broken_of_a_test.py").write_text("import nothing_of_the_sort\n", encoding="utf-8")
    (tmp_path / "loud_of_a_test.py").write_text("raise RuntimeError('no\\nluck')\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.endswith("_of_a_test")]:
        del sys.modules[name]


@pytest.mark.parametrize("name", ["Waiting", "Games.Chess", "waiting"])
def test_a_class_or_factory_of_ones_own_is_a_policy(name: str) -> None:
    policy = make_policy(f"mine_of_a_test:{name}", patience=5)
    assert isinstance(policy, Policy)
    assert vars(policy)["patience"] == 5


def test_keyword_parameters_are_passed() -> None:
    assert vars(make_policy("mine_of_a_test:Waiting", name="mine"))["others"] == {"name": "mine"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gredy", f"expected {', '.join(policy_names())}, or module:Class of your own; did you mean 'greedy'?"),
        ("mine_of_a_test:", "expected module:Class, like my_policies:Careful"),
        ("a b:C", "expected module:Class, like my_policies:Careful"),
        ("planner", "the command ycbench plan"),
        ("mine.py:Waiting", "did you mean 'mine:Waiting'?"),
        ("policies/mine.py:Waiting", "expected module:Class, like my_policies:Careful"),
        ("nowhere_of_a_test:C", "there is no module nowhere_of_a_test; expected one that Python can import"),
        ("mine_of_a_test.part:C", "there is no module mine_of_a_test.part"),
        ("broken_of_a_test:C", "importing broken_of_a_test failed: ModuleNotFoundError: No module named 'nothing"),
        ("loud_of_a_test:C", "importing loud_of_a_test failed: RuntimeError: no luck"),
        ("mine_of_a_test:Wating", "mine_of_a_test has no Wating; did you mean Waiting?"),
        ("mine_of_a_test:Q", "mine_of_a_test has no Q; it has Waiting, Careful, Games, Mute, waiting"),
        ("mine_of_a_test:number", "got int, expected a class or a function that makes a policy"),
        ("mine_of_a_test:Careful", "missing a required argument: 'caution'; its parameters: caution"),
        ("mine_of_a_test:Games", "a Games has no reset(seed) and act(observation), which a policy needs"),
        ("builtins:dict", "a dict has no reset(seed) and act(observation), which a policy needs"),
        ("mine_of_a_test:Mute", "a Mute has no act(observation), which a policy needs"),
    ],
)
def test_wrong_names_are_refused(name: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        make_policy(name)
    message = str(caught.value)
    assert message.startswith((f"policy: got {name!r}, ", f"policy {name!r}: "))
    assert words in message
    assert "\n" not in message


def test_unknown_parameter_names_those_that_exist() -> None:
    with pytest.raises(PolicyError, match=r"has no parameter 'depth'; its parameters: patience"):
        make_policy("mine_of_a_test:waiting", depth=2)


def test_errors_of_a_constructor_reach_the_caller() -> None:
    with pytest.raises(ValueError, match="caution below 0"):
        make_policy("mine_of_a_test:Careful", caution=-1)
