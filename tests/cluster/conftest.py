"""An evaluation that is played on a cluster and on this machine."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from ycbench_agents.evaluation.backend import Pool
from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.failure import EpisodeFailure
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.player import scripted_player
from ycbench_agents.evaluation.running import EvaluationPlan, PlayedEvaluation, evaluate
from ycbench_agents.evaluation.suite_file import load_suite
from ycbench_env import load_config

SUITE = """
name = "cluster"
presets = ["default"]
seeds = ["1-2"]
limits = { seconds = 60, max_turns = 8 }
policies = [{ name = "greedy" }, { name = "idle" }, { name = "ending:Ends", label = "ends" }]
"""
POLICY = """
import os


class Ends:
    def reset(self, seed):
        self.seed = seed

    def act(self, observation):
        if self.seed == 1:
            os._exit(1)
        return "sim resume"
"""


class _Nobody:
    """Watches nothing."""

    def begin(self, costs: object, *, reused: int, tried_again: int) -> None:
        del costs, reused, tried_again

    def end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
        del key, failure

    def tell(self, message: str) -> None:
        del message


@attrs.frozen
class Field:
    """Where the suite is played."""

    folder: Path

    def play(self, pool: Pool, name: str) -> PlayedEvaluation:
        """Play the suite into a folder of its own."""
        loaded = load_suite(self.folder / "cluster.toml", lambda source: load_config(source, environ={}), {})
        [preset] = loaded.suite.presets
        players = {(each.label, preset.label): scripted_player(each, preset.config) for each in loaded.suite.policies}
        folder = EvaluationFolder(self.folder / name)
        return evaluate(EvaluationPlan(loaded, players, folder, import_path=str(self.folder)), pool, _Nobody())

    def assert_plays_as_here(self, pool: Pool) -> None:
        """Play on a cluster and on this machine, and compare the results byte for byte."""
        there, here = self.play(pool, "there"), self.play(Pool(2), "here")
        assert [(each.key.policy, each.status) for each in there.evaluation.episodes] == [
            ("greedy", "finished"),
            ("greedy", "finished"),
            ("idle", "finished"),
            ("idle", "finished"),
            ("ends", "failed"),
            ("ends", "finished"),
        ]
        assert len(here.evaluation.measures()) == 5
        first, second = ((self.folder / name / "results.json").read_bytes() for name in ("there", "here"))
        assert first == second


@pytest.fixture(autouse=True)
def process_state_is_left_alone() -> None:
    """Replaces the check of the same name: libraries of clusters draw numbers of their own."""


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Field:
    (tmp_path / "cluster.toml").write_text(SUITE, "utf-8")
    (tmp_path / "ending.py").write_text(POLICY, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return Field(tmp_path)
