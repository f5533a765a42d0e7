"""Prestige and trust, both stored with 3 places; and room for another task.

Source: Y-5.3, Y-5.5, Y-5.6, Y-7, X-1.
"""

import math
from collections.abc import Sequence

from ycbench_env.rules.clock import DAY_US
from ycbench_env.rules.number import round_double, shortest_decimal, stored

_NEAR_TIE = 1e-6  # of a thousandth: farther from a tie, the last places of a double decide nothing


def prestige_after_success(prestige_milli: int, delta_milli: int, max_milli: int) -> int:
    """Return prestige in a domain after a success. Source: Y-5.5."""
    return min(prestige_milli + delta_milli, max_milli)


def prestige_after_loss(
    prestige_milli: int, delta_milli: int, multiplier_num: int, multiplier_den: int, min_milli: int
) -> int:
    """Return prestige in a domain after a failure or a cancellation. Source: Y-4.4, Y-5.5."""
    num = prestige_milli * multiplier_den - delta_milli * multiplier_num
    if num <= min_milli * multiplier_den:
        return min_milli
    return stored(num, multiplier_den * 1000, 1000)


def prestige_after_decay(prestige_milli: int, rate_num: int, rate_den: int, elapsed_us: int, min_milli: int) -> int:
    """Return prestige after time, nights and weekends included; the rate is that of a day. Source: Y-5.3 step 2."""
    if rate_num == 0 or elapsed_us == 0:
        return prestige_milli
    den = rate_den * DAY_US
    num = prestige_milli * den - 1000 * rate_num * elapsed_us
    if num <= min_milli * den:
        return min_milli
    return stored(num, den * 1000, 1000)


def trust_after_success(trust_milli: int, gain_base: float, trust_max: float) -> int:
    """Return trust after a success for this client; it grows slower the higher it is. Source: Y-5.5."""
    if trust_max <= 0:
        return 0
    trust = trust_milli / 1000
    return round_double(min(trust + gain_base * (1 - trust / trust_max) ** 1.5, trust_max), 1000)


def trust_after_loss(trust_milli: int, loss: float) -> int:
    """Return trust after a failure, a cancellation or work for another client, at least 0. Source: Y-4.4, Y-5.5."""
    if trust_milli == 0:
        return 0
    return round_double(max(0.0, trust_milli / 1000 - loss), 1000)


def trust_after_decay(trust_milli: int, decay_per_day: float, elapsed_us: int) -> int:
    """Return trust after time has passed, nights and weekends included.

    The loss is a double; its shortest decimal text is subtracted exactly. Source: Y-5.3 step 2, Y-7.
    """
    loss = decay_per_day * (elapsed_us / DAY_US)
    left = trust_milli - 1000 * loss  # in thousandths, some 1e-11 off at most
    whole = math.floor(left)
    if abs(left - whole - 0.5) > _NEAR_TIE:
        return max(0, whole + (left - whole > 0.5))
    num, den = shortest_decimal(loss)
    return max(0, stored(trust_milli * den - 1000 * num, 1000 * den, 1000))


def client_tier_index(multiplier: float) -> int:
    """Return 0 (Standard), 1 (Premium) or 2 (Enterprise) for a drawn reward multiplier. Source: Y-2.3."""
    if multiplier < 1.0:
        return 0
    return 1 if multiplier < 1.7 else 2


def counted_prestige(prestige_milli: Sequence[int], highest: bool) -> Sequence[int]:  # noqa: FBT001 -- a kernel
    """Return, for each domain, the prestige that must reach what a task requires: its own, or the highest of all.

    Source: Y-4.1, K-2.1.
    """
    return [max(prestige_milli)] * len(prestige_milli) if highest else prestige_milli


def is_adversarial(loyalty_milli: int) -> bool:
    """Return whether a client inflates work. Hidden. Source: Y-2.3."""
    return loyalty_milli < -300
