"""Notebooks run from top to bottom, in a kernel of this very Python, and are kept with what that printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

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


def cells(path: Path, kind: str) -> list[dict]:
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def executed(name: str, folder: Path) -> Path:
    """The notebook as it is after it has run, with nothing of this user's in its way."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(SETTINGS)}
    for variable in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        environ[variable] = str(folder / variable.lower())
    result = folder / "executed.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(NOTEBOOKS / name), str(result)],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return result


def printed(path: Path) -> str:
    """What the cells have printed, and the values that they end in."""
    outputs = [output for cell in cells(path, "code") for output in cell["outputs"]]
    texts = (output["text"] if "text" in output else output["data"].get("text/plain", []) for output in outputs)
    return "\n".join(map("".join, texts))


def stderr_of(path: Path) -> list[str]:
    return [
        output["text"] for cell in cells(path, "code") for output in cell["outputs"] if output.get("name") == "stderr"
    ]


def figures_of(path: Path) -> int:
    """How many figures there are."""
    outputs = (output for cell in cells(path, "code") for output in cell["outputs"])
    return sum("image/png" in output.get("data", {}) for output in outputs)


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
}


def test_every_notebook_is_executed_here() -> None:
    assert sorted([*ENDINGS, "build_an_agent.ipynb"]) == NAMES


def test_the_extra_brings_the_program_and_the_client_that_a_notebook_starts() -> None:
    project = tomllib.loads((NOTEBOOKS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [Requirement(line).extras for line in project["optional-dependencies"]["notebooks"]]
    assert any({"cli", "llm"} <= names for names in extras)


@pytest.mark.parametrize(
    "name", [name if name == "quickstart.ipynb" else pytest.param(name, marks=pytest.mark.slow) for name in ENDINGS]
)
def test_a_notebook_of_evaluation_ends_as_it_says(name: str, tmp_path: Path) -> None:
    figures, told = ENDINGS[name]
    notebook = executed(name, tmp_path)
    text = printed(notebook)
    assert [line for line in told if line not in text] == []
    assert figures_of(notebook) == figures
    assert stderr_of(notebook) == []


@pytest.mark.slow
def test_building_an_agent_ends_as_it_says(tmp_path: Path) -> None:
    notebook = executed("build_an_agent.ipynb", tmp_path)
    outputs = [output for cell in cells(notebook, "code") for output in cell["outputs"]]
    assert stderr_of(notebook) == []
    assert [output for output in outputs if "image/png" in output.get("data", {})] == outputs[-1:]
    text = printed(notebook)
    for told in ("[2 earlier turns are gone]", "final_funds_cents=42029521", "running after 5 turns"):
        assert told in text
    assert "65 turns in the end, 60 asked for now\n\n[]\n" in text
    assert text.count("Nothing of this call was run") == 4


@pytest.mark.parametrize("name", ENDINGS)
def test_outputs_are_kept(name: str) -> None:
    figures, told = ENDINGS[name]
    text = printed(NOTEBOOKS / name)
    assert [line for line in told if line not in text] == []
    assert figures_of(NOTEBOOKS / name) == figures
    assert stderr_of(NOTEBOOKS / name) == []
    assert ABSOLUTE_PATH.search(text) is None
    metadata = json.loads((NOTEBOOKS / name).read_text(encoding="utf-8"))["metadata"]
    assert metadata["kernelspec"]["name"] == "python3"


@pytest.mark.parametrize("name", NAMES)
def test_no_absolute_path_stands_in_a_notebook(name: str) -> None:
    lines = (line for kind in ("code", "markdown") for cell in cells(NOTEBOOKS / name, kind) for line in cell["source"])
    assert [line for line in lines if ABSOLUTE_PATH.search(line)] == []


@pytest.mark.parametrize("line", ['open("/tmp/x")', "in /home/me/x", "at C:\\x", "~/x", "file:///x", "(/etc/x)"])
def test_an_absolute_path_would_be_found(line: str) -> None:
    assert ABSOLUTE_PATH.search(line)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_notebook_links_to_is_there(name: str) -> None:
    text = "".join(line for cell in cells(NOTEBOOKS / name, "markdown") for line in cell["source"])
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert links
    assert [link for link in links if not (NOTEBOOKS / link).exists()] == []
