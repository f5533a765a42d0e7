"""What becomes of accepted tasks: counts, clients, what was open on the market, causes of failures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.measurement.company_measures import Acceptance, ClientMeasures, TaskCounts
from ycbench_agents.evaluation.measurement.counterfactual import TaskPast, judged
from ycbench_agents.evaluation.measurement.quotient import ratio
from ycbench_agents.evaluation.measurement.replayed import ACCEPT, DISPATCH, task_id_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ycbench_agents.evaluation.measurement.failed_task import FailedTask
    from ycbench_agents.evaluation.measurement.replayed import ReplayedTurn, SaidCommand
    from ycbench_env import State
    from ycbench_env.types import MarketTask

__all__ = ["TaskCourse", "is_open"]

_FATES: Final = ("completed_success", "completed_fail", "cancelled")


def is_open(state: State, offer: MarketTask) -> bool:
    """Return whether prestige and trust let a listed task be accepted; room for more tasks is not looked at.

    The same question as the simulator's own, put to 200 tasks at each accept; a test holds the two together.
    """
    levels, needed = state.prestige_milli, offer.required_prestige * 1000
    if state.config.world.prestige_gate == "highest":
        if max(levels) < needed:
            return False
    elif any([levels[domain] < needed for domain in offer.domains]):  # noqa: C419 -- twice as fast for one domain
        return False
    return not offer.required_trust or state.client(offer.client_name or "").trust_milli >= offer.required_trust * 1000


@attrs.frozen
class _OpenTasks:
    """How many listed tasks could be accepted; kept from one accept to the next, since only one slot changes."""

    number: int
    adversarial: int
    market: tuple[MarketTask, ...]
    gates: tuple[tuple[int, ...], tuple[int, ...]]
    names: frozenset[str]

    @classmethod
    def of(cls, state: State, names: frozenset[str]) -> _OpenTasks:
        """Return the number of open tasks, and of those of adversarial clients, whose names are given."""
        clients = [offer.client_name for offer in state.market if is_open(state, offer)]
        adversarial = sum(client in names for client in clients)
        return cls(len(clients), adversarial, state.market, (state.prestige_milli, state.trust_milli), names)

    def replaced(self, after: State, accepted: MarketTask, newcomer: MarketTask) -> _OpenTasks:
        """Return the numbers after an open task was accepted and replaced by one of the same client."""
        change = is_open(after, newcomer) - 1
        of_adversarial = change if accepted.client_name in self.names else 0
        return attrs.evolve(
            self, number=self.number + change, adversarial=self.adversarial + of_adversarial, market=after.market
        )


@attrs.define
class TaskCourse:
    """Follows the tasks of a run from turn to turn.

    Args:
        start: The world at the start.
    """

    start: State
    _pasts: dict[str, TaskPast] = attrs.field(factory=dict[str, TaskPast], init=False)
    _failures: list[FailedTask] = attrs.field(factory=list["FailedTask"], init=False)
    _open_fractions: list[float] = attrs.field(factory=list[float], init=False)
    _open: _OpenTasks | None = attrs.field(default=None, init=False)
    _adversarial: frozenset[str] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._adversarial = frozenset(client.name for client in self.start.clients if client.is_adversarial)

    def add(self, turn: ReplayedTurn) -> None:
        """Follow the tasks through a turn."""
        for said in turn.commands:
            if said.after is not said.before:
                self._note(said)
        for before, after in turn.steps():
            if after.now_us != before.now_us or after.ledger is not before.ledger:
                self._failures.extend(self._failed(before, after, turn.record.turn))

    def _note(self, said: SaidCommand) -> None:
        """Remember what a later judgement needs."""
        if said.name == ACCEPT:
            if self.start.clients:
                self._open_fractions.append(self._open_fraction(said))
            self._pasts[said.after.tasks[-1].task_id] = TaskPast(said.before.employees)
        elif said.name == DISPATCH:
            task_id = task_id_of(said.command)
            state = said.before
            self._pasts[task_id] = attrs.evolve(
                self._pasts[task_id], staff_at_dispatch=state.employees, dispatched_us=state.now_us
            )

    def _open_fraction(self, said: SaidCommand) -> float:
        """Return the share of adversarial clients' tasks among those that could be accepted when one of them was."""
        state = said.before
        gates = (state.prestige_milli, state.trust_milli)
        if self._open is None or self._open.gates != gates or self._open.market is not state.market:
            self._open = _OpenTasks.of(state, self._adversarial)
        fraction = self._open.adversarial / self._open.number
        slot = state.market_slot(task_id_of(said.command)) or 0
        self._open = self._open.replaced(said.after, state.market[slot], said.after.market[slot])
        return fraction

    def _failed(self, before: State, after: State, turn: int) -> Iterator[FailedTask]:
        """Yield the tasks that were completed late between two states."""
        for index in before.active_indices:
            task = after.tasks[index]
            if task.status == "completed_fail":
                is_adversarial = task.offer.client_name in self._adversarial
                yield judged(after, task, self._pasts[task.task_id], turn, is_adversarial=is_adversarial)

    @property
    def failures(self) -> tuple[FailedTask, ...]:
        """All failed tasks so far, in order of completion."""
        return tuple(self._failures)

    def counts(self, end: State) -> TaskCounts:
        """Return what became of the tasks of a run that ends here."""
        by_status = end.status_counts
        unfinished = [task for task in end.tasks if task.status not in _FATES]
        return TaskCounts(
            accepted=len(end.tasks),
            succeeded=by_status["completed_success"],
            failed=by_status["completed_fail"],
            cancelled=by_status["cancelled"],
            unfinished=len(unfinished),
            overdue=sum(task.deadline_us < end.now_us for task in unfinished),
            never_dispatched=sum(past.dispatched_us is None for past in self._pasts.values()),
            trusted_successes=sum(
                task.status == "completed_success" and task.offer.required_trust > 0 for task in end.tasks
            ),
        )

    def acceptance(self, end: State) -> Acceptance | None:
        """Return how often adversarial clients' tasks were accepted; None in a world without clients."""
        if not self.start.clients:
            return None
        market = [offer.client_name in self._adversarial for offer in self.start.market]
        return Acceptance(
            accepted=len(end.tasks),
            adversarial=sum(task.offer.client_name in self._adversarial for task in end.tasks),
            market_adversarial_fraction=ratio(sum(market), len(market)),
            open_adversarial_fraction=ratio(sum(self._open_fractions), len(self._open_fractions)),
        )

    def clients(self, end: State) -> tuple[ClientMeasures, ...]:
        """Return what came of each client."""
        accepted = Counter(task.offer.client_name for task in end.tasks)
        fates = Counter((task.offer.client_name, task.status) for task in end.tasks)
        return tuple(
            ClientMeasures(
                client.name,
                client.is_adversarial,
                client.trust_milli,
                accepted[client.name],
                *(fates[client.name, fate] for fate in _FATES),
            )
            for client in end.clients
        )
