"""Proofs of the world: what each command, question and advance must do, worked out a second time from the rules pages.

Exact fractions and plain dates instead of the kernels of ``ycbench_env.rules``; slow, and independent of them. Only the
forecasts are taken as they are. ``ProvenMachine`` plays whole episodes and checks all of it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final, cast

import attrs
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from ycbench_env import State
from ycbench_env.config import Config, Constant, WorldConfig
from ycbench_env.testing.invariants import acceptable, check_state, require, require_equal, same_world
from ycbench_env.testing.state_machine import YCBenchMachine
from ycbench_env.transition.draft import Draft
from ycbench_env.types import command as c
from ycbench_env.types.command import AcceptTask, AssignTask, BrowseMarket, CancelTask, Command, DispatchTask, Resume
from ycbench_env.types.state import Employee, MarketTask, Task
from ycbench_env.units import EPOCH, iso_time
from ycbench_env.vocabulary import DOMAINS

_HOUR_US: Final = 3_600_000_000
_DAY_US: Final = 24 * _HOUR_US
_WEEKEND: Final = 5  # the first weekday that is no workday, and the number of workdays in a week


# ---- the start of an episode

_STORED_E4: Final = 1  # what storing with 4 places may add to a rate


def check_start(state: State) -> None:
    """Checks what a new world is made of, as far as its settings bound it. Source: Y-2, K-1."""
    world = state.config.world
    check_state(state)
    require_equal(state.tasks, (), "own tasks at the start")
    require_equal(len(state.employees), world.num_employees, "size of the staff")
    require_equal(len(state.clients), world.num_clients, "number of clients")
    for employee in state.employees:
        _check_hired(world, employee)
    for slot, task in enumerate(state.market):
        client = state.clients[slot % len(state.clients)].name if state.clients else None
        require_equal((task.task_id, task.client_name), (f"Task-{slot + 1}", client), f"task in slot {slot}")
        if slot < len(world.market_prestige_ladder):
            rung = world.market_prestige_ladder[slot]
            require_equal(task.required_prestige, rung, f"prestige of {task.task_id} on the ladder")
        else:
            check_drawn_prestige(world, task)


def check_drawn_prestige(world: WorldConfig, task: MarketTask) -> None:
    """Checks that the prestige a task requires is one that the distribution can give."""
    dist = world.dist.required_prestige
    low, high = (dist.value, dist.value) if isinstance(dist, Constant) else (dist.low, dist.high)
    highest = int(round(high, 4))  # some draws are stored with 4 places before they are truncated (Y-1.2)
    require(int(low) <= task.required_prestige <= highest, f"{task.task_id} requires {task.required_prestige}")


def _check_hired(world: WorldConfig, employee: Employee) -> None:
    """Check salary and rates of a new employee. Source: Y-2.2, K-1.2."""
    what = f"{employee.name} ({employee.tier})"
    tier = {"junior": world.salary_junior, "mid": world.salary_mid, "senior": world.salary_senior}[employee.tier]
    require(tier.min_cents <= employee.salary_cents <= tier.max_cents, f"{what} earns {employee.salary_cents}")
    low, high = round(tier.rate_min * 10_000) - _STORED_E4, round(tier.rate_max * 10_000) + _STORED_E4
    rates = employee.rates_e4
    possible = all(low <= rate <= high for rate in rates)
    if world.employee_skill_sampling == "gamma_budget":
        # An average is shared out: no rate below 1, no average above the tier's, none of it lost below the cap of 10.
        most = len(rates) * max(high, 10_000)
        least = len(rates) * min(low, 100_000) if low > 10_000 else 0
        possible = min(rates) >= 10_000 and least - len(rates) <= sum(rates) <= most + len(rates)
    require(possible, f"{what} has the rates {rates}")


# ---- a second opinion on levels, staff and work


def stretches(before: State, after: State) -> list[tuple[int, int]]:
    """Returns the stretches of time of one advance, at whose ends figures are stored. Source: Y-5.3, K-2.4."""
    ends = [*before.calendar.payrolls_us[before.payrolls_charged : after.payrolls_charged], after.now_us]
    return list(zip([before.now_us, *ends[:-1]], ends, strict=True))


def _stored(exact: Fraction, places: int) -> int:
    """Returns an exact value as it is stored, in its last place. Source: Y-7."""
    return round(Fraction(f"{float(exact):.{places}f}") * 10**places)


def _decimal(value: float) -> Fraction:
    return Fraction(repr(value))


# ---- prestige and trust


def levels_after(before: State, after: State, completed: list[Task]) -> list[int]:
    """Returns prestige in each domain, in 1/1,000, after decay and completions. Source: Y-5.3, Y-5.5, K-2.3."""
    world = before.config.world
    least, most = _decimal(world.prestige_min), _decimal(world.prestige_max)
    daily = _decimal(world.prestige_decay_per_day)
    levels = list(before.prestige_milli)
    for start_us, end_us in stretches(before, after) if daily else ():
        lost = daily * Fraction(end_us - start_us, _DAY_US)
        levels = [_stored(max(least, Fraction(level, 1000) - lost), 3) for level in levels]
    for task in completed:
        delta = Fraction(task.offer.prestige_delta_milli, 1000)
        if task.status == "completed_fail":
            delta *= -_decimal(world.penalty_fail_multiplier)
        for domain in task.offer.domains:
            levels[domain] = _stored(min(most, max(least, Fraction(levels[domain], 1000) + delta)), 3)
    return levels


def trust_after(before: State, after: State, completed: list[Task]) -> tuple[dict[str, int], list[int]]:
    """Returns the trust of each client and what each completion changed with its own, in 1/1,000. Source: Y-5.3, Y-5.5.

    In doubles, but for the loss in time, whose decimal text is subtracted exactly (Y-7).
    """
    world = before.config.world
    trust = {client.name: client.trust_milli / 1000 for client in before.clients}
    deltas: list[int] = []
    for start_us, end_us in stretches(before, after):
        lost = world.trust_decay_per_day * ((end_us - start_us) / _DAY_US)
        trust = {name: max(0.0, _stored(_decimal(level) - _decimal(lost), 3) / 1000) for name, level in trust.items()}
    for task in completed:
        own = task.offer.client_name
        old = dict(trust)
        for name, level in old.items():
            if name != own:
                now = max(0.0, level - world.trust_cross_decay)
            elif task.status == "completed_fail":
                now = max(0.0, level - world.trust_fail_penalty)
            else:
                now = min(world.trust_max, level + world.trust_gain_base * (1 - level / world.trust_max) ** 1.5)
            trust[name] = round(now, 3)
        deltas.append(0 if own is None else round(trust[own] * 1000) - round(old[own] * 1000))
    return {name: round(level * 1000) for name, level in trust.items()}, deltas


# ---- staff


def pay_and_skills_after(before: State, completed: list[Task]) -> list[tuple[int, tuple[int, ...]]]:
    """Returns salary and rates of each employee after the successes among completions. Source: Y-5.5, K-2.3."""
    world = before.config.world
    tiers = {"junior": world.salary_junior, "mid": world.salary_mid, "senior": world.salary_senior}
    most_pay = 10**12 if world.salary_max_cents == "none" else world.salary_max_cents
    most_e4 = 10**300 if world.skill_rate_max == "none" else round(_decimal(world.skill_rate_max) * 10_000)
    pay = [employee.salary_cents for employee in before.employees]
    rates = [list(employee.rates_e4) for employee in before.employees]
    for task in completed:
        if task.status == "completed_fail":
            continue
        team = [member.employee - 1 for member in task.team]
        for place in team:
            tier = tiers[before.employees[place].tier]
            compounds = world.salary_raise_basis == "current_salary"
            basis = pay[place] if compounds else (tier.min_cents + tier.max_cents) // 2
            pay[place] = max(pay[place], min(pay[place] + int(basis * world.salary_bump_pct), most_pay))
        for domain in task.offer.domains if task.offer.skill_boost_e4 else ():
            ranked = sorted(team, key=lambda place, domain=domain: (-rates[place][domain], place))
            for place in ranked[: _counted(world)]:
                grown = Fraction(rates[place][domain], 10_000) * (1 + Fraction(task.offer.skill_boost_e4, 10_000))
                rates[place][domain] = min(_stored(grown, 4), most_e4)
    return [(salary, tuple(row)) for salary, row in zip(pay, rates, strict=True)]


def _counted(world: WorldConfig) -> int | None:
    """Returns how many of a team count, None for all. Source: Y-5.1, K-2.2."""
    return None if world.efficient_team_size == "none" else world.efficient_team_size


# ---- work


def work_rates(state: State, task: Task) -> list[Fraction]:
    """Returns the rate of an active task in each of its domains, in 1/10,000 an hour. Source: Y-5.1, K-2.2."""
    busy = [member.employee for other in state.tasks if other.status == "active" for member in other.team]
    team = [(state.employees[member.employee - 1], busy.count(member.employee)) for member in task.team]
    rates: list[Fraction] = []
    for domain in task.offer.domains:
        parts = sorted((Fraction(one.rates_e4[domain], shared) for one, shared in team), reverse=True)
        rates.append(sum(parts[: _counted(state.config.world)], Fraction(0)))
    return rates


def work_after(before: State, after: State, task: Task) -> list[int]:
    """Returns the work done in each domain of an active task, in 1/10,000, when time stops. Source: Y-6, Y-7, K-2.4."""
    rates = work_rates(before, task)
    done = list(task.done_e4)
    for start_us, end_us in stretches(before, after):
        hours = Fraction(sum(_worked_us(before, start_us, end_us)), _HOUR_US)
        gained = [Fraction(part) + rate * hours for part, rate in zip(done, rates, strict=True)]
        done = [
            min(whole, _stored(part / 10_000, 4)) if part < whole else whole
            for part, whole in zip(gained, task.required_e4, strict=True)
        ]
    return done


def _worked_us(state: State, start_us: int, stop_us: int) -> Iterator[int]:
    """Yields what counts as worked on each day of a stretch. Source: Y-6."""
    calendar = state.calendar
    to_midnight = state.config.world.accrual == "until_midnight"
    for day in range(start_us // _DAY_US, stop_us // _DAY_US + 1):
        midnight_us = day * _DAY_US
        if (EPOCH + dt.timedelta(days=day)).weekday() >= _WEEKEND:
            continue
        begin_us = max(start_us, midnight_us + calendar.open_us)
        whole_day = to_midnight and stop_us >= midnight_us + _DAY_US
        end_us = midnight_us + _DAY_US if whole_day else min(stop_us, midnight_us + calendar.close_us)
        yield max(0, end_us - begin_us)


# ---- an advance of time

_NEXT: Final = {
    "planned": {"planned", "active", "cancelled"},
    "active": {"active", "cancelled", "completed_success", "completed_fail"},
}
"""Statuses that may follow a status in one command; all others are final."""


def own_task(state: State, task_id: str) -> Task:
    """Returns the own task of an id."""
    index = state.task_index(task_id)
    require(index is not None, f"there is no own task {task_id}")
    return state.tasks[index or 0]


def check_lives(before: State, after: State) -> None:
    """Checks what one command or advance may make of each own task."""
    require(len(after.tasks) >= len(before.tasks), "a task was lost")
    for old, new in zip(before.tasks, after.tasks, strict=False):
        require_equal(new.task_id, old.task_id, "order of own tasks")
        allowed = _NEXT.get(old.status, {old.status})
        require(new.status in allowed, f"{old.task_id} went from {old.status} to {new.status}")
        require(all(a <= b for a, b in zip(old.done_e4, new.done_e4, strict=True)), f"{old.task_id} lost progress")
        require_equal(new.required_e4, old.required_e4, f"{old.task_id}: required work")


_LOST_E4: Final = 100
"""Work that storing may have rounded away since a forecast was made."""


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
            require(left <= _LOST_E4 + 2 * rate / _HOUR_US, f"{old.task_id} completed with {left} left of {whole}")


def _check_milestone(before: State, after: State, event: dict[str, Any]) -> None:
    """Check that the milestone told is the task's next one, and reached. Source: Y-5.2, K-2.5."""
    old, new = own_task(before, event["task_id"]), own_task(after, event["task_id"])
    require_equal(old.status, "active", f"status before {event}")
    ratios = before.config.world.milestone_ratios[old.milestones_reported : new.milestones_reported]
    reached = [(num, den) for num, den in ratios if 100 * num // den == event["milestone_pct"]]
    require(reached, f"{event} is not between milestones {old.milestones_reported} and {new.milestones_reported}")
    slack = len(new.done_e4) * _LOST_E4 + 2 * sum(work_rates(before, old)) / _HOUR_US
    num, den = reached[0]
    require(sum(new.done_e4) + slack >= num * sum(new.required_e4) / den, f"{event} at {new.done_e4}")


# ---- a command


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
        _check_refused(before, command, output["error"])
        return
    if not isinstance(command, AcceptTask | AssignTask | DispatchTask | CancelTask | Resume):
        require(same_world(before, after), f"{command} only asks, and changed the world")
        check_query(before, command, output)
        return
    if not isinstance(command, Resume):
        require_equal(after.now_us, before.now_us, f"clock after {command}")
        require_equal(after.ledger, before.ledger, f"ledger after {command}")
        require_equal(after.employees, before.employees, f"staff after {command}")
        check_lives(before, after)
    match command:
        case AcceptTask():
            _check_accepted(before, after, output)
        case AssignTask():
            _check_assigned(before, command, after, output)
        case DispatchTask():
            _check_dispatched(before, command, after, output)
        case CancelTask():
            _check_cancelled(before, command, after, output)
        case Resume():
            _check_resumed(before, after, output)


def _check_refused(state: State, command: Command, error: str) -> None:
    """Check that a command that the rules allow was not refused. Source: Y-4.1, Y-4.5, X-1, K-2.1, K-2.4."""
    if state.end_reason is not None:
        return
    if isinstance(command, Resume):
        needs_work = state.config.world.resume_requires_active_task
        require(needs_work and not state.active_indices, f"a resume was refused: {error}")
    if isinstance(command, AcceptTask):
        listed = [task for task in state.market_by_reward if task.task_id == command.task_id]
        allowed = bool(listed) and acceptable(state, listed[0]) and _has_room(state)
        require(not allowed, f"{command} was refused: {error}")


def _has_room(state: State) -> bool:
    most = state.config.world.max_open_tasks
    return most is None or sum(task.status in {"planned", "active"} for task in state.tasks) < most


# ---- accept


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
        "replacement_task_id": new.task_id if before.config.world.refill_at == "accept" else None,
    }
    require_equal(output, expected, "answer to an accept")
    require(_has_room(before), f"{task.task_id} was accepted without room for it")
    require(acceptable(before, task.offer), f"{task.task_id} was accepted, and needs more than there is")
    _check_terms(before, task)
    if before.config.world.refill_at == "accept":
        _check_replacement(before, slot or 0, new)
    else:
        require_equal(after.market, before.market, "slots after an accept")
    require_equal(after.clients, before.clients, "clients after an accept")
    require_equal(after.prestige_milli, before.prestige_milli, "prestige after an accept")


def _check_replacement(before: State, slot: int, new: MarketTask) -> None:
    """Check number, client and prestige of what comes into a slot. Source: Y-2.5, K-1.4."""
    world = before.config.world
    old = before.market[slot]
    by_episode = world.replacement_numbering == "episode"
    number = sum(before.slot_accepts) if by_episode else slot * 1000 + before.slot_accepts[slot]
    require_equal(new.number, number, f"number of the replacement of {old.task_id}")
    require_equal(new.client_name, old.client_name, "client of a replacement")
    if world.replacement_prestige == "same":
        require_equal(new.required_prestige, old.required_prestige, "prestige of a replacement")
    else:
        check_drawn_prestige(world, new)


def _check_terms(before: State, task: Task) -> None:
    """Check work and deadline of an accepted task. Source: Y-4.1, K-2.1."""
    world = before.config.world
    client = None if task.offer.client_name is None else before.client(task.offer.client_name)
    least, agreed = world.min_task_qty, list(task.offer.quantities)
    if client is None:
        agreed = [max(least, quantity) for quantity in agreed]
    elif not client.is_adversarial:
        saved = world.trust_work_reduction_max * (client.trust_milli / 1000 / world.trust_max)
        agreed = [max(least, int(quantity * (1 - saved))) for quantity in agreed]
    basis = max(agreed) if world.deadline_basis == "largest" else sum(agreed)
    days = max(world.deadline_min_biz_days, int(basis / world.deadline_qty_per_day))
    require_equal(task.deadline_us, _workdays_later(before, days), f"deadline of {task.task_id}, {days} workdays")
    if client is not None and client.is_adversarial:
        growth = 1 + max(3, world.loyalty_severity * abs(client.loyalty_milli / 1000))
        for _ in range(world.adversarial_inflation_passes):
            agreed = [int(min(25_000, max(least, quantity * growth))) for quantity in agreed]
    require_equal(list(task.required_e4), [quantity * 10_000 for quantity in agreed], f"work of {task.task_id}")
    require_equal(task.done_e4, (0,) * len(agreed), f"work done of {task.task_id}")


def _workdays_later(state: State, days: int) -> int:
    """Returns the instant so many whole workdays of business time from now. Source: Y-3.2."""
    open_us, close_us = state.calendar.open_us, state.calendar.close_us
    day, offset_us = divmod(state.now_us, _DAY_US)
    if offset_us >= close_us:
        day, offset_us = day + 1, open_us
    while _weekday(day) >= _WEEKEND:
        day, offset_us = day + 1, open_us
    offset_us = max(offset_us, open_us)
    if days and offset_us == open_us:  # it ends with the last of the days, not with the start of the next
        days, offset_us = days - 1, close_us
    weeks, further = divmod(_weekday(day) + days, _WEEKEND)
    return (day - _weekday(day) + weeks * 7 + further) * _DAY_US + offset_us


def _weekday(day: int) -> int:
    return (day + 3) % 7  # day 0 is a Thursday


# ---- assign, dispatch, cancel


def _check_assigned(before: State, command: AssignTask, after: State, output: dict[str, Any]) -> None:
    old, new = own_task(before, command.task_id), own_task(after, command.task_id)
    earlier = {member.employee for member in old.team}
    team = [f"Emp_{member.employee}" for member in new.team]
    require_equal(output["total_assigned"], team, "total_assigned")
    joined = [f"Emp_{member.employee}" for member in new.team if member.employee not in earlier]
    require_equal(output["newly_assigned"], joined, "newly_assigned")
    require_equal(set(team), {f"Emp_{n}" for n in earlier} | set(command.names), "team after an assign")
    require(command.employee_id is None or joined, f"{command} was carried out, and that employee was on it")
    kept = [member for member in new.team if member.employee in earlier]
    require_equal(kept, list(old.team), "those who were on the team before")


def _check_dispatched(before: State, command: DispatchTask, after: State, output: dict[str, Any]) -> None:
    task = own_task(after, command.task_id)
    if before.config.world.refill_at == "dispatch":
        slot = before.slot_of(task.task_id) or 0
        _check_replacement(before, slot, after.market[slot])
    names = [f"Emp_{member.employee}" for member in task.team]
    require_equal((task.status, output["status"]), ("active", "active"), "status after a dispatch")
    require_equal((output["assigned_employees"], output["assignment_count"]), (names, len(names)), "team dispatched")
    require(names, "a task without a team was dispatched")


def _check_cancelled(before: State, command: CancelTask, after: State, output: dict[str, Any]) -> None:
    task = own_task(after, command.task_id)
    require_equal((task.status, output["status"]), ("cancelled", "cancelled"), "status after a cancel")
    require_equal(output["reason"], command.reason, "reason of a cancel")
    slot = before.slot_of(task.task_id)
    if slot is not None:  # it comes back as it was, under another id
        again = after.market[slot]
        require_equal(attrs.evolve(again, copy=task.offer.copy), task.offer, "a task offered again")
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
    told = round(output["trust_delta"] * 1000)
    require(before.clients or told == 0, f"a cancel cost {told} of nobody's trust")
    for old, new in zip(before.clients, after.clients, strict=True):
        delta = new.trust_milli - old.trust_milli
        own = new.name == task.offer.client_name
        require_equal(delta, told if own else 0, f"trust of {new.name} after a cancel")
        require(delta <= 0, "a cancel brought trust")


# ---- resume


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
    needs_work = before.config.world.resume_requires_active_task
    require(before.active_indices or not needs_work, "a resume without an active task was carried out")
    check_advance(before, after, events)


# ---- a question


def check_query(state: State, command: Command, output: dict[str, Any]) -> None:
    """Checks the answer to a question against the state."""
    match command:
        case c.CompanyStatus():
            _check_status(state, output)
        case c.ListEmployees():
            _check_staff(state, output)
        case BrowseMarket():
            _check_market(state, command, output)
        case c.ListTasks():
            shown = [t.task_id for t in reversed(state.tasks) if command.status in {None, t.status}]
            require_equal([row["task_id"] for row in output["tasks"]], shown, "task list")
        case c.ClientHistory():
            # In a world without clients nobody remembers what was done.
            done = sum(task.completed_us is not None for task in state.tasks if state.clients)
            told = sum(row["tasks_succeeded"] + row["tasks_failed"] for row in output["client_history"])
            require_equal(told, done, "completed tasks in the client history")
        case c.FinanceLedger():
            total = sum(row["amount_cents"] for row in output["entries"])
            require_equal((output["total_amount_cents"], output["count"]), (total, len(output["entries"])), "ledger")
            if command == c.FinanceLedger():
                require_equal(total, state.funds_cents - state.config.world.initial_funds_cents, "sum of the ledger")
        case c.ReportMonthly():
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


def _check_report(state: State, command: c.ReportMonthly, output: dict[str, Any]) -> None:
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
    if command == c.ReportMonthly():
        require_equal(output["months"][-1]["month_start"][:7], iso_time(state.now_us)[:7], "last month of the report")


# ---- figures that a state keeps


def check_kept_figures(state: State) -> None:
    """Checks that every figure that a state, or a value in it, keeps is what it would compute anew."""
    _check_kept(state, State.from_bytes(state.to_bytes()), "state")
    # The rates that active tasks keep depend on the staff and on all active tasks, so no task knows.
    rates_of = Draft(state).team_rates()
    for index in state.active_indices:
        task = state.tasks[index]
        if task.done_e4 == task.required_e4:  # due now; bankruptcy may come before it, and its rates count no more
            continue
        if task.rates is not None and task.rates.staff is state.employees:
            require(task.rates == rates_of(task), f"state.tasks[{index}] keeps outdated rates")


def _check_kept(value: object, fresh: Any, path: str) -> None:  # noqa: ANN401 -- any value of a state
    if isinstance(value, tuple):
        for place, (item, other) in enumerate(zip(cast("tuple[object, ...]", value), fresh, strict=True)):
            _check_kept(item, other, f"{path}[{place}]")
    elif attrs.has(type(value)) and not isinstance(value, Config):
        fields = {field.name for field in attrs.fields(type(value))}
        for name, kept in vars(value).items():
            if name in fields:
                _check_kept(kept, getattr(fresh, name), f"{path}.{name}")
            elif name != "rates":
                require(kept == getattr(fresh, name), f"{path} keeps an outdated {name}")


# ---- whole episodes


class ProvenMachine(YCBenchMachine):
    """Plays whole episodes and proves every start, answer, advance and kept figure."""

    @initialize(seed=st.integers(0, 5) | st.integers(0, 2**64))
    def start(self, seed: int) -> None:
        """Begin an episode."""
        super().start(seed)
        check_start(self.state)

    def check_command(self, before: State, command: Command, after: State, result: dict[str, Any]) -> None:
        """Check what a command did and answered."""
        check_answer(before, command, after, result)
        check_kept_figures(after)

    def check_forced(self, before: State, after: State, events: list[dict[str, Any]]) -> None:
        """Check a forced advance."""
        check_advance(before, after, events)
        check_kept_figures(after)


def proven(machine_config: object) -> type[ProvenMachine]:
    """Return a machine that plays a configuration."""
    return cast("type[ProvenMachine]", type("Machine", (ProvenMachine,), {"config": machine_config}))
