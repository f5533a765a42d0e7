"""Final funds on the scales that groups are compared on: the score, the funds themselves, their logarithm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ycbench_agents.evaluation.statistic.sample import checked_values
from ycbench_agents.evaluation.statistic.settings import DEFAULT_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.evaluation.statistic.sample import SeedValues
    from ycbench_agents.evaluation.statistic.settings import StatisticSettings

__all__ = ["censored_count", "log_funds", "score"]


def score(funds: SeedValues) -> Mapping[str, tuple[float, ...]]:
    """Return the score of each episode: its final funds, 0 for a bankrupt company.

    Raises:
        StatisticError: A value is no finite number.
    """
    return {seed: tuple(max(value, 0.0) for value in repeats) for seed, repeats in checked_values(funds).items()}


def log_funds(funds: SeedValues, settings: StatisticSettings = DEFAULT_SETTINGS) -> Mapping[str, tuple[float, ...]]:
    """Return the natural logarithm of each episode's final funds in dollars, ``ln(max(funds, 1 dollar))``.

    Whatever is below a dollar, a bankrupt company above all, counts as a dollar on either side of a comparison; how
    many do is ``censored_count``, and where it is not 0 the choice of a dollar decides much of the mean.

    Args:
        funds: Final funds by seed.
        settings: What a dollar is in their unit.

    Raises:
        StatisticError: A value is no finite number.
    """
    dollar = settings.dollar
    return {
        seed: tuple(math.log(max(value, dollar) / dollar) for value in repeats)
        for seed, repeats in checked_values(funds).items()
    }


def censored_count(funds: SeedValues, settings: StatisticSettings = DEFAULT_SETTINGS) -> int:
    """Return the number of episodes whose logarithm is that of a dollar since they have less.

    Raises:
        StatisticError: A value is no finite number.
    """
    return sum(value < settings.dollar for repeats in checked_values(funds).values() for value in repeats)
