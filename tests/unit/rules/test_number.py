"""Rounding of stored numbers. Source: Y-7."""

from decimal import Decimal

import pytest

from ycbench_env.rules.number import round_double, round_half_even, shortest_decimal


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (111.11625, 1_111_162),  # the double is 111.11624999..., below the tie
        (0.00005, 1),  # the double is 0.0000500000000000000024, above the tie
        (0.00015, 1),  # the double is 0.000149999..., below the tie
        (1.00005, 10_001),  # the double is 1.00005000000000010, above the tie
        (2.00015, 20_002),
        (0.0, 0),
        (7.25, 72_500),
        (1e-300, 0),
    ],
)
def test_four_places_follow_the_double_and_not_the_text_that_was_typed(value: float, expected: int) -> None:
    assert round_double(value, 10_000) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0625, 62),  # exactly 62.5 thousandths: the even neighbour is 62
        (0.1875, 188),  # exactly 187.5 thousandths: the even neighbour is 188
        (-0.0625, -62),
        (-0.1875, -188),
    ],
)
def test_an_exact_tie_goes_to_the_even_neighbour(value: float, expected: int) -> None:
    assert round_double(value, 1000) == expected


@pytest.mark.parametrize(
    ("num", "den", "expected"),
    [
        (5, 2, 2),
        (7, 2, 4),
        (9, 4, 2),
        (11, 4, 3),
        (10, 5, 2),
        (-5, 2, -2),
        (-7, 2, -4),
        (0, 3, 0),
        (1, 3, 0),
        (2, 3, 1),
    ],
)
def test_quotients_round_to_the_nearest_integer_and_ties_to_even(num: int, den: int, expected: int) -> None:
    assert round_half_even(num, den) == expected


@pytest.mark.parametrize("value", [0.0165, 0.1, 3.0, 1e-9, 0.009 * (44 / 24), 1 / 3, 123_456.789, 2.0**-24, 2.0**-39])
def test_the_shortest_decimal_is_what_repr_writes(value: float) -> None:
    num, den = shortest_decimal(value)
    assert Decimal(num) / Decimal(den) == Decimal(repr(value))
