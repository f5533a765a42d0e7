"""The version of the package, and that its public signatures can be read at run time."""

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import ycbench_env


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert ycbench_env.__version__ == version("ycbench-env") == project["version"]


def test_the_version_of_a_package_that_is_only_on_the_path_is_unknown() -> None:
    script = """
import importlib.metadata
def missing(name):
    raise importlib.metadata.PackageNotFoundError(name)
importlib.metadata.version = missing
import ycbench_env
print(ycbench_env.__version__)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603 -- written above
    assert done.stdout == "unknown\n"


def test_another_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'ycbench_env' has no attribute 'nothing'"):
        _ = ycbench_env.nothing  # pyright: ignore[reportAttributeAccessIssue] - wrong on purpose


def test_everything_works_without_docstrings_and_assertions() -> None:
    script = """
from ycbench_env import YCBenchEnv
from ycbench_env.testing import check_state
from ycbench_env.types.state import evolve
env = YCBenchEnv(render_mode="ansi")
env.reset(seed=1)
assert False
info = env.step("help; market browse; task accept --task-id Task-1; sim resume --help; dance")[4]
print([result["ok"] for result in info["results"]], "Funds" in env.render())
try:
    check_state(evolve(env.get_state(), funds_cents=5))
except AssertionError:
    print("checked")
"""
    done = subprocess.run([sys.executable, "-OO", "-c", script], capture_output=True, text=True, check=True)  # noqa: S603 -- written above
    assert done.stdout == "[True, True, True, True, False] True\nchecked\n"
