"""Arguments, environment variables, files and parents: which one counts."""

import os
from pathlib import Path

import pytest

from ycbench_env.config import RESERVED_VARIABLES, Config, Constant, Triangular, Uniform, load_config
from ycbench_env.errors import ConfigError

_EMPLOYEES = "YCBENCH_WORLD__NUM_EMPLOYEES"


def _error(*arguments: object, **options: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(*arguments, **options)  # pyright: ignore[reportArgumentType] - wrong on purpose
    return str(caught.value)


def _company(value: str) -> str:
    return load_config(environ={"YCBENCH_SIM__COMPANY_NAME": value}).sim.company_name


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "parent.toml").write_text("[world]\nnum_employees = 2\nnum_clients = 2\nnum_market_tasks = 2\n")
    path = tmp_path / "child.toml"
    path.write_text(
        'extends = "parent.toml"\n[world]\nnum_employees = 3\nnum_clients = 3\n[agent]\ntemperature = 0.7\n'
    )
    return path


def test_each_stronger_place_beats_all_weaker_ones(file: Path) -> None:
    def employees(**options: object) -> tuple[int, int, int]:
        world = load_config(file, **options).world  # pyright: ignore[reportArgumentType] - wrong on purpose
        return world.num_employees, world.num_clients, world.num_market_tasks

    assert employees(environ={}) == (3, 3, 2)
    assert employees(environ={_EMPLOYEES: "4"}) == (4, 3, 2)
    assert employees(environ={_EMPLOYEES: "4"}, overrides={"world": {"num_employees": 5}}) == (5, 3, 2)


def test_a_mapping_is_an_argument_and_beats_the_environment_but_what_it_extends_does_not(file: Path) -> None:
    tree = {"extends": str(file), "world": {"num_clients": 7}}
    world = load_config(tree, environ={_EMPLOYEES: "4", "YCBENCH_WORLD__NUM_CLIENTS": "5"}).world
    assert (world.num_employees, world.num_clients) == (4, 7)


def test_overrides_beat_a_mapping() -> None:
    config = load_config({"world": {"num_clients": 7}}, overrides={"world": {"num_clients": 8}}, environ={})
    assert config.world.num_clients == 8


@pytest.mark.parametrize("options", [{}, {"overrides": {"loop": {"max_turns": 3}}}], ids=["alone", "overridden"])
def test_a_configuration_ignores_the_environment(options: dict[str, object]) -> None:
    config = load_config(environ={})
    loaded = load_config(config, environ={_EMPLOYEES: "4", "YCBENCH_NONSENSE": "1"}, **options)  # pyright: ignore[reportArgumentType] - wrong on purpose
    assert loaded.world.num_employees == 8


def test_the_environment_of_the_process_is_read_unless_another_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_EMPLOYEES, "4")
    assert load_config().world.num_employees == 4
    assert load_config(environ={}).world.num_employees == 8


def test_the_environment_of_the_process_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_EMPLOYEES, "4")
    before = dict(os.environ)
    load_config(overrides={"world": {"num_employees": 5}})
    assert dict(os.environ) == before


def test_zero_as_an_argument_counts_against_a_file(file: Path) -> None:
    assert load_config(file, overrides={"agent": {"temperature": 0}}, environ={}).agent.temperature == 0.0
    assert load_config(file, environ={}).agent.temperature == 0.7


def test_zero_in_the_environment_counts(file: Path) -> None:
    config = load_config(file, environ={"YCBENCH_AGENT__TEMPERATURE": "0", _EMPLOYEES: "0"})
    assert (config.agent.temperature, config.world.num_employees) == (0.0, 0)


def test_no_override_of_a_horizon_leaves_the_files_horizon(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[sim]\nhorizon_years = 3\n")
    assert load_config(path, environ={}, overrides={}).sim.horizon_years == 3
    assert load_config(path, environ={}, overrides={"sim": {"horizon_years": 2}}).sim.horizon_years == 2


@pytest.mark.parametrize("limit", [0, None])
def test_no_limit_as_an_argument_counts(limit: int | None) -> None:
    tree = {"loop": {"max_turns": 9}}
    assert load_config(tree, overrides={"loop": {"max_turns": limit}}, environ={}).loop.max_turns is None


def test_an_empty_variable_is_an_error_for_a_number_and_a_value_for_text() -> None:
    assert f"environment variable {_EMPLOYEES}: world.num_employees = ''" in _error(environ={_EMPLOYEES: ""})
    assert _company("") == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Acme", "Acme"),
        ('"Acme"', "Acme"),
        ("7", "7"),
        ("true", "true"),
        ("Acme # 1", "Acme # 1"),
        ("[1]", "[1]"),
        ("'it is'", "it is"),
    ],
    ids=repr,
)
def test_a_text_setting_takes_the_variable_as_text(text: str, name: str) -> None:
    assert _company(text) == name


def test_a_line_break_in_a_variable_lets_no_other_setting_in() -> None:
    assert "'9\\nx = 1'" in _error(environ={_EMPLOYEES: "9\nx = 1"})


@pytest.mark.parametrize("text", ["abc", "7.5", "true", '"7"', "[7]", "nan", "-1", "9" * 5000, "[" * 100_000])
def test_a_bad_value_names_the_variable_and_the_setting(text: str) -> None:
    message = _error(environ={_EMPLOYEES: text})
    assert message.startswith(f"environment variable {_EMPLOYEES}: world.num_employees = ")
    assert "expected a whole number, 0 to 1_000" in message
    assert len(message) < 300


def test_a_bad_value_is_an_error_also_where_a_stronger_place_replaces_it() -> None:
    assert _EMPLOYEES in _error({"world": {"num_employees": 3}}, environ={_EMPLOYEES: "abc"})


def test_variables_reach_every_kind_of_setting() -> None:
    config = load_config(
        environ={
            "YCBENCH_WORLD__ACCRUAL": "until_midnight",
            "YCBENCH_WORLD__WORLD_SEED": "run",
            "YCBENCH_SIM__START_DATE": "2026-02-03",
            "YCBENCH_LOOP__MAX_TURNS": "1_000",
            "YCBENCH_WORLD__TASK_PROGRESS_MILESTONES": "[0.25, 0.5]",
            "YCBENCH_WORLD__SALARY_JUNIOR__RATE_MIN": "2",
            "YCBENCH_WORLD__DIST__REQUIRED_QTY__LOW": "300",
        }
    )
    assert (config.world.accrual, config.world.world_seed) == ("until_midnight", "run")
    assert config.sim.start_date.isoformat() == "2026-02-03"
    assert config.loop.max_turns == 1000
    assert config.world.task_progress_milestones == (0.25, 0.5)
    assert config.world.salary_junior.rate_min == 2.0
    assert config.world.dist.required_qty == Triangular(low=300, high=1500, mode=800)


def test_variables_can_change_the_type_of_a_distribution_in_any_order() -> None:
    stem = "YCBENCH_WORLD__DIST__REQUIRED_QTY__"
    variables = {f"{stem}LOW": "300", f"{stem}HIGH": "900", f"{stem}TYPE": "uniform"}
    assert load_config(environ=variables).world.dist.required_qty == Uniform(low=300, high=900)
    constant = load_config(environ={f"{stem}VALUE": "400", f"{stem}TYPE": '"constant"'})
    assert constant.world.dist.required_qty == Constant(value=400)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("YCBENCH_WORLD__NUM_EMPLOYES", _EMPLOYEES),
        ("YCBENCH_WORLD_NUM_EMPLOYEES", _EMPLOYEES),
        ("YCBENCH_world__num_employees", _EMPLOYEES),
        ("YCBENCH_NUM_EMPLOYEES", _EMPLOYEES),
        ("YCBENCH_WORLD__DIST__REQUIRED_QTY__LWO", "YCBENCH_WORLD__DIST__REQUIRED_QTY__LOW"),
    ],
)
def test_a_misspelt_variable_is_an_error_with_the_nearest_name(name: str, meant: str) -> None:
    assert _error(environ={name: "3"}) == (f"environment variable {name} = '3': unknown setting; did you mean {meant}?")


@pytest.mark.parametrize("name", ["YCBENCH_NAME", "YCBENCH_EXTENDS", "YCBENCH_", "YCBENCH_QQQQ"])
def test_the_top_level_has_no_variables(name: str) -> None:
    assert f"environment variable {name} = 'x': unknown setting" in _error(environ={name: "x"})


@pytest.mark.parametrize("name", [*RESERVED_VARIABLES, "PATH", "MY_YCBENCH_X", "YCBENCH"])
def test_variables_of_others_are_left_alone(name: str) -> None:
    assert load_config(environ={name: "x"}) == load_config(environ={})


def test_all_bad_variables_are_named_at_once() -> None:
    message = _error(environ={_EMPLOYEES: "abc", "YCBENCH_X": "1", "YCBENCH_SIM__HORIZON_YEARS": "-1"})
    assert message.startswith("3 problems")


def test_a_loaded_mapping_of_all_settings_cannot_be_changed_by_the_environment() -> None:
    config = load_config(environ={})
    loaded = load_config(config.to_dict(), environ={"YCBENCH_LOOP__MAX_TURNS": "3", _EMPLOYEES: "4"})
    assert isinstance(loaded, Config)
    assert loaded == config
