"""Evaluation: suites of episodes, what is measured of them, statistics, reports (docs/evaluation.md).

Names are imported when they are asked for: pandas, joblib and matplotlib take seconds, and are extras.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.evaluation.backend import Pool, WorkerLostError
    from ycbench_agents.evaluation.episode import Episode, EpisodeKey
    from ycbench_agents.evaluation.measurement import RunMeasures, frames
    from ycbench_agents.evaluation.playing import play_suite
    from ycbench_agents.evaluation.reading import Evaluation, read_evaluation
    from ycbench_agents.evaluation.report import WrittenReport, write_report
    from ycbench_agents.evaluation.results import LeaderboardRow, leaderboard, samples
    from ycbench_agents.evaluation.running import (
        EvaluationBusyError,
        EvaluationPlan,
        EvaluationWatcher,
        PlayedEvaluation,
        evaluate,
    )
    from ycbench_agents.evaluation.settings_table import SuiteError
    from ycbench_agents.evaluation.statistic import Sample
    from ycbench_agents.evaluation.suite import Limits, Suite, SuitePolicy, SuitePreset
    from ycbench_agents.evaluation.suite_file import LoadedSuite, load_suite

__all__ = [
    "Episode",
    "EpisodeKey",
    "Evaluation",
    "EvaluationBusyError",
    "EvaluationPlan",
    "EvaluationWatcher",
    "LeaderboardRow",
    "Limits",
    "LoadedSuite",
    "PlayedEvaluation",
    "Pool",
    "RunMeasures",
    "Sample",
    "Suite",
    "SuiteError",
    "SuitePolicy",
    "SuitePreset",
    "WorkerLostError",
    "WrittenReport",
    "evaluate",
    "frames",
    "leaderboard",
    "load_suite",
    "play_suite",
    "read_evaluation",
    "samples",
    "write_report",
]

_HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "backend": ("Pool", "WorkerLostError"),
    "episode": ("Episode", "EpisodeKey"),
    "measurement": ("RunMeasures", "frames"),
    "playing": ("play_suite",),
    "reading": ("Evaluation", "read_evaluation"),
    "report": ("WrittenReport", "write_report"),
    "results": ("LeaderboardRow", "leaderboard", "samples"),
    "running": ("EvaluationBusyError", "EvaluationPlan", "EvaluationWatcher", "PlayedEvaluation", "evaluate"),
    "settings_table": ("SuiteError",),
    "statistic": ("Sample",),
    "suite": ("Limits", "Suite", "SuitePolicy", "SuitePreset"),
    "suite_file": ("LoadedSuite", "load_suite"),
}


if not TYPE_CHECKING:  # so that other names that are not there stay errors for a type checker

    def __getattr__(name: str) -> object:
        """Import a name from its module when it is asked for."""
        for module, names in _HOMES.items():
            if name in names:
                home = import_module(f"{__name__}.{module}")
                return import_module(f"{home.__name__}.{name}") if name == "frames" else getattr(home, name)
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)


def __dir__() -> list[str]:
    """Return all names, also those that were not asked for yet."""
    return sorted({*globals(), *__all__})
