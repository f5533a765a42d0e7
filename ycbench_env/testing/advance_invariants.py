"""What holds between the states before and after an advance of time, and what it reports."""

from __future__ import annotations

from typing import Any, Final

from ycbench_env.testing.assertions import require, require_equal
from ycbench_env.testing.invariants import check_lives, own_task
from ycbench_env.testing.second_opinion import (
    levels_after,
    pay_and_skills_after,
    trust_after,
    work_after,
    work_rates,
)
from ycbench_env.types.state import State

__all__ = ["check_advance"]

_LOST_E4: Final = 100
"""Work that storing may have rounded away since a forecast was made."""

_MICROSECOND: Final = 3_600_000_000  # of an hour


def check_advance(before: State, after: State, events: list[dict[str, Any]]) -> None:
    """Checks what an advance of time reports, as wake events, against what it did.

    Source: Y-5.3 to Y-5.5, K-2.3 to K-2.5.
    """
    require(after.now_us > before.now_us or events, "time stood still, and nothing happened")
    check_lives(before, after)
    completions = [event for event in events if event["type"] == "task_completed"]
    paid = -sum(e.amount_cents for e in after.ledger[len(before.ledger) :] if e.category == "monthly_payroll")
    require_equal(
        after.funds_cents - before.funds_cents,
        sum(event["funds_delta"] for event in completions) - paid,
        "change of funds against the deltas reported",
    )
    _check_order(before, after, [event["type"] for event in events])
    _check_payrolls(before, after, events)
    raised = after.monthly_payroll_cents - before.monthly_payroll_cents
    require_equal(sum(e["salary_bump_total_cents"] for e in completions), raised, "raises reported")
    for event in completions:
        _check_completion(before, after, event)
    _check_worlds_figures(before, after, completions)
    for event in events:
        if event["type"] == "task_half":
            _check_milestone(before, after, event)


def _check_order(before: State, after: State, kinds: list[str]) -> None:
    """Check what comes before what, and where time stopped. Source: Y-5.3, K-2.4."""
    payrolls = kinds.count("monthly_payroll")
    require_equal(kinds[:payrolls], ["monthly_payroll"] * payrolls, f"payrolls come first in {kinds}")
    bankrupt = after.terminal_reason == "bankruptcy"
    if payrolls and before.config.world.resume_stops_at_payroll:
        require_equal(kinds, ["monthly_payroll"], "what happens with a payroll")
    elif payrolls == len(kinds):
        require(bankrupt or not kinds, f"time stopped at a payroll and not at an event: {kinds}")
    require_equal("horizon_end" in kinds, after.terminal_reason == "horizon_end", "horizon_end reported")
    require("horizon_end" not in kinds[:-1], f"something follows the end in {kinds}")
    due = [
        time_us for task in before.tasks for time_us in (task.completion_us, task.milestone_us) if time_us is not None
    ]
    earliest_us = min([*due, before.calendar.horizon_us]) if before.terminal_reason is None else before.now_us
    require(after.now_us <= max(earliest_us, before.now_us), "time went past an event")
    missed = [time_us for time_us in before.calendar.payrolls_us if before.now_us < time_us < after.now_us]
    require(len(missed) <= payrolls, f"payrolls {missed} passed, {payrolls} reported")


def _check_payrolls(before: State, after: State, events: list[dict[str, Any]]) -> None:
    """Check each payroll reported: when it was charged, how much, and the funds left. Source: Y-5.4."""
    payrolls = [event for event in events if event["type"] == "monthly_payroll"]
    require_equal(after.payrolls_charged - before.payrolls_charged, len(payrolls), "payrolls")
    if len(events) == 1 and payrolls:
        require_equal(after.now_us, before.next_payroll_us, "time of a payroll against the next one announced")
    funds = before.funds_cents
    for event in payrolls:
        require(funds >= 0, "a payroll was charged after bankruptcy")
        funds -= before.monthly_payroll_cents  # raises come with what is done, after all payrolls
        require_equal(event["funds_after"], funds, "funds_after of a payroll")


def _check_completion(before: State, after: State, event: dict[str, Any]) -> None:
    old, new = own_task(before, event["task_id"]), own_task(after, event["task_id"])
    require_equal(old.status, "active", f"status before {event}")
    require_equal(new.status, "completed_success" if event["success"] else "completed_fail", f"status after {event}")
    require_equal(new.completed_us, after.now_us, f"time of {event}")
    require_equal(event["client_name"], new.offer.client_name, f"client of {event}")
    require_equal(event["listed_reward"], new.offer.reward_cents, f"listed reward of {event}")
    require_equal(event["employees_assigned"], len(new.team), f"team of {event}")
    require_equal(event["deadline_margin"].startswith("ahead"), event["success"], f"margin of {event}")
    booked = [e.amount_cents for e in after.ledger[len(before.ledger) :] if e.ref_id == new.task_id]
    require_equal(event["funds_delta"], sum(booked), f"bookings of {event}")
    require(not event["success"] or event["funds_delta"] == event["listed_reward"], f"reward of {event}")


def _check_worlds_figures(before: State, after: State, completions: list[dict[str, Any]]) -> None:
    """Check levels, staff and work against a second computation of them."""
    completed = [own_task(after, event["task_id"]) for event in completions]
    ended = {new.task_id for new in after.tasks if new.completed_us is not None} - {
        old.task_id for old in before.tasks if old.completed_us is not None
    }
    require_equal({task.task_id for task in completed}, ended, "completions reported against those made")
    require_equal(list(after.prestige_milli), levels_after(before, after, completed), "prestige")
    trust, deltas = trust_after(before, after, completed)
    told = [round(event["trust_delta"] * 1000) for event in completions]
    require_equal(told, deltas, "trust_delta of the completions")
    require_equal({client.name: client.trust_milli for client in after.clients}, trust, "trust")
    staff = [(employee.salary_cents, employee.rates_e4) for employee in after.employees]
    require_equal(staff, pay_and_skills_after(before, completed), "salaries and rates")
    _check_work(before, after)


def _check_work(before: State, after: State) -> None:
    """Check the work of every task that was active; one that is complete had nothing to speak of left."""
    for old, new in zip(before.tasks, after.tasks, strict=True):
        if old.status != "active":
            require_equal(new.done_e4, old.done_e4, f"work of {old.task_id} ({old.status})")
            continue
        done = work_after(before, after, old)
        if new.status == "active":
            require_equal(list(new.done_e4), done, f"work of {old.task_id}")
            continue
        rates = work_rates(before, old)
        for part, whole, rate in zip(done, old.required_e4, rates, strict=True):
            left = whole - part
            require(left <= _LOST_E4 + 2 * rate / _MICROSECOND, f"{old.task_id} completed with {left} left of {whole}")


def _check_milestone(before: State, after: State, event: dict[str, Any]) -> None:
    """Check that the milestone told is the task's next one, and reached. Source: Y-5.2, K-2.5."""
    old, new = own_task(before, event["task_id"]), own_task(after, event["task_id"])
    require_equal(old.status, "active", f"status before {event}")
    ratios = before.config.world.milestone_ratios[old.milestones_reported : new.milestones_reported]
    reached = [(num, den) for num, den in ratios if 100 * num // den == event["milestone_pct"]]
    require(reached, f"{event} is not between milestones {old.milestones_reported} and {new.milestones_reported}")
    slack = len(new.done_e4) * _LOST_E4 + 2 * sum(work_rates(before, old)) / _MICROSECOND
    num, den = reached[0]
    require(sum(new.done_e4) + slack >= num * sum(new.required_e4) / den, f"{event} at {new.done_e4}")
