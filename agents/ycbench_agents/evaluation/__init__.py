"""Evaluation: suites of episodes, metrics, statistics, reports (docs/evaluation.md)."""

from ycbench_agents.evaluation.evaluate import play_suite
from ycbench_agents.evaluation.results import Episode, Evaluation, LeaderboardRow, leaderboard, read_evaluation
from ycbench_agents.evaluation.suite import EpisodeKey, Limits, Suite, SuiteError, SuitePolicy, SuitePreset, load_suite
from ycbench_agents.evaluation.workers import Progress, WorkersError

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
