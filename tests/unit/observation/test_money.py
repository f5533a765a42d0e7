"""The books. Source: answers (finance ledger, report monthly), Y-8; B26."""

import datetime as dt

import attrs
import pytest

from ycbench_env.observation import answer
from ycbench_env.testing.tiny import carried_out, instant, started, tiny_state
from ycbench_env.text import JsonObject
from ycbench_env.transition import advance, transition
from ycbench_env.types.command import FinanceLedger, ReportMonthly, Resume
from ycbench_env.types.state import LedgerEntry, State


def ask(state: State, command: FinanceLedger | ReportMonthly) -> JsonObject:
    return answer(state, command, transition(state, command))


def rows(output: JsonObject, key: str) -> list[JsonObject]:
    found = output[key]
    assert isinstance(found, list)
    return [row for row in found if isinstance(row, dict)]


def day(text: str | None) -> dt.date | None:
    return None if text is None else dt.date.fromisoformat(text)


def with_books() -> State:
    """13 March 2025: a reward on 2 January, payrolls on 3 February and 3 March, a penalty on 13 March at 23:59."""
    state = carried_out(started(tiny_state(), "Task-1", "Emp_1", "Emp_2"), Resume())
    state = advance(advance(state).state).state
    late = instant("2025-03-13 23:59:59.999999")
    entry = LedgerEntry(late, "task_fail_penalty", -300_000, "Task-1")
    return attrs.evolve(state, now_us=late, funds_cents=state.funds_cents - 300_000, ledger=(*state.ledger, entry))


def test_the_ledger_lists_every_booking_in_order() -> None:
    output = ask(with_books(), FinanceLedger())
    assert list(output) == ["count", "total_amount_cents", "entries"]
    payrolls = [
        {
            "occurred_at": f"2025-{month}-03T09:00:00",
            "category": "monthly_payroll",
            "amount_cents": -100_000,
            "ref_type": "employee",
            "ref_id": name,
        }
        for month in ("02", "03")
        for name in ("Emp_1", "Emp_2")
    ]
    reward = {
        "occurred_at": "2025-01-02T10:00:00",
        "category": "task_reward",
        "amount_cents": 1_000_000,
        "ref_type": "task",
        "ref_id": "Task-1",
    }
    penalty = {
        "occurred_at": "2025-03-13T23:59:59.999999",
        "category": "task_fail_penalty",
        "amount_cents": -300_000,
        "ref_type": "task",
        "ref_id": "Task-1",
    }
    assert output == {"count": 6, "total_amount_cents": 300_000, "entries": [reward, *payrolls, penalty]}
    assert list(rows(output, "entries")[0]) == list(reward)


@pytest.mark.parametrize(
    ("date_from", "date_to", "count"),
    [
        ("2025-02-03", None, 5),  # the named day is included
        ("2025-02-04", None, 3),
        (None, "2025-02-03", 3),  # here as well, although the payroll is at 09:00
        (None, "2025-02-02", 1),
        ("2025-02-03", "2025-02-03", 2),
        ("2025-03-13", "2025-03-13", 1),  # to the last microsecond of the day
        (None, "2025-03-12", 5),
        ("2025-03-14", None, 0),
        ("2025-03-01", "2025-02-01", 0),
        ("1970-01-01", "2999-12-31", 6),
    ],
)
def test_both_days_of_the_ledger_are_included(date_from: str | None, date_to: str | None, count: int) -> None:
    command = FinanceLedger(day(date_from), day(date_to))
    output = ask(with_books(), command)
    assert output["count"] == count


@pytest.mark.parametrize(
    ("category", "count", "total"),
    [("task_reward", 1, 1_000_000), ("task_fail_penalty", 1, -300_000), ("monthly_payroll", 4, -400_000)],
)
def test_a_category_of_the_ledger(category: str, count: int, total: int) -> None:
    output = ask(with_books(), FinanceLedger(category=category))
    assert (output["count"], output["total_amount_cents"]) == (count, total)
    assert ask(with_books(), FinanceLedger(day("2025-03-04"), None, category))["count"] == int(
        category == "task_fail_penalty"
    )


def month(start: str, revenue: int, cost: int, funds: int) -> JsonObject:
    return {
        "month_start": start,
        "revenue_cents": revenue,
        "cost_cents": cost,
        "return_cents": revenue - cost,
        "ending_funds_cents": funds,
    }


def test_the_monthly_report_has_every_month_up_to_the_current_one() -> None:
    output = ask(with_books(), ReportMonthly())
    assert list(output) == ["count", "months"]
    assert output == {
        "count": 3,
        "months": [
            month("2025-01-01", 1_000_000, 0, 11_000_000),
            month("2025-02-01", 0, 200_000, 10_800_000),
            month("2025-03-01", 0, 500_000, 10_300_000),  # payroll and penalty
        ],
    }
    assert list(rows(output, "months")[0]) == list(month("2025-01-01", 0, 0, 0))


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2025-02", None, ["2025-02-01", "2025-03-01"]),
        (None, "2025-02", ["2025-01-01", "2025-02-01"]),
        ("2025-02", "2025-02", ["2025-02-01"]),
        ("2024-01", "2030-01", ["2025-01-01", "2025-02-01", "2025-03-01"]),
        ("2025-03", "2025-02", []),
        ("2025-04", None, []),
    ],
)
def test_both_months_of_the_report_are_included(first: str | None, last: str | None, expected: list[str]) -> None:
    command = ReportMonthly(day(first and first + "-01"), day(last and last + "-01"))
    output = ask(with_books(), command)
    assert [row["month_start"] for row in rows(output, "months")] == expected
    assert output["count"] == len(expected)
