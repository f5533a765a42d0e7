"""Where each setting of a configuration comes from."""

from pathlib import Path

import pytest

from ycbench_env.config import Config, Origin, config_origins, load_config
from ycbench_env.config.schema import LEAVES
from ycbench_env.errors import ConfigError

_ARGUMENT = Origin("argument")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that extends another, in a folder of its own, which extends a preset."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "base.toml").write_text(
        'extends = "reference"\n[world]\nnum_clients = 4\nnum_employees = 5\n'
        '[world.dist.skill_boost]\ntype = "constant"\nvalue = 0.1\n'
    )
    path = tmp_path / "top.toml"
    path.write_text('extends = "below/base.toml"\n[world]\nnum_employees = 6\nnum_market_tasks = 7\n')
    return path


def test_each_setting_comes_from_the_strongest_place_that_sets_it(file: Path) -> None:
    environ = {"YCBENCH_SIM__HORIZON_YEARS": "2", "YCBENCH_WORLD__NUM_MARKET_TASKS": "3", "HOME": "/"}
    origins = config_origins(file, overrides={"world": {"num_market_tasks": 9}}, environ=environ)
    base = Origin("file", str(file.parent / "below" / "base.toml"))
    expected = {
        "name": Origin("file", str(file)),
        "sim.horizon_years": Origin("environment", "YCBENCH_SIM__HORIZON_YEARS"),
        "world.accrual": Origin("preset", "reference"),
        "world.dist.skill_boost.type": base,
        "world.dist.skill_boost.value": base,
        "world.num_clients": base,
        "world.num_employees": Origin("file", str(file)),
        "world.num_market_tasks": _ARGUMENT,
        "world.prestige_max": Origin("preset", "default"),
    }
    assert {key: origins[key] for key in expected} == expected


def test_a_value_that_changes_nothing_comes_from_where_it_was_given() -> None:
    origins = config_origins(environ={"YCBENCH_WORLD__NUM_EMPLOYEES": "8"})
    assert origins["world.num_employees"] == Origin("environment", "YCBENCH_WORLD__NUM_EMPLOYEES")


def _values(config: Config) -> set[str]:
    def keys(table: dict[str, object], prefix: str) -> set[str]:
        parts = [
            keys(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name}
            for name, value in table.items()
        ]
        return set[str]().union(*parts)

    return keys(config.to_dict(), "")


def test_exactly_the_values_of_a_configuration_have_an_origin(file: Path) -> None:
    for source in ("default", "reference", file):
        origins = config_origins(source, environ={})
        assert set(origins) == _values(load_config(source, environ={}))
        assert list(origins) == [key for key in LEAVES if key in origins]


def test_what_a_configuration_holds_comes_from_it() -> None:
    config = load_config("reference", environ={})
    origins = config_origins(config, overrides={"loop": {"max_turns": 3}}, environ={"YCBENCH_LOOP__MAX_TURNS": "4"})
    assert origins["loop.max_turns"] == _ARGUMENT
    assert origins["world.accrual"] == origins["world.num_clients"] == Origin("configuration", "reference")


def test_a_mapping_is_an_argument_and_what_it_extends_is_not() -> None:
    origins = config_origins({"extends": "reference", "world": {"num_clients": 3}}, environ={})
    assert origins["world.num_clients"] == _ARGUMENT
    assert origins["world.accrual"] == Origin("preset", "reference")


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (_ARGUMENT, "argument"),
        (Origin("configuration", "x"), "configuration x"),
        (Origin("environment", "YCBENCH_X"), "environment variable YCBENCH_X"),
        (Origin("file", "a/{b}.toml"), "a/{b}.toml"),
        (Origin("preset", "default"), "preset default"),
    ],
)
def test_an_origin_as_text_is_what_messages_call_it(origin: Origin, text: str) -> None:
    assert str(origin) == text


def test_what_cannot_be_loaded_has_no_origins_and_says_why() -> None:
    with pytest.raises(ConfigError, match=r"argument: world\.num_clients = -1: expected"):
        config_origins(overrides={"world": {"num_clients": -1}}, environ={})
