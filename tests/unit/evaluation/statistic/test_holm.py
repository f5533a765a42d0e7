"""Holm's correction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ycbench_agents.evaluation.statistic import StatisticError, holm

probabilities = st.floats(0, 1)


def test_the_textbook_family_of_four_is_adjusted_as_r_does() -> None:
    """``p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`` is 0.03 0.06 0.06 0.02."""
    family = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert [member.adjusted for member in family.members] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert [member.name for member in family.members] == ["a", "b", "c", "d"]
    assert family.adjusted("d") == pytest.approx(0.02)


def test_a_member_without_p_counts_in_the_size_of_the_family() -> None:
    family = holm({"a": 0.01, "b": None})
    assert (family.size, family.undefined) == (2, 1)
    assert family.adjusted("a") == 0.02
    assert family.adjusted("b") is None
    assert family.adjusted("a") == holm({"a": 0.01, "b": 1.0}).adjusted("a")


def test_an_empty_family_is_empty() -> None:
    assert (holm({}).members, holm({}).size) == ((), 0)


@given(st.lists(probabilities | st.none(), max_size=9))
def test_adjusted_values_keep_their_order_and_lie_between_p_and_bonferroni(values: list[float | None]) -> None:
    family = holm({str(place): value for place, value in enumerate(values)})
    known = sorted(
        (member.p, member.adjusted) for member in family.members if member.p is not None and member.adjusted is not None
    )
    assert len(known) == family.size - family.undefined
    assert [adjusted for _, adjusted in known] == sorted(adjusted for _, adjusted in known)
    for p, adjusted in known:
        assert p <= adjusted <= min(1, len(values) * p)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused_by_name(value: float) -> None:
    with pytest.raises(StatisticError, match="greedy: got a p-value of"):
        holm({"greedy": value})
