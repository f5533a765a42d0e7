"""Data sets of runs: what is read back is what was recorded and seen; held-out evaluations give aggregates only."""

# ruff: noqa: ANN401 -- what libraries return

from __future__ import annotations

import datetime as dt
import json
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import minari
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ycbench_agents.cli import main
from ycbench_agents.evaluation.evaluate import play_suite
from ycbench_agents.evaluation.export import (
    ExportError,
    export,
    export_turns,
    find_runs,
    write_minari,
    write_parquet,
)
from ycbench_agents.evaluation.suite import load_suite
from ycbench_agents.evaluation.validate import record_digest
from ycbench_agents.llm.loopback import LoopbackServer, greedy_model
from ycbench_agents.llm.policy import make_llm_policy
from ycbench_agents.runs import Run, RunError, RunIdentity, RunMismatchError, RunWarning, play_run
from ycbench_env import MissingExtraError
from ycbench_env.testing import tiny_config

SECRET = 2**62 + 12345
BIG_SEED = 2**70
NAME = "ycbench/made-v3"
Play = Callable[..., Run]


@pytest.fixture
def play(kit: Any) -> Play:
    """Plays a run of these turns, each into a folder of its own."""
    return kit.record


# ---------------------------------------------------------------- lines of JSON


def test_a_scripted_run_has_texts_of_observations_and_its_rewards_to_go(play: Play, tmp_path: Path) -> None:
    run = play("market browse", "what?", seed=BIG_SEED, max_turns=None)
    out = tmp_path / "turns.jsonl"
    rows = export([run.folder], "jsonl", out)
    lines = [json.loads(line) for line in out.read_text("ascii").splitlines()]
    turns = list(run.turns())
    assert rows == len(turns) == len(lines)
    assert [line["completion"] for line in lines] == [turn.action for turn in turns]
    assert (lines[0]["run"], lines[0]["seed"], lines[0]["turn"]) == ("run0", BIG_SEED, 1)
    assert "turn" in lines[0]["prompt"].lower()
    assert lines[0]["return_to_go"] == sum(turn.funds_delta_cents for turn in turns) / 100
    assert lines[-1]["return_to_go"] == turns[-1].reward


def test_a_language_model_has_its_messages_and_replies(tmp_path: Path) -> None:
    with LoopbackServer(greedy_model) as server:
        policy = make_llm_policy("scripted", base_url=server.base_url, keep_turns=2)
        run = play_run(tmp_path / "run", RunIdentity.of("default", 1, "llm", policy, max_turns=4), policy)
        policy.close()
        asked = server.requests
    examples = list(export_turns(run))
    for example, request in zip(examples, asked, strict=True):
        assert request is not None
        assert example["prompt"] == request["messages"]
    [message] = json.loads(json.dumps(examples[1]))["completion"]
    assert (message["role"], message["tool_calls"][0]["function"]["name"]) == ("assistant", "run_command")


def test_runs_are_found_in_folders_of_runs_and_of_evaluations_but_not_behind_links(play: Play, tmp_path: Path) -> None:
    first, second = play(max_turns=1), play(max_turns=1)
    (tmp_path / "link").symlink_to(first.folder)
    assert [run.folder for run in find_runs([tmp_path, second.folder])] == [first.folder, second.folder, second.folder]
    with pytest.raises(RunError, match=r"there is no run\.json"):
        find_runs([tmp_path / "nothing"])


def test_a_record_that_differs_is_refused_and_leaves_the_file_as_it_was(play: Play, tmp_path: Path) -> None:
    run = play("sim resume", max_turns=2)
    turns = run.folder / "turns.jsonl"
    turns.write_text(turns.read_text("ascii").replace('"invalid_commands":0', '"invalid_commands":1'), "ascii")
    for form in ("jsonl", "parquet"):
        (tmp_path / "out").write_text("before", "ascii")
        with pytest.raises(RunMismatchError, match="turn 1 is not as it was recorded"):
            export([run.folder], form, tmp_path / "out")
        assert (tmp_path / "out").read_text("ascii") == "before"


# ---------------------------------------------------------------- Parquet


def test_each_turn_of_each_run_is_a_row(kit: Any, tmp_path: Path) -> None:
    turns = ("market browse", ("client list", "scratchpad write --content 'n\u00e9'"), "what?")
    trace = {"prompt_tokens": 700, "completion_tokens": None, "cost_usd": 1, "cached_tokens": True}
    runs = [
        kit.record(*turns, seed=BIG_SEED, max_turns=None),
        kit.asking(["company status", "sim resume"], [trace] * 2, [{"latency_s": 0.5}] * 2),
    ]
    path = tmp_path / "turns.parquet"
    assert write_parquet(runs, path) == sum(run.outcome.turns or 0 for run in runs)
    rows = pq.read_table(path).to_pylist()
    for run in runs:
        own = [row for row in rows if row["run"] == run.folder.name]
        for row, turn, example in zip(own, run.turns(), export_turns(run), strict=True):
            assert row["action"] == [turn.action] if isinstance(turn.action, str) else turn.action
            assert (row["observation"], row["return_to_go"]) == (example["prompt"], example["return_to_go"])
            assert (json.loads(row["results"]), json.loads(row["events"])) == (turn.results, turn.events)
            assert row["sim_time"] == dt.datetime.fromisoformat(turn.sim_time)
            same = ("turn", "reward", "funds_cents", "invalid_commands", "forced_advance", "terminated", "truncated")
            for name in (*same, "terminal_reason", "state_hash", "notes_sha256"):
                assert row[name] == getattr(turn, name)
    assert {row["seed"] for row in rows} == {str(BIG_SEED), "3"}
    first, last = rows[0], rows[-1]
    assert (first["trace"], first["prompt_tokens"], first["cost_usd"], first["model"]) == (None, None, None, None)
    assert (last["prompt_tokens"], last["completion_tokens"], last["cached_tokens"]) == (700, None, None)
    assert (last["cost_usd"], json.loads(last["trace"])["cost_usd"]) == (1.0, 1)


def test_columns_have_types_and_the_schema_names_their_source(play: Play, tmp_path: Path) -> None:
    run = play("sim resume", max_turns=1)
    for name in ("first", "second"):
        write_parquet([run], tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    schema = pq.read_schema(tmp_path / "first")
    types = [str(schema.field(name).type) for name in ("sim_time", "funds_cents", "action", "reward", "turn")]
    assert types == ["timestamp[us]", "int64", "list<element: string>", "double", "int32"]
    metadata = json.loads(schema.metadata[b"ycbench"])
    assert metadata["runs"][0]["digest"] == record_digest(run)
    assert metadata["configs"] == {run.identity.config_digest: run.identity.config}
    assert metadata["format"] == 3


def test_halves_of_characters_and_more_turns_than_a_group_holds_are_written(play: Play, tmp_path: Path) -> None:
    patient = tiny_config(loop={"auto_advance_after_turns": 1000})
    run = play("scratchpad write --content \ud800", *["company status"] * 299, max_turns=300, config=patient)
    path = tmp_path / "turns.parquet"
    assert write_parquet([run], path) == 300
    rows = pq.read_table(path).to_pylist()
    assert rows[0]["action"] == ["scratchpad write --content \ufffd"]
    assert [row["turn"] for row in rows] == list(range(1, 301))
    assert pq.ParquetFile(path).num_row_groups == 2


# ---------------------------------------------------------------- held-out evaluations


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a held-out evaluation."""
    monkeypatch.setenv("YCBENCH_HELDOUT_SEEDS", str(SECRET))
    values = {"name": "secret", "presets": ["default"], "policies": [{"name": "greedy"}], "limits": {"max_turns": 6}}
    suite = load_suite({**values, "seeds": {"variable": "YCBENCH_HELDOUT_SEEDS"}, "repeats": 2})
    play_suite(suite, tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_held_out_evaluations_export_aggregates_that_reveal_no_task(secret: Path, tmp_path: Path, form: Any) -> None:
    out = tmp_path / "aggregates"
    with pytest.warns(RunWarning, match="held out: one row of aggregates an episode"):
        assert export([secret], form, out) == 2
    rows = (
        [json.loads(line) for line in out.read_text("ascii").splitlines()]
        if form == "jsonl"
        else pd.read_parquet(out).to_dict("records")
    )
    assert [(row["policy"], row["seed"], row["repeat"]) for row in rows] == [("greedy", "h1", 1), ("greedy", "h1", 2)]
    turns = ("turn", "reward", "reward_cents", "observation", "action", "results", "state_hash", "run", "config")
    assert not set(turns) & set(rows[0])
    text = out.read_bytes() + repr(rows).encode()
    market = {task["task_id"] for task in first_market(secret)}
    assert not [word for word in (str(SECRET), "Task-", *market) if word.encode() in text]
    # No reward of an offer of the hidden market stands anywhere, unless as the sum over a whole run.
    offers = {task["reward_funds_cents"] for task in first_market(secret)}
    assert not offers & {row["revenue_cents"] for row in rows}


def first_market(folder: Path) -> list[Any]:
    run = next(iter(find_runs([folder])))
    results: list[Any] = [result for turn in run.turns() for result in turn.results]
    return [task for result in results for task in result["output"].get("tasks", []) if "reward_funds_cents" in task]


def test_runs_of_a_held_out_evaluation_are_known_wherever_the_folder_is_entered(secret: Path, tmp_path: Path) -> None:
    run = find_runs([secret])[0].folder
    with pytest.warns(RunWarning, match="held out"):
        export([run], "jsonl", tmp_path / "out.jsonl")
    with pytest.raises(ExportError, match="got a held-out evaluation; expected it alone"):
        export([secret], "minari", tmp_path / "data", name=NAME)
    with pytest.raises(ExportError, match="got a held-out evaluation; expected it alone"):
        export([secret, tmp_path], "jsonl", tmp_path / "out.jsonl")
    (secret / "suite.json").unlink()  # seeds.json is still there
    with pytest.raises(RunError, match=r"there is no suite\.json"):
        export([run], "jsonl", tmp_path / "out.jsonl")


def test_runs_within_earlier_evaluations_are_refused(play: Play, tmp_path: Path) -> None:
    run = play("sim resume", max_turns=1).folder
    folder = tmp_path / "old" / "runs" / run.name
    folder.parent.mkdir(parents=True)
    run.rename(folder)
    (tmp_path / "old" / "suite.json").write_text('{"format": 1, "suite": {"seed_hash": null}}', "ascii")
    for given in (folder, folder.parent):
        with pytest.raises(RunError, match="got format 1"):
            export([given], "jsonl", tmp_path / "out.jsonl")


# ---------------------------------------------------------------- Minari


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of data sets, for loading; writing does not need the variable."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    return tmp_path / "data"


def assert_equal_to_record(dataset: Any, number: int, run: Run) -> None:
    """Play the actions of an episode in the recovered environment; each step is as loaded, and as recorded."""
    [episode] = dataset.iterate_episodes([number])
    observations: dict[str, Any] = episode.observations
    env = dataset.recover_environment()
    [metadata] = dataset.storage.get_episode_metadata([number])
    seen: dict[str, Any] = env.reset(seed=metadata["seed"])[0]
    turns = list(run.turns())
    assert len(episode) == len(turns) > 0
    assert list(episode.rewards) == [turn.reward for turn in turns]
    for name, first in (("funds_delta_cents", 0), ("invalid_commands", 0), ("forced_advance", False)):
        assert list(episode.infos[name]) == [first, *(getattr(turn, name) for turn in turns)]
    assert list(episode.terminations) == [turn.terminated for turn in turns]
    for step, turn in enumerate(turns):
        loaded = {key: column[step] for key, column in observations.items()}
        assert loaded == seen
        assert dataset.spec.observation_space.contains(
            {key: value if isinstance(value, str) else np.asarray(value) for key, value in loaded.items()}
        )
        action = episode.actions[step]
        assert dataset.spec.action_space.contains(action)
        assert action == (turn.action if isinstance(turn.action, str) else "\n".join(turn.action))
        seen, reward, *_ = env.step(action)
        assert (reward, seen["sim_time"]) == (turn.reward, turn.sim_time)
    assert {key: column[len(turns)] for key, column in observations.items()} == seen


def test_a_data_set_is_loaded_back_equal_to_its_runs_step_by_step(play: Play, data: Path) -> None:
    turns = ("market browse", ("client list", "scratchpad write --content 'n\u00e9 \U0001f680'"), "what?", "")
    runs = [play(*turns, seed=seed, max_turns=limit) for seed, limit in ((BIG_SEED, None), (5, 6))]
    assert write_minari(runs, data, NAME) == sum(run.outcome.turns or 0 for run in runs)
    dataset: Any = minari.load_dataset(NAME)
    assert dataset.total_episodes == 2
    for number, run in enumerate(runs):
        assert_equal_to_record(dataset, number, run)
    whole, cut = dataset.iterate_episodes()
    assert (whole.terminations[-1], whole.truncations[-1]) == (True, False)
    assert (cut.terminations[-1], list(cut.truncations)) == (False, [False] * 5 + [True])  # from outside


@pytest.mark.slow
def test_runs_without_notes_and_with_thousands_of_commands_are_kept_as_they_are(play: Play, data: Path) -> None:
    run = play("\n".join(["market browse --limit 50"] * 1500), max_turns=1, scratchpad=False)
    write_minari([run], data, NAME)
    dataset: Any = minari.load_dataset(NAME)
    [episode] = dataset.iterate_episodes()
    assert "notes" not in episode.observations
    assert_equal_to_record(dataset, 0, run)


def test_the_environment_variable_is_as_it_was(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = play("scratchpad write --content \ud800", max_turns=1)
    monkeypatch.delenv("MINARI_DATASETS_PATH", raising=False)
    write_minari([run], tmp_path / "data", "first-v0")
    assert "MINARI_DATASETS_PATH" not in os.environ
    monkeypatch.setenv("MINARI_DATASETS_PATH", "elsewhere")
    write_minari([run], tmp_path / "data", "second-v0")
    assert os.environ["MINARI_DATASETS_PATH"] == "elsewhere"
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["first-v0", "second-v0"]


@pytest.mark.parametrize(
    "name", ["made", "../made-v0", "Made-v0", "made-v", "/made-v0", "a//b-v0", "a/made-v0", "-made-v0", ""]
)
def test_a_malformed_name_is_refused(play: Play, data: Path, name: str) -> None:
    with pytest.raises(ExportError, match="expected a name with a version"):
        write_minari([play(max_turns=1)], data, name)
    assert not data.exists()


def test_runs_that_cannot_be_one_data_set_are_refused(play: Play, data: Path) -> None:
    run = play("sim resume", max_turns=1)
    other = play("sim resume", max_turns=1, config=tiny_config(loop={"max_turns": 4}))
    with pytest.raises(ExportError, match="got runs of 2 configurations"):
        write_minari([run, other], data, NAME)
    quoted = play(('scratchpad write --content "a', 'b"'), max_turns=1)
    with pytest.raises(ExportError, match="turn 1: got several texts that are no turn when they are put together"):
        write_minari([quoted], data, NAME)
    write_minari([run], data, NAME)
    with pytest.raises(ExportError, match="expected a name with a version that is not in"):
        write_minari([run], data, NAME)
    (run.folder / "run.json").write_text(
        json.dumps({**run.to_json(), "outcome": {"status": "running"}}), encoding="ascii"
    )
    with pytest.raises(ExportError, match="got a run that is not over; resume it"):
        write_minari(find_runs([run.folder]), data, "ycbench/made-v4")


def test_a_data_set_that_cannot_be_written_leaves_nothing(play: Play, data: Path) -> None:
    run = play("sim resume", max_turns=1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_minari([run], data, NAME)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (data / NAME).exists()


# ---------------------------------------------------------------- the command


def test_the_command_names_what_it_wrote(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = play("company status", max_turns=2).folder
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(folder)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["export", str(folder), "--format", "parquet", "--out", "turns.parquet"]) == 0
    assert main(["export", ".", "--format", "minari", "--out", "data", "--name", "my/made-v1"]) == 0
    assert capsys.readouterr().out == (
        "2 rows: turns.parquet\n2 rows: data/my/made-v1; load it with MINARI_DATASETS_PATH=data\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "run0", "turns.parquet"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--format", "parquet"], "--format parquet: got no --out, expected --out and no --policy"),
        (["--format", "minari", "--out", "data"], "--name: got None, expected the name of a data set"),
        (["--format", "minari", "--out", "data", "--name", "x"], "--name: got 'x', expected a name with a version"),
        (
            ["--name", "x-v0"],
            "--name: got 'x-v0', expected the name of a data set, like ycbench/greedy-v0, with minari",
        ),
        (["--format", "parquet", "--policy", "a:B", "--out", "x"], "--format parquet: got --policy, expected"),
    ],
)
def test_the_command_refuses_options_that_do_not_go_together(
    play: Play, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], error: str
) -> None:
    folder = play("company status", max_turns=1).folder
    monkeypatch.chdir(folder.parent)
    assert main(["export", str(folder), *options]) == 2
    assert error in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("form", "module"), [("parquet", "pyarrow"), ("minari", "minari")])
def test_a_missing_library_is_named_with_its_extra(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any, module: str
) -> None:
    run = play("company status", max_turns=1)
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\["):
        export([run.folder], form, tmp_path / "out", name=NAME if form == "minari" else None)
