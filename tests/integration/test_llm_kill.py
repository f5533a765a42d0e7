"""``ycbench run`` with a language model, killed with SIGKILL again and again, resumed by new processes (B39, B40)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from ycbench_agents.base import JsonObject
from ycbench_agents.llm.loopback import FaultPlan, LoopbackServer, ScriptedReply, chaotic_model
from ycbench_agents.records import RunRecord, read_run, same_run

TURNS = 60
KILLS = 5  # of each run
DELAY_S = 0.012  # of each reply, so that kills find a process waiting as often as working
DEADLINE_S = 240.0  # for a process that hangs; nothing is measured

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")


class SlowModel:
    """Answers after a while, or when it is let; the same as ever."""

    def __init__(self) -> None:
        self.asked = 0
        self.let = threading.Event()
        self.let.set()
        self._model = chaotic_model(5)

    def __call__(self, request: JsonObject) -> ScriptedReply | JsonObject:
        self.asked += 1
        self.let.wait(DEADLINE_S)
        time.sleep(DELAY_S)
        return self._model(request)

    def wait_until_asked(self, times: int, process: subprocess.Popen[str]) -> None:
        """Wait until so many requests have come, or the process has ended."""
        while self.asked < times and process.poll() is None:
            time.sleep(0.001)


@attrs.frozen
class Stage:
    """A server with faults, its model, and the run that nobody has disturbed, played without faults."""

    server: LoopbackServer
    model: SlowModel
    undisturbed: RunRecord

    def start(self, records: Path) -> subprocess.Popen[str]:
        """Start a process that begins the run in a folder, or goes on with it."""
        return start(self.server, records)

    def finish(self, records: Path) -> str:
        """Play the run in a folder to its end; returns what the process printed."""
        return finished(self.start(records))


def start(server: LoopbackServer, records: Path, *more: str) -> subprocess.Popen[str]:
    """Start ``run``, or ``resume`` where there is a run and nothing more is said."""
    program = [sys.executable, "-m", "ycbench_agents.cli"]
    run = [
        "run", "--policy", "llm", "--model", "slow", "--base-url", server.base_url, "--records", str(records),
        *([] if "--max-turns" in more else ["--max-turns", str(TURNS)]),
        "--param", "keep_turns=2", "backoff_s=0.01", "max_retries=12",
    ]  # fmt: skip
    begun = any(records.glob("*/run.json")) and not more
    # A plain locale: what a model says must not depend on it (B39).
    environ = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "OPENAI_API_KEY": ""}
    return subprocess.Popen(
        [*program, *(["resume", str(records)] if begun else run), *more, "--no-live"],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )


def finished(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, output
    return output


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    model, records = SlowModel(), tmp_path_factory.mktemp("undisturbed")
    with LoopbackServer(model) as calm:
        finished(start(calm, records))
        assert {logged.status for logged in calm.requests} == {200}
        port = int(calm.base_url.rpartition(":")[2].removesuffix("/v1"))
    faults = FaultPlan(rate=0.25, seed=3, most_in_a_row=1_000)  # drawn anew whenever a turn is asked for again
    with LoopbackServer(model, faults, port=port) as stormy:  # the address is a part of what a run is
        yield Stage(stormy, model, the_run(records))


def the_run(records: Path) -> RunRecord:
    (path,) = records.glob("*/run.json")
    return read_run(path.parent)


def whole_lines(records: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in records.glob("*/turns.jsonl"))


def check_equal(records: Path, stage: Stage) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same_run(the_run(records), stage.undisturbed) == []
    assert {path.name for path in the_run(records).folder.iterdir()} == {"run.json", "turns.jsonl", "run.lock"}


def kill_at_a_random_moment(stage: Stage, records: Path, rng: random.Random) -> None:
    """Kill a process while it starts, replays, waits for its model, plays or writes; it must not end by itself."""
    process = stage.start(records)
    try:
        if rng.random() < 0.2:
            time.sleep(rng.uniform(0.0, 1.5))  # while it starts or replays
        else:
            stage.model.wait_until_asked(stage.model.asked + rng.randint(1, 14), process)
            time.sleep(rng.uniform(0.0, 3 * DELAY_S))  # while it waits, plays or writes
    finally:
        process.kill()
        output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == -signal.SIGKILL, output


@pytest.mark.parametrize("seed", range(4))
def test_a_run_killed_five_times_at_random_moments_ends_like_an_undisturbed_one(
    seed: int, stage: Stage, tmp_path: Path
) -> None:
    rng = random.Random(seed)  # noqa: S311 -- moments, not secrets
    lengths = [0]
    for _ in range(KILLS):
        kill_at_a_random_moment(stage, tmp_path, rng)
        lengths.append(whole_lines(tmp_path))
    assert lengths == sorted(lengths)  # no turn was lost that was on the disk
    assert lengths[-1] < TURNS
    before = len(stage.server.requests)
    stage.finish(tmp_path)
    check_equal(tmp_path, stage)
    # Only what was missing was asked for; what the last killed process asked may be noted late, and is the first of it.
    asked = {json.dumps(logged.body) for logged in stage.server.requests[before:]}
    assert len(asked) == TURNS - lengths[-1]


def test_of_two_processes_on_one_run_exactly_one_plays_and_the_other_says_so(stage: Stage, tmp_path: Path) -> None:
    stage.model.let.clear()
    asked = stage.model.asked
    both = [stage.start(tmp_path), stage.start(tmp_path)]
    try:
        while all(process.poll() is None for process in both):
            assert stage.model.asked <= asked + 1, "both play"
            time.sleep(0.01)
        refused, playing = sorted(both, key=lambda process: process.poll() is None)
        assert playing.poll() is None
        third = stage.start(tmp_path)
        stage.model.wait_until_asked(stage.model.asked + 1, third)
        for process in (refused, third):
            output, _ = process.communicate(timeout=DEADLINE_S)
            assert process.returncode == 1
            assert "another process or task is writing this run" in output
        assert whole_lines(tmp_path) == 0  # nobody but the first has asked or written anything
        stage.model.let.set()
        finished(playing)
    finally:
        stage.model.let.set()
        for process in both:
            process.kill()
            process.communicate(timeout=DEADLINE_S)
    check_equal(tmp_path, stage)


def test_runs_at_once_that_are_killed_together_are_each_finished_once_by_the_same_command(
    stage: Stage, tmp_path: Path
) -> None:
    command = ("--seeds", "1-3", "--concurrency", "3", "--max-turns", "12")
    process = start(stage.server, tmp_path / "killed", *command)
    stage.model.wait_until_asked(stage.model.asked + 14, process)
    process.kill()
    output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == -signal.SIGKILL, output
    for records in ("killed", "whole"):
        finished(start(stage.server, tmp_path / records, *command))
    killed, whole = (
        [read_run(path.parent) for path in sorted((tmp_path / records).glob("*/run.json"))]
        for records in ("killed", "whole")
    )
    assert sorted(record.identity.seed for record in killed) == [1, 2, 3]
    for one, other in zip(killed, whole, strict=True):
        assert one.folder.name == other.folder.name
        assert same_run(one, other) == []


def test_resuming_a_finished_run_asks_nobody_and_changes_nothing(stage: Stage) -> None:
    folder = stage.undisturbed.folder
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    asked = stage.model.asked
    stage.finish(folder.parent)
    assert stage.model.asked == asked
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
