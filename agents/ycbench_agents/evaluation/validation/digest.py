"""Digests of records, of all that must be equal between equal runs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, cast

import attrs

from ycbench_agents.records.strict_json import encode

if TYPE_CHECKING:
    from ycbench_agents.base import Json, JsonObject
    from ycbench_agents.records import RunRecord, TurnRecord

__all__ = ["RecordDigest", "json_digest", "record_digest"]

_MAY_DIFFER: Final = ("transport", "time")
_NO_MATTER: Final = ("name", "description")  # of a configuration: they change no turn


def json_digest(value: Json) -> str:
    """Return the SHA-256, as hex, of a JSON value; the order of keys does not count."""
    return hashlib.sha256(encode(value, sort_keys=True).encode("ascii")).hexdigest()


class RecordDigest:
    """The digest of a record whose turns are handed over one by one.

    Args:
        record: The record.
    """

    def __init__(self, record: RunRecord) -> None:
        identity = record.identity.to_json()
        config = cast("JsonObject", identity["config"])
        identity["config"] = {key: value for key, value in config.items() if key not in _NO_MATTER}
        self._hash = hashlib.sha256()
        self._add(identity)
        self._add(attrs.evolve(record.outcome, ended=None).to_json())

    def add(self, turn: TurnRecord) -> None:
        """Take the next turn in."""
        self._add({key: value for key, value in turn.to_json().items() if key not in _MAY_DIFFER})

    def hex(self) -> str:
        """Return the digest of all that was taken in."""
        return self._hash.hexdigest()

    def _add(self, value: JsonObject) -> None:
        self._hash.update(f"{encode(value, sort_keys=True)}\n".encode("ascii"))


def record_digest(record: RunRecord) -> str:
    """Return the SHA-256, as hex, over identity, outcome and turns of a run, without times, transport and origin.

    Two records have equal digests where ``same_run`` finds no difference.

    Raises:
        RecordError: The record is damaged.
    """
    digest = RecordDigest(record)
    for turn in record.turns():
        digest.add(turn)
    return digest.hex()
