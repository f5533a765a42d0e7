"""An evaluation with the measures of its finished episodes; those that lie beside no record are made in memory."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.failure import EpisodeFailure, failure_of
from ycbench_agents.evaluation.measured import read_measures
from ycbench_agents.evaluation.measurement import MeasurementError, measure_run
from ycbench_agents.evaluation.replay_watcher import NOBODY
from ycbench_agents.records import RecordWarning
from ycbench_agents.records.reading import RUN_FILE, TURNS_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ycbench_agents.evaluation.episode import Episode, EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.reading import Evaluation
    from ycbench_agents.evaluation.replay_watcher import ReplayWatcher
    from ycbench_agents.records import RunRecord

__all__ = ["MeasuredEvaluation", "measured_evaluation", "without_unmeasured"]


@attrs.frozen
class MeasuredEvaluation:
    """An evaluation and what is measured of it.

    Args:
        evaluation: The evaluation; episodes that were played to their end and cannot be measured count as failed.
        measures: Measures of its finished episodes, in the order of the suite.
    """

    evaluation: Evaluation
    measures: Mapping[EpisodeKey, RunMeasures]


def measured_evaluation(evaluation: Evaluation, watcher: ReplayWatcher = NOBODY) -> MeasuredEvaluation:
    """Return an evaluation with the measures of its finished episodes; nothing is written.

    Measures that are missing, of another version, or of other turns are made anew from the record.

    Args:
        evaluation: The evaluation.
        watcher: Is told how far it is; nothing where nothing is to be measured.

    Warns:
        RecordWarning: An episode cannot be measured, or turns are lost; of a held-out suite no text is told.
    """
    finished = {each.key: each.record for each in evaluation.episodes if each.status == "finished" and each.record}
    found = {key: read_measures(record.folder) for key, record in finished.items()}
    lacking = {key: finished[key] for key, measures in found.items() if measures is None}
    if lacking:
        watcher.begin(len(lacking))
    failures: dict[EpisodeKey, EpisodeFailure] = {}
    for key, record in lacking.items():
        watcher.play(key)
        made = _measures_or_failure(record, evaluation)
        if isinstance(made, EpisodeFailure):
            failures[key] = made
            warnings.warn(f"{key}: cannot be measured, so it counts as failed: {made}", RecordWarning, stacklevel=2)
        else:
            found[key] = made
    episodes = tuple(
        _failed(each, failures[each.key]) if each.key in failures else each for each in evaluation.episodes
    )
    measures = {key: each for key, each in found.items() if each is not None}
    return MeasuredEvaluation(attrs.evolve(evaluation, episodes=episodes), measures)


def _measures_or_failure(record: RunRecord, evaluation: Evaluation) -> RunMeasures | EpisodeFailure:
    """Return the measures of a run, or why there are none; of a held-out one without what the error says."""
    try:
        return _measures_of(record)
    except Exception as error:  # noqa: BLE001 -- what a damaged turn leads to may be anything; the others go on
        failure = failure_of("measurement", error, evaluation.folder)
        return failure.without_text() if evaluation.suite.is_held_out else failure


def without_unmeasured(episodes: Sequence[Episode], measures: Mapping[EpisodeKey, RunMeasures]) -> tuple[Episode, ...]:
    """Return episodes of which finished ones without measures count as failed.

    Args:
        episodes: Every planned episode.
        measures: What is measured of finished ones.
    """
    return tuple(
        _failed(each, "it has no measures") if each.status == "finished" and each.key not in measures else each
        for each in episodes
    )


def _measures_of(record: RunRecord) -> RunMeasures:
    """Return the measures of a finished run.

    Raises:
        MeasurementError: A turn turns out otherwise than recorded, or turns are lost.
        RecordError: The record is damaged.
        OSError: It cannot be read.
    """
    measures = measure_run(record)
    if not measures.is_complete:
        told = f"{record.outcome.turns} turns, as {RUN_FILE} tells; ycbench evaluate plays them again"
        msg = f"{record.folder / TURNS_FILE}: got {measures.behaviour.turns} turns, expected {told}"
        raise MeasurementError(msg)
    return measures


def _failed(episode: Episode, why: object) -> Episode:
    return attrs.evolve(episode, status="failed", reason=f"measurement: {why}")
