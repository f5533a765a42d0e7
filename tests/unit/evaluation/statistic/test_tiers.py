"""Tiers by intervals."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import Interval, Summary, summarise, tiers

NONE = summarise(())


def summary(least: float, most: float) -> Summary:
    """A summary whose mean is in the middle of its interval."""
    interval = Interval(least, most, 0.95, "student")
    return attrs.evolve(NONE, mean=(least + most) / 2, interval=interval)


def low(group: Summary) -> float:
    """The lower end, which must be defined."""
    assert group.interval.low is not None
    return group.interval.low


def high(group: Summary) -> float:
    """The upper end, which must be defined."""
    assert group.interval.high is not None
    return group.interval.high


ranges = st.tuples(st.integers(0, 40), st.integers(0, 15)).map(lambda pair: summary(pair[0], pair[0] + pair[1]))


def test_a_tier_begins_where_an_interval_lies_wholly_below_the_leaders() -> None:
    found = tiers({"weak": summary(0, 3), "best": summary(8, 12), "good": summary(5, 8.5), "fair": summary(2, 7)})
    assert [tier.members for tier in found.tiers] == [("best", "good"), ("fair", "weak")]
    assert [tier.number for tier in found.tiers] == [1, 2]


def test_a_chain_is_cut_and_the_overlap_across_the_border_is_told() -> None:
    """a overlaps b and b overlaps c, but c lies below a: it leads tier 2, and (b, c) is not told apart."""
    found = tiers({"a": summary(10, 14), "b": summary(7, 11), "c": summary(6, 9)})
    assert [tier.members for tier in found.tiers] == [("a", "b"), ("c",)]
    assert found.overlaps == (("b", "c"),)


def test_intervals_that_touch_overlap() -> None:
    assert len(tiers({"a": summary(5, 9), "b": summary(1, 5)}).tiers) == 1
    assert len(tiers({"a": summary(5, 9), "b": summary(1, 4.999)}).tiers) == 2


def test_equal_means_are_in_the_order_of_names() -> None:
    assert tiers({"b": summary(0, 2), "a": summary(0, 2)}).tiers[0].members == ("a", "b")


def test_who_has_no_interval_is_not_placed_but_named() -> None:
    found = tiers({"none": NONE, "low": summarise([1.0]), "high": summarise([9.0]), "two": summarise([1.0, 2.0])})
    assert found.unplaced == ("high", "low", "none")
    assert [tier.members for tier in found.tiers] == [("two",)]


def test_nobody_makes_no_tier() -> None:
    assert tiers({}).to_json() == {"tiers": [], "overlaps": [], "unplaced": []}


@given(st.dictionaries(st.sampled_from("abcdefgh"), ranges))
def test_leaders_are_told_apart_from_all_below_and_members_from_no_leader(named: dict[str, Summary]) -> None:
    found = tiers(named)
    assert sorted(name for tier in found.tiers for name in tier.members) == sorted(named)
    for place, tier in enumerate(found.tiers):
        border = low(named[tier.members[0]])
        assert all(high(named[name]) >= border for name in tier.members)
        below = [name for later in found.tiers[place + 1 :] for name in later.members]
        # Only the next leader is sure to lie below: a wide interval further down may reach up again, and is told.
        assert all(high(named[name]) < border or (tier.members[0], name) in found.overlaps for name in below)
        if below:
            assert high(named[below[0]]) < border
    assert tiers(dict(reversed(named.items()))) == found


@pytest.mark.parametrize("count", [3, 25])
def test_the_interval_that_is_read_decides(count: int) -> None:
    group = summarise(range(count))
    assert tiers({"a": group, "b": group}).tiers[0].members == ("a", "b")
    below = summarise([value - 2 * (high(group) - low(group)) for value in range(count)])
    assert len(tiers({"a": group, "b": below}).tiers) == 2
