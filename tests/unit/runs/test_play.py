"""Runs: played, killed at any line, resumed, replayed."""

# ruff: noqa: ARG002 -- a policy takes an observation that it need not look at

from __future__ import annotations

import asyncio
import errno
import json
import os
from pathlib import Path

import attrs
import pytest

from ycbench_agents.base import Decision, PolicyStoppedError, Turn, TurnError, policy_seed
from ycbench_agents.runs import (
    Run,
    RunBusyError,
    RunError,
    RunIdentity,
    RunMismatchError,
    RunWarning,
    play_run,
    read_run,
    replay_run,
    same_run,
)
from ycbench_agents.runs.store import locked
from ycbench_env import Observation
from ycbench_env.text import JsonObject

TURNS = 5


class Resuming:
    """Resumes time in each turn, and remembers its seed."""

    def __init__(self) -> None:
        self.seed: int | None = None

    def reset(self, seed: int) -> None:
        self.seed = seed

    def act(self, observation: Observation) -> Turn:
        return ("company status", "sim resume")


class Deliberating(Resuming):
    """Asks somebody who may stop answering."""

    def __init__(self, stop_after: int | None = None) -> None:
        super().__init__()
        self.asked = 0
        self._stop_after = stop_after

    async def decide(self, observation: Observation) -> Decision:
        if self._stop_after is not None and self.asked >= self._stop_after:
            msg = "the server is away"
            raise PolicyStoppedError(msg)
        self.asked += 1
        trace: JsonObject = {"reply": "sim resume", "prompt_tokens": 7, "cost_usd": 0.1}
        return Decision("sim resume", trace, {"latency_s": 0.5})

    def recall(self, observation: Observation, trace: JsonObject) -> Turn:
        return str(trace["reply"])


class Says(Resuming):
    """Says one thing."""

    def __init__(self, said: object) -> None:
        super().__init__()
        self._said = said

    def act(self, observation: Observation) -> Turn:
        return self._said  # pyright: ignore[reportReturnType] -- on purpose


def identity(seed: int = 1) -> RunIdentity:
    return RunIdentity.of("default", seed, "resuming", settings={"parameters": {}}, max_turns=TURNS)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return play_run(tmp_path / "run", identity(), Resuming())


def test_a_finished_run_reads_back_equal_and_replays(run: Run) -> None:
    assert run.is_finished
    assert run.outcome.turns == TURNS
    assert read_run(run.folder) == run
    assert replay_run(run, Resuming()).is_equal
    assert [turn.turn for turn in run.turns()] == [1, 2, 3, 4, 5]


def test_a_finished_run_is_left_alone(run: Run) -> None:
    before = {path: path.read_bytes() for path in run.folder.iterdir()}
    assert play_run(run.folder, identity(), Says(None)) == run
    assert {path: path.read_bytes() for path in run.folder.iterdir()} == before


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("torn", [b"", b'{"turn": 9', b'{"turn"\n'])
def test_a_run_killed_at_any_line_resumes_to_an_equal_run(run: Run, tmp_path: Path, size: int, torn: bytes) -> None:
    folder = tmp_path / "killed"
    folder.mkdir()
    lines = (run.folder / "turns.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "turns.jsonl").write_bytes(b"".join(lines[:size]) + torn)
    values = json.loads((run.folder / "run.json").read_text())
    values["outcome"] = {"status": "running"}
    (folder / "run.json").write_text(json.dumps(values))
    if torn:
        with pytest.warns(RunWarning, match="cut short"):
            resumed = play_run(folder, identity(), Resuming())
    else:
        resumed = play_run(folder, identity(), Resuming())
    assert same_run(run, resumed) == []


def test_lost_turns_are_played_again(run: Run) -> None:
    path = run.folder / "turns.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    with pytest.warns(RunWarning, match="has 5 turns"):
        assert len(list(run.turns())) == 2
    assert run.lost_turns() == 3
    with pytest.warns(RunWarning, match="has 5 turns"):
        assert play_run(run.folder, identity(), Resuming()).lost_turns() == 0


def test_another_run_is_refused_and_nothing_changes(run: Run) -> None:
    before = (run.folder / "run.json").read_bytes()
    with pytest.raises(RunMismatchError, match=r"seed: 1 \| 2"):
        play_run(run.folder, identity(2), Resuming())
    assert (run.folder / "run.json").read_bytes() == before


def test_a_policy_that_acts_otherwise_is_refused_or_begun_anew(run: Run) -> None:
    values = json.loads((run.folder / "run.json").read_text())
    (run.folder / "run.json").write_text(json.dumps({**values, "outcome": {"status": "running"}}))
    with pytest.raises(RunMismatchError, match="turn 1 is not as it was recorded"):
        play_run(run.folder, identity(), Says("help"))
    with pytest.warns(RunWarning, match=r"now\): action: .*; the run is played again from its start"):
        again = play_run(run.folder, identity(), Says("help"), begin_anew=True)
    assert [turn.action for turn in again.turns()] == ["help"] * TURNS


def test_the_policy_never_receives_the_run_seed(tmp_path: Path) -> None:
    policy = Resuming()
    play_run(tmp_path / "run", identity(12345), policy)
    assert policy.seed == policy_seed(12345) != 12345
    replay_run(tmp_path / "run", policy)
    assert policy.seed == policy_seed(12345)


def test_a_stopped_policy_leaves_a_run_to_resume_without_asking_twice(tmp_path: Path) -> None:
    run = play_run(tmp_path / "run", identity(), Deliberating(stop_after=2))
    assert (run.outcome.status, run.outcome.reason, run.outcome.turns) == ("stopped", "the server is away", 2)
    policy = Deliberating()
    run = play_run(tmp_path / "run", identity(), policy)
    assert (run.outcome.status, policy.asked) == ("finished", 3)
    assert run.outcome.totals == {
        "cost_usd": {"sum": 0.5, "unknown_turns": 0},
        "prompt_tokens": {"sum": 35, "unknown_turns": 0},
    }
    assert replay_run(run, Deliberating()).is_equal


def test_play_run_works_inside_an_event_loop(tmp_path: Path) -> None:
    async def main() -> Run:
        return play_run(tmp_path / "run", identity(), Deliberating())

    assert asyncio.run(main()).is_finished


@pytest.mark.parametrize("said", [None, 7, b"sim resume", [1]])
def test_what_is_no_turn_is_an_error_of_the_policy(tmp_path: Path, said: object) -> None:
    with pytest.raises(TurnError, match="policy Says, turn 1"):
        play_run(tmp_path / "run", identity(), Says(said))


def test_a_decision_that_is_none_is_an_error_of_the_policy(tmp_path: Path) -> None:
    class Undecided(Deliberating):
        async def decide(self, observation: Observation) -> Decision:
            return "sim resume"  # pyright: ignore[reportReturnType] -- on purpose

    class Vague(Deliberating):
        async def decide(self, observation: Observation) -> Decision:
            return Decision("sim resume", [])  # pyright: ignore[reportArgumentType] -- on purpose

    with pytest.raises(TurnError, match="expected a Decision"):
        play_run(tmp_path / "one", identity(), Undecided())
    with pytest.raises(TurnError, match="no object"):
        play_run(tmp_path / "two", identity(), Vague())


def test_two_processes_do_not_write_one_run(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with locked(tmp_path / "run" / "run.lock"), pytest.raises(RunBusyError, match="another process"):
        play_run(tmp_path / "run", identity(), Resuming())


def test_a_refusing_system_is_named_with_file_and_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(RunError, match=r"turns\.jsonl: cannot be written: No space"):
            play_run(tmp_path / "run", identity(), Resuming())
    assert (tmp_path / "run" / "turns.jsonl").read_bytes() == b""
    assert play_run(tmp_path / "run", identity(), Resuming()).is_finished
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot be written"):
        play_run(tmp_path / "file", identity(), Resuming())


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_without_sync_of_folders_takes_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    fsync = os.fsync

    def refuse_folders(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):  # noqa: PTH112 -- of a descriptor
            raise OSError(number, "no such call")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse_folders)
    assert play_run(tmp_path / "run", identity(), Resuming()).is_finished


def test_replay_names_the_first_turn_that_differs(run: Run) -> None:
    path = run.folder / "turns.jsonl"
    path.write_text(path.read_text().replace('"forced_advance":false', '"forced_advance":true', 1))
    report = replay_run(run)
    assert report.differences == ("turn 1: forced_advance: true | false",)
    assert same_run(run, run) == []


def test_replay_compares_the_outcome_too(run: Run) -> None:
    altered = attrs.evolve(run, outcome=attrs.evolve(run.outcome, final_funds_cents=1))
    assert "final_funds_cents" in replay_run(altered).differences[0]
    longer = attrs.evolve(run, identity=attrs.evolve(run.identity, max_turns=9))
    assert "the episode goes on after turn 5" in replay_run(longer).differences[0]


def test_replay_compares_what_the_policy_does(run: Run) -> None:
    assert "action" in replay_run(run, Says("help")).differences[0]
    assert "deliberates" in replay_run(run, Deliberating()).differences[0]


def test_runs_of_different_labels_have_different_portable_names() -> None:
    names = {identity().folder_name(*labels) for labels in ((), ("a",), ("b",), ("A/../b",))}
    assert len(names) == 4
    assert all(name.replace("-", "").replace("_", "").isalnum() and name.islower() for name in names)
    assert identity(2).folder_name("a") != identity().folder_name("a")


@pytest.mark.parametrize("turns", [0, True, 1.5])
def test_a_limit_of_turns_is_a_positive_whole_number(turns: object) -> None:
    with pytest.raises(RunError, match="max_turns"):
        RunIdentity.of("default", 1, "x", max_turns=turns)  # pyright: ignore[reportArgumentType] -- on purpose


def test_settings_are_json() -> None:
    with pytest.raises(RunError, match="settings: cannot be recorded"):
        RunIdentity.of("default", 1, "x", settings={"a": object()})  # pyright: ignore[reportArgumentType] -- on purpose
