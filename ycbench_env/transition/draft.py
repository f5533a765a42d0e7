"""A state being changed: the one mutable thing of a transition, never seen outside of it."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection

from ycbench_env.rules.clock import add_business
from ycbench_env.rules.number import Ratio
from ycbench_env.rules.work import common_share, completion_work, milestone_work, team_rate
from ycbench_env.types.event import Event
from ycbench_env.types.state import LedgerEntry, State, Task, TeamRates, evolve


class Draft:
    """Mutable copy of what time and commands change in a state.

    ``active`` holds the places of active tasks in order of acceptance, ``just_completed`` those of tasks completed
    since the draft was made; ``bookings`` and ``events`` collect what happens.
    """

    def __init__(self, state: State) -> None:
        self.base = state
        self.now_us = state.now_us
        self.funds_cents = state.funds_cents
        self.payrolls_charged = state.payrolls_charged
        self.terminal_reason = state.terminal_reason
        self.prestige_milli = list(state.prestige_milli)
        self.employees = state.employees
        self.trust_milli = list(state.trust_milli)
        self.tasks = list(state.tasks)
        self.status_counts = state.status_counts.copy()
        self.active = list(state.active_indices)
        self.just_completed: list[int] = []
        self.bookings: list[LedgerEntry] = []
        self.events: list[Event] = []

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
        """Give a task another status, and what changes with it; whoever makes one active forecasts it."""
        task = self.tasks[index]
        self.status_counts[task.status] -= 1
        self.status_counts[status] += 1
        self.tasks[index] = evolve(task, status=status, **changes)
        if task.status == "active":
            self.active.remove(index)
        elif status == "active":
            insort(self.active, index)  # by acceptance, not by dispatch: that order decides between equals

    def active_sharing(self, places: Collection[int]) -> list[int]:
        """Return the places of active tasks that have someone on their team who stands at one of these in the staff."""
        shared = set(places)
        return [index for index in self.active if not shared.isdisjoint(self.tasks[index].places)]

    def team_rates(self) -> Callable[[Task], TeamRates]:
        """Return a look-up of tasks' rates, which is good while skills and active tasks stay. Source: Y-5.1."""
        employees, team_size = self.employees, self.base.config.world.team_size
        tasks_each = [0] * len(employees)
        for index in self.active:
            for place in self.tasks[index].places:
                tasks_each[place] += 1
        found: dict[tuple[tuple[int, ...], tuple[int, ...]], TeamRates] = {}

        def rates_of(task: Task) -> TeamRates:
            places, domains = case = (task.places, task.offer.domains)
            rates = found.get(case)  # agents keep the same team on several tasks
            if rates is None:
                shares = [tasks_each[place] for place in places]
                common = common_share(shares)  # one denominator for all, so that rates stay whole numbers and exact
                weights = [common // share for share in shares]
                nums = [
                    team_rate([employees[place].rates_e4[domain] for place in places], weights, team_size)
                    for domain in domains
                ]
                rates = found[case] = TeamRates(tuple(nums), common, employees)
            return rates

        return rates_of

    def reforecast(self, indices: Collection[int]) -> None:
        """Make the forecasts of these active tasks anew, from stored quantities. Source: Y-5.2."""
        rates_of = None
        milestones = self.base.config.world.milestone_ratios
        for index in indices:
            task = self.tasks[index]
            is_made = task.milestones_reported == len(milestones) or task.milestone_us == self.now_us
            if is_made and task.completion_us == self.now_us and task.done_e4 == task.required_e4:
                continue  # nothing is left, so it is due now whatever the rates are
            rates_of = rates_of or self.team_rates()
            rates = rates_of(task)
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
