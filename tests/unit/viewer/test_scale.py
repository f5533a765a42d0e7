from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from ycbench_env.units import micros_of_date
from ycbench_env.viewer.scale import funds_scale, month_ticks

AMOUNTS = st.lists(st.integers(-(10**17), 10**17), min_size=1, max_size=20)


@given(AMOUNTS)
def test_a_scale_has_room_for_all_and_few_ticks(funds: list[int]) -> None:
    scale = funds_scale(funds)
    assert scale.low <= min(*funds, 0)
    assert max(*funds, 0) < scale.high
    assert scale.low < 0 < scale.high
    assert 0 in scale.ticks
    assert 2 <= len(scale.ticks) <= 12
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


@given(AMOUNTS, AMOUNTS)
def test_a_scale_only_grows_while_an_episode_goes_on(before: list[int], after: list[int]) -> None:
    old, new = funds_scale(before), funds_scale(before + after)
    assert new.high >= old.high
    assert new.low <= old.low


def test_the_starting_capital_has_round_ticks() -> None:
    assert funds_scale([20_000_000]).ticks == (0, 10_000_000, 20_000_000, 30_000_000)


def test_a_year_has_a_tick_each_month() -> None:
    ticks = month_ticks(_us(2025, 1, 1) + 9 * 3_600_000_000, _us(2026, 1, 1))
    assert [label for _, label in ticks] == [
        *("Jan 2025", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan 2026")
    ]
    assert ticks[0][0] == _us(2025, 1, 1) + 9 * 3_600_000_000  # the start, which is later than midnight
    assert ticks[1][0] == _us(2025, 2, 1)


def test_a_start_within_a_month_begins_with_the_next() -> None:
    assert month_ticks(_us(2025, 5, 15), _us(2026, 5, 15))[0] == (_us(2025, 6, 1), "Jun 2025")


def test_long_horizons_have_years() -> None:
    assert [label for _, label in month_ticks(_us(2025, 1, 1), _us(2055, 1, 1))] == [
        *("2025", "2030", "2035", "2040", "2045", "2050", "2055")
    ]
    assert 2 <= len(month_ticks(_us(2025, 1, 1), _us(2125, 1, 1))) <= 13


def _us(year: int, month: int, day: int) -> int:
    return micros_of_date(dt.date(year, month, day))
