"""Turns that keep a world busy, drawn from its present state; for tests that need long and varied play."""

from __future__ import annotations

import random
from itertools import islice
from typing import Final

from ycbench_env.testing.query_invariants import acceptable
from ycbench_env.types.state import State

__all__ = ["QUERIES", "REFUSED", "sample_command", "sample_turn"]

QUERIES: Final = (
    "company status",
    "employee list",
    "market browse",
    "market browse --domain research --limit 3 --offset 2",
    "market browse --reward-min-cents 500000",
    "task list",
    "task list --status active",
    "task list --status cancelled",
    "client list",
    "client history",
    "finance ledger",
    "finance ledger --category monthly_payroll --from 2025-02-01 --to 03/31/2025",
    "finance ledger --category task_reward",
    "report monthly",
    "report monthly --from-month 2025-02 --to-month 2025-04",
)
"""Commands that only ask."""

REFUSED: Final = (
    "task accept --task-id Task-999999",
    "task accept",
    "task accept --task-id Task-3 --task-id Task-4",
    "task assign --task-id Task-999999 --employees Emp_1",
    "task dispatch --task-id nothing",
    "task cancel --task-id Task-1 ; task cancel --task-id Task-2 --reason",
    "task inspect --task-id ''",
    "market browse --limit 0",
    "market browse --limit -3",
    "finance ledger --from yesterday",
    "task list --status open",
    "sim resume --days 3",
    "dance",
    "yc-bench",
    "task inspect --task-id \"won't end",
    "\u201c\ud800\x00",
)
"""Turns whose commands are refused in every world that has no such tasks."""

_WAIT: Final = "sim resume"
_MOST_TO_CHOOSE: Final = 20  # of listed tasks
_KINDS: Final = ("wait", "wait", "wait", "accept", "accept", "assign", "dispatch", "dispatch", "ask", "cancel", "odd")


def sample_turn(state: State, rng: random.Random) -> str:
    """Returns a turn of no to three commands, most of which the world will carry out.

    Args:
        state: The present state; ids are taken from it.
        rng: Source of the draws.
    """
    commands = [sample_command(state, rng) for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 3)))]
    return rng.choice(("\n", "; ", " && ")).join(commands)


def sample_command(state: State, rng: random.Random) -> str:  # noqa: PLR0911 -- one for each kind
    """Returns a command that fits a state; what needs a task falls back to another kind where there is none."""
    kind = rng.choice(_KINDS)
    planned = [task.task_id for task in state.tasks if task.status == "planned"]
    active = [task.task_id for task in state.tasks if task.status == "active"]
    if kind in {"assign", "dispatch"} and planned:
        task_id = rng.choice(planned)
        if kind == "dispatch" and any(task.team for task in state.tasks if task.task_id == task_id):
            return f"task dispatch --task-id {task_id}"
        return f"task assign --task-id {task_id} --employees {_team(state, rng)}"
    if kind == "cancel" and rng.random() < 0.3 and planned + active:  # noqa: PLR2004 -- seldom, or nothing gets done
        return f"task cancel --task-id {rng.choice(planned + active)} --reason 'changed plan'"
    if kind == "odd":
        return rng.choice(REFUSED)
    if kind == "ask":
        return rng.choice((*QUERIES, *(f"task inspect --task-id {task_id}" for task_id in planned + active)))
    if kind == "wait" and active:
        return _WAIT
    within_reach = (task.task_id for task in state.market_by_reward if acceptable(state, task))
    best_paid = list(islice(within_reach, _MOST_TO_CHOOSE))
    return f"task accept --task-id {rng.choice(best_paid)}" if best_paid else _WAIT


def _team(state: State, rng: random.Random) -> str:
    names = [employee.name for employee in state.employees] or ["Emp_1"]
    return ",".join(rng.sample(names, rng.randint(1, len(names))))
