"""The company at a glance, for pictures: only what an agent could look up by commands, in figures and words."""

import datetime as dt
from collections import Counter
from itertools import accumulate
from typing import Final

import attrs

from ycbench_env.observation.answers import level, percent
from ycbench_env.rules.clock import DAY_US, HOUR_US
from ycbench_env.text import printable
from ycbench_env.types.state import State
from ycbench_env.units import CENTS_PER_DOLLAR, EPOCH
from ycbench_env.vocabulary import DOMAINS

_NAME_LENGTH: Final = 60
_LONG_RUNWAY: Final = 1000  # months; beyond it figures would only take room
_SUFFIXES: Final = ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K"), (1, ""))
_LARGE: Final = 1000  # where %g would turn to powers of ten
_ENDINGS: Final = {"bankruptcy": "Bankrupt", "horizon_end": "Horizon reached", "max_turns": "Turn limit reached"}


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
    """The company at a glance; times in microseconds.

    ``turn`` is the one to be played next. ``funds_history`` has (time, funds in cents) at the start, after each booking
    and now; ``payrolls_us`` the payrolls charged, ``next_payroll_us`` None after the last; ``runway_months`` None
    without a payroll. Tasks are the company's own, newest first; clients by name, staff by number.
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

    @property
    def open_tasks(self) -> list[TaskLine]:
        """Tasks still to be done: active before planned, each by deadline."""
        unfinished = [task for task in self.tasks if task.status in {"active", "planned"}]
        return sorted(unfinished, key=lambda task: (task.status, task.deadline_us))

    def count(self, status: str) -> int:
        """Return how many own tasks have a status."""
        return sum(task.status == status for task in self.tasks)

    @property
    def runway(self) -> str:
        """The runway in words."""
        months = self.runway_months
        if months is None:
            return "endless"
        return f"{months:.1f} months" if months < _LONG_RUNWAY else f"{_LONG_RUNWAY}+ months"

    @property
    def ending(self) -> str | None:
        """Why the episode is over in words, None while it goes on."""
        return None if self.end_reason is None else _ENDINGS[self.end_reason]


def dashboard(state: State) -> Dashboard:
    """Return the company at a glance; names are printable, on one line and not long."""
    booked = sum([entry.amount_cents for entry in state.ledger])
    funds = accumulate([entry.amount_cents for entry in state.ledger], initial=state.funds_cents - booked)
    times = [state.calendar.start_us, *(entry.time_us for entry in state.ledger)]
    active = Counter(member.employee for task in state.tasks if task.status == "active" for member in task.team)
    outcomes = Counter((task.offer.client_name, task.status) for task in state.tasks)
    return Dashboard(
        company_name=_name(state.config.sim.company_name) or "(unnamed company)",
        turn=state.turns_played + 1,
        start_us=state.calendar.start_us,
        now_us=state.now_us,
        horizon_us=state.calendar.horizon_us,
        funds_cents=state.funds_cents,
        funds_history=(*zip(times, funds, strict=True), (state.now_us, state.funds_cents)),
        payrolls_us=state.calendar.payrolls_us[: state.payrolls_charged],
        next_payroll_us=state.next_payroll_us,
        monthly_payroll_cents=state.monthly_payroll_cents,
        runway_months=state.runway_months,
        prestige={name: level(milli) for name, milli in zip(DOMAINS, state.prestige_milli, strict=True)},
        prestige_max=state.config.world.prestige_max,
        trust_max=state.config.world.trust_max,
        tasks=tuple(
            TaskLine(
                task_id=task.task_id,
                client_name=None if task.offer.client_name is None else _name(task.offer.client_name),
                status=task.status,
                domains=tuple(DOMAINS[domain] for domain in sorted(task.offer.domains)),
                progress_pct=percent(sum(task.done_e4), sum(task.required_e4)),
                deadline_us=task.deadline_us,
                reward_cents=task.offer.reward_cents,
                team=tuple(f"Emp_{member.employee}" for member in task.team),
            )
            for task in reversed(state.tasks)
        ),
        clients=tuple(
            ClientLine(
                name=_name(client.name),
                tier=client.tier,
                trust=level(client.trust_milli),
                succeeded=outcomes[client.name, "completed_success"],
                failed=outcomes[client.name, "completed_fail"],
            )
            for client in sorted(state.clients, key=lambda one: one.name)
        ),
        employees=tuple(
            EmployeeLine(one.name, one.tier, one.salary_cents, active[one.number]) for one in state.employees
        ),
        end_reason=state.end_reason,
    )


def _name(text: str) -> str:
    """Return a name as it is shown; one may come from a stranger's configuration."""
    text = printable(text[: _NAME_LENGTH + 1]).strip(" ")
    return text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 3] + "..."


def whole_dollars(cents: int) -> str:
    """Return an amount as whole dollars, $1,234; rounded down, so that a debt of cents still shows as one."""
    whole = cents // CENTS_PER_DOLLAR
    return f"{'-' if whole < 0 else ''}${abs(whole):,}"


def short_dollars(cents: float) -> str:
    """Return an amount with 3 digits at most behind the sign: $950, $12.5K, $1.25M."""
    amount = float(f"{abs(cents) / CENTS_PER_DOLLAR:.3g}")  # rounded first, or 999,999 would become 1e+03K
    size, suffix = next((one for one in _SUFFIXES if amount >= one[0]), _SUFFIXES[-1])
    figure = f"{amount / size:,.0f}" if amount >= _LARGE * size else f"{amount / size:.3g}"
    return f"{'-' if cents < 0 else ''}${figure}{suffix}"


def moment(time_us: int) -> str:
    """Return simulated time as YYYY-MM-DD HH:MM, the same in every locale."""
    return (EPOCH + dt.timedelta(microseconds=time_us)).isoformat(" ", "minutes")


def time_left(deadline_us: int, now_us: int) -> str:
    """Return how far a deadline is: "in 10 d", "in 5 h", "late 2 d"; at the very instant it is not late."""
    days, rest = divmod(abs(deadline_us - now_us), DAY_US)
    hours = rest // HOUR_US
    amount = f"{days} d" if days else f"{hours} h" if hours else "<1 h"
    return f"{'late' if now_us > deadline_us else 'in'} {amount}"
