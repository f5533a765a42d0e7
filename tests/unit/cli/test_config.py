"""The `config` commands: show with origins, validate, diff, list."""

from __future__ import annotations

import io
import json
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from ycbench_agents.cli.config import diff_config, list_config, show_config, validate_config
from ycbench_env import load_config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A file that extends another, in a folder of its own, which extends a preset."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "base.toml").write_text(
        'extends = "reference"\n[world]\nnum_clients = 4\nnum_employees = 5\n'
        '[world.dist.skill_boost]\ntype = "constant"\nvalue = 0.1\n',
        encoding="utf-8",
    )
    top = tmp_path / "top.toml"
    top.write_text('extends = "below/base.toml"\n[world]\nnum_employees = 6\n', encoding="utf-8")
    return top


def test_what_show_prints_is_a_file_of_the_same_configuration(
    chain: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for origin in (False, True):
        show_config(
            str(chain), settings=("world.num_employees=9", "sim.company_name=[red]\U0001f600 # x"), origin=origin
        )
        path = tmp_path / "shown.toml"
        path.write_text(capsys.readouterr().out, encoding="utf-8")
        overrides = {"world": {"num_employees": 9}, "sim": {"company_name": "[red]\U0001f600 # x"}}
        assert load_config(path) == load_config(chain, overrides=overrides)


def test_what_show_prints_in_a_poor_encoding_is_valid_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    show_config("default", settings=("sim.company_name=é\U0001f600",), origin=True)
    sys.stdout.flush()
    assert tomllib.loads(raw.getvalue().decode("ascii"))["sim"]["company_name"] == "é\U0001f600"


def test_each_setting_is_shown_with_the_place_that_it_comes_from(
    chain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("YCBENCH_SIM__HORIZON_YEARS", "2")
    show_config(str(chain), settings=("world.num_market_tasks=9",), origin=True)
    lines = capsys.readouterr().out.splitlines()
    base = str(tmp_path / "below" / "base.toml")
    for setting in (
        f'name = "top"  # {chain}',
        f"num_employees = 6  # {chain}",
        f"num_clients = 4  # {base}",
        'accrual = "until_midnight"  # preset reference',
        "num_market_tasks = 9  # --set",
        "horizon_years = 2  # YCBENCH_SIM__HORIZON_YEARS",
        f"value = 0.1  # {base}",
    ):
        assert setting in lines


def test_validate_names_every_problem_of_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, none, broken = (tmp_path / name for name in ("good.toml", "bad.toml", "none.toml", "broken.toml"))
    good.write_text("", encoding="utf-8")
    bad.write_text("[world]\nnum_employees = -1\nnum_clients = 99\n", encoding="utf-8")
    broken.write_text("[world\n", encoding="utf-8")
    assert validate_config(*map(str, (bad, good, none, broken))) == 2
    printed = capsys.readouterr()
    assert printed.out == f"{good}: valid\n"
    for text in ("world.num_employees = -1", "world.num_clients = 99", str(none), f"{broken}: not TOML"):
        assert text in printed.err


def test_validate_looks_at_the_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "good.toml"
    path.write_text("", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setenv("YCBENCH_WORLD__NUM_EMPLOYEES", "many")
        assert validate_config(str(path)) == 0
    monkeypatch.chdir(tmp_path)
    assert validate_config("default") == 2  # a preset's name is no file


def test_diff_shows_the_settings_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    assert diff_config("default", "reference") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["setting", "default", "reference"]
    assert [line.split()[0] for line in lines[2:]] == ["name", "description", "world.accrual"]
    assert lines[-1].split() == ["world.accrual", '"business_hours"', '"until_midnight"']
    assert diff_config("default", "reference", as_json=True) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[-1] == {"key": "world.accrual", "left": "business_hours", "right": "until_midnight"}
    assert diff_config("default", "default", settings=("world.num_employees=9",)) == 0
    assert capsys.readouterr().out == "no setting differs\n"


def test_a_distribution_of_another_type_shows_a_dash_for_what_it_lacks(
    chain: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    diff_config("default", str(chain))
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["world.dist.skill_boost.value", "-", "0.1"] in rows


def test_list_names_every_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert list_config() == 0
    printed = capsys.readouterr().out
    assert "default " in printed
    assert "reference " in printed
    assert all(line == line.rstrip() for line in printed.splitlines())
