"""Frozen value types: the world (state), what an agent asks for (commands), what happens (events)."""

from ycbench_env.types.command import AssignTask, Command, DispatchTask
from ycbench_env.types.event import Event, HorizonEnd, MilestoneReached, Outcome, PayrollPaid, TaskCompleted
from ycbench_env.types.state import (
    Assignment,
    Calendar,
    Client,
    Employee,
    LedgerEntry,
    MarketTask,
    State,
    Task,
)

__all__ = [
    "AssignTask",
    "Assignment",
    "Calendar",
    "Client",
    "Command",
    "DispatchTask",
    "Employee",
    "Event",
    "HorizonEnd",
    "LedgerEntry",
    "MarketTask",
    "MilestoneReached",
    "Outcome",
    "PayrollPaid",
    "State",
    "Task",
    "TaskCompleted",
]
