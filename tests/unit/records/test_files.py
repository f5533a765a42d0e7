"""The real system calls of a record: what is said to be on the disk was asked to be."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents.records import Runtime, play_run_sync
from ycbench_agents.records.files import DiskFiles


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What fsync was called for, by kind and size."""
    calls: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        found = os.fstat(descriptor)
        calls.append("folder" if stat.S_ISDIR(found.st_mode) else f"file of {found.st_size}")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return calls


def test_a_file_is_synced_with_all_that_was_appended(tmp_path: Path, synced: list[str]) -> None:
    path = tmp_path / "turns"
    files = DiskFiles()
    files.append(path, b"one\n")
    files.append(path, b"two\n")
    files.sync(path)
    assert synced == ["file of 8"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such call")
def test_the_names_in_a_folder_are_synced(tmp_path: Path, synced: list[str]) -> None:
    DiskFiles().sync_folder(tmp_path)
    assert synced == ["folder"]


def test_a_file_takes_the_place_of_another_in_one(tmp_path: Path) -> None:
    source, target = tmp_path / "part", tmp_path / "run.json"
    source.write_bytes(b"new")
    target.write_bytes(b"old")
    inode = source.stat().st_ino
    with target.open("rb") as reader:  # who has the old file open reads it to its end
        DiskFiles().replace(source, target)
        assert reader.read() == b"old"
    assert target.stat().st_ino == inode
    assert target.read_bytes() == b"new"
    assert not source.exists()


def test_each_turn_is_synced_once_it_is_written(tmp_path: Path, synced: list[str], kit: Any) -> None:  # noqa: ANN401 -- the kit comes as a fixture
    turns = tmp_path / "run" / "turns.jsonl"
    sizes: list[tuple[int, bool]] = []

    def on_turn(*_: object) -> None:
        size = turns.stat().st_size
        sizes.append((size, f"file of {size}" in synced))

    play_run_sync(kit.plan(tmp_path / "run", max_turns=4), Runtime(on_turn=on_turn))
    assert [told for _, told in sizes] == [True] * 4
    assert len({size for size, _ in sizes}) == 4
