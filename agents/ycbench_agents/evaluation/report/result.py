"""Results of one configuration, policy by policy, as tables need them."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.old_results import sample_of
from ycbench_agents.evaluation.ranking import exact_score_cents, rank
from ycbench_agents.evaluation.statistic import GroupSummary, Sample, Tally, Tiers, group_summary, spread_of, tiers
from ycbench_agents.evaluation.statistic.sample import seed_means

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ycbench_agents.evaluation.episode import Episode, EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures
    from ycbench_agents.evaluation.old_suite import Suite

__all__ = ["PolicyResults", "PresetResults", "preset_results", "tally_of"]


@attrs.frozen
class PolicyResults:
    """What one policy got under one configuration.

    Args:
        policy: Its label.
        sample: Final funds by seed, in cents, with the tally of planned episodes.
        summary: The same, summarised.
        measures: Measures of its finished episodes, in planned order.
    """

    policy: str
    sample: Sample = attrs.field(repr=False)
    summary: GroupSummary = attrs.field(repr=False)
    measures: Mapping[EpisodeKey, RunMeasures] = attrs.field(repr=False)

    @property
    def is_complete(self) -> bool:
        """Whether its score counts: nothing failed and nothing is missing."""
        return self.sample.tally.run == self.sample.tally.planned

    @property
    def score_cents(self) -> int | None:
        """Its score to the cent, as in results.json; None where nothing is finished."""
        return exact_score_cents(self.sample.values)

    def mean(self, value: Callable[[RunMeasures], float | None]) -> float | None:
        """Return the mean over seeds of a measure, a seed's being the mean over its repeats; None of none."""
        means = seed_means(self._by_seed(value))
        return fmean(means.values()) if means else None

    def deviation(self, value: Callable[[RunMeasures], float | None]) -> float | None:
        """Return the standard deviation of the same over seeds; None of fewer than two."""
        return spread_of(self._by_seed(value)).across_deviation

    def total(self, value: Callable[[RunMeasures], int | None]) -> int | None:
        """Return the sum over all episodes of a measure; None where none has it."""
        found = [each for each in map(value, self.measures.values()) if each is not None]
        return sum(found) if found else None

    def most(self, value: Callable[[RunMeasures], int | None]) -> int | None:
        """Return the largest of a measure over all episodes; None where none has it."""
        return max((each for each in map(value, self.measures.values()) if each is not None), default=None)

    def _by_seed(self, value: Callable[[RunMeasures], float | None]) -> dict[str, list[float]]:
        by_seed: dict[str, list[float]] = {}
        for key, measures in self.measures.items():
            found = value(measures)
            by_seed.setdefault(key.seed, []).extend([] if found is None else [found])
        return by_seed


@attrs.frozen
class PresetResults:
    """What all policies got under one configuration.

    Args:
        preset: Its label.
        policies: In the order of ``rank``: complete ones first, the best score first.
        tiers: Which of the complete ones the intervals of their scores tell apart.
    """

    preset: str
    policies: tuple[PolicyResults, ...]
    tiers: Tiers

    @property
    def has_finished(self) -> bool:
        """Whether any episode was played to its end."""
        return any(policy.measures for policy in self.policies)

    def measures(self) -> dict[EpisodeKey, RunMeasures]:
        """Return the measures of all finished episodes, policies by score."""
        return {key: measures for policy in self.policies for key, measures in policy.measures.items()}

    def policy(self, label: str) -> PolicyResults | None:
        """Return what one policy got, None where the suite has no such policy."""
        return next((policy for policy in self.policies if policy.policy == label), None)


def tally_of(episodes: Iterable[Episode]) -> Tally:
    """Return how many episodes were planned, run, failed and are missing."""
    return Tally.of(episode.status for episode in episodes)


def preset_results(
    suite: Suite, episodes: Sequence[Episode], measures: Mapping[EpisodeKey, RunMeasures]
) -> tuple[PresetResults, ...]:
    """Return the results of each configuration, in the order of the suite.

    Args:
        suite: The suite.
        episodes: Every planned episode.
        measures: Measures of the finished ones.
    """
    return tuple(_preset(suite, preset.label, episodes, measures) for preset in suite.presets)


def _preset(
    suite: Suite, preset: str, episodes: Sequence[Episode], measures: Mapping[EpisodeKey, RunMeasures]
) -> PresetResults:
    here = [episode for episode in episodes if episode.key.preset == preset]
    found = [
        _policy(policy.label, [episode for episode in here if episode.key.policy == policy.label], measures)
        for policy in suite.policies
    ]
    ordered = sorted(found, key=lambda policy: rank(policy.policy, policy.score_cents, is_complete=policy.is_complete))
    complete = {policy.policy: policy.summary.score for policy in found if policy.is_complete}
    return PresetResults(preset, tuple(ordered), tiers(complete))


def _policy(label: str, episodes: Sequence[Episode], measures: Mapping[EpisodeKey, RunMeasures]) -> PolicyResults:
    mine = {episode.key: measures[episode.key] for episode in episodes if episode.status == "finished"}
    sample = sample_of(episodes, lambda episode: mine[episode.key].money.final_funds_cents)
    return PolicyResults(label, sample, group_summary(sample), mine)
