"""Reading an evaluation: every planned episode and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.episode import Episode
from ycbench_agents.evaluation.evaluation_file import EvaluationFile, read_failures
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.measured_evaluation import measured_evaluation
from ycbench_agents.evaluation.planned import planned_episodes
from ycbench_agents.evaluation.replay_watcher import NOBODY
from ycbench_agents.records import RecordError
from ycbench_agents.records.reading import RUN_FILE, find_run
from ycbench_agents.records.record import identity_differences

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.failure import EpisodeFailure
    from ycbench_agents.evaluation.measured_evaluation import MeasuredEvaluation
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.old_suite import Suite
    from ycbench_agents.evaluation.planned import PlannedEpisode
    from ycbench_agents.evaluation.player import PlayerIdentity
    from ycbench_agents.evaluation.provenance import Provenance
    from ycbench_agents.evaluation.replay_watcher import ReplayWatcher
    from ycbench_agents.records import RunRecord

__all__ = ["Evaluation", "read_evaluation", "readable_run", "recorded_run"]


@attrs.frozen
class Evaluation:
    """An evaluation as it lies in its folder.

    Args:
        folder: The folder.
        suite: What was to be played.
        episodes: Every planned episode, in the order of the suite.
        provenance: Where it was begun.
        players: Who plays each policy under each configuration, as far as somebody was asked to.
    """

    folder: Path
    suite: Suite
    episodes: tuple[Episode, ...]
    provenance: Provenance
    players: tuple[PlayerIdentity, ...] = ()

    def model(self, policy: str, preset: str) -> str | None:
        """Return the name of the model that plays a row; None of one without, or that nobody was asked to play."""
        return next((each.model for each in self.players if (each.policy, each.preset) == (policy, preset)), None)

    def measured(self, watcher: ReplayWatcher = NOBODY) -> MeasuredEvaluation:
        """Return the evaluation with its measures; what was played to its end and cannot be measured is failed there.

        Args:
            watcher: Is told how far it is.

        Warns:
            RecordWarning: An episode cannot be measured, or turns are lost.
        """
        return measured_evaluation(self, watcher)

    def measures(self) -> dict[EpisodeKey, RunMeasures]:
        """Return the measures of the finished episodes, in the order of the suite.

        Those that are missing or of another version are made from the records, which takes seconds each; nothing is
        written. An episode that cannot be measured has none; ``measured`` tells why.

        Warns:
            RecordWarning: An episode cannot be measured, or turns are lost.
        """
        return dict(self.measured().measures)


def read_evaluation(folder: Path | str) -> Evaluation:
    """Return the evaluation in a folder, finished or not.

    Of a held-out suite nothing names a run's folder, in which the seed stands, but the records themselves: why an
    episode failed is the class of the error alone, and failures.json has the rest.

    Raises:
        RecordError: There is none, or one of its files is damaged.
    """
    place = EvaluationFolder(folder)
    file = EvaluationFile.read(place)
    _require_players(file, place)
    seeds = (
        {seed: int(seed) for seed in file.suite.seeds} if file.suite.seed_hash is None else _played_seeds(file, place)
    )
    planned = planned_episodes(file.suite, file.players, seeds, file.provenance.version)
    failures = _failures(place, file.suite)
    known = {each.key: _episode(place, each, failures.get(each.key)) for each in planned}
    episodes = tuple(known.get(key) or _unknown(key, failures.get(key)) for key in file.suite.episodes())
    return Evaluation(place.path, file.suite, episodes, file.provenance, file.players)


def _require_players(file: EvaluationFile, place: EvaluationFolder) -> None:
    """Refuse a suite.json that does not say who plays: every run would count as missing.

    Raises:
        RecordError: Nobody plays, or what the suite does not have.
    """
    rows = {(policy.label, preset.label) for policy in file.suite.policies for preset in file.suite.presets}
    got = [(player.policy, player.preset) for player in file.players]
    if not got or not rows.issuperset(got):
        told = "nothing" if not got else next(f"{who}, {where}" for who, where in got if (who, where) not in rows)
        msg = f"{place.suite}: players: got {told}, expected who plays each policy of the suite; the file was changed"
        raise RecordError(msg + ", and ycbench evaluate writes it again")


def _failures(place: EvaluationFolder, suite: Suite) -> Mapping[EpisodeKey, EpisodeFailure]:
    """Return what may be told of failures: of a held-out suite no text, for it may name a seed.

    Raises:
        RecordError: failures.json is damaged; the message says how to put that right.
    """
    try:
        failures = read_failures(place)
    except RecordError as error:
        msg = f"{error}; ycbench evaluate begins this file anew, and tries again what failed"
        raise RecordError(msg) from None
    return {key: failure.without_text() for key, failure in failures.items()} if suite.is_held_out else failures


def _played_seeds(file: EvaluationFile, folder: EvaluationFolder) -> dict[str, int]:
    """Return the secret seeds of a held-out suite, as far as runs tell them, by their hashes.

    The episode of a damaged run is missing, as it is where seeds are public.
    """
    records = [readable_run(path.parent) for path in sorted(folder.runs.glob(f"*/{RUN_FILE}"))]
    seeds = sorted({record.identity.seed for record in records if record is not None})
    return {} if file.suite.seed_hash is None else {file.suite.seed_hash.of(seed): seed for seed in seeds}


def _unknown(key: EpisodeKey, failure: EpisodeFailure | None) -> Episode:
    """Return an episode that there is no run of."""
    return Episode(key, "missing") if failure is None else Episode(key, "failed", str(failure))


def _episode(folder: EvaluationFolder, planned: PlannedEpisode, failure: EpisodeFailure | None) -> Episode:
    record = recorded_run(folder, planned)
    if failure is not None:
        return Episode(planned.key, "failed", str(failure), record)
    if record is None or not record.is_finished:
        return Episode(planned.key, "missing", None, record)
    return Episode(planned.key, "finished", None, record)


def readable_run(folder: Path) -> RunRecord | None:
    """Return the record in a folder; None where there is none, or a damaged one."""
    try:
        return find_run(folder)
    except RecordError:
        return None


def recorded_run(folder: EvaluationFolder, planned: PlannedEpisode) -> RunRecord | None:
    """Return the run of an episode; None where there is none, or one of another version, or a damaged one."""
    record = readable_run(folder.runs / planned.name)
    return None if record is None or identity_differences(record.identity, planned.identity) else record
