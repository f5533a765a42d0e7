"""What gymnasium expects: its checker, its registration, specs that go to JSON and back."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics

from ycbench_env import YCBenchEnv, load_config, register_envs
from ycbench_env.registration import PRESET_OF_ID
from ycbench_env.wrappers import ContextTruncation, ScratchpadMemory, TextObservation

WRAPPED: dict[str, Callable[[gym.Env[Any, Any]], gym.Env[Any, Any]]] = {
    "as made": lambda env: env,
    "window of nothing": lambda env: ContextTruncation(env, keep_turns=0),
    "text of a window around a scratchpad": lambda env: TextObservation(ContextTruncation(ScratchpadMemory(env))),
    "text of a scratchpad around a window": lambda env: TextObservation(ScratchpadMemory(ContextTruncation(env))),
    "statistics around a scratchpad": lambda env: RecordEpisodeStatistics(ScratchpadMemory(env)),
}


@pytest.mark.parametrize("env_id", PRESET_OF_ID)
def test_gymnasium_checks_the_bare_environment_without_a_warning(env_id: str) -> None:
    check_env(gym.make(env_id).unwrapped, skip_render_check=True)


@pytest.mark.parametrize("wrapping", WRAPPED)
@pytest.mark.parametrize("env_id", ["YCBench-v0", "YCBenchClassicHard-v0"])
def test_gymnasium_checks_a_wrapped_one_with_its_usual_remark_only(env_id: str, wrapping: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(WRAPPED[wrapping](gym.make(env_id)), skip_render_check=True)
    # Gymnasium says this of everything that gymnasium.make returns.
    assert ["is different from the unwrapped version" in str(one.message) for one in caught] == [True]


def test_the_render_modes_are_checked_too(capsys: pytest.CaptureFixture[str]) -> None:
    check_env(gym.make("YCBench-v0").unwrapped)
    assert "BenchCo" in capsys.readouterr().out  # mode "human"


def test_registering_twice_changes_nothing() -> None:
    before = dict(gym.registry)
    register_envs()
    assert dict(gym.registry) == before


def test_ids_play_their_presets() -> None:
    names = {env_id: gym.make(env_id).unwrapped.config.name for env_id in PRESET_OF_ID}  # pyright: ignore[reportAttributeAccessIssue]
    assert names == PRESET_OF_ID


def configs(folder: Path) -> dict[str, Any]:
    file = folder / "small.toml"
    file.write_text('extends = "reference"\n[world]\nnum_employees = 3\n', encoding="utf-8", newline="\n")
    return {
        "preset": "reference",
        "path as text": str(file),
        "path": file,
        "dict": {"extends": "reference", "world": {"num_market_tasks": 12}, "loop": {"max_turns": 9}},
        "dict with a date": {"sim": {"start_date": dt.date(2025, 2, 3)}},
        "config": load_config(file),
    }


@pytest.mark.parametrize("kind", ["preset", "path as text", "path", "dict", "dict with a date", "config"])
def test_a_spec_goes_to_json_and_back_and_plays_the_same(kind: str, tmp_path: Path) -> None:
    first = ScratchpadMemory(gym.make("YCBench-v0", config=configs(tmp_path)[kind]), max_length=123)
    assert first.spec is not None
    again = gym.make(EnvSpec.from_json(first.spec.to_json()))
    assert isinstance(again, ScratchpadMemory)
    assert again.observation_space == first.observation_space
    assert first.reset(seed=3) == again.reset(seed=3)
    for turn in ("scratchpad write --content x; market browse", "employee list", "", "", "", "", "finance ledger"):
        assert first.step(turn) == again.step(turn)


def test_a_config_object_works_like_the_source_it_came_from() -> None:
    one, other = YCBenchEnv("reference"), YCBenchEnv(load_config("reference"))
    assert one.reset(seed=2) == other.reset(seed=2)


def test_an_unknown_render_mode_is_refused_with_the_modes_there_are() -> None:
    with pytest.raises(ValueError, match=r"render_mode: got 'mp4', expected one of ansi, human, rgb_array or None"):
        YCBenchEnv(render_mode="mp4")
