"""Writing a run's folder: run.json is replaced whole, turns.jsonl grows by a line a turn."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Generator
from pathlib import Path
from typing import Final

from ycbench_agents.files import FileError, sync_folder, to_json, write_record
from ycbench_agents.runs.run import RUN_FILE, TURNS_FILE, Run, RunBusyError, RunError, TurnRecord, whole_lines
from ycbench_env import MissingExtraError

_REMEDIES: Final = {
    errno.ENOSPC: "make room on the disk",
    errno.EROFS: "choose a folder that can be written to",
    errno.EACCES: "choose a folder that can be written to",
    errno.EPERM: "choose a folder that can be written to",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOENT: "do not move or remove the folder of a run that is being played",
}
"""What to do about an error of the system."""


class RunStore:
    """Writes one run's folder; whoever is killed at any moment leaves one that can be resumed.

    A turn that was asked of somebody (it has a trace) is on the disk before the next one begins; a kill loses nothing
    of the others either, a power failure some of them, which are played again.

    Args:
        folder: The folder; it is made where it is missing.

    Raises:
        RunError: There can be no such folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._turns: int | None = None
        with _explained(folder):
            folder.mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def locked(self, patience_s: float = 0.0) -> Generator[None]:
        """Keep everybody else from writing this run; the system frees it when the process ends in any way.

        Args:
            patience_s: How long to wait for another process, in seconds.

        Raises:
            RunBusyError: Somebody else is writing it.
            RunError: Nothing can be written there.
        """
        try:
            with locked(self.folder / "run.lock", patience_s):
                yield
        finally:
            if self._turns is not None:
                os.close(self._turns)
                self._turns = None

    def write_run(self, run: Run) -> None:
        """Replace run.json; where that fails the one before stays.

        Raises:
            RunError: The system refuses, or run.json is no regular file.
        """
        try:
            write_record(self.folder / RUN_FILE, to_json(run.to_json(), indent=2) + "\n")
        except FileError as error:
            raise RunError(str(error)) from error

    def open_turns(self) -> None:
        """Make turns.jsonl where it is missing, and cut off a line that was not written to its end.

        Raises:
            RunError: The system refuses, or it is no regular file.

        Warns:
            RunWarning: There was such a line; its turn will be played again.
        """
        path = self.folder / TURNS_FILE
        whole = sum(map(len, whole_lines(path)))
        with _explained(path):
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            self._turns = os.open(path, flags, 0o666)
            status = os.fstat(self._turns)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            if status.st_size > whole:
                os.ftruncate(self._turns, whole)
            sync_folder(self.folder)

    def append(self, turn: TurnRecord) -> None:
        """Add a turn.

        Raises:
            RunError: The system refuses; the line is cut off again if possible.
        """
        descriptor = self._turns
        if descriptor is None:
            msg = f"{self.folder}: turns are written within locked(), after open_turns()"
            raise RunError(msg)
        line = memoryview(turn.to_line())
        with _explained(self.folder / TURNS_FILE):
            size = os.fstat(descriptor).st_size
            try:
                while line:
                    line = line[os.write(descriptor, line) :]
                if turn.trace is not None:
                    os.fsync(descriptor)
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(descriptor, size)
                raise

    def forget(self) -> None:
        """Remove the run's files, to begin it anew.

        Raises:
            RunError: The system refuses.
        """
        for name in (RUN_FILE, TURNS_FILE):
            with _explained(self.folder / name):
                (self.folder / name).unlink(missing_ok=True)


@contextlib.contextmanager
def locked(path: Path, patience_s: float = 0.0) -> Generator[None]:
    """Hold a lock file, which the system frees when the process ends in any way.

    Raises:
        RunBusyError: Another process holds it for longer than ``patience_s`` seconds.
        RunError: The system refuses.
        MissingExtraError: filelock is not installed.
    """
    try:
        import filelock  # noqa: PLC0415 -- of an extra
    except ImportError as error:
        msg = "writing runs needs filelock: pip install '.[cli]' in the folder of this project"
        raise MissingExtraError(msg) from error
    if path.is_symlink():  # it would be followed
        msg = f"{path}: is a symbolic link, expected a regular file; remove it"
        raise RunError(msg)
    lock = filelock.FileLock(path, timeout=patience_s, thread_local=False)
    with _explained(path):
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
def _explained(path: Path) -> Generator[None]:
    """Turn an error of the system into one that names the file and what to do.

    Raises:
        RunError: The system refuses.
    """
    try:
        yield
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "put this right")
        msg = f"{path}: cannot be written: {error.strerror or error}; {remedy}, then play or resume the run again"
        raise RunError(msg) from error
