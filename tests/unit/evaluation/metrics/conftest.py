"""Runs of a tiny world, made from a list of turns; figures in it can be worked out in the head.

Seed 3 of the tiny world: Equinox Labs is loyal and pays 1,220,000 cents (Task-1, Task-3, inference), Vanguard ML is
adversarial and pays 1,875,000 (Task-2, Task-4, data_environment). Each task is 200 units; Emp_1 and Emp_2 do 10 an
hour each. A deadline is two workdays: accepted on Wednesday 1 January at 09:00, it is Thursday 18:00.
"""

# ruff: noqa: ARG002 -- stand-ins see anything

import datetime as dt
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents.base import Decision, JsonObject
from ycbench_agents.runs import Run, RunIdentity, play, play_run
from ycbench_env import Config, Observation
from ycbench_env.testing import tiny_config


@attrs.define
class Says:
    """Says a list of turns."""

    turns: Sequence[str]
    place: int = 0

    def reset(self, seed: int) -> None:
        self.place = 0

    def act(self, observation: Observation) -> str:
        self.place += 1
        return self.turns[self.place - 1]


@attrs.define
class Asks(Says):
    """Says a list of turns as if a model had been asked, with the traces and transports given."""

    traces: Sequence[JsonObject] = ()
    transports: Sequence[JsonObject] = ()

    async def decide(self, observation: Observation) -> Decision:
        turn = self.act(observation)
        return Decision(turn, self.traces[self.place - 1], self.transports[self.place - 1])

    def recall(self, observation: Observation, trace: JsonObject) -> str:
        return self.act(observation)


@attrs.frozen
class Kit:
    """Makes records."""

    folder: Path

    def record(
        self,
        *turns: str,
        config: Config | str | None = None,
        policy: object = None,
        seed: int = 3,
        scratchpad: bool = True,
        max_turns: int | None = None,
    ) -> Run:
        """A run in which these turns were given, or which a policy played, in the tiny world."""
        plays: Any = Says(turns) if policy is None else policy
        limit = len(turns) if turns else max_turns
        identity = RunIdentity.of(
            tiny_config() if config is None else config, seed, "says", plays, max_turns=limit, scratchpad=scratchpad
        )
        return play_run(self.folder / f"run{len(list(self.folder.iterdir()))}", identity, plays)

    def asking(self, turns: Sequence[str], traces: Sequence[JsonObject], transports: Sequence[JsonObject]) -> Run:
        """A run whose policy asks a model."""
        return self.record(policy=Asks(turns, traces=traces, transports=transports), max_turns=len(turns))


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """Its clock goes on by a second at each look, and nothing waits for the disk."""
    seconds = itertools.count()
    monkeypatch.setattr(play, "_now", lambda: dt.datetime.fromtimestamp(next(seconds), dt.UTC).isoformat())
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)
    return Kit(tmp_path)


@pytest.fixture(scope="session")
def start() -> Callable[..., str]:
    """A turn that accepts, staffs and dispatches a task."""

    def text(task_id: str, *names: str, accept: bool = True, dispatch: bool = True) -> str:
        lines = [f"task accept --task-id {task_id}"] if accept else []
        lines.append(f"task assign --task-id {task_id} --employees {','.join(names)}")
        lines += [f"task dispatch --task-id {task_id}"] if dispatch else []
        return "\n".join(lines)

    return text
