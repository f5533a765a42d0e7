"""Numbers that policies are given: they come from command lines and files, too, so what is no number is said."""

from __future__ import annotations

import math

__all__ = ["at_least_zero"]


def at_least_zero(value: object, name: str, expected: str) -> float:
    """Return a parameter that is a finite number of at least 0.

    Args:
        value: What was given.
        name: What the message calls it, such as ``"margin: got"``.
        expected: What the message says was expected, such as ``"a fraction of at least 0, like 0.1"``.

    Raises:
        ValueError: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        msg = f"{name} {value!r}, expected {expected}"
        raise ValueError(msg)
    return value
