"""Folders of runs that may come from anybody: no link is followed, no pipe opened, nothing read without bound."""

# ruff: noqa: ARG002 -- a policy takes an observation that it need not look at

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents.base import Turn
from ycbench_agents.runs import Run, RunError, RunIdentity, find_run, play_run, read_run, replay_run
from ycbench_agents.runs import run as run_module
from ycbench_env import Observation

FILES = ("run.json", "turns.jsonl", "run.lock")


class Resuming:
    def reset(self, seed: int) -> None:
        del seed

    def act(self, observation: Observation) -> Turn:
        return "sim resume"


def identity() -> RunIdentity:
    return RunIdentity.of("default", 1, "resuming", settings={"parameters": {}}, max_turns=3)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return play_run(tmp_path / "run", identity(), Resuming())


def change(run: Run, alter: Callable[[dict[str, Any]], object]) -> None:
    path = run.folder / "run.json"
    values = json.loads(path.read_text())
    alter(values)
    path.write_text(json.dumps(values))


@pytest.mark.parametrize("name", FILES)
def test_a_symbolic_link_is_never_written_or_cut(run: Run, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious\nno line of JSON")
    change(run, lambda values: values.update(outcome={"status": "running"}))
    (run.folder / name).unlink()
    (run.folder / name).symlink_to(victim)
    with pytest.raises(RunError):
        play_run(run.folder, identity(), Resuming(), begin_anew=False)
    assert victim.read_text() == "precious\nno line of JSON"


@pytest.mark.parametrize("name", ["run.json", "turns.jsonl"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_pipes_and_folders_are_refused_at_once(run: Run, name: str, make: Callable[[Path], None]) -> None:
    (run.folder / name).unlink()
    make(run.folder / name)
    with pytest.raises(RunError, match=name):
        for _ in read_run(run.folder).turns():
            pass


def test_devices_are_refused(run: Run) -> None:
    (run.folder / "turns.jsonl").unlink()
    (run.folder / "turns.jsonl").symlink_to("/dev/zero")
    with pytest.raises(RunError, match="symbolic link"):
        list(run.turns())


def test_a_recorded_configuration_opens_no_other_file(run: Run, tmp_path: Path) -> None:
    secret = tmp_path / "secret.toml"
    secret.write_text("password = 'open sesame'")
    change(run, lambda values: values["identity"]["config"].update(extends=str(secret)))
    with pytest.raises(RunError, match="extends") as caught:
        replay_run(run.folder)
    assert "sesame" not in str(caught.value)


def test_an_altered_configuration_is_refused(run: Run) -> None:
    change(run, lambda values: values["identity"]["config"]["world"].update(num_employees=9))
    with pytest.raises(RunError, match="digest: got"):
        replay_run(run.folder)
    change(run, lambda values: values["identity"]["config"]["world"].update(num_employees="many"))
    with pytest.raises(RunError, match="num_employees"):
        replay_run(run.folder)


def test_lines_and_their_number_are_bounded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "_MOST_LINE_BYTES", 100)
        with pytest.raises(RunError, match=r"line 1: got more than"):
            list(run.turns())
    monkeypatch.setattr(run_module, "_MOST_TURNS", 2)
    with pytest.raises(RunError, match=r"line 3: got more than"):
        list(run.turns())


def test_a_byte_order_mark_is_ignored(run: Run) -> None:
    for name in ("run.json", "turns.jsonl"):
        path = run.folder / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert replay_run(run.folder).is_equal


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda values: values.update(format=3), "got format 3"),
        (lambda values: values.update(more=1), "more"),
        (lambda values: values["identity"].update(seed="1"), "identity.seed"),
        (lambda values: values["identity"].pop("policy"), "missing: identity.policy"),
        (lambda values: values["outcome"].update(status="lost"), "outcome.status"),
        (lambda values: values["outcome"].update(turns=None), "outcome.turns"),
    ],
)
def test_a_damaged_run_json_is_named_with_file_and_key(
    run: Run, alter: Callable[[dict[str, Any]], object], message: str
) -> None:
    change(run, alter)
    with pytest.raises(RunError, match=message) as caught:
        read_run(run.folder)
    assert str(run.folder / "run.json") in str(caught.value)


@pytest.mark.parametrize("line", [b"no JSON\n", b'{"turn": 1}\n', b"\xff\n", b"[" * 100_000 + b"\n"])
def test_a_damaged_turn_is_named_with_its_line(run: Run, line: bytes) -> None:
    path = run.folder / "turns.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + line + lines[2])
    with pytest.raises(RunError, match="line 2"):
        list(run.turns())
    path.write_bytes(lines[0] + lines[0])
    with pytest.raises(RunError, match="got turn 1, expected turn 2"):
        list(run.turns())


def test_format_1_is_read_and_replayed_but_not_gone_on_with(run: Run) -> None:
    change(run, lambda values: values.update(format=1, outcome={"status": "running"}))
    assert replay_run(run.folder).is_equal
    with pytest.raises(RunError, match=r"was written by ycbench-env \S+ in format 1"):
        play_run(run.folder, identity(), Resuming())


def test_what_is_no_run_is_told(tmp_path: Path) -> None:
    assert find_run(tmp_path) is None
    with pytest.raises(RunError, match="expected the folder of a run"):
        read_run(tmp_path)
    (tmp_path / "turns.jsonl").write_text("{}\n")
    with pytest.raises(RunError, match=r"turns\.jsonl without run\.json"):
        play_run(tmp_path, identity(), Resuming())
