"""A state being changed: the one mutable thing of a transition, never seen outside of it."""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection
from typing import NamedTuple

import attrs

from ycbench_env.rules.clock import add_business
from ycbench_env.rules.number import Ratio
from ycbench_env.rules.work import common_share, completion_work, milestone_work, team_rate
from ycbench_env.types.event import Event
from ycbench_env.types.state import Employee, LedgerEntry, State, Task, TeamRates, evolve


class Load(NamedTuple):
    """How busy the staff is, and the rates that were found at this load, by places and domains.

    Agents keep the same team on several tasks, so rates are asked for again and again.
    """

    tasks_each: list[int]
    rates: dict[tuple[tuple[int, ...], tuple[int, ...]], TeamRates]


@attrs.define
class Draft:
    """Mutable copy of what time and commands change in a state.

    ``active`` holds the places of active tasks in order of acceptance, ``just_completed`` those of tasks completed
    since the draft was made; ``bookings`` and ``events`` collect what happens.
    """

    base: State
    now_us: int
    funds_cents: int
    payrolls_charged: int
    terminal_reason: str | None
    prestige_milli: list[int]
    employees: tuple[Employee, ...]
    trust_milli: list[int]
    tasks: list[Task]
    status_counts: dict[str, int]
    active: list[int]
    just_completed: list[int]
    bookings: list[LedgerEntry]
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
            employees=state.employees,
            trust_milli=list(state.trust_milli),
            tasks=list(state.tasks),
            status_counts=state.status_counts.copy(),
            active=list(state.active_indices),
            just_completed=[],
            bookings=[],
            events=[],
        )

    def freeze(self) -> State:
        """Return the state that this draft describes."""
        clients, trust_milli = self.base.clients, tuple(self.trust_milli)
        if trust_milli != self.base.trust_milli:
            clients = tuple(
                [
                    client if client.trust_milli == trust else evolve(client, trust_milli=trust)
                    for client, trust in zip(clients, trust_milli, strict=True)
                ]
            )
        return evolve(
            self.base,
            now_us=self.now_us,
            funds_cents=self.funds_cents,
            payrolls_charged=self.payrolls_charged,
            terminal_reason=self.terminal_reason,
            prestige_milli=tuple(self.prestige_milli),
            employees=self.employees,
            clients=clients,
            tasks=tuple(self.tasks),
            ledger=self.base.ledger + tuple(self.bookings),
            active_indices=tuple(self.active),
            trust_milli=trust_milli,
            status_counts=self.status_counts,
        )

    def change_status(self, index: int, status: str, **changes: object) -> None:
        """Give a task another status, and what changes with it."""
        task = self.tasks[index]
        self.status_counts[task.status] -= 1
        self.status_counts[status] += 1
        self.tasks[index] = evolve(task, status=status, **changes)

    def activate(self, index: int) -> None:
        """Make a planned task active; its forecasts are still to be made."""
        self.change_status(index, "active")
        insort(self.active, index)  # by acceptance, not by dispatch: that order decides between equals

    def active_sharing(self, places: Collection[int]) -> list[int]:
        """Return the places of active tasks that have someone on their team who stands at one of these in the staff."""
        shared = set(places)
        return [index for index in self.active if not shared.isdisjoint(self.tasks[index].places)]

    def load(self) -> Load:
        """Return on how many active tasks each employee is, by number - 1; good while skills stay. Source: Y-5.1."""
        tasks_each = [0] * len(self.employees)
        for index in self.active:
            for place in self.tasks[index].places:
                tasks_each[place] += 1
        return Load(tasks_each, {})

    def rates(self, task: Task, load: Load) -> TeamRates:
        """Return a task's rates at a load. Source: Y-5.1."""
        case = (task.places, task.offer.domains)
        rates = load.rates.get(case)
        if rates is None:
            rates = load.rates[case] = self._rates(*case, load.tasks_each)
        return rates

    def _rates(self, places: tuple[int, ...], domains: tuple[int, ...], tasks_each: list[int]) -> TeamRates:
        shares = [tasks_each[place] for place in places]
        common = common_share(shares)  # one denominator for all, so that rates stay whole numbers and exact
        weights = [common // share for share in shares]
        employees, team_size = self.employees, self.base.config.world.team_size
        nums = [
            team_rate([employees[place].rates_e4[domain] for place in places], weights, team_size) for domain in domains
        ]
        return TeamRates(tuple(nums), common, employees)

    def reforecast(self, indices: Collection[int]) -> None:
        """Make the forecasts of these active tasks anew, from stored quantities. Source: Y-5.2."""
        load = None
        milestones = self.base.config.world.milestone_ratios
        for index in indices:
            task = self.tasks[index]
            is_made = task.milestones_reported == len(milestones) or task.milestone_us == self.now_us
            if is_made and task.completion_us == self.now_us and task.done_e4 == task.required_e4:
                continue  # nothing is left, so it is due now whatever the rates are
            load = load or self.load()
            rates = self.rates(task, load)
            nums, rate_den, _ = rates
            required, done = task.required_e4, task.done_e4
            milestone_us = None
            if task.milestones_reported < len(milestones):
                num, den = milestones[task.milestones_reported]
                milestone_us = self._after(milestone_work(done, required, nums, rate_den, num, den))
            completion_us = self._after(completion_work(done, required, nums, rate_den))
            self.tasks[index] = evolve(task, completion_us=completion_us, milestone_us=milestone_us, rates=rates)

    def _after(self, work: Ratio) -> int | None:
        """Return when an amount of business time has passed from now; now for none, None for never."""
        num, den = work
        if den == 0:
            return None
        if num == 0:
            return self.now_us
        calendar = self.base.calendar
        return add_business(self.now_us, num, den, calendar.open_us, calendar.close_us)

    def book(self, category: str, amount_cents: int, ref_id: str) -> None:
        """Change funds and write the ledger row of it."""
        self.funds_cents += amount_cents
        self.bookings.append(LedgerEntry(self.now_us, category, amount_cents, ref_id))
