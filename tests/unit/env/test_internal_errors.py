"""A fault of this program is told to the operator, answered without a trace, and changes nothing (B29)."""

# ruff: noqa: ANN401 -- answers are JSON of many shapes

from __future__ import annotations

import logging
from typing import Any

import pytest

from ycbench_env import YCBenchEnv
from ycbench_env.wrappers import ScratchpadMemory

ANSWER = {"error": "internal error, reported to the operator; nothing was changed"}


def broken(*_: object, **__: object) -> Any:
    """Fails like a fault in the library would."""
    message = "secret detail in /some/path"
    raise RuntimeError(message)


@pytest.mark.internal_errors_expected
@pytest.mark.parametrize("part", ["ycbench_env.turn.transition", "ycbench_env.turn.encoded_answer"])
def test_an_internal_error_is_answered_logged_and_changes_nothing(
    part: str, env: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept = env.get_state()
    monkeypatch.setattr(part, broken)
    with caplog.at_level(logging.ERROR, logger="ycbench_env"):
        observation, reward, terminated, truncated, info = env.step("task accept --task-id Task-1\n--help\nclient list")
    assert [result["ok"] for result in info["results"]] == [False, True, False]
    assert info["results"][0]["output"] == info["results"][2]["output"] == ANSWER
    assert (reward, terminated, truncated, info["invalid_commands"]) == (0.0, False, False, 0)
    assert env.state_hash() == kept.digest()
    assert env.get_state().tasks == ()
    assert env.observation_space.contains(observation)
    told = [record for record in caplog.records if record.name == "ycbench_env"]
    assert len(told) == 2
    assert "task accept --task-id Task-1" in told[0].getMessage()
    assert told[0].exc_info is not None
    assert "secret" not in observation["text"] + observation["results"]
    monkeypatch.undo()
    assert env.step("task accept --task-id Task-1")[4]["results"][0]["ok"]  # the episode goes on


@pytest.mark.internal_errors_expected
def test_what_follows_a_failed_and_is_skipped_after_an_internal_error(
    env: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ycbench_env.turn.transition", broken)
    info = env.step("company status && task list")[4]
    assert [result["ok"] for result in info["results"]] == [False, False]
    assert "skipped" in info["results"][1]["output"]["error"]


@pytest.mark.internal_errors_expected
def test_an_internal_error_of_the_scratchpad_keeps_the_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    env = ScratchpadMemory(YCBenchEnv())
    env.reset(seed=1)
    env.step("scratchpad write --content kept")
    monkeypatch.setattr("ycbench_env.wrappers.scratchpad_memory.Scratchpad.answer", broken)
    observation, *_, info = env.step("scratchpad write --content lost")
    assert info["results"][0]["output"] == ANSWER
    assert observation["notes"] == "kept"


@pytest.mark.internal_errors_expected
def test_an_internal_error_of_a_forced_advance_does_not_raise_either(env: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(4):
        env.step("")
    digest = env.state_hash()
    monkeypatch.setattr("ycbench_env.turn.advance", broken)
    observation, reward, terminated, truncated, info = env.step("company status")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["results"][0]["ok"]
    assert env.observation_space.contains(observation)
    assert env.state_hash() == digest
