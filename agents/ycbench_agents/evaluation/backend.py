"""Handing jobs to processes with joblib: on this machine, or on a cluster of Ray or Dask that is there already."""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import attrs

from ycbench_agents.evaluation.apart import play_job_apart
from ycbench_agents.evaluation.forked import CAN_FORK, play_job_forked
from ycbench_agents.evaluation.limits import interrupts_held_off
from ycbench_agents.evaluation.worker import begin_worker
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from ycbench_agents.evaluation.job import Job, JobReport

try:
    from joblib import (  # pyright: ignore[reportMissingTypeStubs] -- it has none
        Parallel,
        cpu_count,
        delayed,  # pyright: ignore[reportUnknownVariableType]
        parallel_config,
    )
    from joblib.externals.loky import (  # pyright: ignore[reportMissingTypeStubs] -- as above
        get_reusable_executor,  # pyright: ignore[reportUnknownVariableType]
    )
except ImportError as error:
    _MISSING = "playing a suite needs joblib, which is not installed: pip install 'ycbench-env[evaluation]'"
    raise MissingExtraError(_MISSING) from error

__all__ = ["BACKENDS", "BackendName", "Pool", "WorkerLostError", "end_workers", "processors"]

BackendName: TypeAlias = Literal["processes", "ray", "dask"]
BACKENDS: Final[tuple[BackendName, ...]] = ("processes", "ray", "dask")
"""Where episodes can be played."""

_RAY_AT_ONCE: Final = 4  # jobs of each process that are handed to Ray together
_JOBLIB_NAMES: Final = {"processes": "loky", "ray": "ray", "dask": "dask"}


class WorkerLostError(Exception):
    """A worker's process ended without a report."""


def processors() -> int:
    """Return how many processors this process may use, at least 1."""
    return max(1, cpu_count())


def end_workers() -> None:
    """End the worker processes of this machine, whatever they do; joblib begins new ones when they are needed."""
    executor = get_reusable_executor(reuse=True, kill_workers=True)  # pyright: ignore[reportUnknownVariableType, reportArgumentType]
    executor.shutdown(wait=True, kill_workers=True)  # pyright: ignore[reportUnknownMemberType]


@attrs.frozen
class Pool:
    """Where jobs are played.

    Args:
        processes: How many at once.
        backend: Where.
        address: Of the cluster: for Dask its scheduler's; None for the one that the environment names, or a local one.
    """

    processes: int
    backend: BackendName = "processes"
    address: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether jobs are played by children of this process."""
        return self.backend == "processes"

    def alone(self) -> Pool:
        """Return the pool that plays one job at a time."""
        return attrs.evolve(self, processes=1)

    @contextlib.contextmanager
    def connected(self) -> Generator[None]:
        """Keep the connection to a cluster, which stays as it was.

        Raises:
            MissingExtraError: The library is not installed.
        """
        connections = {"processes": _this_machine, "ray": _ray, "dask": _dask}
        with connections[self.backend](self.address), _undisturbed():
            yield

    def play(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
        """Yield the report of each job when it is there, in any order; Ray tells of a few together.

        Raises:
            WorkerLostError: A worker's process ended, or the cluster failed; which jobs were being played their
                markers tell.
        """
        at_once = _RAY_AT_ONCE * self.processes if self.backend == "ray" else max(1, len(jobs))
        for first in range(0, len(jobs), at_once):
            reports = self._reports(jobs[first : first + at_once])
            try:
                yield from reports
            except Exception as error:
                msg = f"a worker process was lost ({type(error).__name__}: {error})"
                raise WorkerLostError(msg) from error
            finally:
                reports.close()

    def _reports(self, jobs: Sequence[Job]) -> Generator[JobReport]:
        play = play_job_forked if self.is_local and CAN_FORK else play_job_apart
        # Two workers at least: for one, joblib would play in this process, which no policy may end. One of them waits,
        # since no more jobs are handed out than are to be played at once.
        begin = {"initializer": begin_worker, "initargs": (os.getpid(),)} if self.is_local else {}
        with parallel_config(_JOBLIB_NAMES[self.backend], **begin):
            parallel = Parallel(
                max(2, self.processes),
                return_as="list" if self.backend == "ray" else "generator_unordered",  # Ray's has no other
                pre_dispatch=self.processes,  # pyright: ignore[reportArgumentType] -- a number is allowed, too
                batch_size=1,  # pyright: ignore[reportArgumentType] -- as above
            )
        with interrupts_held_off():  # processes begin here, and would tell at length that they were interrupted
            reports = cast("Iterable[JobReport]", parallel(delayed(play)(job) for job in jobs))
        yield from reports


@contextlib.contextmanager
def _undisturbed() -> Generator[None]:
    """Leave out what joblib warns of: workers that are begun anew, and reports that nobody waits for any more."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"joblib\.")
        yield


@contextlib.contextmanager
def _this_machine(_address: str | None) -> Generator[None]:
    """Connect to nothing: joblib starts the processes. None is left, for a thread of a policy may never end."""
    try:
        yield
    finally:
        end_workers()


@contextlib.contextmanager
def _ray(address: str | None) -> Generator[None]:
    """Connect to a cluster of Ray, a new one on this machine where there is none."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told that this was run
    try:
        import ray  # noqa: PLC0415 -- an optional library  # pyright: ignore[reportMissingImports]
        from ray.util.joblib import (  # noqa: PLC0415 -- as above  # pyright: ignore[reportMissingImports]
            register_ray,  # pyright: ignore[reportUnknownVariableType]
        )
    except ImportError as error:
        msg = "--backend ray needs Ray: pip install 'ycbench-env[ray]'"
        raise MissingExtraError(msg) from error
    was_connected = ray.is_initialized()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if not was_connected:
        ray.init(address, log_to_driver=False, logging_level="error")  # pyright: ignore[reportUnknownMemberType]
    register_ray()
    try:
        yield
    finally:
        if not was_connected:
            ray.shutdown()  # pyright: ignore[reportUnknownMemberType]


@contextlib.contextmanager
def _dask(address: str | None) -> Generator[None]:
    """Connect to a cluster of Dask, a new one on this machine where none is named."""
    try:
        from distributed import (  # noqa: PLC0415 -- an optional library  # pyright: ignore[reportMissingImports]
            Client,  # pyright: ignore[reportUnknownVariableType]
        )
    except ImportError as error:
        msg = "--backend dask needs Dask: pip install 'ycbench-env[dask]'"
        raise MissingExtraError(msg) from error
    with Client(address):
        yield
