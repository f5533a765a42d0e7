"""Evaluations: what is finished is kept, what failed is tried again, what is damaged is played anew."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import filelock
import pytest

from ycbench_agents.base import PolicyStoppedError
from ycbench_agents.evaluation.backend import Pool, WorkerLostError
from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.job import Job
from ycbench_agents.evaluation.reading import read_evaluation
from ycbench_agents.evaluation.results import leaderboard
from ycbench_agents.evaluation.running import EvaluationBusyError, evaluate
from ycbench_agents.evaluation.sweep import play_jobs
from ycbench_agents.evaluation.worker import marker_of
from ycbench_agents.records import RecordError, RunOrigin, Runtime
from ycbench_agents.records.record import GitState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conftest import Bench

    from ycbench_agents.base import Json
    from ycbench_agents.evaluation.job import JobReport
    from ycbench_env import Observation

BAD = __name__ + ":"
SALT = "0123456789abcdef"
SECRET = f'seeds = {{ variable = "YCBENCH_HELDOUT_SEEDS", salt = "{SALT}" }}'


def test_every_planned_episode_is_there_whether_it_was_played_or_not(bench: Bench) -> None:
    played = bench.play("greedy")
    assert [(str(each.key), each.status) for each in played.evaluation.episodes] == [
        ("greedy, default, seed 1", "finished"),
        ("greedy, default, seed 2", "finished"),
        ("idle, default, seed 1", "missing"),
        ("idle, default, seed 2", "missing"),
    ]
    assert list(played.evaluation.measures()) == [EpisodeKey("greedy", "default", seed) for seed in "12"]


def test_finished_episodes_are_kept_and_the_results_are_the_same_byte_for_byte(bench: Bench) -> None:
    bench.play("greedy")
    written = bench.turns_of("greedy", 1).stat().st_mtime_ns
    bench.play()
    assert bench.watcher.begun == (2, 2, 0)
    assert bench.turns_of("greedy", 1).stat().st_mtime_ns == written
    first = bench.results()
    bench.play()
    assert bench.watcher.begun == (0, 4, 0)
    assert bench.results() == first


def test_a_run_that_was_cut_off_goes_on_to_the_same_end(bench: Bench) -> None:
    bench.play()
    first, turns = bench.results(), bench.turns_of("greedy", 1)
    whole = [json.loads(line) for line in turns.read_bytes().splitlines()]
    turns.write_bytes(turns.read_bytes()[:-40])
    bench.play()
    again = [json.loads(line) for line in turns.read_bytes().splitlines()]
    for each in (*whole, *again):
        del each["time"]
    assert again == whole
    assert bench.results() == first
    assert "the last line was cut short" in "\n".join(bench.watcher.told)


@pytest.mark.parametrize("damage", [b"{\n", b"", b'{"format": 1}'])
def test_a_damaged_record_is_begun_anew_with_a_warning(bench: Bench, damage: bytes) -> None:
    bench.play()
    first = bench.results()
    (bench.turns_of("idle", 2).parent / "run.json").write_bytes(damage)
    assert {each.status for each in read_evaluation(bench.out.path).episodes[3:]} == {"missing"}
    bench.play()
    assert bench.watcher.begun == (1, 3, 0)
    assert bench.watcher.told[0].startswith("begun anew: ")
    assert bench.results() == first


def test_turns_that_are_lost_from_a_finished_run_are_played_again(bench: Bench) -> None:
    bench.play()
    first, turns = bench.results(), bench.turns_of("greedy", 2)
    turns.write_bytes(b"".join(turns.read_bytes().splitlines(keepends=True)[:3]))
    bench.play()
    assert bench.watcher.begun == (1, 3, 0)
    assert turns.read_bytes().count(b"\n") == 6
    assert bench.results() == first


def test_a_bankrupt_company_counts_nothing_and_an_incomplete_policy_stands_last(bench: Bench) -> None:
    bench.text = bench.text.replace("limits = { max_turns = 6 }", "").replace("[1, 2]", "[3, 1]")
    rows = leaderboard(bench.play("idle").evaluation)
    assert [(row.policy, row.score_cents, row.bankrupt, row.is_complete) for row in rows] == [
        ("idle", 0, 2, True),
        ("greedy", None, 0, False),
    ]
    rows = leaderboard(bench.play().evaluation)
    seed_3, seed_1 = 0, 42_029_521  # with seed 3 it ends bankrupt at -16,303.05 dollars
    assert [(row.policy, row.score_cents, row.bankrupt, row.missing) for row in rows] == [
        ("greedy", round((seed_3 + seed_1) / 2), 1, 0),
        ("idle", 0, 2, 0),
    ]
    [episode] = [
        each for each in json.loads(bench.results())["episodes"] if (each["policy"], each["seed"]) == ("greedy", "3")
    ]
    assert (episode["final_funds_cents"], episode["terminal_reason"]) == (-1_630_305, "bankruptcy")
    assert episode["return_cents"] == -1_630_305 - 20_000_000


def test_a_run_that_another_version_played_is_played_anew(bench: Bench) -> None:
    bench.play()
    first, path = bench.results(), bench.turns_of("idle", 1).parent / "run.json"
    path.write_text(path.read_text("ascii").replace('"version": "', '"version": "0.0.'), "ascii")
    bench.play()
    assert bench.watcher.begun == (1, 3, 0)
    assert "holds another run" in bench.watcher.told[0]
    assert bench.results() == first


def test_measures_that_are_missing_or_of_another_version_are_made_again(bench: Bench) -> None:
    played = bench.play()
    measures = bench.turns_of("greedy", 1).parent / "measures.json"
    before = measures.read_bytes()
    measures.write_bytes(b"{}")
    assert read_evaluation(bench.out.path).measures() == played.evaluation.measures()  # made, but not written
    assert measures.read_bytes() == b"{}"
    bench.play()
    assert bench.watcher.begun == (1, 3, 0)
    assert measures.read_bytes() == before


def test_measures_of_other_turns_are_made_again(bench: Bench) -> None:
    bench.play()
    measures, others = (bench.turns_of("greedy", seed).parent / "measures.json" for seed in (1, 2))
    before = measures.read_bytes()
    measures.write_bytes(others.read_bytes())
    bench.play()
    assert bench.watcher.begun == (1, 3, 0)
    assert measures.read_bytes() == before


def test_a_run_that_is_begun_anew_is_measured_anew(bench: Bench) -> None:
    bench.play()
    folder = bench.turns_of("greedy", 1).parent
    before = json.loads((folder / "measures.json").read_bytes())
    (folder / "measures.json").write_text(json.dumps(before | {"calls": []}), "ascii")
    (folder / "run.json").write_bytes(b"{")
    bench.play()
    assert json.loads((folder / "measures.json").read_bytes())["calls"] == before["calls"] != []


def test_repeats_are_runs_of_their_own(bench: Bench) -> None:
    bench.text += "repeats = 2\n"
    bench.text = bench.text.replace("limits", "repeats = 2\nlimits").removesuffix("repeats = 2\n")
    played = bench.play("idle")
    names = sorted(path.name for path in bench.out.runs.iterdir())
    assert len(names) == 4
    assert sum(name.endswith("-repeat2") for name in names) == 2
    assert leaderboard(played.evaluation)[0].finished == 4


class Unlucky:
    """Raises in its third turn, or stops there."""

    def __init__(self, *, stops: bool = False, forgets: bool = False) -> None:
        self._error = PolicyStoppedError("the list is over") if stops else RuntimeError("bad luck at 0x7f0012345678")
        self._forgets = forgets
        self._turns = 0

    def reset(self, seed: int) -> None:
        del seed
        self._turns = 0

    def act(self, observation: Observation) -> str:
        del observation
        self._turns += 1
        if self._turns > 2 and not Path("lucky").exists():
            raise self._error
        return "market browse --limit 1" if Path("lucky").exists() and self._forgets else "company status"


@pytest.fixture
def unlucky(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Gives policies that fail in a folder without the file "lucky"."""
    monkeypatch.chdir(bench.folder)
    rows = [
        f'{{ name = "{BAD}Unlucky", label = "raises" }}',
        f'{{ name = "{BAD}Unlucky", label = "stops", parameters = {{ stops = true }} }}',
        f'{{ name = "{BAD}Unlucky", label = "forgets", parameters = {{ forgets = true }} }}',
    ]
    bench.text = bench.text.replace('{ name = "greedy" }', ", ".join(rows)).replace("[1, 2]", "[1]")
    return bench


def test_what_fails_is_named_counted_and_tried_again(unlucky: Bench) -> None:
    reasons = {
        "raises": "RuntimeError: bad luck at 0x...",
        "stops": "PolicyStoppedError: the list is over",
        "forgets": "RuntimeError: bad luck at 0x...",
        "idle": None,
    }
    for tried_again in (0, 3):
        played = unlucky.play()
        assert {each.key.policy: each.reason for each in played.evaluation.episodes} == reasons
        assert unlucky.watcher.begun[2] == tried_again
    rows = {row.policy: row for row in leaderboard(played.evaluation)}
    assert (rows["raises"].failed, rows["raises"].finished, rows["raises"].score_cents) == (1, 0, None)
    Path("lucky").touch()
    played = unlucky.play()
    assert {each.status for each in played.evaluation.episodes} == {"finished"}
    assert not unlucky.out.failures.exists()
    assert ["begun anew" in message for message in unlucky.watcher.told] == [True]  # it decided otherwise than before


def test_failures_of_policies_that_are_not_played_now_are_kept(unlucky: Bench) -> None:
    unlucky.play()
    played = unlucky.play("idle")
    assert sum(each.status == "failed" for each in played.evaluation.episodes) == 3


def test_ctrl_c_keeps_what_is_done(bench: Bench) -> None:
    class Interrupted(type(bench.pool)):
        def play(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
            reports = super().play(jobs)
            yield next(reports)
            raise KeyboardInterrupt

    bench.pool = Interrupted(1)
    played = bench.play()
    assert played.interrupted
    assert [each.status for each in played.evaluation.episodes].count("finished") == 1
    assert json.loads(bench.results())["missing"] == 3


def test_two_at_once_in_one_folder_are_refused(bench: Bench) -> None:
    bench.out.runs.mkdir(parents=True)
    with (
        filelock.FileLock(bench.out.lock, timeout=0),
        pytest.raises(EvaluationBusyError, match="another ycbench evaluate is playing there; wait for it, or choose"),
    ):
        bench.play()


def test_results_of_a_held_out_suite_name_no_seed_and_tell_of_no_world(unlucky: Bench) -> None:
    unlucky.text = unlucky.text.replace("seeds = [1]", SECRET)
    secret = str(2**62 + 12345)
    played = unlucky.play(YCBENCH_HELDOUT_SEEDS=secret)
    assert [each.status for each in played.evaluation.episodes] == ["failed", "failed", "failed", "finished"]
    published = unlucky.results() + unlucky.out.suite.read_bytes()
    assert secret.encode() not in published
    assert b"luck" not in unlucky.results()
    assert json.loads(unlucky.results())["episodes"][0]["reason"] == "RuntimeError"
    assert read_evaluation(unlucky.out.path) == played.evaluation  # where nobody knows the seeds beforehand
    assert unlucky.watcher.told == ["RuntimeError", "PolicyStoppedError", "RuntimeError"]
    Path("lucky").touch()
    unlucky.play(YCBENCH_HELDOUT_SEEDS=secret)
    [told] = unlucky.watcher.told  # of the one that decides otherwise than before
    assert told.startswith("forgets, default, seed ")
    assert secret not in told


def test_a_suite_may_grow(bench: Bench) -> None:
    bench.play()
    bench.text = bench.text.replace("[1, 2]", "[2, 3]")
    played = bench.play()
    assert bench.watcher.begun == (2, 2, 0)
    assert [each.key.seed for each in played.evaluation.episodes] == ["2", "3", "2", "3"]


def at(commit: str, day: int) -> Runtime:
    """The clock and the checkout on some day."""
    return Runtime(
        clock=lambda: dt.datetime(2026, 1, day, tzinfo=dt.UTC),
        origin=lambda started: RunOrigin("3.13.0", {}, GitState(commit, dirty=False), started),
    )


def test_where_an_evaluation_was_begun_stays_whatever_later_commands_play(bench: Bench) -> None:
    def play(runtime: Runtime, *chosen: str, overrides: tuple[Json, ...] = ()) -> bytes:
        plan = attrs.evolve(bench.plan(bench.load(), *chosen), overrides=overrides)
        evaluate(plan, bench.pool, bench.watcher, runtime)
        return bench.out.suite.read_bytes()

    first = play(at("aaa", 1), "greedy", overrides=({"key": "sim.seed"},))
    assert json.loads(first)["provenance"]["origin"]["started"] == "2026-01-01T00:00:00+00:00"
    assert play(at("bbb", 2), "idle") == first
    assert play(at("ccc", 3)) == first  # it plays nothing
    bench.text = bench.text.replace("[1, 2]", "[1, 2, 3]")
    grown = json.loads(play(at("ddd", 4), "idle"))
    assert grown["suite"] != json.loads(first)["suite"]
    assert grown["provenance"] == {**json.loads(first)["provenance"], "overrides": []}
    other = json.loads(first)
    other["provenance"]["version"] = "0.0.0"
    bench.out.suite.write_text(json.dumps(other), "ascii")
    assert json.loads(play(at("eee", 5), "idle"))["provenance"]["origin"]["git"]["commit"] == "eee"


def test_the_longest_episodes_are_begun_first(bench: Bench) -> None:
    bench.text = bench.text.replace('{ name = "idle" }', '{ name = "idle" }, { name = "expert" }').replace("6", "1")
    bench.play()
    assert [key.policy for key in bench.watcher.ended] == ["expert", "expert", "greedy", "greedy", "idle", "idle"]


def test_a_folder_without_an_evaluation_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"there is no suite\.json; expected the folder that ycbench evaluate wrote"):
        read_evaluation(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("suite.json", "{", "got no JSON"),
        ("suite.json", '{"format": 0}', "it is of another version"),
        ("failures.json", '{"format": 1}', "failures is missing"),
        ("failures.json", '{"format": 1, "failures": [{"kind": "odd"}]}', "policy is missing"),
    ],
)
def test_a_damaged_file_of_an_evaluation_is_named(bench: Bench, name: str, text: str, told: str) -> None:
    bench.play("idle")
    (bench.out.path / name).write_text(text, "ascii")
    with pytest.raises(RecordError, match=told) as caught:
        read_evaluation(bench.out.path)
    assert name in str(caught.value)


@pytest.mark.parametrize(("keep", "told"), [(0, "players: got nothing"), (1, "players: got other, default")])
def test_a_suite_that_does_not_say_who_plays_is_refused(bench: Bench, keep: int, told: str) -> None:
    bench.play("idle")
    values = json.loads(bench.out.suite.read_text("ascii"))
    values["players"] = [{**player, "policy": "other"} for player in values["players"][:keep]]
    bench.out.suite.write_text(json.dumps(values), "ascii")
    with pytest.raises(RecordError, match=told):
        read_evaluation(bench.out.path)
    assert len(bench.play("idle").evaluation.episodes) == 4  # it is written again


class _Losing(Pool):
    """Loses its worker without playing anything."""

    def play(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
        yield from ()
        msg = f"no worker for {len(jobs)} jobs"
        raise WorkerLostError(msg)


def test_workers_that_are_lost_while_they_play_nothing_end_the_sweep(bench: Bench) -> None:
    bench.pool = _Losing(1)
    with pytest.raises(WorkerLostError):
        bench.play()


def test_a_suspect_that_can_be_played_alone_has_not_failed(bench: Bench) -> None:
    bench.play("idle")
    lost: list[Job] = []

    class LosesFirst(type(bench.pool)):
        def play(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
            if not lost:
                lost.append(jobs[0])
                marker_of(jobs[0]).touch()
                msg = "a neighbour ended the process"
                raise WorkerLostError(msg)
            yield from super().play(jobs)

    jobs = [_job(bench, seed) for seed in (5, 6)]
    assert [(report.key.seed, report.failure) for report in play_jobs(jobs, LosesFirst(2))] == [
        ("5", None),
        ("6", None),
    ]
    assert not any(marker_of(job).exists() for job in jobs)


def _job(bench: Bench, seed: int) -> Job:
    suite = bench.load().suite
    return Job(
        key=EpisodeKey("idle", "default", str(seed)),
        root=EvaluationFolder(bench.out.path).path,
        name=f"job{seed}",
        config=suite.presets[0].config,
        seed=seed,
        policy="idle",
        parameters={},
        limits=suite.limits,
    )
