"""Human: a person at a prompt, here a list of lines."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents import DeliberatingPolicy, PolicyStoppedError, rollout
from ycbench_agents.runs import Run, RunIdentity, play_run, read_run, replay_run
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


def test_what_an_agent_is_given_is_shown_after_a_word_on_the_prompt() -> None:
    person = Person("task list", "", "company status", "")
    trajectory = rollout(YCBenchEnv(), person.policy(), 1, max_turns=2)
    assert person.shown[0].startswith("Type commands, one a line")
    assert person.shown[1:] == [seen["text"] for seen in trajectory.observations[:2]]


def test_control_characters_never_reach_the_terminal() -> None:
    person = Person("")
    text = "a\x1b[2J\x07\x9b1m\x7f\r\u202egnp\u2066\ud800\u2028 \u00e9\t\n\U0001f642"
    observation: Any = {"text": text, "turn": 1}
    person.policy().act(observation)
    assert person.shown[1] == ("a\\x1b[2J\\x07\\x9b1m\\x7f\\r\\u202egnp\\u2066\\ud800\\u2028 \u00e9\t\n\U0001f642")


def test_the_end_of_the_input_stops_the_policy_and_tells_how_to_go_on() -> None:
    with pytest.raises(PolicyStoppedError, match=r"the input ended.* not played\. .*ycbench resume"):
        rollout(YCBenchEnv(), Person("task list").policy(), 1)


def test_a_line_in_another_encoding_is_asked_for_again() -> None:
    person = Person("task list", UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), "sim resume", "")
    assert rollout(YCBenchEnv(), person.policy(), 1, max_turns=1).actions == ("task list\nsim resume",)
    assert "type it again" in person.shown[-1]


def played(folder: Path, person: Person) -> Run:
    return play_run(folder, RunIdentity.of("default", 1, "human", settings={}, max_turns=3), person.policy())


def test_a_recorded_run_goes_on_later_without_asking_again(tmp_path: Path) -> None:
    played(tmp_path, Person("task list", "", "sim resume", "", "half a turn"))
    assert read_run(tmp_path).outcome.status == "stopped"
    person = Person("company status", "")
    played(tmp_path, person)
    assert person.prompts == ["turn 3> ", "... "]
    assert [turn.action for turn in read_run(tmp_path).turns()] == ["task list", "sim resume", "company status"]
    assert replay_run(tmp_path, Person().policy()).is_equal


def test_a_record_of_something_else_is_refused() -> None:
    observation: Any = {}
    with pytest.raises(ValueError, match="got a trace with reply, expected typed"):
        HumanPolicy().recall(observation, {"reply": "x"})


@pytest.mark.parametrize("parameters", [{"read": "input"}, {"write": 3}])
def test_what_cannot_be_called_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"(read|write): got ('input'|3), expected a function, like (input|print)"):
        HumanPolicy(**parameters)


def test_without_a_reader_of_its_own_it_asks_on_stderr_and_reads_stdin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_a_person_is_somebody_outside_of_the_process() -> None:
    assert isinstance(HumanPolicy(), DeliberatingPolicy)
