"""Strict JSON: ASCII text out, no NaN in or out, values taken out of objects with their types checked."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar, cast

import attrs

from ycbench_agents.records.error import RecordError

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.base import Json, JsonObject

__all__ = ["Table", "decode", "encode", "find_table", "plain"]

_T = TypeVar("_T")
_NAMES: Final[dict[type, str]] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_TABLE: Final = "an object"
_LIST: Final = "a list"


def encode(value: object, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Return JSON text in ASCII, compact unless indented; lone surrogates survive as escapes.

    Raises:
        TypeError: The value is none that JSON has.
        ValueError: It holds a NaN or an infinity.
    """
    separators = (",", ":") if indent is None else None
    return json.dumps(
        value, ensure_ascii=True, allow_nan=False, separators=separators, indent=indent, sort_keys=sort_keys
    )


def decode(text: str | bytes, place: str) -> Json:
    """Return the value of a JSON text.

    Args:
        text: The text.
        place: Where it stands, for the error.

    Raises:
        RecordError: It is no strict JSON.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        msg = f"{place}: got no JSON ({error}), expected one JSON value as this package writes it"
        raise RecordError(msg) from None


def _refuse_constant(name: str) -> NoReturn:
    msg = f"{name} is no JSON"
    raise ValueError(msg)


def plain(value: object, what: str) -> Json:
    """Return a value as it will be read back, so that what is used now equals what is used after a resume.

    Tuples become lists, two surrogates that make a character become it, NaN and infinities become their names.

    Args:
        value: The value.
        what: What it is, for the error.

    Raises:
        RecordError: It is none that JSON has.
    """
    try:
        return json.loads(encode(_finite(value)))
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"{what}: cannot be recorded ({error}); expected plain JSON values"
        raise RecordError(msg) from None


def _finite(value: object) -> object:
    """Return a value in which the numbers that JSON does not have are texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("dict[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in cast("list[object]", value)]
    return value


@attrs.frozen
class Table:
    """A JSON object whose values are taken out with their types checked.

    Every method raises RecordError when the key is missing or its value of another type.

    Args:
        values: The object.
        place: Where it stands, for errors.
    """

    values: JsonObject
    place: str

    @classmethod
    def of(cls, value: Json, place: str) -> Table:
        """Return the table of a value that must be an object.

        Raises:
            RecordError: It is none.
        """
        if not isinstance(value, dict):
            msg = f"{place}: got {encode(value)[:80]}, expected {_TABLE}"
            raise RecordError(msg)
        return cls(value, place)

    def get(self, key: str, kind: type[_T]) -> _T:
        """Return a text, number or truth value."""
        value = self._value(key)
        if type(value) is not kind:  # a bool is an int, but not here
            self._refuse(key, value, _NAMES[kind])
        return value

    def optional(self, key: str, kind: type[_T]) -> _T | None:
        """Return a text, number or truth value, or None for null."""
        return None if self._value(key) is None else self.get(key, kind)

    def table(self, key: str) -> Table:
        """Return an object."""
        value = self._value(key)
        if not isinstance(value, dict):
            self._refuse(key, value, _TABLE)
        return Table(value, f"{self.place}: {key}")

    def optional_table(self, key: str) -> Table | None:
        """Return an object, or None for null."""
        return None if self._value(key) is None else self.table(key)

    def items(self, key: str) -> list[Json]:
        """Return a list."""
        value = self._value(key)
        if not isinstance(value, list):
            self._refuse(key, value, _LIST)
        return value

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Refuse the value of a key.

        Raises:
            RecordError: Always.
        """
        self._refuse(key, self._value(key), expected)

    def _value(self, key: str) -> Json:
        if key not in self.values:
            msg = f"{self.place}: {key} is missing"
            raise RecordError(msg)
        return self.values[key]

    def _refuse(self, key: str, value: Json, expected: str) -> NoReturn:
        msg = f"{self.place}: {key}: got {encode(value)[:80]}, expected {expected}"
        raise RecordError(msg)


def find_table(path: Path, version: int) -> Table | None:
    """Return the object in a file, None where there is no file.

    Args:
        path: The file.
        version: What its ``format`` must be.

    Raises:
        RecordError: The file cannot be read, is damaged or of another format.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}"
        raise RecordError(msg) from None
    table = Table.of(decode(data, str(path)), str(path))
    if table.get("format", int) != version:
        table.refuse("format", f"{version}: it is of another version of ycbench-env")
    return table
