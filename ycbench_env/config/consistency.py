"""Which settings must agree with each other, and how."""

import datetime as dt
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from ycbench_env.config.kind import SettingValue
from ycbench_env.config.schema import DISTRIBUTIONS
from ycbench_env.vocabulary import DOMAINS, TIERS

__all__ = ["AGREEMENTS", "Agreement"]

_LARGEST_REWARD_CENTS: Final = 10**12
_LARGEST_CLIENT_MULTIPLIER: Final = 2.5
_LARGEST_REQUIRED_TRUST: Final = 4


@attrs.frozen
class Agreement:
    """One statement about several settings.

    Attributes:
        keys: Dotted keys of the settings; the statement is asked only where all have legal values.
        expected: The statement in words, for the message.
        holds: Whether it is true of the settings' values, given in the order of ``keys``.
    """

    keys: tuple[str, ...]
    expected: str
    holds: Callable[..., bool]

    def is_broken_by(self, values: Mapping[str, SettingValue]) -> bool:
        """Returns whether all settings are there and do not agree."""
        if not all(key in values for key in self.keys):
            return False
        return not self.holds(*(values[key] for key in self.keys))


def _ascending(*values: float) -> bool:
    """Returns whether values do not fall."""
    return all(left <= right for left, right in itertools.pairwise(values))


def _strictly_ascending(*values: float) -> bool:
    """Returns whether each value is above the one before."""
    return all(left < right for left, right in itertools.pairwise(values))


def _order(table: str, *names: str) -> Agreement:
    """Returns the agreement that the named settings of a table do not fall."""
    return Agreement(tuple(f"{table}.{name}" for name in names), " <= ".join(names), _ascending)


def _highest_prestige(drawn: float, ladder: Sequence[int]) -> float:
    """Returns the most prestige that any task may require."""
    return max(drawn, *ladder, 1)


def _deadline_is_a_date(  # noqa: PLR0913 - the settings of one statement
    start: dt.date,
    years: int,
    quantity: float,
    prestige: float,
    ladder: Sequence[int],
    scale: float,
    least: int,
    per_day: float,
    fewest_days: int,
) -> bool:
    """Returns whether the latest deadline, of the largest task accepted just before the horizon, is in year 9999.

    The largest sum over all domains is taken, so that it holds also where a deadline is made from the sum.
    """
    if start.year + years > dt.MAXYEAR:
        return False
    work = len(DOMAINS) * max(least, quantity * (1 + scale * (_highest_prestige(prestige, ladder) - 1)))
    business_days = max(fewest_days, work / per_day)
    # Counted from the 28th, which every February has; a week has 5 business days, and 5 more cover the ends.
    horizon = start.replace(year=start.year + years, day=min(start.day, 28)).toordinal() + 3
    return horizon + (business_days + 5) * 7 / 5 <= dt.date.max.toordinal()


def _reward_is_counted_exactly(
    reward: float, prestige: float, ladder: Sequence[int], scale: float, boost: float
) -> bool:
    """Returns whether the largest reward is small enough for sums of rewards to be exact."""
    growth = 1 + scale * (_highest_prestige(prestige, ladder) - 1)
    gated = reward * growth * (1 + boost * _LARGEST_REQUIRED_TRUST)
    return gated * _LARGEST_CLIENT_MULTIPLIER <= _LARGEST_REWARD_CENTS


def _largest_draws(*distributions: str) -> Iterator[tuple[str, ...]]:
    """Yields each combination of the keys that may hold the largest draws; a distribution has one of its two."""
    yield from itertools.product(*((f"{name}.high", f"{name}.value") for name in distributions))


def _agreements() -> Iterator[Agreement]:
    """Yields every agreement."""
    yield _order("world", "prestige_min", "initial_prestige_level", "prestige_max")
    yield Agreement(
        ("world.workday_start_hour", "world.workday_end_hour"),
        "workday_start_hour < workday_end_hour",
        _strictly_ascending,
    )
    for tier in TIERS:
        yield _order(f"world.salary_{tier}", "min_cents", "max_cents")
        yield _order(f"world.salary_{tier}", "rate_min", "rate_max")
    for distribution in sorted(DISTRIBUTIONS):
        yield _order(distribution, "low", "high")
        yield _order(distribution, "low", "mode", "high")
    for quantity, prestige in _largest_draws("world.dist.required_qty", "world.dist.required_prestige"):
        yield Agreement(
            (
                "sim.start_date",
                "sim.horizon_years",
                quantity,
                prestige,
                "world.market_prestige_ladder",
                "world.prestige_qty_scale",
                "world.min_task_qty",
                "world.deadline_qty_per_day",
                "world.deadline_min_biz_days",
            ),
            "the horizon and the latest possible deadline no later than year 9999",
            _deadline_is_a_date,
        )
    for reward, prestige in _largest_draws("world.dist.reward_funds_cents", "world.dist.required_prestige"):
        yield Agreement(
            (
                reward,
                prestige,
                "world.market_prestige_ladder",
                "world.reward_prestige_scale",
                "world.trust_gated_reward_boost",
            ),
            f"the largest possible reward at most {_LARGEST_REWARD_CENTS:_} cents",
            _reward_is_counted_exactly,
        )


AGREEMENTS: Final = tuple(_agreements())
"""Every agreement between settings."""
