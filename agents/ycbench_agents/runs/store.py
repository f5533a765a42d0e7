"""Writing a run's folder: run.json is replaced whole, turns.jsonl grows by a line a turn."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Generator
from pathlib import Path

from ycbench_agents.files import sync_folder, to_json, write_record
from ycbench_agents.runs.run import (
    RUN_FILE,
    TURNS_FILE,
    Run,
    RunBusyError,
    RunError,
    TurnRecord,
    run_errors,
    whole_lines,
)
from ycbench_env.errors import needs_extra


class RunStore:
    """Writes one run's folder; whoever is killed at any moment leaves one that can be resumed.

    A turn that was asked of somebody (it has a trace) is on the disk before the next one begins; a kill loses nothing
    of the others either, a power failure some of them, which are played again. Each method raises a RunError where the
    system refuses.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._turns = -1
        with explained(folder):
            folder.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def locked(self, patience_s: float = 0.0) -> Generator[None]:
        """Keep everybody else from writing this run."""
        try:
            with locked(self.folder / "run.lock", patience_s):
                yield
        finally:
            self._close()

    def _close(self) -> None:
        if self._turns >= 0:
            os.close(self._turns)
            self._turns = -1

    def write_run(self, run: Run) -> None:
        """Replace run.json; where that fails the one before stays."""
        with run_errors():
            write_record(self.folder / RUN_FILE, to_json(run.to_json(), indent=2) + "\n")

    def open_turns(self) -> None:
        """Make turns.jsonl where it is missing, and cut off, with a RunWarning, a line that was cut short."""
        path = self.folder / TURNS_FILE
        whole = sum(map(len, whole_lines(path)))
        with explained(path):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            self._turns = os.open(path, flags, 0o666)
            if not stat.S_ISREG(os.fstat(self._turns).st_mode):
                msg = "it is not a regular file"
                raise OSError(msg)
            os.ftruncate(self._turns, whole)
            sync_folder(self.folder)

    def append(self, turn: TurnRecord) -> None:
        """Add a turn, after ``open_turns``; where that fails the line is cut off again."""
        line = memoryview(turn.to_line())
        with explained(self.folder / TURNS_FILE):
            size = os.fstat(self._turns).st_size
            try:
                while line:
                    line = line[os.write(self._turns, line) :]
                if turn.trace is not None:
                    os.fsync(self._turns)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(self._turns, size)
                raise

    def forget(self) -> None:
        """Remove the run's files, to begin it anew."""
        self._close()
        for name in (RUN_FILE, TURNS_FILE):
            with explained(self.folder / name):
                (self.folder / name).unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path, patience_s: float = 0.0) -> Generator[None]:
    """Hold a lock file, which the system frees when the process ends in any way.

    It is a RunBusyError if another process holds it for longer than ``patience_s`` seconds.
    """
    with needs_extra("cli", "writing runs needs filelock"):
        import filelock  # noqa: PLC0415 -- of an extra
    if path.is_symlink():  # it would be followed
        msg = f"{path}: is a symbolic link, expected a regular file; remove it"
        raise RunError(msg)
    lock = filelock.FileLock(path, timeout=patience_s, thread_local=False)
    with explained(path):
        try:
            lock.acquire()
        except filelock.Timeout:
            msg = f"{path.parent}: another process is playing there; wait for it, or choose another folder"
            raise RunBusyError(msg) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def explained(path: Path) -> Generator[None]:
    """Turn an error of the system into a RunError that names the place."""
    try:
        yield
    except OSError as error:
        msg = f"{path}: cannot be written: {error.strerror or error}; put this right, then resume the run"
        raise RunError(msg) from error
