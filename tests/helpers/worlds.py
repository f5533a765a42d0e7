"""What tests of the world share; the tiny world itself is part of the public test kit.

In the tiny world two employees do 20 units an hour: a task of 200 takes 10 business hours, from Wednesday 2025-01-01
09:00 to Thursday 10:00, and its deadline, a day for every 100 units, is Thursday 18:00.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from ycbench_env.observation import answer, encoded_answer
from ycbench_env.testing import tiny
from ycbench_env.transition import transition
from ycbench_env.types.command import Command, Resume
from ycbench_env.types.event import Event, HorizonEnd, MilestoneReached, Outcome, PayrollPaid, TaskCompleted
from ycbench_env.types.state import Employee, State

LOYAL: Final = tiny.LOYAL
ADVERSARIAL: Final = tiny.ADVERSARIAL
BOTH: Final = ("Emp_1", "Emp_2")


def refusal(state: State, command: Command) -> str:
    """Why a command is refused; a refusal must return the very same state."""
    outcome = transition(state, command)
    assert outcome.refusal is not None
    assert outcome.state is state
    assert outcome.events == ()
    return outcome.refusal


def resume(state: State) -> Outcome:
    """The outcome of a resume, which may not be refused."""
    outcome = transition(state, Resume())
    assert outcome.refusal is None
    return outcome


def finished(state: State, *names: str, task_id: str = "Task-1") -> tuple[State, TaskCompleted]:
    """The state once a task was taken on, by both unless named, and done, and the event of it."""
    outcome = resume(tiny.started(state, task_id, *(names or BOTH)))
    (event,) = outcome.events
    assert isinstance(event, TaskCompleted)
    return outcome.state, event


def happened(events: Sequence[Event]) -> list[str]:
    """A few words for each event."""
    words: list[str] = []
    for event in events:
        match event:
            case TaskCompleted():
                words.append(f"{event.task_id} {'success' if event.success else 'failure'}")
            case MilestoneReached():
                words.append(f"{event.task_id} {event.percent}%")
            case PayrollPaid():
                words.append(f"payroll {event.funds_after_cents}")
            case HorizonEnd():
                words.append("horizon")
    return words


def staff(*rates: float) -> list[Employee]:
    """Employees with these rates in all domains."""
    return [tiny.tiny_employee(number, rate) for number, rate in enumerate(rates, 1)]


def rates(state: State, domain: int = 0) -> list[float]:
    """The rate of each employee in a domain."""
    return [employee.rates_e4[domain] / 10_000 for employee in state.employees]


def ask(state: State, command: Command) -> Any:  # noqa: ANN401 -- JSON of many shapes
    """The answer to a command; the same as JSON must be the encoded answer, to the letter."""
    outcome = transition(state, command)
    output, text = encoded_answer(state, command, outcome)
    assert output == answer(state, command, outcome)
    assert text == json.dumps(output, separators=(",", ":"), ensure_ascii=False)
    return output
