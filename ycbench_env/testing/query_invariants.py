"""What holds between a state and the answers to questions about it."""

from __future__ import annotations

from typing import Any

from ycbench_env.testing.assertions import require_equal
from ycbench_env.types.command import (
    BrowseMarket,
    ClientHistory,
    Command,
    CompanyStatus,
    FinanceLedger,
    ListEmployees,
    ListTasks,
    ReportMonthly,
)
from ycbench_env.types.state import MarketTask, State
from ycbench_env.units import iso_time
from ycbench_env.vocabulary import DOMAINS

__all__ = ["acceptable", "check_query"]


def acceptable(state: State, task: MarketTask) -> bool:
    """Returns whether prestige and trust allow a listed task now. Source: Y-4.1, K-2.1."""
    levels = state.prestige_milli
    if state.config.world.prestige_gate == "required_domains":
        levels = tuple(levels[domain] for domain in task.domains)
        reached = min(levels)
    else:
        reached = max(levels)
    trust = 0 if task.client_name is None else state.client(task.client_name).trust_milli
    return reached >= task.required_prestige * 1000 and trust >= task.required_trust * 1000


def check_query(state: State, command: Command, output: dict[str, Any]) -> None:
    """Checks the answer to a question against the state."""
    match command:
        case CompanyStatus():
            _check_status(state, output)
        case ListEmployees():
            _check_staff(state, output)
        case BrowseMarket():
            _check_market(state, command, output)
        case ListTasks():
            shown = [t.task_id for t in reversed(state.tasks) if command.status in {None, t.status}]
            require_equal([row["task_id"] for row in output["tasks"]], shown, "task list")
        case ClientHistory():
            # In a world without clients nobody remembers what was done.
            done = sum(task.completed_us is not None for task in state.tasks if state.clients)
            told = sum(row["tasks_succeeded"] + row["tasks_failed"] for row in output["client_history"])
            require_equal(told, done, "completed tasks in the client history")
        case FinanceLedger():
            total = sum(row["amount_cents"] for row in output["entries"])
            require_equal((output["total_amount_cents"], output["count"]), (total, len(output["entries"])), "ledger")
            if command == FinanceLedger():
                require_equal(total, state.funds_cents - state.config.world.initial_funds_cents, "sum of the ledger")
        case ReportMonthly():
            _check_report(state, command, output)
        case _:
            pass


def _check_status(state: State, output: dict[str, Any]) -> None:
    statuses = [task.status for task in state.tasks]
    counts = {
        "active": statuses.count("active"),
        "planned": statuses.count("planned"),
        "completed": statuses.count("completed_success") + statuses.count("completed_fail"),
        "cancelled": statuses.count("cancelled"),
    }
    require_equal(output["tasks"], counts, "counts of tasks")
    require_equal(output["funds_cents"], state.funds_cents, "funds_cents")
    charged = list(state.calendar.payrolls_us[state.payrolls_charged :])
    require_equal(output["next_payroll"], iso_time(charged[0]) if charged else None, "next_payroll")


def _check_staff(state: State, output: dict[str, Any]) -> None:
    """Check that each employee's tasks are the active ones it is on, and its rates are told where they may be."""
    visible = state.config.world.skill_rates_visible
    for employee, row in zip(state.employees, output["employees"], strict=True):
        tasks = [
            task.task_id
            for task in state.tasks
            if task.status == "active" and employee.number in {member.employee for member in task.team}
        ]
        shown = {domain: round(rate / 10_000, 2) for domain, rate in zip(DOMAINS, employee.rates_e4, strict=True)}
        expected = {
            "name": employee.name,
            "tier": employee.tier,
            "salary_cents": employee.salary_cents,
            **({"skill_rates": shown} if visible else {}),
            "active_tasks": tasks,
        }
        require_equal(row, expected, "an employee as listed")


def _check_market(state: State, command: BrowseMarket, output: dict[str, Any]) -> None:
    """Check which tasks a page lists, and how many there are. Source: answers (market browse), K-3."""
    world = state.config.world
    listed = [task for task in state.market_by_reward if world.market_browse_scope == "all" or acceptable(state, task)]
    if command.domain is not None:
        listed = [task for task in listed if command.domain in {DOMAINS[domain] for domain in task.domains}]
    if command.reward_min_cents is not None:
        listed = [task for task in listed if task.reward_cents >= command.reward_min_cents]
    if command.required_prestige_lte is not None:
        listed = [task for task in listed if task.required_prestige <= command.required_prestige_lte]
    listed.sort(key=lambda task: -task.reward_cents)
    limit = world.market_browse_default_limit if command.limit is None else command.limit
    offset = command.offset or 0
    told = (output["total"], output["offset"], output["limit"], [row["task_id"] for row in output["tasks"]])
    page = [task.task_id for task in listed[offset : offset + limit]]
    require_equal(told, (len(listed), offset, limit, page), f"total, offset, limit and page of {command}")


def _check_report(state: State, command: ReportMonthly, output: dict[str, Any]) -> None:
    """Check each month told against the ledger, to the cent."""
    funds = state.config.world.initial_funds_cents
    for row in output["months"]:
        month = row["month_start"][:7]
        booked = [entry.amount_cents for entry in state.ledger if iso_time(entry.time_us)[:7] == month]
        revenue = sum(amount for amount in booked if amount > 0)
        until = sum(entry.amount_cents for entry in state.ledger if iso_time(entry.time_us)[:7] <= month)
        expected = {
            "month_start": f"{month}-01",
            "revenue_cents": revenue,
            "cost_cents": revenue - sum(booked),
            "return_cents": sum(booked),
            "ending_funds_cents": funds + until,
        }
        require_equal(row, expected, f"report of {month}")
    if command == ReportMonthly():
        require_equal(output["months"][-1]["month_start"][:7], iso_time(state.now_us)[:7], "last month of the report")
