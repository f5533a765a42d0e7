"""Where a configuration comes from: presets, files that extend each other, mappings, variables; and the messages."""

import warnings
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings

from ycbench_env.config import (
    RESERVED_VARIABLES,
    Config,
    Constant,
    Difference,
    Origin,
    Triangular,
    Uniform,
    config_origins,
    diff_configs,
    load_config,
    preset_names,
)
from ycbench_env.config.settings import LEAVES, NO_EFFECT
from ycbench_env.errors import ConfigError, ConfigWarning
from ycbench_env.testing.strategies import valid_configs

_ARGUMENT = Origin("argument")
_EMPLOYEES = "YCBENCH_WORLD__NUM_EMPLOYEES"


def _tree(key: str, value: object) -> dict[str, Any]:
    for part in reversed(key.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _error(*arguments: object, **options: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(*arguments, **{"environ": {}, **options})  # pyright: ignore[reportArgumentType] - wrong on purpose
    return str(caught.value)


def _company(value: str) -> str:
    return load_config(environ={"YCBENCH_SIM__COMPANY_NAME": value}).sim.company_name


@pytest.fixture
def layered(tmp_path: Path) -> Path:
    (tmp_path / "parent.toml").write_text("[world]\nnum_employees = 2\nnum_clients = 2\nnum_market_tasks = 2\n")
    path = tmp_path / "child.toml"
    path.write_text(
        'extends = "parent.toml"\n[world]\nnum_employees = 3\nnum_clients = 3\n[agent]\ntemperature = 0.7\n'
    )
    return path


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


def test_a_file_without_a_name_takes_its_stem_and_keeps_its_parents_description(tmp_path: Path) -> None:
    config = load_config(_write(tmp_path, "small.toml", ""), environ={})
    assert config.name == "small"
    assert config.description == load_config(environ={}).description


def test_extends_reaches_any_depth_relative_to_each_file_from_any_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "one/root.toml", 'extends = "reference"\n[world]\nnum_employees = 3\nnum_clients = 4\n')
    _write(tmp_path, "one/two/middle.toml", 'extends = "../root.toml"\n[world]\nnum_clients = 5\n')
    path = _write(tmp_path, "three/leaf.toml", 'extends = "../one/two/middle.toml"\n[loop]\nmax_turns = 9\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    config = load_config(path, environ={})
    assert (config.world.num_employees, config.world.num_clients, config.loop.max_turns) == (3, 5, 9)
    assert config.world.accrual == "until_midnight"


@pytest.mark.parametrize("text", ['extends = "a.toml"\n', 'extends = "./sub/../a.toml"\n'], ids=["plain", "roundabout"])
def test_a_file_that_extends_itself_is_refused_with_the_chain(tmp_path: Path, text: str) -> None:
    (tmp_path / "sub").mkdir()
    message = _error(_write(tmp_path, "a.toml", text))
    assert "cycle" in message
    assert message.count("a.toml") == 2


def test_a_cycle_of_two_files_is_refused_with_the_chain(tmp_path: Path) -> None:
    _write(tmp_path, "b.toml", 'extends = "a.toml"\n')
    message = _error(_write(tmp_path, "a.toml", 'extends = "b.toml"\n'))
    parts = [part.rpartition("/")[2] for part in message.partition(": a cycle")[0].split(" -> ")]
    assert parts[0] == "a.toml"
    assert parts[1] == "b.toml"
    assert parts[-1].endswith("a.toml")


def test_a_broken_chain_does_not_hide_the_other_problems(tmp_path: Path) -> None:
    message = _error(_write(tmp_path, "a.toml", 'extends = "nowhere.toml"\n[world]\nnum_employes = 3\n'))
    assert message.startswith("2 problems")
    assert "did you mean world.num_employees?" in message


@pytest.mark.parametrize("value", ["3", '["default"]', "true", '""'], ids=["int", "list", "bool", "empty"])
def test_extends_must_name_something(tmp_path: Path, value: str) -> None:
    assert "extends" in _error(_write(tmp_path, "a.toml", f"extends = {value}\n"))


def test_a_preset_name_is_the_preset_even_where_such_a_file_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "default", "[world]\nnum_employees = 3\n")
    monkeypatch.chdir(tmp_path)
    assert load_config("default", environ={}).world.num_employees == 8
    assert load_config("./default", environ={}).world.num_employees == 3
    assert load_config(Path("default"), environ={}).world.num_employees == 3


@pytest.mark.parametrize("name", ["default.toml", "defualt", "Default", "configs/default.toml"])
def test_an_unknown_name_is_refused_with_both_possibilities_and_the_nearest_preset(tmp_path: Path, name: str) -> None:
    message = _error(name, base_dir=tmp_path)
    assert repr(name) in message
    assert f"is not a preset ({', '.join(preset_names())}" in message
    assert f"there is no file {tmp_path / name}" in message
    assert "did you mean the preset default?" in message


@pytest.mark.parametrize("source", [7, None, b"default", ["default"], {1, 2}], ids=repr)
def test_what_is_no_source_is_refused(source: object) -> None:
    assert "expected" in (message := _error(source)) or "not a preset" in message


def test_a_directory_is_refused_as_such(tmp_path: Path) -> None:
    assert "directory" in _error(tmp_path).lower()


def test_an_unreadable_file_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = _write(tmp_path, "a.toml", "")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    message = _error(path)
    assert "a.toml: cannot be read" in message
    assert "Permission denied" in message


def test_a_syntax_error_is_refused_with_file_and_position(tmp_path: Path) -> None:
    message = _error(_write(tmp_path, "a.toml", "[world]\nnum_employees = \n"))
    assert "a.toml: not TOML" in message
    assert "line 2" in message


@pytest.mark.parametrize(
    "text", ["x = " + "9" * 5000, "x = " + "[" * 100_000, "x = 2025-13-45"], ids=["digits", "depth", "date"]
)
def test_toml_that_the_parser_chokes_on_is_refused_with_the_file(tmp_path: Path, text: str) -> None:
    assert "a.toml: not TOML" in _error(_write(tmp_path, "a.toml", text))


def test_a_file_that_is_not_utf8_is_refused_with_the_position(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes('name = "a"\n[sim]\ncompany_name = "Café"\n'.encode("latin-1"))
    message = _error(path)
    assert "a.toml: not TOML in UTF-8" in message
    assert "position 36" in message


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_a_byte_order_mark_and_windows_lines_are_tolerated(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbf" + f"[world]{newline}num_employees = 3{newline}".encode())
    assert load_config(path, environ={}).world.num_employees == 3


def test_a_mapping_extends_what_it_names_relative_to_the_base_directory(tmp_path: Path) -> None:
    _write(tmp_path, "parent.toml", "[world]\nnum_clients = 3\n")
    config = load_config({"extends": "parent.toml", "loop": {"max_turns": 4}}, environ={}, base_dir=tmp_path)
    assert (config.name, config.world.num_clients, config.loop.max_turns) == ("parent", 3, 4)


def test_overrides_must_be_a_mapping() -> None:
    assert "overrides = 3: expected a mapping" in _error(overrides=3)


def test_a_distribution_of_another_type_is_replaced_whole(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.toml", '[world.dist.required_qty]\ntype = "uniform"\nlow = 300\nhigh = 900\n')
    assert load_config(path, environ={}).world.dist.required_qty == Uniform(low=300, high=900)


def test_a_distribution_that_changes_its_type_twice_forgets_what_lay_between(tmp_path: Path) -> None:
    _write(tmp_path, "a.toml", '[world.dist.required_qty]\ntype = "uniform"\nlow = 300\nhigh = 900\n')
    message = _error(_write(tmp_path, "b.toml", 'extends = "a.toml"\n[world.dist.required_qty]\ntype = "triangular"\n'))
    assert message.count("is missing") == 3


# -------------------------------------------------------------------------------------------------- precedence


def test_each_stronger_place_beats_all_weaker_ones(layered: Path) -> None:
    def employees(**options: object) -> tuple[int, int, int]:
        world = load_config(layered, **options).world  # pyright: ignore[reportArgumentType] - wrong on purpose
        return world.num_employees, world.num_clients, world.num_market_tasks

    assert employees(environ={}) == (3, 3, 2)
    assert employees(environ={_EMPLOYEES: "4"}) == (4, 3, 2)
    assert employees(environ={_EMPLOYEES: "4"}, overrides={"world": {"num_employees": 5}}) == (5, 3, 2)


def test_a_mapping_is_an_argument_and_beats_the_environment_but_what_it_extends_does_not(layered: Path) -> None:
    tree = {"extends": str(layered), "world": {"num_clients": 7}}
    world = load_config(tree, environ={_EMPLOYEES: "4", "YCBENCH_WORLD__NUM_CLIENTS": "5"}).world
    assert (world.num_employees, world.num_clients) == (4, 7)


@pytest.mark.parametrize("options", [{}, {"overrides": {"loop": {"max_turns": 3}}}], ids=["alone", "overridden"])
def test_a_configuration_ignores_the_environment(options: dict[str, object]) -> None:
    config = load_config(environ={})
    loaded = load_config(config, environ={_EMPLOYEES: "4", "YCBENCH_NONSENSE": "1"}, **options)  # pyright: ignore[reportArgumentType] - wrong on purpose
    assert loaded.world.num_employees == 8


def test_the_environment_of_the_process_is_read_unless_another_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_EMPLOYEES, "4")
    assert load_config().world.num_employees == 4
    assert load_config(environ={}).world.num_employees == 8


def test_zero_as_an_argument_counts_against_a_file(layered: Path) -> None:
    assert load_config(layered, overrides={"agent": {"temperature": 0}}, environ={}).agent.temperature == 0.0
    assert load_config(layered, environ={}).agent.temperature == 0.7


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


# ----------------------------------------------------------------------------------------- origins and differences


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


def test_exactly_the_values_of_a_configuration_have_an_origin(file: Path) -> None:
    for source in ("default", "reference", file):
        origins = config_origins(source, environ={})
        assert set(origins) == _keys(load_config(source, environ={}).to_dict())
        assert list(origins) == [key for key in LEAVES if key in origins]


def test_what_a_configuration_holds_comes_from_it() -> None:
    config = load_config("reference", environ={})
    origins = config_origins(config, overrides={"loop": {"max_turns": 3}}, environ={"YCBENCH_LOOP__MAX_TURNS": "4"})
    assert origins["loop.max_turns"] == _ARGUMENT
    assert origins["world.accrual"] == origins["world.num_clients"] == Origin("configuration", "reference")


def _keys(table: dict[str, object], prefix: str = "") -> set[str]:
    parts = [
        _keys(each, f"{prefix}{name}.") if isinstance(each, dict) else {prefix + name} for name, each in table.items()
    ]
    return set[str]().union(*parts)


@settings(max_examples=30, deadline=None)
@given(left=valid_configs(), right=valid_configs())
def test_no_difference_is_equality_and_each_difference_is_real(left: Config, right: Config) -> None:
    differences = diff_configs(left, right)
    assert (not differences) == (left == right)
    assert all(difference.left != difference.right for difference in differences)


def test_differences_are_dotted_keys_with_both_values() -> None:
    left = load_config(environ={})
    right = load_config({"name": "x", "world": {"dist": {"domain_count": {"type": "uniform", "low": 1, "high": 2}}}},
                        environ={})  # fmt: skip
    assert diff_configs(left, right) == (
        Difference("name", "default", "x"),
        Difference("world.dist.domain_count.type", "constant", "uniform"),
        Difference("world.dist.domain_count.low", None, 1.0),
        Difference("world.dist.domain_count.high", None, 2.0),
        Difference("world.dist.domain_count.value", 1.0, None),
    )


# ---------------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("tree", "key", "meant"),
    [
        ({"world": {"num_employes": 3}}, "world.num_employes = 3", "unknown key; did you mean world.num_employees?"),
        ({"wrld": {"num_employees": 3}}, "wrld = ", "unknown table; did you mean world?"),
        ({"num_employees": 3}, "num_employees = 3", "unknown key; did you mean world.num_employees?"),
        ({"sim": {"num_employees": 3}}, "sim.num_employees = 3", "did you mean world.num_employees?"),
        ({"world": {"rate_max": 9}}, "world.rate_max = 9", "did you mean world.salary_mid.rate_max?"),
        ({"dist": {"required_qty": {}}}, "dist = ", "unknown table; did you mean world.dist?"),
        ({"world": {"dist": {"required_qty": {"lwo": 3}}}}, "required_qty.lwo = 3", "world.dist.required_qty.low?"),
        ({"world": {"dist": {"required_quantity": {}}}}, "dist.required_quantity", "world.dist.required_qty?"),
        ({"world": {"salary_junior": {"rate_mim": 3}}}, "rate_mim = 3", "world.salary_junior.rate_min?"),
        (
            {"world": {"trust_gain_base": 3}},
            "world.trust_gain_base = 3",
            "unknown key; it follows from other settings",
        ),
        ({"rules": {"x": 1}}, "rules = ", "unknown table"),
        ({"zzqqxx": 1}, "zzqqxx = 1", "unknown key; the settings are listed in docs/configuration.md"),
        ({"nmae": "x"}, "nmae = 'x'", "did you mean name?"),
        ({"company_nam": "x"}, "company_nam = 'x'", "did you mean sim.company_name?"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_unknown_key_is_refused_with_place_key_value_and_the_nearest_key(tree: object, key: str, meant: str) -> None:
    message = _error(tree)
    assert message.startswith("argument: ")
    assert key in message
    assert meant in message


@pytest.mark.parametrize("key", ["world.num_employees", 3, None, "sim.start_date"])
def test_a_dotted_or_non_text_key_is_no_way_into_a_table(key: object) -> None:
    assert "nest the tables" in _error({key: 3})


@pytest.mark.parametrize("table", ["sim", "world", "world.dist", "world.dist.required_qty", "world.salary_mid"])
@pytest.mark.parametrize("value", [3, "x", None, [], [{}]], ids=repr)
def test_a_table_must_be_a_table(table: str, value: object) -> None:
    assert f"{table} = {value!r}: expected a table" in _error(_tree(table, value))


@pytest.mark.parametrize("kind", ["Triangular", "gaussian", "", 3, None], ids=repr)
def test_a_distribution_has_a_known_type(kind: object) -> None:
    message = _error(_tree("world.dist.required_qty.type", kind))
    assert message.startswith("argument: world.dist.required_qty.type = ")
    assert '"triangular", "beta", "normal", "uniform", "constant"' in message
    assert "\n" not in message


def test_a_distribution_lacks_no_parameter() -> None:
    message = _error({"world": {"dist": {"required_qty": {"type": "uniform", "low": 3}}}})
    assert message == 'argument: world.dist.required_qty.high is missing; type = "uniform" has low, high'


def test_a_distribution_has_no_parameter_of_another_type() -> None:
    message = _error({"world": {"dist": {"domain_count": {"low": 1}}}})
    assert message == 'argument: world.dist.domain_count.low = 1.0: unknown key; type = "constant" has value'


def test_settings_that_do_not_agree_name_the_place_of_each(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[world]\nworkday_end_hour = 8\n")
    message = _error(path)
    assert message == (
        f"world.workday_start_hour = 9 (preset default), world.workday_end_hour = 8 ({path}): "
        "expected workday_start_hour < workday_end_hour"
    )


def test_all_problems_come_in_one_message() -> None:
    message = _error(
        {"world": {"num_employees": -7, "num_clients": "6", "wrkday": 3, "prestige_min": 5}, "loop": 3, "sim": {"x": 1}}
    )
    lines = message.splitlines()
    assert lines[0] == "6 problems in the configuration:"
    assert all(line.startswith("- ") for line in lines[1:])
    assert len(lines) == 7


def test_a_long_value_is_cut_in_the_message() -> None:
    assert len(_error({"world": {"num_employees": "x" * 10_000}})) < 300
    assert len(_error({"world": {"num_employees": 10**5000}})) < 300


@pytest.mark.parametrize("key", sorted(NO_EFFECT))
def test_a_key_of_the_public_implementation_without_effect_warns_once(tmp_path: Path, key: str) -> None:
    table, _, name = key.rpartition(".")
    (tmp_path / "parent.toml").write_text(f"[{table}]\n{name} = 9.0\n")
    child = tmp_path / "child.toml"
    child.write_text(f'extends = "parent.toml"\n[{table}]\n{name} = "x"\n')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = load_config(child, environ={})
    assert [warning.category for warning in caught] == [ConfigWarning]
    assert f"{key} has no effect here" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert attrs.evolve(config, name="default") == load_config(environ={})


def test_many_unknown_keys_are_counted_in_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("difflib.get_close_matches", lambda word, _words, n: asked.append(word) or [])  # noqa: ARG005
    lines = _error({"world": {f"key{number}": 1 for number in range(5_000)}}).splitlines()
    assert lines[0] == "5000 problems in the configuration:"
    assert lines[-1] == "- ... and 4,950 more"
    assert len(lines) == 52
    assert len(asked) < 200  # each costs milliseconds


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("w\u043erld", r"argument: 'w\u043erld' = 3: unknown key; did you mean world?"),
        ("\u202eworld", r"argument: '\u202eworld' = 3: unknown key; did you mean world?"),
        ("x" * 10_000, "argument: 'xxxx"),
        ("a b", "argument: 'a b' = 3"),
    ],
    ids=["look-alike", "direction", "long", "blank"],
)
def test_a_key_that_could_pass_for_another_is_shown_escaped(key: str, written: str) -> None:
    message = _error({key: 3})
    assert message.startswith(written)
    assert message.isascii()
    assert len(message) < 300


def test_nothing_of_a_file_or_a_name_reaches_the_terminal_raw(tmp_path: Path) -> None:
    config = attrs.evolve(load_config(environ={}), name="a\u202eb")
    path = _write(tmp_path, "a\u202eb.toml", '[world]\n"\u202e" = "\u202e"\nnum_employees = "\u202e"\n')
    broken = _write(tmp_path, "c.toml", 'a = "\u202e\n')
    for message in (
        _error(config, overrides={"world": {"prestige_min": 11}}),
        _error(path),
        _error(broken),
        _error("a\u202eb"),
        _error(environ={"YCBENCH_\u202e": "\u202e"}),
    ):
        assert "\u202e" not in message
