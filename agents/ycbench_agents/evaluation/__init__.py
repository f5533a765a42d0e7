"""Evaluation: suites of episodes, metrics, statistics, reports (docs/evaluation.md).

Names are imported when they are first used: pandas and matplotlib take seconds, and are extras.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ycbench_agents.evaluation.evaluate import play_suite
    from ycbench_agents.evaluation.progress import Progress
    from ycbench_agents.evaluation.results import Episode, Evaluation, LeaderboardRow, leaderboard, read_evaluation
    from ycbench_agents.evaluation.suite import (
        EpisodeKey,
        Limits,
        Suite,
        SuiteError,
        SuitePolicy,
        SuitePreset,
        load_suite,
    )
    from ycbench_agents.evaluation.workers import WorkersError

__all__ = [
    "Episode",
    "EpisodeKey",
    "Evaluation",
    "LeaderboardRow",
    "Limits",
    "Progress",
    "Suite",
    "SuiteError",
    "SuitePolicy",
    "SuitePreset",
    "WorkersError",
    "leaderboard",
    "load_suite",
    "play_suite",
    "read_evaluation",
]

_HOMES: Final = {
    "evaluate": ("play_suite",),
    "progress": ("Progress",),
    "results": ("Episode", "Evaluation", "LeaderboardRow", "leaderboard", "read_evaluation"),
    "suite": ("EpisodeKey", "Limits", "Suite", "SuiteError", "SuitePolicy", "SuitePreset", "load_suite"),
    "workers": ("WorkersError",),
}


if not TYPE_CHECKING:  # so that a type checker reports other names

    def __getattr__(name: str) -> object:
        """Import a name from its module when it is first used."""
        for module, names in _HOMES.items():
            if name in names:
                return getattr(import_module(f"{__name__}.{module}"), name)
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)


def __dir__() -> list[str]:
    """Return all names, also those that were not used yet."""
    return sorted({*globals(), *__all__})
