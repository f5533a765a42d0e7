"""A small suite, policies with faults, and runs of a tiny world, made from a list of turns.

Figures in the tiny world can be worked out in the head. With seed 3 Equinox Labs is loyal and pays 1,220,000 cents
(Task-1, Task-3, inference), Vanguard ML is adversarial and pays 1,875,000 (Task-2, Task-4, data_environment). Each task
is 200 units; Emp_1 and Emp_2 do 10 an hour each. A deadline is two workdays: accepted on Wednesday 1 January at 09:00,
it is Thursday 18:00.
"""

# ruff: noqa: ARG002 -- stand-ins see anything

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents.base import Decision
from ycbench_agents.runs import Run, RunIdentity, play, play_run
from ycbench_env import Config, Observation
from ycbench_env.testing import tiny_config
from ycbench_env.text import JsonObject

Action = str | tuple[str, ...]

SMALL: dict[str, Any] = {
    "name": "small",
    "description": "Two policies in the first days of a year.",
    "presets": ["default"],
    "seeds": [1, 2],
    "limits": {"max_turns": 6},
    "policies": [{"name": "greedy"}, {"name": "idle"}],
}

FAULTY = """
import os, signal, sys, time
import numpy


class Fine:
    def reset(self, seed):
        self.seed = seed

    def act(self, observation):
        return "sim resume"


class Raises(Fine):
    def act(self, observation):
        raise RuntimeError(f"boom at {hex(id(self))}")


class ReturnsNone(Fine):
    def act(self, observation):
        return None


class Hangs(Fine):
    def act(self, observation):
        while True:
            time.sleep(1)


class EatsMemory(Fine):
    def act(self, observation):
        self.hoard = [numpy.empty(2**27) for _ in range(5)]  # 5 GiB of address space
        return "sim resume"


class Exits(Fine):
    def act(self, observation):
        os._exit(3)


class SysExits(Fine):
    def act(self, observation):
        sys.exit("enough")


class KillsItself(Fine):
    def act(self, observation):
        os.kill(os.getpid(), signal.SIGKILL)


class CannotBeMade(Fine):
    def __init__(self):
        raise ValueError("not today")
"""


@pytest.fixture(scope="session")
def small() -> dict[str, Any]:
    """Return the keys and values of a suite, which no test changes."""
    return SMALL


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a module of policies with faults, which is the working directory."""
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@attrs.define
class Says:
    """Says a list of turns, then lets time pass."""

    turns: Sequence[Action]
    place: int = 0

    def reset(self, seed: int) -> None:
        self.place = 0

    def act(self, observation: Observation) -> Action:
        self.place += 1
        return self.turns[self.place - 1] if self.place <= len(self.turns) else "sim resume"


@attrs.define
class Asks(Says):
    """Says a list of turns as if a model had been asked, with the traces and transports given."""

    traces: Sequence[JsonObject] = ()
    transports: Sequence[JsonObject] = ()

    async def decide(self, observation: Observation) -> Decision:
        turn = self.act(observation)
        return Decision(turn, self.traces[self.place - 1], self.transports[self.place - 1])

    def recall(self, observation: Observation, trace: JsonObject) -> Action:
        return self.act(observation)


@attrs.frozen
class Kit:
    """Makes records."""

    folder: Path
    numbers: Iterator[int] = attrs.field(factory=itertools.count)

    def record(
        self,
        *turns: Action,
        config: Config | str | None = None,
        policy: object = None,
        seed: int = 3,
        scratchpad: bool = True,
        max_turns: int | None = -1,
    ) -> Run:
        """A run of these turns, or of a policy to its end, in the tiny world; ``max_turns`` is another limit."""
        plays: Any = Says(turns) if policy is None else policy
        limit = (len(turns) or None) if max_turns == -1 else max_turns
        identity = RunIdentity.of(config or tiny_config(), seed, "says", plays, max_turns=limit, scratchpad=scratchpad)
        return play_run(self.folder / f"run{next(self.numbers)}", identity, plays)

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
