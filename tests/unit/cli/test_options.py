"""Values of options: seeds, settings, parameters, configurations."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pytest

from ycbench_agents.cli.options import (
    load,
    load_all,
    load_one,
    named_file,
    overrides_in_force,
    read_overrides,
    read_parameters,
    read_seed,
    read_seeds,
    toml_value,
)
from ycbench_agents.cli.output import UsageError
from ycbench_agents.runs import RunError


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text("[world]\nnum_employees = 3\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("texts", "seeds"),
    [
        (["1", "2", "3"], (1, 2, 3)),
        (["1-3"], (1, 2, 3)),
        (["1,2", "5-6"], (1, 2, 5, 6)),
        (["3", "1"], (3, 1)),
        (["007", str(2**63)], (7, 2**63)),
        (["4-4"], (4,)),
    ],
)
def test_seeds_keep_their_order(texts: list[str], seeds: tuple[int, ...]) -> None:
    assert read_seeds(texts) == seeds


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        *[([text], "expected seeds like 1 2 3") for text in ("-1", "x", "", "1.5", "1-", "1-2-3", "\u0661", "9" * 40)],
        (["1", "1"], "twice, expected each seed once"),
        (["1-3", "02"], "twice, expected each seed once"),
        (["3-1"], "the smaller seed first"),
        (["0-999999999999999999"], "run them in parts"),
        (["1-100000", "100001"], "run them in parts"),
    ],
)
def test_wrong_seeds_are_refused(texts: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_seeds(texts)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9", 9),
        ("0.5", 0.5),
        ("true", True),
        ("until_midnight", "until_midnight"),
        ('"quoted"', "quoted"),
        ("[0.5, 1.0]", [0.5, 1.0]),
        ("2025-02-03", dt.date(2025, 2, 3)),
        ("", ""),
        ("1\nother = 2", "1\nother = 2"),
        ("[" * 10_000, "[" * 10_000),
        ("9" * 5_000, "9" * 5_000),
    ],
)
def test_a_value_is_toml_or_text(text: str, value: object) -> None:
    assert toml_value(text) == value


def test_settings_nest_and_the_last_one_counts() -> None:
    settings = ["world.num_employees=9", "sim.company_name=7", "world.num_employees=4", 'world.accrual="a = b"']
    assert read_overrides(settings) == {
        "world": {"num_employees": 4, "accrual": "a = b"},
        "sim": {"company_name": "7"},
    }
    assert read_parameters(["depth=2", "team-size=3", "name=x"]) == {"depth": 2, "team_size": 3, "name": "x"}


@pytest.mark.parametrize(
    ("read", "texts", "message"),
    [
        *[(read_overrides, [text], "expected KEY=VALUE, like") for text in ("world.num_employees", "=9", " =9", "")],
        (read_overrides, ["world=5", "world.num_employees=9"], "world was set to 5 before"),
        (read_parameters, ["depth"], "expected NAME=VALUE"),
        (read_parameters, ["a b=1"], "expected NAME=VALUE"),
        (read_parameters, ["x=1", "x=2"], "expected each parameter once"),
        (read_parameters, ["x=[inf]"], "--param: cannot be recorded"),
        *[(lambda texts: read_seed(*texts), [text], "one whole number") for text in ("1-2", "-1", "", "one")],
    ],
)
def test_wrong_values_are_refused(read: Callable[[list[str]], object], texts: list[str], message: str) -> None:
    with pytest.raises((UsageError, RunError), match=message):
        read(texts)


# ---- configurations


def test_presets_come_before_files_in_order(mine: Path) -> None:
    assert list(load_all((), (), ())) == ["default"]
    configs = load_all(("reference", "default"), (mine,), ())
    assert list(configs) == ["reference", "default", "mine"]
    assert configs["mine"].world.num_employees == 3


def test_settings_override_variables_and_variables_files(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("YCBENCH_WORLD__NUM_EMPLOYEES", "4")
        assert load_one(None, mine, ()).world.num_employees == 4
        assert load_one(None, mine, ("world.num_employees=9",)).world.num_employees == 9


def test_files_of_one_name_are_labelled_by_path(mine: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "mine.toml"
    other.parent.mkdir()
    other.write_text("", encoding="utf-8")
    assert list(load_all((), (mine, other), ())) == ["mine", str(other)]


def test_a_configuration_named_twice_is_refused(mine: Path) -> None:
    with pytest.raises(UsageError, match="twice, expected each once"):
        load_all(("default", "default"), (), ())
    with pytest.raises(UsageError, match="expected one of them"):
        load_one("default", mine, ())
    with pytest.raises(UsageError, match="twice, expected each once"):
        load_all((), (mine, mine), ())


def test_a_key_without_effect_is_a_warning_on_stderr(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine.write_text("[world]\nwork_hours_per_day = 8\n", encoding="utf-8")
    load(mine)
    assert "ycbench: warning: " in (printed := capsys.readouterr().err)
    assert "work_hours_per_day has no effect" in printed


def test_the_strongest_option_or_variable_is_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[world]\nnum_employees = 2\nnum_clients = 2\n", encoding="utf-8")
    settings = ("world.num_employees=9", "sim.start_date=2025-02-01", "world.num_market_tasks=200")
    with monkeypatch.context() as patch:
        patch.setenv("YCBENCH_WORLD__NUM_CLIENTS", "3")
        patch.setenv("YCBENCH_WORLD__NUM_EMPLOYEES", "4")
        found = overrides_in_force([path], settings, [load(path, read_overrides(settings))])
        assert [tuple(each.values()) for each in found] == [
            ("sim.start_date", "2025-02-01", "--set"),
            ("world.num_employees", 9, "--set"),
            ("world.num_market_tasks", 200, "--set"),  # also if it changes nothing
            ("world.num_clients", 3, "YCBENCH_WORLD__NUM_CLIENTS"),
        ]
    assert overrides_in_force(["reference"], (), [load("reference")]) == []


def test_a_file_is_named_by_path_or_by_name(mine: Path, tmp_path: Path) -> None:
    assert named_file(str(mine), tmp_path, "evaluate", "a suite") == mine
    assert named_file("mine", tmp_path, "evaluate", "a suite") == mine
    with pytest.raises(UsageError, match=r"evaluate: got 'other', expected the TOML file of a suite, .*: mine"):
        named_file("other", tmp_path, "evaluate", "a suite")
