"""A state being changed: the one mutable thing of a transition, never seen outside of it."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, NamedTuple

import attrs

from ycbench_env.rules.clock import add_business
from ycbench_env.rules.work import common_share, completion_work, milestone_work, team_rate
from ycbench_env.types.evolve import evolve
from ycbench_env.types.state import LedgerEntry, Task

if TYPE_CHECKING:
    from collections.abc import Collection

    from ycbench_env.rules.number import Ratio
    from ycbench_env.types.event import Event
    from ycbench_env.types.state import Employee, State

__all__ = ["Draft", "TeamRates"]


class TeamRates(NamedTuple):
    """Rates of a task's domains as exact ratios with one denominator, in 1/10,000 units an hour."""

    nums: list[int]
    den: int


@attrs.define
class Draft:
    """Mutable copy of what time and commands change in a state.

    ``active`` holds the places of active tasks in order of acceptance, ``just_completed`` those of tasks completed
    since the draft was made; ``events`` collects what happens.
    """

    base: State
    now_us: int
    funds_cents: int
    payrolls_charged: int
    terminal_reason: str | None
    prestige_milli: list[int]
    employees: list[Employee]
    trust_milli: list[int]
    tasks: list[Task]
    active: list[int]
    just_completed: list[int]
    ledger: list[LedgerEntry]
    events: list[Event]

    @classmethod
    def of(cls, state: State) -> Draft:
        """Return a draft that equals a state."""
        return cls(
            base=state,
            now_us=state.now_us,
            funds_cents=state.funds_cents,
            payrolls_charged=state.payrolls_charged,
            terminal_reason=state.terminal_reason,
            prestige_milli=list(state.prestige_milli),
            employees=list(state.employees),
            trust_milli=[client.trust_milli for client in state.clients],
            tasks=list(state.tasks),
            active=list(state.active_indices),
            just_completed=[],
            ledger=list(state.ledger),
            events=[],
        )

    def freeze(self) -> State:
        """Return the state that this draft describes."""
        employees = tuple(self.employees)
        if employees == self.base.employees:  # the same object, so that what is kept of it stays
            employees = self.base.employees
        clients = self.base.clients
        if self.trust_milli != [client.trust_milli for client in clients]:
            clients = tuple(
                [
                    client if client.trust_milli == trust else evolve(client, trust_milli=trust)
                    for client, trust in zip(clients, self.trust_milli, strict=True)
                ]
            )
        return evolve(
            self.base,
            now_us=self.now_us,
            funds_cents=self.funds_cents,
            payrolls_charged=self.payrolls_charged,
            terminal_reason=self.terminal_reason,
            prestige_milli=tuple(self.prestige_milli),
            employees=employees,
            clients=clients,
            tasks=tuple(self.tasks),
            ledger=tuple(self.ledger),
            active_indices=tuple(self.active),
        )

    def activate(self, index: int) -> None:
        """Make a planned task active; its forecasts are still to be made."""
        self.tasks[index] = evolve(self.tasks[index], status="active")
        insort(self.active, index)  # by acceptance, not by dispatch: that order decides between equals

    def active_sharing(self, employees: Collection[int]) -> list[int]:
        """Return the places of active tasks that have one of these employees on their team."""
        places = {number - 1 for number in employees}
        return [index for index in self.active if not places.isdisjoint(self.tasks[index].places)]

    def load(self) -> list[int]:
        """Return on how many active tasks each employee is, by number - 1. Source: Y-5.1."""
        load = [0] * len(self.employees)
        for index in self.active:
            for place in self.tasks[index].places:
                load[place] += 1
        return load

    def rates(self, task: Task, load: list[int]) -> TeamRates:
        """Return a task's rates at the present load. Source: Y-5.1."""
        places = task.places
        shares = [load[place] for place in places]
        common = common_share(shares)  # one denominator for all, so that rates stay whole numbers and exact
        weights = [common // share for share in shares]
        staff = [self.employees[place].rates_e4 for place in places]
        team_size = self.base.config.world.efficient_team_size
        nums = [team_rate([rates[domain] for rates in staff], weights, team_size) for domain in task.offer.domains]
        return TeamRates(nums, common)

    def reforecast(self, indices: Collection[int]) -> None:
        """Make the forecasts of these active tasks anew, from stored quantities. Source: Y-5.2."""
        if not indices:
            return
        load = self.load()
        milestones = self.base.config.world.milestone_ratios
        for index in indices:
            task = self.tasks[index]
            rates = self.rates(task, load)
            remaining = [need - done for need, done in zip(task.required_e4, task.done_e4, strict=True)]
            milestone_us = None
            if task.milestones_reported < len(milestones):
                num, den = milestones[task.milestones_reported]
                milestone_us = self._after(
                    milestone_work(task.done_e4, task.required_e4, rates.nums, rates.den, num, den)
                )
            completion_us = self._after(completion_work(remaining, rates.nums, rates.den))
            self.tasks[index] = evolve(task, completion_us=completion_us, milestone_us=milestone_us)

    def _after(self, work: Ratio) -> int | None:
        """Return when an amount of business time has passed from now; now for none, None for never."""
        if work.den == 0:
            return None
        if work.num == 0:
            return self.now_us
        calendar = self.base.calendar
        return add_business(self.now_us, work.num, work.den, calendar.open_us, calendar.close_us)

    def book(self, category: str, amount_cents: int, ref_id: str) -> None:
        """Change funds and write the ledger row of it."""
        self.funds_cents += amount_cents
        self.ledger.append(LedgerEntry(self.now_us, category, amount_cents, ref_id))
