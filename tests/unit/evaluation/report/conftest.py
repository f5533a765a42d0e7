"""Evaluations made by hand: every measure is a number that a test says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import attrs
import pytest

from ycbench_agents.evaluation.episode import Episode, EpisodeKey, EpisodeStatus
from ycbench_agents.evaluation.heldout import SeedHash
from ycbench_agents.evaluation.measurement import (
    Acceptance,
    Behaviour,
    ClientMeasures,
    CommandCalls,
    Ending,
    FailedTask,
    Money,
    MonthEnd,
    NotesMeasures,
    Reliability,
    RunMeasures,
    TaskCounts,
    TokenUse,
    Transport,
)
from ycbench_agents.evaluation.old_suite import Limits, Suite, SuitePolicy, SuitePreset
from ycbench_agents.evaluation.provenance import Provenance
from ycbench_agents.evaluation.reading import Evaluation
from ycbench_agents.records import RunRecord
from ycbench_agents.records.record import GitState, RunIdentity, RunOrigin, RunOutcome
from ycbench_env import load_config

START = 20_000_000
IS_COMPLETE = IS_ADVERSARIAL = True


def run(final: int, **changes: Any) -> RunMeasures:  # noqa: ANN401 -- of many types
    """A run of two months that ends with so many cents; one success, one failure with an adversarial client."""
    measures = RunMeasures(
        status="finished",
        is_complete=True,
        money=Money(START, final, 5_000_000, 1_000_000, START + 4_000_000 - final),
        ending=Ending("bankruptcy" if final < 0 else "horizon_end", "2026-01-01T09:00:00", 12.0, 12),
        tasks=TaskCounts(4, 2, 1, 1, 0, 0, 0, 1),
        acceptance=Acceptance(4, 1, 0.32, 0.25),
        clients=(
            ClientMeasures("Vanguard ML", IS_ADVERSARIAL, 0, 1, 0, 1, 0),
            ClientMeasures("Helix", not IS_ADVERSARIAL, 2500, 3, 2, 0, 1),
        ),
        months=tuple(
            MonthEnd(month, label, IS_COMPLETE, funds, 0, 0, 0, 0, (1000,) * 4, (0, 0))
            for month, label, funds in ((0, "start", START), (1, "2025-01", START // 2), (2, "2025-02", final))
        ),
        prestige=(),
        failures=(FailedTask("Task-1", "Vanguard ML", 3, 5.0, "adversarial_client", None, None, None, None),),
        notes=NotesMeasures(2, 40, ("Helix",), (), ("Helix",), ()),
        behaviour=Behaviour(50, 200, 2, 4, 4, 1.5, 1.25, 3),
        calls=(CommandCalls("sim resume", 20, 1), CommandCalls("task accept", 4, 0)),
        reliability=Reliability(7, 1, 3, 2, 4, 5, None, None),
        tokens=TokenUse(None, None, None, None, 0, None, 50),
        transport=Transport(None, None, None, 90.0),
    )
    return attrs.evolve(measures, **changes)


@attrs.define
class Bench:
    """An evaluation in the making."""

    policies: list[SuitePolicy] = attrs.field(factory=list)
    presets: tuple[str, ...] = ("reference",)
    config: str = "default"
    repeats: int = 1
    seeds: tuple[str, ...] = ("1", "2", "3")
    seed_hash: SeedHash | None = None
    started: str = "2026-04-01T00:00:00Z"
    runs: dict[EpisodeKey, RunMeasures] = attrs.field(factory=dict)
    others: dict[EpisodeKey, tuple[EpisodeStatus, str | None]] = attrs.field(factory=dict)
    records: dict[EpisodeKey, RunRecord] = attrs.field(factory=dict)
    limits: Limits = attrs.field(factory=Limits)

    def add(self, policy: str, *finals: int | RunMeasures, preset: str = "reference", **settings: Any) -> Bench:  # noqa: ANN401 -- of many types
        """Add a policy whose episodes end so, seed by seed; what is not said is missing."""
        if policy not in [each.label for each in self.policies]:
            self.policies.append(SuitePolicy(policy, "greedy", **settings))
        for seed, final in zip(self.seeds, finals, strict=False):
            measures = run(final) if isinstance(final, int) else final
            self.runs[EpisodeKey(policy, preset, seed)] = measures
        return self

    def fail(self, policy: str, seed: str, reason: str, preset: str = "reference") -> Bench:
        """Let an episode fail."""
        self.others[EpisodeKey(policy, preset, seed)] = ("failed", reason)
        return self

    def begin(self, policy: str, seed: str, origin: RunOrigin, ended: str) -> Bench:
        """Let the record of an episode tell where it was begun and when it ended."""
        identity = RunIdentity("0.1.0", {}, "", 1, "greedy", {}, None, None, scratchpad=True)
        record = RunRecord(Path("run"), identity, origin, RunOutcome("finished", ended, turns=1))
        self.records[EpisodeKey(policy, "reference", seed)] = record
        return self

    def evaluation(self) -> Evaluation:
        """Return the evaluation."""
        presets = tuple(SuitePreset(name, load_config(self.config, environ={})) for name in self.presets)
        suite = Suite(
            "made by hand",
            "For tests.",
            tuple(self.policies),
            presets,
            self.seeds,
            self.seed_hash,
            self.repeats,
            self.limits,
        )
        origin = RunOrigin("3.12.1", {"attrs": "26.1", "numpy": None}, GitState("abc123", dirty=True), self.started)
        episodes = tuple(
            Episode(key, "finished", None, self.records.get(key))
            if key in self.runs
            else Episode(key, *self.others.get(key, ("missing", None)))
            for key in suite.episodes()
        )
        return Evaluation(Path("out"), suite, episodes, Provenance("0.1.0", origin))

    def measures(self) -> Mapping[EpisodeKey, RunMeasures]:
        """Return the measures of its finished episodes."""
        return dict(self.runs)


class MakeRun(Protocol):
    """How ``run`` is called."""

    def __call__(self, final: int, **changes: Any) -> RunMeasures: ...  # noqa: ANN401 -- of many types


@pytest.fixture
def hand() -> Bench:
    return Bench()


@pytest.fixture
def make_run() -> MakeRun:
    return run
