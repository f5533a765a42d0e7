"""Frozen values as strict JSON objects and back, driven by the types of their fields."""

from __future__ import annotations

import types
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NoReturn,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs

from ycbench_agents.evaluation.measurement.error import MeasurementError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ycbench_agents.base import Json, JsonObject

__all__ = ["from_json", "to_json"]

_T = TypeVar("_T", bound=attrs.AttrsInstance)
_UNIONS: Final = (Union, types.UnionType)
_NAMES: Final[dict[object, str]] = {
    str: "a text",
    int: "a whole number",
    float: "a number with a point",
    bool: "true or false",
    type(None): "null",
}
_LONGEST: Final = 80


def to_json(value: attrs.AttrsInstance) -> JsonObject:
    """Return a value as a fresh JSON object; tuples become lists.

    Args:
        value: Its fields are texts, numbers, truth values, None, such values, or tuples of them.
    """
    return {field.name: _plain(getattr(value, field.name)) for field in attrs.fields(type(value))}


def _plain(value: object) -> Json:
    if isinstance(value, tuple):
        return [_plain(item) for item in cast("tuple[object, ...]", value)]
    if attrs.has(type(value)):
        return to_json(cast("attrs.AttrsInstance", value))
    return cast("Json", value)


def from_json(kind: type[_T], value: object, place: str) -> _T:
    """Return the value that ``to_json`` described.

    Args:
        kind: Its class.
        value: The JSON object.
        place: What it is, for the error.

    Raises:
        MeasurementError: A field is missing, unknown or of another type; the message names it.
    """
    if not isinstance(value, dict):
        _refuse(place, value, "an object")
    fields = cast("Mapping[str, object]", value)
    hints = get_type_hints(kind)
    names = [field.name for field in attrs.fields(kind)]
    lacking = [name for name in names if name not in fields]
    unknown = sorted(set(fields) - set(names))
    if lacking or unknown:
        _refuse(place, sorted(fields), f"the fields {', '.join(names)} (missing: {lacking}, unknown: {unknown})")
    return kind(**{name: _read(hints[name], fields[name], f"{place}.{name}") for name in names})


def _read(hint: Any, value: object, place: str) -> object:  # noqa: ANN401 -- a type is whatever an annotation says
    origin, options = get_origin(hint), get_args(hint)
    if origin in _UNIONS:  # only "or None" is in use
        (inner,) = [option for option in options if option is not type(None)]
        return None if value is None else _read(inner, value, place)
    if origin is tuple:
        return _read_items(options, value, place)
    if origin is Literal:
        if value not in options:
            _refuse(place, value, f"one of {', '.join(options)}")
        return value
    if attrs.has(hint):
        return from_json(hint, value, place)
    if type(value) is not hint:  # a bool is an int, but not here
        _refuse(place, value, _NAMES[hint])
    return value


def _read_items(options: tuple[Any, ...], value: object, place: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        _refuse(place, value, "a list")
    items = cast("list[object]", value)
    return tuple(_read(options[0], item, f"{place}[{number}]") for number, item in enumerate(items))


def _refuse(place: str, got: object, expected: str) -> NoReturn:
    shown = repr(got)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}..."
    msg = f"{place}: got {shown}, expected {expected}; measure the run anew"
    raise MeasurementError(msg)
