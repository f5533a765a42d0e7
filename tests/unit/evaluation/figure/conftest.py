"""Runs made by hand, of as many policies and seeds as a test wants."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import attrs
import pytest

from ycbench_agents.base import JsonObject
from ycbench_agents.evaluation.episode import Episode, EpisodeKey
from ycbench_agents.evaluation.measurement import (
    FAILURE_CAUSES,
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
from ycbench_agents.evaluation.old_suite import Suite, SuitePolicy, SuitePreset
from ycbench_agents.evaluation.report.result import PresetResults, preset_results
from ycbench_agents.records.reading import RunRecord
from ycbench_agents.records.record import RunIdentity, RunOrigin, RunOutcome
from ycbench_env import load_config

CLIENTS = ("Vanguard ML", "Helix", "Northstar Analytics", "Cortex", "Meridian Systems", "Apex Robotics", "Sable")
IS_COMPLETE = True
COMMANDS = ("employee list", "market browse", "scratchpad write", "sim resume", "task accept", "task dispatch")


def run(number: int) -> RunMeasures:
    """A run of six months whose numbers follow from one, so that no two rows of a figure are alike."""
    start, final = 20_000_000, 20_000_000 + number * 7_919_000 % 90_000_000
    return RunMeasures(
        status="finished",
        is_complete=True,
        money=Money(start, final, 5_000_000, 1_000_000, start + 4_000_000 - final),
        ending=Ending("horizon_end", "2026-01-01T09:00:00", 12.0, 12),
        tasks=TaskCounts(4, 2, 1, 1, 0, 0, 0, 1),
        acceptance=Acceptance(4, 1, 0.32, 0.25),
        clients=tuple(
            ClientMeasures(name, place % 3 == 0, (number * 700 + place * 900) % 5000, 1, 1, 0, 0)
            for place, name in enumerate(CLIENTS)
        ),
        months=tuple(
            MonthEnd(month, f"2025-{max(month, 1):02}", IS_COMPLETE, funds, 0, 0, 0, 0, (1000,) * 4, ())
            for month, funds in enumerate((*(start,) * 6, final))
        ),
        prestige=(),
        failures=tuple(
            FailedTask(f"Task-{one}", "Helix", 3, 5.0, FAILURE_CAUSES[(one * one + number) % 5], None, None, None, None)
            for one in range(6)
        ),
        notes=NotesMeasures(2, 40, ("Helix",) if number % 2 else (), ("Sable",) if number % 3 == 0 else (), (), ()),
        behaviour=Behaviour(50, 200, 2, 4, 4, 1.5, 1.25, 3),
        calls=tuple(
            CommandCalls(name, (3 + number * 37 + place * 211) * (30 if place == 2 else 1), 0)
            for place, name in enumerate(COMMANDS)
        ),
        reliability=Reliability(7, 1, 3, 2, 4, 5, None, None),
        tokens=TokenUse(900, 100, None, None, 0, 2.5 + number, 40 * (number % 2)),
        transport=Transport(None, None, None, 90.0),
    )


def record_of(policy: str, settings: JsonObject, model: str | None) -> RunRecord:
    """The record of a finished run, as far as figures ask for it."""
    identity = RunIdentity("0.1.0", {}, "", 1, policy, settings, model, None, scratchpad=True)
    return RunRecord(Path("runs"), identity, RunOrigin("3.12.1", {}, None, ""), RunOutcome("finished"))


@attrs.define
class Played:
    """An evaluation in the making."""

    seeds: tuple[str, ...]
    rows: list[SuitePolicy] = attrs.field(factory=list)
    runs: dict[EpisodeKey, RunMeasures] = attrs.field(factory=dict)
    records: dict[str, RunRecord] = attrs.field(factory=dict)

    def add(self, row: SuitePolicy, *measures: RunMeasures, record: RunRecord | None = None) -> Played:
        """Add a policy, with the runs of its first seeds; those without are missing."""
        self.rows.append(row)
        for seed, one in zip(self.seeds, measures, strict=False):
            self.runs[EpisodeKey(row.label, "reference", seed)] = one
        if record is not None:
            self.records[row.label] = record
        return self

    @property
    def suite(self) -> Suite:
        """The suite."""
        presets = (SuitePreset("reference", load_config("default", environ={})),)
        return Suite("made by hand", "For tests.", tuple(self.rows), presets, self.seeds)

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """Every planned episode."""
        return tuple(
            Episode(key, "finished", record=self.records.get(key.policy))
            if key in self.runs
            else Episode(key, "missing")
            for key in self.suite.episodes()
        )

    @property
    def results(self) -> PresetResults:
        """Its results."""
        [results] = preset_results(self.suite, self.episodes, self.runs)
        return results


class MakePlayed(Protocol):
    """How an evaluation is made: policies with a run for each seed."""

    def __call__(self, names: Sequence[str], seeds: int) -> Played: ...


@pytest.fixture
def make_played() -> MakePlayed:
    def make(names: Sequence[str], seeds: int) -> Played:
        played = Played(tuple(str(seed) for seed in range(1, seeds + 1)))
        for place, name in enumerate(names):
            row = SuitePolicy(name, "llm", {"keep_turns": 20 + 10 * (place % 3)}, model=f"model {place // 3}")
            played.add(row, *(run(place * 7 + seed) for seed in range(seeds)))
        return played

    return make


class MakeRun(Protocol):
    """How ``run`` is called."""

    def __call__(self, number: int) -> RunMeasures: ...


@pytest.fixture
def make_run() -> MakeRun:
    return run


class MakeRecord(Protocol):
    """How ``record_of`` is called."""

    def __call__(self, policy: str, settings: JsonObject, model: str | None) -> RunRecord: ...


@pytest.fixture
def make_record() -> MakeRecord:
    return record_of
