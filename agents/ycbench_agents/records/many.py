"""Many runs in one process."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, TypeAlias

import attrs

from ycbench_agents.records.error import RecordError
from ycbench_agents.records.playing import REAL_RUNTIME, PlayedRun, play_run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ycbench_agents.records.plan import RunPlan, Runtime

__all__ = ["RunFailure", "RunResult", "play_many"]


@attrs.frozen
class RunFailure:
    """A run that could not be played.

    Args:
        plan: What was to be played.
        error: Why it could not.
    """

    plan: RunPlan
    error: Exception


RunResult: TypeAlias = PlayedRun | RunFailure
"""What came of one of many runs."""


async def play_many(
    plans: Sequence[RunPlan], concurrency: int = 1, runtime: Runtime = REAL_RUNTIME
) -> tuple[RunResult, ...]:
    """Play runs, so many at once, and return what came of each, in the order of the plans.

    They share a thread: what runs at once is the waiting for models. One run's failure does not end the others; a
    cancellation ends all, and each can be resumed.

    Args:
        plans: What to play, each with a folder and a policy of its own.
        concurrency: How many at once, at least 1.
        runtime: Clock, files, and who watches.

    Raises:
        ValueError: ``concurrency`` is less than 1.
        RecordError: Two plans share a folder or a policy; nothing was played.
    """
    if concurrency < 1:
        msg = f"concurrency: got {concurrency}, expected at least 1"
        raise ValueError(msg)
    _refuse_shared(plans, lambda plan: os.path.normcase(plan.folder.absolute()), "folder")
    _refuse_shared(plans, lambda plan: id(plan.policy), "policy")
    gate = asyncio.Semaphore(concurrency)

    async def play(plan: RunPlan) -> RunResult:
        async with gate:
            try:
                return await play_run(plan, runtime)
            except Exception as error:  # noqa: BLE001 -- whatever it is, the other runs go on
                return RunFailure(plan, error)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(play(plan)) for plan in plans]
    return tuple(task.result() for task in tasks)


def _refuse_shared(plans: Sequence[RunPlan], key: Callable[[RunPlan], object], what: str) -> None:
    """Refuse plans that share what each must have to itself."""
    first: dict[object, RunPlan] = {}
    for plan in plans:
        other = first.setdefault(key(plan), plan)
        if other is not plan:
            msg = f"{plan.folder} and {other.folder}: two runs share a {what}; give each one of its own"
            raise RecordError(msg)
