"""Candidate and baseline on the same seeds: what is paired, and what is left over by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.statistic.result import Result
from ycbench_agents.evaluation.statistic.sample import checked_values, seed_means, seed_order

if TYPE_CHECKING:
    from ycbench_agents.base import JsonObject
    from ycbench_agents.evaluation.statistic.sample import SeedValues

__all__ = ["Pair", "Pairing", "pair_by_seed"]


@attrs.frozen
class Pair(Result):
    """A seed that both have.

    Args:
        seed: The seed.
        candidate: Mean over the candidate's repeats.
        baseline: Mean over the baseline's repeats.
    """

    seed: str
    candidate: float
    baseline: float

    @property
    def difference(self) -> float:
        """How much more the candidate has."""
        return self.candidate - self.baseline

    def to_json(self) -> JsonObject:
        """Return the pair and its difference."""
        return {**super().to_json(), "difference": self.difference}


@attrs.frozen
class Pairing(Result):
    """All seeds of two samples; each is in exactly one of the four.

    Args:
        pairs: Seeds with a value of both.
        only_candidate: Seeds with a value of the candidate alone.
        only_baseline: Seeds with a value of the baseline alone.
        neither: Seeds that were planned for at least one of them and have no value of either.
    """

    pairs: tuple[Pair, ...]
    only_candidate: tuple[str, ...]
    only_baseline: tuple[str, ...]
    neither: tuple[str, ...]

    @property
    def differences(self) -> tuple[float, ...]:
        """Candidate less baseline, a number a pair."""
        return tuple(pair.difference for pair in self.pairs)


def pair_by_seed(candidate: SeedValues, baseline: SeedValues) -> Pairing:
    """Return two samples paired by seed, each seed by the mean over its repeats.

    Numbers of repeats may differ: the pair is one of means.

    Raises:
        StatisticError: A value is no finite number.
    """
    ours, theirs = seed_means(checked_values(candidate)), seed_means(checked_values(baseline))
    seeds = sorted({*candidate, *baseline}, key=seed_order)
    return Pairing(
        pairs=tuple(Pair(seed, ours[seed], theirs[seed]) for seed in seeds if seed in ours and seed in theirs),
        only_candidate=tuple(seed for seed in seeds if seed in ours and seed not in theirs),
        only_baseline=tuple(seed for seed in seeds if seed in theirs and seed not in ours),
        neither=tuple(seed for seed in seeds if seed not in ours and seed not in theirs),
    )
