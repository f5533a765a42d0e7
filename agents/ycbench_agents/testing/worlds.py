"""Worlds and turns of others that a policy may meet and that its author may not have thought of."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["NUISANCES", "ODD_WORLDS"]

_IDLE: Final = {"auto_advance_after_turns": 1}  # each turn moves time, so that a year is over soon

ODD_WORLDS: Final[tuple[tuple[str, Any], ...]] = (
    ("preset default", "default"),
    ("preset reference", "reference"),
    ("one employee, one client, ten tasks", {"world": {"num_employees": 1, "num_clients": 1, "num_market_tasks": 10}}),
    ("no employees", {"world": {"num_employees": 0}, "loop": _IDLE}),
    ("an empty market", {"world": {"num_market_tasks": 0}, "loop": _IDLE}),
    ("funds for less than a month", {"world": {"initial_funds_cents": 1}, "loop": _IDLE}),
    ("a limit of four turns", {"loop": {"max_turns": 4}}),
    ("classic rules: no clients, hidden rates", "classic-easy"),
    ("hidden rates and clients", {"world": {"skill_rates_visible": False}}),
    ("four milestones a task", {"world": {"task_progress_milestones": [0.2, 0.4, 0.6, 0.8]}}),
)
"""Names and configurations."""

NUISANCES: Final[tuple[str, ...]] = (
    "",
    "market browse --limit 2",
    "--help",
    "market browse --help",
    "market browse --limit x",
    "no such command",
    "company status",  # its ``tasks`` are a table, those of all others a list
    "task list\nemployee list\nclient list\nclient history\nfinance ledger\nreport monthly",
    "task accept --task-id Task-1\ntask inspect --task-id Task-1",
    "task accept --task-id Task-999999",
    "task inspect --task-id Task-2",
    'scratchpad write --content "[] {} null \\" \u202e"',
    "market browse --limit 9999\n" * 60,  # the last answers have no room: {"cut": characters}
    "company status\n" * 8_000,  # nor have all results: {"cut_results": number}
    "sim resume",
)
"""Turns that somebody else may have played just before."""
