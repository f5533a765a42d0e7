"""An evaluation that is played on a cluster and on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from ycbench_agents.evaluation import Evaluation, play_suite
from ycbench_agents.evaluation.workers import BackendName

SUITE: dict[str, Any] = {
    "name": "cluster",
    "presets": ["default"],
    "seeds": ["1-2"],
    "limits": {"seconds": 600, "max_turns": 8},
    "policies": [{"name": "greedy"}, {"name": "idle"}, {"name": "ending:Ends", "label": "ends"}],
}
POLICY = """
import os

from ycbench_agents.base import policy_seed


class Ends:
    def reset(self, seed):
        self.seed = seed

    def act(self, observation):
        if self.seed == policy_seed(1):
            os._exit(1)
        return "sim resume"
"""


@attrs.frozen
class Field:
    """Where the suite is played."""

    folder: Path

    def play(self, name: str, backend: BackendName = "processes", address: str | None = None) -> Evaluation:
        """Play the suite into a folder of its own."""
        return play_suite(SUITE, self.folder / name, workers=2, backend=backend, address=address)

    def assert_plays_as_here(self, backend: BackendName, address: str | None = None) -> None:
        """Play on a cluster and on this machine, and compare the results byte for byte."""
        there = self.play("there", backend, address)
        self.play("here")
        assert [(each.key.policy, each.status) for each in there.episodes] == [
            ("greedy", "finished"),
            ("greedy", "finished"),
            ("idle", "finished"),
            ("idle", "finished"),
            ("ends", "failed"),
            ("ends", "finished"),
        ]
        first, second = ((self.folder / name / "results.json").read_bytes() for name in ("there", "here"))
        assert first == second


@pytest.fixture(autouse=True)
def process_state_is_left_alone() -> None:
    """Replaces the check of the same name: libraries of clusters draw numbers of their own."""


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Field:
    (tmp_path / "ending.py").write_text(POLICY, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return Field(tmp_path)
