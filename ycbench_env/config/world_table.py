"""The tables inside ``[world]`` as values: what tasks are drawn from, and the tiers of employees."""

from typing import Annotated, Final

from ycbench_env.config.distribution import Distribution
from ycbench_env.config.kind import FloatKind, Interval, IntKind
from ycbench_env.config.setting import DistributionSetting, Setting, value_class
from ycbench_env.vocabulary import DOMAINS

__all__ = ["CENTS", "DistConfig", "SalaryTier"]

CENTS: Final = IntKind(Interval(0, 10**10))
"""Salaries, in cents."""

_RATE: Final = FloatKind(Interval(0, 100))


@value_class
class DistConfig:
    """Table ``[world.dist]``: what market tasks are drawn from."""

    required_prestige: Annotated[
        Distribution,
        DistributionSetting(FloatKind(Interval(1, 100)), "prestige that a task requires; draws are truncated", "Y-2.4"),
    ]
    reward_funds_cents: Annotated[
        Distribution,
        DistributionSetting(FloatKind(Interval(0, 10**9)), "base reward in cents; draws are truncated", "Y-2.4"),
    ]
    domain_count: Annotated[
        Distribution,
        DistributionSetting(
            # A draw is truncated, so a continuous one needs room above the last whole number to reach it.
            FloatKind(Interval(1, len(DOMAINS) + 1, below=True)),
            "number of domains of a task; draws are truncated",
            "Y-2.4",
        ),
    ]
    required_qty: Annotated[
        Distribution,
        DistributionSetting(FloatKind(Interval(1, 100_000)), "base work in one domain; draws are truncated", "Y-2.4"),
    ]
    reward_prestige_delta: Annotated[
        Distribution,
        DistributionSetting(FloatKind(Interval(0, 100)), "prestige gained by a success", "Y-2.4"),
    ]
    skill_boost: Annotated[
        Distribution,
        DistributionSetting(FloatKind(Interval(0, 10)), "share by which a success raises rates", "Y-2.4"),
    ]


@value_class
class SalaryTier:
    """Tables ``[world.salary_*]``: pay and skill of one tier's employees."""

    min_cents: Annotated[int, Setting(CENTS, "lowest monthly salary in cents", "Y-2.2")]
    max_cents: Annotated[int, Setting(CENTS, "highest monthly salary in cents", "Y-2.2")]
    rate_min: Annotated[float, Setting(_RATE, "lowest rate (or average of rates), in work per business hour", "Y-2.2")]
    rate_max: Annotated[float, Setting(_RATE, "highest rate (or average of rates), in work per business hour", "Y-2.2")]
