"""Human: a person at a prompt, here a list of lines."""

from __future__ import annotations

import asyncio
import io
import sys
from typing import Any

import pytest

from ycbench_agents import DeliberatingPolicy, PolicyStoppedError, rollout
from ycbench_agents.scripted.human import HumanPolicy
from ycbench_env import YCBenchEnv


class Person:
    """Types lines, and keeps what is shown."""

    def __init__(self, *lines: str | Exception) -> None:
        self.lines = list(lines)
        self.prompts: list[str] = []
        self.shown: list[str] = []

    def read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self.lines:
            raise EOFError
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        return line

    def policy(self) -> HumanPolicy:
        return HumanPolicy(self.read, self.shown.append)


def test_lines_up_to_an_empty_one_are_a_turn() -> None:
    person = Person(" task list ", "sim resume", "", "", "company status", " ")
    trajectory = rollout(YCBenchEnv(), person.policy(), 1, max_turns=3)
    assert trajectory.actions == ("task list\nsim resume", "", "company status")
    assert person.prompts == ["turn 1> ", "... ", "... ", "turn 2> ", "turn 3> ", "... "]


def test_observations_are_shown() -> None:
    person = Person("task list", "", "company status", "")
    trajectory = rollout(YCBenchEnv(), person.policy(), 1, max_turns=2)
    assert person.shown[0].startswith("Type commands, one a line")
    assert person.shown[1:] == [seen["text"] for seen in trajectory.observations[:2]]


def test_control_characters_never_reach_the_terminal() -> None:
    person = Person("")
    observation: Any = {"text": "a\x1b[2J\u202egnp \u00e9\n", "turn": 1}
    person.policy().act(observation)
    assert person.shown[1] == "a\\x1b[2J\\u202egnp \u00e9\n"


def test_end_of_input_stops_the_policy() -> None:
    with pytest.raises(PolicyStoppedError, match=r"the input ended.* not played\. .*ycbench resume"):
        rollout(YCBenchEnv(), Person("task list").policy(), 1)


def test_line_in_another_encoding_is_asked_for_again() -> None:
    person = Person("task list", UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), "sim resume", "")
    assert rollout(YCBenchEnv(), person.policy(), 1, max_turns=1).actions == ("task list\nsim resume",)
    assert "type it again" in person.shown[-1]


def test_decision_is_recalled_without_asking() -> None:
    observation, _ = YCBenchEnv().reset(seed=1)
    decision = asyncio.run(Person("task list", "").policy().decide(observation))
    person = Person()
    assert person.policy().recall(observation, decision.trace) == decision.turn == "task list"
    assert person.prompts == []


def test_trace_of_something_else_is_refused() -> None:
    observation: Any = {}
    with pytest.raises(ValueError, match="got a trace with reply, expected typed"):
        HumanPolicy().recall(observation, {"reply": "x"})


def test_default_reader_asks_on_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("task list\n\ncompany status"))
    observation, _ = YCBenchEnv().reset(seed=1)
    policy = HumanPolicy()
    assert policy.act(observation) == "task list"
    with pytest.raises(PolicyStoppedError):
        policy.act(observation)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("Type commands, one a line")
    assert f"{observation['text']}\nturn 1> ... {observation['text']}\nturn 1> ... " in err


def test_human_deliberates() -> None:
    assert isinstance(HumanPolicy(), DeliberatingPolicy)
