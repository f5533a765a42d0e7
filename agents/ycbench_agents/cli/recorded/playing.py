"""Playing runs into their folders, with a view of them, and telling what came of each."""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.cli.failure import INTERRUPTED, STOPPED
from ycbench_agents.cli.streams import complain
from ycbench_agents.records import PlayedRun, RecordError, RunFailure, Runtime, play_many, read_run

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ycbench_agents.records import RunPlan, RunRecord, RunResult

__all__ = ["PlayedRuns", "Watching", "play_runs", "telling_warnings"]


@attrs.frozen
class Watching:
    """How runs are watched.

    Args:
        concurrency: How many are played at once.
        live: Whether a terminal shows them as they go; else each turn is a line.
        quiet: Show nothing.
    """

    concurrency: int = 1
    live: bool = True
    quiet: bool = False


@attrs.frozen
class PlayedRuns:
    """What came of runs.

    Args:
        plans: What was to be played.
        records: The record of each as it is on the disk now, None where there is none.
        failures: Why runs could not be played, by place in ``plans``.
        interrupted: Whether Ctrl-C ended it.
        were_finished: How many had been finished before, so that nobody was asked.
    """

    plans: tuple[RunPlan, ...]
    records: tuple[RunRecord | None, ...]
    failures: dict[int, str]
    interrupted: bool
    were_finished: int = 0

    @property
    def exit_code(self) -> int:
        """130 after Ctrl-C, 1 where a run is not finished, else 0."""
        if self.interrupted:
            return INTERRUPTED
        return 0 if all(record is not None and record.is_finished for record in self.records) else STOPPED

    def complain(self) -> None:
        """Say on stderr what is not finished, and how to go on."""
        if self.were_finished:
            complain(f"finished before, nothing was played: {self.were_finished} of {len(self.plans)} runs")
        for place, reason in self.failures.items():
            complain(f"error: {self.plans[place].folder}: {reason}")
        unfinished = [record for record in self.records if record is not None and not record.is_finished]
        for record in unfinished:
            why = record.outcome.reason or "interrupted"
            complain(f"not finished: {record.folder}: {why}\n  go on with: ycbench resume {record.folder}")


def play_runs(plans: Sequence[RunPlan], watching: Watching) -> PlayedRuns:
    """Play runs, or go on with them, and return what came of each; Ctrl-C ends all, and each can be resumed."""
    from ycbench_agents.cli.live import live_view  # noqa: PLC0415 -- imports rich

    results: tuple[RunResult, ...] = ()
    interrupted = False
    with telling_warnings(), live_view(plans, live=watching.live, quiet=watching.quiet) as view:
        try:
            results = asyncio.run(play_many(plans, watching.concurrency, Runtime(on_turn=view.on_turn)))
        except KeyboardInterrupt:
            interrupted = True
        for result in results:
            view.finished(result)
    failures = {
        place: f"{type(result.error).__name__}: {result.error}"
        for place, result in enumerate(results)
        if isinstance(result, RunFailure)
    }
    played = [result.record if isinstance(result, PlayedRun) else None for result in results]
    records = tuple(played) if results else tuple(_record_of(plan) for plan in plans)
    before = sum(isinstance(result, PlayedRun) and result.was_finished for result in results)
    return PlayedRuns(tuple(plans), records, failures, interrupted, before)


def _record_of(plan: RunPlan) -> RunRecord | None:
    """Return what is on the disk."""
    try:
        return read_run(plan.folder)
    except RecordError:
        return None


@contextlib.contextmanager
def telling_warnings() -> Generator[None]:
    """Say warnings on stderr in a line each, when they come up."""

    def tell(message: Warning | str, *_: object) -> None:
        complain(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = tell
        yield
