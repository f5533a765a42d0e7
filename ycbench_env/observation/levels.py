"""Stored integers as the decimals that answers show. Source: answers (places)."""

from __future__ import annotations

from ycbench_env.rules.number import round_double

__all__ = ["level", "percent", "quantity"]


def level(milli: int) -> float:
    """Return a prestige, trust or delta with 3 places."""
    return milli / 1000


def quantity(value_e4: int) -> float:
    """Return a quantity or skill boost with 4 places."""
    return value_e4 / 10_000


def percent(part: int, whole: int) -> float:
    """Return a share in percent with 2 places; 0 of nothing is 0."""
    return round_double(part / whole * 100, 100) / 100 if whole else 0.0
