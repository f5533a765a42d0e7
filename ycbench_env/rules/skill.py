"""How an employee's average skill is shared out among the domains, in doubles.

Source: K-1.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FLOOR_RATE", "budget_rates"]

FLOOR_RATE: Final = 1.0
"""Least rate in a domain; what an average leaves above it is the budget to share out."""

_SOFT_CAP: Final = 10.0
_CAP_ROUNDS: Final = 5


def budget_rates(average: float, shares: Sequence[float]) -> tuple[float, ...]:
    """Return the rate in each domain, not rounded; a few may stay above 10, since the capping is not repeated for ever.

    Args:
        average: Average rate that is aimed at, above FLOOR_RATE.
        shares: What each domain's part of the budget is in proportion to, not negative; all 0 for equal parts.

    Source: K-1.2.
    """
    budget = len(shares) * average - len(shares) * FLOOR_RATE
    total = sum(shares)
    parts = [share / total for share in shares] if total > 0 else [1 / len(shares)] * len(shares)
    rates = [FLOOR_RATE + budget * part for part in parts]
    for _ in range(_CAP_ROUNDS):
        above = [rate > _SOFT_CAP for rate in rates]
        pool = sum([rate - _SOFT_CAP for rate, over in zip(rates, above, strict=True) if over])
        open_domains = above.count(False)
        if pool == 0 or open_domains == 0:
            # Those above are cut all the same: their excess goes to nobody.
            return tuple([_SOFT_CAP if over else rate for rate, over in zip(rates, above, strict=True)])
        each = pool / open_domains
        rates = [_SOFT_CAP if over else rate + each for rate, over in zip(rates, above, strict=True)]
    return tuple(rates)
