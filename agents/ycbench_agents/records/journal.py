"""Writing a run's folder: run.json is replaced whole, turns.jsonl grows by a line a turn; both are on disk at once."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.records.error import RecordError, RecordWarning, RunBusyError, system_told
from ycbench_agents.records.files import HeldFile
from ycbench_agents.records.reading import RUN_FILE, TURNS_FILE, whole_lines
from ycbench_agents.records.secret import variable_found_in
from ycbench_agents.records.strict_json import encode
from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

    from ycbench_agents.records.files import Files
    from ycbench_agents.records.reading import RunRecord
    from ycbench_agents.records.record import TurnRecord

__all__ = ["LOCK_FILE", "Journal", "SecretError"]

LOCK_FILE: Final = "run.lock"


class SecretError(RecordError):
    """What was to be written holds a key; nothing of it was written, and the message names the variable only."""


@attrs.frozen
class Journal:
    """Writes one run's folder; whoever is killed at any moment leaves one that can be resumed.

    Before each write it makes sure that the folder is still the one that was locked: where somebody removed it, another
    process may have begun the run anew, with a lock of its own.

    Args:
        folder: The folder.
        files: Writes.
        secrets: Keys by name of their variable; what holds one is not written.
    """

    folder: Path
    files: Files
    secrets: Mapping[str, str] = attrs.field(repr=False)
    _held: list[HeldFile] = attrs.field(init=False, factory=list[HeldFile], repr=False)

    @contextlib.contextmanager
    def locked(self) -> Generator[None]:
        """Keep everybody else from writing this run; the system gives it free when the process ends in any way.

        Raises:
            RunBusyError: Somebody else is writing it.
            RecordError: There can be no such folder, or nothing can be written there.
        """
        try:
            import filelock  # noqa: PLC0415 -- an optional library
        except ImportError as error:
            msg = "writing runs needs filelock: pip install 'ycbench-env[llm]'"
            raise MissingExtraError(msg) from error
        self._make_folder()
        lock = filelock.FileLock(self.folder / LOCK_FILE, timeout=0, thread_local=False)
        with system_told(self.folder / LOCK_FILE):
            try:
                lock.acquire()
            except filelock.Timeout:
                msg = (
                    f"{self.folder}: another process or task is writing this run; wait for it, or choose another folder"
                )
                raise RunBusyError(msg) from None
        try:
            self._hold(LOCK_FILE)
            yield
        finally:
            while self._held:
                self._held.pop().close()
            lock.release()

    def _hold(self, name: str) -> None:
        with system_told(self.folder / name):
            self._held.append(HeldFile(self.folder / name))

    def _refuse_other_folder(self) -> None:
        """Refuse to write where the files are not those that were opened."""
        with system_told(self.folder):
            if all(held.is_in_place() for held in self._held):
                return
        msg = (
            f"{self.folder}: the folder, or a file in it, was removed or replaced while the run was being written; "
            "nothing more is written there. Another process may be playing the run there now; otherwise play it again"
        )
        raise RecordError(msg)

    def _make_folder(self) -> None:
        with system_told(self.folder):
            try:
                self.files.make_folder(self.folder)
            except (FileExistsError, NotADirectoryError):
                msg = f"{self.folder}: is a file or lies below one; expected a folder, or a place for one"
                raise RecordError(msg) from None

    def write_run(self, record: RunRecord) -> None:
        """Replace run.json; where that fails the one before stays.

        Raises:
            SecretError: It would hold a key.
            RecordError: The folder was removed or replaced, or the system refuses.
        """
        text = encode(record.to_json(), indent=2) + "\n"
        self._refuse_secrets(text, RUN_FILE)
        self._refuse_other_folder()
        path = self.folder / RUN_FILE
        part = self.folder / f"{RUN_FILE}.part"
        with system_told(path):
            try:
                self.files.write(part, text.encode("ascii"))
                self.files.sync(part)
                self.files.replace(part, path)
            except OSError:
                with contextlib.suppress(OSError):
                    part.unlink(missing_ok=True)
                raise
            self.files.sync_folder(self.folder)

    def open_turns(self) -> None:
        """Make turns.jsonl where it is missing, and cut off a line that was not written to its end.

        Raises:
            RecordError: The folder was removed or replaced, or the system refuses.

        Warns:
            RecordWarning: There was such a line; its turn will be played again.
        """
        self._refuse_other_folder()
        with system_told(self.folder / TURNS_FILE):
            self._make_turns_whole(self.folder / TURNS_FILE)
        self._hold(TURNS_FILE)

    def _make_turns_whole(self, path: Path) -> None:
        if not path.exists():
            self.files.append(path, b"")
            self.files.sync_folder(self.folder)
        size = whole_lines(path).size
        torn = path.stat().st_size - size
        if torn:
            msg = f"{path}: the last line was cut short after {torn} bytes; it is cut off, and its turn played again"
            warnings.warn(msg, RecordWarning, stacklevel=3)
            self.files.cut(path, size)
            self.files.sync(path)

    def append(self, turn: TurnRecord) -> None:
        """Add a turn; when this returns it is on the disk, and where it fails nothing of it is left there if possible.

        Raises:
            SecretError: It would hold a key.
            RecordError: The folder was removed or replaced, or the system refuses.
        """
        line = turn.to_line()
        self._refuse_secrets(line.decode("ascii"), f"turn {turn.turn}")
        self._refuse_other_folder()
        path = self.folder / TURNS_FILE
        with system_told(path):
            size = path.stat().st_size
            try:
                self.files.append(path, line)
                self.files.sync(path)
            except OSError:
                with contextlib.suppress(OSError):  # a torn line is cut off by whoever resumes
                    self.files.cut(path, size)
                raise

    def without_key(self, reason: str) -> str:
        """Return a reason, or what to say instead if it holds a key."""
        variable = variable_found_in(encode(reason), self.secrets)
        return reason if variable is None else f"withheld: it holds the value of the environment variable {variable}"

    def _refuse_secrets(self, text: str, what: str) -> None:
        variable = variable_found_in(text, self.secrets)
        if variable is not None:
            msg = f"{what} holds the value of the environment variable {variable}, so it was not written"
            raise SecretError(msg)
