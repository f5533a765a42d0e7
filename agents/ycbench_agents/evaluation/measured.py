"""The measures of a run beside its record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ycbench_agents.evaluation.folder import MEASURES_FILE
from ycbench_agents.evaluation.measurement import MeasurementError, RunMeasures, measure_run
from ycbench_agents.evaluation.storing import store_json
from ycbench_agents.records import RecordError
from ycbench_agents.records.error import system_told
from ycbench_agents.records.reading import TURNS_FILE
from ycbench_agents.records.strict_json import Table, decode

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.base import JsonObject
    from ycbench_agents.records import RunRecord

__all__ = ["read_measures", "store_measures"]

_RUN: Final = "measured_run"
_TAIL_BYTES: Final = 2**16


def store_measures(record: RunRecord) -> RunMeasures:
    """Measure a run, write the measures beside its record and return them; those that are there already are kept.

    Raises:
        MeasurementError: A turn turns out otherwise than recorded.
        RecordError: The record is damaged, or the measures cannot be written.
    """
    there = read_measures(record.folder)
    if there is not None:
        return there
    measures = measure_run(record)
    path = record.folder / MEASURES_FILE
    with system_told(path):
        store_json(path, {_RUN: _end_of(record.folder), **measures.to_json()})
    return measures


def read_measures(folder: Path) -> RunMeasures | None:
    """Return the measures in the folder of a run; None where there are none of this version, or those of other turns.

    What they are of, they tell by the end of the last turn that was measured. What cannot be read is none either, for
    it is made again from the record.
    """
    path = folder / MEASURES_FILE
    try:
        fields = dict(Table.of(decode(path.read_bytes(), str(path)), str(path)).values)
        measures = RunMeasures.from_json({name: value for name, value in fields.items() if name != _RUN})
        is_of_run = fields.get(_RUN) == _end_of(folder)
    except (MeasurementError, OSError, RecordError):
        return None
    return measures if measures.is_complete and is_of_run else None


def _end_of(folder: Path) -> JsonObject:
    """Return the last turn's number, its funds in cents and the hash of the world after it; {} where there is none.

    Raises:
        RecordError: The line is damaged.
    """
    path = folder / TURNS_FILE
    line = _last_line(path)
    if not line:
        return {}
    table = Table.of(decode(line, str(path)), str(path))
    return {
        "turns": table.get("turn", int),
        "funds_cents": table.get("funds_cents", int),
        "state_hash": table.get("state_hash", str),
    }


def _last_line(path: Path) -> bytes:
    """Return the last line that was written to its end, b"" where there is none."""
    size = _TAIL_BYTES
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        while True:
            file.seek(max(0, end - size))
            lines = file.read().split(b"\n")[:-1]  # what follows the last line break is cut short
            if len(lines) > 1 or size >= end:
                return lines[-1] if lines else b""
            size *= 4
