"""Notebooks run from top to bottom, in a kernel of this very Python, and are kept with what that printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(path.name for path in NOTEBOOKS.glob("*.ipynb"))
SETTINGS = ("YCBENCH_", "OPENAI_", "JUPYTER", "IPYTHON")
FOR_A_CELL_S = 300  # for one that hangs; nothing is measured
ABSOLUTE_PATH = re.compile(r"""(?:^|[\s"'(=`])(?:/[A-Za-z][\w.-]*/|~/|[A-Za-z]:\\)|file:/""")

# In a process of its own: Jupyter's libraries warn when they are imported.
EXECUTE = f"""
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout={FOR_A_CELL_S}, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""

# Notebook, figures, and what it must print; what its prose claims it asserts itself.
ENDINGS = {
    "quickstart.ipynb": (2, ["late by 185h", "Did you mean task accept?", "115 turns, horizon_end"]),
    "anatomy_of_a_run.ipynb": (4, ["53 accepted, 52 completed, 42 in time", "late tasks took 198 of 365 days"]),
    "comparing_policies.ipynb": (
        1,
        ["21 episodes, the first: random, default, seed 1", "p = 0.250, at least 0.250", "10 policies:  11 seeds"],
    ),
    "papers_figures.ipynb": (10, ["15 of 15 episodes finished", "first on turn 7 for Equinox Labs", "$230,530.75"]),
    "context_ablation.ipynb": (1, ["4 of 4 episodes finished"]),
    "build_an_agent.ipynb": (
        1,
        [
            *("[2 earlier turns are gone]", "final_funds_cents=42029521", "running after 5 turns"),
            *("65 turns in the end, 60 asked for now\n\n[]\n", *["Nothing of this call was run"] * 4),
        ],
    ),
}


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def check_outputs(path: Path) -> None:
    """Check what the cells have printed and drawn."""
    figures, expected = ENDINGS[path.name]
    outputs = [output for cell in cells(path, "code") for output in cell["outputs"]]
    texts = [output["text"] if "text" in output else output["data"].get("text/plain", []) for output in outputs]
    text = "\n".join(map("".join, texts))
    assert [line for line in expected if text.count(line) < expected.count(line)] == []
    assert sum("image/png" in output.get("data", {}) for output in outputs) == figures
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
    assert ABSOLUTE_PATH.search(text) is None


def test_every_notebook_is_executed_here() -> None:
    assert sorted(ENDINGS) == NAMES


def test_the_extra_brings_the_program_and_the_client_that_a_notebook_starts() -> None:
    project = tomllib.loads((NOTEBOOKS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [Requirement(line).extras for line in project["optional-dependencies"]["notebooks"]]
    assert any({"cli", "llm"} <= names for names in extras)


@pytest.mark.parametrize(
    "name", [name if name == "quickstart.ipynb" else pytest.param(name, marks=pytest.mark.slow) for name in ENDINGS]
)
def test_a_notebook_runs_with_nothing_of_this_user_in_its_way(name: str, tmp_path: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if not key.startswith(SETTINGS)}
    for variable in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        environ[variable] = str(tmp_path / variable.lower())
    command = [sys.executable, "-c", EXECUTE, str(NOTEBOOKS / name), str(tmp_path / name)]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    check_outputs(tmp_path / name)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_kept_with_its_outputs(name: str) -> None:
    check_outputs(NOTEBOOKS / name)
    metadata = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))["metadata"]
    assert metadata["kernelspec"]["name"] == "python3"


@pytest.mark.parametrize("name", NAMES)
def test_no_absolute_path_stands_in_a_notebook_and_its_links_lead_somewhere(name: str) -> None:
    code, prose = (["".join(cell["source"]) for cell in cells(NOTEBOOKS / name, kind)] for kind in ("code", "markdown"))
    assert [line for text in (*code, *prose) for line in text.splitlines() if ABSOLUTE_PATH.search(line)] == []
    links = re.findall(r"\]\((?!https?:)([^)#]+)", "".join(prose))
    assert links
    assert [link for link in links if not (NOTEBOOKS / link).exists()] == []
