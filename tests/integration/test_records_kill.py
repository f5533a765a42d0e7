"""Runs whose process is killed with SIGKILL, again and again, end as if nobody had disturbed them (B39, B40)."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from ycbench_agents.records import RecordWarning, RunBusyError, play_run_sync, read_run, resume_plan, same_run

TURNS = 80
KILLS = 20
DEADLINE_S = 240.0  # for a process that hangs; nothing is measured

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")

# Plays the run in a folder, or goes on with it; prints "asked" once for each time that the policy was asked.
SCRIPT = '''
import asyncio, hashlib, sys, warnings
from ycbench_agents.base import Decision
from ycbench_agents.records import RunPlan, play_run_sync

class SlowThinker:
    """Waits some milliseconds for each turn, which follows from the observation alone."""

    def reset(self, seed):
        pass

    def act(self, observation):
        raise NotImplementedError  # a run asks a deliberating policy by `decide`, and never by this

    async def decide(self, observation):
        print("asked", flush=True)
        await asyncio.sleep(0.004)
        question = hashlib.sha256(observation["text"].encode()).hexdigest()
        trace = {"messages_sha256": question, "long": question * 4000}
        return Decision(self.turn(observation), trace, {"latency_s": 0.004})

    def recall(self, observation, trace):
        if trace["messages_sha256"] != hashlib.sha256(observation["text"].encode()).hexdigest():
            raise ValueError("other messages")
        return self.turn(observation)

    def turn(self, observation):
        number = int(observation["turn"])
        task = f"task accept --task-id Task-{number}"
        return (task, f"scratchpad append --content 'turn {number} \\u00e9'", "sim resume" if number % 3 == 0 else "")

warnings.simplefilter("ignore")
config = {"world": {"initial_funds_cents": 10**12}, "sim": {"horizon_years": 9}}
plan = RunPlan(sys.argv[1], config, 5, SlowThinker(), "slow", {"wait": 0.004}, "test", max_turns=int(sys.argv[2]))
played = play_run_sync(plan)
print("played", played.record.outcome.status, played.replayed_turns, played.played_turns, flush=True)
'''


def start(folder: Path) -> subprocess.Popen[str]:
    """Start a process that plays the run in a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(TURNS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(folder: Path) -> list[str]:
    """Play the run in a folder to its end; what the process printed."""
    process = start(folder)
    output, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0, errors
    return output.splitlines()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a run that nobody has disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert finish(folder)[-1] == f"played finished 0 {TURNS}"
    return folder


def whole_lines(folder: Path) -> int:
    path = folder / "turns.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def kill_at_a_random_moment(folder: Path, rng: random.Random) -> bool:
    """Kill a process while it starts, replays or plays; whether it was killed before its end."""
    process = start(folder)
    try:
        if rng.random() < 0.3:
            time.sleep(rng.uniform(0.0, 0.5))  # while it starts, or replays
        else:
            assert process.stdout is not None
            for _ in range(rng.randint(1, 5)):  # until the policy was asked so often
                process.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.01))
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE_S)
    return process.returncode == -signal.SIGKILL


def test_twenty_kills_at_random_moments_change_nothing(tmp_path: Path, undisturbed: Path) -> None:
    rng = random.Random(2)  # noqa: S311 -- moments, not secrets
    folder = tmp_path / "run"
    killed, lengths = 0, [0]
    while killed < KILLS and (not folder.exists() or whole_lines(folder) < TURNS - 5):
        killed += kill_at_a_random_moment(folder, rng)
        lengths.append(whole_lines(folder))
    assert lengths == sorted(lengths)  # no turn was lost that was on the disk
    assert killed >= 5  # far more, unless the machine is very quick
    last = finish(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same_run(read_run(folder), read_run(undisturbed)) == []
    assert len(last) - 1 == TURNS - lengths[-1]  # only what was missing was asked for
    assert {path.name for path in folder.iterdir()} == {"run.json", "turns.jsonl", "run.lock"}
    assert finish(folder) == ["played finished 0 0"]


def test_a_run_that_another_process_writes_is_refused_at_once_until_that_process_is_dead(
    tmp_path: Path, undisturbed: Path
) -> None:
    class Nobody:
        def reset(self, seed: int) -> None:
            raise AssertionError(seed)

        def act(self, observation: object) -> str:
            raise AssertionError(observation)

    process = start(tmp_path)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGSTOP)  # it stays in the middle of the run
        with pytest.raises(RunBusyError, match="another process or task is writing this run"):
            play_run_sync(resume_plan(tmp_path, Nobody()))
        assert read_run(tmp_path).outcome.status == "running"
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE_S)
    assert finish(tmp_path)[-1].startswith("played finished ")
    assert same_run(read_run(tmp_path), read_run(undisturbed)) == []


def test_a_run_whose_folder_was_removed_and_begun_anew_by_another_process_is_no_longer_written(
    tmp_path: Path, undisturbed: Path
) -> None:
    folder = tmp_path / "run"
    first = start(folder)
    second: subprocess.Popen[str] | None = None
    try:
        assert first.stdout is not None
        for _ in range(3):
            first.stdout.readline()
        first.send_signal(signal.SIGSTOP)  # it stays in the middle of the run
        shutil.rmtree(folder)
        second = start(folder)
        assert second.stdout is not None
        assert second.stdout.readline() == "asked\n"  # both are writing now, each with a lock
        first.send_signal(signal.SIGCONT)
        _, errors = first.communicate(timeout=DEADLINE_S)
        assert first.returncode != 0
        assert "RecordError" in errors
        assert "was removed or replaced while the run was being written" in errors
        assert second.communicate(timeout=DEADLINE_S)[0].endswith(f"played finished 0 {TURNS}\n")
    finally:
        for process in (first, *([second] if second else [])):
            process.kill()
            process.communicate(timeout=DEADLINE_S)
    assert same_run(read_run(folder), read_run(undisturbed)) == []


def test_a_file_that_a_kill_left_torn_says_so_and_is_resumed(tmp_path: Path, undisturbed: Path) -> None:
    process = start(tmp_path)
    assert process.stdout is not None
    for _ in range(4):
        process.stdout.readline()
    process.kill()
    process.communicate(timeout=DEADLINE_S)
    path = tmp_path / "turns.jsonl"
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.warns(RecordWarning, match="cut short"):
        kept = [turn.turn for turn in read_run(tmp_path).turns()]
    assert finish(tmp_path)[-1] == f"played finished {len(kept)} {TURNS - len(kept)}"
    assert same_run(read_run(tmp_path), read_run(undisturbed)) == []
    assert json.loads((tmp_path / "run.json").read_bytes())["outcome"]["status"] == "finished"


def test_ctrl_c_ends_a_process_between_turns_and_the_run_goes_on_later(tmp_path: Path, undisturbed: Path) -> None:
    process = start(tmp_path)
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = len(list(read_run(tmp_path).turns()))
    assert read_run(tmp_path).outcome.status == "running"
    assert finish(tmp_path)[-1] == f"played finished {kept} {TURNS - kept}"
    assert same_run(read_run(tmp_path), read_run(undisturbed)) == []
