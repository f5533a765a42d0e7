"""The commands that a plan consists of, as text and as what the text means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ycbench_env.actions import parse_turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ycbench_env.types import Command

__all__ = ["RESUME", "accept", "assign", "cancel", "dispatch", "meaning"]

RESUME: Final = "sim resume"


def accept(task_id: str) -> str:
    """Return the command that accepts an offer."""
    return f"task accept --task-id {task_id}"


def assign(task_id: str, names: Iterable[str]) -> str:
    """Return the command that puts employees on a task."""
    return f"task assign --task-id {task_id} --employees {','.join(names)}"


def dispatch(task_id: str) -> str:
    """Return the command that starts a task."""
    return f"task dispatch --task-id {task_id}"


def cancel(task_id: str) -> str:
    """Return the command that gives a task up."""
    return f"task cancel --task-id {task_id} --reason passed"


def meaning(text: str) -> Command:
    """Return the one command that a text says.

    Raises:
        ValueError: It says none; only a fault of this package could make that so.
    """
    command = parse_turn(text)[0].command
    if command is None:
        msg = f"planner: got {text!r}, expected a command of the grammar"
        raise ValueError(msg)
    return command
