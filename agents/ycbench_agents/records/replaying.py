"""Playing a record again in a fresh environment, to verify every line of it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.base import policy_seed
from ycbench_agents.records.difference import json_differences
from ycbench_agents.records.episode import Episode, replay_turn
from ycbench_agents.records.error import RecordWarning
from ycbench_agents.records.origin import package_version
from ycbench_agents.records.playing import recorded_config
from ycbench_agents.records.reading import RUN_FILE, RunRecord, read_run
from ycbench_agents.records.tally import Tally

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.base import Policy

__all__ = ["ReplayReport", "fresh_episode", "replay_run"]


@attrs.frozen
class ReplayReport:
    """What playing a record again has shown.

    Args:
        record: The record.
        turns: Turns that were played again.
        differences: What differs, one line each, from the first turn that differs; () if all is as recorded.
    """

    record: RunRecord
    turns: int
    differences: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """Whether everything is as it was recorded."""
        return not self.differences


def fresh_episode(record: RunRecord, policy: Policy | None) -> Episode:
    """Return the start of a recorded run, with its policy reset.

    Raises:
        RecordError: The record's configuration cannot be used.

    Warns:
        RecordWarning: Another version of this package wrote the record.
    """
    version = package_version()
    if record.identity.version != version:
        msg = f"{record.folder}: was written by ycbench-env {record.identity.version}, this is {version}"
        warnings.warn(msg, RecordWarning, stacklevel=3)
    identity = record.identity
    episode = Episode(recorded_config(record), identity.seed, scratchpad=identity.scratchpad)
    if policy is not None:
        policy.reset(policy_seed(identity.seed))
    return episode


def replay_run(folder: Path | str, policy: Policy | None = None) -> ReplayReport:
    """Play the recorded turns again and return what differs from the record, asking nobody.

    Every line is compared: results, events, reward, funds, counts, end, clock, hash of the world and of the notes; at
    the end run.json's outcome. It stops at the first turn that differs.

    Args:
        folder: Folder of a run, finished or not.
        policy: A policy like the one that played, to verify that it would say the same (and, of a deliberating one,
            that its traces fit); None verifies the environment alone.

    Raises:
        RecordError: There is no run, or its record is damaged.

    Warns:
        RecordWarning: The last line was cut short, turns are lost, or another version wrote the record.
    """
    record = read_run(folder)
    episode = fresh_episode(record, policy)
    tally = Tally(episode.initial_funds_cents)
    for turn in record.turns():
        differences = replay_turn(episode, turn, policy)
        if differences:
            return ReplayReport(record, turn.turn, tuple(f"turn {turn.turn}: {line}" for line in differences))
        tally.add(turn)
    return ReplayReport(record, tally.turns, tuple(_outcome_differences(record, tally, episode)))


def _outcome_differences(record: RunRecord, tally: Tally, episode: Episode) -> list[str]:
    """Return where the outcome in run.json is not that of the turns."""
    outcome = record.outcome
    if outcome.turns is None:
        return []
    counted = tally.outcome(outcome.status, outcome.ended or "", outcome.reason)
    differences = list(json_differences(outcome.to_json(), counted.to_json(), f"{RUN_FILE}: outcome"))
    limit = record.identity.max_turns
    if record.is_finished and not episode.is_over and tally.turns != limit:
        differences.append(f"{RUN_FILE}: outcome.status: finished | the episode goes on after turn {tally.turns}")
    return differences
