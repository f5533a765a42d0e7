"""Moving time to the next event: accrue, decay, then one payroll or whatever is due.

Source: Y-5.3, Y-5.4, Y-5.5, Y-6, K-2.3 to K-2.5.
"""

from __future__ import annotations

from itertools import repeat

from ycbench_env.rules.clock import business_us_between, until_midnight_us_between
from ycbench_env.rules.economy import boosted_rate, bumped_salary, failure_penalty
from ycbench_env.rules.standing import (
    prestige_after_decay,
    prestige_after_loss,
    prestige_after_success,
    trust_after_decay,
    trust_after_loss,
    trust_after_success,
)
from ycbench_env.rules.work import accrued
from ycbench_env.transition.draft import Draft
from ycbench_env.transition.market import refilled
from ycbench_env.types.event import HorizonEnd, MilestoneReached, Outcome, PayrollPaid, TaskCompleted
from ycbench_env.types.state import Employee, LedgerEntry, State, Task, evolve


def advance(state: State) -> Outcome:
    """Return the state at the next event, also with nothing active; what ``sim resume`` and a forced advance do.

    A world that has ended stays as it is. Source: Y-5.3, Y-5.7, K-2.4, X-4.
    """
    if state.terminal_reason is not None:
        return Outcome(state)
    draft = Draft(state)
    passes_payrolls = not state.config.world.resume_stops_at_payroll
    while True:
        target_us, payroll = _next_stop(draft)
        first = None if payroll else _first_due_completion(draft, target_us)
        # Storing rounds, so every stop shows in later figures, a payroll's too. Only what the first to complete has
        # done does not matter: it is complete before anybody looks.
        _accrue(draft, target_us, [index for index in draft.active if index != first])
        _decay(draft, target_us - draft.now_us)
        draft.now_us = target_us
        if payroll:
            _charge_payroll(draft)
            if passes_payrolls and draft.terminal_reason is None:
                continue
        else:
            _process_due(draft)
            if draft.terminal_reason is None and target_us >= state.calendar.horizon_us:
                draft.events.append(HorizonEnd())
                draft.terminal_reason = "horizon_end"
        break
    after = draft.freeze()
    if state.config.world.refill_at == "completion":
        for index in draft.just_completed:
            after = refilled(after, draft.tasks[index])
    return Outcome(after, events=tuple(draft.events))


def _next_stop(draft: Draft) -> tuple[int, bool]:
    """Return when time stops next and whether that is a payroll, which comes before all else. Source: Y-5.3 step 1."""
    calendar = draft.base.calendar
    target_us = calendar.horizon_us
    for index in draft.active:
        task = draft.tasks[index]
        for forecast_us in (task.completion_us, task.milestone_us):
            if forecast_us is not None and forecast_us < target_us:
                target_us = forecast_us
    payrolls, charged = calendar.payrolls_us, draft.payrolls_charged
    if charged < len(payrolls) and payrolls[charged] <= target_us:
        return payrolls[charged], True
    return target_us, False


def _accrue(draft: Draft, until_us: int, indices: list[int]) -> None:
    """Add the work done until a time to these active tasks. Source: Y-6."""
    if not indices:
        return
    calendar = draft.base.calendar
    worked_between = (
        business_us_between if draft.base.config.world.accrual == "business_hours" else until_midnight_us_between
    )
    worked_us = worked_between(draft.now_us, until_us, calendar.open_us, calendar.close_us)
    if worked_us == 0:  # a night or a weekend: the rates are not needed
        return
    rates_of = None
    for index in indices:
        task = draft.tasks[index]
        rates = task.rates
        if rates is None or rates.staff is not draft.employees:  # a state that no transition made
            rates_of = rates_of or draft.team_rates()
            rates = rates_of(task)
        nums, den, _ = rates
        # All have one entry a domain; a comprehension here takes half as long again.
        done_e4 = tuple(map(accrued, task.done_e4, task.required_e4, nums, repeat(den), repeat(worked_us)))
        draft.tasks[index] = evolve(task, done_e4=done_e4)


def _decay(draft: Draft, elapsed_us: int) -> None:
    """Let prestige and trust decay, nights and weekends included. Source: Y-5.3 step 2."""
    if elapsed_us == 0:
        return
    world = draft.base.config.world
    num, den = world.prestige_decay_per_day_ratio
    if num:
        draft.prestige_milli = [
            prestige_after_decay(level, num, den, elapsed_us, world.prestige_min_milli)
            for level in draft.prestige_milli
        ]
    daily = world.trust_decay_per_day
    # Most trusts are 0 and stay 0; looking first spares the call.
    draft.trust_milli = [trust and trust_after_decay(trust, daily, elapsed_us) for trust in draft.trust_milli]


def _charge_payroll(draft: Draft) -> None:
    """Pay all salaries. Source: Y-5.4."""
    rows = [
        LedgerEntry(draft.now_us, "monthly_payroll", -employee.salary_cents, employee.name)
        for employee in draft.employees
    ]
    draft.bookings.extend(rows)
    draft.funds_cents += sum([row.amount_cents for row in rows])
    draft.payrolls_charged += 1
    draft.events.append(PayrollPaid(draft.funds_cents))
    if draft.funds_cents < 0:
        draft.terminal_reason = "bankruptcy"


def _process_due(draft: Draft) -> None:
    """Process what is due now, one event after another, until nothing is or the episode ends. Source: Y-5.3 step 4.

    After each event the forecasts of all active tasks are remade (Y-5.2). From the second event of an instant on, this
    changes only those of tasks whose staff has another load or other skills now. What becomes due comes in the same
    order: completions first.
    """
    remade = False
    while draft.terminal_reason is None:
        index = _first_due_completion(draft, draft.now_us)
        if index is not None:
            _complete(draft, index)
            changed = draft.active_sharing(draft.tasks[index].places)
        else:
            index = _first_due_milestone(draft)
            if index is None:
                return
            task = draft.tasks[index]
            num, den = draft.base.config.world.milestone_ratios[task.milestones_reported]
            draft.events.append(MilestoneReached(task.task_id, 100 * num // den))
            draft.tasks[index] = evolve(task, milestones_reported=task.milestones_reported + 1, milestone_us=None)
            changed = [index] if task.status == "active" else []
        draft.reforecast(changed if remade else draft.active)
        remade = True


def _first_due_completion(draft: Draft, now_us: int) -> int | None:
    for index in draft.active:
        completion_us = draft.tasks[index].completion_us
        if completion_us is not None and completion_us <= now_us:
            return index
    return None


def _first_due_milestone(draft: Draft) -> int | None:
    """Return the first task with a milestone due; one that was due when its task completed still counts."""
    if not draft.base.config.world.milestone_ratios:
        return None
    for index in sorted([*draft.active, *draft.just_completed]):
        milestone_us = draft.tasks[index].milestone_us
        if milestone_us is not None and milestone_us <= draft.now_us:
            return index
    return None


def _complete(draft: Draft, index: int) -> None:
    """Complete a task, as a success when its deadline is not past. Source: Y-5.5."""
    world, task = draft.base.config.world, draft.tasks[index]
    success = draft.now_us <= task.deadline_us
    draft.just_completed.append(index)
    # A milestone that is due now is still reported, after the completions; later ones never are.
    still_due = task.milestone_us is not None and task.milestone_us <= draft.now_us
    draft.change_status(
        index,
        "completed_success" if success else "completed_fail",
        done_e4=task.required_e4,  # accrual may have left a rest: stored work is rounded
        completed_us=draft.now_us,
        completion_us=None,
        milestone_us=task.milestone_us if still_due else None,
    )
    funds_before = draft.funds_cents
    bump_cents = 0
    if success:
        draft.book("task_reward", task.offer.reward_cents, task.task_id)
        bump_cents = _reward_team(draft, task)
    else:
        penalty = failure_penalty(task.offer.reward_cents, world.penalty_fail_funds_pct)
        if penalty:  # a booking of nothing would be a row in the ledger
            draft.book("task_fail_penalty", -penalty, task.task_id)
    delta = task.offer.prestige_delta_milli
    num, den = world.penalty_fail_multiplier_ratio
    for domain in task.offer.domains:
        level = draft.prestige_milli[domain]
        draft.prestige_milli[domain] = (
            prestige_after_success(level, delta, world.prestige_max_milli)
            if success
            else prestige_after_loss(level, delta, num, den, world.prestige_min_milli)
        )
    trust_delta = _settle_trust(draft, task, success=success)
    if draft.funds_cents < 0:
        draft.terminal_reason = "bankruptcy"
    draft.events.append(
        TaskCompleted(
            task_id=task.task_id,
            client_name=task.offer.client_name,
            success=success,
            funds_delta_cents=draft.funds_cents - funds_before,
            listed_reward_cents=task.offer.reward_cents,
            trust_delta_milli=trust_delta,
            margin_us=task.deadline_us - draft.now_us,
            team_size=len(task.team),
            salary_bump_cents=bump_cents,
            bankrupt=draft.funds_cents < 0,
        )
    )


def _reward_team(draft: Draft, task: Task) -> int:
    """Raise skills and salaries of a team after a success; return the sum of the raises, in cents. Source: Y-5.5."""
    world = draft.base.config.world
    bump, cap = world.salary_bump_pct, world.salary_cap_cents
    midpoints = world.tier_midpoints_cents if world.salary_raise_basis == "tier_midpoint" else None
    rates = _raised_rates(draft, task)
    staff = list(draft.employees)
    total = 0
    for place in task.places:
        employee = staff[place]
        before, tier = employee.salary_cents, employee.tier
        salary = bumped_salary(before, before if midpoints is None else midpoints[tier], bump, cap)
        total += salary - before
        # Nearly all that is kept of an employee depends on these two, so a copy of the rest would save nothing.
        staff[place] = Employee(employee.number, tier, salary, rates.get(place, employee.rates_e4))
    draft.employees = tuple(staff)
    return total


def _raised_rates(draft: Draft, task: Task) -> dict[int, tuple[int, ...]]:
    """Return the new rates of the best of the team in each of the task's domains, by place. Source: Y-5.5."""
    boost_e4 = task.offer.skill_boost_e4
    if boost_e4 <= 0:
        return {}
    world = draft.base.config.world
    staff, size, cap_e4 = draft.employees, world.team_size, world.skill_rate_max_e4
    raised: dict[int, tuple[int, ...]] = {}
    for domain in task.offer.domains:
        best = task.places
        if len(best) > size:  # rates are negative here, so the best come first; of equal ones the lower number
            best = [place for _, place in sorted([(-staff[place].rates_e4[domain], place) for place in best])[:size]]
        for place in best:
            # A domain before this one may have raised the same employee.
            rates = list(raised.get(place, staff[place].rates_e4))
            rates[domain] = boosted_rate(rates[domain], boost_e4, cap_e4)
            raised[place] = tuple(rates)
    return raised


def _settle_trust(draft: Draft, task: Task, *, success: bool) -> int:
    """Change the trust of all clients after a completion and return the change with the task's own, in 1/1,000."""
    world = draft.base.config.world
    delta = 0
    for index, client in enumerate(draft.base.clients):
        before = draft.trust_milli[index]
        if client.name != task.offer.client_name:
            trust = before and trust_after_loss(before, world.trust_cross_decay)
        else:
            trust = (
                trust_after_success(before, world.trust_gain_base, world.trust_max)
                if success
                else trust_after_loss(before, world.trust_fail_penalty)
            )
            delta = trust - before
        draft.trust_milli[index] = trust
    return delta
