"""How funds, prestige, trust and salaries went: at the end of each month and by turn."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import attrs

from ycbench_agents.evaluation.measurement.company_measures import Ending, Money, MonthEnd, PrestigePoint
from ycbench_agents.evaluation.measurement.month import Month, months_of
from ycbench_agents.evaluation.measurement.quotient import ratio

if TYPE_CHECKING:
    from ycbench_agents.evaluation.measurement.replayed import ReplayedTurn
    from ycbench_env import State
    from ycbench_env.types import LedgerEntry

__all__ = ["Timeline"]

_START = "start"
_MONTHS_A_YEAR = 12


@attrs.define
class Timeline:
    """Follows the company of a run from turn to turn.

    Args:
        start: The world at the start.
    """

    start: State
    _months: tuple[Month, ...] = attrs.field(init=False)
    _at_ends: list[State] = attrs.field(factory=list["State"], init=False)  # the last state within each month
    _points: list[PrestigePoint] = attrs.field(factory=list[PrestigePoint], init=False)

    def __attrs_post_init__(self) -> None:
        self._months = months_of(self.start.calendar)
        self._points.append(PrestigePoint(0, self.start.sim_time, self.start.prestige_milli))

    def add(self, turn: ReplayedTurn) -> None:
        """Follow the company through a turn."""
        for before, after in turn.steps():
            while after.now_us >= self._months[len(self._at_ends)].end_us:
                self._at_ends.append(before)
        if turn.after.prestige_milli != self._points[-1].prestige_milli:
            self._points.append(PrestigePoint(turn.record.turn, turn.after.sim_time, turn.after.prestige_milli))

    @property
    def prestige(self) -> tuple[PrestigePoint, ...]:
        """Prestige by turn, where it changed."""
        return tuple(self._points)

    def months(self, end: State) -> tuple[MonthEnd, ...]:
        """Return the start and the end of each month of a run that ends here, in its present month."""
        booked = self._booked(end)
        states = [*self._at_ends, end]
        rows = [_month_end(0, _START, self.start, self.start.funds_cents, [], is_complete=True)]
        for number, (month, state) in enumerate(zip(self._months, states, strict=False), 1):
            over = number < len(states) or end.terminal_reason == "horizon_end"
            entries = booked[number - 1]
            funds = rows[-1].funds_cents + sum(entry.amount_cents for entry in entries)
            rows.append(_month_end(number, month.label, state, funds, entries, is_complete=over))
        return tuple(rows)

    def _booked(self, end: State) -> dict[int, list[LedgerEntry]]:
        """Return the bookings by month, from 0: one move of the clock may pass several payrolls."""
        booked: dict[int, list[LedgerEntry]] = defaultdict(list)
        place = 0
        for entry in end.ledger:
            while entry.time_us >= self._months[place].end_us:
                place += 1
            booked[place].append(entry)
        return booked

    def money(self, end: State) -> Money:
        """Return where the money came from and went."""
        entries = list(end.ledger)
        return Money(
            initial_funds_cents=self.start.funds_cents,
            final_funds_cents=end.funds_cents,
            revenue_cents=_sum(entries, "task_reward"),
            fees_cents=-_sum(entries, "task_fail_penalty"),
            payroll_cents=-_sum(entries, "monthly_payroll"),
        )

    def ending(self, end: State, terminal_reason: str | None) -> Ending:
        """Return how far the run came."""
        calendar = self.start.calendar
        months = _MONTHS_A_YEAR * self.start.config.sim.horizon_years
        lived = ratio(end.now_us - calendar.start_us, calendar.horizon_us - calendar.start_us)
        return Ending(terminal_reason, end.sim_time, months * (lived or 0.0), months)


def _month_end(  # noqa: PLR0913 -- a row
    number: int, label: str, state: State, funds_cents: int, entries: list[LedgerEntry], *, is_complete: bool
) -> MonthEnd:
    return MonthEnd(
        month=number,
        label=label,
        is_complete=is_complete,
        funds_cents=funds_cents,
        revenue_cents=_sum(entries, "task_reward"),
        fees_cents=-_sum(entries, "task_fail_penalty"),
        payroll_cents=-_sum(entries, "monthly_payroll"),
        salaries_cents=state.monthly_payroll_cents,
        prestige_milli=state.prestige_milli,
        trust_milli=state.trust_milli,
    )


def _sum(entries: list[LedgerEntry], category: str) -> int:
    return sum(entry.amount_cents for entry in entries if entry.category == category)
