"""docs/metrics.md is true: it runs from top to bottom, and its columns, words and readings are the code's."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents.cli import main
from ycbench_agents.evaluation import metrics as module
from ycbench_agents.evaluation import notes as note_words
from ycbench_agents.evaluation.metrics import METRICS_FORMAT, RunMetrics, metrics_dtypes
from ycbench_agents.evaluation.notes import attitudes

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "metrics.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CLIENTS = ("Cortex Intelligence", "Prism Analytics", "Vanguard ML", "Equinox Labs")


def rows_under(header: str) -> list[list[str]]:
    """The cells of a table of the page."""
    lines = PAGE.partition(f"\n{header}\n")[2].partition("\n\n")[0].splitlines()[1:]
    assert lines, header
    return [[cell.strip() for cell in re.split(r"(?<!`)\|(?!`)", line.strip().strip("|"))] for line in lines]


READINGS = rows_under("| notes | reading |") + rows_under("| notes | reading | what misleads it |")


def shown(line: str, names: dict[str, Any]) -> tuple[str, str]:
    """What an expression of a line gives, and what its comment says."""
    expression, _, value = line.partition("  # ")
    return repr(eval(expression, names)), value.strip()  # noqa: S307 -- this project's own page


def run_python(text: str, names: dict[str, Any]) -> int:
    """Run a block; return how many of its lines say what they give."""
    exec("\n".join(line for line in text.splitlines() if "  # " not in line), names)  # noqa: S102 -- as above
    told = [line for line in text.splitlines() if "  # " in line]
    for line in told:
        given, said = shown(line, names)
        assert given == said, line
    return len(told)


@pytest.mark.usefixtures("capsys")
def test_the_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("YCBENCH_")]:
        monkeypatch.delenv(name)
    names: dict[str, Any] = {}
    told = 0
    for language, text in BLOCKS:
        if language == "sh":
            program, *arguments = shlex.split(text)
            assert (program, main(arguments)) == ("ycbench", 0)
        else:
            assert language == "python"
            told += run_python(text, names)
    assert told == 4


def test_the_format_and_every_column_are_on_the_page() -> None:
    assert f"(`METRICS_FORMAT` is {METRICS_FORMAT})" in PAGE
    columns = {*metrics_dtypes(), *attrs.fields_dict(RunMetrics)}
    for name in ("months", "clients", "failures", "calls", "prestige"):
        columns |= {field.name for field in attrs.fields(module._ROW_TYPES[name])}
    assert {column for column in columns if f"`{column}`" not in PAGE} <= {"paper_cause"}


def test_the_words_of_the_page_are_those_of_the_code() -> None:
    assert {kind: words.split(", ") for kind, words in rows_under("| kind | words |")} == {
        "avoidance": list(note_words.AVOIDANCE),
        "preference": list(note_words.PREFERENCE),
        "dealing": list(note_words.DEALING),
        "negation": list(note_words.NEGATIONS),
        "filler": list(note_words.FILLERS),
    }


@pytest.mark.parametrize(("notes", "reading"), [row[:2] for row in READINGS])
def test_notes_are_read_as_the_page_says(notes: str, reading: str) -> None:
    text = "\n".join(re.findall(r"`([^`]+)`", notes))
    said = attitudes(text, CLIENTS)
    parts = [
        f"{kind} {', '.join(name.split()[0] for name in CLIENTS if said.get(name) == kind)}"
        for kind in ("avoid", "select")
        if kind in said.values()
    ]
    assert ("; ".join(parts) or "nothing") == reading.partition(":")[0]
