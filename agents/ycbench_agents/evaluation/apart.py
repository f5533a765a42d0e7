"""Playing a job in a child of a worker that cannot be copied, so that no policy can end what belongs to others.

Workers of a cluster have threads of their own, and so has everything on other systems than Linux. A cluster tries what
ended its worker again elsewhere, and joblib's Dask backend waits for ever for what was given up. In a child, limits and
losses are what they are on one machine.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Final, cast

from ycbench_agents.evaluation.forked import CAN_FORK, MORE_S, TRIES, play_job_forked
from ycbench_agents.evaluation.job import JobReport
from ycbench_agents.evaluation.limits import GRACE_S
from ycbench_agents.evaluation.worker import (
    begin_worker,
    lost_report,
    marker_of,
    play_job,
    tell_that_time_is_over,
)

if TYPE_CHECKING:
    from ycbench_agents.evaluation.job import Job

__all__ = ["main", "play_job_apart"]

_COMMAND = (sys.executable, "-m", "ycbench_agents.evaluation.apart")
_MORE_S: Final = 30.0  # a process begins slowly on a busy machine


def play_job_apart(job: Job, more_s: float = _MORE_S) -> JobReport:
    """Play a job in a process of its own, and return what came of it.

    Args:
        job: The job.
        more_s: Wall-clock time that the process may take beyond the job's, its grace and its own beginning, in seconds.
    """
    limit_s = TRIES * (job.seconds + GRACE_S + MORE_S) + more_s
    command = (*_COMMAND, str(os.getpid()))
    try:
        # The job is pickled by this program for its own child; nobody else can write into the pipe.
        done = subprocess.run(  # noqa: S603 -- own words
            command, input=pickle.dumps(job), stdout=subprocess.PIPE, check=False, timeout=limit_s
        )
        told = done.stdout if done.returncode == 0 else b""
    except subprocess.TimeoutExpired:  # it cannot end itself, as where a signal stopped it
        tell_that_time_is_over(job)
        told = b""
    report = JobReport.from_bytes(job.key, told) or lost_report(job)
    marker_of(job).unlink(missing_ok=True)
    return report


def main() -> None:
    """Play the job that stands on stdin, and write its report to what was stdout."""
    job = cast("Job", pickle.loads(sys.stdin.buffer.read()))  # noqa: S301 -- as above
    with os.fdopen(os.dup(1), "wb") as reports:
        begin_worker(int(sys.argv[1]))  # whatever a policy prints must not stand among the bytes of the report
        report = play_job_forked(job) if CAN_FORK else play_job(job)
        reports.write(report.to_bytes())


if __name__ == "__main__":
    main()
    sys.stderr.flush()
    os._exit(0)  # a thread of a policy may never end
