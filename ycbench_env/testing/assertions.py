"""Assertions that say where two values differ; they hold under ``python -O`` too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

__all__ = ["differences", "require", "require_equal"]

_MOST_SHOWN = 200  # characters of a value in a message
_MOST_LISTED = 5  # differences in a message


def require(condition: object, message: str) -> None:
    """Raises AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def require_equal(got: object, expected: object, what: str) -> None:
    """Raises AssertionError with the places where two values differ."""
    found: list[str] = []
    for difference in differences(got, expected):
        found.append(difference)
        if len(found) == _MOST_LISTED:
            break
    require(not found, f"{what}: " + "; ".join(found))


def differences(got: object, expected: object, path: str = "") -> Iterator[str]:
    """Yields one line for each place where two values differ: type, dtype, length, key or content.

    Args:
        got: Any nest of dicts, lists, tuples, arrays and plain values.
        expected: What it should equal.
        path: Where the values stand, for the message.
    """
    here = path or "value"
    if type(got) is not type(expected):
        yield f"{here} is {_shown(got)} ({type(got).__name__}), expected {_shown(expected)} ({type(expected).__name__})"
    elif isinstance(got, np.ndarray):
        yield from _array_differences(cast("np.ndarray[Any, Any]", got), cast("Any", expected), here)
    elif isinstance(got, dict):
        yield from _dict_differences(cast("dict[object, object]", got), cast("dict[object, object]", expected), path)
    elif isinstance(got, list | tuple):
        yield from _list_differences(cast("list[object]", got), cast("list[object]", expected), here)
    elif got != expected:
        yield f"{here} is {_shown(got)}, expected {_shown(expected)}"


def _array_differences(got: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], here: str) -> Iterator[str]:
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        yield f"{here} has {got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}"
    elif not np.array_equal(got, expected):
        yield f"{here} is {_shown(got)}, expected {_shown(expected)}"


def _dict_differences(got: dict[object, object], expected: dict[object, object], path: str) -> Iterator[str]:
    if list(got) != list(expected):
        yield f"{path or 'value'} has the keys {list(got)}, expected {list(expected)}"
        return
    for key, value in got.items():
        yield from differences(value, expected[key], f"{path}.{key}" if path else str(key))


def _list_differences(got: list[object], expected: list[object], here: str) -> Iterator[str]:
    if len(got) != len(expected):
        yield f"{here} has {len(got)} items, expected {len(expected)}"
        return
    for index, (one, other) in enumerate(zip(got, expected, strict=True)):
        yield from differences(one, other, f"{here}[{index}]")


def _shown(value: object) -> str:
    text = repr(value)
    if len(text) <= _MOST_SHOWN:
        return text
    return f"{text[:_MOST_SHOWN]}... ({len(text)} characters)"
