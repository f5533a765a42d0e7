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
_ENDINGS: Final = {"bankruptcy": "Bankrupt", "horizon_end": "Horizon reached", "max_turns": "Turn limit reached"}
_STATUSES: Final = {
    "active": "active",
    "planned": "planned",
    "completed_success": "succeeded",
    "completed_fail": "failed",
    "cancelled": "cancelled",
}


@attrs.frozen
class Bar:
    """A bar that is filled by a share from 0 to 1, and the figure beside it."""

    share: float
    figure: str


@attrs.frozen
class Section:
    """A table with its title; ``more`` is the number of rows that are left out."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str | Bar, ...], ...]
    more: int = 0

    def first(self, most: int) -> "Section":
        """Return the section with this many rows at most."""
        return attrs.evolve(self, rows=self.rows[:most], more=max(0, len(self.rows) - most))


@attrs.frozen
class Dashboard:
    """The company at a glance; times in microseconds.

    ``facts`` are lines on time, money and tasks. ``funds_history`` has (time, funds in cents) at the start, after each
    booking and now; ``payrolls_us`` are the payrolls charged; ``ending`` is None while the episode goes on. Sections:
    open tasks (active before planned, each by deadline), clients by name in a world with clients, prestige, staff.
    """

    company_name: str
    ending: str | None
    facts: tuple[str, ...]
    start_us: int
    now_us: int
    horizon_us: int
    funds_history: tuple[tuple[int, int], ...]
    payrolls_us: tuple[int, ...]
    sections: tuple[Section, ...]

    @property
    def in_debt(self) -> bool:
        """Whether the company owes money now."""
        return self.funds_history[-1][1] < 0


def dashboard(state: State) -> Dashboard:
    """Return the company at a glance; names are printable, on one line and not long."""
    calendar, world = state.calendar, state.config.world
    booked = sum([entry.amount_cents for entry in state.ledger])
    funds = accumulate([entry.amount_cents for entry in state.ledger], initial=state.funds_cents - booked)
    times = [calendar.start_us, *(entry.time_us for entry in state.ledger)]
    payday = "" if state.next_payroll_us is None else f", next on {moment(state.next_payroll_us)}"
    statuses = Counter(task.status for task in state.tasks)
    outcomes = Counter((task.offer.client_name, task.status) for task in state.tasks)
    working = Counter(member.employee for task in state.tasks if task.status == "active" for member in task.team)
    unfinished = [task for task in reversed(state.tasks) if task.status in {"active", "planned"}]
    tasks = [
        (
            task.task_id,
            task.status,
            *([] if task.offer.client_name is None else [_name(task.offer.client_name)]),
            "+".join(DOMAINS[domain] for domain in sorted(task.offer.domains)),
            f"{len(task.team)}",
            _bar(percent(sum(task.done_e4), sum(task.required_e4)), 100, "5.1f", "%"),
            time_left(task.deadline_us, state.now_us),
        )
        for task in sorted(unfinished, key=lambda task: (task.status, task.deadline_us))
    ]
    clients = [
        (
            _name(client.name),
            client.tier,
            _bar(level(client.trust_milli), world.trust_max),
            f"{outcomes[client.name, 'completed_success']} / {outcomes[client.name, 'completed_fail']}",
        )
        for client in sorted(state.clients, key=lambda client: client.name)
    ]
    levels = zip(DOMAINS, state.prestige_milli, strict=True)
    prestige = [(domain, _bar(level(milli), world.prestige_max)) for domain, milli in levels]
    staff = [(one.name, one.tier, whole_dollars(one.salary_cents), f"{working[one.number]}") for one in state.employees]
    client = ("client",) if clients else ()
    sections = [Section("Open tasks", ("task", "status", *client, "work", "people", "done", "due"), tuple(tasks))]
    if clients:
        headings = ("client", "tier", "trust", "done / failed")
        sections.append(Section(f"Clients, trust from 0 to {world.trust_max:g}", headings, tuple(clients)))
    sections += [
        Section(f"Prestige, up to {world.prestige_max:g}", ("domain", "prestige"), tuple(prestige)),
        Section("Staff", ("name", "tier", "a month", "active tasks"), tuple(staff)),
    ]
    months = state.runway_months  # beyond a thousand, figures would only take room
    runway = "endless" if months is None else f"{months:.1f} months" if months < 1000 else "1000+ months"  # noqa: PLR2004
    return Dashboard(
        company_name=_name(state.config.sim.company_name) or "(unnamed company)",
        ending=None if state.end_reason is None else _ENDINGS[state.end_reason],
        facts=(
            f"Turn {state.turns_played + 1} | {moment(state.now_us)} (until {moment(calendar.horizon_us)})",
            f"Funds {whole_dollars(state.funds_cents)} | runway {runway}",
            f"Payroll {whole_dollars(state.monthly_payroll_cents)} a month{payday}",
            "Tasks " + ", ".join(f"{statuses[status]} {word}" for status, word in _STATUSES.items()),
        ),
        start_us=calendar.start_us,
        now_us=state.now_us,
        horizon_us=calendar.horizon_us,
        funds_history=(*zip(times, funds, strict=True), (state.now_us, state.funds_cents)),
        payrolls_us=calendar.payrolls_us[: state.payrolls_charged],
        sections=tuple(sections),
    )


def _bar(value: float, full: float, form: str = "5.2f", unit: str = "") -> Bar:
    return Bar(min(value / full, 1) if full else 0, f"{value:{form}}{unit}")


def _name(text: str) -> str:
    """Return a name as it is shown; one may come from a stranger's configuration."""
    text = printable(text[: _NAME_LENGTH + 1]).strip(" ")
    return text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 3] + "..."


def whole_dollars(cents: int) -> str:
    """Return an amount as whole dollars, $1,234; rounded down, so that a debt of cents still shows as one."""
    whole = cents // CENTS_PER_DOLLAR
    return f"{'-' if whole < 0 else ''}${abs(whole):,}"


def moment(time_us: int) -> str:
    """Return simulated time as YYYY-MM-DD HH:MM, the same in every locale."""
    return (EPOCH + dt.timedelta(microseconds=time_us)).isoformat(" ", "minutes")


def time_left(deadline_us: int, now_us: int) -> str:
    """Return how far a deadline is: "in 10 d", "in 5 h", "late 2 d"; at the very instant it is not late."""
    days, rest = divmod(abs(deadline_us - now_us), DAY_US)
    hours = rest // HOUR_US
    amount = f"{days} d" if days else f"{hours} h" if hours else "<1 h"
    return f"{'late' if now_us > deadline_us else 'in'} {amount}"
