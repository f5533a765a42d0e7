"""Many runs in one process: in order, apart from each other, no more at once than asked for (B30, B46)."""

# ruff: noqa: ANN401 -- the kit comes as a fixture, and stand-ins see anything

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents.base import Decision
from ycbench_agents.records import PlayedRun, RecordError, RunFailure, play_many, play_run_sync, read_run, same_run


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_runs_side_by_side_are_as_they_are_alone(tmp_path: Path, kit: Any, concurrency: int) -> None:
    plans = [kit.plan(tmp_path / f"many{seed}", seed=seed) for seed in range(6)]
    results = asyncio.run(play_many(plans, concurrency, kit.runtime()))
    for seed, result in enumerate(results):
        assert isinstance(result, PlayedRun)
        assert result.record.identity.seed == seed
        alone = play_run_sync(kit.plan(tmp_path / f"alone{seed}", seed=seed), kit.runtime()).record
        assert same_run(result.record, alone) == []


def test_one_failure_ends_no_other_run_and_stands_in_its_place(tmp_path: Path, kit: Any) -> None:
    class Broken(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            await asyncio.sleep(0)
            raise ZeroDivisionError(observation["turn"])

    plans = [kit.plan(tmp_path / name, Broken() if name == "b" else kit.thinker()) for name in "abc"]
    first, second, third = asyncio.run(play_many(plans, 3, kit.runtime()))
    assert isinstance(second, RunFailure)
    assert isinstance(second.error, ZeroDivisionError)
    assert second.plan is plans[1]
    assert all(isinstance(run, PlayedRun) and run.record.is_finished for run in (first, third))


@pytest.mark.parametrize("concurrency", [1, 2, 4])
def test_no_more_runs_at_once_than_asked_for(tmp_path: Path, kit: Any, concurrency: int) -> None:
    at_once: set[Any] = set()
    most = [0]

    class Counted(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            at_once.add(self)
            most[0] = max(most[0], len(at_once))
            await asyncio.sleep(0)
            decision = await super().decide(observation)
            if int(observation["turn"]) == 4:
                at_once.discard(self)
            return decision

    asyncio.run(play_many([kit.plan(tmp_path / str(n), Counted()) for n in range(8)], concurrency, kit.runtime()))
    assert most[0] == concurrency


def test_a_cancellation_ends_all_and_each_can_be_resumed(tmp_path: Path, undisturbed: Path, kit: Any) -> None:
    plans = [kit.plan(tmp_path / f"{n}") for n in range(3)]

    async def play_a_little() -> None:
        task = asyncio.create_task(play_many(plans, 3, kit.runtime()))
        for _ in range(6):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(play_a_little())
    assert [read_run(plan.folder).outcome.status for plan in plans] == ["running"] * 3
    for result in asyncio.run(play_many(plans, 2, kit.runtime())):
        assert isinstance(result, PlayedRun)
        assert same_run(result.record, read_run(undisturbed)) == []


def test_runs_that_share_a_folder_or_a_policy_are_refused(tmp_path: Path, kit: Any) -> None:
    with pytest.raises(RecordError, match="two runs share a folder"):
        asyncio.run(play_many([kit.plan(tmp_path / "a"), kit.plan(tmp_path / "a")], 2, kit.runtime()))
    policy = kit.thinker()
    with pytest.raises(RecordError, match="two runs share a policy"):
        asyncio.run(play_many([kit.plan(tmp_path / name, policy) for name in "ab"], 2, kit.runtime()))
    assert not list(tmp_path.iterdir())


def test_no_runs_at_once_are_refused(kit: Any) -> None:
    with pytest.raises(ValueError, match="concurrency: got 0, expected at least 1"):
        asyncio.run(play_many([], 0, kit.runtime()))


def test_no_runs_give_no_results(kit: Any) -> None:
    assert asyncio.run(play_many([], 2, kit.runtime())) == ()
