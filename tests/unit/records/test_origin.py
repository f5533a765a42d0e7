"""Where a run was begun: versions, and the checkout if there is one."""

# ruff: noqa: ANN401 -- the kit comes as a fixture, and stand-ins see anything

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from ycbench_agents.records import Runtime, play_run_sync, read_run, same_run
from ycbench_agents.records.origin import git_state, here, package_version


def git(folder: Path, *arguments: str) -> None:
    options = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *options, *arguments], check=True, capture_output=True)  # noqa: S603, S607 -- a repository of this test


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A package in a repository of its own."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="ascii")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    return package


def test_a_clean_and_a_changed_checkout_are_told_apart(checkout: Path) -> None:
    clean = git_state(checkout)
    (checkout / "untracked.py").write_text("", encoding="ascii")
    assert clean == git_state(checkout)
    (checkout / "__init__.py").write_text("changed = True\n", encoding="ascii")
    changed = git_state(checkout)
    assert clean is not None
    assert changed is not None
    assert (clean.dirty, changed.dirty) == (False, True)
    assert clean.commit == changed.commit
    assert len(clean.commit) == 40


def test_a_package_that_only_lies_in_a_checkout_has_no_state(checkout: Path) -> None:
    installed = checkout.parent / ".venv" / "package"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("", encoding="ascii")
    assert git_state(installed) is None


def test_there_is_no_state_without_a_checkout_and_without_git(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert git_state(Path(tmp_path.anchor)) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(checkout) is None


def test_the_origin_names_the_versions_at_hand() -> None:
    origin = here("2026-01-01T00:00:00+00:00")
    assert origin.python == platform.python_version()
    assert origin.started == "2026-01-01T00:00:00+00:00"
    assert {name: origin.packages[name] for name in ("attrs", "gymnasium", "numpy")} == {
        name: version(name) for name in ("attrs", "gymnasium", "numpy")
    }
    assert package_version() == version("ycbench-env")


def test_the_version_of_openai_is_told_only_where_it_is_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", object())
    assert here("").packages["openai"] == version("openai")
    monkeypatch.delitem(sys.modules, "openai")
    assert "openai" not in here("").packages


def test_a_package_that_is_not_installed_has_no_known_version(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("ycbench_agents.records.origin.metadata.version", missing)
    assert package_version() == "unknown"


def test_real_files_and_the_real_clock_write_the_same_run(tmp_path: Path, undisturbed: Path, kit: Any) -> None:
    record = play_run_sync(kit.plan(tmp_path / "real"), Runtime()).record
    assert same_run(record, read_run(undisturbed)) == []
    assert record.origin.started.endswith("+00:00")
    assert record.origin.started < str(record.outcome.ended)
