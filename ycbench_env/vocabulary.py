"""The fixed words of the game, in the order in which the rules count them.

Source: Y-1.3, Y-2.2, Y-2.3, answers.
"""

from typing import Final

DOMAINS: Final = ("research", "inference", "data_environment", "training")
"""Domains of work; everything indexed by domain uses this order (Y-1.3)."""

TIERS: Final = ("junior", "mid", "senior")
"""Salary tiers of employees, cheapest first."""

TIER_CYCLE: Final = ("junior",) * 5 + ("mid",) * 3 + ("senior",) * 2
"""Tiers are dealt from this cycle, repeated, and then shuffled (Y-2.2)."""

CLIENT_NAMES: Final = (
    "Nexus AI",
    "Vertex Labs",
    "Quantum Dynamics",
    "Atlas Computing",
    "Helix Systems",
    "Orion Data",
    "Cipher Corp",
    "Prism Analytics",
    "Nova Research",
    "Zenith Technologies",
    "Apex Robotics",
    "Stratos Cloud",
    "Vanguard ML",
    "Equinox Labs",
    "Cortex Intelligence",
)
"""The pool from which a world's clients are sampled (Y-2.3)."""

OWN_STATUSES: Final = ("planned", "active", "completed_success", "completed_fail", "cancelled")
"""Statuses of an accepted task, in the order of its life."""

LEDGER_CATEGORIES: Final = ("monthly_payroll", "task_reward", "task_fail_penalty")
"""Kinds of ledger rows."""
