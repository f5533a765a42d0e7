"""Playing policies that wait for answers, many at once in this process; whatever one of them does costs its episode."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.base import DeliberatingPolicy
from ycbench_agents.evaluation.failure import EpisodeFailure, failure_of
from ycbench_agents.evaluation.measured import store_measures
from ycbench_agents.evaluation.turn_check import CheckedDeliberator
from ycbench_agents.records import PlayedRun, RecordError, RunFailure, play_many

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.records import RunPlan, RunResult, Runtime

__all__ = ["WaitingEpisode", "contained", "play_waiting"]


@attrs.frozen
class WaitingEpisode:
    """An episode whose policy waits for answers.

    Args:
        key: Which episode.
        plan: Returns its run with a new policy.
    """

    key: EpisodeKey
    plan: Callable[[], RunPlan]


async def play_waiting(
    episodes: Sequence[WaitingEpisode],
    concurrency: int,
    root: Path,
    end: Callable[[EpisodeKey, EpisodeFailure | None], None],
    runtime: Runtime,
) -> None:
    """Play episodes and measure them.

    Args:
        episodes: What to play.
        concurrency: How many at once.
        root: Folder of the evaluation.
        end: Is told of each that is over and why it failed, None where it did not; what it raises ends the playing.
        runtime: Clock and environment.

    Raises:
        Exception: ``end`` raised it.
    """
    gate = asyncio.Semaphore(concurrency)

    async def play(episode: WaitingEpisode) -> None:
        async with gate:
            result = await _played(episode, runtime)
            end(episode.key, await asyncio.to_thread(_judged, result, root, runtime))

    try:
        async with asyncio.TaskGroup() as group:
            for episode in episodes:
                group.create_task(play(episode))
    except BaseExceptionGroup as errors:  # whoever calls expects the error itself, as where processes play
        raise errors.exceptions[0] from None


class _EscapedError(Exception):
    """A policy raised what is no usual error, and would end more than its own episode.

    Args:
        error: What it raised.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(error)
        self.error = error


@contextlib.contextmanager
def contained() -> Generator[None]:
    """Let nothing out of a policy's code that ends other runs, except Ctrl-C and the cancellation of its own run.

    Raises:
        _EscapedError: There was such an error.
    """
    try:
        yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        raise _EscapedError(error) from error


async def _played(episode: WaitingEpisode, runtime: Runtime) -> RunResult | Exception:
    """Return what came of a run, or the error where there is no policy to play it."""
    try:
        with contained():
            plan = episode.plan()
    except Exception as error:  # noqa: BLE001 -- whatever it is, the other runs go on
        return error
    if isinstance(plan.policy, DeliberatingPolicy):
        plan = attrs.evolve(plan, policy=CheckedDeliberator(plan.policy, contained))
    [result] = await play_many([plan], runtime=runtime)
    return result


def _judged(result: RunResult | Exception, root: Path, runtime: Runtime) -> EpisodeFailure | None:
    """Return why a run failed; one that is finished is measured."""
    try:
        return _failure(result, root, runtime)
    except Exception as error:  # noqa: BLE001 -- as above
        return failure_of("measurement", error, root, runtime.environ)


def _failure(result: RunResult | Exception, root: Path, runtime: Runtime) -> EpisodeFailure | None:
    match result:
        case PlayedRun(record=record) if record.is_finished:
            store_measures(record)
            return None
        case PlayedRun(record=record):
            return EpisodeFailure("stopped", "PolicyStoppedError", record.outcome.reason or "")
        case RunFailure(error=RecordError() as error):
            return failure_of("record", error, root, runtime.environ)
        case RunFailure(error=_EscapedError() as escaped) | (_EscapedError() as escaped):
            return failure_of("raised", escaped.error, root, runtime.environ)
        case RunFailure(error=error) | (Exception() as error):
            return failure_of("raised", error, root, runtime.environ)
