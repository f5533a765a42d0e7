from __future__ import annotations

import io
import re
import sys

import attrs
import pytest

from ycbench_env.observation.dashboard import dashboard
from ycbench_env.types.state import State
from ycbench_env.viewer import render_state
from ycbench_env.viewer.human import print_dashboard
from ycbench_env.viewer.wording import presentable


@pytest.fixture(autouse=True)
def plain_output(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("columns", [80, 143, 144, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(
    busy: State, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert render_state(busy, "human") is None
    text = capsys.readouterr().out
    assert {len(line) for line in text.splitlines()} == {columns}
    assert "…" not in text


def test_it_shows_money_tasks_trust_prestige_and_staff(
    busy: State, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    render_state(busy, "human")
    text = re.sub(r"[│┃]", "", capsys.readouterr().out)
    for words in (
        r"Acme +turn 5, 2025-02-03 09:00",
        r"funds \$192,879  ·  payroll \$7,120 a month  ·  runway 27.1 months",
        r"next payroll 2025-03-03",
        r"Task-1 +Equinox Labs +inference +███░░░░░░░░░ +29% +late 24 d",
        r"Task-2 +Vanguard ML +research +planned +late 24 d",
        r"Equinox Labs +Premium +░{12} +0.00 +0 +0",
        r"research +█░{11} 1.00",
        r"Emp_1 +junior +\$3,972 +1",
        r"\$200K ██████▇",
    ):
        assert re.search(words, text), words


def test_a_debt_and_the_end_are_shown(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    render_state(attrs.evolve(busy, funds_cents=-1, terminal_reason="bankruptcy"), "human")
    text = capsys.readouterr().out
    assert "BANKRUPT" in text
    assert "funds -$1 " in text
    assert re.search(r"\$0.*x·", text)


def test_long_lists_are_cut_and_say_so(busy: State, capsys: pytest.CaptureFixture[str]) -> None:
    board = presentable(dashboard(busy))
    print_dashboard(attrs.evolve(board, tasks=board.tasks * 7, employees=board.employees * 10, next_payroll_us=None))
    text = capsys.readouterr().out
    assert "7 active, 7 planned, the first 8 shown" in text
    assert "20, the first 12 shown" in text
    assert "next payroll" not in text


def test_an_output_of_another_encoding_gets_signs_that_it_has(busy: State, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    config = attrs.evolve(busy.config, sim=attrs.evolve(busy.config.sim, company_name="Société 漢"))
    render_state(attrs.evolve(busy, config=config), "human")
    text = raw.getvalue().decode("ascii")
    assert "Soci?t? ?" in text
    assert "###---------" in text
    assert "$0 ######" in text
