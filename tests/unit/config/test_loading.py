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
    ConfigSource,
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

EMPLOYEES = "YCBENCH_WORLD__NUM_EMPLOYEES"


def tree(key: str, value: object) -> dict[str, Any]:
    for part in reversed(key.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    return value


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def error(*arguments: object, **options: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(*arguments, **{"environ": {}, **options})  # pyright: ignore[reportArgumentType] - wrong on purpose
    return str(caught.value)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that extends another, in a folder of its own, which extends a preset."""
    write(
        tmp_path,
        "below/base.toml",
        'extends = "reference"\n[world]\nnum_clients = 4\nnum_employees = 5\n'
        '[world.dist.skill_boost]\ntype = "constant"\nvalue = 0.1\n',
    )
    text = 'extends = "below/base.toml"\n[world]\nnum_employees = 6\nnum_market_tasks = 7\n[agent]\ntemperature = 0.7\n'
    return write(tmp_path, "top.toml", text)


# ------------------------------------------------------------------------------------------- presets, files and extends


def test_extends_reaches_any_depth_relative_to_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "one/root.toml", 'extends = "reference"\n[world]\nnum_employees = 3\nnum_clients = 4\n')
    write(tmp_path, "one/two/middle.toml", 'extends = "../root.toml"\n[world]\nnum_clients = 5\n')
    write(tmp_path, "three/leaf.toml", 'extends = "../one/two/middle.toml"\n[loop]\nmax_turns = 9\n')
    monkeypatch.chdir(tmp_path / "one")
    config = load_config("../three/leaf.toml", environ={})
    assert (config.world.num_employees, config.world.num_clients, config.loop.max_turns) == (3, 5, 9)
    assert config.world.accrual == "until_midnight"
    # A file without a name takes its stem, one without a description keeps its parent's.
    assert (config.name, config.description) == ("leaf", load_config("reference", environ={}).description)
    # A mapping keeps both, and reads a byte order mark and the lines of Windows.
    write(tmp_path, "parent.toml", "\ufeff[world]\r\nnum_clients = 3\r\n")
    config = load_config({"extends": "parent.toml", "loop": {"max_turns": 4}}, environ={}, base_dir=tmp_path)
    assert (config.name, config.world.num_clients, config.loop.max_turns) == ("parent", 3, 4)


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ('extends = "a.toml"', ["a.toml", "a.toml"]),
        ('extends = "./sub/../a.toml"', ["a.toml", "a.toml"]),
        ('extends = "sub/b.toml"', ["a.toml", "b.toml", "a.toml"]),
    ],
)
def test_a_cycle_is_refused_with_the_chain(tmp_path: Path, text: str, chain: list[str]) -> None:
    write(tmp_path, "sub/b.toml", 'extends = "../a.toml"\n')
    message = error(write(tmp_path, "a.toml", text))
    assert [part.rpartition("/")[2] for part in message.partition(": a cycle")[0].replace(": ", " -> ").split(" -> ")
            if part != "extends"] == chain  # fmt: skip


@pytest.mark.parametrize("value", ["3", '["default"]', "true", '""', '"nowhere.toml"', '"a\\u0000"'])
def test_a_broken_chain_does_not_hide_the_other_problems(tmp_path: Path, value: str) -> None:
    message = error(write(tmp_path, "a.toml", f"extends = {value}\n[world]\nnum_employes = 3\n"))
    assert message.startswith("2 problems")
    assert "a.toml -> extends: " in message
    assert "did you mean world.num_employees?" in message


def test_a_preset_name_is_the_preset_even_where_such_a_file_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "default", "[world]\nnum_employees = 3\n")
    monkeypatch.chdir(tmp_path)
    sources = ("default", "./default", Path("default"))
    assert [load_config(source, environ={}).world.num_employees for source in sources] == [8, 3, 3]


@pytest.mark.parametrize("name", ["default.toml", "defualt", "Default", "configs/default.toml"])
def test_an_unknown_name_is_refused_with_both_possibilities_and_the_nearest_preset(tmp_path: Path, name: str) -> None:
    message = error(name, base_dir=tmp_path)
    assert f"{name!r} is not a preset ({', '.join(preset_names())}), and there is no file {tmp_path / name}" in message
    assert "did you mean the preset default?" in message


@pytest.mark.parametrize("source", [7, None, b"default", ["default"], {1, 2}], ids=repr)
def test_what_is_no_source_is_refused(source: object) -> None:
    assert "expected a preset name, a path, a Config or a mapping of nested tables" in error(source)
    assert "overrides = " in error(overrides=source or 3)


def test_what_cannot_be_read_is_refused_with_file_and_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "directory" in error(tmp_path).lower()
    path = tmp_path / "a.toml"
    for data, reason in {
        b"[world]\nnum_employees = \n": "line 2",
        b"x = " + b"9" * 5000: "",
        b"x = " + b"[" * 100_000: "",
        b"x = 2025-13-45": "",
        'company_name = "Café"'.encode("latin-1"): "position 19",
    }.items():
        path.write_bytes(data)
        message = error(path)
        assert f"{path}: not TOML in UTF-8: " in message
        assert reason in message

    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert f"{path}: cannot be read as a configuration file: [Errno 13] Permission denied" in error(path)


def test_a_distribution_of_another_type_is_replaced_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "a.toml", '[world.dist.required_qty]\ntype = "uniform"\nlow = 300\nhigh = 900\n')
    assert load_config(path, environ={}).world.dist.required_qty == Uniform(low=300, high=900)
    again = write(tmp_path, "b.toml", 'extends = "a.toml"\n[world.dist.required_qty]\ntype = "triangular"\n')
    assert error(again).count("is missing") == 3


# ----------------------------------------------------------------------------------------------- precedence, variables


def test_each_stronger_place_beats_all_weaker_ones(file: Path) -> None:
    environ = {EMPLOYEES: "4", "YCBENCH_WORLD__NUM_CLIENTS": "5"}

    def figures(source: ConfigSource, environ: dict[str, str], **world: object) -> tuple[int, int, int]:
        loaded = load_config(source, environ=environ, overrides={"world": world}).world
        return loaded.num_employees, loaded.num_clients, loaded.num_market_tasks

    assert figures(file, {}) == (6, 4, 7)
    assert figures(file, environ) == (4, 5, 7)
    assert figures(file, environ, num_employees=5) == (5, 5, 7)
    # A mapping is an argument and beats the environment, but what it extends does not.
    assert figures({"extends": str(file), "world": {"num_clients": 2}}, environ) == (4, 2, 7)
    # Zero as an argument counts.
    assert load_config(file, overrides={"agent": {"temperature": 0}}, environ={}).agent.temperature == 0.0


def test_the_environment_of_the_process_is_read_but_not_for_a_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(EMPLOYEES, "4")
    assert load_config().world.num_employees == 4
    config = load_config(environ={})
    for overrides in (None, {"loop": {"max_turns": 3}}):
        environ = {EMPLOYEES: "4", "YCBENCH_NONSENSE": "1"}
        assert load_config(config, overrides=overrides, environ=environ).world.num_employees == 8


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *(("Acme", "Acme"), ('"Acme"', "Acme"), ("7", "7"), ("true", "true"), ("", "")),
        *(("Acme # 1", "Acme # 1"), ("[1]", "[1]"), ("'it is'", "it is")),
    ],
    ids=repr,
)
def test_a_text_setting_takes_the_variable_as_text(text: str, name: str) -> None:
    assert load_config(environ={"YCBENCH_SIM__COMPANY_NAME": text}).sim.company_name == name


@pytest.mark.parametrize("text", ["", "abc", "7.5", "true", '"7"', "[7]", "nan", "-1", "9" * 5000, "[" * 100_000])
def test_a_bad_value_names_the_variable_and_the_setting(text: str) -> None:
    message = error(environ={EMPLOYEES: text})
    assert message.startswith(f"environment variable {EMPLOYEES}: world.num_employees = ")
    assert message.endswith("expected a whole number, 0 to 1_000")
    assert len(message) < 300


def test_a_line_break_in_a_variable_lets_no_other_setting_in() -> None:
    assert "'9\\nx = 1'" in error(environ={EMPLOYEES: "9\nx = 1"})


def test_variables_reach_every_kind_of_setting() -> None:
    written = {
        "WORLD__ACCRUAL": "until_midnight",
        "WORLD__WORLD_SEED": "run",
        "SIM__START_DATE": "2026-02-03",
        "LOOP__MAX_TURNS": "1_000",
        "WORLD__TASK_PROGRESS_MILESTONES": "[0.25, 0.5]",
        "WORLD__SALARY_JUNIOR__RATE_MIN": "2",
        "WORLD__DIST__REQUIRED_QTY__LOW": "300",
        # The type clears what it finds, whatever the order of the variables.
        "WORLD__DIST__DOMAIN_COUNT__LOW": "2",
        "WORLD__DIST__DOMAIN_COUNT__HIGH": "3",
        "WORLD__DIST__DOMAIN_COUNT__TYPE": "uniform",
        "WORLD__DIST__SKILL_BOOST__VALUE": "0.5",
        "WORLD__DIST__SKILL_BOOST__TYPE": '"constant"',
    }
    config = load_config(environ={f"YCBENCH_{name}": value for name, value in written.items()})
    world = config.world
    assert (world.accrual, world.world_seed, config.loop.max_turns) == ("until_midnight", "run", 1000)
    assert config.sim.start_date.isoformat() == "2026-02-03"
    assert (world.task_progress_milestones, world.salary_junior.rate_min) == ((0.25, 0.5), 2.0)
    assert world.dist.required_qty == Triangular(low=300, high=1500, mode=800)
    assert (world.dist.domain_count, world.dist.skill_boost) == (Uniform(low=2, high=3), Constant(value=0.5))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("YCBENCH_WORLD__NUM_EMPLOYES", f"did you mean {EMPLOYEES}?"),
        ("YCBENCH_WORLD_NUM_EMPLOYEES", f"did you mean {EMPLOYEES}?"),
        ("YCBENCH_world__num_employees", f"did you mean {EMPLOYEES}?"),
        ("YCBENCH_NUM_EMPLOYEES", f"did you mean {EMPLOYEES}?"),
        ("YCBENCH_WORLD__DIST__REQUIRED_QTY__LWO", "did you mean YCBENCH_WORLD__DIST__REQUIRED_QTY__LOW?"),
        ("YCBENCH_QQQQ", "settings are YCBENCH_<TABLE>__<KEY>, listed in docs/configuration.md"),
        *((name, "") for name in ("YCBENCH_NAME", "YCBENCH_EXTENDS", "YCBENCH_")),  # the top level has no variables
    ],
)
def test_an_unknown_variable_is_an_error_with_the_nearest_name(name: str, hint: str) -> None:
    assert error(environ={name: "3"}).startswith(f"environment variable {name} = '3': unknown setting; {hint}")


def test_variables_of_others_are_left_alone() -> None:
    environ = dict.fromkeys([*RESERVED_VARIABLES, "PATH", "MY_YCBENCH_X", "YCBENCH"], "x")
    assert load_config(environ=environ) == load_config(environ={})


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
        "world.num_market_tasks": Origin("argument"),
        "world.prestige_max": Origin("preset", "default"),
    }
    assert {key: origins[key] for key in expected} == expected
    assert list(origins) == [key for key in LEAVES if key in origins]
    assert "world.dist.skill_boost.alpha" not in origins
    config = load_config("reference", environ={})
    origins = config_origins(config, overrides={"loop": {"max_turns": 3}}, environ={"YCBENCH_LOOP__MAX_TURNS": "4"})
    assert origins["loop.max_turns"] == Origin("argument")
    assert origins["world.accrual"] == origins["world.num_clients"] == Origin("configuration", "reference")


@settings(max_examples=20, deadline=None)
@given(left=valid_configs(), right=valid_configs())
def test_no_difference_is_equality_and_each_difference_is_real(left: Config, right: Config) -> None:
    differences = diff_configs(left, right)
    assert (not differences) == (left == right)
    assert not diff_configs(left, left)
    assert all(difference.left != difference.right for difference in differences)


def test_differences_are_dotted_keys_with_both_values() -> None:
    changes = {"name": "x", "world": {"dist": {"domain_count": {"type": "uniform", "low": 1, "high": 2}}}}
    assert diff_configs(load_config(environ={}), load_config(changes, environ={})) == (
        Difference("name", "default", "x"),
        Difference("world.dist.domain_count.type", "constant", "uniform"),
        Difference("world.dist.domain_count.low", None, 1.0),
        Difference("world.dist.domain_count.high", None, 2.0),
        Difference("world.dist.domain_count.value", 1.0, None),
    )


# ---------------------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("world.num_employes", 3, "unknown key; did you mean world.num_employees?"),
        ("wrld", {"num_employees": 3}, "unknown table; did you mean world?"),
        ("num_employees", 3, "unknown key; did you mean world.num_employees?"),
        ("sim.num_employees", 3, "unknown key; did you mean world.num_employees?"),
        ("world.rate_max", 9, "unknown key; did you mean world.salary_mid.rate_max?"),
        ("dist", {"required_qty": {}}, "unknown table; did you mean world.dist?"),
        ("world.dist.required_qty.lwo", 3, "unknown key; did you mean world.dist.required_qty.low?"),
        ("world.dist.required_quantity", {}, "unknown table; did you mean world.dist.required_qty?"),
        ("world.salary_junior.rate_mim", 3, "unknown key; did you mean world.salary_junior.rate_min?"),
        ("world.trust_gain_base", 3, "unknown key; it follows from other settings"),
        ("zzqqxx", 1, "unknown key; the settings are listed in docs/configuration.md"),
        ("nmae", "x", "unknown key; did you mean name?"),
        ("company_nam", "x", "unknown key; did you mean sim.company_name?"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_key(key: str, value: object, hint: str) -> None:
    assert error(tree(key, value)) == f"argument: {key} = {value!r}: {hint}"


@pytest.mark.parametrize("key", ["world.num_employees", 3, None, "sim.start_date"])
def test_a_dotted_or_non_text_key_is_no_way_into_a_table(key: object) -> None:
    assert "nest the tables" in error({key: 3})


def test_a_table_must_be_a_table() -> None:
    for table in ("sim", "world", "world.dist", "world.dist.required_qty", "world.salary_mid"):
        for value in (3, "x", None, [], [{}]):
            assert error(tree(table, value)) == f"argument: {table} = {value!r}: expected a table"


@pytest.mark.parametrize("kind", ["Triangular", "gaussian", "", 3, None], ids=repr)
def test_a_distribution_has_a_known_type(kind: object) -> None:
    message = error(tree("world.dist.required_qty.type", kind))
    expected = '"triangular", "beta", "normal", "uniform", "constant"'
    assert message == f"argument: world.dist.required_qty.type = {kind!r}: expected one of {expected}"


def test_a_distribution_has_the_parameters_of_its_type() -> None:
    lacks = error({"world": {"dist": {"required_qty": {"type": "uniform", "low": 3}}}})
    assert lacks == 'argument: world.dist.required_qty.high is missing; type = "uniform" has low, high'
    foreign = error({"world": {"dist": {"domain_count": {"low": 1}}}})
    assert foreign == 'argument: world.dist.domain_count.low = 1.0: unknown key; type = "constant" has value'


def test_all_problems_come_in_one_message() -> None:
    message = error(
        {"world": {"num_employees": -7, "num_clients": "6", "wrkday": 3, "prestige_min": 5}, "loop": 3, "sim": {"x": 1}}
    )
    assert message.startswith("6 problems in the configuration:\n- ")
    assert message.count("\n- ") == 6
    assert len(error({"world": {"num_employees": "x" * 10_000}})) < 300
    assert len(error({"world": {"num_employees": 10**5000}})) < 300


def test_many_unknown_keys_are_counted_in_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("difflib.get_close_matches", lambda word, _words, n: asked.append(word) or [])  # noqa: ARG005
    lines = error({"world": {f"key{number}": 1 for number in range(5_000)}}).splitlines()
    assert (lines[0], lines[-1]) == ("5000 problems in the configuration:", "- ... and 4,950 more")
    assert len(lines) == 52
    assert len(asked) < 200  # each costs milliseconds


@pytest.mark.parametrize("key", sorted(NO_EFFECT))
def test_a_key_of_the_public_implementation_without_effect_warns_once(tmp_path: Path, key: str) -> None:
    table, _, name = key.rpartition(".")
    write(tmp_path, "parent.toml", f"[{table}]\n{name} = 9.0\n")
    child = write(tmp_path, "child.toml", f'extends = "parent.toml"\n[{table}]\n{name} = "x"\n')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        config = load_config(child, environ={f"YCBENCH_{key.upper().replace('.', '__')}": "x"})
    assert [warning.category for warning in caught] == [ConfigWarning]
    assert f"{key} has no effect here" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert attrs.evolve(config, name="default") == load_config(environ={})


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
    message = error({key: 3})
    assert message.startswith(written)
    assert message.isascii()
    assert len(message) < 300


def test_nothing_of_a_file_or_a_name_reaches_the_terminal_raw(tmp_path: Path) -> None:
    config = attrs.evolve(load_config(environ={}), name="a\u202eb")
    path = write(tmp_path, "a\u202eb.toml", '[world]\n"\u202e" = "\u202e"\nnum_employees = "\u202e"\n')
    (tmp_path / "\u202e").mkdir()
    for message in (
        error(config, overrides={"world": {"prestige_min": 11}}),
        error(path),
        error(write(tmp_path, "c.toml", 'a = "\u202e\n')),
        error("a\u202eb"),
        error(tmp_path / "\u202e"),
        error(environ={"YCBENCH_\u202e": "\u202e"}),
    ):
        assert "\u202e" not in message
