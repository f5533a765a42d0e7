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
import traceback
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import attrs

from ycbench_agents.base import PolicyStoppedError, without_secrets
from ycbench_agents.evaluation.factory import build_policy, own_modules, parameters_of, waits_for_answers
from ycbench_agents.evaluation.results import Episode
from ycbench_agents.evaluation.suite import EpisodeKey, Limits
from ycbench_agents.registry import PolicyError, make_policy
from ycbench_agents.runs import RunIdentity, RunWarning, TurnRecord, play_run
from ycbench_env.errors import needs_extra
from ycbench_env.text import printable

BackendName: TypeAlias = Literal["processes", "ray", "dask"]
"""Where episodes are played."""

_LOOK_S: Final = 0.2
_TURNS_EACH_S: Final = 0.1
_LOCK_PATIENCE_S: Final = 10.0  # a process of an evaluation that was killed ends a moment later
_CHECK_S: Final = 60.0
_END_S: Final = 3.0  # for a process that has nothing more to do, on a busy machine
_LONGEST: Final = 500  # characters of a failure's text
_PR_SET_PDEATHSIG: Final = 1  # of linux/prctl.h
_METHOD: Final = "fork" if sys.platform == "linux" else "spawn"


class WorkersError(RuntimeError):
    """Processes for episodes are unavailable; the message names the call that failed."""


def _import_path() -> tuple[str, ...]:
    return tuple(str(Path(each).absolute()) for each in sys.path)


@attrs.frozen
class Job:
    """An episode to play."""

    key: EpisodeKey
    identity: RunIdentity = attrs.field(repr=False)
    folder: Path  # of the run, absolute: a process of a cluster may have another working directory
    limits: Limits
    deliberates: bool = False  # whether its policy waits for answers from outside
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str], repr=False)  # of a language model's server
    measure: bool = True  # whether its metrics are stored beside the run
    import_path: tuple[str, ...] = attrs.field(factory=_import_path, repr=False)  # where a policy of one's own may lie

    @property
    def seconds(self) -> int:
        """Wall-clock time that the episode and its measurement may take."""
        return self.limits.waiting_seconds if self.deliberates else self.limits.seconds


class Progress:
    """Callbacks of ``play_suite``; but for warnings each does nothing here, so a subclass overrides what it wants.

    They are called in the thread that called ``play_suite``. Episodes are forked from this process, so a callback must
    start no thread.
    """

    def begin(self, total: int, done: int) -> None:
        """So many episodes are to be played now, and so many were finished before."""

    def started(self, key: EpisodeKey, run: RunIdentity) -> None:
        """An episode has begun, or goes on."""

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        """A turn was played; called for all turns of policies that wait for answers, else at most ten a second."""

    def finished(self, key: EpisodeKey, episode: Episode) -> None:
        """An episode has finished or failed, see ``episode.status``."""

    def warn(self, message: str) -> None:
        """Warn of something odd; here by a Python warning."""
        warnings.warn(message, RunWarning, stacklevel=2)

    def tick(self) -> None:
        """Time has passed; called about five times a second."""


@attrs.frozen
class Report:
    """The end of a job."""

    job: Job
    failure: str | None = None  # class and text of the error; None where the run is finished
    warnings: tuple[str, ...] = ()


def play_jobs(  # noqa: PLR0913 -- one an option of ycbench evaluate
    jobs: Sequence[Job],
    workers: int | None,
    concurrency: int,
    progress: Progress,
    backend: BackendName = "processes",
    address: str | None = None,
) -> Generator[Report]:
    """Yield the report of each job when it ends. Closing the generator ends all that still play.

    Args:
        jobs: What to play, in this order.
        workers: How many episodes at once that need the processor; None for one a processor.
        concurrency: How many at once that wait for answers.
        progress: Progress callbacks; a cluster reports no turns.
        backend: Where.
        address: Of the cluster: for Dask its scheduler's; None for the one that the environment names, or a local one.

    Raises:
        WorkersError: Processes are unavailable, or the cluster failed.
    """
    if backend == "processes":
        affinity: Any = getattr(os, "sched_getaffinity", None)
        processors = len(affinity(0)) if affinity else os.cpu_count() or 1
        reports = _play_here(jobs, workers or processors, concurrency, progress, _METHOD)
    else:
        reports = _play_on(backend, jobs, address, progress)
    with contextlib.closing(reports):
        for report in reports:
            for message in report.warnings:
                progress.warn(f"{report.job.key}: {message}")
            yield report


# ---------------------------------------------------------------- in the process of an episode


def play_job(job: Job, on_turn: Callable[[TurnRecord], None] | None = None) -> Report:
    """Play an episode in this process, or resume it, and measure it. Nothing that a policy raises gets out."""
    failure = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RunWarning)
        try:
            _play(job, on_turn)
        except BaseException as error:  # noqa: BLE001 -- also SystemExit: whatever it is, it is this episode's failure
            failure = _reason(error, job)
    return Report(job, failure, tuple(_one_line(str(each.message), job) for each in caught))


def _play(job: Job, on_turn: Callable[[TurnRecord], None] | None) -> None:
    sys.path.extend(folder for folder in job.import_path if folder not in sys.path)
    run = play_run(
        job.folder,
        job.identity,
        build_policy(job.identity, job.headers),
        on_turn=on_turn,
        patience_s=_LOCK_PATIENCE_S,
        begin_anew=not job.deliberates,  # replies were paid for
    )
    if not run.is_finished:
        raise PolicyStoppedError(run.outcome.reason)
    if job.measure:
        from ycbench_agents.evaluation.metrics import store_metrics  # noqa: PLC0415 -- not every command needs it

        store_metrics(run)


def _reason(error: BaseException, job: Job) -> str:
    """Return class and text of an error; equal errors have equal texts, so addresses in memory are left out."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return f"MemoryLimit: needed more than {job.limits.memory_mib} MiB; see limits.memory_mib of the suite"
    try:
        text = "".join(str(error))
    except BaseException:  # noqa: BLE001 -- its class is somebody's own
        text = ""
    reason = _one_line(type(error).__name__, job) + (f": {line}" if (line := _one_line(text, job)) else "")
    return reason + (f" ({place})" if (place := _one_line(_place(error, job), job)) else "")


def _place(error: BaseException, job: Job) -> str:
    """Return the last place in a policy's own module, and the turn, where an error has passed through there."""
    names = own_modules(job.identity.policy, parameters_of(job.identity))
    frames = [each for each in traceback.walk_tb(error.__traceback__) if each[0].f_globals.get("__name__") in names]
    if not frames:
        return ""
    frame, line = frames[-1]
    notes: object = vars(error).get("__notes__")
    turns = [each for each in notes if str(each).startswith("turn ")] if isinstance(notes, list) else []
    return ", ".join([f"{Path(frame.f_code.co_filename).name}:{line} in {frame.f_code.co_name}", *turns[-1:]])


def _one_line(text: str, job: Job) -> str:
    """Return a text on one line: printable, without keys and values of headers, and without this machine's paths."""
    own = job.identity.settings.get("api_key_variable")
    keys = [value for name, value in os.environ.items() if name == own or name.upper().endswith("_API_KEY")]
    text = without_secrets(text, [*keys, *job.headers.values()])
    text = re.sub(r"\b0x[0-9a-fA-F]{6,}", "0x...", text.replace(f"{job.folder.parent}{os.sep}", ""))
    return printable(" ".join(text[: 40 * _LONGEST].split()))[:_LONGEST]


def _set_memory_limit(mib: int | None) -> None:
    """Refuse memory beyond what the process has now and so much more: MemoryError. None takes the limit away."""
    if sys.platform != "linux":
        return
    import resource  # noqa: PLC0415 -- Windows has none

    limits = resource.getrlimit(resource.RLIMIT_AS)
    wanted = limits[1]
    if mib is not None:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        own = pages * os.sysconf("SC_PAGE_SIZE") + mib * 2**20
        wanted = min(each for each in (own, *limits) if each >= 0)  # -1 is no limit
    resource.setrlimit(resource.RLIMIT_AS, (wanted, limits[1]))


def _begin(memory_mib: int) -> None:
    """Let this process end with its parent, in a session of its own, within limits, with its output on stderr."""
    parent = multiprocessing.parent_process()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if parent is not None and os.getppid() != parent.pid:
            os._exit(1)
    elif parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        os.setsid()
    with contextlib.suppress(OSError):
        os.dup2(2, 1)  # stdout is for results; this holds for output of C code, too
    # Locks of the parent's streams may be held by threads that this process has not.
    sys.stdout = sys.stderr = open(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    _set_memory_limit(memory_mib)


def _episode_process(connection: Any, job: Job) -> None:  # noqa: ANN401 -- a Connection, of another class on Windows
    """Play a job and send turns and the report."""
    _begin(job.limits.memory_mib)
    last = 0.0

    def send(turn: TurnRecord) -> None:
        nonlocal last
        now = time.monotonic()
        if turn.trace is not None or turn.is_last or now - last >= _TURNS_EACH_S:
            last = now
            connection.send(turn)

    report = play_job(job, send)
    _set_memory_limit(None)
    connection.send((report.failure, report.warnings))


def _check_process(connection: Any, name: str, parameters: dict[str, Any], mib: int) -> None:  # noqa: ANN401 -- as above
    """Make a policy and send whether it waits for answers, or why it is refused."""
    _begin(mib)
    try:
        connection.send(waits_for_answers(make_policy(name, **parameters)))
    except PolicyError as error:
        if error.__cause__ is None or isinstance(error.__cause__, ModuleNotFoundError | PolicyError):
            connection.send(str(error))


def check_policy_apart(name: str, parameters: Mapping[str, Any], limits: Limits) -> bool:
    """Make a policy with code of one's own once, in a process of its own, and return whether it waits for answers.

    A misspelt name or parameter is a PolicyError. Where that process gives no answer the policy plays all the same: its
    episodes fail with the reason.
    """
    process = _Process(_METHOD, _check_process, name, dict(parameters), limits.memory_mib)
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
    """A process in a session of its own, which runs a function with arguments, and the connection on which it sends."""

    def __init__(self, method: str, target: Callable[..., None], *arguments: object) -> None:
        self.connection, sending = multiprocessing.Pipe(duplex=False)
        config: dict[str, Any] = getattr(multiprocessing.current_process(), "_config", {})
        daemon = config.pop("daemon", None)  # a daemonic process may have no children, but these end with it
        context: Any = multiprocessing.get_context(method)
        try:
            self._process = context.Process(target=target, args=(sending, *arguments))
            with warnings.catch_warnings(), _ctrl_c_blocked():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads, such as those of numpy's libraries
                self._process.start()
        except OSError as error:
            self.connection.close()
            msg = f"a process for an episode cannot be started ({method}: {error.strerror or error})"
            raise WorkersError(msg) from error
        finally:
            sending.close()
            if daemon is not None:
                config["daemon"] = daemon

    def receive(self) -> Any:  # noqa: ANN401 -- whatever it sends
        """Return what the process has sent; of one that has ended by itself, how, as a failure without warnings."""
        with contextlib.suppress(EOFError, OSError):
            return self.connection.recv()
        self._process.join(_END_S)
        code = self._process.exitcode
        if code is None:
            ending = "closed its connection"
        elif code >= 0:
            ending = f"ended its process with exit code {code}"
        else:
            ending = f"its process was ended by signal {-code} ({signal.Signals(-code).name})"
        return f"ProcessEnded: {ending}", ()

    def end(self, *, reported: bool = False) -> None:
        """End the process, and its session; one that has reported ends by itself in a moment."""
        self.connection.close()
        if reported:
            self._process.join(_END_S)
        if hasattr(os, "killpg"):
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()


@contextlib.contextmanager
def _ctrl_c_blocked() -> Generator[None]:
    """Put Ctrl-C off: what Python's own hooks at a fork raise is dropped."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _play_here(
    jobs: Sequence[Job], workers: int, concurrency: int, progress: Progress, method: str
) -> Generator[Report]:
    """Play on this machine."""
    room = {False: workers, True: concurrency}  # for policies that need the processor, and for those that wait
    waiting = {kind: collections.deque[Job]() for kind in room}
    for job in jobs:
        waiting[job.deliberates].append(job)
    running: dict[Any, tuple[Job, _Process, float]] = {}
    try:
        while running or any(waiting.values()):
            for kind, queue in waiting.items():
                while queue and sum(job.deliberates == kind for job, *_ in running.values()) < room[kind]:
                    job = queue.popleft()
                    process = _Process(method, _episode_process, job)
                    running[process.connection] = job, process, time.monotonic() + job.seconds
                    progress.started(job.key, job.identity)
            ready = multiprocessing.connection.wait(list(running), _LOOK_S)
            for connection, (job, process, deadline) in list(running.items()):
                message: Any = process.receive() if connection in ready else None
                if isinstance(message, TurnRecord):
                    progress.turn(job.key, message)
                    message = None
                if message is None and time.monotonic() > deadline:
                    limit = "limits.waiting_seconds" if job.deliberates else "limits.seconds"
                    hint = f"see {limit} of the suite, or --timeout of ycbench run"
                    message = f"TimeLimit: took longer than {job.seconds} seconds; {hint}", ()
                if message is not None:
                    del running[connection]
                    process.end(reported=connection in ready)
                    yield Report(job, *message)
            progress.tick()
    finally:
        for _, process, _ in running.values():
            process.end()


# ---------------------------------------------------------------- clusters


def _play_alone(job: Job, is_cancelled: Callable[[], bool] = lambda: False) -> Report:
    """Play a job on a machine of a cluster, in a new process there, which ends when the job is cancelled."""

    class Watching(Progress):
        def tick(self) -> None:
            if is_cancelled():
                raise CancelledError

    [report] = _play_here([job], 1, 1, Watching(), "spawn")
    return report


@contextlib.contextmanager
def _ray(address: str | None) -> Generator[Callable[[Job], Future[Report]]]:
    """Give a function that submits jobs to a cluster of Ray, a new one on this machine where there is none."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no usage report is sent
    import ray  # noqa: PLC0415 -- of an extra  # pyright: ignore[reportMissingImports]

    if not (was_connected := ray.is_initialized()):
        ray.init(address, log_to_driver=False, logging_level="error")
    remote = ray.remote(num_cpus=1, max_retries=0)(_play_alone)
    tasks: list[Any] = []

    def submit(job: Job) -> Future[Report]:
        tasks.append(remote.remote(job))
        return tasks[-1].future()

    try:
        yield submit
    finally:
        for task in tasks:
            ray.cancel(task, force=True)
        if not was_connected:
            ray.shutdown()


@contextlib.contextmanager
def _dask(address: str | None) -> Generator[Callable[[Job], Future[Report]]]:
    """Give a function that submits jobs to a cluster of Dask, a new one on this machine where none is named."""
    from distributed import Client  # noqa: PLC0415 -- of an extra  # pyright: ignore[reportMissingImports]

    with Client(address) as client:
        executor = client.get_executor(pure=False, retries=0)
        yield lambda job: executor.submit(_play_by_dask, job)


def _play_by_dask(job: Job) -> Report:
    """Play a job in a task of Dask, which only looks as if it ended when it is cancelled."""
    from distributed import get_worker  # noqa: PLC0415 -- of an extra  # pyright: ignore[reportMissingImports]

    worker: Any = get_worker()
    task = worker.state.tasks[worker.get_current_task()]
    return _play_alone(job, lambda: task.state != "executing")


def _play_on(backend: BackendName, jobs: Sequence[Job], address: str | None, progress: Progress) -> Generator[Report]:
    """Play on a cluster."""
    with contextlib.ExitStack() as stack:
        with needs_extra(backend, f"--backend {backend} needs its library"):
            submit = stack.enter_context((_ray if backend == "ray" else _dask)(address))
        left = {submit(job) for job in jobs}
        stack.callback(lambda: [future.cancel() for future in left])
        for job in jobs:
            progress.started(job.key, job.identity)
        while left:
            done, left = wait(left, _LOOK_S, FIRST_COMPLETED)
            progress.tick()
            for future in done:
                try:
                    report = future.result()
                except Exception as error:
                    msg = f"the cluster failed ({type(error).__name__}: {error})"
                    raise WorkersError(msg) from error
                yield report
