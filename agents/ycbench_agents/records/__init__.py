"""Runs as folders: played, killed at any moment, resumed, replayed, exported (docs/records.md)."""

from ycbench_agents.records.error import RecordError, RecordMismatchError, RecordWarning, RunBusyError
from ycbench_agents.records.exporting import ExportedTurn, export_turns
from ycbench_agents.records.many import RunFailure, RunResult, play_many
from ycbench_agents.records.name import run_name
from ycbench_agents.records.plan import RunPlan, Runtime
from ycbench_agents.records.playing import PlayedRun, play_run, play_run_sync, resume_plan
from ycbench_agents.records.reading import RunRecord, read_run, same_run
from ycbench_agents.records.record import RunIdentity, RunOrigin, RunOutcome, TurnRecord
from ycbench_agents.records.replaying import ReplayReport, replay_run

__all__ = [
    "ExportedTurn",
    "PlayedRun",
    "RecordError",
    "RecordMismatchError",
    "RecordWarning",
    "ReplayReport",
    "RunBusyError",
    "RunFailure",
    "RunIdentity",
    "RunOrigin",
    "RunOutcome",
    "RunPlan",
    "RunRecord",
    "RunResult",
    "Runtime",
    "TurnRecord",
    "export_turns",
    "play_many",
    "play_run",
    "play_run_sync",
    "read_run",
    "replay_run",
    "resume_plan",
    "run_name",
    "same_run",
]
