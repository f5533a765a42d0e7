"""A small suite, and policies with faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SMALL: dict[str, Any] = {
    "name": "small",
    "description": "Two policies in the first days of a year.",
    "presets": ["default"],
    "seeds": [1, 2],
    "limits": {"max_turns": 6},
    "policies": [{"name": "greedy"}, {"name": "idle"}],
}

FAULTY = """
import os, signal, sys, time
import numpy


class Fine:
    def reset(self, seed):
        self.seed = seed

    def act(self, observation):
        return "sim resume"


class Raises(Fine):
    def act(self, observation):
        raise RuntimeError(f"boom at {hex(id(self))}")


class ReturnsNone(Fine):
    def act(self, observation):
        return None


class Hangs(Fine):
    def act(self, observation):
        while True:
            time.sleep(1)


class EatsMemory(Fine):
    def act(self, observation):
        self.hoard = [numpy.empty(2**27) for _ in range(5)]  # 5 GiB of address space
        return "sim resume"


class Exits(Fine):
    def act(self, observation):
        os._exit(3)


class SysExits(Fine):
    def act(self, observation):
        sys.exit("enough")


class KillsItself(Fine):
    def act(self, observation):
        os.kill(os.getpid(), signal.SIGKILL)


class CannotBeMade(Fine):
    def __init__(self):
        raise ValueError("not today")
"""


@pytest.fixture
def small() -> dict[str, Any]:
    """Return the keys and values of a suite."""
    return {**SMALL}


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a module of policies with faults, which is the working directory."""
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path
