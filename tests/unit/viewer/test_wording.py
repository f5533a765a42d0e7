from __future__ import annotations

import attrs
import pytest

from ycbench_env.observation.dashboard import dashboard
from ycbench_env.types.state import State
from ycbench_env.viewer.wording import clean, dollars, ending, moment, runway, short_dollars, time_left

DAY = 86_400_000_000
HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("cents", "short", "exact"),
    [
        (0, "$0", "$0"),
        (99, "$0.99", "$0"),
        (-1, "-$0.01", "-$1"),
        (95_000, "$950", "$950"),
        (99_999, "$1K", "$999"),
        (1_250_000, "$12.5K", "$12,500"),
        (99_999_900, "$1M", "$999,999"),
        (-125_000_000, "-$1.25M", "-$1,250,000"),
        (10**14, "$1T", "$1,000,000,000,000"),
        (10**17 + 5, "$1,000T", "$1,000,000,000,000,000"),
    ],
)
def test_amounts_are_written_short_and_exact(cents: int, short: str, exact: str) -> None:
    assert short_dollars(cents) == short
    assert dollars(cents) == exact


@pytest.mark.parametrize(
    ("difference_us", "words"),
    [
        (0, "in <1 h"),
        (-1, "late <1 h"),
        (HOUR, "in 1 h"),
        (DAY - 1, "in 23 h"),
        (DAY, "in 1 d"),
        (-DAY, "late 1 d"),
        (40 * DAY + HOUR, "in 40 d"),
    ],
)
def test_a_deadline_is_late_only_after_its_instant(difference_us: int, words: str) -> None:
    assert time_left(10 * DAY + difference_us, 10 * DAY) == words


def test_a_moment_is_written_to_the_minute() -> None:
    assert moment(DAY + 9 * HOUR + 59_999_999) == "1970-01-02 09:00"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Acme", "Acme"),
        ("  a\nb ", "a?b"),
        ("e\u0301", "é"),
        ("\u00a0x", "?x"),
        ("x" * 61, "x" * 57 + "..."),
        ("x" * 60, "x" * 60),
    ],
)
def test_a_name_is_cleaned(text: str, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("months", "words"), [(None, "endless"), (3.25, "3.2 months"), (-1.0, "-1.0 months"), (1e15, "1000+ months")]
)
def test_a_runway_is_put_in_words(start: State, months: float | None, words: str) -> None:
    assert runway(attrs.evolve(dashboard(start), runway_months=months)) == words


def test_an_end_that_has_no_words_is_shown_as_it_is(start: State) -> None:
    board = dashboard(start)
    assert ending(board) is None
    assert ending(attrs.evolve(board, end_reason="max_turns")) == "Turn limit reached"
    assert ending(attrs.evolve(board, end_reason="acquired")) == "acquired"
