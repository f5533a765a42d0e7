"""Rates, progress and forecasts. Source: Y-5.1, Y-5.2, Y-6, Y-7. Rates and quantities are in units of 1/10,000."""

import pytest

from ycbench_env.rules.clock import HOUR_US
from ycbench_env.rules.number import NEVER, Ratio
from ycbench_env.rules.work import accrued, common_share, completion_work, milestone_work, team_rate


def hours(work: Ratio) -> float:
    return work.num / work.den / HOUR_US


@pytest.mark.parametrize(("shares", "expected"), [((), 1), ((1,), 1), ((2, 3), 6), ((4, 6), 12), ((2, 2, 2), 2)])
def test_the_common_share_is_the_least_common_multiple(shares: tuple[int, ...], expected: int) -> None:
    assert common_share(shares) == expected


def test_a_rate_is_split_by_the_active_tasks_of_each_member() -> None:
    # 6.0 / 2 + 9.0 / 3 = 6.0; the common denominator is 6.
    assert team_rate([60_000, 90_000], [6 // 2, 6 // 3], 4) == 60_000 * 6


def test_the_four_largest_shares_count_and_not_the_four_largest_base_rates() -> None:
    # Shares of 10/5 = 2, 3, 4, 5, 6: the four largest are 6 + 5 + 4 + 3 = 18, without the one of base rate 10.
    assert team_rate([100_000, 30_000, 40_000, 50_000, 60_000], [1, 5, 5, 5, 5], 4) == 180_000 * 5


def test_work_done_is_rate_times_hours() -> None:
    # 20 units an hour for 10 h.
    assert accrued(0, 10_000_000, 200_000, 1, 10 * HOUR_US) == 2_000_000
    assert accrued(500_000, 10_000_000, 200_000, 1, HOUR_US // 2) == 600_000


def test_work_done_is_stored_with_four_places() -> None:
    # A third of a unit an hour for an hour: 0.3333.
    assert accrued(0, 10_000_000, 10_000, 3, HOUR_US) == 3333
    # 111.11625 after an hour is a tie whose double lies below: 111.1162.
    assert accrued(0, 10_000_000, 11_111_625, 10, HOUR_US) == 1_111_162


def test_a_task_is_done_when_its_slowest_domain_is() -> None:
    # 200 at 20 an hour are 10 h; 90 at 5 an hour are 18 h.
    assert hours(completion_work([0, 0], [2_000_000, 900_000], [200_000, 50_000], 1)) == 18
    assert hours(completion_work([0, 0], [900_000, 2_000_000], [50_000, 200_000], 1)) == 18
    # The same at half the rates.
    assert hours(completion_work([0, 0], [2_000_000, 900_000], [200_000, 50_000], 2)) == 36
    # 150 of the 200 are done: the rest takes 2.5 h, as the last 10 of the 90 take 2 h.
    assert hours(completion_work([1_500_000, 800_000], [2_000_000, 900_000], [200_000, 50_000], 1)) == 2.5


def test_a_domain_with_work_left_and_nobody_for_it_is_never_done() -> None:
    assert completion_work([0, 0], [2_000_000, 900_000], [200_000, 0], 1) == NEVER


def test_a_milestone_of_one_domain_is_a_share_of_its_time() -> None:
    # Half of 200 at 20 an hour: 5 h; with 60 done, 40 are missing: 2 h.
    assert hours(milestone_work([0], [2_000_000], [200_000], 1, 1, 2)) == 5
    assert hours(milestone_work([600_000], [2_000_000], [200_000], 1, 1, 2)) == 2


def test_a_milestone_counts_a_finished_domain_at_its_quantity_only() -> None:
    # A: 100 at 20 an hour, done after 5 h. B: 100 at 5 an hour. 75 % of 200 = 150.
    # After 5 h: 100 + 25 = 125. The other 25 are done by B alone at 5 an hour: 5 h. Together 10 h.
    for rates in ([200_000, 50_000], [50_000, 200_000]):
        assert hours(milestone_work([0, 0], [1_000_000, 1_000_000], rates, 1, 3, 4)) == 10
    # 25 % of 200 = 50 comes before: 50 / 25 an hour = 2 h.
    assert hours(milestone_work([0, 0], [1_000_000, 1_000_000], [200_000, 50_000], 1, 1, 4)) == 2
    # At twice the denominator everything takes twice as long.
    assert hours(milestone_work([0, 0], [1_000_000, 1_000_000], [200_000, 50_000], 2, 3, 4)) == 20


def test_a_milestone_at_the_corner_where_a_domain_finishes_is_met_there() -> None:
    # 125 of 200 units: exactly when A is finished, after 5 h.
    assert hours(milestone_work([0, 0], [1_000_000, 1_000_000], [200_000, 50_000], 1, 5, 8)) == 5


def test_a_milestone_that_is_reached_or_past_is_due_at_once() -> None:
    assert milestone_work([1_000_000], [2_000_000], [200_000], 1, 1, 2).num == 0
    assert milestone_work([1_500_000], [2_000_000], [200_000], 1, 1, 2).num == 0


def test_a_milestone_within_reach_of_one_domain_is_forecast_though_another_stands_still() -> None:
    # 50 % of 200 = 100 is all of A, at 20 an hour: 5 h. B has nobody.
    assert hours(milestone_work([0, 0], [1_000_000, 1_000_000], [200_000, 0], 1, 1, 2)) == 5


def test_a_milestone_out_of_reach_is_never_due() -> None:
    assert milestone_work([0, 0], [1_000_000, 1_000_000], [200_000, 0], 1, 3, 4) == NEVER
    assert milestone_work([0], [1_000_000], [0], 1, 1, 2) == NEVER
    # A finished domain adds nothing more: 100 done, B stands still, 75 % is 150.
    assert milestone_work([1_000_000, 0], [1_000_000, 1_000_000], [200_000, 0], 1, 3, 4) == NEVER
