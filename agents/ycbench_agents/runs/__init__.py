"""Runs: one episode each, recorded as a folder that can be killed, resumed and replayed (docs/runs.md)."""

from ycbench_agents.runs.play import Driver, play_run, replay_turn, replayed
from ycbench_agents.runs.replay import ReplayReport, replay_run
from ycbench_agents.runs.run import (
    Run,
    RunBusyError,
    RunError,
    RunIdentity,
    RunMismatchError,
    RunOrigin,
    RunOutcome,
    RunWarning,
    TurnRecord,
    find_run,
    read_run,
    same_run,
)

__all__ = [
    "Driver",
    "ReplayReport",
    "Run",
    "RunBusyError",
    "RunError",
    "RunIdentity",
    "RunMismatchError",
    "RunOrigin",
    "RunOutcome",
    "RunWarning",
    "TurnRecord",
    "find_run",
    "play_run",
    "read_run",
    "replay_run",
    "replay_turn",
    "replayed",
    "same_run",
]
