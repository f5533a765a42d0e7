"""What is measured of a run (docs/measurements.md); ``frames`` has the tables of many runs, and needs pandas."""

from ycbench_agents.evaluation.measurement.company_measures import (
    Acceptance,
    ClientMeasures,
    Ending,
    Money,
    MonthEnd,
    PrestigePoint,
    TaskCounts,
)
from ycbench_agents.evaluation.measurement.conduct_measures import (
    Behaviour,
    ClientPolicy,
    CommandCalls,
    NotesMeasures,
    Reliability,
    TokenUse,
    Transport,
)
from ycbench_agents.evaluation.measurement.error import MeasurementError
from ycbench_agents.evaluation.measurement.failed_task import (
    FAILURE_CAUSES,
    PAPER_CAUSES,
    FailedTask,
    FailureCause,
    PaperCause,
)
from ycbench_agents.evaluation.measurement.measures import MEASURES_VERSION, RunMeasures
from ycbench_agents.evaluation.measurement.measuring import measure_run

__all__ = [
    "FAILURE_CAUSES",
    "MEASURES_VERSION",
    "PAPER_CAUSES",
    "Acceptance",
    "Behaviour",
    "ClientMeasures",
    "ClientPolicy",
    "CommandCalls",
    "Ending",
    "FailedTask",
    "FailureCause",
    "MeasurementError",
    "Money",
    "MonthEnd",
    "NotesMeasures",
    "PaperCause",
    "PrestigePoint",
    "Reliability",
    "RunMeasures",
    "TaskCounts",
    "TokenUse",
    "Transport",
    "measure_run",
]
