"""The answer to each command: plain JSON values made from visible fields. Source: answers.

Nothing in this package reads a field marked "Hidden.". Every call makes fresh objects.
"""

from __future__ import annotations

from ycbench_env.observation.events import event_type, wake_event, wake_json
from ycbench_env.observation.finance import finance_ledger, report_monthly
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
from ycbench_env.types.state import MarketTask, State, Task
from ycbench_env.units import iso_time
from ycbench_env.vocabulary import DOMAINS


def answer(before: State, command: Command, outcome: Outcome) -> JsonObject:
    """Return the answer to a command that was carried out, or its refusal as ``{"error": text}``.

    Args:
        before: The state in which the command was given.
        command: The command.
        outcome: What ``transition(before, command)`` returned.
    """
    return encoded_answer(before, command, outcome)[0]


def encoded_answer(before: State, command: Command, outcome: Outcome) -> tuple[JsonObject, str]:
    """Return the answer to a command, see ``answer``, and the same as JSON text.

    The two longest listings keep their lines as JSON, and events theirs, which is several times faster than encoding
    them again.
    """
    if outcome.refusal is None:
        if isinstance(command, BrowseMarket):
            return _browse_market(outcome.state, command)
        if isinstance(command, ListEmployees):
            return _employee_list(outcome.state)
        if isinstance(command, Resume):
            return _resumed(outcome.state, before, outcome)
    output = _answered(before, command, outcome)
    return output, to_json(output)


def _answered(before: State, command: Command, outcome: Outcome) -> JsonObject:  # noqa: C901, PLR0911, PLR0912 -- a line a command
    if outcome.refusal is not None:
        return {"error": outcome.refusal}
    state = outcome.state
    match command:
        case CompanyStatus():
            return _company_status(state)
        case ListTasks():
            return _task_list(state, command)
        case InspectTask():
            return _inspect(state, command.task_id)
        case AcceptTask():
            return _accepted(state, before)
        case AssignTask():
            return _assigned(state, before, command)
        case DispatchTask():
            return _dispatched(state, command)
        case CancelTask():
            return _cancelled(state, before, command)
        case ListClients():
            return _client_list(state)
        case ClientHistory():
            return _client_history(state)
        case FinanceLedger():
            return finance_ledger(state, command)
        case ReportMonthly():
            return report_monthly(state, command)
        case _:
            return {"error": "this command belongs to no world"}


def _company_status(state: State) -> JsonObject:
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
        "risk": {"months_runway": state.standing.runway_months, "bankrupt": state.funds_cents < 0},
    }


def _employee_list(state: State) -> tuple[JsonObject, str]:
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


def _progress(task: Task) -> float:
    return percent(sum(task.done_e4), sum(task.required_e4))


def _task_list(state: State, command: ListTasks) -> JsonObject:
    rows: list[Json] = [
        {
            "task_id": task.task_id,
            "title": task.task_id,
            "status": task.status,
            "client_name": task.offer.client_name,
            "progress_pct": _progress(task),
            "deadline": task.deadline,
            "at_risk": task.status == "active" and state.now_us > task.deadline_us,
        }
        for task in reversed(state.tasks)
        if command.status is None or task.status == command.status
    ]
    return {"count": len(rows), "tasks": rows}


def _inspect(state: State, task_id: str) -> JsonObject:
    index = state.task_index(task_id)
    if index is not None:
        return _inspect_own(state.tasks[index])
    slot = state.market_slot(task_id)
    if slot is None:  # the transition refuses unknown ids before this
        return {"error": f"no task {shown(task_id)}"}
    return _inspect_listed(state.market[slot])


def _inspect_own(task: Task) -> JsonObject:
    rows = sorted(zip(task.offer.domains, task.required_e4, task.done_e4, strict=True))
    success = {"completed_success": True, "completed_fail": False}.get(task.status)
    return {
        **_inspected_head(task.offer, task.status),
        "accepted_at": iso_time(task.accepted_us),
        "deadline": task.deadline,
        "completed_at": None if task.completed_us is None else iso_time(task.completed_us),
        "success": success,
        "progress_pct": _progress(task),
        "requirements": [_requirement(*row) for row in rows],
        "assignments": _assignments(task),
    }


def _assignments(task: Task) -> list[Json]:
    rows: list[Json] = []
    shown_us, shown = -1, ""
    for member in task.team:
        if member.assigned_us != shown_us:  # most of a team is assigned at once
            shown_us, shown = member.assigned_us, iso_time(member.assigned_us)
        rows.append({"employee": f"Emp_{member.employee}", "assigned_at": shown})
    return rows


def _inspect_listed(offer: MarketTask) -> JsonObject:
    return {
        **_inspected_head(offer, "market"),
        "accepted_at": None,
        "deadline": None,
        "completed_at": None,
        "success": None,
        "progress_pct": 0.0,
        "requirements": [_requirement(domain, units * 10_000, 0) for domain, units in offer.requirements],
        "assignments": [],
    }


def _inspected_head(offer: MarketTask, status: str) -> JsonObject:
    return {
        "task_id": offer.task_id,
        "title": offer.task_id,
        "status": status,
        "client_name": offer.client_name,
        "required_prestige": offer.required_prestige,
        "required_trust": offer.required_trust,
        "reward_funds_cents": offer.reward_cents,
        "reward_prestige_delta": level(offer.prestige_delta_milli),
        "skill_boost_pct": quantity(offer.skill_boost_e4),
    }


def _requirement(domain: int, required_e4: int, done_e4: int) -> JsonObject:
    return {
        "domain": DOMAINS[domain],
        "required_qty": quantity(required_e4),
        "completed_qty": quantity(done_e4),
        "remaining_qty": quantity(required_e4 - done_e4),
    }


def _accepted(state: State, before: State) -> JsonObject:
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


def _own(state: State, task_id: str) -> Task:
    index = state.task_index(task_id)
    assert index is not None  # noqa: S101 -- the command on it was carried out
    return state.tasks[index]


def _assigned(state: State, before: State, command: AssignTask) -> JsonObject:
    earlier = {member.employee for member in _own(before, command.task_id).team}
    task = _own(state, command.task_id)
    return {
        "task_id": task.task_id,
        "status": task.status,
        "newly_assigned": [f"Emp_{member.employee}" for member in task.team if member.employee not in earlier],
        "total_assigned": [f"Emp_{member.employee}" for member in task.team],
    }


def _dispatched(state: State, command: DispatchTask) -> JsonObject:
    task = _own(state, command.task_id)
    return {
        "task_id": task.task_id,
        "status": task.status,
        "assignment_count": len(task.team),
        "assigned_employees": [f"Emp_{member.employee}" for member in task.team],
    }


def _cancelled(state: State, before: State, command: CancelTask) -> JsonObject:
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


def _clients_by_name(state: State) -> list[tuple[str, int]]:
    return sorted((client.name, place) for place, client in enumerate(state.clients))


def _client_list(state: State) -> JsonObject:
    rows: list[Json] = []
    for name, place in _clients_by_name(state):
        client = state.clients[place]
        rows.append(
            {
                "name": name,
                "trust_level": level(client.trust_milli),
                "tier": client.tier,
                "specialties": [DOMAINS[domain] for domain in client.specialties],
            }
        )
    return {"count": len(rows), "clients": rows}


def _client_history(state: State) -> JsonObject:
    rows: list[Json] = []
    ended = {client.name: [0, 0] for client in state.clients}
    for task in state.tasks:
        if task.completed_us is not None and task.offer.client_name is not None:
            ended[task.offer.client_name][task.status == "completed_fail"] += 1
    for name, place in _clients_by_name(state):
        succeeded, failed = ended[name]
        rows.append(
            {
                "client_name": name,
                "trust_level": level(state.clients[place].trust_milli),
                "tasks_succeeded": succeeded,
                "tasks_failed": failed,
                "failure_rate_pct": round(100 * failed / (succeeded + failed), 1) if succeeded + failed else 0.0,
            }
        )
    return {"count": len(rows), "client_history": rows}


def _resumed(state: State, before: State, outcome: Outcome) -> tuple[JsonObject, str]:
    events = outcome.events
    output: JsonObject = {
        "ok": True,
        "old_sim_time": before.sim_time,
        "new_sim_time": state.sim_time,
        "checkpoint_event_type": event_type(events[-1]) if events else None,
        "events_processed": len(events),
        "payrolls_applied": sum([isinstance(event, PayrollPaid) for event in events]),
        "balance_delta": state.funds_cents - before.funds_cents,
        "wake_events": [],
        "bankrupt": state.funds_cents < 0,
        "horizon_reached": state.terminal_reason == "horizon_end",
        "terminal_reason": state.terminal_reason,
    }
    wakes = ",".join([wake_json(event) for event in events])
    output_json = to_json(output).replace('"wake_events":[]', f'"wake_events":[{wakes}]')
    output["wake_events"] = [wake_event(event) for event in events]
    return output, output_json


# ---- the market


def _browse_market(state: State, command: BrowseMarket) -> tuple[JsonObject, str]:
    """Return the page that was asked for of the listed tasks that match, by default of those acceptable now.

    Source: answers (market browse), K-3.
    """
    shows_all = state.config.world.market_browse_scope == "all"
    rows = list(state.market_by_reward) if shows_all else _acceptable(state)
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


def _acceptable(state: State) -> list[MarketTask]:
    """Return the listed tasks that could be accepted now, best paid first."""
    trust: dict[str | None, int] = {client.name: client.trust_milli // 1000 for client in state.clients}
    floors = [milli // 1000 for milli in state.counted_prestige_milli]
    return [
        task
        for _, first, others, prestige, needed_trust, client_name, task in state.gates
        if prestige <= floors[first]
        and (not needed_trust or needed_trust <= trust[client_name])
        and (not others or all(prestige <= floors[domain] for domain in others))
    ]


# ---- stored integers as the decimals that answers show


def level(milli: int) -> float:
    """Return a prestige, trust or delta with 3 places."""
    return milli / 1000


def quantity(value_e4: int) -> float:
    """Return a quantity or skill boost with 4 places."""
    return value_e4 / 10_000


def percent(part: int, whole: int) -> float:
    """Return a share in percent with 2 places; 0 of nothing is 0."""
    return round_double(part / whole * 100, 100) / 100 if whole else 0.0
