"""How an employee's average skill is shared out among the domains, in doubles.

Source: K-1.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

FLOOR_RATE: Final = 1.0
"""Least rate in a domain; what an average leaves above it is the budget to share out."""

_SOFT_CAP: Final = 10.0
_CAP_ROUNDS: Final = 5


def budget_rates(average: float, shares: Sequence[float]) -> tuple[float, ...]:
    """Return the rate in each domain, not rounded; a few may stay above 10, since the capping is not repeated for ever.

    The average aimed at is above FLOOR_RATE; shares are not negative, all 0 stands for equal parts. Source: K-1.2.
    """
    budget = len(shares) * average - len(shares) * FLOOR_RATE
    total = _total(shares)
    rates = [FLOOR_RATE + budget * (share / total if total > 0 else 1 / len(shares)) for share in shares]
    for _ in range(_CAP_ROUNDS):
        pool = _total([rate - _SOFT_CAP for rate in rates if rate > _SOFT_CAP])
        open_domains = len([rate for rate in rates if rate <= _SOFT_CAP])
        # Where none is open, all are cut all the same: their excess goes to nobody.
        each = pool / open_domains if open_domains else 0.0
        rates = [_SOFT_CAP if rate > _SOFT_CAP else rate + each for rate in rates]
        if pool == 0 or open_domains == 0:
            break
    return tuple(rates)


def _total(values: Sequence[float]) -> float:
    """Return the sum in plain doubles, left to right; ``sum`` compensates from Python 3.12 on. Source: Y-7."""
    total = 0.0
    for value in values:
        total += value
    return total
