"""What holds in every state, and between the states before and after a command or an advance of time.

All functions return nothing and raise AssertionError with what is wrong. They compute nothing the way the library
does: they compare what is told with what was done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ycbench_env.rules.standing import trust_after_decay
from ycbench_env.testing.assertions import require, require_equal
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
    ListEmployees,
    ListTasks,
    ReportMonthly,
    Resume,
)
from ycbench_env.types.evolve import evolve
from ycbench_env.units import iso_time
from ycbench_env.vocabulary import DOMAINS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_env.types.state import State, Task

__all__ = ["check_advance", "check_answer", "check_state", "check_turn", "same_world"]

_OPEN: Final = {"planned", "active"}
_NEXT: Final = {
    "planned": {"planned", "active", "cancelled"},
    "active": {"active", "cancelled", "completed_success", "completed_fail"},
}
"""What a status may become in one command; all others are final."""


def same_world(one: State, other: State) -> bool:
    """Returns whether two states are equal to the last bit, turn counters aside."""
    return evolve(one, turns_played=other.turns_played, idle_turns=other.idle_turns) == other


# ---- one state


def check_state(state: State) -> None:
    """Checks a state by itself: books, clock, bounds, ids, teams."""
    world = state.config.world
    calendar = state.calendar
    booked = sum(entry.amount_cents for entry in state.ledger)
    require_equal(state.funds_cents, world.initial_funds_cents + booked, "funds against initial funds and ledger")
    require(calendar.start_us <= state.now_us <= calendar.horizon_us, f"clock {state.now_us} outside the episode")
    require_equal(state.terminal_reason == "bankruptcy", state.funds_cents < 0, "bankruptcy against negative funds")
    at_end = state.now_us == calendar.horizon_us
    require(state.terminal_reason is not None or not at_end, "the clock stands at the horizon, and the episode goes on")
    require(state.terminal_reason != "horizon_end" or at_end, "horizon_end before the horizon")
    ids = [task.task_id for task in (*state.market, *state.tasks)]
    require(len(set(ids)) == len(ids), f"ids are not unique: {sorted(ids)}")
    require_equal(sum(state.slot_accepts), len(state.tasks), "accepted slots against own tasks")
    held = sum(task.status in _OPEN for task in state.tasks)
    most = world.max_open_tasks
    require(most is None or held <= most, f"{held} tasks planned or active, at most {most}")
    require_equal(len(state.market), world.num_market_tasks, "size of the market")
    due = [time_us for time_us in calendar.payrolls_us if time_us <= state.now_us]
    require(len(due) - 1 <= state.payrolls_charged <= len(due), f"{state.payrolls_charged} payrolls charged of {due}")
    _check_bounds(state)
    for task in state.tasks:
        _check_task(state, task)


def _check_bounds(state: State) -> None:
    world = state.config.world
    for level in state.prestige_milli:
        require(world.prestige_min_milli <= level <= world.prestige_max_milli, f"prestige {level} out of bounds")
    for client in state.clients:
        require(0 <= client.trust_milli <= round(world.trust_max * 1000), f"trust {client.trust_milli} out of bounds")
    limits = [world.skill_rate_max_e4]
    limits += [round(tier.rate_max * 10_000) for tier in (world.salary_junior, world.salary_mid, world.salary_senior)]
    for employee in state.employees:
        for rate in employee.rates_e4:
            require(0 <= rate <= max(limits), f"{employee.name} has the rate {rate}")


def _check_task(state: State, task: Task) -> None:
    what = f"{task.task_id} ({task.status})"
    done = list(zip(task.done_e4, task.required_e4, strict=True))
    require(all(0 <= part <= whole for part, whole in done), f"{what}: done {task.done_e4} of {task.required_e4}")
    numbers = [member.employee for member in task.team]
    require_equal(numbers, sorted(set(numbers)), f"{what}: team")
    require(not numbers or (numbers[0] >= 1 and numbers[-1] <= len(state.employees)), f"{what}: team {numbers}")
    require(task.accepted_us <= state.now_us, f"{what}: accepted in the future")
    require_equal(task.completed_us is not None, task.status.startswith("completed"), f"{what}: time of completion")
    if task.completed_us is not None:
        require(all(part == whole for part, whole in done), f"{what}: done {task.done_e4} of {task.required_e4}")
        in_time = task.completed_us <= task.deadline_us
        require_equal(task.status == "completed_success", in_time, f"{what}: success against its deadline")
    elif task.status != "active":
        require(task.completion_us is None and task.milestone_us is None, f"{what}: it has a forecast")
    elif state.terminal_reason is None and task.completion_us is not None:
        require(task.completion_us >= state.now_us, f"{what}: its completion was passed over")


# ---- a whole turn


def check_turn(before: State, after: State) -> None:
    """Checks what a turn may do to a state: nothing comes back, nothing is lost."""
    require(after.now_us >= before.now_us, "the clock went back")
    require_equal(after.ledger[: len(before.ledger)], before.ledger, "bookings of the past")
    require_equal(len(after.clients), len(before.clients), "number of clients")
    limit = after.config.world.skill_rate_max_e4
    for old, new in zip(before.employees, after.employees, strict=True):
        require(old.salary_cents <= new.salary_cents, f"{old.name} earns less than before")
        # Read literally, Y-5.5 brings a rate above the limit down to it.
        rates = zip(old.rates_e4, new.rates_e4, strict=True)
        require(all(min(a, limit) <= b for a, b in rates), f"{old.name} unlearned")
    times = [entry.time_us for entry in after.ledger]
    require_equal(times, sorted(times), "times of the ledger")
    check_state(after)


def _check_lives(before: State, after: State) -> None:
    """Check what one command or advance may make of each own task."""
    require(len(after.tasks) >= len(before.tasks), "a task was lost")
    for old, new in zip(before.tasks, after.tasks, strict=False):
        require_equal(new.task_id, old.task_id, "order of own tasks")
        allowed = _NEXT.get(old.status, {old.status})
        require(new.status in allowed, f"{old.task_id} went from {old.status} to {new.status}")
        require(all(a <= b for a, b in zip(old.done_e4, new.done_e4, strict=True)), f"{old.task_id} lost progress")
        require_equal(new.required_e4, old.required_e4, f"{old.task_id}: required work")


# ---- an advance of time


def check_advance(before: State, after: State, events: list[dict[str, Any]]) -> None:
    """Checks what an advance of time reports, as wake events, against what it did."""
    require(after.now_us > before.now_us or events, "time stood still, and nothing happened")
    _check_lives(before, after)
    kinds = [event["type"] for event in events]
    completions = [event for event in events if event["type"] == "task_completed"]
    paid = -sum(e.amount_cents for e in after.ledger[len(before.ledger) :] if e.category == "monthly_payroll")
    require_equal(
        after.funds_cents - before.funds_cents,
        sum(event["funds_delta"] for event in completions) - paid,
        "change of funds against the deltas reported",
    )
    if "monthly_payroll" in kinds:
        require_equal(kinds, ["monthly_payroll"], "what happens with a payroll")
        require_equal(after.now_us, before.next_payroll_us, "time of a payroll against the next one announced")
        require_equal(paid, before.monthly_payroll_cents, "payroll paid against the one announced")
        require_equal(events[0]["funds_after"], after.funds_cents, "funds_after of a payroll")
    require_equal(after.payrolls_charged - before.payrolls_charged, kinds.count("monthly_payroll"), "payrolls")
    raised = after.monthly_payroll_cents - before.monthly_payroll_cents
    require_equal(sum(e["salary_bump_total_cents"] for e in completions), raised, "raises reported")
    require_equal("horizon_end" in kinds, after.terminal_reason == "horizon_end", "horizon_end reported")
    for event in completions:
        _check_completion(before, after, event)
    if len(completions) == 1:
        _check_trust_delta(before, after, completions[0])
    for event in events:
        if event["type"] == "task_half":
            require_equal(_task(before, event["task_id"]).status, "active", f"status before {event}")


def _check_completion(before: State, after: State, event: dict[str, Any]) -> None:
    old, new = _task(before, event["task_id"]), _task(after, event["task_id"])
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


def _check_trust_delta(before: State, after: State, event: dict[str, Any]) -> None:
    """Check the trust delta of the only completion of an advance: what is left of the change beside decay."""
    world = before.config.world
    name = event["client_name"]
    old = before.client(name).trust_milli
    decayed = trust_after_decay(old, world.trust_decay_per_day, after.now_us - before.now_us) if old else 0
    applied = after.client(name).trust_milli - decayed
    require_equal(round(event["trust_delta"] * 1000), applied, f"trust_delta of {event}")


def _task(state: State, task_id: str) -> Task:
    index = state.task_index(task_id)
    require(index is not None, f"there is no own task {task_id}")
    return state.tasks[index or 0]


# ---- one command


def check_answer(before: State, command: Command, after: State, result: dict[str, Any]) -> None:
    """Checks the answer to one command against what it did.

    Args:
        before: The state before the command.
        command: The command.
        after: The state after it, without a forced advance.
        result: Its ``{"command", "ok", "output"}``.
    """
    output = result["output"]
    if not result["ok"]:
        require(same_world(before, after), f"the refused {command} changed the world")
        require(isinstance(output["error"], str) and output["error"], f"{command}: a refusal without reason")
        return
    if not isinstance(command, AcceptTask | AssignTask | DispatchTask | CancelTask | Resume):
        require(same_world(before, after), f"{command} only asks, and changed the world")
        _check_query(before, command, output)
        return
    if not isinstance(command, Resume):
        require_equal(after.now_us, before.now_us, f"clock after {command}")
        require_equal(after.ledger, before.ledger, f"ledger after {command}")
        _check_lives(before, after)
    match command:
        case AcceptTask():
            _check_accepted(before, after, output)
        case AssignTask():
            _check_assigned(before, command, after, output)
        case DispatchTask():
            _check_dispatched(command, after, output)
        case CancelTask():
            _check_cancelled(before, command, after, output)
        case Resume():
            _check_resumed(before, after, output)


def _check_accepted(before: State, after: State, output: dict[str, Any]) -> None:
    task = after.tasks[-1]
    slot = before.market_slot(task.task_id)
    require_equal(len(after.tasks), len(before.tasks) + 1, "number of own tasks after an accept")
    require(slot is not None and after.market_slot(task.task_id) is None, "an accepted task stayed on the market")
    new = after.market[slot or 0]
    expected = {
        "task_id": task.task_id,
        "status": "planned",
        "accepted_at": iso_time(before.now_us),
        "deadline": iso_time(task.deadline_us),
        "replacement_task_id": new.task_id,
    }
    require_equal(output, expected, "answer to an accept")
    listed = (task.offer.client_name, task.offer.required_prestige)
    require_equal((new.client_name, new.required_prestige), listed, "client and prestige of a replacement")
    require_equal(after.clients, before.clients, "clients after an accept")


def _check_assigned(before: State, command: AssignTask, after: State, output: dict[str, Any]) -> None:
    old, new = _task(before, command.task_id), _task(after, command.task_id)
    earlier = {member.employee for member in old.team}
    team = [f"Emp_{member.employee}" for member in new.team]
    require_equal(output["total_assigned"], team, "total_assigned")
    joined = [f"Emp_{member.employee}" for member in new.team if member.employee not in earlier]
    require_equal(output["newly_assigned"], joined, "newly_assigned")
    require_equal(set(team), {f"Emp_{n}" for n in earlier} | set(command.names), "team after an assign")
    kept = [member for member in new.team if member.employee in earlier]
    require_equal(kept, list(old.team), "those who were on the team before")


def _check_dispatched(command: DispatchTask, after: State, output: dict[str, Any]) -> None:
    task = _task(after, command.task_id)
    names = [f"Emp_{member.employee}" for member in task.team]
    require_equal((task.status, output["status"]), ("active", "active"), "status after a dispatch")
    require_equal((output["assigned_employees"], output["assignment_count"]), (names, len(names)), "team dispatched")
    require(names, "a task without a team was dispatched")


def _check_cancelled(before: State, command: CancelTask, after: State, output: dict[str, Any]) -> None:
    task = _task(after, command.task_id)
    require_equal((task.status, output["status"]), ("cancelled", "cancelled"), "status after a cancel")
    require_equal(output["reason"], command.reason, "reason of a cancel")
    changes: dict[str, Any] = {}
    floor = before.config.world.prestige_min_milli
    for domain, (old, new) in enumerate(zip(before.prestige_milli, after.prestige_milli, strict=True)):
        if domain not in task.offer.domains:
            require_equal(new, old, f"prestige in {DOMAINS[domain]} after a cancel elsewhere")
            continue
        changes[DOMAINS[domain]] = {"old": old / 1000, "new": new / 1000, "delta": (old - new) / 1000}
        nominal = output["cancel_penalty_per_domain"] * 1000
        require(new == floor or abs(old - new - nominal) <= 1, f"prestige fell by {old - new}, penalty {nominal}")
    require_equal(output["prestige_changes"], changes, "prestige_changes of a cancel")
    for old, new in zip(before.clients, after.clients, strict=True):
        delta = new.trust_milli - old.trust_milli
        own = new.name == task.offer.client_name
        require_equal(delta, round(output["trust_delta"] * 1000) if own else 0, f"trust of {new.name} after a cancel")
        require(delta <= 0, "a cancel brought trust")


def _check_resumed(before: State, after: State, output: dict[str, Any]) -> None:
    events = output["wake_events"]
    expected = {
        "ok": True,
        "old_sim_time": iso_time(before.now_us),
        "new_sim_time": iso_time(after.now_us),
        "checkpoint_event_type": events[-1]["type"] if events else None,
        "events_processed": len(events),
        "payrolls_applied": after.payrolls_charged - before.payrolls_charged,
        "balance_delta": after.funds_cents - before.funds_cents,
        "wake_events": events,
        "bankrupt": after.funds_cents < 0,
        "horizon_reached": after.terminal_reason == "horizon_end",
        "terminal_reason": after.terminal_reason,
    }
    require_equal(output, expected, "answer to a resume")
    require(any(task.status == "active" for task in before.tasks), "a resume without an active task was carried out")
    check_advance(before, after, events)


# ---- questions


def _check_query(state: State, command: Command, output: dict[str, Any]) -> None:
    match command:
        case CompanyStatus():
            _check_status(state, output)
        case ListEmployees():
            _check_staff(state, output)
        case BrowseMarket():
            _check_market(state, output)
        case ListTasks():
            shown = [t.task_id for t in reversed(state.tasks) if command.status in {None, t.status}]
            require_equal([row["task_id"] for row in output["tasks"]], shown, "task list")
        case ClientHistory():
            done = sum(task.completed_us is not None for task in state.tasks)
            told = sum(row["tasks_succeeded"] + row["tasks_failed"] for row in output["client_history"])
            require_equal(told, done, "completed tasks in the client history")
        case FinanceLedger():
            total = sum(row["amount_cents"] for row in output["entries"])
            require_equal((output["total_amount_cents"], output["count"]), (total, len(output["entries"])), "ledger")
            if command == FinanceLedger():
                require_equal(total, state.funds_cents - state.config.world.initial_funds_cents, "sum of the ledger")
        case ReportMonthly():
            if command == ReportMonthly():
                last = output["months"][-1]
                require_equal(last["ending_funds_cents"], state.funds_cents, "ending funds of the current month")
                require_equal(last["month_start"][:7], iso_time(state.now_us)[:7], "current month of the report")
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
    """Check that the tasks of each employee are exactly the active ones that it is on."""
    for employee, row in zip(state.employees, output["employees"], strict=True):
        tasks = [task.task_id for task in state.tasks if task.status == "active" and employee.number in _numbers(task)]
        require_equal((row["name"], row["active_tasks"]), (employee.name, tasks), "active tasks of an employee")


def _numbers(task: Task) -> Iterable[int]:
    return (member.employee for member in task.team)


def _check_market(state: State, output: dict[str, Any]) -> None:
    rows = output["tasks"]
    require(len(rows) <= min(output["limit"], max(0, output["total"] - output["offset"])), "a page holds too much")
    rewards = [row["reward_funds_cents"] for row in rows]
    require_equal(rewards, sorted(rewards, reverse=True), "rewards of a page, best first")
    levels = dict(zip(DOMAINS, state.prestige_milli, strict=True))
    for row in rows:
        low = [r["domain"] for r in row["requirements"] if levels[r["domain"]] < row["required_prestige"] * 1000]
        require(not low, f"{row['task_id']} is listed and needs more prestige in {low}")
        trust = state.client(row["client_name"]).trust_milli
        require(trust >= row["required_trust"] * 1000, f"{row['task_id']} is listed and needs more trust")
