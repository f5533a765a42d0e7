"""Suites in files, and evaluations that are played in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import pytest

from ycbench_agents.evaluation.backend import Pool
from ycbench_agents.evaluation.episode import EpisodeKey
from ycbench_agents.evaluation.failure import EpisodeFailure
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.job import Job, JobReport
from ycbench_agents.evaluation.player import scripted_player
from ycbench_agents.evaluation.running import EvaluationPlan, PlayedEvaluation, evaluate
from ycbench_agents.evaluation.suite_file import LoadedSuite, load_suite
from ycbench_agents.evaluation.worker import play_job
from ycbench_env import load_config

SUITE = """
name = "small"
description = "Two policies in the first days of a year."
presets = ["default"]
seeds = [1, 2]
limits = { max_turns = 6 }
policies = [{ name = "greedy" }, { name = "idle" }]
"""


class Here(Pool):
    """Plays in this process, one job after the other, and as on a cluster no parent is watched."""

    @property
    def is_local(self) -> bool:
        return False

    def play(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
        yield from (play_job(job) for job in jobs)


class Watcher:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.begun = (0, 0, 0)
        self.ended: list[EpisodeKey] = []
        self.told: list[str] = []

    def begin(self, costs: Mapping[EpisodeKey, float], *, reused: int, tried_again: int) -> None:
        self.begun = (len(costs), reused, tried_again)

    def end(self, key: EpisodeKey, failure: EpisodeFailure | None) -> None:
        self.ended.append(key)
        if failure is not None:
            self.told.append(str(failure))

    def tell(self, message: str) -> None:
        self.told.append(message)


@attrs.define
class Bench:
    """A suite's file and the folder of its evaluation."""

    folder: Path
    text: str = SUITE
    watcher: Watcher = attrs.field(factory=Watcher)
    pool: Pool = attrs.field(factory=lambda: Here(1))

    @property
    def out(self) -> EvaluationFolder:
        return EvaluationFolder(self.folder / "out")

    def load(self, text: str | None = None, **environ: str) -> LoadedSuite:
        path = self.folder / "suite.toml"
        path.write_text(self.text if text is None else text, encoding="utf-8")
        return load_suite(path, lambda source: load_config(source, environ={}), environ)

    def plan(self, loaded: LoadedSuite, *chosen: str) -> EvaluationPlan:
        players = {
            (policy.label, preset.label): scripted_player(policy, preset.config)
            for policy in loaded.suite.policies
            for preset in loaded.suite.presets
        }
        return EvaluationPlan(loaded, players, self.out, frozenset(chosen) or None)

    def play(self, *chosen: str, **environ: str) -> PlayedEvaluation:
        self.watcher = Watcher()
        return evaluate(self.plan(self.load(**environ), *chosen), self.pool, self.watcher)

    def results(self) -> bytes:
        return self.out.results.read_bytes()

    def turns_of(self, policy: str, seed: int) -> Path:
        [path] = self.out.runs.glob(f"run-{policy}-default-seed{seed}-*/turns.jsonl")
        return path


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
