"""A policy that thinks like a language model, plans for a tiny world, and files that can be killed at any call."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import pytest

from ycbench_agents.base import Decision, JsonObject, PolicyStoppedError
from ycbench_agents.records import RunOrigin, RunPlan, Runtime, play_run_sync
from ycbench_agents.records.files import DiskFiles
from ycbench_env import Observation
from ycbench_env.testing import tiny_config

TINY = tiny_config(loop={"max_turns": 4})
LOOKS = ("client list", "task accept --task-id Task-1", "sim resume", "nonsense \u00e9\U0001f600\ud800")


class Thinker:
    """Says what follows from all that it has seen; what it says holds any character, and is at times several texts.

    Args:
        latency_s: What its transport tells; differs between equal runs.
        stops_at: Turn at which it cannot go on.
    """

    def __init__(self, latency_s: float = 0.0, stops_at: int | None = None) -> None:
        self.latency_s = latency_s
        self.stops_at = stops_at
        self.asked = 0
        self.reset(0)

    def reset(self, seed: int) -> None:
        self._seen = str(seed)
        self.last_messages: list[JsonObject] = []

    def act(self, observation: Observation) -> str | tuple[str, ...]:
        raise NotImplementedError  # a run asks a deliberating policy by `decide`, and never by this

    async def decide(self, observation: Observation) -> Decision:
        await asyncio.sleep(0)
        if int(observation["turn"]) == self.stops_at:
            msg = "the quota is used up; raise it and resume"
            raise PolicyStoppedError(msg)
        self.asked += 1
        question = self._question(observation)
        trace: JsonObject = {
            "reply": {"content": f"I think {question[:6]}", "tool_calls": [], "reasoning": {"reasoning": "hm"}},
            "messages_sha256": question,
            "prompt_tokens": int(question[:2], 16),
            "cached_tokens": None if int(question[2], 16) % 2 else 3,
            "cost_usd": 0.1,
        }
        return Decision(self._turn(observation, question), trace, {"latency_s": self.latency_s})

    def recall(self, observation: Observation, trace: JsonObject) -> str | tuple[str, ...]:
        question = self._question(observation)
        if trace["messages_sha256"] != question:
            msg = f"messages_sha256: recorded {trace['messages_sha256']}, now {question}"
            raise ValueError(msg)
        return self._turn(observation, question)

    def _question(self, observation: Observation) -> str:
        return hashlib.sha256(f"{self._seen}{observation['text']}".encode("utf-8", "surrogatepass")).hexdigest()

    def _turn(self, observation: Observation, question: str) -> str | tuple[str, ...]:
        self._seen = question
        self.last_messages = [{"role": "user", "content": observation["text"]}]
        look = LOOKS[int(question[0], 16) % len(LOOKS)]
        note = f"scratchpad append --content {question[:4]}"
        return (look, note) if int(question[1], 16) % 2 else f"{look}; {note}"


class QuickFiles(DiskFiles):
    """Real files, without waiting for the disk."""

    def sync(self, path: Path) -> None:
        pass

    def sync_folder(self, path: Path) -> None:
        pass


class Killed(BaseException):
    """The process is killed here."""


@attrs.define
class FatalFiles:
    """Files at whose n-th call the process is killed: before it, halfway through what it writes, or after it.

    Args:
        fatal_call: Number of the call, from 0.
        moment: before, halfway or after.
    """

    fatal_call: int
    moment: str
    calls: int = 0
    inner: QuickFiles = attrs.field(factory=QuickFiles)

    def make_folder(self, path: Path) -> None:
        self._call(lambda: self.inner.make_folder(path))

    def write(self, path: Path, data: bytes) -> None:
        self._call(lambda: self.inner.write(path, data), lambda: self.inner.write(path, data[: len(data) // 2]))

    def append(self, path: Path, data: bytes) -> None:
        self._call(lambda: self.inner.append(path, data), lambda: self.inner.append(path, data[: len(data) // 2]))

    def cut(self, path: Path, size: int) -> None:
        self._call(lambda: self.inner.cut(path, size))

    def sync(self, path: Path) -> None:
        self._call(lambda: self.inner.sync(path))

    def replace(self, source: Path, target: Path) -> None:
        self._call(lambda: self.inner.replace(source, target))

    def sync_folder(self, path: Path) -> None:
        self._call(lambda: self.inner.sync_folder(path))

    def _call(self, whole: Callable[[], None], half: Callable[[], None] = lambda: None) -> None:
        is_fatal = self.calls == self.fatal_call
        self.calls += 1
        if is_fatal and self.moment != "after":
            if self.moment == "halfway":
                half()
            raise Killed
        whole()
        if is_fatal:
            raise Killed


def make_runtime(environ: Mapping[str, str] | None = None, **changes: object) -> Runtime:
    """A runtime whose clock goes on by a second at each look, and that has no keys, no git and no disk to wait for."""
    seconds = itertools.count()

    def clock() -> dt.datetime:
        return dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=next(seconds))

    runtime = Runtime(
        clock=clock,
        files=QuickFiles(),
        environ=environ or {},
        origin=lambda started: RunOrigin("3.11.0", {}, None, started),
    )
    return attrs.evolve(runtime, **changes)


def make_plan(folder: Path, policy: object = None, **changes: object) -> RunPlan:
    """A plan of four turns in the tiny world."""
    plan = RunPlan(
        folder=folder,
        config=TINY,
        seed=3,
        policy=Thinker() if policy is None else policy,  # pyright: ignore[reportArgumentType] -- some tests give wrong ones
        name="thinker",
        settings={"depth": 2},
        model="test/model:free",
    )
    return attrs.evolve(plan, **changes)


@attrs.frozen
class Kit:
    """What the tests of records share."""

    thinker: type[Thinker] = Thinker
    killed: type[Killed] = Killed
    fatal_files: type[FatalFiles] = FatalFiles
    plan: Callable[..., RunPlan] = make_plan
    runtime: Callable[..., Runtime] = make_runtime


@pytest.fixture(scope="session")
def kit() -> Kit:
    """The shared pieces, by name."""
    return Kit()


@pytest.fixture
def undisturbed(tmp_path: Path, kit: Kit) -> Path:
    """Folder of a run of ``kit.plan`` that nothing has disturbed."""
    folder = tmp_path / "undisturbed"
    play_run_sync(kit.plan(folder), kit.runtime())
    return folder
