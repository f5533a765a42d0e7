"""How fast a team works, what it has done after a while and when it will be done.

Source: Y-5.1, Y-5.2, Y-6. Quantities and rates are in units of 1/10,000; a rate is per business hour and comes as an
exact ratio with one denominator for all domains of a task, since all its domains have the same team.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from ycbench_env.rules.clock import HOUR_US
from ycbench_env.rules.number import NEVER, Ratio, stored


def common_share(shares: Sequence[int]) -> int:
    """Return the least common multiple of the numbers of active tasks that a team's members are on. Source: Y-5.1."""
    result = 1
    for share in shares:
        if result % share:
            result = result // gcd(result, share) * share
    return result


def team_rate(rates_e4: Sequence[int], weights: Sequence[int], team_size: int) -> int:
    """Return a team's rate in one domain, in units of 1/(10,000 x common share) per hour.

    Each member gives its base rate divided by the number of active tasks it is on, so its weight is ``common_share``
    divided by that number; the largest ``team_size`` of these count. Source: Y-5.1.
    """
    parts = [rate * weight for rate, weight in zip(rates_e4, weights, strict=True)]
    if len(parts) > team_size:
        parts.sort(reverse=True)
        del parts[team_size:]
    return sum(parts)


def accrued(done_e4: int, required_e4: int, rate_num: int, rate_den: int, worked_us: int) -> int:
    """Return the quantity done after ``worked_us`` counted microseconds, capped at what is required, as stored.

    Source: Y-6, Y-7.
    """
    den = rate_den * HOUR_US
    num = done_e4 * den + rate_num * worked_us
    if num >= required_e4 * den:
        return required_e4
    return stored(num, den * 10_000, 10_000)


def completion_work(
    done_e4: Sequence[int], required_e4: Sequence[int], rates_num: Sequence[int], rate_den: int
) -> Ratio:
    """Return the business microseconds until nothing remains, NEVER when nobody works on what remains of one.

    Source: Y-5.2.
    """
    num, den = 0, 1  # of the domain that takes longest
    for done, required, rate in zip(done_e4, required_e4, rates_num, strict=True):
        remaining = required - done
        if remaining == 0:
            continue
        if rate == 0:
            return NEVER
        if remaining * den > num * rate:
            num, den = remaining, rate
    return Ratio(num * rate_den * HOUR_US, den)


def milestone_work(
    done_e4: Sequence[int],
    required_e4: Sequence[int],
    rates_num: Sequence[int],
    rate_den: int,
    fraction_num: int,
    fraction_den: int,
) -> Ratio:
    """Return the business microseconds until the summed progress reaches a fraction of the summed quantity.

    Each domain counts up to its own quantity, so the sum is piecewise linear: domains drop out in the order in which
    they finish. 0 when the milestone is reached or past, NEVER when it is out of reach at these rates. Source: Y-5.2.
    """
    missing = fraction_num * sum(required_e4) - fraction_den * sum(done_e4)
    if missing <= 0:
        return Ratio(0, 1)
    open_work = [
        (required - done, rate)
        for done, required, rate in zip(done_e4, required_e4, rates_num, strict=True)
        if rate > 0 and required > done
    ]
    slope = sum([rate for _, rate in open_work])
    while open_work:
        first = open_work[0]
        for entry in open_work:
            if entry[0] * first[1] < first[0] * entry[1]:
                first = entry
        remaining, rate = first
        if missing * rate <= remaining * fraction_den * slope:
            return Ratio(missing * rate_den * HOUR_US, fraction_den * slope)
        missing -= remaining * fraction_den
        slope -= rate
        open_work.remove(first)
    return NEVER
