"""Whole evaluations: what one policy does costs its own episodes only, and whoever kills a sweep can go on."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ycbench_agents.evaluation.reading import read_evaluation
from ycbench_agents.evaluation.report import write_report
from ycbench_agents.records import replay_run, same_run
from ycbench_agents.registry import make_policy

_TROUBLE = """
import os
import signal
import time


class Quiet:
    def reset(self, seed):
        pass

    def act(self, observation):
        return "sim resume" if observation["active_tasks"] else self.trouble()

    def trouble(self):
        return "market browse --limit 1"


class Raises(Quiet):
    def trouble(self):
        raise LookupError("a key of the policy: " + os.environ.get("TROUBLE_API_KEY", ""))


class Leaves(Quiet):
    def trouble(self):
        raise SystemExit(3)


class Loops(Quiet):
    def trouble(self):
        while True:
            pass


class Sleeps(Quiet):
    def trouble(self):
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass


class Allocates(Quiet):
    def trouble(self):
        memory = []
        while True:
            memory.append(bytearray(10_000_000))


class Stops(Quiet):
    def trouble(self):
        os.kill(os.getpid(), signal.SIGSTOP)


class Closes(Quiet):
    def trouble(self):
        os.write(1, b"no result")
        os.closerange(0, 256)
        return "sim resume"


class Ends(Quiet):
    def trouble(self):
        os._exit(0)


class Kills(Quiet):
    def trouble(self):
        os.kill(os.getpid(), signal.SIGKILL)
"""
_MIXTURES = """
[[policies]]
name = "mixture"
label = "ends within"
parameters = { policy = "trouble:Ends", other = "greedy", epsilon = 0.1 }

[[policies]]
name = "mixture"
label = "loops within"
parameters = { policy = "trouble:Loops", other = "greedy", epsilon = 0.1 }
"""
_HELD_OFF = (
    "EpisodeTimeoutError: took longer than 2 seconds and did not let itself be interrupted; "
    "see limits.seconds of the suite"
)
_SUITE = """
name = "trouble"
presets = ["default"]
seeds = [1]
limits = {{ seconds = 2, memory_mib = 128, max_turns = 12 }}
{policies}
"""


def _write_suite(folder: Path, names: list[str]) -> Path:
    rows = "".join(f'[[policies]]\nname = "{name}"\nlabel = "{name.rpartition(":")[2]}"\n' for name in names)
    path = folder / "trouble.toml"
    path.write_text(_SUITE.format(policies=rows), encoding="utf-8")
    return path


def _command(suite: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "ycbench_agents.cli", "evaluate", str(suite), "--processes", "2", *options]


def _evaluate(folder: Path, suite: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "TROUBLE_API_KEY": "not-to-be-told-to-anybody"}
    return subprocess.run(
        _command(suite, "--out", str(folder / "out"), *options),
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def test_what_one_policy_does_costs_its_own_episodes_only_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "trouble.py").write_text(_TROUBLE, encoding="utf-8")
    troubles = ["Raises", "Leaves", "Loops", "Sleeps", "Allocates", "Stops", "Closes", "Ends", "Kills"]
    suite = _write_suite(tmp_path, [*[f"trouble:{name}" for name in troubles], "trouble:Quiet", "greedy"])
    suite.write_text(suite.read_text("utf-8") + _MIXTURES, encoding="utf-8")
    done = _evaluate(tmp_path, suite)
    evaluation = read_evaluation(tmp_path / "out")
    reasons = {episode.key.policy: episode.reason for episode in evaluation.episodes}
    assert done.returncode == 1
    assert reasons == {
        "Raises": "LookupError: withheld: it holds the value of the environment variable TROUBLE_API_KEY",
        "Leaves": "SystemExit: 3",
        "Loops": "EpisodeTimeoutError: took longer than 2 seconds; see limits.seconds of the suite",
        "Sleeps": _HELD_OFF,
        "Allocates": "MemoryError: needed more than 128 MiB; see limits.memory_mib of the suite",
        "Stops": _HELD_OFF,
        "Closes": "WorkerLostError: ended the process that played it, also when it was played again",
        "Ends": "WorkerLostError: ended the process that played it, also when it was played again",
        "Kills": "WorkerLostError: ended the process that played it, also when it was played again",
        "Quiet": None,
        "greedy": None,
        "ends within": "WorkerLostError: ended the process that played it, also when it was played again",
        "loops within": "EpisodeTimeoutError: took longer than 2 seconds; see limits.seconds of the suite",
    }
    assert all(f"failed: {name}, default, seed 1: " in done.stderr for name in troubles)
    assert len(evaluation.measures()) == 2
    assert "no result" in done.stderr
    assert "no result" not in done.stdout
    assert "not-to-be-told" not in done.stderr + (tmp_path / "out" / "failures.json").read_text("ascii")


def _kill_at(folder: Path, suite: Path, moment: int, kind: signal.Signals) -> int:
    """Start an evaluation, send a signal once it has added so many lines of turns, and return the exit code."""
    moment += _turns(folder / "out")
    process = subprocess.Popen(
        _command(suite, "--out", str(folder / "out"), "--quiet"),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while process.poll() is None and _turns(folder / "out") < moment:
        time.sleep(0.01)
    if kind is signal.SIGINT and process.poll() is None:
        os.killpg(process.pid, kind)  # as a terminal does, to every process of the sweep
    else:
        process.send_signal(kind)
    code = process.wait(timeout=60)
    _wait_for_the_end_of_all(process.pid)
    return code


def _wait_for_the_end_of_all(group: int) -> None:
    """Wait until no process of a sweep is left; a worker that waits for jobs does so for minutes."""
    end = time.monotonic() + 60  # for one that never ends; nothing is measured
    while _is_anybody_left(group):
        assert time.monotonic() < end
        time.sleep(0.05)


def _is_anybody_left(group: int) -> bool:
    """Return whether a process of a group runs, as far as the system has /proc."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = path.read_text("ascii", "replace").rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                return True
    return False


def _turns(out: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in out.glob("runs/*/turns.jsonl"))


@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_ctrl_c_while_the_workers_begin_is_told_in_words_alone(seconds: float, tmp_path: Path) -> None:
    suite = tmp_path / "patient.toml"
    suite.write_text(_PATIENT, encoding="utf-8")
    process = subprocess.Popen(
        _command(suite, "--out", str(tmp_path / "out")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    while not any((tmp_path / "out").glob("suite.json")):
        time.sleep(0.01)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "interrupted; the same command goes on\n" in said


def _assert_same(first: Path, second: Path) -> None:
    assert (first / "results.json").read_bytes() == (second / "results.json").read_bytes()
    one, other = read_evaluation(first), read_evaluation(second)
    for left, right in zip(one.episodes, other.episodes, strict=True):
        assert left.record is not None
        assert right.record is not None
        assert same_run(left.record, right.record) == []
    assert _report(first) == _report(second)


def _report(out: Path) -> tuple[str, str]:
    """Return the page and the Markdown of a report without the section of times, which may differ."""
    written = write_report(read_evaluation(out), out)
    page, text = (path.read_text(encoding="utf-8") for path in (written.html, written.markdown))
    cut_page, pages = re.subn(r'(?s)<section id="times">.*?</section>', "", page)
    cut_text, texts = re.subn(r"(?s)## Times, .*?(?=## )", "", text)
    assert (pages, texts) == (1, 1)
    return cut_page, cut_text


_PATIENT = """
name = "patient"
presets = ["default"]
seeds = [1, 2]
limits = { max_turns = 50 }
policies = [{ name = "expert" }, { name = "throughput" }, { name = "greedy" }]
"""


def test_a_sweep_that_was_killed_again_and_again_gives_the_same_results(tmp_path: Path) -> None:
    suite = tmp_path / "patient.toml"
    suite.write_text(_PATIENT, encoding="utf-8")
    for name in ("killed", "whole"):
        (tmp_path / name).mkdir()
    moments = random.Random(20260401)  # noqa: S311 -- no secret; so few lines that no signal comes too late
    kinds = (signal.SIGKILL, signal.SIGINT, signal.SIGKILL)
    codes = [_kill_at(tmp_path / "killed", suite, moments.randint(1, 40), kind) for kind in kinds]
    assert codes == [-signal.SIGKILL, 130, -signal.SIGKILL]
    assert 3 <= _turns(tmp_path / "killed" / "out") < 6 * 50
    again, whole = (_evaluate(tmp_path / name, suite, "--json") for name in ("killed", "whole"))
    assert (again.returncode, whole.returncode) == (0, 0)
    assert again.stdout == whole.stdout == (tmp_path / "whole" / "out" / "results.json").read_text("ascii")
    _assert_same(tmp_path / "killed" / "out", tmp_path / "whole" / "out")
    _assert_table_equals_records(tmp_path / "whole" / "out")


def _assert_table_equals_records(out: Path) -> None:
    """Compare, to the cent, the table with the sum of rewards and with the records played again."""
    evaluation, results = read_evaluation(out), json.loads((out / "results.json").read_text("ascii"))
    starts = {preset.label: preset.config.world.initial_funds_cents for preset in evaluation.suite.presets}
    for row in results["leaderboard"]:
        funds: list[int] = []
        for episode in evaluation.episodes:
            if (episode.key.policy, episode.key.preset) != (row["policy"], row["preset"]):
                continue
            record = episode.record
            assert record is not None
            assert replay_run(record.folder, make_policy(record.identity.policy)).is_equal
            rewards_cents = sum(round(turn.reward * 100) for turn in record.turns())
            funds.append(starts[episode.key.preset] + rewards_cents)
        bankrupt = sum(each < 0 for each in funds)
        assert row["bankrupt"] == bankrupt
        assert row["score_cents"] * len(funds) == pytest.approx(sum(max(each, 0) for each in funds), abs=len(funds) / 2)
