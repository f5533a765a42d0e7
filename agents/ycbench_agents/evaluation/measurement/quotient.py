"""Quotients that are defined where there is nothing to divide by."""

from __future__ import annotations

__all__ = ["ratio"]


def ratio(number: float | None, of: float | None) -> float | None:
    """Return a quotient, None where there is nothing to divide or to divide by."""
    return number / of if number is not None and of else None
