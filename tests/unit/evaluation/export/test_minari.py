"""Data sets of Minari: loaded back, every step is that of the record, and the environment can be made again."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import minari
import numpy as np
import pytest

from ycbench_agents.evaluation.export import ExportError
from ycbench_agents.evaluation.export.minari_dataset import write_minari
from ycbench_agents.records import read_run
from ycbench_env.testing import tiny_config

if TYPE_CHECKING:
    from conftest import Play

    from ycbench_agents.records import RunRecord

NAME = "ycbench/told-v3"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of data sets, for loading; to write there, nobody needs the variable."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "data"))
    return tmp_path / "data"


def assert_equal_to_record(dataset: minari.MinariDataset, number: int, record: RunRecord) -> None:
    """Play the actions of an episode in the recovered environment; each step is as loaded, and as recorded."""
    [episode] = dataset.iterate_episodes([number])
    observations: dict[str, Any] = episode.observations
    env = dataset.recover_environment()
    [metadata] = dataset.storage.get_episode_metadata([number])
    seen: dict[str, Any] = env.reset(seed=metadata["seed"])[0]
    turns = list(record.turns())
    assert len(episode) == len(turns) > 0
    assert list(episode.rewards) == [turn.reward for turn in turns]
    assert list(episode.infos["funds_delta_cents"]) == [0, *(turn.funds_delta_cents for turn in turns)]
    assert list(episode.infos["invalid_commands"]) == [0, *(turn.invalid_commands for turn in turns)]
    assert list(episode.infos["forced_advance"]) == [False, *(turn.forced_advance for turn in turns)]
    assert list(episode.terminations) == [turn.terminated for turn in turns]
    for step, turn in enumerate(turns):
        loaded = {key: column[step] for key, column in observations.items()}
        assert loaded == seen
        assert dataset.spec.observation_space.contains(
            {key: value if isinstance(value, str) else np.asarray(value) for key, value in loaded.items()}
        )
        action = episode.actions[step]
        assert dataset.spec.action_space.contains(action)
        assert action == (turn.action if isinstance(turn.action, str) else "\n".join(map(str, turn.action)))
        seen, reward, *_ = env.step(action)
        assert (reward, seen["sim_time"]) == (turn.reward, turn.sim_time)
    assert {key: column[len(turns)] for key, column in observations.items()} == seen


def test_a_data_set_is_loaded_back_equal_to_its_records_step_by_step(play: Play, data: Path) -> None:
    sayings = ("market browse", ("client list", "scratchpad write --content 'n\u00e9 \U0001f680'"), "what?", "")
    records = [play(*sayings, seed=seed, max_turns=turns) for seed, turns in ((2**70, None), (5, 6))]
    assert write_minari(records, data, NAME) == sum(record.outcome.turns or 0 for record in records)
    dataset = minari.load_dataset(NAME)
    assert dataset.total_episodes == 2
    for number, record in enumerate(records):
        assert_equal_to_record(dataset, number, record)
    whole, cut = dataset.iterate_episodes()
    assert (whole.terminations[-1], whole.truncations[-1]) == (True, False)
    assert (cut.terminations[-1], list(cut.truncations)) == (False, [False] * 5 + [True])  # from outside


def test_runs_without_notes_have_none(play: Play, data: Path) -> None:
    record = play("sim resume", max_turns=2, scratchpad=False)
    write_minari([record], data, NAME)
    dataset = minari.load_dataset(NAME)
    [episode] = dataset.iterate_episodes()
    assert "notes" not in episode.observations
    assert_equal_to_record(dataset, 0, record)


def test_thousands_of_commands_in_a_turn_are_kept_and_their_answers_as_they_were_cut(play: Play, data: Path) -> None:
    record = play("\n".join(["market browse --limit 50"] * 1500), max_turns=1)
    write_minari([record], data, NAME)
    dataset = minari.load_dataset(NAME)
    assert_equal_to_record(dataset, 0, record)


def test_halves_of_characters_are_replaced(play: Play, data: Path) -> None:
    write_minari([play("scratchpad write --content \ud800", max_turns=1)], data, NAME)
    [episode] = minari.load_dataset(NAME).iterate_episodes()
    assert episode.actions == ["scratchpad write --content \ufffd"]


def test_the_environment_variable_is_as_it_was(play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = play("sim resume", max_turns=1)
    monkeypatch.delenv("MINARI_DATASETS_PATH", raising=False)
    write_minari([record], tmp_path / "data", "first-v0")
    assert "MINARI_DATASETS_PATH" not in os.environ
    monkeypatch.setenv("MINARI_DATASETS_PATH", "elsewhere")
    write_minari([record], tmp_path / "data", "second-v0")
    assert os.environ["MINARI_DATASETS_PATH"] == "elsewhere"
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["first-v0", "second-v0"]


@pytest.mark.parametrize(
    "name", ["told", "../told-v0", "Told-v0", "told-v", "/told-v0", "a//b-v0", "a/told-v0", "-told-v0", ""]
)
def test_a_name_that_is_none_is_refused(play: Play, data: Path, name: str) -> None:
    with pytest.raises(ExportError, match="expected a name and a version, like ycbench/greedy-v0"):
        write_minari([play(max_turns=1)], data, name)
    assert not data.exists()


def test_what_cannot_be_one_data_set_is_refused_and_leaves_nothing(play: Play, data: Path) -> None:
    record = play("sim resume", max_turns=1)
    other = play("sim resume", max_turns=1, config=tiny_config(loop={"max_turns": 4}))
    with pytest.raises(ExportError, match="got runs of 2 configurations, scratchpads or versions, expected one"):
        write_minari([record, other], data, NAME)
    quoted = play(('scratchpad write --content "a', 'b"'), max_turns=1)
    with pytest.raises(ExportError, match="turn 1: got several texts that are no turn when they are put together"):
        write_minari([quoted], data, NAME)
    run = record.folder / "run.json"
    whole = run.read_bytes()
    write_minari([record], data, NAME)
    with pytest.raises(ExportError, match="expected a new name, like one with a higher version"):
        write_minari([record], data, NAME)
    run.write_bytes(whole.replace(b'"turns": 1', b'"turns": null').replace(b'"finished"', b'"running"'))
    with pytest.raises(ExportError, match="got a run that is not over yet, or without turns; expected one with an out"):
        write_minari([read_run(record.folder)], data, "ycbench/told-v4")


def test_a_data_set_that_cannot_be_written_leaves_nothing(play: Play, data: Path) -> None:
    record = play("sim resume", max_turns=1)
    data.mkdir()
    (data / "ycbench").write_text("a file in the way", "ascii")
    with pytest.raises(OSError, match="ycbench"):
        write_minari([record], data, NAME)
    assert [path.name for path in data.iterdir()] == ["ycbench"]


def peak_bytes(records: list[RunRecord], data: Path, name: str) -> int:
    """Export runs and return the most memory that Python had at one moment."""
    tracemalloc.start()
    try:
        write_minari(records, data, name)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_number_of_runs(play: Play, data: Path) -> None:
    record = play(*(f"# {turn} {'x' * 1_000_000}" for turn in range(4)), max_turns=4)
    write_minari([record], data, "first-v0")  # whatever is loaded once is there
    one = peak_bytes([record], data, "one-v0")
    five = peak_bytes([record] * 5, data, "five-v0")
    assert five < 1.5 * one
    whole, *others = [list(episode.actions) for episode in minari.load_dataset("five-v0").iterate_episodes()]
    assert whole == [turn.action for turn in record.turns()]
    assert others == [whole] * 4
