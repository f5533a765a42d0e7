"""The measures of a run beside its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_agents.evaluation.folder import MEASURES_FILE
from ycbench_agents.evaluation.measurement import MeasurementError, RunMeasures, measure_run
from ycbench_agents.evaluation.storing import store_json
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import decode

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.records import RunRecord

__all__ = ["read_measures", "store_measures"]


def store_measures(record: RunRecord) -> RunMeasures:
    """Measure a run, write the measures beside its record and return them; those that are there already are kept.

    Raises:
        MeasurementError: A turn turns out otherwise than recorded.
        RecordError: The record is damaged.
    """
    there = read_measures(record.folder)
    if there is not None:
        return there
    measures = measure_run(record)
    store_json(record.folder / MEASURES_FILE, measures.to_json())
    return measures


def read_measures(folder: Path) -> RunMeasures | None:
    """Return the measures in the folder of a run; None where there are none of this version of the measures."""
    path = folder / MEASURES_FILE
    try:
        measures = RunMeasures.from_json(decode(path.read_bytes(), str(path)))
    except (FileNotFoundError, MeasurementError, RecordError):
        return None
    return measures if measures.is_complete else None
