"""Playing runs into their folders, with a view of them, and telling what came of each."""

from __future__ import annotations

import asyncio
import contextlib
import warnings
from itertools import zip_longest
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.cli.output import INTERRUPTED, STOPPED, complain
from ycbench_agents.cli.policies import asks_a_person
from ycbench_agents.records import PlayedRun, RecordError, RunFailure, Runtime, play_many, read_run

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ycbench_agents.records import RunPlan, RunRecord, RunResult

__all__ = ["PlayedRuns", "Watching", "play_runs", "telling_warnings"]


_SHOWN: Final = 12  # lines about one matter


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
        finished = all(record is not None and record.is_finished for record in self.records)
        return 0 if finished and not self.failures else STOPPED

    def complain(self) -> None:
        """Say on stderr what is not finished, and how to go on."""
        if self.were_finished:
            complain(f"finished before, nothing was played: {self.were_finished} of {len(self.plans)} runs")
        for reason in self.failures.values():
            complain(f"error: {reason}")
        unfinished = [record for record in self.records if record is not None and not record.is_finished]
        for record in unfinished[:_SHOWN]:
            why = record.outcome.reason or "interrupted"
            complain(f"not finished: {record.folder}: {why}\n  go on with: ycbench resume {record.folder}")
        if len(unfinished) > _SHOWN:
            complain(
                f"not finished: {len(unfinished) - _SHOWN} further runs; ycbench resume takes folders of runs, too"
            )
        for record in self.records:
            if record is not None and (told := _hint(record)):
                complain(f"{record.folder}: {told}")
        if seeds := self._seeds_not_begun():
            complain(f"not begun: seed {seeds}; give the same command again")

    def _seeds_not_begun(self) -> str:
        """Return the seeds of runs that nothing is known of; the same command finds or begins all of its runs."""
        places = [place for place, record in enumerate(self.records) if record is None and place not in self.failures]
        return " ".join(dict.fromkeys(str(self.plans[place].seed) for place in places))


def play_runs(plans: Sequence[RunPlan], watching: Watching) -> PlayedRuns:
    """Play runs, or go on with them, and return what came of each; Ctrl-C ends all, and each can be resumed."""
    from ycbench_agents.cli.old_live import live_view  # noqa: PLC0415 -- imports rich

    results: tuple[RunResult, ...] = ()
    interrupted = False
    live = watching.live and not any(asks_a_person(plan.name, plan.settings.get("parameters")) for plan in plans)
    with telling_warnings(), live_view(plans, live=live, quiet=watching.quiet) as view:
        try:
            results = asyncio.run(play_many(plans, watching.concurrency, Runtime(on_turn=view.on_turn)))
        except KeyboardInterrupt:
            interrupted = True
        for result in results:
            view.finished(result)
    failures = {place: _why(result) for place, result in enumerate(results) if isinstance(result, RunFailure)}
    records = tuple(
        result.record if isinstance(result, PlayedRun) else _record_of(plan)
        for plan, result in zip_longest(plans, results)
    )
    failures |= {
        place: why
        for place, (record, result) in enumerate(zip_longest(records, results))
        if not _was_replayed(result) and (why := _damage(record)) is not None
    }
    before = sum(isinstance(result, PlayedRun) and result.was_finished for result in results)
    return PlayedRuns(tuple(plans), records, failures, interrupted, before)


def _hint(record: RunRecord) -> str:
    """Return what to try when most replies of a model had nothing in them that could be run; empty if they had."""
    total, turns = record.outcome.totals.get("unusable_replies"), record.outcome.turns or 0
    useless = total.get("sum") if isinstance(total, dict) else None
    if not isinstance(useless, int) or 2 * useless <= turns:
        return ""
    hint = f"{useless} of {turns} replies had nothing in them that could be run"
    tools = record.identity.settings.get("mode") == "tools"
    return f"{hint}; a model that calls no tools needs --param mode=text" if tools else hint


def _why(failure: RunFailure) -> str:
    """Return why a run could not be played, with its folder; what a record's own errors name already."""
    error = failure.error
    text = str(error) if isinstance(error, RecordError) else f"{failure.plan.folder}: {type(error).__name__}: {error}"
    lines = text.split("\n")
    return "\n".join([*lines[:_SHOWN], f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else lines)


def _was_replayed(result: RunResult | None) -> bool:
    """Return whether this process has read all turns of a run, so that they are known to be whole."""
    return isinstance(result, PlayedRun) and not result.was_finished


def _damage(record: RunRecord | None) -> str | None:
    """Return what is wrong with the turns of a finished run; None for nothing."""
    if record is None or not record.is_finished:
        return None
    try:
        for _turn in record.turns():
            pass
    except RecordError as error:
        return str(error)
    return None


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
