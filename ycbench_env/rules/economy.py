"""Money, quantities, deadlines and skills: formulas in doubles, truncated, left to right as the rules page has them.

Source: Y-2.4, Y-4.1, Y-5.5, Y-7.
"""

from typing import Final

from ycbench_env.rules.number import round_half_even, stored

HIGHEST_RATE_E4: Final = 10**300
"""Where a rate without a cap ends, since doubles do; at half of that a task has long taken no time at all."""

HIGHEST_SALARY_CENTS: Final = 10**15
"""Where a salary without a cap ends, in cents; sums of it are still exact."""

_LARGE_RATE_E4: Final = 10**14
_MAX_QUANTITY = 25_000


def scaled_by_prestige(base: int, scale: float, prestige: int) -> int:
    """Return a drawn quantity or reward scaled by a task's required prestige. Source: Y-2.4 steps 4 and 5."""
    return int(base * (1 + scale * (prestige - 1)))


def _reward_position(reward: int, low: float, high: float) -> float:
    """Return where a reward lies between the bounds of its distribution, from 0 to 1. Source: Y-2.4 step 6."""
    if high <= low:
        return 1.0
    return min(1.0, (reward - low) / (high - low))


def gate_chance(reward: int, low: float, high: float, fraction: float) -> float:
    """Return the probability that a task is gated by trust; ``fraction`` is positive. Source: Y-2.4 step 6."""
    position = _reward_position(reward, low, high)
    return max(0.0, (position - max(0.0, 1 - 2 * fraction)) / min(1.0, 2 * fraction))


def required_trust(reward: int, low: float, high: float) -> int:
    """Return the trust level, 1 to 4, that a gated task requires. Source: Y-2.4 step 6."""
    return max(1, min(int(1 + 3 * _reward_position(reward, low, high)), 4))


def gated_reward(reward: int, boost: float, trust: int) -> int:
    """Return the reward of a task that requires ``trust``. Source: Y-2.4 step 6."""
    return int(reward * (1 + boost * trust))


def client_reward(reward: int, multiplier: float) -> int:
    """Return what a client pays for a task of the initial market. Source: Y-2.4, last line."""
    return int(reward * multiplier)


def reduced_quantity(quantity: int, reduction_max: float, trust_milli: int, trust_max: float, least: int) -> int:
    """Return the work of a task after the client's trust has reduced it, at least ``least``. Source: Y-4.1, K-2.1."""
    trust_fraction = (trust_milli / 1000) / trust_max if trust_max > 0 else 0.0
    return max(least, int(quantity * (1 - reduction_max * trust_fraction)))


def inflated_quantity(quantity: int, severity: float, loyalty_milli: int, passes: int, least: int) -> int:
    """Return the work of an adversarial client's task, inflated ``passes`` times. Hidden until accepted.

    Source: Y-4.1, X-2, K-2.1.
    """
    factor = 1 + max(3, severity * abs(loyalty_milli / 1000))
    for _ in range(passes):
        quantity = int(min(_MAX_QUANTITY, max(least, quantity * factor)))
    return quantity


def deadline_days(quantity: int, quantity_per_day: float, min_days: int) -> int:
    """Return the number of workdays from acceptance to the deadline. Source: Y-4.1."""
    return max(min_days, int(quantity / quantity_per_day))


def failure_penalty(reward_cents: int, penalty_fraction: float) -> int:
    """Return the fee of a task that was late, in cents. Source: Y-5.5."""
    return int(reward_cents * penalty_fraction)


def tier_midpoint(min_cents: int, max_cents: int) -> int:
    """Return the middle of a tier's salary range, in cents. Source: Y-5.5."""
    return (min_cents + max_cents) // 2


def bumped_salary(salary_cents: int, basis_cents: int, bump_fraction: float, cap_cents: int) -> int:
    """Return a salary after a success: a fraction of the basis more, up to the cap; one above the cap stays.

    The basis is the middle of the tier or the salary itself. Source: Y-5.5, K-2.3.
    """
    return max(salary_cents, min(salary_cents + int(basis_cents * bump_fraction), cap_cents))


def boosted_rate(rate_e4: int, boost_e4: int, max_e4: int) -> int:
    """Return a skill rate after a success, exact and then stored. Source: Y-5.5, Y-7."""
    boosted = rate_e4 * (10_000 + boost_e4)
    if rate_e4 < _LARGE_RATE_E4:
        return min(stored(boosted, 100_000_000, 10_000), max_e4)
    num, den = (boosted / 100_000_000).as_integer_ratio()  # the nearest double, too large for the quick way
    return min(round_half_even(num * 10_000, den), max_e4)
