"""Policies that somebody else wrote are made in another process, before any of their episodes is played."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ycbench_agents.base import JsonObject
from ycbench_agents.evaluation.probing import is_own, own_player
from ycbench_agents.evaluation.suite import Limits, SuitePolicy
from ycbench_agents.registry import PolicyError

POLICIES = """
import os
import sys
import time


class Acts:
    def __init__(self, way="well"):
        print("made", flush=True)
        if way == "spoils":
            os.chdir("/")
            os.environ["SPOILED"] = "yes"
        if way == "raises":
            raise RuntimeError("never")
        if way == "refuses":
            raise ValueError("a way of its own")
        if way == "exits":
            sys.exit(0)
        if way == "eats":
            self.memory = bytearray(2**33)
        if way == "hangs":
            time.sleep(3600)
        if way == "ends":
            os._exit(0)

    def reset(self, seed):
        pass

    def act(self, observation):
        return "sim resume"


class Decides(Acts):
    async def decide(self, observation):
        return None

    def recall(self, observation, trace):
        return "sim resume"
"""
LIMITS = Limits(seconds=5, memory_mib=512)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "own_making.py").write_text(POLICIES, "utf-8")
    return str(tmp_path)


def row(name: str, **parameters: str) -> SuitePolicy:
    return SuitePolicy("mine", name, {**parameters})


@pytest.mark.parametrize(("name", "deliberates"), [("Acts", False), ("Decides", True)])
def test_whether_a_policy_waits_for_answers_is_asked_without_running_it_here(
    name: str, deliberates: bool, folder: str, capfd: pytest.CaptureFixture[str]
) -> None:
    before = (Path.cwd(), dict(os.environ))
    player = own_player(row(f"own_making:{name}", way="spoils"), [folder], LIMITS)
    assert (player.deliberates, player.settings) == (deliberates, {"parameters": {"way": "spoils"}})
    assert (Path.cwd(), dict(os.environ)) == before
    assert capfd.readouterr() == ("", "made\n")


@pytest.mark.parametrize(("inner", "deliberates"), [("Acts", False), ("Decides", True)])
def test_a_mixture_waits_for_answers_where_a_policy_in_it_does(inner: str, deliberates: bool, folder: str) -> None:
    parts: JsonObject = {"policy": "greedy", "other": "mixture", "other_parameters": {"policy": f"own_making:{inner}"}}
    assert own_player(SuitePolicy("mine", "mixture", parts), [folder], LIMITS).deliberates is deliberates


def test_a_class_in_a_mixture_that_cannot_be_made_is_told_of_its_episodes(folder: str) -> None:
    parts: JsonObject = {"policy": "own_making:Acts", "policy_parameters": {"way": "refuses"}, "other": "greedy"}
    assert not own_player(SuitePolicy("mine", "mixture", parts), [folder], LIMITS).deliberates


@pytest.mark.parametrize("way", ["raises", "exits", "eats", "ends"])
def test_what_cannot_be_made_is_told_of_its_episodes(way: str, folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert not own_player(row("own_making:Acts", way=way), [folder], LIMITS).deliberates
    assert capfd.readouterr() == ("", "made\n")


def test_whoever_is_never_made_is_not_waited_for(folder: str) -> None:
    limits = Limits(seconds=1, memory_mib=512)
    assert not own_player(row("own_making:Decides", way="hangs"), [folder], limits).deliberates


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("own_making:None_", {}, "policy 'mine' of the suite: policy 'own_making:None_': own_making has no None_"),
        ("own_making:Acts", {"speed": "high"}, "policy 'mine' of the suite: .*speed"),
        ("no_such_module:Acts", {}, "policy 'mine' of the suite: .*no_such_module"),
    ],
)
def test_what_does_not_exist_is_refused(name: str, parameters: dict[str, str], message: str, folder: str) -> None:
    with pytest.raises(PolicyError, match=message):
        own_player(row(name, **parameters), [folder], LIMITS)


@pytest.mark.parametrize(
    ("policy", "own"),
    [
        (SuitePolicy("a", "greedy"), False),
        (SuitePolicy("a", "my_policies:Steady"), True),
        (SuitePolicy("a", "__main__:Steady"), False),  # of a notebook, which no other process can import
        (SuitePolicy("a", "mixture", {"first": "greedy", "other": "idle"}), False),
        (SuitePolicy("a", "mixture", {"first": "greedy", "other": "my_policies:Steady"}), True),
    ],
)
def test_a_policy_is_ones_own_also_within_a_mixture(policy: SuitePolicy, own: bool) -> None:
    assert is_own(policy) is own
