"""Streams, messages and cells."""

from __future__ import annotations

import io
import sys
import warnings

import pytest
from rich.text import Text

from ycbench_agents.cli.output import (
    cell,
    make_output_total,
    new_table,
    print_message,
    print_parts,
    printable_lines,
    showing_warnings,
)
from ycbench_env.text import dollars


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\r", "\x7f", "\x9b", "\u202e", "\u2028", "\u2066", "\ud83d"])
def test_characters_that_act_on_a_terminal_become_escapes(character: str, capsys: pytest.CaptureFixture[str]) -> None:
    escaped = f"a{ascii(character)[1:-1]}b"
    assert cell(f"a{character}b").plain == escaped
    assert printable_lines(f"a{character}b\nc") == f"{escaped}\nc"
    print_message(f"a{character}b")
    assert capsys.readouterr() == ("", f"ycbench: {escaped}\n")


def test_cells_hold_one_line_without_markup(capsys: pytest.CaptureFixture[str]) -> None:
    table = new_table("[red]x[/red]", ">n")
    table.add_row(cell("a\n[bold]b[/bold] :smile:"), cell(1))
    print_parts(table, Text("end"))
    rows = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    assert rows[0][0] == "[red]x[/red]"
    assert rows[2][0] == "a\\n[bold]b[/bold] :smile:"
    assert rows[3:] == [[""], ["end"]]


def test_output_escapes_what_its_encoding_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    make_output_total()
    sys.stdout.write("\U0001f600 é")
    sys.stdout.flush()
    assert raw.getvalue() == b"\\U0001f600 \\xe9"


def test_streams_of_another_kind_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO())
    make_output_total()


def test_warnings_are_lines_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with showing_warnings():
        warnings.warn("odd\u202e", stacklevel=1)
    assert capsys.readouterr().err == "ycbench: warning: odd\\u202e\n"


@pytest.mark.parametrize(
    ("cents", "text"),
    [(None, "-"), (0, "$0.00"), (-1, "-$0.01"), (42_029_521, "$420,295.21"), (-1_630_305, "-$16,303.05"), (5, "$0.05")],
)
def test_amounts_are_exact(cents: int | None, text: str) -> None:
    assert dollars(cents) == text
