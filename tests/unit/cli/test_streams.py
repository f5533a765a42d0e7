"""Text on its way out."""

from __future__ import annotations

import io
import sys

import pytest

from ycbench_agents.cli.console import dollars
from ycbench_agents.cli.streams import complain, make_output_total, one_line, read_turns_as_utf8, shown


@pytest.mark.parametrize("character", ["\x1b", "\x00", "\r", "\x7f", "\x9b", "\u202e", "\u2028", "\u2066", "\ud83d"])
def test_a_character_that_would_act_on_a_terminal_is_shown_as_an_escape(character: str) -> None:
    assert shown(f"a{character}b") == f"a{ascii(character)[1:-1]}b"
    assert one_line(f"a{character}b") == shown(f"a{character}b")


def test_text_keeps_its_lines_and_letters() -> None:
    assert shown("a\n\tb \U0001f600 \u200d é [red]") == "a\n\tb \U0001f600 \u200d é [red]"


def test_a_cell_shows_line_breaks_as_escapes() -> None:
    assert one_line("a\nb\tc") == "a\\nb\\tc"


def test_output_in_a_poor_encoding_escapes_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    make_output_total()
    sys.stdout.write("\U0001f600 é")
    sys.stdout.flush()
    assert raw.getvalue() == b"\\U0001f600 \\xe9"


def test_turns_are_read_as_utf8_whatever_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + "é\n".encode() + b"\xff"), encoding="ascii")
    )
    read_turns_as_utf8()
    assert sys.stdin.read() == "é\n\ufffd"


def test_streams_of_another_kind_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO())
    make_output_total()
    read_turns_as_utf8()


def test_a_complaint_goes_to_stderr_under_the_programs_name(capsys: pytest.CaptureFixture[str]) -> None:
    complain("bad \x1b[31mfile")
    assert capsys.readouterr() == ("", "ycbench: bad \\x1b[31mfile\n")


@pytest.mark.parametrize(
    ("cents", "text"),
    [(0, "$0.00"), (-1, "-$0.01"), (42_029_521, "$420,295.21"), (-1_630_305, "-$16,303.05"), (5, "$0.05")],
)
def test_an_amount_is_written_to_the_cent(cents: int, text: str) -> None:
    assert dollars(cents) == text
