"""What results.json tells otherwise than a report that is made from the records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from ycbench_agents.evaluation.evaluation_file import EVALUATION_FORMAT, key_of
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.records import RecordError
from ycbench_agents.records.strict_json import Table, find_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.evaluation.measured_evaluation import MeasuredEvaluation

__all__ = ["results_remarks"]

_Fate: TypeAlias = "tuple[str, int | None]"  # status, and final funds in cents
_UNPLANNED: Final[_Fate] = ("not planned", None)
_SHOWN: Final = 3


def results_remarks(measured: MeasuredEvaluation) -> tuple[str, ...]:
    """Return in which episodes the results.json of an evaluation differs from what is reported: () or one text.

    Where there is no results.json, as before an evaluation has ended, there is nothing to say.
    """
    path = EvaluationFolder(measured.evaluation.folder).results
    try:
        there = _stored(path)
    except RecordError:
        return (f"{path.name} cannot be read; this report is made from the records",)
    here = _reported(measured)
    if there is None or there == here:
        return ()
    odd = [key for key in sorted(there.keys() | here.keys()) if there.get(key) != here.get(key)]
    told = [_difference(key, there.get(key, _UNPLANNED), here.get(key, _UNPLANNED)) for key in odd[:_SHOWN]]
    shown = "; ".join([*told, "..."] if len(odd) > _SHOWN else told)
    told_of = "1 episode" if len(odd) == 1 else f"{len(odd)} episodes"
    return (f"{path.name} tells otherwise of {told_of} than the records, which this report is made from: {shown}",)


def _stored(path: Path) -> dict[EpisodeKey, _Fate] | None:
    """Return what a results.json tells of each episode, None where there is none.

    Raises:
        RecordError: It is damaged.
    """
    table = find_table(path, EVALUATION_FORMAT)
    if table is None:
        return None
    rows = [Table.of(item, f"{table.place}: episodes") for item in table.items("episodes")]
    return {key_of(row): (row.get("status", str), row.optional("final_funds_cents", int)) for row in rows}


def _reported(measured: MeasuredEvaluation) -> Mapping[EpisodeKey, _Fate]:
    measures = measured.measures
    return {
        each.key: (each.status, measures[each.key].money.final_funds_cents if each.key in measures else None)
        for each in measured.evaluation.episodes
    }


def _difference(key: EpisodeKey, there: _Fate, here: _Fate) -> str:
    if there[0] != here[0]:
        return f"{key}: {there[0]} there, {here[0]} here"
    return f"{key}: final funds of {there[1]} cents there, {here[1]} here"
