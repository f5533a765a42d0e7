"""Prestige and trust. Source: Y-2.3, Y-4.4, Y-5.3, Y-5.5, Y-7."""

import pytest

from ycbench_env.rules.clock import DAY_US
from ycbench_env.rules.standing import (
    client_tier_index,
    has_room,
    is_adversarial,
    prestige_after_loss,
    trust_after_decay,
    trust_after_loss,
    trust_after_success,
)


@pytest.mark.parametrize(
    ("prestige", "delta", "num", "den", "expected"),
    [
        (2000, 100, 1, 1, 1900),
        (2000, 100, 3, 2, 1850),  # 1.5 x 0.1
        (2000, 101, 3, 2, 1849),  # 2 - 0.1515 = 1.8485, a tie; its double is 1.84850000000000003: above
        (1100, 100, 1, 1, 1000),
        (1050, 100, 1, 1, 1000),  # 0.95 is below the least
        (2000, 0, 3, 2, 2000),
        (2000, 100, 0, 1, 2000),
    ],
)
def test_loss_takes_a_multiple_of_the_delta_down_to_the_least(
    prestige: int, delta: int, num: int, den: int, expected: int
) -> None:
    assert prestige_after_loss(prestige, delta, num, den, 1000) == expected


@pytest.mark.parametrize(
    ("trust", "expected"),
    [
        (0, 1600),  # 1.6 x 1^1.5
        (5000, 5000),  # nothing left to gain
        (3200, 3546),  # 1 - 0.64 = 0.36; 0.36^1.5 = 0.216; 1.6 x 0.216 = 0.3456; 3.5456
        (4999, 4999),  # 1.6 x 0.0002^1.5 = 0.0000045
    ],
)
def test_trust_grows_slower_the_higher_it_is(trust: int, expected: int) -> None:
    assert trust_after_success(trust, 1.6, 5.0) == expected


def test_trust_never_grows_above_the_most() -> None:
    assert trust_after_success(1000, 100.0, 5.0) == 5000


def test_without_a_gain_or_a_scale_trust_stays() -> None:
    assert trust_after_success(1234, 0.0, 5.0) == 1234
    assert trust_after_success(0, 1.6, 0.0) == 0


@pytest.mark.parametrize(
    ("trust", "loss", "expected"), [(1000, 0.18, 820), (100, 0.18, 0), (180, 0.18, 0), (0, 0.18, 0), (1000, 0.0, 1000)]
)
def test_trust_is_lost_down_to_nothing(trust: int, loss: float, expected: int) -> None:
    assert trust_after_loss(trust, loss) == expected


@pytest.mark.parametrize(
    ("trust", "decay", "elapsed", "expected"),
    [
        (1000, 0.25, DAY_US, 750),
        (1000, 0.25, 2 * DAY_US, 500),
        (1000, 0.25, DAY_US // 2, 875),
        (1000, 0.25, 30 * DAY_US, 0),
        (
            3800,
            0.009,
            DAY_US * 44 // 24,
            3784,
        ),  # 3.8 - 0.0165 = 3.7835, whose double lies above; 3.8 - 0.0165 as doubles, below
        (1, 0.0005, DAY_US, 1),  # 0.0005, whose double lies above the tie
        (0, 0.25, DAY_US, 0),
        (1000, 0.25, 0, 1000),
        (1000, 0.0, DAY_US, 1000),
    ],
)
def test_trust_decays_by_fractions_of_a_day(trust: int, decay: float, elapsed: int, expected: int) -> None:
    assert trust_after_decay(trust, decay, elapsed) == expected


@pytest.mark.parametrize(("multiplier", "tier"), [(0.7, 0), (0.99, 0), (1.0, 1), (1.69, 1), (1.7, 2), (2.5, 2)])
def test_the_tier_of_a_client_follows_its_multiplier(multiplier: float, tier: int) -> None:
    assert client_tier_index(multiplier) == tier


@pytest.mark.parametrize(
    ("held", "most", "room"), [(0, 1, True), (1, 1, False), (2, 3, True), (3, 3, False), (4, 3, False), (999, 0, True)]
)
def test_there_is_room_below_the_limit_and_without_one_always(held: int, most: int, *, room: bool) -> None:
    assert has_room(held, most) is room


@pytest.mark.parametrize(("loyalty", "adversarial"), [(-301, True), (-300, False), (-1000, True), (1000, False)])
def test_a_client_is_adversarial_strictly_below_minus_three_tenths(loyalty: int, *, adversarial: bool) -> None:
    assert is_adversarial(loyalty) is adversarial
