"""Where a configuration comes from: presets, paths, mappings, and chains of ``extends``."""

from pathlib import Path

import pytest

from ycbench_env.config import Config, Uniform, load_config, preset_names
from ycbench_env.errors import ConfigError


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def _error(*arguments: object, **options: object) -> str:
    with pytest.raises(ConfigError) as caught:
        load_config(*arguments, **{"environ": {}, **options})  # pyright: ignore[reportArgumentType] - wrong on purpose
    return str(caught.value)


def test_a_file_without_extends_stands_on_the_default_preset(tmp_path: Path) -> None:
    path = _write(tmp_path, "small.toml", "[world]\nnum_employees = 3\n")
    config = load_config(path, environ={})
    assert config.world.num_employees == 3
    assert config.world.num_clients == load_config(environ={}).world.num_clients


def test_a_file_without_a_name_takes_its_stem_and_keeps_its_parents_description(tmp_path: Path) -> None:
    config = load_config(_write(tmp_path, "small.toml", ""), environ={})
    assert config.name == "small"
    assert config.description == load_config(environ={}).description


def test_the_nearest_name_and_description_win(tmp_path: Path) -> None:
    _write(tmp_path, "parent.toml", 'name = "p"\ndescription = "of p"\n')
    path = _write(tmp_path, "child.toml", 'extends = "parent.toml"\nname = "c"\n')
    assert (load_config(path, environ={}).name, load_config(path, environ={}).description) == ("c", "of p")


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


def test_a_missing_parent_is_refused_with_the_chain_and_the_path(tmp_path: Path) -> None:
    _write(tmp_path, "b.toml", 'extends = "nowhere.toml"\n')
    message = _error(_write(tmp_path, "a.toml", 'extends = "b.toml"\n'))
    assert "a.toml -> " in message
    assert str(tmp_path / "nowhere.toml") in message


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


@pytest.mark.parametrize("source", ["", 7, None, b"default", ["default"], {1, 2}], ids=repr)
def test_what_is_no_source_is_refused(source: object) -> None:
    assert "expected" in (message := _error(source)) or "not a preset" in message


def test_a_path_of_bytes_is_refused() -> None:
    class BytesPath:
        def __fspath__(self) -> bytes:
            return b"a.toml"

    assert "it is no path" in _error(BytesPath())


def test_a_directory_is_refused_as_such(tmp_path: Path) -> None:
    assert "directory" in _error(tmp_path).lower()


def test_a_path_with_a_zero_byte_is_refused() -> None:
    assert "cannot be read" in _error("a\0b.toml")


def test_an_unreadable_file_is_refused_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = _write(tmp_path, "a.toml", "")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    message = _error(path)
    assert "a.toml: cannot be read" in message
    assert "Permission denied" in message


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").symlink_to(tmp_path / "b.toml")
    (tmp_path / "b.toml").symlink_to(tmp_path / "a.toml")
    assert "cannot be read" in _error(tmp_path / "a.toml")


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
    assert "not UTF-8" in message
    assert "line 3" in message


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_a_byte_order_mark_and_windows_lines_are_tolerated(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(b"\xef\xbb\xbf" + f"[world]{newline}num_employees = 3{newline}".encode())
    assert load_config(path, environ={}).world.num_employees == 3


@pytest.mark.parametrize("date", ["2025-03-01", '"2025-03-01"'], ids=["bare", "text"])
def test_a_start_date_may_be_bare_or_text(tmp_path: Path, date: str) -> None:
    path = _write(tmp_path, "a.toml", f"[sim]\nstart_date = {date}\n")
    assert load_config(path, environ={}).sim.start_date.isoformat() == "2025-03-01"


def test_a_mapping_stands_on_the_default_preset_and_keeps_its_name() -> None:
    config = load_config({"world": {"num_employees": 3}}, environ={})
    assert (config.name, config.world.num_employees, config.world.num_clients) == ("default", 3, 6)


def test_a_mapping_extends_what_it_names_relative_to_the_base_directory(tmp_path: Path) -> None:
    _write(tmp_path, "parent.toml", "[world]\nnum_clients = 3\n")
    config = load_config({"extends": "parent.toml", "loop": {"max_turns": 4}}, environ={}, base_dir=tmp_path)
    assert (config.name, config.world.num_clients, config.loop.max_turns) == ("parent", 3, 4)


def test_a_mapping_is_not_changed() -> None:
    tree = {"extends": "reference", "world": {"dist": {"required_qty": {"type": "constant", "value": 500}}}}
    before = repr(tree)
    load_config(tree, environ={})
    assert repr(tree) == before


def test_a_configuration_is_returned_as_it_is() -> None:
    config = load_config(environ={})
    assert load_config(config) is config


def test_overrides_of_a_configuration_make_another() -> None:
    config = load_config({"name": "mine", "world": {"num_clients": 3}}, environ={})
    other = load_config(config, overrides={"world": {"num_employees": 0}})
    assert isinstance(other, Config)
    assert (other.name, other.world.num_clients, other.world.num_employees) == ("mine", 3, 0)
    assert config.world.num_employees == 8


def test_overrides_cannot_extend() -> None:
    assert "extends" in _error(overrides={"extends": "reference"})


def test_overrides_must_be_a_mapping() -> None:
    assert "overrides = 3: expected a mapping" in _error(overrides=3)


def test_a_distribution_of_another_type_is_replaced_whole(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.toml", '[world.dist.required_qty]\ntype = "uniform"\nlow = 300\nhigh = 900\n')
    assert load_config(path, environ={}).world.dist.required_qty == Uniform(low=300, high=900)


def test_a_distribution_of_the_same_type_merges_key_by_key(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.toml", '[world.dist.required_qty]\ntype = "triangular"\nlow = 300\n')
    assert (
        load_config(path, environ={}).world.dist.required_qty
        == load_config({"world": {"dist": {"required_qty": {"low": 300}}}}, environ={}).world.dist.required_qty
    )


def test_a_distribution_that_changes_its_type_twice_forgets_what_lay_between(tmp_path: Path) -> None:
    _write(tmp_path, "a.toml", '[world.dist.required_qty]\ntype = "uniform"\nlow = 300\nhigh = 900\n')
    message = _error(_write(tmp_path, "b.toml", 'extends = "a.toml"\n[world.dist.required_qty]\ntype = "triangular"\n'))
    assert message.count("is missing") == 3


def test_the_type_of_a_distribution_may_stand_below_its_parameters() -> None:
    table = {"low": 300, "high": 900, "type": "uniform"}
    config = load_config({"world": {"dist": {"required_qty": table}}}, environ={})
    assert config.world.dist.required_qty == Uniform(low=300, high=900)


def test_lists_are_replaced(tmp_path: Path) -> None:
    _write(tmp_path, "a.toml", "[world]\ntask_progress_milestones = [0.25, 0.5]\n")
    path = _write(tmp_path, "b.toml", 'extends = "a.toml"\n[world]\ntask_progress_milestones = [0.75]\n')
    assert load_config(path, environ={}).world.task_progress_milestones == (0.75,)


def test_zero_in_a_child_lifts_the_limit_of_its_parent(tmp_path: Path) -> None:
    _write(tmp_path, "a.toml", "[loop]\nmax_turns = 9\nauto_advance_after_turns = 3\n")
    path = _write(tmp_path, "b.toml", 'extends = "a.toml"\n[loop]\nmax_turns = 0\nauto_advance_after_turns = 0\n')
    loop = load_config(path, environ={}).loop
    assert (loop.max_turns, loop.auto_advance_after_turns) == (None, 0)
