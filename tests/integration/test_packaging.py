"""What is shipped, what it needs, and what must not stand in the tree."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MADE = {"__pycache__", "build", "dist", "out", "runs", "uv.lock"}  # and names with a leading dot, but .ci
EXTRA_ONLY = ("cyclopts", "hypothesis", "matplotlib", "moviepy", "openai", "prompt_toolkit", "rich", "scipy")


def tree_files() -> list[Path]:
    """The files that are or will be committed; in an exported tree without git, all but what is made."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - whichever git is there
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0 and listed.stdout:
        return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]
    return [path for path in ROOT.rglob("*") if path.is_file() and _is_part_of_the_tree(path.relative_to(ROOT))]


def _is_part_of_the_tree(path: Path) -> bool:
    return not any(part in MADE or (part.startswith(".") and part != ".ci") for part in path.parts)


def test_the_wheel_holds_every_module_preset_and_type_marker_and_nothing_else(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        names = set(wheel.namelist())
    for package in (ROOT / "ycbench_env", ROOT / "agents/ycbench_agents"):
        files = [path for path in package.rglob("*") if path.suffix in {".py", ".toml"}]
        assert {path.relative_to(package.parent).as_posix() for path in files} <= names
        assert f"{package.name}/py.typed" in names
    assert {"ycbench_env/presets/default.toml", "ycbench_env/presets/reference.toml"} <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"ycbench_env", "ycbench_agents", f"ycbench_env-{PYPROJECT['project']['version']}.dist-info"}


def test_an_episode_runs_without_the_optional_libraries() -> None:
    script = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRA_ONLY!r}:
            raise ModuleNotFoundError(name + " is not installed", name=name)

sys.meta_path.insert(0, Refuse())
import gymnasium, ycbench_env, ycbench_env.wrappers
env = gymnasium.make("YCBench-v0")
env.reset(seed=1)
info = env.step("yc-bench company status")[-1]
assert info["results"][-1]["ok"], info
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_rules_import_nothing_but_math_typing_and_each_other() -> None:
    allowed = {"__future__", "math", "typing", "collections.abc"}
    for path in (ROOT / "ycbench_env/rules").rglob("*.py"):
        lines = re.findall(r"^\s*(?:from|import) (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert {line for line in lines if not line.startswith("ycbench_env.rules.")} <= allowed, path


_SCRIPTED_MAY_IMPORT: Final = {
    "__future__", "collections", "collections.abc", "contextlib", "dataclasses", "datetime", "enum", "errno",
    "functools", "gzip", "heapq", "itertools", "json", "math", "operator", "os", "pathlib", "random", "re", "sys",
    "typing", "warnings", "zlib", "attrs", "io", "numpy", "ycbench_agents.base", "ycbench_agents.files",
    "ycbench_agents.registry", "ycbench_env.errors", "ycbench_env.text",
}  # fmt: skip
"""The world is not among them, and nothing that could lead to it: ``ycbench_env`` gives away states and transitions."""


def _sees_too_much(path: Path) -> list[str]:
    """Return what a scripted policy imports beyond the standard library's plain parts and the type that it sees."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        allowed = True
        if isinstance(node, ast.Import):
            allowed = all(alias.name in _SCRIPTED_MAY_IMPORT for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            allowed = module in _SCRIPTED_MAY_IMPORT or module.startswith("ycbench_agents.scripted")
            allowed = allowed or (module == "ycbench_env" and [alias.name for alias in node.names] == ["Observation"])
        if not allowed:
            found.append(f"{node.lineno}: {ast.unparse(node)}")  # pyright: ignore[reportAttributeAccessIssue] -- a statement
    return found


def test_scripted_policies_import_nothing_through_which_the_world_could_be_seen() -> None:
    files = list((ROOT / "agents/ycbench_agents/scripted").rglob("*.py"))
    assert files
    assert {path.name: lines for path in files if (lines := _sees_too_much(path))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "import ycbench_env.types",
        "from ycbench_env import Observation, initial_state",
        "from ycbench_agents.rollout import rollout",
        "import inspect, math",
    ],
)
def test_an_import_through_which_the_world_could_be_seen_is_found(line: str, tmp_path: Path) -> None:
    path = tmp_path / "cheat.py"
    path.write_text(f"class Cheat:\n    def reset(self, seed):\n        {line}\n", encoding="utf-8")
    assert _sees_too_much(path) == [f"3: {line}"]


def test_the_core_needs_four_libraries() -> None:
    names = {Requirement(line).name for line in PYPROJECT["project"]["dependencies"]}
    assert names == {"attrs", "gymnasium", "numpy", "tomli-w"}


def test_every_package_that_is_installed_is_pinned_once() -> None:
    names = _pinned("constraints.txt")
    assert len(names) == len(set(names))
    assert _needed_packages() - set(names) == set()


@pytest.mark.parametrize(("extra", "library"), [("ray", "ray"), ("dask", "distributed")])
def test_a_cluster_has_an_environment_of_its_own(extra: str, library: str) -> None:
    assert any(Requirement(line).name == library for line in PYPROJECT["project"]["optional-dependencies"][extra])
    further = _pinned(f"constraints-{extra}.txt")
    assert library in further
    assert not set(further) & set(_pinned("constraints.txt"))


def _pinned(file: str) -> list[str]:
    """Canonical names of the packages that a file of constraints pins to one version."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert all(pin.url is None and [part.operator for part in pin.specifier] == ["=="] for pin in pins)
    return [canonicalize_name(pin.name) for pin in pins]


def _needed_packages() -> set[str]:
    """Canonical names of what the project, its extras and its development group bring, transitively, save clusters."""
    project = PYPROJECT["project"]
    waiting = [Requirement(line) for line in PYPROJECT["dependency-groups"]["dev"]]
    waiting += [Requirement(line) for line in [*project["dependencies"], *PYPROJECT["build-system"]["requires"]]]
    waiting += [
        Requirement(line)
        for name, extra in project["optional-dependencies"].items()
        if name not in {"ray", "dask"}
        for line in extra
    ]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key in seen or key[0] == "ycbench-env":
            continue
        seen.add(key)
        try:
            lines = requires(requirement.name) or []
        except PackageNotFoundError:
            continue
        waiting += [needed for line in lines if _applies(needed := Requirement(line), key[1])]
    return {name for name, _ in seen}


def _applies(requirement: Requirement, extras: frozenset[str]) -> bool:
    return requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in {"", *extras})


def test_the_tree_names_no_registry_and_no_path_of_a_machine() -> None:
    pattern = re.compile(  # written so that it does not find itself
        r"/(wor[k]|far[m]|roo[t])/|bash_job[s]|--(extra-)?index-ur[l]|/simpl[e]/|pypi\.or[g]|pythonhosted\.or[g]|registry\.npmj[s]"
    )
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in tree_files()
        if path.suffix not in {".svg", ".png", ".gif", ".mp4"}
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not found


def test_no_lock_file_is_in_the_tree() -> None:
    locks = [path.name for path in tree_files() if re.fullmatch(r".*\.lock|pylock.*\.toml|.*-lock\.json", path.name)]
    assert not locks


def test_the_makefile_lists_every_target_in_its_help() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = next(line for line in text.splitlines() if line.startswith(".PHONY:")).split()[1:]
    documented = {found[1] for line in text.splitlines() if (found := re.match(r"([a-z0-9-]+):.*## ", line))}
    assert set(phony) == documented
