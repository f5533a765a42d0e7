"""What a worker process does: play one episode into its folder, within limits, whatever its policy does."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
import warnings
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.base import DeliberatingPolicy, PolicyStoppedError
from ycbench_agents.evaluation.failure import EpisodeFailure, failure_of
from ycbench_agents.evaluation.folder import MEASURES_FILE, EvaluationFolder
from ycbench_agents.evaluation.job import Job, JobReport
from ycbench_agents.evaluation.limits import (
    EpisodeTimeoutError,
    adopt_orphans,
    end_with_parent,
    limited_memory,
    limited_time,
    uninterrupted,
)
from ycbench_agents.evaluation.measured import store_measures
from ycbench_agents.evaluation.measurement import MeasurementError
from ycbench_agents.evaluation.turn_check import CheckedDeliberator, CheckedPolicy
from ycbench_agents.records import (
    RecordError,
    RecordWarning,
    RunBusyError,
    RunPlan,
    RunRecord,
    Runtime,
    play_run_sync,
)
from ycbench_agents.records.files import DiskFiles
from ycbench_agents.records.reading import RUN_FILE, TURNS_FILE
from ycbench_agents.registry import make_policy

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

    from ycbench_agents.evaluation.failure import FailureKind

__all__ = [
    "begin_worker",
    "lost_report",
    "marker_of",
    "play_job",
    "tell_that_time_is_over",
    "was_stopped_by_its_limit",
]

_WAIT_S: Final = 0.2
_PATIENCE: Final = 50  # so often a record that is still being written is waited for
_KINDS: Final[Mapping[FailureKind, type[BaseException]]] = MappingProxyType(
    {
        "time": EpisodeTimeoutError,
        "memory": MemoryError,
        "measurement": MeasurementError,
        "record": RecordError,
        "stopped": PolicyStoppedError,
    }
)


class _HastyFiles(DiskFiles):
    """Files that do not wait for the disk: a kill loses nothing, and what a power failure loses is played again."""

    def sync(self, path: Path) -> None:
        """Do not wait."""

    def sync_folder(self, path: Path) -> None:
        """Do not wait."""


def marker_of(job: Job) -> Path:
    """Return the file that is there from when a job is begun until its report has arrived.

    While the job is being played its first line is the number of the process; more is there once the time was over.
    """
    return EvaluationFolder(job.root).playing / job.name


def was_stopped_by_its_limit(job: Job) -> bool:
    """Return whether somebody wrote, before the process ended, that the time was over."""
    try:
        return len(marker_of(job).read_bytes().splitlines()) > 1
    except FileNotFoundError:
        return False


def tell_that_time_is_over(job: Job) -> None:
    """Write that the time of a job was over, before its process is ended from outside."""
    with marker_of(job).open("a", encoding="ascii") as marker:
        marker.write("\nended from outside\n")


def begin_worker(parent: int) -> None:
    """Make this process a worker: it lives no longer than its parent, and what it prints goes to stderr.

    Args:
        parent: Number of the process that hands out the jobs.
    """
    end_with_parent(parent)
    adopt_orphans()
    os.dup2(2, 1)  # stdout is for results; this holds for what is printed from C, too


def lost_report(job: Job) -> JobReport:
    """Return the report of a job that ended the process that played nothing but it."""
    if not was_stopped_by_its_limit(job):
        text = "ended the process that played it, also when it was played again"
        return JobReport(job.key, EpisodeFailure("killed", "WorkerLostError", text))
    text = (
        f"took longer than {job.seconds} seconds and did not let itself be interrupted; {job.says_how_to_wait_longer}"
    )
    return JobReport(job.key, EpisodeFailure("time", EpisodeTimeoutError.__name__, text))


def play_job(job: Job) -> JobReport:
    """Play an episode, or go on with it, measure it, and return what came of it.

    Nothing that a policy raises gets out. The marker stays until the report has arrived.
    """
    with uninterrupted(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RecordWarning)
        failure = _failure(job)
    return JobReport(job.key, failure, tuple(str(each.message) for each in caught))


def _failure(job: Job) -> EpisodeFailure | None:
    """Play an episode and return why it failed, None where it did not."""
    try:
        with (
            marker_of(job).open("w", encoding="ascii") as marker,
            limited_time(job.seconds, marker),
            limited_memory(job.limits.memory_mib),
            contextlib.redirect_stdout(sys.stderr),  # stdout is for results
        ):
            marker.write(f"{os.getpid()}\n")
            marker.flush()
            failure = _failure_within_limits(job)
    except BaseException as error:  # noqa: BLE001 -- a limit that was met while the failure was told, or a closed file
        failure = _named(job, error)
    with contextlib.suppress(OSError):  # where a policy left no file to open
        marker_of(job).write_bytes(b"")
    return failure


def _failure_within_limits(job: Job) -> EpisodeFailure | None:
    try:
        store_measures(_record(job))
    except BaseException as error:  # noqa: BLE001 -- whatever it is, it is this episode's failure
        return _named(job, error)  # runs the text of an error of the policy's, which is code of the policy's
    return None


def _kind(error: BaseException) -> FailureKind:
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return "memory"
    for kind, cls in _KINDS.items():
        if isinstance(error, cls):
            return kind
    return "raised"


def _named(job: Job, error: BaseException) -> EpisodeFailure:
    kind = _kind(error)
    failure = failure_of(kind, error, job.root)
    match kind:
        case "memory":
            text = f"needed more than {job.limits.memory_mib} MiB; see limits.memory_mib of the suite"
            return attrs.evolve(failure, text=text)
        case "time":
            return attrs.evolve(failure, text=f"{failure.text}; {job.says_how_to_wait_longer}")
        case _:
            return failure


def _record(job: Job) -> RunRecord:
    """Return the finished record of an episode.

    Raises:
        PolicyStoppedError: The policy could not go on.
        RecordError: The record cannot be written.
    """
    sys.path.extend(folder for folder in job.import_path if folder not in sys.path)
    try:
        record = _played(job)
    except RunBusyError:
        raise
    except RecordError as error:  # a damaged record, or a policy that decides otherwise than before it was killed
        if not _begun(job):
            raise
        warnings.warn(f"begun anew: {_first_line(error)}", RecordWarning, stacklevel=2)
        _forget(job)
        record = _played(job)
    if not record.is_finished:
        raise PolicyStoppedError(record.outcome.reason)
    return record


def _first_line(error: RecordError) -> str:
    lines = str(error).splitlines()
    return "; ".join(line.strip() for line in lines[:2])


def _played(job: Job) -> RunRecord:
    """Play an episode, or go on with it, once nobody else is writing its record."""
    for _ in range(_PATIENCE):  # a process of a sweep that was killed ends a moment later than the sweep
        with contextlib.suppress(RunBusyError):
            return _play(job)
        time.sleep(_WAIT_S)
    return _play(job)


@contextlib.contextmanager
def _in_this_process_only() -> Generator[None]:
    """End a copy that code of a policy's made of this process: it must not play on beside the one that it was."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)


def _play(job: Job) -> RunRecord:
    with _in_this_process_only():
        policy = make_policy(job.policy, **job.parameters)
    checked = (
        CheckedDeliberator(policy, _in_this_process_only)
        if isinstance(policy, DeliberatingPolicy)
        else CheckedPolicy(policy, _in_this_process_only)
    )
    plan = RunPlan(
        folder=_folder(job),
        config=job.config,
        seed=job.seed,
        policy=checked,
        name=job.policy,
        settings={"parameters": job.parameters},
        max_turns=job.limits.max_turns,
    )
    return play_run_sync(plan, Runtime(files=_HastyFiles())).record


def _folder(job: Job) -> Path:
    return EvaluationFolder(job.root).runs / job.name


def _begun(job: Job) -> bool:
    """Return whether there is something to begin anew."""
    return any((_folder(job) / name).exists() for name in (RUN_FILE, TURNS_FILE))


def _forget(job: Job) -> None:
    """Remove the record of an episode, and what was measured of it."""
    for name in (MEASURES_FILE, RUN_FILE, TURNS_FILE):
        (_folder(job) / name).unlink(missing_ok=True)
