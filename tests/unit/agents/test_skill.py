"""Hidden rates as they are estimated: worked out by hand, and true rates from teams that differ enough."""

from __future__ import annotations

import datetime as dt
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ycbench_agents.scripted.answers import Inspection
from ycbench_agents.scripted.expert.deadline import Deadlines
from ycbench_agents.scripted.expert.skill import Gain, RateEstimate, counted_hours
from ycbench_agents.scripted.expert.watch import Watch

MONDAY: Final = dt.datetime(2025, 1, 6, 9)  # noqa: DTZ001 -- simulated time
HOUR: Final = dt.timedelta(hours=1)


def gain(units: float, hours: float, *names: str, share: float = 1.0, day: int = 0) -> Gain:
    since = MONDAY + dt.timedelta(days=day)
    return Gain("research", units, dict.fromkeys(names, share), since, since + hours * HOUR)


def test_whoever_works_alone_is_known_after_one_look() -> None:
    estimate = RateEstimate()
    estimate.meet("A", "junior")
    assert estimate.belief("A", "research").rate == 2.5
    assert estimate.belief("A", "research").deviation == 2.0
    estimate.observe(gain(24.0, 4.0, "A"))
    assert estimate.belief("A", "research").rate == pytest.approx(6.0, abs=0.01)
    assert estimate.belief("A", "research").deviation < 0.01
    assert estimate.belief("A", "training").rate == 2.5


def test_a_team_tells_its_sum_and_shares_the_surprise_out_by_what_was_uncertain() -> None:
    # Junior and mid are 2.5 and 5.5 with variances 4 and 9; 21 instead of 8 an hour: 13 more, 4/13 and 9/13 of it each.
    estimate = RateEstimate()
    estimate.meet("A", "junior")
    estimate.meet("B", "mid")
    estimate.observe(gain(84.0, 4.0, "A", "B"))
    assert estimate.belief("A", "research").rate == pytest.approx(6.5, abs=0.01)
    assert estimate.belief("B", "research").rate == pytest.approx(14.5, abs=0.01)
    assert estimate.team(["A", "B"], "research").rate == pytest.approx(21.0, abs=0.01)
    assert estimate.team(["A", "B"], "research").deviation < 0.05
    assert estimate.belief("A", "research").deviation == pytest.approx((4 * 9 / 13) ** 0.5, abs=0.01)
    estimate.observe(gain(12.0, 4.0, "A", day=1))
    assert estimate.belief("A", "research").rate == pytest.approx(3.0, abs=0.01)
    assert estimate.belief("B", "research").rate == pytest.approx(18.0, abs=0.05)


def test_a_success_raises_what_is_believed_of_its_team() -> None:
    estimate = RateEstimate()
    estimate.observe(gain(20.0, 4.0, "A"))
    estimate.boost(["A", "B"], ["research"], 0.1)
    assert estimate.belief("A", "research").rate == pytest.approx(5.5, abs=0.01)
    assert estimate.belief("B", "research").rate == pytest.approx(4.4)
    assert estimate.belief("B", "research").deviation == pytest.approx(3.3)
    assert estimate.belief("B", "training").rate == 4.0


def test_whoever_is_on_two_tasks_does_half_on_each() -> None:
    estimate = RateEstimate()
    estimate.observe(gain(10.0, 4.0, "A", share=0.5))
    assert estimate.belief("A", "research").rate == pytest.approx(5.0, abs=0.01)


def test_hours_until_midnight_count_for_all_days_but_the_last() -> None:
    friday = MONDAY + dt.timedelta(days=4)
    assert counted_hours(MONDAY, MONDAY + 4 * HOUR) == 4
    assert counted_hours(MONDAY + 8 * HOUR, MONDAY + dt.timedelta(days=1, hours=1)) == 7 + 1
    assert counted_hours(friday + 8 * HOUR, friday + dt.timedelta(days=3)) == 7
    assert counted_hours(MONDAY, MONDAY + 12 * HOUR) == 9


@pytest.mark.parametrize("late", [False, True])
def test_progress_shows_which_hours_count(late: bool) -> None:
    estimate = RateEstimate()
    for day, hours in enumerate((4.0, 25.0, 2.0)):
        since = MONDAY + dt.timedelta(days=2 * day)
        counted = counted_hours(since, since + hours * HOUR) if late else min(hours, 10.0)
        estimate.observe(Gain("research", 5.0 * counted, {"A": 1.0}, since, since + hours * HOUR))
    assert estimate.counts_until_midnight is late
    assert estimate.belief("A", "research").rate == pytest.approx(5.0, abs=0.05)


@settings(max_examples=40)
@given(data=st.data())
def test_enough_different_teams_give_the_true_rates(data: st.DataObject) -> None:
    """Everybody alone or in a growing team, in any order: as many independent equations as there are people."""
    rates = data.draw(st.lists(st.floats(1.0, 12.0), min_size=1, max_size=7))
    names = [f"Emp_{number}" for number in range(len(rates))]
    first = data.draw(st.integers(0, len(rates)))
    teams = [names[:size] for size in range(1, first + 1)] + [[name] for name in names[first:]]
    estimate = RateEstimate()
    for day, team in enumerate(data.draw(st.permutations(teams))):
        sums = sum(rates[names.index(name)] for name in team)
        estimate.observe(gain(sums * 6.0, 6.0, *team, day=7 * day))
    for name, rate in zip(names, rates, strict=True):
        assert estimate.belief(name, "research").rate == pytest.approx(rate, rel=0.02, abs=0.05)


def inspection(task_id: str, status: str, left: float, *team: str) -> Inspection:
    return Inspection(task_id, "", status, None, (("research", 100.0),), (("research", left),), team, 0.5)


def test_looks_at_active_tasks_become_rates() -> None:
    watch = Watch()
    watch.see(MONDAY, [], whole=False)
    # 4 hours: 32 of A alone; B is on two tasks, 6 on each: 3 an hour.
    looks = [
        inspection("T-1", "active", 68.0, "A"),
        inspection("T-2", "active", 94.0, "B"),
        inspection("T-3", "active", 94.0, "B"),
    ]
    watch.see(MONDAY + 4 * HOUR, looks, whole=True)
    assert watch.estimate.belief("A", "research").rate == pytest.approx(8.0, abs=0.02)
    assert watch.estimate.belief("B", "research").rate == pytest.approx(3.0, abs=0.02)
    done = [inspection("T-1", "completed_success", 0.0, "A"), *looks[1:]]
    watch.see(MONDAY + 4 * HOUR, done, whole=True)
    watch.see(MONDAY + 4 * HOUR, done, whole=True)  # seen again, it has taught nobody anew
    assert watch.estimate.belief("A", "research").rate == pytest.approx(12.0, abs=0.03)


def test_what_may_have_been_disturbed_tells_nothing() -> None:
    watch = Watch()
    watch.see(MONDAY, [], whole=False)
    watch.see(MONDAY + 4 * HOUR, [inspection("T-1", "active", 10.0, "A")], whole=False)
    assert watch.estimate.belief("A", "research").rate == 4.0


def test_deadlines_are_expected_by_the_rule_that_agrees_with_those_seen() -> None:
    deadlines = Deadlines()
    two = (("research", 1000.0), ("training", 1000.0))
    assert deadlines.days(two) == 7
    deadlines.learn(two, 20.0)  # 100 a day if the sum counts, 50 if the largest does
    assert deadlines.days((("research", 1000.0),)) == 10
    deadlines.learn((("research", 1000.0),), 10.0)  # so it is the sum
    assert deadlines.days((("research", 3000.0),)) == 30
    assert deadlines.days(two) == 20
    deadlines.learn((), 3.0)
    assert deadlines.days((("research", 1.0),)) == 7
