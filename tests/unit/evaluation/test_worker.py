"""What a worker tells of a policy that does odd things."""

from __future__ import annotations

import asyncio
import errno
import json
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Bench

    from ycbench_agents.base import Decision, JsonObject
    from ycbench_env import Observation

BAD = __name__ + ":"


class Numbers:
    """Says what is no turn."""

    def __init__(self, *, listed: bool = False) -> None:
        self._turn = [b"sim resume"] if listed else 7

    def reset(self, seed: int) -> None:
        """Keep nothing."""

    def act(self, observation: Observation) -> object:
        del observation
        return self._turn


class Mute:
    """Raises an error whose text takes for ever."""

    def reset(self, seed: int) -> None:
        """Keep nothing."""

    def act(self, observation: Observation) -> str:
        raise EndlessError(observation)


class Asks(Mute):
    """Waits for an answer that never comes, or for an error without a text."""

    def __init__(self, *, for_ever: bool) -> None:
        self._for_ever = for_ever

    async def decide(self, observation: Observation) -> Decision:
        if self._for_ever:
            await asyncio.sleep(3600)
        raise EndlessError(observation)

    def recall(self, observation: Observation, trace: JsonObject) -> str:
        """Is asked for nothing here."""
        raise LookupError(observation, trace)


class EndlessError(Exception):
    """Never says what it is about."""

    def __str__(self) -> str:
        time.sleep(3600)
        return ""


class Maps:
    """Is refused memory by the system itself."""

    def reset(self, seed: int) -> None:
        """Keep nothing."""

    def act(self, observation: Observation) -> str:
        del observation
        raise OSError(errno.ENOMEM, "Cannot allocate memory")


def test_memory_that_the_system_refuses_is_told_as_memory(bench: Bench) -> None:
    bench.text = bench.text.replace('{ name = "greedy" }', f'{{ name = "{BAD}Maps" }}').replace("[1, 2]", "[1]")
    bench.play()
    [failure] = json.loads(bench.out.failures.read_bytes())["failures"]
    assert (failure["kind"], failure["text"]) == (
        "memory",
        "needed more than 2048 MiB; see limits.memory_mib of the suite",
    )


def test_a_class_of_ones_own_that_waits_for_answers_is_played_within_limits_too(bench: Bench) -> None:
    rows = ", ".join(
        f'{{ name = "{BAD}Asks", label = "{label}", parameters = {{ for_ever = {for_ever} }} }}'
        for label, for_ever in (("waits", "true"), ("mute", "false"))
    )
    bench.text = bench.text.replace('{ name = "greedy" }', rows).replace("[1, 2]", "[1]")
    bench.text = bench.text.replace("max_turns", "waiting_seconds = 1, max_turns")
    played = bench.play()
    assert {episode.key.policy: episode.reason for episode in played.evaluation.episodes} == {
        "waits": "EpisodeTimeoutError: took longer than 1 seconds; see limits.waiting_seconds of the suite",
        "mute": "EndlessError",
        "idle": None,
    }


def test_what_is_no_turn_or_has_no_text_is_an_error_of_the_policy(bench: Bench) -> None:
    rows = ", ".join(
        [
            f'{{ name = "{BAD}Numbers", label = "number" }}',
            f'{{ name = "{BAD}Numbers", label = "list", parameters = {{ listed = true }} }}',
            f'{{ name = "{BAD}Mute", label = "mute" }}',
        ]
    )
    bench.text = bench.text.replace('{ name = "greedy" }', rows).replace("[1, 2]", "[1]")
    bench.text = bench.text.replace("max_turns", "seconds = 1, max_turns")
    bench.play()
    failures = json.loads(bench.out.failures.read_bytes())["failures"]
    assert {(each["policy"], each["kind"], each["error"], each["text"]) for each in failures} == {
        ("number", "raised", "TurnError", "got a turn of the type int, expected a text or a sequence of texts"),
        ("list", "raised", "TurnError", "got a turn of the type list, expected a text or a sequence of texts"),
        ("mute", "raised", "EndlessError", ""),
    }
    assert not any("begun anew" in message for message in bench.watcher.told)
