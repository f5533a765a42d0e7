"""Benchmarks of runs with a language model (docs/performance.md). What is asserted is a ratio within one run.

The model answers by a script, so what is measured is everything else: prompt, window, messages, client, environment,
hash of the world, record.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest

from ycbench_agents.llm.client import ChatClient, ChatRequest, Completion, OpenAIChat, Transport
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model
from ycbench_agents.llm.policy import make_llm_policy
from ycbench_agents.llm.reply import ChatReply
from ycbench_agents.llm.settings import LLMSettings
from ycbench_agents.runs import RunIdentity, play_run, replay_run

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

    from ycbench_agents.runs import Run


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


def played(folder: Path, client: ChatClient, keep_turns: int | None = 20) -> Run:
    policy = make_llm_policy("greedy", client=client, keep_turns=keep_turns)
    return play_run(folder, RunIdentity.of("default", 1, "llm", policy), policy)


def heard_in_a_year(folder: Path, keep_turns: int | None) -> list[tuple[ChatRequest, ChatReply]]:
    with LoopbackServer(greedy_model) as server:
        listening = _Listening(OpenAIChat(LLMSettings(model="greedy", base_url=server.base_url)))
        played(folder, listening, keep_turns)
    return listening.heard


@pytest.mark.parametrize("keep_turns", [1, 20, None], ids=["1 turn shown", "20 turns shown", "all turns shown"])
def test_a_year_of_65_turns_with_a_model_that_answers_at_once(
    keep_turns: int | None, benchmark: BenchmarkFixture, tmp_path: Path
) -> None:
    """What the harness adds: everything but the model and the connection to it."""
    replies = [reply for _, reply in heard_in_a_year(tmp_path / "heard", keep_turns)]
    assert len(replies) == 65
    folders = (tmp_path / str(number) for number in itertools.count())
    run = benchmark.pedantic(lambda: played(next(folders), _Answering(replies), keep_turns), rounds=10, warmup_rounds=1)
    assert run.is_finished


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
    with LoopbackServer(lambda _: {"choices": [{"message": {"content": "x"}}]}) as server, asyncio.Runner() as runner:
        chat = OpenAIChat(LLMSettings(model="m", base_url=server.base_url))

        def seconds(request: ChatRequest) -> float:
            started = time.perf_counter()
            runner.run(chat.complete(request))
            return time.perf_counter() - started

        short, long = (min(seconds(request) for _ in range(30)) for request in (requests[0], requests[-1]))
        benchmark.pedantic(seconds, args=(requests[-1],), rounds=50)
    assert long < 6 * short
