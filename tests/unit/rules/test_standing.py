"""Prestige and trust. Source: Y-2.3, Y-4.4, Y-5.3, Y-5.5, Y-7; properties against exact fractions stand elsewhere."""

import pytest

from ycbench_env.rules.clock import DAY_US
from ycbench_env.rules.standing import (
    client_tier_index,
    is_adversarial,
    prestige_after_decay,
    prestige_after_loss,
    trust_after_decay,
    trust_after_loss,
    trust_after_success,
)


@pytest.mark.parametrize(
    ("prestige", "delta", "num", "den", "expected"),
    [
        (2000, 100, 3, 2, 1850),  # 1.5 x 0.1
        (2000, 101, 3, 2, 1849),  # 2 - 0.1515 = 1.8485, a tie; its double is 1.84850000000000003: above
        (1100, 100, 1, 1, 1000),
        (1050, 100, 1, 1, 1000),  # 0.95 is below the least
        (2000, 100, 0, 1, 2000),
    ],
)
def test_loss_takes_a_multiple_of_the_delta_down_to_the_least(
    prestige: int, delta: int, num: int, den: int, expected: int
) -> None:
    assert prestige_after_loss(prestige, delta, num, den, 1000) == expected


@pytest.mark.parametrize(
    ("trust", "gain", "most", "expected"),
    [
        (0, 1.6, 5.0, 1600),  # 1.6 x 1^1.5
        (5000, 1.6, 5.0, 5000),  # nothing left to gain
        (3200, 1.6, 5.0, 3546),  # 1 - 0.64 = 0.36; 0.36^1.5 = 0.216; 1.6 x 0.216 = 0.3456; 3.5456
        (4999, 1.6, 5.0, 4999),  # 1.6 x 0.0002^1.5 = 0.0000045
        (1000, 100.0, 5.0, 5000),
        (1234, 0.0, 5.0, 1234),
        (0, 1.6, 0.0, 0),
    ],
)
def test_trust_grows_slower_the_higher_it_is_and_not_above_the_most(
    trust: int, gain: float, most: float, expected: int
) -> None:
    assert trust_after_success(trust, gain, most) == expected


def test_trust_is_lost_down_to_nothing() -> None:
    assert [trust_after_loss(trust, 0.18) for trust in (1000, 180, 100, 0)] == [820, 0, 0, 0]


@pytest.mark.parametrize(
    ("trust", "decay", "elapsed", "expected"),
    [
        (1000, 0.25, DAY_US, 750),
        (1000, 0.25, DAY_US // 2, 875),
        (1000, 0.25, 30 * DAY_US, 0),
        # 3.8 - 0.0165 = 3.7835, whose double lies above; 3.8 - 0.0165 as doubles, below
        (3800, 0.009, DAY_US * 44 // 24, 3784),
        (1, 0.0005, DAY_US, 1),  # 0.0005, whose double lies above the tie
        (0, 0.25, DAY_US, 0),
        (1000, 0.25, 0, 1000),
        (1000, 0.0, DAY_US, 1000),
    ],
)
def test_trust_decays_by_fractions_of_a_day(trust: int, decay: float, elapsed: int, expected: int) -> None:
    assert trust_after_decay(trust, decay, elapsed) == expected


def test_bounds_of_tiers_and_loyalty() -> None:
    assert [client_tier_index(multiplier) for multiplier in (0.7, 0.99, 1.0, 1.69, 1.7, 2.5)] == [0, 0, 1, 1, 2, 2]
    assert [is_adversarial(loyalty) for loyalty in (-1000, -301, -300, 1000)] == [True, True, False, False]
    assert prestige_after_decay(1500, 0, 1, DAY_US, 1000) == prestige_after_decay(1500, 1, 10, 0, 1000) == 1500
