"""Playing a record again in a fresh environment, to verify every line of it."""

from __future__ import annotations

import warnings
from pathlib import Path

import attrs

from ycbench_agents.base import Policy
from ycbench_agents.runs.play import Driver, replayed
from ycbench_agents.runs.run import RUN_FILE, Run, RunWarning, Tally, json_differences, read_run, version


@attrs.frozen
class ReplayReport:
    """The outcome of a replay."""

    run: Run
    turns: int  # that were played again
    differences: tuple[str, ...]  # one line each, of the first turn that differs; () if all is as recorded

    @property
    def is_equal(self) -> bool:
        """Whether everything is as it was recorded."""
        return not self.differences


def replay_run(run: Run | Path | str, policy: Policy | None = None) -> ReplayReport:
    """Play the recorded turns again and return what differs from the record, asking nobody.

    Every line is compared: results, events, reward, funds, counts, end, clock, hash of the world and of the notes; at
    the end run.json's outcome. It stops at the first turn that differs.

    Args:
        run: A run, or its folder, finished or not.
        policy: A policy like the one that played, to verify that it would do the same (and, of a deliberating one,
            that its traces fit); None verifies the environment alone.

    Warns:
        RunWarning: The last line was cut short, turns are lost, or another version wrote the record.
    """
    run = run if isinstance(run, Run) else read_run(run)
    if run.identity.version != version():
        msg = f"{run.folder}: was written by ycbench-env {run.identity.version}, this is {version()}"
        warnings.warn(msg, RunWarning, stacklevel=2)
    driver = Driver(run)
    tally = Tally(driver.initial_funds_cents)
    for turn, differences in replayed(run, driver, policy):
        if differences:
            return ReplayReport(run, turn.turn, tuple(f"turn {turn.turn}: {line}" for line in differences))
        tally.add(turn)
    return ReplayReport(run, tally.turns, tuple(outcome_differences(run, tally, driver)))


def outcome_differences(run: Run, tally: Tally, driver: Driver) -> list[str]:
    """Return how the outcome in run.json differs from that of the turns, which were counted and played again."""
    outcome = run.outcome
    if outcome.turns is None:
        return []
    counted = tally.outcome(outcome.status, outcome.ended or "", outcome.reason)
    differences = [*json_differences(attrs.asdict(outcome), attrs.asdict(counted), f"{RUN_FILE}: outcome")]
    if run.is_finished and not driver.is_over and tally.turns != run.identity.max_turns:
        differences.append(f"{RUN_FILE}: outcome.status: finished | the episode goes on after turn {tally.turns}")
    return differences
