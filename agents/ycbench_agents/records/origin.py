"""Where a run is played: versions and the state of the checkout."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Final

import ycbench_env
from ycbench_agents.records.record import GitState, RunOrigin

__all__ = ["git_state", "here", "package_version"]

_PACKAGES: Final = ("attrs", "gymnasium", "numpy", "openai")  # what plays; each is named where it is in use
_UNKNOWN: Final = "unknown"
_TIMEOUT_S: Final = 10.0
_CHECKED_FILE: Final = "__init__.py"


def package_version() -> str:
    """Return the version of ycbench-env, "unknown" where it is not installed."""
    return _version("ycbench-env") or _UNKNOWN


def here(started: str) -> RunOrigin:
    """Return the origin of a run that begins in this process.

    Args:
        started: Wall-clock time, ISO 8601.
    """
    return RunOrigin(
        python=platform.python_version(),
        packages={name: _version(name) for name in _PACKAGES if name in sys.modules},
        git=git_state(Path(ycbench_env.__file__).parent),
        started=started,
    )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def git_state(folder: Path) -> GitState | None:
    """Return the state of the checkout that a package's folder is part of.

    None without git, and where the package only lies in a checkout (as in its ``.venv``) without being part of it.
    """
    if _git(folder, "ls-files", "--error-unmatch", _CHECKED_FILE) is None:
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return None if commit is None or changes is None else GitState(commit.strip(), dirty=bool(changes.strip()))


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git says, None when it says nothing useful."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(  # noqa: S603 -- fixed words and this package's own folder; no shell
            command, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False, timeout=_TIMEOUT_S
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
