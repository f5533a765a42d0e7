"""The answer to each command: plain JSON values made from visible fields. Source: answers.

Nothing in this package reads a field marked "Hidden.". Every call makes fresh objects.
"""

from __future__ import annotations

import datetime as dt
from operator import attrgetter

from ycbench_env.observation.events import wake_event, wake_json
from ycbench_env.rules.number import round_double
from ycbench_env.text import Json, JsonObject, shown, to_json
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    ClientHistory,
    Command,
    CompanyStatus,
    DispatchTask,
    FinanceLedger,
    InspectTask,
    ListClients,
    ListEmployees,
    ListTasks,
    ReportMonthly,
    Resume,
)
from ycbench_env.types.event import Outcome, PayrollPaid
from ycbench_env.types.state import State, Task
from ycbench_env.units import date_of, iso_time
from ycbench_env.vocabulary import DOMAINS


def answer(before: State, command: Command, outcome: Outcome) -> JsonObject:
    """Return the answer to a command that was carried out, or its refusal as ``{"error": text}``.

    Args:
        before: The state in which the command was given.
        command: The command.
        outcome: What ``transition(before, command)`` returned.
    """
    return encoded_answer(before, command, outcome)[0]


def encoded_answer(before: State, command: Command, outcome: Outcome) -> tuple[JsonObject, str]:  # noqa: C901, PLR0912 -- a case a command
    """Return the answer to a command, see ``answer``, and the same as JSON text.

    The two longest listings keep their lines as JSON, and events theirs, which is several times faster than encoding
    them again.
    """
    state = outcome.state
    match command:
        case _ if outcome.refusal is not None:
            output: JsonObject = {"error": outcome.refusal}
        case BrowseMarket():
            return _market(state, command)
        case ListEmployees():
            return _employees(state)
        case Resume():
            return _resumed(before, outcome)
        case CompanyStatus():
            output = _status(state)
        case ListTasks():
            output = _tasks(state, command)
        case InspectTask():
            output = _inspected(state, command.task_id)
        case AcceptTask():
            output = _accepted(before, state)
        case AssignTask():
            earlier = {member.employee for member in _own(before, command.task_id).team}
            task = _own(state, command.task_id)
            output = {
                "task_id": task.task_id,
                "status": task.status,
                "newly_assigned": [f"Emp_{member.employee}" for member in task.team if member.employee not in earlier],
                "total_assigned": [f"Emp_{member.employee}" for member in task.team],
            }
        case DispatchTask():
            task = _own(state, command.task_id)
            output = {
                "task_id": task.task_id,
                "status": task.status,
                "assignment_count": len(task.team),
                "assigned_employees": [f"Emp_{member.employee}" for member in task.team],
            }
        case CancelTask():
            output = _cancelled(before, state, command)
        case ListClients():
            output = _clients(state)
        case ClientHistory():
            output = _client_history(state)
        case FinanceLedger():
            output = _ledger(state, command)
        case ReportMonthly():
            output = _months(state, command)
        case _:
            output = {"error": "this command belongs to no world"}
    return output, to_json(output)


# ---- company, market and staff


def _status(state: State) -> JsonObject:
    counts = state.status_counts
    return {
        "company_name": state.config.sim.company_name,
        "funds_cents": state.funds_cents,
        "prestige": {name: level(milli) for name, milli in zip(DOMAINS, state.prestige_milli, strict=True)},
        "sim_time": state.sim_time,
        "horizon_end": state.calendar.horizon_end,
        "tasks": {
            "active": counts["active"],
            "planned": counts["planned"],
            "completed": counts["completed_success"] + counts["completed_fail"],
            "cancelled": counts["cancelled"],
        },
        "employees": len(state.employees),
        "next_payroll": state.next_payroll,
        "monthly_payroll_cents": state.monthly_payroll_cents,
        "risk": {"months_runway": state.runway_months, "bankrupt": state.funds_cents < 0},
    }


def _market(state: State, command: BrowseMarket) -> tuple[JsonObject, str]:
    """Return the page that was asked for of the listed tasks that match, by default of those acceptable now.

    Source: answers (market browse), K-3.
    """
    if state.config.world.market_browse_scope == "all":
        rows = list(state.market_by_reward)
    else:
        trust: dict[str | None, int] = {client.name: client.trust_milli // 1000 for client in state.clients}
        floors = [milli // 1000 for milli in state.counted_prestige_milli]
        rows = [
            task
            for _, first, others, prestige, needed_trust, client_name, task in state.gates
            if prestige <= floors[first]
            and (not needed_trust or needed_trust <= trust[client_name])
            and (not others or all(prestige <= floors[domain] for domain in others))
        ]
    if command.domain is not None:
        domain = DOMAINS.index(command.domain)
        rows = [task for task in rows if domain in task.domains]
    if command.reward_min_cents is not None:
        rows = [task for task in rows if task.reward_cents >= command.reward_min_cents]
    if command.required_prestige_lte is not None:
        rows = [task for task in rows if task.required_prestige <= command.required_prestige_lte]
    offset = command.offset or 0
    limit = state.config.world.market_browse_default_limit if command.limit is None else command.limit
    total, page = len(rows), rows[offset : offset + limit]
    page_json = ",".join([task.listing_json for task in page])
    return (
        {"total": total, "offset": offset, "limit": limit, "tasks": [task.listing() for task in page]},
        f'{{"total":{total},"offset":{offset},"limit":{limit},"tasks":[{page_json}]}}',
    )


def _employees(state: State) -> tuple[JsonObject, str]:
    active: list[list[Json]] = [[] for _ in state.employees]
    for index in state.active_indices:
        task = state.tasks[index]
        for member in task.team:
            active[member.employee - 1].append(task.task_id)
    rows: list[Json] = []
    rows_json: list[str] = []
    with_rates = state.config.world.skill_rates_visible
    for employee, tasks in zip(state.employees, active, strict=True):
        row = employee.profile() if with_rates else employee.head()
        row["active_tasks"] = tasks
        rows.append(row)
        line = employee.profile_json if with_rates else employee.head_json
        rows_json.append(f'{line[:-1]},"active_tasks":{to_json(tasks) if tasks else "[]"}}}')
    count = len(rows)
    return {"count": count, "employees": rows}, f'{{"count":{count},"employees":[{",".join(rows_json)}]}}'


# ---- tasks


def _tasks(state: State, command: ListTasks) -> JsonObject:
    rows: list[Json] = [
        {
            "task_id": task.task_id,
            "title": task.task_id,
            "status": task.status,
            "client_name": task.offer.client_name,
            "progress_pct": percent(sum(task.done_e4), sum(task.required_e4)),
            "deadline": task.deadline,
            "at_risk": task.status == "active" and state.now_us > task.deadline_us,
        }
        for task in reversed(state.tasks)
        if command.status is None or task.status == command.status
    ]
    return {"count": len(rows), "tasks": rows}


def _inspected(state: State, task_id: str) -> JsonObject:
    index = state.task_index(task_id)
    if index is None:
        slot = state.market_slot(task_id)
        if slot is None:  # the transition refuses unknown ids before this
            return {"error": f"no task {shown(task_id)}"}
        task, offer = None, state.market[slot]
        work = [(domain, units * 10_000, 0) for domain, units in offer.requirements]
    else:
        task = state.tasks[index]
        offer = task.offer
        work = sorted(zip(offer.domains, task.required_e4, task.done_e4, strict=True))
    return {
        "task_id": task_id,
        "title": task_id,
        "status": "market" if task is None else task.status,
        "client_name": offer.client_name,
        "required_prestige": offer.required_prestige,
        "required_trust": offer.required_trust,
        "reward_funds_cents": offer.reward_cents,
        "reward_prestige_delta": level(offer.prestige_delta_milli),
        "skill_boost_pct": offer.skill_boost_e4 / 10_000,
        "accepted_at": None if task is None else iso_time(task.accepted_us),
        "deadline": None if task is None else task.deadline,
        "completed_at": None if task is None or task.completed_us is None else iso_time(task.completed_us),
        "success": None if task is None else {"completed_success": True, "completed_fail": False}.get(task.status),
        "progress_pct": 0.0 if task is None else percent(sum(task.done_e4), sum(task.required_e4)),
        "requirements": [
            {
                "domain": DOMAINS[domain],
                "required_qty": required / 10_000,
                "completed_qty": done / 10_000,
                "remaining_qty": (required - done) / 10_000,
            }
            for domain, required, done in work
        ],
        "assignments": [] if task is None else _assignments(task),
    }


def _assignments(task: Task) -> list[Json]:
    rows: list[Json] = []
    last_us, assigned_at = -1, ""
    for member in task.team:
        if member.assigned_us != last_us:  # most of a team is assigned at once
            last_us, assigned_at = member.assigned_us, iso_time(member.assigned_us)
        rows.append({"employee": f"Emp_{member.employee}", "assigned_at": assigned_at})
    return rows


def _own(state: State, task_id: str) -> Task:
    index = state.task_index(task_id)
    assert index is not None  # noqa: S101 -- the command on it was carried out
    return state.tasks[index]


def _accepted(before: State, state: State) -> JsonObject:
    task = state.tasks[-1]
    slot = before.market_slot(task.task_id)
    listed = None if slot is None else state.market[slot].task_id
    return {
        "task_id": task.task_id,
        "status": task.status,
        "accepted_at": state.sim_time,
        "deadline": task.deadline,
        "replacement_task_id": None if listed == task.task_id else listed,
    }


def _cancelled(before: State, state: State, command: CancelTask) -> JsonObject:
    task = _own(state, command.task_id)
    num, den = state.config.world.penalty_cancel_multiplier_ratio
    changes: JsonObject = {}
    for domain in sorted(task.offer.domains):
        old, new = before.prestige_milli[domain], state.prestige_milli[domain]
        changes[DOMAINS[domain]] = {"old": level(old), "new": level(new), "delta": level(old - new)}
    old_client, new_client = before.client_of(task.offer), state.client_of(task.offer)
    trust_delta = 0 if old_client is None or new_client is None else new_client.trust_milli - old_client.trust_milli
    return {
        "task_id": task.task_id,
        "status": task.status,
        "reason": command.reason,
        "cancel_penalty_per_domain": round(num * task.offer.prestige_delta_milli / (den * 1000), 3),
        "prestige_changes": changes,
        "trust_delta": level(trust_delta),
        "bankrupt": state.funds_cents < 0,
    }


def level(milli: int) -> float:
    """Return a prestige, trust or delta with 3 places."""
    return milli / 1000


def percent(part: int, whole: int) -> float:
    """Return a share in percent with 2 places; 0 of nothing is 0."""
    return round_double(part / whole * 100, 100) / 100 if whole else 0.0


# ---- clients


def _clients(state: State) -> JsonObject:
    rows: list[Json] = [
        {
            "name": client.name,
            "trust_level": level(client.trust_milli),
            "tier": client.tier,
            "specialties": [DOMAINS[domain] for domain in client.specialties],
        }
        for client in sorted(state.clients, key=attrgetter("name"))
    ]
    return {"count": len(rows), "clients": rows}


def _client_history(state: State) -> JsonObject:
    rows: list[Json] = []
    ended = {client.name: [0, 0] for client in state.clients}
    for task in state.tasks:
        if task.completed_us is not None and task.offer.client_name is not None:
            ended[task.offer.client_name][task.status == "completed_fail"] += 1
    for client in sorted(state.clients, key=attrgetter("name")):
        succeeded, failed = ended[client.name]
        rows.append(
            {
                "client_name": client.name,
                "trust_level": level(client.trust_milli),
                "tasks_succeeded": succeeded,
                "tasks_failed": failed,
                "failure_rate_pct": round(100 * failed / (succeeded + failed), 1) if succeeded + failed else 0.0,
            }
        )
    return {"count": len(rows), "client_history": rows}


# ---- the books


def _ledger(state: State, command: FinanceLedger) -> JsonObject:
    """Return the bookings of the days from ``date_from`` to ``date_to``, both included."""
    rows = [entry for entry in state.ledger if command.category is None or entry.category == command.category]
    if command.date_from is not None or command.date_to is not None:
        first, last = command.date_from or dt.date.min, command.date_to or dt.date.max
        rows = [entry for entry in rows if first <= date_of(entry.time_us) <= last]
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


def _months(state: State, command: ReportMonthly) -> JsonObject:
    """Return revenue, cost and closing funds of the months up to now, also of those without bookings."""
    bookings: dict[dt.date, list[int]] = {}
    for entry in state.ledger:
        bookings.setdefault(date_of(entry.time_us).replace(day=1), []).append(entry.amount_cents)
    funds = state.config.world.initial_funds_cents
    rows: list[Json] = []
    first, last = date_of(state.calendar.start_us), date_of(state.now_us)
    for index in range(first.year * 12 + first.month - 1, last.year * 12 + last.month):
        month = dt.date(index // 12, index % 12 + 1, 1)
        amounts = bookings.get(month, [])
        revenue = sum([amount for amount in amounts if amount > 0])
        cost = -sum([amount for amount in amounts if amount < 0])
        funds += revenue - cost
        if (command.month_from or dt.date.min) <= month <= (command.month_to or dt.date.max):
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


# ---- time


def _resumed(before: State, outcome: Outcome) -> tuple[JsonObject, str]:
    state, events = outcome.state, outcome.events
    wakes: list[Json] = []
    happened = [wake_event(event) for event in events]
    output: JsonObject = {
        "ok": True,
        "old_sim_time": before.sim_time,
        "new_sim_time": state.sim_time,
        "checkpoint_event_type": happened[-1]["type"] if happened else None,
        "events_processed": len(events),
        "payrolls_applied": sum([isinstance(event, PayrollPaid) for event in events]),
        "balance_delta": state.funds_cents - before.funds_cents,
        "wake_events": wakes,
        "bankrupt": state.funds_cents < 0,
        "horizon_reached": state.terminal_reason == "horizon_end",
        "terminal_reason": state.terminal_reason,
    }
    output_json = to_json(output)
    wakes.extend(happened)
    wakes_json = ",".join([wake_json(event) for event in events])
    return output, output_json.replace('"wake_events":[]', f'"wake_events":[{wakes_json}]')
