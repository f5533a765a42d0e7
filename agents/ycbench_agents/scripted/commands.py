"""The commands that rule-based policies and the planner give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

WAIT: Final = "sim resume"


def accept(task_id: str) -> str:
    """Return the command that accepts a task."""
    return f"task accept --task-id {task_id}"


def assign(task_id: str, names: Iterable[str]) -> str:
    """Return the command that puts employees on a task."""
    return f"task assign --task-id {task_id} --employees {','.join(names)}"


def dispatch(task_id: str) -> str:
    """Return the command that starts a task."""
    return f"task dispatch --task-id {task_id}"


def start(task_id: str, names: Iterable[str]) -> tuple[str, str, str]:
    """Return the commands that accept a task, put employees on it and start it."""
    return accept(task_id), assign(task_id, names), dispatch(task_id)


def inspect(task_id: str) -> str:
    """Return the command that looks closely at a task."""
    return f"task inspect --task-id {task_id}"


def cancel(task_id: str, reason: str) -> str:
    """Return the command that gives a task up."""
    return f"task cancel --task-id {task_id} --reason {reason}"
