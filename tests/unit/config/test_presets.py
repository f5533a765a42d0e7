"""The packaged presets."""

import tomllib
from collections.abc import Iterator
from importlib import resources

import pytest

from ycbench_env.config import load_config, preset_names
from ycbench_env.config.schema import LEAVES, PARAMETERS


def _text(name: str) -> str:
    return resources.files("ycbench_env").joinpath("presets").joinpath(f"{name}.toml").read_text(encoding="utf-8")


def test_the_default_preset_is_named_first() -> None:
    assert preset_names()[0] == "default"
    assert "reference" in preset_names()


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_loads_under_its_own_name_and_says_what_it_is_for(name: str) -> None:
    config = load_config(name, environ={})
    assert config.name == name
    assert config.description


def test_the_default_preset_is_complete_because_no_other_default_exists() -> None:
    def leaves(table: dict[str, object], prefix: str = "") -> Iterator[str]:
        for key, value in table.items():
            if isinstance(value, dict):
                yield from leaves(value, f"{prefix}{key}.")
            else:
                yield prefix + key

    declared = set(leaves(tomllib.loads(_text("default"))))
    parameters = {name for names in PARAMETERS.values() for name in names}
    plain = {key for key in LEAVES if not (key.startswith("world.dist.") and key.rpartition(".")[2] in parameters)}
    assert plain <= declared


def test_the_default_preset_holds_the_papers_parameters() -> None:
    config = load_config("default", environ={})
    world = config.world
    assert config.sim.start_date.isoformat() == "2025-01-01"
    assert (config.sim.horizon_years, config.loop.auto_advance_after_turns, config.loop.max_turns) == (1, 5, None)
    assert (world.world_seed, world.accrual) == (1, "business_hours")
    assert (world.num_employees, world.num_clients, world.num_market_tasks) == (8, 6, 200)
    assert (world.initial_funds_cents, world.salary_max_cents) == (20_000_000, 10_000_000)
    assert world.dist.required_qty.type == "triangular"
    assert (world.salary_senior.min_cents, world.salary_senior.rate_max) == (1_000_000, 10.0)
    assert world.task_progress_milestones == ()


def test_the_reference_preset_differs_from_the_default_in_accrual_only() -> None:
    default, reference = load_config("default", environ={}), load_config("reference", environ={})
    mine, theirs = default.to_dict(), reference.to_dict()
    assert theirs["world"].pop("accrual") == "until_midnight"
    assert mine["world"].pop("accrual") == "business_hours"
    assert {key: mine[key] for key in ("sim", "loop", "agent", "world")} == {
        key: theirs[key] for key in ("sim", "loop", "agent", "world")
    }
