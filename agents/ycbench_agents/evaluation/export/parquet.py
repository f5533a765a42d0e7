"""Records as a table in Parquet: one row a turn."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from ycbench_agents.evaluation.export.arrow import TEXTS, writing_rows
from ycbench_agents.evaluation.export.hiding import held_out_keys
from ycbench_agents.evaluation.export.replayed import SeenTurn, seen_turns
from ycbench_agents.evaluation.export.text import encodable
from ycbench_agents.evaluation.validation.digest import record_digest
from ycbench_agents.records.origin import package_version
from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.evaluation.episode import EpisodeKey
    from ycbench_agents.records import RunRecord

__all__ = ["METADATA_KEY", "PARQUET_FORMAT", "write_parquet"]

PARQUET_FORMAT: Final = 1
"""Version of the columns and of the metadata."""

METADATA_KEY: Final = "ycbench"
"""Key of the schema's metadata: JSON with the provenance."""

_Value: TypeAlias = "str | int | float | bool | dt.datetime | list[str] | None"
_Row: TypeAlias = "dict[str, _Value]"
_ROWS: Final = 256  # of a turn with the longest answers, so many stay far below the 2 GiB of a column
_CENTS: Final = 100
_COUNTS: Final = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
_COST: Final = "cost_usd"

# Columns of the key, columns that may always be published, and columns that show the world.
_KEY: Final = {
    "run": "string",
    "policy": "string",
    "model": "string",
    "preset": "string",
    "config_digest": "string",
    "seed": "string",
    "repeat": "int32",
}
_OPEN: Final = {
    "turn": "int32",
    "sim_time": "timestamp[us]",
    "reward": "double",
    "reward_cents": "int64",
    "return_to_go": "double",
    "return_to_go_cents": "int64",
    "funds_cents": "int64",
    "invalid_commands": "int32",
    "forced_advance": "bool",
    "terminated": "bool",
    "truncated": "bool",
    "terminal_reason": "string",
    **dict.fromkeys(_COUNTS, "int64"),
    _COST: "double",
}
_SHOWING: Final = {
    "observation": "string",
    "action": TEXTS,
    "action_is_list": "bool",
    "results": "string",
    "events": "string",
    "trace": "string",
    "state_hash": "string",
    "notes_sha256": "string",
}


@attrs.frozen
class _Source:
    """A run that is exported.

    Args:
        record: Its record.
        hidden: Its key where it is held out.
    """

    record: RunRecord
    hidden: EpisodeKey | None

    def key(self) -> _Row:
        """Return the columns of the key; of a held-out run without what names its seed."""
        identity, hidden = self.record.identity, self.hidden
        return {
            "run": self.record.folder.resolve().name if hidden is None else None,
            "policy": identity.policy if hidden is None else hidden.policy,
            "model": identity.model,
            "preset": str(identity.config.get("name")) if hidden is None else hidden.preset,
            "config_digest": identity.config_digest,
            "seed": str(identity.seed) if hidden is None else hidden.seed,
            "repeat": _repeat(self.record.folder.resolve().name) if hidden is None else hidden.repeat,
        }

    def provenance(self) -> JsonObject:
        """Return which run it is, for the metadata."""
        key = {name: value for name, value in self.key().items() if isinstance(value, str | int) or value is None}
        return {**key, "version": self.record.identity.version, "digest": record_digest(self.record)}


def _repeat(name: str) -> int:
    """Return the number of a repetition that a folder's name ends in, 1 where it has none."""
    number = name.rpartition("-repeat")[2]
    return int(number) if number != name and number.isdecimal() else 1


def write_parquet(records: Sequence[RunRecord], path: Path, begin: Callable[[], None] = lambda: None) -> int:
    """Write the turns of runs as rows, run after run, and return how many rows there are.

    The records are played again on the way, so what is written is verified. Each run is written in groups of 256 rows,
    one in memory at a time. Columns that show a world are left out where a run is held out, for all runs of the file.

    Args:
        records: The runs, finished or not.
        path: File to write.
        begin: Is called before each run is played again.

    Raises:
        ExportError: A held-out run belongs to no planned episode.
        OSError: The file cannot be written.
        RecordError: A record is damaged.
        RecordMismatchError: A turn turns out differently now.

    Warns:
        RecordWarning: As in ``replay_run``.
    """
    hidden = held_out_keys(records)
    sources = [_Source(record, hidden.get(record.folder)) for record in records]
    columns = {**_KEY, **_OPEN, **({} if hidden else _SHOWING)}
    metadata = {METADATA_KEY: encode(_metadata(sources, is_hidden=bool(hidden)))}
    rows = 0
    with writing_rows(path, columns, metadata) as write:
        for source in sources:
            begin()
            for batch in _batches(_rows(source)):
                rows += len(batch)
                write(batch)
    return rows


def _metadata(sources: Sequence[_Source], *, is_hidden: bool) -> JsonObject:
    runs: list[Json] = [source.provenance() for source in sources]
    configs: JsonObject = {source.record.identity.config_digest: source.record.identity.config for source in sources}
    return {
        "format": PARQUET_FORMAT,
        "version": package_version(),
        "is_held_out": is_hidden,
        "configs": configs,
        "runs": runs,
    }


def _batches(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    batch: list[_Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def _rows(source: _Source) -> Iterator[_Row]:
    key = source.key()
    for seen in seen_turns(source.record):
        yield {**key, **_open(seen), **_showing(seen)}


def _open(seen: SeenTurn) -> _Row:
    turn, trace = seen.record, seen.record.trace or {}
    cost = trace.get(_COST)
    return {
        "turn": turn.turn,
        "sim_time": dt.datetime.fromisoformat(turn.sim_time),
        "reward": turn.reward,
        "reward_cents": turn.funds_delta_cents,
        "return_to_go": seen.return_to_go_cents / _CENTS,
        "return_to_go_cents": seen.return_to_go_cents,
        "funds_cents": turn.funds_cents,
        "invalid_commands": turn.invalid_commands,
        "forced_advance": turn.forced_advance,
        "terminated": turn.terminated,
        "truncated": turn.truncated,
        "terminal_reason": turn.terminal_reason,
        **{name: _count(trace.get(name)) for name in _COUNTS},
        _COST: float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None,
    }


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _showing(seen: SeenTurn) -> _Row:
    turn = seen.record
    texts = [turn.action] if isinstance(turn.action, str) else [str(text) for text in turn.action]
    return {
        "observation": encodable(seen.before["text"]),
        "action": [encodable(text) for text in texts],
        "action_is_list": not isinstance(turn.action, str),
        "results": encode(turn.results),
        "events": encode(turn.events),
        "trace": None if turn.trace is None else encode(turn.trace),
        "state_hash": turn.state_hash,
        "notes_sha256": turn.notes_sha256,
    }
