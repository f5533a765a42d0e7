"""JSON values and their compact text."""

from __future__ import annotations

import json
from json import encoder
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Json", "JsonObject", "text_json", "to_json"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A JSON value."""

JsonObject: TypeAlias = "dict[str, Json]"
"""A JSON object."""

text_json: Final[Callable[[str], str]] = encoder.encode_basestring
"""Return a text as a JSON string; the same as ``to_json``, without setting an encoder up."""


def _make_encoder() -> Callable[[Json], str]:
    """Return an encoder that is set up once.

    ``JSONEncoder.encode`` sets one up for each call, which takes longer than to encode most answers. The accelerator
    behind it is no documented interface, so it is used only where it does what is expected of it.
    """
    plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    probe: Json = {"text": "\u00e9\n", "list": [1, 2.5, None, True]}
    compiled: Any = getattr(encoder, "c_make_encoder", None)
    try:
        chunks = compiled(None, plain.default, text_json, None, ":", ",", False, False, False)  # noqa: FBT003 -- C
        if "".join(chunks(probe, 0)) == plain.encode(probe):
            return lambda value: "".join(chunks(value, 0))
    except TypeError:  # no accelerator, or one of another shape
        pass
    return plain.encode


to_json: Final[Callable[[Json], str]] = _make_encoder()
"""Return compact JSON text of a value, floats in their shortest exact form; ValueError for a NaN or an infinity."""
