"""Configurations that options name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ycbench_agents.cli.failure import UsageError
from ycbench_agents.cli.source import Override, load, load_all, load_one, overrides_in_force, read_overrides

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text("[world]\nnum_employees = 3\n", encoding="utf-8")
    return path


def test_nothing_named_is_the_preset_default() -> None:
    assert list(load_all((), (), ())) == ["default"]
    assert load_one(None, None, ()).name == "default"


def test_presets_come_before_files_in_the_order_named(mine: Path) -> None:
    configs = load_all(("reference", "default"), (mine,), ())
    assert list(configs) == ["reference", "default", "mine"]
    assert configs["mine"].world.num_employees == 3


def test_settings_go_before_files_and_the_environment(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("YCBENCH_WORLD__NUM_EMPLOYEES", "4")
        assert load_one(None, mine, ()).world.num_employees == 4
        assert load_one(None, mine, ("world.num_employees=9",)).world.num_employees == 9


def test_files_of_one_name_are_told_apart_by_their_paths(mine: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "mine.toml"
    other.parent.mkdir()
    other.write_text("", encoding="utf-8")
    assert list(load_all((), (mine, other), ())) == ["mine", str(other)]


@pytest.mark.parametrize("presets", [("default", "default"), ("reference", "default", "reference")])
def test_a_configuration_named_twice_is_refused(presets: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="twice, expected each once"):
        load_all(presets, (), ())


def test_a_path_that_is_also_a_name_is_refused(mine: Path) -> None:
    mine.write_text(f'name = "{mine.as_posix()}"\n', encoding="utf-8")
    other = mine.with_name("b.toml")
    other.write_text(f'name = "{mine.as_posix()}"\n', encoding="utf-8")
    third = mine.with_name("c.toml")
    third.write_text(f'name = "{other.as_posix()}"\n', encoding="utf-8")
    with pytest.raises(UsageError, match="give one of them another `name`"):
        load_all((), (mine, third, other), ())


def test_preset_and_file_together_are_refused_where_one_is_needed(mine: Path) -> None:
    with pytest.raises(UsageError, match="expected one of them"):
        load_one("default", mine, ())


def test_every_problem_of_a_configuration_is_in_the_message(mine: Path) -> None:
    mine.write_text("[world]\nnum_employees = -1\nnum_clients = 99\nnone = 1\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load(mine)
    for key in ("world.num_employees", "world.num_clients", "world.none"):
        assert key in str(caught.value)


def test_a_key_without_effect_is_said_on_stderr(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine.write_text("[world]\nwork_hours_per_day = 8\n", encoding="utf-8")
    load(mine)
    assert "ycbench: warning: " in (printed := capsys.readouterr().err)
    assert "work_hours_per_day has no effect" in printed


def test_settings_of_words_take_numbers_as_words() -> None:
    assert read_overrides(["sim.company_name=7", "world.accrual=until_midnight", "world.num_employees=7"]) == {
        "sim": {"company_name": "7"},
        "world": {"accrual": "until_midnight", "num_employees": 7},
    }


def test_options_and_variables_are_in_force_each_once_and_the_stronger_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("YCBENCH_WORLD__NUM_CLIENTS", "3")
    monkeypatch.setenv("YCBENCH_WORLD__DIST__REQUIRED_QTY__LOW", "300")
    path = tmp_path / "mine.toml"
    path.write_text(
        '[world]\nnum_employees = 2\nnum_clients = 2\n[world.dist.required_qty]\ntype = "uniform"\n'
        "low = 1\nhigh = 301\n",
        encoding="utf-8",
    )
    settings = ("world.num_employees=9", "sim.start_date=2025-02-01", "world.num_market_tasks=200")
    assert overrides_in_force(path, settings, load(path, read_overrides(settings))) == (
        Override("sim.start_date", "2025-02-01", "--set"),
        Override("world.num_employees", 9, "--set"),
        Override("world.num_market_tasks", 200, "--set"),  # also where nothing changes by it
        Override("world.num_clients", 3, "YCBENCH_WORLD__NUM_CLIENTS"),
        Override("world.dist.required_qty.low", 300.0, "YCBENCH_WORLD__DIST__REQUIRED_QTY__LOW"),
    )


def test_nothing_is_in_force_where_nothing_was_said() -> None:
    assert overrides_in_force("reference", (), load("reference")) == ()
