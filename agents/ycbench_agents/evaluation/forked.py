"""Playing a job in a copy of the worker's process, so that nothing of what a policy does outlives its episode.

A policy can change the working directory, environment variables, limits, open files and modules of its process, start
threads and processes, and end it. In a copy that plays one episode all of this is gone afterwards: the worker runs no
code of a policy's, and its next episode begins as the first did.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import warnings
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.job import JobReport
from ycbench_agents.evaluation.limits import GRACE_S, die_with_parent, uninterrupted
from ycbench_agents.evaluation.worker import lost_report, play_job, tell_that_time_is_over, was_stopped_by_its_limit
from ycbench_agents.registry import policy_factory
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Generator
    from multiprocessing.process import BaseProcess

    from ycbench_agents.evaluation.job import Job

try:
    import psutil
except ImportError as error:
    _MISSING = "playing a suite needs psutil, which is not installed: pip install 'ycbench-env[evaluation]'"
    raise MissingExtraError(_MISSING) from error

__all__ = ["CAN_FORK", "MORE_S", "TRIES", "play_job_forked"]

CAN_FORK: Final = sys.platform == "linux"
"""Whether processes are copied here; libraries of other systems do not stand it."""

MORE_S: Final = 3.0
"""How long after the moment at which a process should have ended itself it is ended, in seconds."""

TRIES: Final = 2
"""How often a job is played whose process ends: it may be no fault of its policy's, as where memory is short."""

_LOOK_S: Final = 0.25
_MOST_BYTES: Final = 2**20
_TRIES_TO_END: Final = 10


def play_job_forked(job: Job, more_s: float = MORE_S) -> JobReport:
    """Play a job in a copy of this process, end whatever is left of it, and return what came of it.

    Args:
        job: The job.
        more_s: Wall-clock time that the copy may take beyond the job's and its grace, in seconds.
    """
    _import_once(job)
    for _ in range(TRIES):
        report = _tried(job, more_s)
        if report is not None:
            return report
        if was_stopped_by_its_limit(job):
            break
    return lost_report(job)


def _import_once(job: Job) -> None:
    """Import what every copy of this process would import."""
    importlib.import_module("filelock")  # records are locked
    if ":" not in job.policy:  # nobody else's code runs here
        policy_factory(job.policy)


def _tried(job: Job, more_s: float) -> JobReport | None:
    """Return the report of a copy of this process, None where it gives none.

    A policy may write into the pipe as well: what is read is bounded, waited for no longer than the copy, and data.
    """
    told = b""
    with uninterrupted(), _copy_that_plays(job) as (process, reports):
        for _ in range(int((job.seconds + GRACE_S + more_s) / _LOOK_S) + 1):  # looks: a machine may sleep
            is_over = not process.is_alive()
            if wait([reports], 0 if is_over else _LOOK_S):
                read = os.read(reports, _MOST_BYTES)
                told += read
                if (report := JobReport.from_bytes(job.key, told)) or not read or len(told) > _MOST_BYTES:
                    return report
            elif is_over:
                return None
        tell_that_time_is_over(job)
        return None


@contextlib.contextmanager
def _copy_that_plays(job: Job) -> Generator[tuple[BaseProcess, int]]:
    """Make a copy of this process that plays a job and tells through a pipe, and end it with all that it began."""
    others = _children()
    reports, sender = os.pipe()
    process = get_context("fork").Process(target=_play_and_end, args=(job, sender, os.getpid()))
    try:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads; the worker's own holds no lock
                process.start()
        finally:
            os.close(sender)
        try:
            yield process, reports
        finally:
            _end(process, others)
    finally:
        os.close(reports)


def _play_and_end(job: Job, sender: int, parent: int) -> None:
    """Play a job in this process, which is a copy that its parent made, send the report and end."""
    try:
        die_with_parent()
        if os.getppid() == parent:  # else it was gone before
            _close_what_is_the_parents(sender)
            report = play_job(job).to_bytes()
            while report:
                report = report[os.write(sender, report) :]
    finally:
        os._exit(0)  # without what other threads and the worker itself have to do at their end


def _close_what_is_the_parents(sender: int) -> None:
    """Close all files but the standard ones and the pipe: others talk through them with those who hand out jobs."""
    sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 -- for as long as the process lives
    kept = {0, 1, 2, sender, sys.stdin.fileno()}
    for number in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
        if number not in kept:
            with contextlib.suppress(OSError):  # that of the listing itself
                os.close(number)


def _end(process: BaseProcess, others: frozenset[psutil.Process]) -> None:
    """End a copy, and whatever it has left behind to this process, whose other children are left alone."""
    process.kill()
    process.join()
    process.close()
    for _ in range(_TRIES_TO_END):
        left = [each for child in _children() - others for each in _with_descendants(child)]
        if not left:
            return
        for each in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(left, timeout=1)


def _children() -> frozenset[psutil.Process]:
    return frozenset(psutil.Process().children())


def _with_descendants(child: psutil.Process) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return [*child.children(recursive=True), child]
    return [child]
