"""Playing a job on a cluster: in a child of the cluster's worker, so that no policy can end what belongs to others.

A cluster tries what ended its worker again elsewhere, and joblib's Dask backend waits for ever for what was given up.
In a child, limits and losses are what they are on one machine.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, cast

import attrs

from ycbench_agents.evaluation.worker import lost_report, marker_of, play_job

if TYPE_CHECKING:
    from ycbench_agents.evaluation.job import Job, JobReport

__all__ = ["main", "play_job_apart"]

_COMMAND = (sys.executable, "-m", "ycbench_agents.evaluation.apart")


def play_job_apart(job: Job) -> JobReport:
    """Play a job in a process of its own, and return what came of it."""
    own = attrs.evolve(job, parent=os.getpid())
    # The job is pickled by this program for its own child; nobody else can write into the pipe.
    done = subprocess.run(_COMMAND, input=pickle.dumps(own), stdout=subprocess.PIPE, check=False)  # noqa: S603 -- own words
    lost = done.returncode != 0 or not done.stdout
    report = lost_report(own) if lost else cast("JobReport", pickle.loads(done.stdout))  # noqa: S301 -- as above
    marker_of(own).unlink(missing_ok=True)
    return report


def main() -> None:
    """Play the job that stands on stdin, and write its report to what was stdout."""
    job = cast("Job", pickle.loads(sys.stdin.buffer.read()))  # noqa: S301 -- as above
    with os.fdopen(os.dup(1), "wb") as reports:
        os.dup2(2, 1)  # whatever a policy prints, also from C, must not stand among the bytes of the report
        report = play_job(job)
        reports.write(pickle.dumps(report))


if __name__ == "__main__":
    main()
