"""Playing suites: equal results however they are played, faults of policies, files, held-out seeds."""

from __future__ import annotations

import contextlib
import errno
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents.cli import main
from ycbench_agents.evaluation import Evaluation, Progress, SuiteError, leaderboard, play_suite, read_evaluation
from ycbench_agents.evaluation import workers as workers_module
from ycbench_agents.evaluation.evaluate import resume_evaluation
from ycbench_agents.evaluation.factory import Trusted
from ycbench_agents.evaluation.results import Episode, run_folder
from ycbench_agents.evaluation.suite import EpisodeKey
from ycbench_agents.evaluation.workers import BackendName, Job, Report, WorkersError, play_job
from ycbench_agents.files import FileError
from ycbench_agents.registry import PolicyError
from ycbench_agents.runs import RunBusyError, RunError, RunIdentity, RunWarning, TurnRecord
from ycbench_agents.runs.store import locked
from ycbench_env import MissingExtraError

FAULTS = {
    "Raises": "RuntimeError: boom at 0x... (faulty.py:",
    "ReturnsNone": "TurnError: policy ReturnsNone, turn 1: act returned NoneType",
    "Hangs": "TimeLimit: took longer than 1 seconds",
    "EatsMemory": "MemoryLimit: needed more than 4096 MiB",
    "Exits": "ProcessEnded: ended its process with exit code 3",
    "SysExits": "SystemExit: enough",
    "KillsItself": "ProcessEnded: its process was ended by signal 9 (SIGKILL)",
    "CannotBeMade": "ValueError: not today",
}


class Seen(Progress):
    """Remembers the calls."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int]] = []
        self.runs: dict[EpisodeKey, RunIdentity] = {}
        self.turns: list[TurnRecord] = []
        self.ended: dict[EpisodeKey, Episode] = {}
        self.warnings: list[str] = []
        self.ticks = 0

    def begin(self, total: int, done: int) -> None:
        self.begun.append((total, done))

    def started(self, key: EpisodeKey, run: RunIdentity) -> None:
        self.runs[key] = run

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        assert key in self.runs
        self.turns.append(turn)

    def finished(self, key: EpisodeKey, episode: Episode) -> None:
        self.ended[key] = episode

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    def tick(self) -> None:
        self.ticks += 1


def results(folder: Path) -> bytes:
    return (folder / "results.json").read_bytes()


@pytest.fixture(scope="module")
def kept(small: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an evaluation that is played once and never changed."""
    return play_suite(small, tmp_path_factory.mktemp("kept") / "e", workers=2).folder


@pytest.fixture
def played(kept: Path, tmp_path: Path) -> Evaluation:
    """Return a copy of it to change."""
    return read_evaluation(shutil.copytree(kept, tmp_path / "played"))


# ---------------------------------------------------------------- equal results


def test_results_are_equal_with_one_worker_and_two(played: Evaluation, small: dict[str, Any], tmp_path: Path) -> None:
    seen = Seen()
    play_suite(small, tmp_path / "other", workers=1, progress=seen)
    assert results(tmp_path / "other") == results(played.folder)
    assert seen.begun == [(4, 0)]
    assert set(seen.runs) == set(seen.ended) == set(played.suite.episodes())
    assert {episode.status for episode in seen.ended.values()} == {"finished"}
    assert seen.turns
    assert seen.ticks


def test_the_same_call_plays_nothing_again(played: Evaluation, small: dict[str, Any]) -> None:
    before = {path: path.read_bytes() for path in played.folder.rglob("*.json*")}
    seen = Seen()
    play_suite(small, played.folder, progress=seen)
    assert seen.begun == [(0, 4)]
    assert {path: path.read_bytes() for path in played.folder.rglob("*.json*")} == before


def test_damaged_episodes_are_played_again_to_equal_results(played: Evaluation, small: dict[str, Any]) -> None:
    before = results(played.folder)
    no_files, cut, garbage, no_metrics = sorted(played.folder.glob("run-*"))
    (no_files / "run.json").unlink()
    (no_files / "turns.jsonl").unlink()
    lines = (cut / "turns.jsonl").read_bytes().splitlines(keepends=True)
    (cut / "turns.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:20])
    (garbage / "run.json").write_text("no JSON")
    (no_metrics / "metrics.json").unlink()
    seen = Seen()
    play_suite(small, played.folder, progress=seen)
    assert seen.begun == [(4, 0)]
    assert results(played.folder) == before


def test_a_part_of_the_policies_leaves_the_rest_missing(small: dict[str, Any], tmp_path: Path) -> None:
    suite = {**small, "seeds": [1]}
    evaluation = play_suite(suite, tmp_path / "e", policies=["idle"])
    assert [episode.status for episode in evaluation.episodes] == ["missing", "finished"]
    assert not leaderboard(evaluation)[1].is_complete
    with pytest.raises(SuiteError, match="expected labels of the suite"):
        play_suite(suite, tmp_path / "e", policies=["nobody"])
    with pytest.raises(SuiteError, match="expected labels of the suite"):
        play_suite(suite, tmp_path / "e", policies="idle")


def test_repeats_and_equal_rows_have_runs_of_their_own(small: dict[str, Any], tmp_path: Path) -> None:
    rows = [{"name": "idle"}, {"name": "idle", "label": "twin"}]
    evaluation = play_suite({**small, "policies": rows, "seeds": [1], "repeats": 2}, tmp_path / "e")
    folders = {episode.run.folder for episode in evaluation.episodes if episode.run}
    assert len(folders) == 4


def test_the_frame_has_a_row_an_episode_and_metrics(played: Evaluation) -> None:
    frame = played.frame()
    assert list(frame["policy"]) == ["greedy", "greedy", "idle", "idle"]
    assert list(frame.columns[:4]) == ["policy", "preset", "seed", "repeat"]
    assert set(frame["status"]) == {"finished"}
    assert frame["score_cents"].sum() == sum(episode.score_cents or 0 for episode in played.episodes)
    assert frame["commands"].notna().all()


def test_an_episode_that_cannot_be_measured_has_failed_in_the_frame(played: Evaluation) -> None:
    folder = next(played.folder.glob("run-greedy-default-seed1-*"))
    (folder / "metrics.json").unlink()
    path = folder / "turns.jsonl"
    path.write_text(path.read_text().replace('"invalid_commands":0', '"invalid_commands":1', 1))
    with pytest.warns(RunWarning, match="cannot be measured"):
        frame = read_evaluation(played.folder).frame()
    assert list(frame["status"]) == ["failed", "finished", "finished", "finished"]
    assert frame["score_cents"].isna().sum() == 1


# ---------------------------------------------------------------- faults of policies


def by_run(_folder: Path, policies: list[str], seconds: int, *more: str) -> int:
    return main(["run", "--policy", *policies, "--timeout", str(seconds), "--json", *more])


def by_run_with_records(folder: Path, policies: list[str], seconds: int) -> int:
    return by_run(folder, policies, seconds, "--records", str(folder / f"out{seconds}"))


def by_evaluate(folder: Path, policies: list[str], seconds: int) -> int:
    rows = ", ".join(f'{{ name = "{policy}" }}' for policy in policies)
    text = f"""
    name = "faults"
    presets = ["default"]
    seeds = [1]
    limits = {{ seconds = {seconds} }}
    policies = [{rows}]
    """
    (folder / "faults.toml").write_text(text)
    return main(["evaluate", "faults.toml", "--out", str(folder / f"out{seconds}"), "--json"])


def by_play_suite(folder: Path, policies: list[str], seconds: int) -> int:
    suite: dict[str, Any] = {"name": "faults", "presets": ["default"], "seeds": [1], "limits": {"seconds": seconds}}
    evaluation = play_suite({**suite, "policies": [{"name": each} for each in policies]}, folder / f"out{seconds}")
    sys.stdout.write((evaluation.folder / "results.json").read_text())
    return int(any(episode.status == "failed" for episode in evaluation.episodes))


@pytest.mark.parametrize("door", [by_run, by_run_with_records, by_evaluate, by_play_suite])
def test_a_fault_costs_its_own_episodes_and_is_named(
    faulty: Path, capfd: pytest.CaptureFixture[str], door: Callable[[Path, list[str], int], int]
) -> None:
    episodes: dict[str, dict[str, Any]] = {}
    rows: dict[str, dict[str, Any]] = {}
    # Only what hangs anyway has a limit that a slow machine could reach.
    for policies, seconds in ((["Fine", *(fault for fault in FAULTS if fault != "Hangs")], 600), (["Hangs"], 1)):
        assert door(faulty, [f"faulty:{policy}" for policy in policies], seconds) == 1
        document = json.loads(capfd.readouterr().out)
        episodes |= {each["policy"].removeprefix("faulty:"): each for each in document["episodes"]}
        rows |= {row["policy"].removeprefix("faulty:"): row for row in document["leaderboard"]}
    assert episodes["Fine"]["status"] == "finished"
    for fault, reason in FAULTS.items():
        assert (episodes[fault]["status"], reason in episodes[fault]["reason"]) == ("failed", True)
        row = rows[fault]
        assert (row["failed"], row["score_cents"], row["score_failed_as_zero_cents"]) == (1, None, 0)


def test_failed_episodes_are_tried_again(faulty: Path, small: dict[str, Any]) -> None:
    suite = {**small, "policies": [{"name": "faulty:Raises"}], "seeds": [1]}
    evaluation = play_suite(suite, faulty / "e")
    reason = str(evaluation.episodes[0].reason)
    assert re.fullmatch(r"RuntimeError: boom at 0x\.\.\. \(faulty\.py:\d+ in act, turn 1\)", reason)
    assert "boom" in (faulty / "e" / "failures.json").read_text()
    before = results(faulty / "e")
    play_suite(suite, faulty / "e")
    assert results(faulty / "e") == before
    (faulty / "faulty.py").write_text((faulty / "faulty.py").read_text().replace("raise RuntimeError", "return str"))
    assert play_suite(suite, faulty / "e").episodes[0].status == "finished"
    assert not (faulty / "e" / "failures.json").exists()
    with pytest.warns(RunWarning, match="faulty:Raises: 1 finished episode is kept; after changing the class"):
        play_suite(suite, faulty / "e")


def test_keys_of_the_environment_stand_in_no_failure(
    faulty: Path, small: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789abcdef")
    text = "raise RuntimeError(os.environ['SOME_API_KEY'])"
    (faulty / "faulty.py").write_text((faulty / "faulty.py").read_text().replace("return None", text))
    evaluation = play_suite({**small, "policies": [{"name": "faulty:ReturnsNone"}], "seeds": [1]}, faulty / "e")
    assert str(evaluation.episodes[0].reason).startswith("RuntimeError: [redacted] (")
    assert not any("sk-0123" in path.read_text() for path in (faulty / "e").rglob("*.json*"))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"name": "gready"}, "did you mean 'greedy'"),
        ({"name": "greedy", "parameters": {"depth": 2}}, "depth"),
        ({"name": "faulty:Fin"}, "did you mean Fine"),
        ({"name": "faulty:Fine", "parameters": {"depth": 2}}, "depth"),
        ({"name": "fault:Fine"}, "there is no module fault"),
        ({"name": "mixture", "parameters": {"other": "faulty:Fin"}}, "did you mean Fine"),
    ],
)
def test_a_slip_in_a_policy_is_refused_before_anything_is_played(
    faulty: Path, small: dict[str, Any], policy: dict[str, Any], message: str
) -> None:
    with pytest.raises(PolicyError, match=message):
        play_suite({**small, "policies": [{"name": "idle"}, {**policy, "label": "it"}]}, faulty / "e")
    assert not (faulty / "e").exists()


def test_a_module_that_fails_when_imported_costs_its_episodes(faulty: Path, small: dict[str, Any]) -> None:
    (faulty / "broken.py").write_text("raise RuntimeError('not importable today')")
    suite = {**small, "policies": [{"name": "broken:Any"}, {"name": "idle"}], "seeds": [1]}
    evaluation = play_suite(suite, faulty / "e")
    assert [episode.status for episode in evaluation.episodes] == ["failed", "finished"]
    assert "not importable today" in str(evaluation.episodes[0].reason)
    assert "broken" not in sys.modules


def test_a_mixture_with_a_class_of_ones_own_plays(faulty: Path, small: dict[str, Any]) -> None:
    row = {"name": "mixture", "parameters": {"policy": "faulty:Fine", "other": "idle", "epsilon": 0.5}}
    assert play_suite({**small, "policies": [row], "seeds": [1]}, faulty / "e").episodes[0].status == "finished"


def test_processes_that_a_policy_begins_end_with_its_episode(faulty: Path, small: dict[str, Any]) -> None:
    code = """
import subprocess, sys
class Spawns:
    def reset(self, seed):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        open("child.txt", "w").write(str(child.pid))
    def act(self, observation):
        return "sim resume"
"""
    (faulty / "spawning.py").write_text(code)
    play_suite({**small, "policies": [{"name": "spawning:Spawns"}], "seeds": [1]}, faulty / "e")
    pid = int((faulty / "child.txt").read_text())
    for _ in range(100):
        if not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes():
            return
        time.sleep(0.05)
    pytest.fail("the process is still there")


def test_a_spawned_process_plays_as_a_forked_one(
    played: Evaluation, small: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = results(played.folder)
    shutil.rmtree(next(played.folder.glob("run-idle-default-seed1-*")))
    monkeypatch.setattr(workers_module, "_METHOD", "spawn")
    play_suite(small, played.folder)
    assert results(played.folder) == before


# ---------------------------------------------------------------- from anywhere


def _evaluate_in_a_pool(arguments: tuple[dict[str, Any], Path]) -> str:
    return play_suite(arguments[0], arguments[1], workers=1).episodes[0].status


def test_a_daemonic_process_may_play_a_suite(small: dict[str, Any], tmp_path: Path) -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(_evaluate_in_a_pool, [({**small, "seeds": [1]}, tmp_path / "e")]) == ["finished"]


def test_a_removed_working_directory_is_named(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(RunError, match=r"e: the working directory was removed \(getcwd"):
        play_suite(small, "e")


def test_a_process_that_cannot_be_had_is_named(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> int:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    with pytest.raises(WorkersError, match=r"cannot be started \(fork: Resource temporarily unavailable\)"):
        play_suite(small, tmp_path / "e")


def test_a_folder_that_cannot_be_made_is_named(small: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="file/e: cannot be written"):
        play_suite(small, tmp_path / "file" / "e")


def test_two_do_not_play_into_one_folder(small: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "e").mkdir()
    with locked(tmp_path / "e" / "evaluation.lock"), pytest.raises(RunBusyError, match="choose another folder"):
        play_suite(small, tmp_path / "e")


def test_ctrl_c_keeps_what_is_finished(faulty: Path, small: dict[str, Any]) -> None:
    policies = [{"name": "idle"}, {"name": "faulty:Hangs"}]
    suite = {**small, "policies": policies, "seeds": [1], "limits": {"seconds": 60}}

    class Interrupting(Seen):
        def tick(self) -> None:
            if self.ended:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_suite(suite, faulty / "e", workers=2, progress=Interrupting())
    there = read_evaluation(faulty / "e")
    assert [episode.status for episode in there.episodes] == ["finished", "missing"]
    assert json.loads(results(faulty / "e"))["missing"] == 1


# ---------------------------------------------------------------- files


def test_held_out_evaluations_name_their_seeds_in_everything_public(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "987654321987654321"  # noqa: S105 -- a seed
    monkeypatch.setenv("SECRETS", secret)
    suite = {**small, "policies": [{"name": "idle"}], "seeds": {"variable": "SECRETS"}}
    played = play_suite(suite, tmp_path / "e")
    public = [(tmp_path / "e" / name).read_text() for name in ("suite.json", "results.json")]
    assert not any(secret in text for text in (*public, played.frame().to_csv()))
    monkeypatch.delenv("SECRETS")
    again = read_evaluation(tmp_path / "e")
    assert [str(episode.key) for episode in again.episodes] == ["idle, default, seed h1"]
    assert {episode.status for episode in again.episodes} == {"finished"}
    (tmp_path / "e" / "seeds.json").unlink()
    with pytest.raises(SuiteError, match="play its TOML file"):
        play_suite(read_evaluation(tmp_path / "e").suite, tmp_path / "e")


def test_files_of_an_older_version_are_refused_with_its_name(played: Evaluation, small: dict[str, Any]) -> None:
    path = played.folder / "suite.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 1}))
    for call in (lambda: read_evaluation(played.folder), lambda: play_suite(small, played.folder)):
        with pytest.raises(RunError, match=r"got format 1, .*ycbench-env 0\.1\.0"):
            call()


@pytest.mark.parametrize(("name", "message"), [("suite.json", "not valid JSON"), ("failures.json", "expected a list")])
def test_damaged_files_are_begun_anew_with_a_warning(
    played: Evaluation, small: dict[str, Any], name: str, message: str
) -> None:
    before = results(played.folder)
    (played.folder / name).write_text("no JSON" if name == "suite.json" else '{"format": 2, "failures": 7}')
    with pytest.raises(RunError, match=message):
        read_evaluation(played.folder)
    with pytest.warns(RunWarning, match="begun anew"):
        play_suite(small, played.folder)
    assert results(played.folder) == before
    assert not (played.folder / "failures.json").exists()


def test_a_folder_without_an_evaluation_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="expected the folder of an evaluation"):
        read_evaluation(tmp_path)


@pytest.mark.parametrize("name", ["suite.json", "results.json", "failures.json"])
def test_links_in_an_evaluation_are_not_followed(played: Evaluation, small: dict[str, Any], name: str) -> None:
    victim = played.folder.parent / "victim"
    victim.write_text("precious")
    (played.folder / name).unlink(missing_ok=True)
    (played.folder / name).symlink_to(victim)
    with contextlib.suppress(RunError, FileError):
        play_suite(small, played.folder, progress=Seen())
    assert victim.read_text() == "precious"


def test_a_run_behind_a_link_is_none_of_the_evaluation(played: Evaluation) -> None:
    folder = next(played.folder.glob("run-greedy-default-seed1-*"))
    folder.rename(played.folder.parent / "elsewhere")
    folder.symlink_to(played.folder.parent / "elsewhere")
    assert read_evaluation(played.folder).episodes[0].status == "missing"


# ---------------------------------------------------------------- killed


class Killing(Seen):
    """Kills its own process when an episode is finished and another one has begun to play."""

    def turn(self, key: EpisodeKey, turn: TurnRecord) -> None:
        super().turn(key, turn)
        if self.ended:
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_evaluation_goes_on_to_equal_results(kept: Path, small: dict[str, Any], tmp_path: Path) -> None:
    arguments = {"workers": 1, "progress": Killing()}
    process = multiprocessing.get_context("fork").Process(None, play_suite, None, (small, tmp_path / "e"), arguments)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    seen = Seen()
    play_suite(small, tmp_path / "e", progress=seen)
    assert 1 <= seen.begun[0][0] <= 3
    assert results(tmp_path / "e") == results(kept)


@pytest.mark.slow
@pytest.mark.parametrize("door", ["run --records", "evaluate"])
def test_a_kill_at_ten_random_moments_changes_no_byte_of_the_results(tmp_path: Path, door: str) -> None:
    words = {
        "run --records": ["run", "--policy", "greedy", "random", "conservative", "--seeds", "1-3", "--records"],
        "evaluate": ["evaluate", str(Path(__file__).parents[3] / "configs/smoke.toml"), "--out"],
    }[door]
    command = [sys.executable, "-m", "ycbench_agents.cli", *words]

    def play(folder: Path, kill_after: float | None = None) -> int:
        process = subprocess.Popen([*command, str(folder), "--quiet"], stdout=subprocess.DEVNULL)  # noqa: S603 -- own
        timer = threading.Timer(kill_after or 3600, process.send_signal, [signal.SIGKILL])
        timer.start()
        code = process.wait()
        timer.cancel()
        return code

    began = time.monotonic()
    assert play(tmp_path / "whole") == 0
    length = time.monotonic() - began
    killed = tmp_path / "killed"
    for moment in range(10):
        if play(killed, length * (0.2 + 0.08 * moment)) == 0:
            shutil.rmtree(killed)  # it was faster this time
    again = ["resume", str(killed)] if door == "run --records" and (killed / "suite.json").exists() else None
    if again:
        assert subprocess.run([sys.executable, "-m", "ycbench_agents.cli", *again], check=False).returncode == 0  # noqa: S603 -- own
    else:
        assert play(killed) == 0
    assert results(killed) == results(tmp_path / "whole")


# ---------------------------------------------------------------- the process of an episode


def job_of(played: Evaluation, folder: Path | None = None) -> Job:
    """Return the job of its first episode, played into a folder or else again into its own."""
    first = played.episodes[0]
    assert first.identity is not None
    place = (folder or played.folder) / run_folder(first.key, first.identity)
    return Job(first.key, first.identity, place, played.suite.limits)


class _Unprintable(Exception):  # noqa: N818 -- a class of somebody's own
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (MemoryError(), "MemoryLimit: needed more than 4096 MiB"),
        (OSError(errno.ENOMEM, "no memory"), "MemoryLimit: needed more than 4096 MiB"),
        (OSError(errno.ENOENT, "not there"), "FileNotFoundError: [Errno 2] not there"),
        (_Unprintable(), "_Unprintable"),
        (ValueError("two\nlines\x1b[31m \u202e"), "ValueError: two lines\\x1b[31m \\u202e"),
        (ValueError("x" * 10_000), "ValueError: " + "x" * 500),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_any_error_becomes_a_failure_on_one_printable_line(
    played: Evaluation, monkeypatch: pytest.MonkeyPatch, error: BaseException, reason: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(workers_module, "_play", fail)
    report = play_job(job_of(played))
    assert report.failure is not None
    assert str(report.failure).startswith(reason)
    assert "\n" not in str(report.failure)
    assert len(report.failure) <= 520


def test_a_key_of_any_name_and_values_of_headers_stand_in_no_failure(
    played: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(text)

    text = "key-0123456789 and header-0123456789"
    monkeypatch.setattr(workers_module, "_play", fail)
    monkeypatch.setenv("OWN_NAME", "key-0123456789")
    job = job_of(played)
    identity = attrs.evolve(job.identity, settings={"api_key_variable": "OWN_NAME"})
    headers = {"Authorization": "Bearer header-0123456789"}
    report = play_job(attrs.evolve(job, identity=identity, headers=headers))
    assert report.failure == "RuntimeError: [redacted] and [redacted]"


def test_an_episode_is_played_and_measured_in_its_process(played: Evaluation, tmp_path: Path) -> None:
    job = job_of(played, tmp_path)
    turns: list[TurnRecord] = []
    report = play_job(job, turns.append)
    assert report.failure is None
    assert [turn.turn for turn in turns] == [1, 2, 3, 4, 5, 6]
    assert (job.folder / "metrics.json").exists()


def test_a_cluster_plays_until_it_fails(small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def on(play: Callable[[Job], Report]) -> Callable[..., Any]:
        @contextlib.contextmanager
        def cluster(_address: str | None) -> Generator[Callable[[Job], Future[Report]]]:
            with ThreadPoolExecutor(1) as pool:
                yield lambda job: pool.submit(play, job)

        return cluster

    def break_down(_job: Job) -> Report:
        raise OSError(errno.ECONNRESET, "gone")

    suite, seen = {**small, "policies": [{"name": "idle"}], "seeds": [1]}, Seen()
    monkeypatch.setattr(workers_module, "_dask", on(break_down))
    with pytest.raises(WorkersError, match=r"the cluster failed \(ConnectionResetError: .*gone"):
        play_suite(suite, tmp_path / "e", backend="dask")
    monkeypatch.setattr(workers_module, "_dask", on(workers_module._play_alone))
    evaluation = play_suite(suite, tmp_path / "e", backend="dask", progress=seen)
    assert evaluation.episodes[0].status == "finished"
    assert list(seen.runs) == [evaluation.episodes[0].key]


def test_a_job_of_a_cluster_ends_when_it_is_cancelled(played: Evaluation, tmp_path: Path) -> None:
    with pytest.raises(CancelledError):
        workers_module._play_alone(job_of(played, tmp_path), lambda: True)


@pytest.mark.parametrize("backend", ["ray", "dask"])
def test_a_cluster_without_its_library_names_the_extra(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: BackendName
) -> None:
    monkeypatch.setitem(sys.modules, {"ray": "ray", "dask": "distributed"}[backend], None)
    with pytest.raises(MissingExtraError, match=rf"pip install '\.\[{backend}\]'"):
        play_suite(small, tmp_path / "e", backend=backend)


def test_unfinished_runs_of_a_model_are_resumed_not_begun_anew(
    small: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    row = {"name": "llm", "model": "m", "base_url": "http://127.0.0.1:9/v1", "parameters": {"max_retries": 0}}
    evaluation = play_suite({**small, "policies": [row], "seeds": [1]}, tmp_path / "e", concurrency=2)
    assert str(evaluation.episodes[0].reason).startswith("PolicyStoppedError")
    assert evaluation.model("llm", "default") == "m"
    run = evaluation.episodes[0].run
    assert run is not None
    assert run.outcome.status == "stopped"
    (run.folder / "turns.jsonl").write_text("damage\n{}\n")
    before = (run.folder / "run.json").read_bytes()
    again = play_suite({**small, "policies": [row], "seeds": [1]}, tmp_path / "e")
    assert str(again.episodes[0].reason).startswith("RunError")
    assert (run.folder / "run.json").read_bytes() == before
    with pytest.raises(SuiteError, match="got no model"):
        play_suite({**small, "policies": [{"name": "llm"}]}, tmp_path / "e")
    with pytest.raises(SuiteError, match="policy 'llm': "):
        play_suite({**small, "policies": [{**row, "parameters": {"keep_turns": "x"}}]}, tmp_path / "e")


def test_resume_refuses_an_evaluation_of_another_version(played: Evaluation) -> None:
    path = played.folder / "suite.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "0.0.1"}))
    with pytest.raises(RunError, match=r"was begun by ycbench-env 0\.0\.1"):
        resume_evaluation(played.folder, Trusted())
