"""JSON values and their compact text."""

import json
from typing import Final, TypeAlias

__all__ = ["Json", "JsonObject", "to_json"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A JSON value."""

JsonObject: TypeAlias = "dict[str, Json]"
"""A JSON object."""

_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def to_json(value: Json) -> str:
    """Return compact JSON text; floats in their shortest exact form.

    Raises:
        ValueError: The value holds a NaN or an infinity, which strict JSON does not know.
    """
    return _encode(value)
