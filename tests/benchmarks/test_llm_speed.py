"""Benchmarks of runs with a language model (docs/performance.md). What is asserted is a ratio within one run.

The models answer by a script, so what is measured is everything else: prompt, window, messages, client, environment,
hash of the world, record. Servers run in a process of their own.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest

from ycbench_agents.llm.client import OpenAIChat
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model
from ycbench_agents.llm.making import make_llm_policy, openai_chat
from ycbench_agents.llm.message import ChatClient, ChatReply, ChatRequest, Completion, Transport
from ycbench_agents.llm.settings import LLMSettings
from ycbench_agents.records import RunPlan, play_run_sync, replay_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_benchmark.fixture import BenchmarkFixture

EPISODES = 100

# Plays so many episodes at once; prints seconds, and peak memory in MiB before and afterwards (Linux only).
MANY = r"""
import asyncio, json, re, sys, time
from pathlib import Path
from ycbench_agents.llm.making import make_llm_policy, openai_chat
from ycbench_agents.llm.settings import LLMSettings
from ycbench_agents.records import RunPlan, play_many

url, folder, episodes = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
client = openai_chat(LLMSettings(model="greedy", base_url=url))
plans = [
    RunPlan(folder / str(seed), "default", seed, make_llm_policy("greedy", client=client), "llm")
    for seed in range(1, episodes + 1)
]

def peak():  # getrusage would count what the process was before it became this program
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024

before, started, used = peak(), time.perf_counter(), time.process_time()
played = asyncio.run(play_many(plans, episodes))
turns = [run.played_turns for run in played]
print(json.dumps({
    "wall_s": time.perf_counter() - started, "cpu_s": time.process_time() - used, "before_mib": before,
    "peak_mib": peak(), "turns": sum(turns), "finished": sum(run.record.is_finished for run in played),
}))
"""


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """Address of a greedy model in another process."""
    command = [sys.executable, "-m", "ycbench_agents.llm.loopback", "--model", "greedy", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:  # noqa: S603 -- this project's own
        assert server.stdout is not None
        found = re.search(r"http://[^;]+", server.stdout.readline())
        assert found is not None
        yield found[0]
        server.kill()


@attrs.frozen
class _Listening:
    """Passes requests on and keeps them with the replies."""

    client: ChatClient
    heard: list[tuple[ChatRequest, ChatReply]] = attrs.field(factory=list)

    async def complete(self, request: ChatRequest) -> Completion:
        completion = await self.client.complete(request)
        self.heard.append((request, completion.reply))
        return completion


class _Answering:
    """Answers at once with what was heard before."""

    def __init__(self, replies: list[ChatReply]) -> None:
        self._replies = itertools.cycle(replies)

    async def complete(self, request: ChatRequest) -> Completion:
        del request
        return Completion(next(self._replies), Transport(0.0, 1))


def plan_of(folder: Path, client: ChatClient, keep_turns: int | None = 20) -> RunPlan:
    return RunPlan(folder, "default", 1, make_llm_policy("greedy", client=client, keep_turns=keep_turns), "llm")


def chat_at(url: str) -> ChatClient:
    return openai_chat(LLMSettings(model="greedy", base_url=url))


def heard_in_a_year(folder: Path, keep_turns: int | None) -> list[tuple[ChatRequest, ChatReply]]:
    with LoopbackServer(greedy_model) as server:
        listening = _Listening(chat_at(server.base_url))
        play_run_sync(plan_of(folder, listening, keep_turns))
    return listening.heard


@pytest.mark.parametrize("keep_turns", [1, 20, None], ids=["1 turn shown", "20 turns shown", "all turns shown"])
def test_a_year_of_65_turns_with_a_model_that_answers_at_once(
    keep_turns: int | None, benchmark: BenchmarkFixture, tmp_path: Path
) -> None:
    """What the harness adds: everything but the model and the connection to it."""
    replies = [reply for _, reply in heard_in_a_year(tmp_path / "heard", keep_turns)]
    assert len(replies) == 65
    folders = (tmp_path / str(number) for number in itertools.count())

    def new_plan() -> tuple[tuple[RunPlan], dict[str, object]]:
        return (plan_of(next(folders), _Answering(replies), keep_turns),), {}

    played = benchmark.pedantic(play_run_sync, setup=new_plan, rounds=10, warmup_rounds=1)
    assert played.record.is_finished


def test_a_year_of_65_turns_over_a_connection(benchmark: BenchmarkFixture, tmp_path: Path, base_url: str) -> None:
    """The same with the real client and a server on this machine, whose own work is counted too."""
    folders = (tmp_path / str(number) for number in itertools.count())

    def new_plan() -> tuple[tuple[RunPlan], dict[str, object]]:
        return (plan_of(next(folders), chat_at(base_url)),), {}

    played = benchmark.pedantic(play_run_sync, setup=new_plan, rounds=5, warmup_rounds=1)
    assert played.record.is_finished


def test_the_replay_of_a_year(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """What a resume does before it goes on."""
    heard_in_a_year(tmp_path, 20)
    report = benchmark.pedantic(
        lambda: replay_run(tmp_path, make_llm_policy("greedy", client=_Answering([]))), rounds=5
    )
    assert report.is_equal


@pytest.mark.benchmark(group="ratios")
def test_a_request_of_twenty_turns_costs_the_client_little_more_than_one_of_none(
    benchmark: BenchmarkFixture, tmp_path: Path
) -> None:
    """The client must not look at each value of a request: that took ten times as long as all the rest."""
    requests = [request for request, _ in heard_in_a_year(tmp_path, 20)]
    with LoopbackServer(lambda _: {"choices": [{"message": {"content": "x"}}]}, strict=False) as server:
        chat = OpenAIChat(LLMSettings(model="m", base_url=server.base_url), environ={})
        with asyncio.Runner() as runner:

            def ask(request: ChatRequest) -> None:
                runner.run(chat.complete(request))

            took = {name: _seconds(ask, request) for name, request in (("short", requests[0]), ("long", requests[-1]))}
            benchmark.pedantic(ask, args=(requests[-1],), rounds=50)
    assert took["long"] < 6 * took["short"]


def _seconds(ask: Callable[[ChatRequest], None], request: ChatRequest) -> float:
    best = float("inf")
    for _ in range(30):
        start = time.perf_counter()
        ask(request)
        best = min(best, time.perf_counter() - start)
    return best


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_hundred_episodes_at_once(benchmark: BenchmarkFixture, tmp_path: Path, base_url: str) -> None:
    """Whole years in one process that has nothing else to do; the server has the other core."""
    alone = _many(base_url, tmp_path / "alone", 1)
    together = benchmark.pedantic(_many, args=(base_url, tmp_path / "together", EPISODES), rounds=1)
    assert (alone["finished"], together["finished"]) == (1, EPISODES)
    sys.stdout.write(f"\nalone:    {json.dumps(alone)}\ntogether: {json.dumps(together)}\n")
    grown = together["peak_mib"] - together["before_mib"]
    assert grown < 2 * alone["peak_mib"]  # an episode costs little beside what any program with openai does


def _many(url: str, folder: Path, episodes: int) -> dict[str, float]:
    command = [sys.executable, "-c", MANY, url, str(folder), str(episodes)]
    environ = {**os.environ, "OPENAI_API_KEY": ""}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environ)  # noqa: S603 -- written above
    return json.loads(done.stdout)
