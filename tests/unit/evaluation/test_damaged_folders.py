"""Folders that are damaged or unfinished: whatever can be told is told, and what cannot is named."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import attrs
import pytest

from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.evaluation_file import store_failures
from ycbench_agents.evaluation.failure import EpisodeFailure
from ycbench_agents.evaluation.reading import read_evaluation
from ycbench_agents.evaluation.redaction import NOT_SHOWN
from ycbench_agents.evaluation.report import markdown_of, report_of
from ycbench_agents.evaluation.report.drawing import DrawnFigures
from ycbench_agents.evaluation.report.results_file import results_remarks
from ycbench_agents.evaluation.results import results_document
from ycbench_agents.evaluation.storing import store_json
from ycbench_agents.evaluation.validation import Rules, validate
from ycbench_agents.records import RecordError, RecordWarning

if TYPE_CHECKING:
    from conftest import Bench

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.report.result import PresetResults
    from ycbench_agents.evaluation.suite import Suite

SEEDS_KEPT = 'seeds = { variable = "YCBENCH_HELDOUT_SEEDS", salt = "0123456789abcdef" }'
KEYS = [EpisodeKey(policy, "default", seed) for policy in ("greedy", "idle") for seed in "12"]


@attrs.define
class Listening:
    """Remembers how far the measuring was."""

    runs: int | None = None
    measured: list[EpisodeKey] = attrs.field(factory=list)

    def begin(self, plays: int) -> None:
        self.runs = plays

    def play(self, key: EpisodeKey) -> None:
        self.measured.append(key)


def _renumber(turns: Path) -> None:
    turns.write_text(turns.read_text("ascii").replace('"turn":3,', '"turn":7,'), "ascii")


def _falsify(turns: Path) -> None:
    """Let the first turn lead to another world."""
    turns.write_text(turns.read_text("ascii").replace('"state_hash":"', '"state_hash":"0', 1), "ascii")


def _cut(turns: Path) -> None:
    turns.write_bytes(turns.read_bytes()[:-40])


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def test_only_what_has_no_measures_is_measured_and_nothing_is_written(bench: Bench) -> None:
    before = bench.play().evaluation
    measures = bench.turns_of("greedy", 2).parent / "measures.json"
    measures.unlink()
    watcher = Listening()
    measured = before.measured(watcher)
    assert (watcher.runs, watcher.measured) == (1, [KEYS[1]])
    assert not measures.exists()
    assert measured.evaluation == before
    assert list(measured.measures) == KEYS
    bench.play()
    assert read_evaluation(bench.out.path).measures() == measured.measures
    before.measured(nobody := Listening())
    assert nobody == Listening(), "there was nothing to tell"


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_renumber, "RecordError: runs/RUN/turns.jsonl line 3: got turn 7, expected turn 3; lines are lost or doubled"),
        (_falsify, "MeasurementError: runs/RUN: turn 1 is not as it was recorded: "),
        (_cut, "MeasurementError: runs/RUN/turns.jsonl: got 5 turns, expected 6 turns, as run.json tells; "),
        (_folder, "IsADirectoryError: [Errno 21] Is a directory: 'runs/RUN/turns.jsonl'"),
    ],
)
@pytest.mark.filterwarnings("ignore::ycbench_agents.records.RecordWarning")
def test_what_cannot_be_measured_counts_as_failed_and_all_else_is_reported(
    bench: Bench, damage: Callable[[Path], None], reason: str
) -> None:
    bench.play("greedy")
    turns = bench.turns_of("greedy", 1)
    (turns.parent / "measures.json").unlink()
    damage(turns)
    evaluation = read_evaluation(bench.out.path)
    assert evaluation.episodes[0].status == "finished", "nobody has looked at its turns"
    with pytest.warns(RecordWarning, match="greedy, default, seed 1: cannot be measured, so it counts as failed"):
        measured = evaluation.measured()
    assert list(measured.measures) == [KEYS[1]]
    first, second, *_ = measured.evaluation.episodes
    assert first.status == "failed"
    assert first.reason is not None
    assert first.reason.startswith("measurement: " + reason.replace("RUN", turns.parent.name))
    assert second.status == "finished"
    [remark] = results_remarks(measured)
    assert remark.endswith(": greedy, default, seed 1: finished there, failed here")
    report = report_of(measured.evaluation, measured.measures, draw=_undrawn, remarks=[remark])
    text = markdown_of(report)
    assert "results.json tells otherwise of 1 episode" in text
    assert "| greedy, default, seed 1 | measurement: " in text
    assert "1 run to their end, 1 failed, 2 missing" in text


def _undrawn(suite: Suite, results: PresetResults, place: int) -> DrawnFigures:
    del suite, results, place
    return DrawnFigures((), ())


def test_a_finished_episode_of_which_a_report_is_given_no_measures_counts_as_failed(bench: Bench) -> None:
    evaluation = bench.play("idle").evaluation
    measures = evaluation.measures()
    del measures[KEYS[3]]
    text = markdown_of(report_of(evaluation, measures, draw=_undrawn))
    assert "| idle, default, seed 2 | measurement: it has no measures |" in text
    assert "1 run to their end, 1 failed, 2 missing" in text


@pytest.mark.filterwarnings("ignore::ycbench_agents.records.RecordWarning")
def test_a_secret_run_that_cannot_be_measured_is_told_of_by_the_class_of_its_error(bench: Bench) -> None:
    bench.text = bench.text.replace("seeds = [1, 2]", SEEDS_KEPT).replace('{ name = "idle" }', "")
    secret = str(2**62 + 12345)
    bench.play(YCBENCH_HELDOUT_SEEDS=secret)
    turns = bench.turns_of("greedy", int(secret))
    (turns.parent / "measures.json").unlink()
    _falsify(turns)
    with pytest.warns(RecordWarning, match="so it counts as failed: MeasurementError$") as warned:
        [episode] = read_evaluation(bench.out.path).measured().evaluation.episodes
    assert episode.reason == "measurement: MeasurementError"
    assert secret not in str([str(each.message) for each in warned])


def _store(bench: Bench, document: JsonObject, *, seed: str = "", **changes: int | str | None) -> None:
    """Write results.json with other values in the episodes of a seed, or in all."""
    episodes = cast("list[JsonObject]", document["episodes"])
    store_json(
        bench.out.results,
        {
            **document,
            "episodes": [{**each, **(changes if not seed or each["seed"] == seed else {})} for each in episodes],
        },
    )


def test_results_that_tell_otherwise_are_named(bench: Bench) -> None:
    evaluation = bench.play().evaluation
    measured, document = evaluation.measured(), results_document(evaluation)
    assert results_remarks(measured) == ()
    cents = [measures.money.final_funds_cents for measures in measured.measures.values()]
    _store(bench, document, final_funds_cents=7)
    [remark] = results_remarks(measured)
    assert remark.startswith("results.json tells otherwise of 4 episodes than the records, ")
    assert f": greedy, default, seed 1: final funds of 7 cents there, {cents[0]} here; greedy, default, s" in remark
    assert remark.endswith("; ...")
    _store(bench, document, seed="1", status="missing", final_funds_cents=None)
    [remark] = results_remarks(measured)
    assert remark.endswith(
        ": greedy, default, seed 1: missing there, finished here; idle, default, seed 1: missing there, finished here"
    )
    store_json(bench.out.results, {**document, "episodes": cast("list[Json]", document["episodes"])[:3]})
    assert results_remarks(measured)[0].endswith(": idle, default, seed 2: not planned there, finished here")
    bench.out.results.write_bytes(b"\xff")
    assert results_remarks(measured) == ("results.json cannot be read; this report is made from the records",)
    bench.out.results.unlink()
    assert results_remarks(measured) == ()


FAILED = {KEYS[2]: EpisodeFailure("raised", "RuntimeError", "bad luck")}


def _spoil(path: Path) -> None:
    path.write_bytes(b"[{")


def _garble(path: Path) -> None:
    path.write_bytes(b"\xff\x00")


@pytest.mark.parametrize("damage", [_spoil, _garble, _folder])
def test_damaged_failures_are_begun_anew_and_what_failed_is_tried_again(
    bench: Bench, damage: Callable[[Path], None]
) -> None:
    bench.play()
    store_failures(bench.out, FAILED)
    assert read_evaluation(bench.out.path).episodes[2].reason == "RuntimeError: bad luck"
    damage(bench.out.failures)
    with pytest.raises(RecordError, match=r"failures\.json: .*; ycbench evaluate begins this file anew, and tries"):
        read_evaluation(bench.out.path)
    played = bench.play()
    assert {each.status for each in played.evaluation.episodes} == {"finished"}
    [told] = bench.watcher.told
    assert told.startswith(f"{bench.out.failures}: ")
    assert told.endswith("; begun anew, and what failed is tried again")
    assert not bench.out.failures.exists()


def test_a_folder_in_place_of_failures_is_left_alone_and_nothing_is_written(bench: Bench) -> None:
    bench.play()
    (bench.out.failures / "mine").mkdir(parents=True)
    written = bench.out.suite.stat().st_mtime_ns
    with pytest.raises(RecordError, match=r"got a folder with something in it, expected the file .*; move it away"):
        bench.play()
    assert bench.out.suite.stat().st_mtime_ns == written
    assert (bench.out.failures / "mine").is_dir()


def test_damaged_failures_of_a_held_out_suite_are_told_of_without_what_they_hold(bench: Bench) -> None:
    bench.text = bench.text.replace("seeds = [1, 2]", SEEDS_KEPT).replace('{ name = "idle" }', "")
    secret = str(2**62 + 12345)
    bench.play(YCBENCH_HELDOUT_SEEDS=secret)
    bench.out.failures.write_text(json.dumps({"format": 1, "failures": [secret]}), "ascii")
    [check] = validate(bench.out.path, Rules("any", "")).checks
    assert check.where == (f"RecordError: {NOT_SHOWN}; ycbench evaluate writes suite.json and failures.json again",)
    bench.play(YCBENCH_HELDOUT_SEEDS=secret)
    assert bench.watcher.told == [f"{bench.out.failures}: it is damaged; begun anew, and what failed is tried again"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no disk that is always full")
def test_a_full_disk_is_told_of_with_the_file_and_the_old_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    store_json(path, {"old": True})
    path.with_name(f"results.json.{os.getpid()}.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left on device") as caught:
        store_json(path, {"old": False})
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert json.loads(path.read_bytes()) == {"old": True}
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]
