"""What came of the company: money, tasks, clients, prestige and trust (docs/measurements.md)."""

from __future__ import annotations

import attrs

from ycbench_agents.evaluation.measurement.quotient import ratio

__all__ = ["Acceptance", "ClientMeasures", "Ending", "Money", "MonthEnd", "PrestigePoint", "TaskCounts"]


@attrs.frozen
class Money:
    """Where the money came from and went; ``initial + revenue - fees - payroll = final``.

    Args:
        initial_funds_cents: Funds at the start.
        final_funds_cents: Funds after the last turn; negative when bankrupt.
        revenue_cents: Rewards that were booked.
        fees_cents: Fees for failures that were booked.
        payroll_cents: Salaries that were paid.
    """

    initial_funds_cents: int
    final_funds_cents: int
    revenue_cents: int
    fees_cents: int
    payroll_cents: int


@attrs.frozen
class Ending:
    """How far a run came.

    Args:
        terminal_reason: bankruptcy, horizon_end or max_turns; None when it was cut off from outside, or goes on.
        sim_time: Simulated time after the last turn, ISO 8601 without a zone.
        survived_months: Simulated time behind, in months, each a twelfth of a year of the horizon.
        horizon_months: Months of the horizon.
    """

    terminal_reason: str | None
    sim_time: str
    survived_months: float
    horizon_months: int

    @property
    def is_bankrupt(self) -> bool:
        """Whether funds fell below 0."""
        return self.terminal_reason == "bankruptcy"

    @property
    def bankruptcy_time(self) -> str | None:
        """Simulated time of the bankruptcy, ISO 8601; None without one."""
        return self.sim_time if self.is_bankrupt else None


@attrs.frozen
class TaskCounts:
    """What became of the accepted tasks; ``accepted = succeeded + failed + cancelled + unfinished``.

    Args:
        accepted: Accepted tasks.
        succeeded: Completed in time.
        failed: Completed late.
        cancelled: Given up.
        unfinished: Planned or active at the end.
        overdue: Those of the unfinished whose deadline was past.
        never_dispatched: Accepted tasks of any fate on which nobody ever began to work.
        trusted_successes: Successes whose offer required trust (figure 3a).
    """

    accepted: int
    succeeded: int
    failed: int
    cancelled: int
    unfinished: int
    overdue: int
    never_dispatched: int
    trusted_successes: int

    @property
    def win_rate_fraction(self) -> float | None:
        """Share of the completed tasks that were in time; None without any."""
        return ratio(self.succeeded, self.succeeded + self.failed)

    @property
    def trusted_success_fraction(self) -> float | None:
        """Share of the successes that needed trust (figure 3a); None without any."""
        return ratio(self.trusted_successes, self.succeeded)


@attrs.frozen
class Acceptance:
    """How often tasks of adversarial clients were accepted (figure 4a).

    Args:
        accepted: Accepted tasks.
        adversarial: Those of adversarial clients.
        market_adversarial_fraction: Share of adversarial clients' tasks on the market; it never changes, since a
            replacement has the client of the task that it replaces. None without a market.
        open_adversarial_fraction: The same among the tasks whose prestige and trust gates were open, averaged over the
            moments just before each accept. None without an accept.
    """

    accepted: int
    adversarial: int
    market_adversarial_fraction: float | None
    open_adversarial_fraction: float | None

    @property
    def adversarial_fraction(self) -> float | None:
        """Share of accepted tasks that came from adversarial clients; None without any."""
        return ratio(self.adversarial, self.accepted)


@attrs.frozen
class ClientMeasures:
    """One client.

    Args:
        name: Its name.
        is_adversarial: Whether it inflates work; hidden from agents.
        final_trust_milli: Its trust at the end, units of 1/1,000 (figure 3b).
        accepted: Its tasks that were accepted.
        succeeded: Completed in time.
        failed: Completed late.
        cancelled: Given up.
    """

    name: str
    is_adversarial: bool
    final_trust_milli: int
    accepted: int
    succeeded: int
    failed: int
    cancelled: int


@attrs.frozen
class MonthEnd:
    """How things stood at the end of a month, or at the start (month 0).

    Args:
        month: 0 for the start, then 1, 2, ...
        label: The calendar month as YYYY-MM; "start" for the start.
        is_complete: Whether the run came to the month's end; if not, the figures are those of the run's end.
        funds_cents: Funds.
        revenue_cents: Rewards booked within the month.
        fees_cents: Fees for failures booked within the month.
        payroll_cents: Salaries paid within the month.
        salaries_cents: Sum of all salaries a month, as they stood.
        prestige_milli: Prestige in each domain, units of 1/1,000, as stored at the last stop of the clock.
        trust_milli: Trust of each client, likewise, in the order of ``RunMeasures.clients``.
    """

    month: int
    label: str
    is_complete: bool
    funds_cents: int
    revenue_cents: int
    fees_cents: int
    payroll_cents: int
    salaries_cents: int
    prestige_milli: tuple[int, ...]
    trust_milli: tuple[int, ...]


@attrs.frozen
class PrestigePoint:
    """Prestige at the end of a turn that changed it; turn 0 is the start.

    Args:
        turn: Number of the turn.
        sim_time: Simulated time afterwards, ISO 8601.
        prestige_milli: Prestige in each domain, units of 1/1,000.
    """

    turn: int
    sim_time: str
    prestige_milli: tuple[int, ...]
