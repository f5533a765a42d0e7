"""Playing jobs in worker processes, some of which may be lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.backend import WorkerLostError
from ycbench_agents.evaluation.worker import lost_report, marker_of, was_stopped_by_its_limit

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ycbench_agents.evaluation.backend import Pool
    from ycbench_agents.evaluation.job import Job, JobReport

__all__ = ["play_jobs"]

_MOST_LOSSES: Final = 3


def play_jobs(jobs: Sequence[Job], pool: Pool) -> Generator[JobReport]:
    """Yield what came of each job, in the order in which they end.

    Where a worker process is lost, every job that was being played is a suspect, and is played again one at a time:
    whoever ends its process then has failed, all others go on.

    Args:
        jobs: What to play, in this order.
        pool: Where.

    Raises:
        WorkerLostError: Workers are lost that play nothing; it is no job's fault.
    """
    left = {job.key: job for job in jobs}
    losses = 0
    while left:
        try:
            for report in pool.play([*left.values()]):
                # Here and not in the worker: one that cannot send its report has not got rid of its job.
                marker_of(left.pop(report.key)).unlink(missing_ok=True)
                yield report
        except WorkerLostError:
            suspects = [job for job in left.values() if marker_of(job).exists()]
            losses = 0 if suspects else losses + 1
            if losses >= _MOST_LOSSES:
                raise
            for job in suspects:
                del left[job.key]
                report = _played_alone(job, pool)
                marker_of(job).unlink(missing_ok=True)
                yield report


def _played_alone(job: Job, pool: Pool) -> JobReport:
    """Return what comes of a suspect."""
    if not was_stopped_by_its_limit(job):
        marker_of(job).unlink(missing_ok=True)
        try:
            [report] = pool.alone().play([job])
        except WorkerLostError:
            pass
        else:
            return report
    return lost_report(job)
