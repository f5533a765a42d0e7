"""Where jobs are played: clusters that are not there, children of their workers, and limits around an episode."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import attrs
import pytest

from ycbench_agents.evaluation.apart import play_job_apart
from ycbench_agents.evaluation.backend import BackendName, Pool, processors
from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.failure import EpisodeFailure, failure_of
from ycbench_agents.evaluation.forked import play_job_forked
from ycbench_agents.evaluation.job import Job, JobReport
from ycbench_agents.evaluation.limits import EpisodeTimeoutError, limited_memory, limited_time
from ycbench_agents.evaluation.sweep import play_jobs
from ycbench_agents.evaluation.worker import marker_of
from ycbench_agents.records import read_run
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from conftest import Bench

ENDS = """
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import ycbench_env


class Ends:
    def reset(self, seed):
        pass

    def act(self, observation):
        os._exit(0)


class Prints:
    def reset(self, seed):
        pass

    def act(self, observation):
        os.write(1, b"not a report")
        return "sim resume"


class Stops:
    def reset(self, seed):
        pass

    def act(self, observation):
        os.kill(os.getpid(), signal.SIGSTOP)
        return "sim resume"


class Threads:
    def reset(self, seed):
        threading.Thread(target=time.sleep, args=(3600,)).start()

    def act(self, observation):
        return "sim resume"


class Closes:
    def reset(self, seed):
        pass

    def act(self, observation):
        os.closerange(0, 256)
        return "sim resume"


class Sleeps:
    def reset(self, seed):
        pass

    def act(self, observation):
        time.sleep(3600)


class Forks:
    def reset(self, seed):
        self.turns = 0

    def act(self, observation):
        self.turns += 1
        if self.turns == 2:
            os.fork()
        if self.turns == 3 and os.fork() == 0:
            raise SystemExit
        return "sim resume"


class LeavesProcesses:
    def __init__(self, beat):
        self.beat = beat

    def reset(self, seed):
        text = f"import pathlib, time\\nwhile True:\\n    pathlib.Path({self.beat!r}).touch()\\n    time.sleep(0.01)"
        subprocess.Popen([sys.executable, "-c", text], start_new_session=True)
        while not os.path.exists(self.beat):
            time.sleep(0.01)

    def act(self, observation):
        return "sim resume"


class Spoils:
    def reset(self, seed):
        pass

    def act(self, observation):
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
        os.chdir("/")
        os.environ["SPOILED"] = "yes"
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        ycbench_env.YCBenchEnv.step = None
        return "sim resume"


class Looks:
    def reset(self, seed):
        assert "SPOILED" not in os.environ
        assert os.getcwd() != "/"
        assert ycbench_env.YCBenchEnv.step is not None

    def act(self, observation):
        return "sim resume"


class Writes:
    def __init__(self, data):
        self.data = data.encode("latin-1")

    def reset(self, seed):
        pass

    def act(self, observation):
        for name in os.listdir("/proc/self/fd"):
            try:
                if int(name) > 2 and os.readlink("/proc/self/fd/" + name).startswith("pipe:"):
                    os.write(int(name), self.data)
            except OSError:
                pass
        return "sim resume"


class EndsOnce:
    def __init__(self, mark):
        self.mark = mark

    def reset(self, seed):
        pass

    def act(self, observation):
        if not os.path.exists(self.mark):
            open(self.mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return "sim resume"
"""


@pytest.fixture
def job(bench: Bench) -> Job:
    suite = bench.load().suite
    for folder in (bench.out.playing, bench.out.runs):
        folder.mkdir(parents=True)
    (bench.folder / "own_policies.py").write_text(ENDS, "utf-8")
    return Job(
        key=EpisodeKey("label", "default", "1"),
        root=bench.out.path,
        name="run",
        config=suite.presets[0].config,
        seed=1,
        policy="own_policies:Prints",
        parameters={},
        limits=suite.limits,
        import_path=str(bench.folder),
    )


def test_on_a_cluster_a_job_is_played_in_a_child_whatever_its_policy_prints(bench: Bench, job: Job) -> None:
    assert play_job_apart(job) == JobReport(job.key)
    assert not marker_of(job).exists()
    assert read_run(bench.out.runs / "run").is_finished


def test_a_child_that_ends_is_its_own_episodes_failure(job: Job) -> None:
    report = play_job_apart(attrs.evolve(job, policy="own_policies:Ends"))
    assert report.failure is not None
    assert report.failure.kind == "killed"
    assert not marker_of(job).exists()


def test_a_child_that_was_stopped_is_ended_from_outside(job: Job) -> None:
    limits = attrs.evolve(job.limits, seconds=1)
    report = play_job_forked(attrs.evolve(job, policy="own_policies:Stops", limits=limits), more_s=-5)
    assert report.failure is not None
    assert report.failure.kind == "time"
    assert report.failure.text.endswith("did not let itself be interrupted; see limits.seconds of the suite")


def test_a_thread_of_a_policy_holds_up_neither_a_child_nor_the_end_of_a_sweep(job: Job) -> None:
    threads = attrs.evolve(job, policy="own_policies:Threads")
    assert play_job_apart(threads) == JobReport(job.key)
    with Pool(1).connected():
        assert [*play_jobs([attrs.evolve(threads, name="again")], Pool(1))] == [JobReport(job.key)]
        assert multiprocessing.active_children()
    assert not multiprocessing.active_children()


def test_a_child_of_a_cluster_that_never_tells_anything_is_ended(job: Job) -> None:
    report = play_job_apart(job, more_s=-(2 * (job.seconds + 5 + 3)))
    assert report.failure is not None
    assert report.failure.kind == "time"
    assert not marker_of(job).exists()


def test_a_copy_that_a_policy_makes_of_its_process_does_not_play_on(job: Job) -> None:
    forks = attrs.evolve(job, policy="own_policies:Forks")
    assert play_job_forked(forks) == JobReport(job.key)
    record = read_run(job.root / "runs" / job.name)
    assert [turn.turn for turn in record.turns()] == [*range(1, (record.outcome.turns or 0) + 1)]


def test_no_process_that_a_policy_began_outlives_its_episode_and_others_do(job: Job, tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    leaves = attrs.evolve(job, policy="own_policies:LeavesProcesses", parameters={"beat": str(beat)})
    with Pool(1).connected():
        assert [*play_jobs([leaves], Pool(1))] == [JobReport(job.key)]
        beat.unlink()
        time.sleep(0.1)
        assert not beat.exists()
        assert multiprocessing.active_children()


def test_what_a_policy_does_to_its_process_is_gone_with_its_episode(job: Job) -> None:
    names = ["Spoils", "Looks", "Spoils", "Looks"]
    jobs = [
        attrs.evolve(job, key=EpisodeKey(name, "default", f"{number}"), name=f"{number}", policy=f"own_policies:{name}")
        for number, name in enumerate(names)
    ]
    with Pool(1).connected():
        reports = {report.key: report.failure for report in play_jobs(jobs, Pool(1))}
    assert [reports[each.key] for each in jobs if each.policy.endswith("Looks")] == [None, None]


def test_a_process_that_ended_once_by_no_fault_of_its_policys_goes_on(job: Job, tmp_path: Path) -> None:
    ends_once = attrs.evolve(job, policy="own_policies:EndsOnce", parameters={"mark": str(tmp_path / "mark")})
    assert play_job_forked(ends_once) == JobReport(job.key)
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize(
    ("data", "fails"),
    [
        ("\x00\x10\x00\x00abc\n", False),  # a line that is no report
        ('{"failure": null}\n', False),  # half of one
        ("\x00\x10\x00\x00abc", False),  # what spoils the report; nothing is left to play for the second try
        ("x" * 2**20, True),
    ],
)
def test_what_a_policy_writes_into_pipes_reaches_nobody_but_its_own_report(data: str, fails: bool, job: Job) -> None:
    writes = attrs.evolve(job, policy="own_policies:Writes", parameters={"data": data})
    fine = attrs.evolve(job, key=EpisodeKey("label", "default", "2"), name="fine", policy="idle", seed=2)
    reports = {report.key: report.failure for report in play_jobs([writes, fine], Pool(1))}
    assert reports[fine.key] is None
    assert (reports[job.key] is not None) == fails


def test_policies_that_wait_for_answers_have_a_time_of_their_own(job: Job) -> None:
    limits = attrs.evolve(job.limits, seconds=3600, waiting_seconds=1)
    waits = attrs.evolve(job, policy="own_policies:Sleeps", limits=limits, waits=True)
    assert str(play_job_forked(waits).failure) == (
        "EpisodeTimeoutError: took longer than 1 seconds; see limits.waiting_seconds of the suite"
    )


def test_a_policy_that_closes_all_files_costs_its_own_episode_only_and_is_named(job: Job) -> None:
    closes = attrs.evolve(job, policy="own_policies:Closes")
    fine = attrs.evolve(closes, key=EpisodeKey("label", "default", "2"), name="fine", policy="idle", seed=2)
    reports = {report.key: report.failure for report in play_jobs([closes, fine], Pool(1))}
    assert reports.pop(fine.key) is None
    assert str(reports[job.key]) == "WorkerLostError: ended the process that played it, also when it was played again"
    assert not any(marker_of(each).exists() for each in (closes, fine))


def test_a_key_and_an_address_in_memory_are_told_of_no_error(tmp_path: Path) -> None:
    environ = {"MY_API_KEY": "0123456789abcdefghij"}
    told = failure_of("raised", ValueError(f"{tmp_path}/runs: <object at 0x7ffe12345678>"), tmp_path, environ)
    kept = failure_of("raised", ValueError("sent 0123456789abcdefghij"), tmp_path, environ)
    assert str(told) == "ValueError: runs: <object at 0x...>"
    assert str(kept) == "ValueError: withheld: it holds the value of the environment variable MY_API_KEY"
    assert str(EpisodeFailure("raised", "KeyError", "")) == "KeyError"


class Silent(Exception):  # noqa: N818 -- an error of somebody who does not know the custom
    """An error whose text cannot be had."""

    def __str__(self) -> str:
        raise EpisodeTimeoutError


def test_of_a_held_out_episode_no_name_is_told_that_a_policy_made_up() -> None:
    names = ["ValueError", "WorkerLostError", "E7318273645192837465", "print"]
    told = [str(EpisodeFailure("raised", name, "seed 7318273645192837465").without_text()) for name in names]
    assert told == ["ValueError", "WorkerLostError", "an error of a class of its own", "an error of a class of its own"]


def test_an_error_is_told_on_one_line_within_bounds_whatever_its_class_does(tmp_path: Path) -> None:
    environ = {"MY_API_KEY": "0123456789abcdefghij"}
    odd = type("A\nclass\x1b[31m" + "x" * 3000, (Exception,), {})("a\n\x1b[31mtext\ud800" + "y" * 3000)
    told = failure_of("raised", odd, tmp_path, environ)
    assert told.error.startswith("A class [31mxxx")
    assert told.text.startswith("a [31mtext yyy")
    assert (len(told.error), len(told.text)) == (100, 500)
    assert failure_of("raised", Silent(), tmp_path, environ) == EpisodeFailure("raised", "Silent", "")
    named = failure_of("raised", type("E0123456789abcdefghij", (Exception,), {})(), tmp_path, environ)
    assert str(named) == "withheld: it holds the value of the environment variable MY_API_KEY"


@pytest.mark.parametrize("name", ["ray", "dask"])
def test_a_cluster_without_its_library_says_what_to_install(name: BackendName) -> None:
    if importlib.util.find_spec({"ray": "ray", "dask": "distributed"}[name]) is not None:
        pytest.skip("it is installed here")
    with pytest.raises(MissingExtraError, match=f"pip install 'ycbench-env\\[{name}\\]'"), Pool(1, name).connected():
        pass


def test_there_is_at_least_one_processor() -> None:
    assert processors() >= 1


def _sleep_in_spite_of_it(dump: TextIO, swallowed: list[str]) -> None:
    with limited_time(0.05, dump):
        while len(swallowed) < 2:
            try:
                time.sleep(5)
            except EpisodeTimeoutError as error:
                swallowed.append(str(error))
        time.sleep(5)


def test_time_that_is_over_is_raised_again_where_somebody_swallows_it(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGALRM)
    swallowed: list[str] = []
    with (tmp_path / "dump").open("w") as dump, pytest.raises(EpisodeTimeoutError):
        _sleep_in_spite_of_it(dump, swallowed)
    assert swallowed == ["took longer than 0.05 seconds"] * 2
    assert signal.getsignal(signal.SIGALRM) is before
    assert (tmp_path / "dump").read_text("utf-8") == ""


def test_in_a_thread_time_can_end_the_process_only_and_nothing_is_left_behind(tmp_path: Path) -> None:
    over: list[bool] = []

    def play() -> None:
        with (tmp_path / "dump").open("w") as dump, limited_time(30, dump):
            over.append(True)

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert over == [True]


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="other systems do not limit memory so")
def test_memory_beyond_the_limit_is_refused_and_free_again_afterwards() -> None:
    with limited_memory(64):
        with pytest.raises(MemoryError):
            bytearray(2**28)
        bytearray(2**20)
    assert len(bytearray(2**28)) == 2**28
