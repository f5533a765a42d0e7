"""What the system refuses, and folders that go away: told with what to do, nothing half done (B39, B46)."""

# ruff: noqa: ANN401 -- the kit comes as a fixture, and stand-ins see anything

from __future__ import annotations

import errno
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from ycbench_agents.base import Decision
from ycbench_agents.records import RecordError, RecordMismatchError, play_run_sync, read_run, same_run
from ycbench_agents.records.files import DiskFiles


def refuse(code: int, path: Path) -> NoReturn:
    raise OSError(code, os.strerror(code), str(path))


class Refusing(DiskFiles):
    """Real files; from the n-th call on the system refuses, after half of what was to be written."""

    def __init__(self, code: int, calls: int = 0) -> None:
        self.code, self.left = code, calls

    def _spend(self, path: Path) -> None:
        self.left -= 1
        if self.left < 0:
            refuse(self.code, path)

    def make_folder(self, path: Path) -> None:
        self._spend(path)
        super().make_folder(path)

    def write(self, path: Path, data: bytes) -> None:
        if self.left <= 0:
            super().write(path, data[: len(data) // 2])
        self._spend(path)
        super().write(path, data)

    def append(self, path: Path, data: bytes) -> None:
        if self.left <= 0:
            super().append(path, data[: len(data) // 2])
        self._spend(path)
        super().append(path, data)

    def sync(self, path: Path) -> None:
        self._spend(path)

    def replace(self, source: Path, target: Path) -> None:
        self._spend(target)
        super().replace(source, target)

    def sync_folder(self, path: Path) -> None:
        self._spend(path)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.ENOSPC, "make room on the disk"),
        (errno.EROFS, "make it writable"),
        (errno.EACCES, "make it writable"),
        (errno.EIO, "put this right"),
    ],
)
def test_a_system_that_refuses_is_told_with_a_remedy_and_leaves_a_run_that_goes_on(
    tmp_path: Path, undisturbed: Path, kit: Any, code: int, remedy: str
) -> None:
    told: list[str] = []
    for calls in range(40):
        folder = tmp_path / f"run{calls}"
        try:
            play_run_sync(kit.plan(folder), kit.runtime(files=Refusing(code, calls)))
        except RecordError as error:
            told.append(str(error))
        assert not (folder / "run.json.part").exists()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # not even a torn line
            assert same_run(play_run_sync(kit.plan(folder), kit.runtime()).record, read_run(undisturbed)) == []
    assert 10 < len(told) < 40
    for number, text in enumerate(told):
        assert text.startswith(str(tmp_path / f"run{number}"))
        assert os.strerror(code) in text
        assert remedy in text


def test_a_name_that_is_too_long_is_told(tmp_path: Path, kit: Any) -> None:
    with pytest.raises(RecordError, match="choose a shorter name"):
        play_run_sync(kit.plan(tmp_path / ("x" * 300)), kit.runtime())
    assert not list(tmp_path.iterdir())


def test_a_finished_run_is_finished_where_nothing_can_be_written(undisturbed: Path, kit: Any) -> None:
    (undisturbed / "run.lock").unlink()
    (undisturbed / "run.lock").mkdir()  # nobody can lock that
    played = play_run_sync(kit.plan(undisturbed), kit.runtime(files=Refusing(errno.EROFS)))
    assert played.was_finished
    assert played.record == read_run(undisturbed)
    with pytest.raises(RecordMismatchError, match="holds another run"):
        play_run_sync(kit.plan(undisturbed, seed=4), kit.runtime(files=Refusing(errno.EROFS)))


def test_a_lock_that_cannot_be_had_is_told(tmp_path: Path, kit: Any) -> None:
    (tmp_path / "run.lock").mkdir()
    with pytest.raises(RecordError, match=r"run\.lock: the system refuses"):
        play_run_sync(kit.plan(tmp_path), kit.runtime())


def replace_folder(folder: Path) -> None:
    shutil.move(folder, folder.with_name("old"))
    shutil.copytree(folder.with_name("old"), folder)


def replace_turns(folder: Path) -> None:
    shutil.copy(folder / "turns.jsonl", folder / "copy")
    (folder / "copy").replace(folder / "turns.jsonl")


def remove_lock(folder: Path) -> None:
    (folder / "run.lock").unlink()


def remove_turns(folder: Path) -> None:
    (folder / "turns.jsonl").unlink()


@pytest.mark.parametrize("disturb", [shutil.rmtree, replace_folder, replace_turns, remove_lock, remove_turns])
@pytest.mark.parametrize("at", [2, 4])
@pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody remove what is open")
def test_a_folder_that_was_removed_or_replaced_is_not_written_any_more(
    tmp_path: Path, kit: Any, disturb: Callable[[Path], None], at: int
) -> None:
    folder = tmp_path / "run"
    left: list[dict[str, bytes]] = []

    class Watched(kit.thinker):
        async def decide(self, observation: Any) -> Decision:
            if int(observation["turn"]) == at:
                disturb(folder)
                left.append(contents(folder) if folder.exists() else {})
            return await super().decide(observation)

    with pytest.raises(RecordError, match="removed or replaced while the run was being written"):
        play_run_sync(kit.plan(folder, Watched()), kit.runtime())
    assert (contents(folder) if folder.exists() else {}) == left[0]


@pytest.mark.skipif(os.name == "nt", reason="Windows lets nobody remove what is open")
def test_the_end_is_not_written_into_a_folder_that_was_replaced_after_the_last_turn(tmp_path: Path, kit: Any) -> None:
    folder = tmp_path / "run"

    def on_turn(_plan: Any, turn: Any) -> None:
        if turn.turn == 4:
            replace_folder(folder)

    with pytest.raises(RecordError, match="removed or replaced"):
        play_run_sync(kit.plan(folder), kit.runtime(on_turn=on_turn))
    assert read_run(folder).outcome.status == "running"
