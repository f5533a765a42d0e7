"""The books as an agent reads them. Source: answers (finance ledger, report monthly)."""

from __future__ import annotations

import datetime as dt

from ycbench_env.text import Json, JsonObject
from ycbench_env.types.command import FinanceLedger, ReportMonthly
from ycbench_env.types.state import LedgerEntry, State
from ycbench_env.units import date_of, iso_time


def finance_ledger(state: State, command: FinanceLedger) -> JsonObject:
    """Return the bookings of the days from ``date_from`` to ``date_to``, both included."""
    rows = [entry for entry in state.ledger if _matches(entry, command)]
    return {
        "count": len(rows),
        "total_amount_cents": sum([entry.amount_cents for entry in rows]),
        "entries": [
            {
                "occurred_at": iso_time(entry.time_us),
                "category": entry.category,
                "amount_cents": entry.amount_cents,
                "ref_type": "employee" if entry.category == "monthly_payroll" else "task",
                "ref_id": entry.ref_id,
            }
            for entry in rows
        ],
    }


def _matches(entry: LedgerEntry, command: FinanceLedger) -> bool:
    if command.category is not None and entry.category != command.category:
        return False
    if command.date_from is None and command.date_to is None:
        return True
    day = date_of(entry.time_us)
    return (command.date_from is None or day >= command.date_from) and (
        command.date_to is None or day <= command.date_to
    )


def report_monthly(state: State, command: ReportMonthly) -> JsonObject:
    """Return revenue, cost and closing funds of the months up to now, also of those without bookings."""
    bookings: dict[tuple[int, int], list[int]] = {}
    for entry in state.ledger:
        day = date_of(entry.time_us)
        bookings.setdefault((day.year, day.month), []).append(entry.amount_cents)
    funds = state.config.world.initial_funds_cents
    rows: list[Json] = []
    for month in _months(date_of(state.calendar.start_us), date_of(state.now_us)):
        amounts = bookings.get((month.year, month.month), [])
        revenue = sum([amount for amount in amounts if amount > 0])
        cost = -sum([amount for amount in amounts if amount < 0])
        funds += revenue - cost
        if (command.month_from is None or month >= command.month_from) and (
            command.month_to is None or month <= command.month_to
        ):
            rows.append(
                {
                    "month_start": month.isoformat(),
                    "revenue_cents": revenue,
                    "cost_cents": cost,
                    "return_cents": revenue - cost,
                    "ending_funds_cents": funds,
                }
            )
    return {"count": len(rows), "months": rows}


def _months(first: dt.date, last: dt.date) -> list[dt.date]:
    """Return the first days of all months from one day's to another's."""
    start, end = first.year * 12 + first.month - 1, last.year * 12 + last.month - 1
    return [dt.date(index // 12, index % 12 + 1, 1) for index in range(start, end + 1)]
