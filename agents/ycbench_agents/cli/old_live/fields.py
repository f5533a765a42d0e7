"""Values of JSON objects, read without trust: a record may have been edited, and a view of it must not fail."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["amount", "count", "objects", "text", "texts"]


def text(fields: Mapping[str, object], key: str) -> str | None:
    """Return a text, None where there is none."""
    value = fields.get(key)
    return value if isinstance(value, str) else None


def count(fields: Mapping[str, object], key: str) -> int | None:
    """Return a whole number of at least 0, None where there is none."""
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount(fields: Mapping[str, object], key: str) -> int | float | None:
    """Return a finite number of at least 0, None where there is none."""
    value = fields.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) and value >= 0 else None


def objects(value: object) -> list[Mapping[str, object]]:
    """Return the objects in a list, [] where it is none."""
    if not isinstance(value, list):
        return []
    items = cast("list[object]", value)
    return [cast("Mapping[str, object]", item) for item in items if isinstance(item, dict)]


def texts(value: object) -> tuple[str, ...]:
    """Return the texts in a list, () where it is none."""
    if not isinstance(value, list):
        return ()
    return tuple(item for item in cast("list[object]", value) if isinstance(item, str))
