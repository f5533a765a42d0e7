"""JSON values and their compact text."""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Json", "JsonObject", "text_json", "to_json"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A JSON value."""

JsonObject: TypeAlias = "dict[str, Json]"
"""A JSON object."""

_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


text_json: Final[Callable[[str], str]] = encode_basestring
"""Return a text as a JSON string; the same as ``to_json``, without setting an encoder up."""


def to_json(value: Json) -> str:
    """Return compact JSON text; floats in their shortest exact form.

    Raises:
        ValueError: The value holds a NaN or an infinity, which strict JSON does not know.
    """
    return _encode(value)
