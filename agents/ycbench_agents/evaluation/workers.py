"""One process an episode: processes of this machine, or of a cluster of Ray or Dask, behind one function.

Linux forks this process; elsewhere, and on the machines of a cluster, whose processes have threads, a new one begins. A
policy that raises, hangs, takes too much memory or ends its process costs its own episode and is named. This is no
fence against a policy that attacks the evaluation (docs/threat_model.md).
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import errno
import multiprocessing
import multiprocessing.connection
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, TypeAlias

import attrs

from ycbench_agents.base import PolicyStoppedError
from ycbench_agents.evaluation.factory import build_policy, waits_for_answers
from ycbench_agents.evaluation.progress import Progress
from ycbench_agents.evaluation.results import Failure, PlannedEpisode
from ycbench_agents.evaluation.suite import EpisodeKey, Limits
from ycbench_agents.registry import PolicyError, make_policy
from ycbench_agents.runs import RunWarning, TurnRecord, play_run
from ycbench_env import MissingExtraError
from ycbench_env.text import printable

BackendName: TypeAlias = Literal["processes", "ray", "dask"]
"""Where episodes are played."""

_LOOK_S: Final = 0.2
_TURNS_EACH_S: Final = 0.1
_LOCK_PATIENCE_S: Final = 10.0  # a process of an evaluation that was killed ends a moment later
_CHECK_S: Final = 60.0
_LONGEST: Final = 500  # characters of a failure's text
_SHORTEST_KEY: Final = 12
_MIB: Final = 2**20
_PR_SET_PDEATHSIG: Final = 1  # of linux/prctl.h
_METHOD: Final = "fork" if sys.platform == "linux" else "spawn"


class WorkersError(RuntimeError):
    """Processes for episodes cannot be had; the message names the call that failed."""


@attrs.frozen
class Job:
    """An episode to play.

    Args:
        planned: Which episode, and its run.
        root: Folder of the evaluation, absolute: a process of a cluster may have another working directory.
        limits: Limits of the episode.
        headers: HTTP headers of a language model's server.
        import_path: Folders in which a policy of one's own may lie.
        measure: Whether its metrics are stored beside the run.
        asks_a_person: Whether the policy reads from this terminal.
        folder: Folder of the run, None for the usual one.
    """

    planned: PlannedEpisode
    root: Path
    limits: Limits
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)
    import_path: tuple[str, ...] = ()
    measure: bool = True
    asks_a_person: bool = False
    folder: Path | None = None

    @property
    def key(self) -> EpisodeKey:
        """Which episode."""
        return self.planned.key

    @property
    def seconds(self) -> int:
        """Wall-clock time that the episode and its measurement may take."""
        waits = self.planned.deliberates or self.asks_a_person
        return self.limits.waiting_seconds if waits else self.limits.seconds


@attrs.frozen
class Report:
    """The end of a job.

    Args:
        job: The job.
        failure: Why it failed, None where its run is finished.
        warnings: Oddities on the way, for people to read.
    """

    job: Job
    failure: Failure | None = None
    warnings: tuple[str, ...] = ()


def processors() -> int:
    """Return how many processors this process may use, at least 1."""
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)


def play_jobs(  # noqa: PLR0913 -- one an option of ycbench evaluate
    jobs: Sequence[Job],
    *,
    workers: int,
    concurrency: int,
    progress: Progress,
    backend: BackendName = "processes",
    address: str | None = None,
) -> Generator[Report]:
    """Yield the report of each job when it ends. Closing the generator ends all that still play.

    Args:
        jobs: What to play, in this order.
        workers: How many episodes at once that need the processor.
        concurrency: How many at once that wait for answers.
        progress: Progress callbacks; a cluster reports no turns.
        backend: Where.
        address: Of the cluster: for Dask its scheduler's; None for the one that the environment names, or a local one.

    Raises:
        WorkersError: Processes cannot be had, or the cluster failed.
        MissingExtraError: The cluster's library is not installed.
    """
    if backend == "processes":
        return _play_here(jobs, workers, concurrency, progress, _METHOD)
    return {"ray": _play_on_ray, "dask": _play_on_dask}[backend](jobs, address, progress)


# ---------------------------------------------------------------- in the process of an episode


def play_job(job: Job, on_turn: Callable[[TurnRecord], None] | None = None) -> Report:
    """Play an episode in this process, or go on with it, and measure it. Nothing that a policy raises gets out."""
    failure = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RunWarning)
        try:
            _play(job, on_turn)
        except BaseException as error:  # noqa: BLE001 -- also SystemExit: whatever it is, it is this episode's failure
            failure = _failure_of(error, job)
    return Report(job, failure, tuple(_told(str(each.message), job.root) for each in caught))


def _play(job: Job, on_turn: Callable[[TurnRecord], None] | None) -> None:
    sys.path.extend(folder for folder in job.import_path if folder not in sys.path)
    identity = job.planned.identity
    policy = build_policy(identity, job.headers)
    run = play_run(
        job.folder or job.root / job.planned.folder_name,
        identity,
        policy,
        on_turn=on_turn,
        patience_s=_LOCK_PATIENCE_S,
        begin_anew=not job.planned.deliberates,  # replies were paid for
    )
    if not run.is_finished:
        raise PolicyStoppedError(run.outcome.reason)
    if job.measure:
        from ycbench_agents.evaluation.metrics import store_metrics  # noqa: PLC0415 -- not every command needs it

        store_metrics(run)


def _failure_of(error: BaseException, job: Job) -> Failure:
    """Return the failure that an error makes; equal errors make equal failures, so addresses in memory are left out."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return Failure(
            "MemoryLimit", f"needed more than {job.limits.memory_mib} MiB; see limits.memory_mib of the suite"
        )
    try:
        text = "".join(str(error))
    except BaseException:  # noqa: BLE001 -- its class is somebody's own
        text = ""
    return Failure(_told(type(error).__name__, job.root), _told(text, job.root))


def _told(text: str, root: Path) -> str:
    """Return a text on one line: printable, without keys of the environment, and without this machine's paths."""
    for name, value in os.environ.items():
        if name.upper().endswith("_API_KEY") and len(value.strip()) >= _SHORTEST_KEY:
            text = text.replace(value.strip(), f"[{name}]")
    text = re.sub(r"\b0x[0-9a-fA-F]{6,}", "0x...", text.replace(f"{root}{os.sep}", ""))
    return printable(" ".join(text[: 40 * _LONGEST].split()))[:_LONGEST]


def _limit_memory(mib: int) -> None:
    """Refuse memory beyond what the process has now and so much more; what is refused raises MemoryError."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 -- Windows has none

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        wanted = pages * os.sysconf("SC_PAGE_SIZE") + mib * _MIB
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (min(each for each in (wanted, soft, hard) if each >= 0), hard))


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has ended in any way."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _begin(parent: int, memory_mib: int, *, at_terminal: bool = False) -> None:
    """Make this process one of an episode: in a session of its own, within limits, its output on stderr."""
    _end_with_parent(parent)
    if at_terminal:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        with contextlib.suppress(OSError):
            os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # stdout is for results; this holds for output of C code, too
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 -- for good
    # Locks of the parent's streams may be held by threads that this process has not.
    sys.stdout = sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    _limit_memory(memory_mib)


def _unlimit_memory() -> None:
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 -- Windows has none

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _episode_process(connection: Any, parent: int, job: Job, wants_turns: bool) -> None:  # noqa: ANN401, FBT001 -- a Connection, of another class on Windows
    """Play a job and send turns and the report."""
    _begin(parent, job.limits.memory_mib, at_terminal=job.asks_a_person)
    last = 0.0

    def send(turn: TurnRecord) -> None:
        nonlocal last
        now = time.monotonic()
        if turn.trace is not None or turn.is_last or now - last >= _TURNS_EACH_S:
            last = now
            connection.send(turn)

    report = play_job(job, send if wants_turns else None)
    _unlimit_memory()
    connection.send((report.failure, report.warnings))


def _check_process(  # noqa: PLR0913 -- a process takes plain arguments
    connection: Any,  # noqa: ANN401 -- as above
    parent: int,
    name: str,
    parameters: dict[str, Any],
    path: tuple[str, ...],
    mib: int,
) -> None:
    """Make a policy and send whether it waits for answers, or why it is refused."""
    _begin(parent, mib)
    sys.path.extend(folder for folder in path if folder not in sys.path)
    try:
        connection.send(waits_for_answers(make_policy(name, **parameters)))
    except PolicyError as error:
        cause = error.__cause__
        if cause is None or isinstance(cause, ModuleNotFoundError | PolicyError):
            connection.send(str(error))


def check_policy_apart(name: str, parameters: Mapping[str, Any], import_path: tuple[str, ...], limits: Limits) -> bool:
    """Make a policy with code of one's own once, in a process of its own, and return whether it waits for answers.

    Where that process gives no answer the policy plays all the same: its episodes fail and tell why.

    Raises:
        PolicyError: There is no such policy, or it has no such parameter.
    """
    process = _Process(_METHOD, _check_process, (name, dict(parameters), import_path, limits.memory_mib))
    try:
        answer = process.connection.recv() if process.connection.poll(min(_CHECK_S, limits.seconds)) else False
    except (EOFError, OSError):
        answer = False
    finally:
        process.end()
    if isinstance(answer, str):
        raise PolicyError(answer)
    return bool(answer)


# ---------------------------------------------------------------- in the process that hands out the episodes


class _Process:
    """A process and the connection on which it sends.

    Args:
        method: fork or spawn.
        target: Runs there with the connection, this process's number and the arguments.
        arguments: Further arguments.
        owns_session: Whether it makes itself a session, which ends with it.
    """

    def __init__(
        self, method: str, target: Callable[..., None], arguments: tuple[Any, ...], *, owns_session: bool = True
    ) -> None:
        self.connection, sending = multiprocessing.Pipe(duplex=False)
        self._owns_session = owns_session and hasattr(os, "killpg")
        self._spawned: Any = None
        self._status: int | None = None
        try:
            if method == "fork":
                self.pid = _fork(target, (sending, os.getpid(), *arguments))
            else:
                context = multiprocessing.get_context("spawn")
                self._spawned = context.Process(target=target, args=(sending, os.getpid(), *arguments))
                with _not_daemonic():
                    self._spawned.start()
                self.pid = int(self._spawned.pid)
        except OSError as error:
            self.connection.close()
            msg = f"a process for an episode cannot be started ({method}: {error.strerror or error})"
            raise WorkersError(msg) from error
        finally:
            sending.close()

    def ending(self) -> str:
        """Return how the process ended by itself; it is given a second."""
        for _ in range(50):
            if self._poll():
                break
            time.sleep(0.02)
        if self._status is None:
            return "closed its connection"
        if self._status >= 0:
            return f"ended its process with exit code {self._status}"
        return f"its process was ended by signal {-self._status} ({signal.Signals(-self._status).name})"

    def _poll(self) -> bool:
        if self._status is None and self._spawned is not None:
            self._status = self._spawned.exitcode
        elif self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status is not None

    def end(self, *, reported: bool = False) -> None:
        """End the process, and its session; one that has reported ends by itself in a moment."""
        self.connection.close()
        if reported:
            self.ending()
        if self._owns_session:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        if self._spawned is not None:
            self._spawned.kill()
            self._spawned.join()
        elif not self._poll():
            with contextlib.suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.pid, 0)


def _fork(target: Callable[..., None], arguments: tuple[Any, ...]) -> int:
    """Run a function in a copy of this process and return the copy's number."""
    # What Python's own hooks at a fork raise is dropped, and so would be a Ctrl-C during the fork.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads, such as those of numpy's libraries
            pid = os.fork()
        if pid == 0:
            _run_and_exit(target, arguments, mask)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return pid


def _run_and_exit(target: Callable[..., None], arguments: tuple[Any, ...], mask: set[signal.Signals | int]) -> NoReturn:
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        target(*arguments)
        code = 0
    finally:
        os._exit(code)


@contextlib.contextmanager
def _not_daemonic() -> Generator[None]:
    """Let a worker of a cluster, which is daemonic, have children; they end with it (``_end_with_parent``)."""
    config: dict[str, Any] = getattr(multiprocessing.current_process(), "_config", {})
    before = config.pop("daemon", None)
    try:
        yield
    finally:
        if before is not None:
            config["daemon"] = before


def _play_here(
    jobs: Sequence[Job], workers: int, concurrency: int, progress: Progress, method: str
) -> Generator[Report]:
    """Play on this machine."""
    waiting = {
        kind: collections.deque(job for job in jobs if job.planned.deliberates == kind) for kind in (False, True)
    }
    room = {False: 1 if any(job.asks_a_person for job in jobs) else workers, True: concurrency}
    running: dict[Any, tuple[Job, _Process, float]] = {}
    try:
        while running or any(waiting.values()):
            for kind, queue in waiting.items():
                while queue and sum(job.planned.deliberates == kind for job, *_ in running.values()) < room[kind]:
                    job = queue.popleft()
                    wants = progress.wants_turns
                    process = _Process(method, _episode_process, (job, wants), owns_session=not job.asks_a_person)
                    running[process.connection] = job, process, time.monotonic() + job.seconds
                    progress.started(job.key, job.planned.identity)
            ready = multiprocessing.connection.wait(list(running), _LOOK_S)
            for connection, (job, process, deadline) in list(running.items()):
                report = _received(connection, job, process, progress) if connection in ready else None
                if report is None and time.monotonic() > deadline:
                    name = "waiting_seconds" if job.seconds == job.limits.waiting_seconds else "seconds"
                    hint = f"see limits.{name} of the suite, or --timeout of ycbench run"
                    text = f"took longer than {job.seconds} seconds; {hint}"
                    report = Report(job, Failure("TimeLimit", text))
                if report is not None:
                    del running[connection]
                    process.end(reported=connection in ready)
                    yield report
            progress.tick()
    finally:
        for _, process, _ in running.values():
            process.end()


def _received(connection: Any, job: Job, process: _Process, progress: Progress) -> Report | None:  # noqa: ANN401 -- as above
    """Return the report of a process that has sent something, None where it goes on."""
    try:
        message: object = connection.recv()
    except (EOFError, OSError):
        return Report(job, Failure("ProcessEnded", process.ending()))
    if isinstance(message, TurnRecord):
        progress.turn(job.key, message)
        return None
    failure, told = message  # pyright: ignore[reportGeneralTypeIssues] -- as sent above
    return Report(job, failure, told)


# ---------------------------------------------------------------- clusters


def _play_alone(job: Job) -> Report:
    """Play a job on a machine of a cluster, in a new process there."""
    [report] = _play_here([job], 1, 1, Progress(), "spawn")
    return report


def _play_on_ray(jobs: Sequence[Job], address: str | None, progress: Progress) -> Generator[Report]:
    """Play on a cluster of Ray, a new one on this machine where there is none."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told that this was run
    try:
        import ray  # noqa: PLC0415 -- of an extra  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        msg = "--backend ray needs Ray: pip install '.[ray]' in the folder of this project"
        raise MissingExtraError(msg) from error
    was_connected = ray.is_initialized()
    if not was_connected:
        ray.init(address, log_to_driver=False, logging_level="error")
    try:
        remote = ray.remote(num_cpus=1, max_retries=0)(_play_alone)
        left = {remote.remote(job): job for job in jobs}
        for job in jobs:
            progress.started(job.key, job.planned.identity)
        while left:
            done, _ = ray.wait(list(left), timeout=_LOOK_S)
            progress.tick()
            for each in done:
                del left[each]
                yield _of_cluster(lambda each=each: ray.get(each))
    finally:
        if not was_connected:
            ray.shutdown()


def _play_on_dask(jobs: Sequence[Job], address: str | None, progress: Progress) -> Generator[Report]:
    """Play on a cluster of Dask, a new one on this machine where none is named."""
    try:
        from distributed import Client, as_completed  # noqa: PLC0415 -- of an extra  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        msg = "--backend dask needs Dask: pip install '.[dask]' in the folder of this project"
        raise MissingExtraError(msg) from error
    with Client(address) as client:
        futures = [client.submit(_play_alone, job, pure=False, retries=0) for job in jobs]
        for job in jobs:
            progress.started(job.key, job.planned.identity)
        for future in as_completed(futures):
            yield _of_cluster(future.result)
            progress.tick()


def _of_cluster(result: Callable[[], Report]) -> Report:
    try:
        return result()
    except Exception as error:
        msg = f"the cluster failed ({type(error).__name__}: {error})"
        raise WorkersError(msg) from error
