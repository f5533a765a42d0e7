"""Figures of an evaluation are the same bytes on every Python, so each validates what another one made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

RULES = Path(__file__).parents[2] / "configs" / "validation" / "development.toml"
SUITE = """
name = "s"
presets = ["reference", "classic-easy"]
seeds = [1]
policies = [
    { name = "greedy" }, { name = "random" }, { name = "throughput" }, { name = "expert" },
    { name = "mixture", parameters = { policy = "greedy", other = "random", epsilon = 0.1 } },
]
"""


def ycbench(python: str, folder: Path, *words: str) -> str:
    command = [python, "-m", "ycbench_agents.cli", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two interpreters of different versions, each with the folder in which it has played the suite."""
    newest = os.environ.get("NEWEST")
    if newest is None:
        pytest.skip("there is one Python here; `make newest` names another one")
    found: dict[str, Path] = {}
    for python in (sys.executable, str(Path(newest).absolute())):
        folder = tmp_path_factory.mktemp("played")
        (folder / "s.toml").write_text(SUITE)
        ycbench(python, folder, "evaluate", "s.toml", "--quiet")
        found[python] = folder
    versions = {subprocess.check_output([python, "--version"]) for python in found}
    if len(versions) == 1:
        pytest.skip(f"both interpreters are {versions.pop().decode().strip()}")
    return found


@pytest.mark.slow
def test_figures_are_the_same_bytes(pythons: dict[str, Path]) -> None:
    one, other = (folder / "out" / "s" for folder in pythons.values())
    assert (one / "results.json").read_bytes() == (other / "results.json").read_bytes()
    names = sorted(path.relative_to(one) for path in one.glob("*/metrics.json"))
    assert len(names) == 2 * 5
    for name in names:
        assert figures(one / name) == figures(other / name), name


def figures(file: Path) -> str:
    """The metrics in a file, without the time that playing took."""
    metrics = json.loads(file.read_text(encoding="utf-8"))["metrics"]
    return json.dumps(metrics | {"wall_s": None})


@pytest.mark.slow
def test_each_validates_what_the_other_made(pythons: dict[str, Path]) -> None:
    for python, folder in zip(pythons, reversed(pythons.values()), strict=True):
        assert "valid" in ycbench(python, folder, "validate", "out/s", "--rules", str(RULES))
