"""Ending worker processes that play on after their time and cannot end themselves, as one that a signal stopped."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.limits import GRACE_S
from ycbench_agents.evaluation.worker import marker_of, tell_that_time_is_over

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from pathlib import Path

    from ycbench_agents.evaluation.job import Job

__all__ = ["WorkerWatch", "overdue_ended"]

_LOOK_S: Final = 0.5
_MORE_S: Final = 3.0  # after the moment at which a process should have ended itself


@attrs.define
class WorkerWatch:
    """Counts for how many looks each job is being played; a machine that slept meanwhile did not look.

    Args:
        jobs: The jobs, by name.
        look_s: Time between two looks, in seconds.
    """

    jobs: Mapping[str, Job]
    look_s: float = _LOOK_S
    _folders: frozenset[Path] = attrs.field(init=False)
    _looks: dict[tuple[str, int], int] = attrs.field(factory=dict, init=False)  # pyright: ignore[reportUnknownVariableType] -- attrs' factory

    def __attrs_post_init__(self) -> None:
        self._folders = frozenset(marker_of(job).parent for job in self.jobs.values())

    def overdue(self) -> list[tuple[Job, int]]:
        """Look once, and return the jobs that are played for too long, each with the number of its process."""
        playing = [(name, process) for name in self._marked() if (process := _process_of(self.jobs[name])) is not None]
        self._looks = {each: self._looks.get(each, 0) + 1 for each in playing}
        return [
            (self.jobs[name], process)
            for (name, process), looks in self._looks.items()
            if looks * self.look_s > self.jobs[name].limits.seconds + GRACE_S + _MORE_S
        ]

    def _marked(self) -> Iterable[str]:
        return sorted(path.name for folder in self._folders for path in folder.glob("*") if path.name in self.jobs)


def _process_of(job: Job) -> int | None:
    """Return the process that is playing a job, None where none is."""
    try:
        line, _, rest = marker_of(job).read_text("ascii", "replace").partition("\n")
    except FileNotFoundError:
        return None
    return int(line) if line.isdecimal() and not rest else None


@contextlib.contextmanager
def overdue_ended(jobs: Iterable[Job], look_s: float = _LOOK_S) -> Generator[None]:
    """Watch the children of this process that play jobs, and end those that play one for too long.

    Args:
        jobs: What is being played.
        look_s: Time between two looks, in seconds.
    """
    watch, over = WorkerWatch({job.name: job for job in jobs}, look_s), threading.Event()

    def keep_looking() -> None:
        while not over.wait(look_s):
            for job, process in watch.overdue():
                _end(job, process)

    thread = threading.Thread(target=keep_looking, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _end(job: Job, process: int) -> None:
    """End a child, which can hold off any other signal."""
    if any(child.pid == process for child in multiprocessing.active_children()):  # a policy may write a marker, too
        tell_that_time_is_over(job)
        os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))  # Windows has the second, which ends it as well
