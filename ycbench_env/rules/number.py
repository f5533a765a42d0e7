"""How numbers are rounded when they are stored.

Source: Y-7. An exact value is stored as the decimal of its nearest double, which makes ties visible: 111.11625 stores
as 111.1162 since its nearest double lies below the tie.
"""

import math
from typing import NamedTuple

_SPLITTER = 134_217_729.0  # 2**27 + 1, cuts a double into two halves whose products are exact


class Ratio(NamedTuple):
    """An exact non-negative quotient; ``den`` 0 stands for "never"."""

    num: int
    den: int


NEVER = Ratio(1, 0)


def round_double(value: float, scale: int) -> int:
    """Return ``value * scale`` rounded to an integer as if multiplied exactly, ties to even.

    The same as ``"%.4f" % value`` for scale 10,000, without text, so that it can be compiled. For finite doubles with
    ``abs(value) * scale`` below 2**52, and powers of ten up to 10,000. Source: Y-7.
    """
    product = value * scale
    high = _SPLITTER * value
    high = high - (high - value)
    error = (high * scale - product) + (value - high) * scale
    whole = math.floor(product)
    over = product - whole - 0.5
    if over == 0.0:
        over = error
    if over > 0.0 or (over == 0.0 and whole % 2 == 1):
        return whole + 1
    return whole


def stored(num: int, den: int, scale: int) -> int:
    """Return the exact value ``num / den`` as it is stored: in units of 1/scale, through its nearest double.

    The scale is 10,000 for rates, quantities and boosts, 1,000 for prestige. Source: Y-7.
    """
    return round_double(num / den, scale)


def shortest_decimal(value: float) -> Ratio:
    """Return the decimal with the fewest places that reads as a double: what ``repr`` writes, as a quotient.

    For finite doubles of 1e-12 or more. Source: Y-7.
    """
    num, den = value.as_integer_ratio()
    scale = 1
    while True:
        below = num * scale // den
        # The nearer of the two neighbours first; below a power of two only the farther one may read as the double.
        first = round_half_even(num * scale, den)
        for whole in (first, 2 * below + 1 - first):
            if whole / scale == value:
                return Ratio(whole, scale)
        scale *= 10


def round_half_even(num: int, den: int) -> int:
    """Return ``num / den`` rounded to the nearest integer, ties to even; ``den`` is positive. Source: Y-3.2."""
    whole = num // den
    twice = 2 * (num - whole * den)
    if twice > den or (twice == den and whole % 2 == 1):
        return whole + 1
    return whole
