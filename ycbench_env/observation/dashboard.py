"""The company at a glance, for pictures: only what an agent could look up by commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from ycbench_env.observation.levels import level, percent
from ycbench_env.vocabulary import DOMAINS

if TYPE_CHECKING:
    from ycbench_env.types.state import State

__all__ = ["ClientLine", "Dashboard", "EmployeeLine", "TaskLine", "dashboard"]


@attrs.frozen
class TaskLine:
    """An own task: progress in percent, deadline in microseconds, team by name; no client in a world without them."""

    task_id: str
    client_name: str | None
    status: str
    domains: tuple[str, ...]
    progress_pct: float
    deadline_us: int
    reward_cents: int
    team: tuple[str, ...]


@attrs.frozen
class ClientLine:
    """A client: trust as a level, and how many tasks for it succeeded and failed."""

    name: str
    tier: str
    trust: float
    succeeded: int
    failed: int


@attrs.frozen
class EmployeeLine:
    """An employee: salary a month in cents, number of active tasks."""

    name: str
    tier: str
    salary_cents: int
    active_tasks: int


@attrs.frozen
class Dashboard:
    """The company at a glance.

    Args:
        company_name: Name of the company.
        turn: Number of the turn to be played next.
        start_us: Start of the run.
        now_us: Simulated time.
        horizon_us: End of the run.
        funds_cents: Funds now.
        funds_history: (time in microseconds, funds in cents) at the start, after each booking and now.
        payrolls_us: Times of the payrolls that were charged.
        next_payroll_us: The next payroll, None after the last.
        monthly_payroll_cents: Sum of all salaries.
        runway_months: Funds divided by payroll, None without payroll.
        prestige: Level in each domain.
        prestige_max: Highest level.
        trust_max: Highest trust.
        tasks: Own tasks by acceptance, newest first.
        clients: Clients by name.
        employees: Staff by number.
        end_reason: Why the episode is over, None while it goes on.
    """

    company_name: str
    turn: int
    start_us: int
    now_us: int
    horizon_us: int
    funds_cents: int
    funds_history: tuple[tuple[int, int], ...]
    payrolls_us: tuple[int, ...]
    next_payroll_us: int | None
    monthly_payroll_cents: int
    runway_months: float | None
    prestige: dict[str, float]
    prestige_max: float
    trust_max: float
    tasks: tuple[TaskLine, ...]
    clients: tuple[ClientLine, ...]
    employees: tuple[EmployeeLine, ...]
    end_reason: str | None


def dashboard(state: State) -> Dashboard:
    """Return the company at a glance."""
    world = state.config.world
    return Dashboard(
        company_name=state.config.sim.company_name,
        turn=state.turns_played + 1,
        start_us=state.calendar.start_us,
        now_us=state.now_us,
        horizon_us=state.calendar.horizon_us,
        funds_cents=state.funds_cents,
        funds_history=_funds_history(state),
        payrolls_us=state.calendar.payrolls_us[: state.payrolls_charged],
        next_payroll_us=state.next_payroll_us,
        monthly_payroll_cents=state.monthly_payroll_cents,
        runway_months=state.standing.runway_months,
        prestige={name: level(milli) for name, milli in zip(DOMAINS, state.prestige_milli, strict=True)},
        prestige_max=world.prestige_max,
        trust_max=world.trust_max,
        tasks=_task_lines(state),
        clients=_client_lines(state),
        employees=_employee_lines(state),
        end_reason=state.end_reason,
    )


def _funds_history(state: State) -> tuple[tuple[int, int], ...]:
    funds = state.funds_cents - sum([entry.amount_cents for entry in state.ledger])
    points = [(state.calendar.start_us, funds)]
    for entry in state.ledger:
        funds += entry.amount_cents
        points.append((entry.time_us, funds))
    return (*points, (state.now_us, funds))


def _task_lines(state: State) -> tuple[TaskLine, ...]:
    return tuple(
        TaskLine(
            task_id=task.task_id,
            client_name=task.offer.client_name,
            status=task.status,
            domains=tuple(DOMAINS[domain] for domain in sorted(task.offer.domains)),
            progress_pct=percent(sum(task.done_e4), sum(task.required_e4)),
            deadline_us=task.deadline_us,
            reward_cents=task.offer.reward_cents,
            team=tuple(f"Emp_{member.employee}" for member in task.team),
        )
        for task in reversed(state.tasks)
    )


def _client_lines(state: State) -> tuple[ClientLine, ...]:
    lines: list[ClientLine] = []
    for client in sorted(state.clients, key=lambda one: one.name):
        statuses = [task.status for task in state.tasks if task.offer.client_name == client.name]
        lines.append(
            ClientLine(
                name=client.name,
                tier=client.tier,
                trust=level(client.trust_milli),
                succeeded=statuses.count("completed_success"),
                failed=statuses.count("completed_fail"),
            )
        )
    return tuple(lines)


def _employee_lines(state: State) -> tuple[EmployeeLine, ...]:
    active = [member.employee for task in state.tasks if task.status == "active" for member in task.team]
    return tuple(
        EmployeeLine(employee.name, employee.tier, employee.salary_cents, active.count(employee.number))
        for employee in state.employees
    )
