"""Frozen value types: what the world is (state), what is said (commands), what happens (events)."""

from ycbench_env.types.command import Command
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
    "Assignment",
    "Calendar",
    "Client",
    "Command",
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
