"""The results of an evaluation: the leaderboard, and what results.json holds; nothing in it depends on a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.evaluation_file import EVALUATION_FORMAT, key_dict
from ycbench_agents.evaluation.ranking import exact_score_cents, rank
from ycbench_agents.evaluation.settings_table import SuiteError
from ycbench_agents.evaluation.spending import spending_of
from ycbench_agents.evaluation.statistic import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.episode import Episode
    from ycbench_agents.evaluation.reading import Evaluation

__all__ = ["LeaderboardRow", "leaderboard", "results_document", "sample_of", "samples", "told_reason"]

_BANKRUPTCY: Final = "bankruptcy"


@attrs.frozen
class LeaderboardRow:
    """A policy under one configuration.

    Args:
        policy: Label of the policy.
        preset: Label of the configuration.
        planned: Episodes that the suite has.
        finished: Those played to their end.
        failed: Those ended by an error.
        bankrupt: Finished ones whose company went bankrupt.
        score_cents: Mean over seeds of the final funds of the finished ones, to the cent (half to even), a bankrupt
            company counting 0; None where nothing is finished.
        model: Name of the model that plays it; None of a policy without, or that nobody was asked to play.
    """

    policy: str
    preset: str
    planned: int
    finished: int
    failed: int
    bankrupt: int
    score_cents: int | None
    model: str | None = None

    @property
    def missing(self) -> int:
        """Episodes that were not played yet."""
        return self.planned - self.finished - self.failed

    @property
    def is_complete(self) -> bool:
        """Whether its score counts: nothing failed and nothing is missing."""
        return self.finished == self.planned

    def to_dict(self) -> JsonObject:
        """Return it as JSON values."""
        return {**attrs.asdict(self), "missing": self.missing, "is_complete": self.is_complete}


def leaderboard(evaluation: Evaluation) -> tuple[LeaderboardRow, ...]:
    """Return a row for each policy and configuration: by configuration, complete ones first, the best score first."""
    groups: dict[tuple[str, str], list[Episode]] = {}
    for episode in evaluation.episodes:
        groups.setdefault((episode.key.preset, episode.key.policy), []).append(episode)
    presets = [preset.label for preset in evaluation.suite.presets]
    rows = [
        _row(policy, preset, episodes, evaluation.model(policy, preset))
        for (preset, policy), episodes in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (presets.index(row.preset), *_rank(row))))


def _rank(row: LeaderboardRow) -> tuple[bool, bool, int, str]:
    return rank(row.policy, row.score_cents, is_complete=row.is_complete)


def _row(policy: str, preset: str, episodes: Sequence[Episode], model: str | None) -> LeaderboardRow:
    scores = sample_of(episodes, _score_cents)
    return LeaderboardRow(
        policy=policy,
        preset=preset,
        planned=len(episodes),
        finished=scores.tally.run,
        failed=sum(episode.status == "failed" for episode in episodes),
        bankrupt=sum(_is_bankrupt(episode) for episode in episodes),
        score_cents=exact_score_cents(scores.values),
        model=model,
    )


def _is_bankrupt(episode: Episode) -> bool:
    record = episode.record
    return episode.status == "finished" and record is not None and record.outcome.terminal_reason == _BANKRUPTCY


def _score_cents(episode: Episode) -> int | None:
    """Return what an episode counts, in cents; None where it is not finished."""
    if episode.status != "finished" or episode.record is None:
        return None
    return 0 if _is_bankrupt(episode) else episode.record.outcome.final_funds_cents


def samples(
    evaluation: Evaluation, preset: str | None = None, seeds: Iterable[str | int] | None = None
) -> dict[str, Sample]:
    """Return the final funds of each policy by seed, in whole cents, as the statistics take them.

    Args:
        evaluation: The evaluation, finished or not; what failed or is missing is counted in each sample's tally.
        preset: Label of the configuration; None for the only one.
        seeds: Seeds to count, None for all.

    Returns:
        Samples by label of the policy, in the order of the suite.

    Raises:
        SuiteError: The suite has no such configuration or seed, or has several and none is named.
    """
    suite = evaluation.suite
    label = _only(preset, [each.label for each in suite.presets])
    wanted = suite.seeds if seeds is None else [_known(str(seed), suite.seeds) for seed in seeds]
    here = [each for each in evaluation.episodes if each.key.preset == label and each.key.seed in wanted]
    return {
        policy.label: sample_of((each for each in here if each.key.policy == policy.label), _final_funds_cents)
        for policy in suite.policies
    }


def sample_of(episodes: Iterable[Episode], funds_cents: Callable[[Episode], int | None]) -> Sample:
    """Return the sample of planned episodes; what is not finished has no funds and is counted."""
    return Sample.of(
        (each.key.seed, each.status, funds_cents(each) if each.status == "finished" else None) for each in episodes
    )


def _final_funds_cents(episode: Episode) -> int | None:
    return None if episode.record is None else episode.record.outcome.final_funds_cents


def _only(preset: str | None, labels: Sequence[str]) -> str:
    if preset is None and len(labels) == 1:
        return labels[0]
    if preset is None or preset not in labels:
        msg = f"preset: got {preset!r}, expected one of the evaluation's: {', '.join(labels)}"
        raise SuiteError(msg)
    return preset


def _known(seed: str, seeds: Sequence[str]) -> str:
    if seed not in seeds:
        msg = f"seeds: got {seed!r}, expected seeds of the suite: {', '.join(seeds)}"
        raise SuiteError(msg)
    return seed


def results_document(evaluation: Evaluation) -> JsonObject:
    """Return the results as JSON values; of a held-out suite without what failures say, which may tell of a world."""
    suite = evaluation.suite
    statuses = [episode.status for episode in evaluation.episodes]
    rows: list[Json] = [
        {**row.to_dict(), "spending": _spending(_of_row(evaluation, row))} for row in leaderboard(evaluation)
    ]
    episodes: list[Json] = [_episode(episode, is_secret=suite.is_held_out) for episode in evaluation.episodes]
    return {
        "format": EVALUATION_FORMAT,
        "suite": suite.name,
        "suite_digest": suite.digest(),
        "version": evaluation.provenance.version,
        "planned": len(statuses),
        "finished": statuses.count("finished"),
        "failed": statuses.count("failed"),
        "missing": statuses.count("missing"),
        "spending": _spending(evaluation.episodes),
        "leaderboard": rows,
        "episodes": episodes,
    }


def _of_row(evaluation: Evaluation, row: LeaderboardRow) -> list[Episode]:
    return [each for each in evaluation.episodes if (each.key.policy, each.key.preset) == (row.policy, row.preset)]


def _spending(episodes: Sequence[Episode]) -> JsonObject:
    """Return what models were paid for: for results, and besides, in runs that failed or are not finished."""
    parts = {
        "finished": spending_of(episodes, with_result=True),
        "without_result": spending_of(episodes, with_result=False),
    }
    return {name: None if part is None else part.to_dict() for name, part in parts.items()}


def told_reason(episode: Episode, *, is_secret: bool) -> str | None:
    """Return why an episode failed; of a held-out one the class of the error only, for its text may name the seed."""
    return episode.reason.partition(":")[0] if is_secret and episode.reason is not None else episode.reason


def _episode(episode: Episode, *, is_secret: bool) -> JsonObject:
    outcome = episode.record.outcome if episode.status == "finished" and episode.record is not None else None
    total = None if outcome is None else outcome.total_return
    return {
        **key_dict(episode.key),
        "status": episode.status,
        "reason": told_reason(episode, is_secret=is_secret),
        "final_funds_cents": None if outcome is None else outcome.final_funds_cents,
        "return_cents": None if total is None else round(total * 100),
        "terminal_reason": None if outcome is None else outcome.terminal_reason,
        "turns": None if outcome is None else outcome.turns,
    }
